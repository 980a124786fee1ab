"""One page from image and text to flags: what is wrong is found where it is, and nothing else is."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from proof.errors import FontError, ImageError
from proof.facsimile.fonts import find_faces
from proof.facsimile.render import RenderedPage
from proof.images.find import FoundBy, PageImage
from proof.images.load import load_image
from proof.locale.notices import in_english
from proof.model.flags import Flag, Kind, questions
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.model.refs import Folio
from proof.model.result import PageResult, Status
from proof.ocr.engine import EngineIdentity, Pixels
from proof.ocr.page import PageEngine, PageReading
from proof.ocr.ppocr import PPOCR
from proof.text.column import parse_column
from proof.text.model import Column, Page, Row, Script
from proof.text.read import read_transcription
from proof.text.variants import VariantPolicy
from proof.verify.page import Checker
from proof.verify.pairing import neighbours_of
from scripts.bench.drawn_pages import choose, rendered
from tests.conftest import ReadPage

PAGES = Path(__file__).resolve().parents[2] / "pages"
PLAIN, NOTED, AFTER = "WYG0103-0193a", "WYG0103-0192d", "WYG0103-0193b"
"""Half-folios of the sample: 2a is plain text, 1b has notes, 2b follows 2a."""

THRESHOLD = 3.0


def no_pages() -> PageEngine:
    raise AssertionError("this page is ruled columns: the page pipeline is not needed")


def checker(engine: PPOCR, script: Script, threshold: float = THRESHOLD, columns: int = 8) -> Checker:
    return Checker.of(engine, VariantPolicy(script, None), columns, 21, threshold, no_pages)


def page_of(page: Page, sources: Sequence[str]) -> Page:
    """The page with other lines."""
    columns = tuple(Column(n, source, 0, n, parse_column(source).runs) for n, source in enumerate(sources, 1))
    return replace(page, cut=columns)


@dataclass(frozen=True)
class Sample:
    """The sample's pages without its known errors, and a way to check one of them with other lines."""

    pages: tuple[Page, ...]
    checker: Checker

    def page(self, ref: str) -> Page:
        (page,) = [page for page in self.pages if page.id == ref]
        return page

    def sources(self, ref: str) -> list[str]:
        return [column.source for column in self.page(ref).columns]

    def check(self, ref: str, sources: Sequence[str] | None = None, image: str = "") -> PageResult:
        page = self.page(ref)
        number = self.pages.index(page)
        if sources is not None:
            page = page_of(page, sources)
        path = PAGES / f"{image or ref}.png"
        found = PageImage(path, "", FoundBy.REFERENCE)
        return self.checker.check(page, ref, found, load_image(path), neighbours_of(self.pages, number))


@pytest.fixture(scope="session")
def sample(ppocr: PPOCR) -> Sample:
    with (PAGES / "planted.tsv").open(encoding="utf-8", newline="") as file:
        key = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    pages = []
    for page in read_transcription(PAGES / "dasheyi.txt").pages:
        sources = [column.source for column in page.columns]
        for row in key:
            if row["page"] == page.id:
                at, start, length = int(row["line"]) - 1, int(row["offset"]), int(row["length"])
                sources[at] = sources[at][:start] + row["reading"] + sources[at][start + length :]
        pages.append(page_of(page, sources))
    return Sample(tuple(pages), checker(ppocr, Script.SIMPLIFIED))


def raised(result: PageResult) -> list[Flag]:
    return [flag for flag in result.flags if flag.raised]


def told(result: PageResult) -> list[tuple[str, int, int, str, str]]:
    """The raised flags as kind, line, offset, what is transcribed, what should stand there."""
    return [(f.kind.value, f.line, f.offset, f.transcribed, f.suggested) for f in raised(result)]


def corrected(source: str, flag: Flag) -> str:
    return source[: flag.offset] + flag.suggested + source[flag.offset + flag.length :]


# A sound page.


@pytest.mark.parametrize("ref", [PLAIN, NOTED])
def test_a_sound_page_raises_nothing(sample: Sample, ref: str) -> None:
    result = sample.check(ref)
    assert result.status is Status.CHECKED
    assert told(result) == []
    assert result.characters_checked == sum(cell.glyph for column in sample.page(ref).columns for cell in column.cells)


def test_every_character_of_a_sound_page_has_its_place_in_the_source_and_on_the_image(sample: Sample) -> None:
    result = sample.check(NOTED)
    cells = [
        (column.number, cell.offset, cell.text, cell.row)
        for column in sample.page(NOTED).columns
        for cell in column.cells
        if cell.glyph
    ]
    assert sorted((c.line, c.offset, c.text, c.row) for c in result.characters) == sorted(cells)
    assert [column.number for column in result.columns] == list(range(1, 9))
    # right to left, top to bottom
    centres = [column.box.centre[0] for column in result.columns]
    assert centres == sorted(centres, reverse=True)
    for column in result.columns:
        main = [c.box.centre[1] for c in result.characters if c.line == column.number and c.row is Row.MAIN]
        assert main == sorted(main)


def test_boxes_lie_inside_the_image(sample: Sample) -> None:
    for ref in (PLAIN, NOTED):
        result = sample.check(ref, [source.replace("大夫", "夫") for source in sample.sources(ref)])
        boxes = [c.box for c in result.characters] + [f.bbox for f in result.flags if f.bbox]
        assert_inside(boxes, result.image_size)


def assert_inside(boxes: Sequence[Box], size: tuple[int, int]) -> None:
    assert boxes
    for box in boxes:
        assert box.w > 0, box
        assert box.h > 0, box
        assert box.x >= 0, box
        assert box.y >= 0, box
        assert box.right <= size[0], box
        assert box.bottom <= size[1], box


# Single errors.


def test_each_kind_of_error_is_one_flag_in_its_place(sample: Sample) -> None:
    sources = sample.sources(PLAIN)
    sources[0] = sources[0].replace("西面", "酉面")
    sources[3] = sources[3].replace("射告", "射而告")
    sources[5] = sources[5].replace("三耦", "耦")
    sources[7] = sources[7].replace("拾取", "取拾")
    result = sample.check(PLAIN, sources)
    assert told(result) == [
        ("substitution", 1, sources[0].index("酉"), "酉", "西"),
        ("insertion", 4, sources[3].index("而"), "而", ""),
        ("omission", 6, sources[5].index("耦之"), "", "三"),
        ("transposition", 8, sources[7].index("取拾"), "取拾", "拾取"),
    ]
    whole = sample.sources(PLAIN)
    assert all(corrected(sources[f.line - 1], f) == whole[f.line - 1] for f in raised(result))


def test_errors_in_notes_keep_their_places_in_the_source(sample: Sample) -> None:
    sources = sample.sources(NOTED)
    sources[4] = sources[4].replace("注疏", "往疏")
    sources[5] = sources[5].replace("石经", "经")
    result = sample.check(NOTED, sources)
    assert told(result) == [
        ("substitution", 5, sources[4].index("往"), "往", "注"),
        ("omission", 6, sources[5].index("唐") + 1, "", "石"),
    ]


def test_neighbours_that_are_wrong_are_two_flags(sample: Sample) -> None:
    sources = sample.sources(PLAIN)
    sources[3] = sources[3].replace("射告", "谢若")
    at = sources[3].index("谢若")
    assert told(sample.check(PLAIN, sources)) == [
        ("substitution", 4, at, "谢", "射"),
        ("substitution", 4, at + 1, "若", "告"),
    ]


def test_an_empty_line_whose_column_has_a_character_is_an_omission(sample: Sample) -> None:
    for ref, line, lost in (("WYG0103-0194c", 8, "与"), ("WYG0103-0196a", 1, "三")):
        sources = sample.sources(ref)
        assert sources[line - 1].strip() == lost
        sources[line - 1] = ""
        assert ("omission", line, 0, "", lost) in told(sample.check(ref, sources)), ref


def test_the_flag_lies_on_the_glyph_that_it_is_about(sample: Sample) -> None:
    sources = sample.sources(PLAIN)
    sound = {(c.line, c.offset): c.box for c in sample.check(PLAIN).characters}
    sources[3] = sources[3].replace("射", "谢")
    (flag,) = raised(sample.check(PLAIN, sources))
    assert flag.bbox is not None
    x, y = flag.bbox.centre
    assert sound[4, flag.offset].contains(x, y)


# Whole columns and pages.


def layout_findings(result: PageResult) -> list[tuple[str, int]]:
    return [(f.evidence.reason, f.line) for f in raised(result) if f.kind is Kind.LAYOUT]


def with_error(sources: list[str], source: str) -> tuple[list[str], int]:
    """The lines with 射告 of that line made 射若, and the number that line now has."""
    wrong = source.replace("射告", "射若")
    at = sources.index(source)
    return [*sources[:at], wrong, *sources[at + 1 :]], at + 1


def test_a_doubled_column_is_one_finding(sample: Sample) -> None:
    sound = sample.sources(PLAIN)
    sources = [*sound[:6], sound[5], *sound[6:]]
    sources, wrong = with_error(sources, sound[3])
    result = sample.check(PLAIN, sources)
    ((reason, line),) = layout_findings(result)
    assert reason == "column doubled"
    assert line in (6, 7)
    assert [entry for entry in told(result) if entry[0] != "layout"] == [
        ("substitution", wrong, sources[wrong - 1].index("若"), "若", "告")
    ]


def test_swapped_columns_are_one_question(sample: Sample) -> None:
    sound = sample.sources(PLAIN)
    sources, _ = with_error([*sound[:5], sound[6], sound[5], sound[7]], sound[3])
    result = sample.check(PLAIN, sources)
    out, into = sorted(
        (flag for flag in result.flags if flag.kind is Kind.LAYOUT), key=lambda flag: not flag.transcribed
    )
    assert (out.evidence.reason, out.line in (6, 7)) == ("column moved", True)
    assert out.transcribed == into.suggested == sources[out.line - 1]
    assert len(questions(raised(result))) == 2


def test_a_column_that_stands_elsewhere_is_one_question_at_both_its_places(sample: Sample) -> None:
    sound = sample.sources(PLAIN)
    result = sample.check(PLAIN, [sound[0], *sound[2:7], sound[1], sound[7]])
    [out] = [flag for flag in raised(result) if flag.transcribed == sound[1]]
    [into] = [flag for flag in raised(result) if flag.suggested == sound[1]]
    assert (out.line, into.line, out.moved, into.moved) == (7, 2, into.id, out.id)
    assert len(questions(raised(result))) == 1


def test_the_halves_of_a_note_exchanged_are_one_finding(sample: Sample) -> None:
    sources = sample.sources(NOTED)
    head, note = sources[4].rstrip(")").split("(")
    right, left = note.split("/")
    sources[4] = f"{head}({left}/{right})"
    result = sample.check(NOTED, sources)
    assert layout_findings(result) == [("note halves exchanged", 5)]
    assert len(raised(result)) == 1


def test_a_wrong_image_is_one_finding_that_names_the_page_it_carries(sample: Sample) -> None:
    ahead = sample.check(PLAIN, image=AFTER)
    assert ahead.status is Status.MISMATCH
    assert ahead.message == Notice.of(NoticeCode.CARRIES_LATER, page="2b", number=1)
    back = sample.check(AFTER, image=NOTED)
    assert back.message == Notice.of(NoticeCode.CARRIES_EARLIER, page="1b", number=2)
    for result in (ahead, back):
        (flag,) = result.flags
        assert flag.raised
        assert (flag.kind, flag.line, flag.offset, flag.length) == (Kind.LAYOUT, 0, 0, 0)
        assert flag.evidence.notice == result.message


def test_an_image_of_none_of_the_pages_around_is_one_finding(sample: Sample, shared: Path) -> None:
    path = shared / "facsimile" / "JMML" / "images" / "JMML_000-1b.png"
    page = sample.page(PLAIN)
    found = PageImage(path, "", FoundBy.NAME)
    result = sample.checker.check(page, PLAIN, found, load_image(path), neighbours_of(sample.pages, 2))
    assert result.status is Status.MISMATCH
    assert len(result.flags) == 1
    assert result.message == Notice.of(NoticeCode.CARRIES_OTHER)


def test_a_page_that_was_not_transcribed_is_one_finding(sample: Sample) -> None:
    assert_not_transcribed(sample.check(PLAIN, []))


def test_a_page_whose_lines_are_all_empty_is_one_finding_too(sample: Sample) -> None:
    assert_not_transcribed(sample.check(PLAIN, [""] * 8))


def assert_not_transcribed(result: PageResult) -> None:
    assert [(flag.kind, flag.line, flag.evidence.reason) for flag in raised(result)] == [
        (Kind.LAYOUT, 0, "page not transcribed")
    ]


# A transcription without line breaks.


def test_a_page_in_one_line_is_laid_on_its_columns(sample: Sample) -> None:
    text = "".join(source.strip() for source in sample.sources(PLAIN))
    result = sample.check(PLAIN, [text])
    assert told(result) == []
    assert len(result.characters) == len(text)
    # the characters stand where they stand with line breaks
    with_breaks = [c.box for c in sample.check(PLAIN).characters]
    near = [
        abs(one.centre[0] - c.box.centre[0]) < 15 and abs(one.centre[1] - c.box.centre[1]) < 15
        for one, c in zip(with_breaks, result.characters, strict=True)
    ]
    assert np.mean(near) >= 0.99


def test_errors_in_a_page_in_one_line_are_found_at_their_offsets(sample: Sample) -> None:
    text = "".join(source.strip() for source in sample.sources(PLAIN))
    wrong = text.replace("若有士", "苦有士").replace("射告", "射而告").replace("三耦之", "耦之")
    result = sample.check(PLAIN, [wrong])
    assert told(result) == [
        ("substitution", 1, wrong.index("苦"), "苦", "若"),
        ("insertion", 1, wrong.index("而告"), "而", ""),
        ("omission", 1, wrong.index("命耦之") + 1, "", "三"),
    ]
    for flag in sorted(raised(result), key=lambda f: -f.offset):
        wrong = corrected(wrong, flag)
    assert wrong == text


def test_notes_in_a_page_in_one_line_are_found_too(sample: Sample) -> None:
    text = "".join(source.strip() for source in sample.sources(NOTED))
    wrong = text.replace("注疏", "往疏")
    found = told(sample.check(NOTED, [wrong]))
    assert ("substitution", 1, wrong.index("往"), "往", "注") in found
    # without its line a column's short notes are cut less surely
    assert len(found) <= 4


# Ids and thresholds.


def test_another_threshold_raises_otherwise_and_names_alike(sample: Sample, ppocr: PPOCR) -> None:
    sources = sample.sources(PLAIN)
    sources[3] = sources[3].replace("射告", "谢若")
    strict = replace(sample, checker=checker(ppocr, Script.SIMPLIFIED, threshold=50.0)).check(PLAIN, sources)
    usual = sample.check(PLAIN, sources)
    assert [flag.id for flag in strict.flags] == [flag.id for flag in usual.flags]
    assert raised(strict) == []
    assert len(raised(usual)) == 2


def test_every_flag_has_an_id_of_its_own_and_again_the_same(sample: Sample) -> None:
    sources = [source.replace("大夫", "大天") for source in sample.sources(PLAIN)]
    one, other = sample.check(PLAIN, sources), sample.check(PLAIN, sources)
    ids = [flag.id for flag in one.flags]
    assert len(set(ids)) == len(ids) > 3
    assert ids == [flag.id for flag in other.flags]


# Worn pages with true boxes, and real ones.


@pytest.fixture(scope="session")
def trials(
    shared: Path, tmp_path_factory: pytest.TempPathFactory, ppocr: PPOCR
) -> list[tuple[RenderedPage, PageResult]]:
    """Rendered half-folios of real texts, each with a style and wear of its own, checked as they are."""
    try:
        find_faces()
    except FontError as error:
        pytest.skip(f"{error}: this test draws pages")
    folder = tmp_path_factory.mktemp("trials")
    texts = [
        read_transcription(shared / "kanripo" / name)
        for name in ("KR1d0030/KR1d0030_010.txt", "KR1d0087/KR1d0087_223.txt")
    ]
    chosen = choose(texts, 6, seed=11)
    reader = checker(ppocr, Script.TRADITIONAL)
    found = []
    for trial, (name, drawn) in zip(chosen, rendered(chosen, seed=11), strict=True):
        path = folder / f"{name}.png"
        Image.fromarray(drawn.image).save(path)
        page_image = PageImage(path, "", FoundBy.NAME)
        near = neighbours_of(trial.transcription.pages, trial.transcription.pages.index(trial.page))
        found.append((drawn, reader.check(trial.page, name, page_image, load_image(path), near)))
    return found


def test_the_middle_of_every_box_lies_in_the_true_cell(trials: list[tuple[RenderedPage, PageResult]]) -> None:
    right = total = 0
    for drawn, result in trials:
        cells = {(one.line, one.offset): one.cell for one in drawn.characters}
        for character in result.characters:
            total += 1
            right += cells[character.line, character.offset].contains(*character.box.centre)
    assert total > 600
    assert right / total >= 0.99


def test_a_glyph_stands_in_its_box_from_top_to_bottom(trials: list[tuple[RenderedPage, PageResult]]) -> None:
    outside = []
    for drawn, result in trials:
        inked = {(one.line, one.offset): one.box for one in drawn.characters}
        for character in result.characters:
            ink = inked[character.line, character.offset]
            inside = min(character.box.bottom, ink.bottom) - max(character.box.y, ink.y)
            outside.append(1 - max(inside, 0.0) / ink.h)
    assert sum(share > 0.1 for share in outside) <= 0.03 * len(outside)


def test_nearly_every_character_is_placed(trials: list[tuple[RenderedPage, PageResult]]) -> None:
    placed = sum(len(result.characters) for _, result in trials)
    assert placed >= 0.99 * sum(result.characters_checked for _, result in trials)


def test_worn_pages_pair_with_their_text_and_raise_little(trials: list[tuple[RenderedPage, PageResult]]) -> None:
    assert all(result.status is Status.CHECKED for _, result in trials)
    characters = sum(result.characters_checked for _, result in trials)
    assert sum(len(raised(result)) for _, result in trials) <= 3 + characters / 500


def real_results(shared: Path, engine: PPOCR) -> Iterator[PageResult]:
    reader = checker(engine, Script.TRADITIONAL)
    folder = shared / "facsimile" / "JMML"
    for juan in ("000", "001"):
        pages = read_transcription(folder / f"JMML_{juan}.txt").pages
        for number, page in enumerate(pages):
            (path,) = (folder / "images").glob(f"JMML_{juan}-{page.folio}.*")
            found = PageImage(path, "", FoundBy.NAME)
            yield reader.check(page, path.stem, found, load_image(path), neighbours_of(pages, number))
    pages = read_transcription(shared / "kanripo" / "KR1d0087" / "KR1d0087_223.txt").pages
    path = shared / "facsimile" / "plates" / "WYG0140" / "WYG0140-0330.png"
    image = load_image(path)
    for quadrant, folio in zip("abcd", ("16a", "16b", "17a", "17b"), strict=True):
        (number,) = [n for n, page in enumerate(pages) if str(page.folio) == folio]
        found = PageImage(path, quadrant, FoundBy.PLATE)
        yield reader.check(pages[number], f"WYG0140-0330{quadrant}", found, image, neighbours_of(pages, number))


@pytest.fixture(scope="session")
def real(shared: Path, ppocr: PPOCR) -> dict[str, PageResult]:
    return {result.page: result for result in real_results(shared, ppocr)}


def test_real_pages_pair_with_their_text(real: dict[str, PageResult]) -> None:
    assert {page: result.message for page, result in real.items() if result.status is not Status.CHECKED} == {}
    assert all([column.number for column in result.columns] == list(range(1, 9)) for result in real.values())


def test_the_errors_of_real_transcriptions_are_raised(shared: Path, real: dict[str, PageResult]) -> None:
    with (shared / "gold" / "dev.tsv").open(encoding="utf-8", newline="") as file:
        gold = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    wanted = [
        (row["page"], int(row["line"]), int(row["offset"]))
        for row in gold
        if row["class"] == "error" and row["page"] in real
    ]
    assert len(wanted) > 15
    missed = [
        (page, line, offset)
        for page, line, offset in wanted
        if not any(
            flag.line == line and flag.offset <= offset <= flag.offset + max(flag.length - 1, 0)
            for flag in raised(real[page])
        )
    ]
    assert len(missed) <= 0.15 * len(wanted), missed
    false = sum(len(raised(result)) for result in real.values()) - (len(wanted) - len(missed))
    assert false <= 0.01 * sum(result.characters_checked for result in real.values())


def test_boxes_on_real_pages_lie_inside_the_image(real: dict[str, PageResult]) -> None:
    for result in real.values():
        assert_inside([character.box for character in result.characters], result.image_size)


def test_a_quadrant_of_a_plate_has_its_boxes_in_the_pixels_of_the_sheet(real: dict[str, PageResult]) -> None:
    parts = {result.ref[-1]: result for result in real.values() if result.ref.startswith("WYG0140-0330")}
    assert set(parts) == set("abcd")
    for result in parts.values():
        assert result.image_box is not None
        assert all(result.image_box.contains(*character.box.centre) for character in result.characters)
    assert parts["a"].characters[0].box.x > parts["b"].characters[0].box.x
    assert parts["a"].characters[0].box.y < parts["c"].characters[0].box.y


def test_a_quadrant_of_what_is_no_plate_is_an_error_that_names_the_file(sample: Sample) -> None:
    path = PAGES / f"{PLAIN}.png"
    found = PageImage(path, "a", FoundBy.PLATE)
    with pytest.raises(ImageError, match=rf"{PLAIN}\.png: no plate of four half-folios"):
        sample.checker.check(sample.page(PLAIN), PLAIN, found, load_image(path), [])


# Pages that are not ruled columns.


@dataclass(frozen=True)
class Read:
    """A page engine that was asked once: reading a page takes seconds."""

    identity: EngineIdentity
    reading: PageReading

    def read_page(self, page: Pixels) -> PageReading:
        return self.reading


@pytest.mark.parametrize("name", ["tables-seal.png"])
def test_a_page_of_another_layout_goes_to_the_page_pipeline_and_says_so(
    shared: Path, ppocr: PPOCR, read_page: ReadPage, name: str
) -> None:
    path = shared / "facsimile" / "other" / name
    image = load_image(path)
    identity, reading = read_page(name)
    read = [line.text for line in reading.lines]
    longest = max(range(len(read)), key=lambda n: len(read[n]))
    at = len(read[longest]) // 2
    dropped = read[longest][at]
    read[longest] = read[longest][:at] + read[longest][at + 1 :]
    empty = Page("X", Folio(1, "a"), None, "", 1, ())
    asked: list[int] = []

    def fallback() -> PageEngine:
        asked.append(1)
        return Read(identity, reading)

    reader = replace(checker(ppocr, Script.TRADITIONAL), fallback=fallback)
    result = reader.check(page_of(empty, read), "X", PageImage(path, "", FoundBy.NAME), image, [])
    assert result.status is Status.CHECKED
    assert asked == [1]
    (notice,) = [in_english(one) for one in result.notices if one.code is NoticeCode.READ_BY_PAGE_PIPELINE]
    assert "across the columns" in notice
    assert "paddleocr" in notice
    assert_inside([character.box for character in result.characters], result.image_size)
    omissions = [f for f in result.flags if f.kind is Kind.OMISSION and f.line == longest + 1]
    assert any(f.suggested == dropped and abs(f.offset - at) <= 1 for f in omissions)


def test_a_ruled_page_never_asks_for_the_page_pipeline(sample: Sample) -> None:
    assert not [one for one in sample.check(PLAIN).notices if one.code is NoticeCode.READ_BY_PAGE_PIPELINE]
