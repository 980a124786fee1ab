"""The whole of a check, twice, changed, interrupted and broken: what was done is not done again."""

from __future__ import annotations

import json
import shutil
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from proof.checking.pipeline import CheckOutcome, Progress, check
from proof.errors import OutputError
from proof.locale.notices import as_record, in_english
from proof.model.flags import Kind
from proof.model.result import PageResult
from proof.report.tables import flag_record
from proof.settings.config import Settings
from proof.store import CheckedResult, Store
from proof.store.decision_records import State, Verdict
from proof.text.model import Page
from proof.verify.page import Checker
from tests.build import decide, queued
from tests.sample import half_folios, lay_out

pytestmark = pytest.mark.engine
FIRST, SECOND, THIRD, FOURTH = "WYG0103-0192c", "WYG0103-0192d", "WYG0103-0193a", "WYG0103-0193b"


@dataclass(frozen=True)
class Material:
    """A folder with the first half-folios of the sample, and checks of it."""

    folder: Path

    @property
    def text(self) -> Path:
        return self.folder / "text.txt"

    def image(self, ref: str) -> Path:
        return self.folder / "images" / f"{ref}.png"

    def settings(self, out: str = "out", **given: Any) -> Settings:
        own = {
            "project.texts": [str(self.text)],
            "project.images": [str(self.folder / "images")],
            "project.out": str(self.folder / out),
            "store.url": f"sqlite:///{self.folder / (given.pop('store', 'proof') + '.sqlite')}",
        }
        return Settings().replace(own | {name.replace("__", "."): value for name, value in given.items()})

    def change(self, old: str, new: str) -> None:
        text = self.text.read_text(encoding="utf-8")
        assert text.count(old) == 1
        self.text.write_text(text.replace(old, new), encoding="utf-8")


def lines(outcome: CheckOutcome) -> list[dict[str, Any]]:
    return [json.loads(line) for line in raw(outcome).decode().splitlines()]


def raw(outcome: CheckOutcome) -> bytes:
    return outcome_folder(outcome).joinpath("flags.jsonl").read_bytes()


def pages(outcome: CheckOutcome) -> dict[str, str]:
    summary = json.loads(outcome_folder(outcome).joinpath("summary.json").read_text(encoding="utf-8"))
    counts: dict[str, str] = summary["pages"]
    return counts


def outcome_folder(outcome: CheckOutcome) -> Path:
    return outcome.written.flags.parent


def work_of_run(store: Store, outcome: CheckOutcome) -> str:
    return store.run(outcome.run_id).info.work


def watched(settings: Settings) -> tuple[CheckOutcome, list[Progress]]:
    seen: list[Progress] = []
    return check(settings, seen.append), seen


def fill(folder: Path, count: int = 3) -> Material:
    return Material(lay_out(folder, count))


@pytest.fixture
def fresh(tmp_path: Path) -> Material:
    return fill(tmp_path)


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Material, CheckOutcome]:
    """Material that was checked once. Tests copy it before they change it."""
    material = fill(tmp_path_factory.mktemp("checked"))
    return material, check(material.settings())


@pytest.fixture
def again(checked: tuple[Material, CheckOutcome], tmp_path: Path) -> Material:
    """A copy of the material that was checked, with its store."""
    shutil.copytree(checked[0].folder, tmp_path, dirs_exist_ok=True)
    return Material(tmp_path)


@pytest.fixture
def read_pages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages that were judged anew, in any order."""
    seen: list[str] = []
    real = Checker.judge

    def counted(self: Checker, page: Page, *rest: Any) -> PageResult:
        seen.append(page.id)
        return real(self, page, *rest)

    monkeypatch.setattr(Checker, "judge", counted)
    return seen


def places(outcome: CheckOutcome) -> list[tuple[str, int, str, str]]:
    """What is raised, and where."""
    return [
        (line["page"], line["line"], line["transcribed"], line["suggested"])
        for line in lines(outcome)
        if line["raised"]
    ]


PLANTED = [(SECOND, 5, "北", "比")]


def test_a_check_leaves_its_findings_in_files_and_in_the_store(checked: tuple[Material, CheckOutcome]) -> None:
    material, outcome = checked
    assert outcome.sound
    assert pages(outcome) == dict.fromkeys((FIRST, SECOND, THIRD), "checked")
    assert places(outcome) == PLANTED
    with Store.open(material.settings().store_address) as store:
        results = list(store.results(run=outcome.run_id))
    assert [result.page for result in results] == [FIRST, SECOND, THIRD]
    assert {flag.id for result in results for flag in result.flags} == {flag["id"] for flag in lines(outcome)}
    for result in results:
        width, height = result.image_size
        boxes = [c.box for c in result.characters] + [f.bbox for f in result.flags if f.bbox]
        assert len(result.characters) > 50
        assert all(box.x >= 0 and box.y >= 0 and box.right <= width and box.bottom <= height for box in boxes)


def test_a_second_run_reads_no_page_and_finds_the_same(
    checked: tuple[Material, CheckOutcome], again: Material, read_pages: list[str]
) -> None:
    outcome, progress = watched(again.settings())
    assert read_pages == []
    assert [step.done for step in progress] == [1, 2, 3]
    assert progress[-1].reused == progress[-1].total == 3
    assert raw(outcome) == raw(checked[1])


def test_a_pdf_is_checked_page_for_page_and_finds_what_its_scans_would(
    checked: tuple[Material, CheckOutcome], fresh: Material, read_pages: list[str]
) -> None:
    scans = [fresh.image(ref) for ref in (FIRST, SECOND, THIRD)]
    first, *rest = (Image.open(scan).convert("L") for scan in scans)
    first.save(fresh.folder / "images" / "text.pdf", save_all=True, append_images=rest, resolution=300, quality=95)
    for scan in scans:
        scan.unlink()
    outcome = check(fresh.settings())
    assert pages(outcome) == dict.fromkeys((FIRST, SECOND, THIRD), "checked")
    assert places(outcome) == PLANTED
    with Store.open(fresh.settings().store_address) as store:
        images = [result.image and result.image.name for result in store.results(run=outcome.run_id)]
    assert images == ["text.pdf#1", "text.pdf#2", "text.pdf#3"]
    assert len(read_pages) == 3
    check(fresh.settings())
    assert len(read_pages) == 3


def test_a_changed_image_is_read_again(again: Material, read_pages: list[str]) -> None:
    shutil.copy(again.image(SECOND), again.image(THIRD))
    outcome = check(again.settings())
    assert read_pages == [THIRD]
    assert pages(outcome) == {FIRST: "checked", SECOND: "checked", THIRD: "image mismatch"}
    assert not outcome.sound


def test_pages_are_judged_anew_where_a_setting_changes_findings_and_not_where_they_moved(
    again: Material, read_pages: list[str]
) -> None:
    """Lines before all others move the pages in the file; what was found on them is the same."""
    again.text.write_text("# a line before all others\n" + again.text.read_text(encoding="utf-8"), encoding="utf-8")
    check(again.settings(engine__workers=1, report__lang="zh-Hant"))
    assert read_pages == []
    check(again.settings(page__column_length=22))
    assert sorted(read_pages) == [FIRST, SECOND, THIRD]


def test_a_page_whose_mark_was_gone_for_a_while_has_its_findings_and_decisions_again(fresh: Material) -> None:
    first = check(fresh.settings())
    with Store.open(fresh.settings().store_address) as store:
        work = work_of_run(store, first)
        [flag] = queued(store, work)
        decide(store, flag.number, Verdict.UNSURE, work=work)
    whole = fresh.text.read_text(encoding="utf-8")
    [mark] = [line for line in whole.splitlines(keepends=True) if SECOND in line]
    fresh.change(mark, "")
    check(fresh.settings())
    fresh.text.write_text(whole, encoding="utf-8")
    assert places(check(fresh.settings())) == PLANTED
    with Store.open(fresh.settings().store_address) as store:
        [unsure] = [flag for flag in queued(store, work) if flag.version]
        assert (unsure.state, unsure.flag.page, unsure.stale) == (State.UNSURE, SECOND, False)


def test_a_text_that_cannot_be_read_costs_no_other(again: Material, read_pages: list[str]) -> None:
    bad = again.folder / "bad.txt"
    bad.write_bytes(b"\xff\xfe\x00\xd8" * 40)
    outcome = check(again.settings(project__texts=[str(bad), str(again.text)]))
    assert read_pages == []
    assert set(pages(outcome).values()) == {"checked"}
    (notice,) = outcome.unread
    assert in_english(notice).startswith(str(bad))
    summary = json.loads((outcome_folder(outcome) / "summary.json").read_text(encoding="utf-8"))
    assert as_record(notice) in summary["findings"]


def test_a_check_of_one_text_leaves_the_others_of_the_work_as_they_were(again: Material) -> None:
    head, marked = half_folios(again.text.read_text(encoding="utf-8"))
    other = again.folder / "other.txt"
    again.text.write_text(head + marked[0] + marked[2], encoding="utf-8")
    other.write_text(head + marked[1], encoding="utf-8")
    both = again.settings(store="parts", project__texts=[str(again.text), str(other)])
    whole = check(both)
    with Store.open(both.store_address) as store:  # one of the others is judged by what all the texts taught
        wrong = store.flags(work_of_run(store, whole), kinds=(Kind.SUBSTITUTION,))
        taught = next(flag for flag in wrong if flag.page == SECOND)
        evidence = replace(taught.evidence, base=taught.score)
        taught = replace(taught, score=-1.0, raised=False, evidence=evidence)
        store.rescore(work_of_run(store, whole), [taught])
    alone = check(again.settings(store="parts", out="alone"))
    assert [page.page for page in alone.written.tally.pages] == [FIRST, THIRD]
    assert list(pages(alone)) == [SECOND, FIRST, THIRD]  # the reports have the whole work
    with Store.open(both.store_address) as store:
        work = work_of_run(store, whole)
        assert work_of_run(store, alone) == work
        assert [result.page for result in store.results(work=work)] == [SECOND, FIRST, THIRD]
        now = {flag.id: flag_record(flag) for flag in store.flags(work)}
    assert now == {flag["id"]: flag for flag in lines(whole)} | {taught.id: flag_record(taught)}


class StopError(Exception):
    """What a test stops a check with."""


def test_an_interrupted_check_goes_on_where_it_was(
    checked: tuple[Material, CheckOutcome], fresh: Material, read_pages: list[str]
) -> None:
    def stop(progress: Progress) -> None:
        if progress.done == 2:
            raise StopError

    with pytest.raises(StopError):
        check(fresh.settings(engine__workers=1), stop)
    for thread in threading.enumerate():  # a check that stops does not wait for the page in progress
        if thread.name.startswith("page"):
            thread.join()
    del read_pages[:]
    outcome, progress = watched(fresh.settings(engine__workers=1))
    # two pages were told as done; the third is kept where it was written together with them
    assert read_pages in ([THIRD], [])
    assert progress[-1].reused == 3 - len(read_pages)
    assert raw(outcome) == raw(checked[1])


def test_what_is_kept_is_told_as_done_even_where_it_is_interrupted_while_it_is_written(
    again: Material, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Store.save_pages
    written: list[int] = []

    def interrupted(self: Store, run_id: int, results: Sequence[CheckedResult]) -> None:
        signal.raise_signal(signal.SIGINT)
        real(self, run_id, results)
        written.append(len(results))

    monkeypatch.setattr(Store, "save_pages", interrupted)
    reported: list[Progress] = []
    with pytest.raises(KeyboardInterrupt):
        check(again.settings(), reported.append)
    assert written
    assert [progress.done for progress in reported] == list(range(1, sum(written) + 1))


def test_a_page_that_raises_costs_that_page_and_says_which_file_and_why(
    checked: tuple[Material, CheckOutcome], fresh: Material, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Checker.judge

    def broken(self: Checker, page: Page, *rest: Any) -> PageResult:
        if page.id == FIRST:
            raise ValueError("a mistake")
        return real(self, page, *rest)

    monkeypatch.setattr(Checker, "judge", broken)
    outcome = check(fresh.settings())
    assert not outcome.sound
    statuses = pages(outcome)
    why = statuses.pop(FIRST)
    assert why.startswith("failed: ")
    assert all(words in why for words in (f"{FIRST}.png", "ValueError: a mistake"))
    assert set(statuses.values()) == {"checked"}
    assert places(outcome) == PLANTED

    # what failed is tried again, what did not is not read again
    monkeypatch.setattr(Checker, "judge", real)
    whole, progress = watched(fresh.settings())
    assert progress[-1].reused == 2
    assert raw(whole) == raw(checked[1])


def test_a_copy_that_is_checked_before_its_text_takes_none_of_its_pages(again: Material) -> None:
    def texts(outcome: CheckOutcome) -> dict[int, str]:
        with Store.open(again.settings().store_address) as store:
            listed = store.queue.pages(work_of_run(store, outcome))
            return {page.number: Path(page.text).name for page in listed}

    before = texts(check(again.settings()))
    copy = again.folder / "a copy.txt"
    shutil.copy(again.text, copy)
    now = texts(check(again.settings(project__texts=[str(copy), str(again.text)])))
    assert {number: name for number, name in now.items() if name == again.text.name} == before
    assert sorted(now.values()) == [copy.name] * 3 + [again.text.name] * 3


def test_a_text_that_is_written_while_its_check_begins_is_not_set_back(
    fresh: Material, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by an export of another process: what was read before is older than what the store may know."""
    settings = fresh.settings()

    def write(*_: object) -> None:
        text = fresh.text.read_text(encoding="utf-8")
        fresh.text.write_text(text.replace("射", "躬"), encoding="utf-8")

    monkeypatch.setattr("proof.checking.pipeline.follow_renamed", write)
    with pytest.raises(OutputError, match="changed while its check began: check again"):
        check(settings)
    with Store.open(settings.store_address) as store:
        assert store.latest_run() is None
