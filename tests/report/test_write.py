"""The folder of a run: four files, each whole, from memory or out of the store."""

from __future__ import annotations

import csv
import errno
import json
import shutil
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from proof.errors import OutputError, UsageError
from proof.model.flags import COLLATION, FINDING_KINDS, LANGUAGE, Evidence, Kind, LanguageReading
from proof.model.result import PageResult
from proof.report import StoredRun, WrittenReport, write_reports
from proof.report.write import write_again
from proof.settings.config import Settings
from proof.store import Store
from proof.store.comments import CommentRequest, CommentState
from tests.remarks import error_notice
from tests.report.held import HeldRun, save_run
from tests.web.drawn import SCRIPT, WORK, fill

Attributes = dict[str, str | None]


class Page(HTMLParser):
    """What a report holds: its elements, its text, and whatever could reach outside the file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, Attributes]] = []
        self.text = ""
        self._skip = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._skip = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._skip = False

    def handle_data(self, data: str) -> None:
        if not self._skip:
            self.text += data

    def named(self, name: str) -> list[Attributes]:
        return [attributes for tag, attributes in self.tags if tag == name]

    def of_class(self, name: str) -> list[Attributes]:
        return [attributes for _, attributes in self.tags if name in (attributes.get("class") or "").split()]

    def references(self) -> list[str]:
        names = ("src", "href", "xlink:href", "action", "poster", "srcset", "data")
        return [attributes[name] or "" for _, attributes in self.tags for name in names if name in attributes]


def elements(path: Path, classes: str) -> list[html.HtmlElement]:
    """The elements of a report that have all of these classes."""
    named = html.fromstring(path.read_bytes()).iter()
    return [element for element in named if set(classes.split()) <= set(str(element.get("class")).split())]


def flag_lines(written: WrittenReport) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.flags.read_text(encoding="utf-8").splitlines()]


def summary_of(written: WrittenReport) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(written.summary.read_text(encoding="utf-8"))
    return summary


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, held: HeldRun) -> WrittenReport:
    """The report of four pages, which nobody changes."""
    return write_reports(held, tmp_path_factory.mktemp("report"))


def test_a_run_in_memory_and_the_same_run_out_of_the_store_give_the_same_files(
    tmp_path: Path, held: HeldRun, facsimile: Path
) -> None:
    """The store's run also where its image is gone since it was first reported."""
    image = tmp_path / "image.png"
    shutil.copy(facsimile, image)
    pages = [replace(held.pages[0], image=image), *held.pages[1:]]
    with Store.open(tmp_path / "proof.sqlite") as store:
        stored = StoredRun(store, save_run(store, replace(held, pages=pages)))
        out_of_store = write_reports(stored, tmp_path / "stored")
        in_memory = write_reports(HeldRun(stored.run, pages), tmp_path / "held")
        image.unlink()
        again = write_reports(stored, tmp_path / "again")
    for name in ("flags", "spreadsheet", "summary", "page"):
        files = [getattr(report, name).read_bytes() for report in (out_of_store, in_memory, again)]
        assert files[0] == files[1] == files[2], name


def test_all_flags_are_in_both_lists_hidden_and_layout_ones_too_in_page_order(tmp_path: Path, held: HeldRun) -> None:
    turned = replace(held.pages[0], flags=held.pages[0].flags[::-1])
    written = write_reports(HeldRun(held.run, [turned]), tmp_path)
    listed = flag_lines(written)
    assert {flag["id"] for flag in listed} == {flag.id for flag in turned.flags}
    assert {flag["kind"] for flag in listed} == {kind.value for kind in FINDING_KINDS}
    places = [(flag["line"], flag["offset"]) for flag in listed]
    assert places == sorted(places)
    assert not all(flag["raised"] for flag in listed)
    data = written.spreadsheet.read_bytes()
    assert data.startswith(b"\xef\xbb\xbfpage,ref,")
    assert b"\r\n" in data
    rows = csv.DictReader(data.decode("utf-8-sig").splitlines())
    assert [row["id"] for row in rows] == [flag["id"] for flag in listed]


def test_the_summary_has_every_page_with_its_status_and_the_totals(report: WrittenReport) -> None:
    summary = summary_of(report)
    assert summary["pages"] == {
        "JMML_WYG_000-2a": "checked",
        "JMML_WYG_000-2b": "checked",
        "JMML_WYG_000-3a": "no image",
        "JMML_WYG_000-3b": "failed: images/JMML_000-3b.png: cut short",
    }
    totals = summary["totals"]
    assert totals["pages"] == {"all": 4, "checked": 2, "no image": 1, "image mismatch": 0, "failed": 1}
    assert totals["raised"]["substitution"] == 5
    assert totals["hidden"]["variant"] == 2
    assert totals["rate"] == {"raised_per_10000": 250.0, "raised": 8, "characters": 320}
    assert summary["variants"] == [
        {"transcribed": "于", "suggested": "於", "rule": "one to one", "count": 1},
        {"transcribed": "載", "suggested": "于", "rule": "one to one", "count": 1},
    ]
    assert summary["confusions"][0] == {"transcribed": "其", "suggested": "某", "count": 2}
    assert summary["engine"]["checksum"] == "0123456789abcdef0123"
    assert summary["settings"] == {"columns": 8, "column_length": 21}
    (finding,) = summary["findings"]
    assert (finding["text"], finding["code"]) == ("after 3b comes 5a: leaf 4 is missing", "as-told")
    assert summary["timing"]["pages_per_second"] == 1.0
    assert summary["versions"]["proof"]


@pytest.mark.parametrize("pictures", [0, 2, 2000])
def test_the_page_refers_to_nothing_outside_itself_and_every_link_leads_somewhere(
    tmp_path: Path, held: HeldRun, pictures: int
) -> None:
    """Beyond the limit flags are listed without their image."""
    page = Page(write_reports(held, tmp_path, pictures=pictures).page)
    assert [target for target in page.references() if not target.startswith(("#", "data:"))] == []
    named = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    anchors = set(named)
    assert len(named) == len(anchors)
    assert "#p0" in page.references()
    assert {target[1:] for target in page.references() if target.startswith("#")} <= anchors
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert len(page.named("article")) == min(pictures, 8)
    assert len(page.of_class("flag")) == 8
    limited = "The 2 most suspicious flags are shown with their image; 6 more are listed without it"
    assert (limited in page.text) is (pictures == 2)


def test_every_raised_flag_is_shown_with_its_image_and_hidden_ones_are_counted(
    report: WrittenReport, held: HeldRun
) -> None:
    page = Page(report.page)
    raised = [f for f in held.pages[0].flags if f.raised and f.kind is not Kind.LAYOUT]
    shown = [attributes["id"] for attributes in page.named("article")]
    assert sorted(filter(None, shown)) == sorted(f"f-{flag.id}" for flag in raised)
    assert len(page.named("image")) == len(raised) + 2  # and the page with a column out of place, and this column
    assert "A column is at another place on the image." in page.text
    assert "images/JMML_000-3b.png: cut short" in page.text
    assert "One to one 2" in " ".join(page.text.split())
    assert "the fold strip is cut off on the left" in page.text
    assert "places to look at" in page.text
    assert page.named("html")[0]["lang"] == "en"


def test_the_text_is_never_taken_for_markup(tmp_path: Path, held: HeldRun) -> None:
    evil = "<script>document.title='x'</script>\"'&lt;"
    page = held.pages[0]
    flags = tuple(
        replace(flag, transcribed=evil, suggested=evil, context=evil, evidence=replace(flag.evidence, note=evil))
        for flag in page.flags
    )
    columns = tuple(replace(column, source=evil * 3) for column in page.columns)
    characters = tuple(replace(character, text=evil[:8]) for character in page.characters)
    spoilt = replace(page, page=evil, ref=evil, flags=flags, columns=columns, characters=characters)
    spoilt = replace(spoilt, notices=(error_notice(evil),), message=error_notice(evil))
    info = replace(held.run.info, title=evil, work=evil, settings={evil: evil})
    run = replace(held.run, info=info, findings=(error_notice(evil),))
    pages = [spoilt, replace(spoilt, image=None), replace(held.pages[3], page=evil, message=error_notice(evil))]
    written = Page(write_reports(HeldRun(run, pages), tmp_path).page)
    assert len(written.named("script")) == 1
    assert written.text.count(evil) > 20


def test_an_image_that_is_gone_leaves_the_words(tmp_path: Path, held: HeldRun) -> None:
    lost = replace(held.pages[0], image=tmp_path / "gone.png")
    page = Page(write_reports(HeldRun(held.run, [lost]), tmp_path).page)
    assert len(page.of_class("vertical")) == 8
    assert page.named("image") == []


def test_stretches_of_pages_without_an_image_are_one_line(tmp_path: Path, held: HeldRun) -> None:
    absent = [replace(held.pages[2], page=f"X-{n}a") for n in range(500)]
    written = write_reports(HeldRun(held.run, [*absent[:200], held.pages[1], *absent[200:]]), tmp_path)
    page = Page(written.page)
    assert "300 pages" in page.text
    assert len(page.named("li")) < 20
    assert len(summary_of(written)["pages"]) == 501


@pytest.mark.parametrize(("language", "word"), [("zh-Hant", "待核之處"), ("zh-Hans", "待核之处")])
def test_the_report_speaks_the_language_asked_for(tmp_path: Path, held: HeldRun, language: str, word: str) -> None:
    page = Page(write_reports(held, tmp_path, language=language).page)
    assert word in page.text
    assert page.named("html")[0]["lang"] == language


@dataclass(frozen=True, slots=True)
class LongRun(HeldRun):
    """Many copies of a page, made as they are asked for."""

    count: int = 0

    def results(self, *, outline: bool = False, raised: bool = False) -> Iterator[PageResult]:
        (page,) = self.pages
        for number in range(self.count):
            flags = tuple(replace(flag, page=f"p{number}", id=f"{number}-{flag.id}") for flag in page.flags)
            characters = tuple(replace(character) for character in page.characters)
            yield replace(page, page=f"p{number}", flags=flags, characters=characters)


@pytest.mark.slow
def test_memory_stays_flat_however_many_pages_there_are(
    tmp_path: Path, held: HeldRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proof.report.page.MAX_THUMBS", 3)

    def peak(pages: int) -> int:
        tracemalloc.start()
        write_reports(LongRun(held.run, held.pages[:1], count=pages), tmp_path, pictures=3)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(2)  # what is loaded once
    few, many = peak(10), peak(40)  # what is shown of the most suspicious is full by then
    assert many - few < 30 * 4_000


def test_what_was_there_stays_where_a_report_cannot_be_written(tmp_path: Path, held: HeldRun) -> None:
    folder = tmp_path / "out"
    before = write_reports(held, folder).page.read_bytes()

    class Broken(HeldRun):
        def results(self, *, outline: bool = False, raised: bool = False) -> Iterator[PageResult]:
            yield self.pages[0]
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OutputError, match=r"flags.* cannot be written \(No space left on device\); make room"):
        write_reports(Broken(held.run, held.pages), folder)
    assert (folder / "report.html").read_bytes() == before
    assert len(flag_lines(write_reports(held, folder))) == len(held.pages[0].flags)
    written = sorted(path.name for path in folder.iterdir())
    assert written == ["flags.csv", "flags.jsonl", "report.html", "summary.json"]
    with pytest.raises(OutputError, match=r"summary\.json.flags\.jsonl: cannot be written"):
        write_reports(held, folder / "summary.json")


def test_what_people_said_to_each_other_is_in_the_report_and_a_line_each_in_a_file(tmp_path: Path) -> None:
    with Store.open(tmp_path / "proof.sqlite") as store:
        fill(store, tmp_path)
        run = store.latest_run()
        assert run is not None
        write_reports(StoredRun(store, run.id), tmp_path)
        assert not (tmp_path / "comments.jsonl").exists()
        problem = CommentState.PROBLEM
        store.comments.add(CommentRequest(WORK, 2, None, "缺半葉", "甲", "request-1", problem, "乙"))
        store.comments.add(CommentRequest(WORK, 1, 1, f"{SCRIPT}？", "甲", "request-2"))
        store.comments.add(CommentRequest(WORK, 1, 1, "是\n告", "乙", "request-3"))
        written = write_reports(StoredRun(store, run.id), tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "comments.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(line["page"], line["line"], line["text"], line["state"], line["assigned"]) for line in lines] == [
        ("WYG0103-0192a", 1, f"{SCRIPT}？", "note", ""),
        ("WYG0103-0192a", 1, "是\n告", "note", ""),
        ("WYG0103-0193a", 0, "缺半葉", "problem", "乙"),
    ]
    page = Page(written.page)
    for words in ("What people wrote to each other", f"{SCRIPT}？", "缺半葉", "for 乙"):
        assert words in page.text, words
    assert len(page.named("script")) == 1


def test_of_what_is_missing_the_gap_is_marked_and_not_a_character_beside_it(tmp_path: Path, held: HeldRun) -> None:
    """With images and without, and in words."""
    page = held.pages[0]
    (missing,) = (flag for flag in page.flags if flag.kind is Kind.OMISSION)
    source = page.columns[missing.line - 1].source
    both = replace(missing, offset=5, length=1, transcribed=source[5], suggested=2 * source[5], id="both")
    shown = replace(page, flags=(missing, both))
    for result in (shown, replace(shown, image=None)):
        text = " ".join(Page(write_reports(HeldRun(held.run, [result]), tmp_path).page).text.split())
        assert "col. 8, after char. 3" in text
        assert "col. 8, after char. 5" in text
    assert f"{source[1:4]}▯{source[4:16]}" in text
    assert f"{source[1:6]}▯{source[6:18]}" in text


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings().replace({"project.out": tmp_path})


@pytest.mark.parametrize("finished", [True, False], ids=["finished", "interrupted"])
def test_reports_written_again_hold_every_page_of_the_last_run(
    settings: Settings, held: HeldRun, tmp_path: Path, finished: bool
) -> None:
    with Store.open(settings.store_address) as store:
        save_run(store, held, finished=finished)
    again = write_again(settings)
    assert (again.run.finished is not None) is finished
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert set(summary["pages"]) == {page.page for page in held.pages}
    assert again.written.page.is_file()


def test_without_a_run_nothing_is_written(settings: Settings, held: HeldRun) -> None:
    with Store.open(settings.store_address) as store:
        save_run(store, held)
    with pytest.raises(UsageError, match="no check of KR9x0001"):
        write_again(settings, "KR9x0001")


def test_a_missing_column_is_shown_with_its_image_what_is_read_there_and_where_it_belongs(
    tmp_path: Path, held: HeldRun
) -> None:
    """One that moved is shown where the text has it and where it belongs."""
    page = held.pages[0]
    (finding,) = (flag for flag in page.flags if flag.kind is Kind.LAYOUT)
    columns = [column.source for column in page.columns]
    read = "四庫全書簡明目錄"
    missing = replace(
        finding, line=3, suggested=read, evidence=Evidence("column missing", note=read), id="missing", moved=""
    )
    where = replace(finding, line=5, transcribed=columns[4], id="where", moved="there")
    there = replace(finding, line=2, suggested=columns[4], id="there", moved="where")
    result = replace(page, flags=(missing, where, there))
    written = write_reports(HeldRun(held.run, [result]), tmp_path).page
    assert [" ".join(element.itertext()) for element in elements(written, "vertical beside")] == [
        f"{columns[1]} {read} {columns[2]}",
        f"{columns[3]} {columns[4]} {columns[5]}",
        f"{columns[0]} {columns[4]} {columns[1]}",
    ]
    assert len(Page(written).named("image")) == 4, "each finding has its page and its column"


def test_what_an_image_reads_is_called_so_and_what_language_or_witnesses_alone_suggest_is_not(
    tmp_path: Path, held: HeldRun
) -> None:
    page = held.pages[0]
    counts = LanguageReading(3.0, "某書", 40, "其書", 1)
    instead = replace(counts, instead_of=("基", 0.9))
    evidence = page.flags[0].evidence
    labels = {
        "image": replace(evidence, language=counts),
        "language model": Evidence(LANGUAGE, language=counts),
        "language model ": replace(evidence, language=instead),
        "other witnesses": Evidence(COLLATION),
    }
    for label, given in labels.items():
        flagged = replace(page, flags=(replace(page.flags[0], evidence=given),))
        written = write_reports(HeldRun(held.run, [flagged]), tmp_path / label.replace(" ", "-")).page
        (compared,) = elements(written, "compare")
        assert [term.text for term in compared.iter("dt")] == ["text", label.strip()]
