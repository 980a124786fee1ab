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
from proof.text.model import Page, Row, Script
from proof.text.read import read_transcription
from proof.verify.pairing import neighbours_of
from scripts.bench.drawn_pages import choose, rendered
from tests.conftest import ReadPage
from tests.sampling import cross_section
from tests.verify.pages import PAGES, Sample, checker, raised, sound_sample, with_lines

PLAIN, NOTED, AFTER, FIRST = "WYG0103-0193a", "WYG0103-0192d", "WYG0103-0193b", "WYG0103-0192c"
"""Half-folios of the sample: 2a is plain text, 1b has notes, 2b follows 2a, 1a has titles."""

Told = tuple[str, int, str, str]


@pytest.fixture(scope="module")
def sample(ppocr: PPOCR) -> Sample:
    return Sample(sound_sample(), checker(ppocr, Script.SIMPLIFIED))


def told(result: PageResult) -> list[tuple[str, int, int, str, str]]:
    """The raised flags as kind, line, offset, what is transcribed, what should stand there."""
    return [(f.kind.value, f.line, f.offset, f.transcribed, f.suggested) for f in raised(result)]


def layout_findings(result: PageResult) -> list[tuple[str, int]]:
    return [(f.evidence.reason, f.line) for f in raised(result) if f.kind is Kind.LAYOUT]


def corrected(sources: Sequence[str], flags: Sequence[Flag]) -> list[str]:
    """The lines with what the flags suggest."""
    lines = list(sources)
    for flag in sorted(flags, key=lambda flag: -flag.offset):
        line = lines[flag.line - 1]
        lines[flag.line - 1] = line[: flag.offset] + flag.suggested + line[flag.offset + flag.length :]
    return lines


def assert_inside(boxes: Sequence[Box], size: tuple[int, int]) -> None:
    assert boxes
    for box in boxes:
        assert min(box.w, box.h) > 0, box
        assert min(box.x, box.y) >= 0, box
        assert box.right <= size[0], box
        assert box.bottom <= size[1], box


@pytest.mark.parametrize("ref", [PLAIN, NOTED])
def test_a_sound_page_raises_nothing_and_every_character_has_its_place(sample: Sample, ref: str) -> None:
    """Its place in the source and its place on the image: right to left, top to bottom."""
    result = sample.check(ref)
    assert result.status is Status.CHECKED
    assert told(result) == []
    cells = [
        (column.number, cell.offset, cell.text, cell.row)
        for column in sample.page(ref).columns
        for cell in column.cells
        if cell.glyph
    ]
    assert result.characters_checked == len(cells)
    assert sorted((c.line, c.offset, c.text, c.row) for c in result.characters) == sorted(cells)
    assert_inside([character.box for character in result.characters], result.image_size)
    assert [column.number for column in result.columns] == list(range(1, 9))
    centres = [column.box.centre[0] for column in result.columns]
    assert centres == sorted(centres, reverse=True)
    for column in result.columns:
        main = [c.box.centre[1] for c in result.characters if c.line == column.number and c.row is Row.MAIN]
        assert main == sorted(main)


@pytest.mark.parametrize(
    ("ref", "changes", "expected"),
    [
        pytest.param(
            PLAIN,
            [(1, "西面", "酉面"), (4, "射告", "射而告"), (6, "三耦", "耦"), (8, "拾取", "取拾")],
            [
                ("substitution", 1, "酉", "西"),
                ("insertion", 4, "而", ""),
                ("omission", 6, "", "三"),
                ("transposition", 8, "取拾", "拾取"),
            ],
            id="each kind of error",
        ),
        pytest.param(
            NOTED,
            [(5, "注疏", "往疏"), (6, "石经", "经")],
            [("substitution", 5, "往", "注"), ("omission", 6, "", "石")],
            id="errors in notes",
        ),
        pytest.param(
            PLAIN,
            [(4, "射告", "谢若")],
            [("substitution", 4, "谢", "射"), ("substitution", 4, "若", "告")],
            id="neighbours that are wrong are two flags",
        ),
    ],
)
def test_an_error_is_one_flag_in_its_place(
    sample: Sample, ref: str, changes: Sequence[tuple[int, str, str]], expected: Sequence[Told]
) -> None:
    sound = sample.sources(ref)
    sources = list(sound)
    for line, was, written in changes:
        assert was in sources[line - 1]
        sources[line - 1] = sources[line - 1].replace(was, written)
    result = sample.check(ref, sources)
    assert [(kind, line, text, suggested) for kind, line, _, text, suggested in told(result)] == list(expected)
    assert corrected(sources, raised(result)) == sound
    places = {(c.line, c.offset): c.box for c in sample.check(ref).characters}
    for flag in raised(result):
        assert flag.bbox is not None
        assert_inside([flag.bbox], result.image_size)
        if flag.kind is Kind.SUBSTITUTION:
            assert places[flag.line, flag.offset].contains(*flag.bbox.centre)


def test_a_doubled_column_is_one_finding_and_the_rest_is_checked(sample: Sample) -> None:
    sound = sample.sources(PLAIN)
    sources = [*sound[:6], sound[5], *sound[6:]]
    sources[3] = sources[3].replace("射告", "射若")
    result = sample.check(PLAIN, sources)
    assert layout_findings(result) in ([("column doubled", 6)], [("column doubled", 7)])
    assert [entry for entry in told(result) if entry[0] != "layout"] == [
        ("substitution", 4, sources[3].index("若"), "若", "告")
    ]


@pytest.mark.parametrize(("page", "first"), [(PLAIN, 1), (NOTED, 1), (FIRST, 2)])
def test_a_missing_column_is_one_finding_however_short_it_is(sample: Sample, page: str, first: int) -> None:
    """A seal stands on the first column of the first page."""
    sound = sample.sources(page)
    for number, missing in cross_section([*enumerate(sound, 1)][first - 1 :], 3):
        result = sample.check(page, [*sound[: number - 1], *sound[number:]])
        assert layout_findings(result) == [("column missing", number)]
        [flag] = raised(result)
        assert len("".join(flag.suggested.split())) == len("".join(missing.split()))


def test_a_column_of_a_single_character_is_missing_like_any_other(sample: Sample) -> None:
    sources = sample.sources("WYG0103-0194c")[:7]
    [flag] = raised(sample.check("WYG0103-0194c", sources))
    assert (flag.kind, flag.line, flag.suggested) == (Kind.LAYOUT, 8, "与")


def test_a_column_that_stands_elsewhere_is_one_question_at_both_its_places(sample: Sample) -> None:
    sound = sample.sources(PLAIN)
    result = sample.check(PLAIN, [sound[0], *sound[2:7], sound[1], sound[7]])
    [out] = [flag for flag in raised(result) if flag.transcribed == sound[1]]
    [into] = [flag for flag in raised(result) if flag.suggested == sound[1]]
    assert (out.line, into.line, out.moved, into.moved) == (7, 2, into.id, out.id)
    assert len(questions(raised(result))) == 1


def test_the_halves_of_a_note_exchanged_are_one_finding(sample: Sample) -> None:
    sound = sample.sources(NOTED)
    head, note = sound[4].rstrip(")").split("(")
    right, left = note.split("/")
    result = sample.check(NOTED, [*sound[:4], f"{head}({left}/{right})", *sound[5:]])
    assert layout_findings(result) == [("note halves exchanged", 5)]
    (finding,) = raised(result)
    assert (finding.offset, finding.transcribed) == (len(head), f"({left}/{right})")
    assert finding.suggested == f"({note})"


def test_a_wrong_image_is_one_finding_that_names_the_page_it_carries(sample: Sample) -> None:
    result = sample.check(PLAIN, image=AFTER)
    assert result.status is Status.MISMATCH
    message = Notice.of(NoticeCode.CARRIES_LATER, page="2b", number=1)
    assert result.message == message
    (flag,) = result.flags
    assert flag.raised
    assert (flag.kind, flag.line, flag.offset, flag.length) == (Kind.LAYOUT, 0, 0, 0)
    assert flag.evidence.notice == message


@pytest.mark.parametrize("sources", [[], [""] * 8])
def test_a_page_that_was_not_transcribed_is_one_finding(sample: Sample, sources: list[str]) -> None:
    result = sample.check(PLAIN, sources)
    assert layout_findings(result) == [("page not transcribed", 0)]
    assert len(raised(result)) == 1


def test_a_page_in_one_line_is_laid_on_its_columns(sample: Sample) -> None:
    """Its characters stand where they stand with line breaks, and what is wrong is found at its offset."""
    text = "".join(source.strip() for source in sample.sources(PLAIN))
    result = sample.check(PLAIN, [text])
    assert told(result) == []
    assert len(result.characters) == len(text)
    with_breaks = [c.box.centre for c in sample.check(PLAIN).characters]
    near = [
        abs(x - c.box.centre[0]) < 15 and abs(y - c.box.centre[1]) < 15
        for (x, y), c in zip(with_breaks, result.characters, strict=True)
    ]
    assert np.mean(near) >= 0.99
    wrong = text.replace("若有士", "苦有士").replace("射告", "射而告").replace("三耦之", "耦之")
    result = sample.check(PLAIN, [wrong])
    assert told(result) == [
        ("substitution", 1, wrong.index("苦"), "苦", "若"),
        ("insertion", 1, wrong.index("而告"), "而", ""),
        ("omission", 1, wrong.index("命耦之") + 1, "", "三"),
    ]
    assert corrected([wrong], raised(result)) == [text]


def test_flags_have_ids_of_their_own_that_hang_neither_on_the_run_nor_on_the_threshold(
    sample: Sample, ppocr: PPOCR
) -> None:
    sources = [source.replace("大夫", "大天") for source in sample.sources(PLAIN)]
    usual, again = sample.check(PLAIN, sources), sample.check(PLAIN, sources)
    strict = replace(sample, checker=checker(ppocr, Script.SIMPLIFIED, threshold=50.0)).check(PLAIN, sources)
    ids = [flag.id for flag in usual.flags]
    assert len(set(ids)) == len(ids) > 3
    assert ids == [flag.id for flag in again.flags] == [flag.id for flag in strict.flags]
    assert raised(usual)
    assert raised(strict) == []


@pytest.fixture(scope="module")
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
    chosen = choose(texts, 4, seed=11)
    reader = checker(ppocr)
    found = []
    for trial, drawn in rendered(chosen, seed=11):
        path = folder / f"{trial.page.id}.png"
        Image.fromarray(drawn.image).save(path)
        page_image = PageImage(path, "", FoundBy.NAME)
        near = neighbours_of(trial.transcription.pages, trial.transcription.pages.index(trial.page))
        found.append((drawn, reader.check(trial.page, "", page_image, load_image(path), near)))
    return found


def test_on_worn_pages_nearly_every_character_is_placed_on_its_glyph(
    trials: list[tuple[RenderedPage, PageResult]],
) -> None:
    middles, outside = [], []
    for drawn, result in trials:
        true = {(character.line, character.offset): character for character in drawn.characters}
        for character in result.characters:
            box, own = character.box, true[character.line, character.offset]
            middles.append(own.cell.contains(*box.centre))
            inside = min(box.bottom, own.box.bottom) - max(box.y, own.box.y)
            outside.append(1 - max(inside, 0.0) / own.box.h)
    assert len(middles) > 400
    assert len(middles) >= 0.99 * sum(result.characters_checked for _, result in trials)
    assert np.mean(middles) >= 0.99
    assert sum(share > 0.1 for share in outside) <= 0.03 * len(outside)


def test_worn_pages_pair_with_their_text_and_raise_little(trials: list[tuple[RenderedPage, PageResult]]) -> None:
    assert all(result.status is Status.CHECKED for _, result in trials)
    characters = sum(result.characters_checked for _, result in trials)
    assert sum(len(raised(result)) for _, result in trials) <= 3 + characters / 500


def real_results(shared: Path, engine: PPOCR) -> Iterator[PageResult]:
    reader = checker(engine)
    folder = shared / "facsimile" / "JMML"
    for juan, folio in (("000", "2a"), ("001", "1a")):
        pages = read_transcription(folder / f"JMML_{juan}.txt").pages
        (number,) = [number for number, page in enumerate(pages) if str(page.folio) == folio]
        (path,) = (folder / "images").glob(f"JMML_{juan}-{folio}.*")
        found = PageImage(path, "", FoundBy.NAME)
        yield reader.check(pages[number], path.stem, found, load_image(path), neighbours_of(pages, number))
    pages = read_transcription(shared / "kanripo" / "KR1d0087" / "KR1d0087_223.txt").pages
    path = shared / "facsimile" / "plates" / "WYG0140" / "WYG0140-0330.png"
    image = load_image(path)
    for quadrant, folio in zip("abcd", ("16a", "16b", "17a", "17b"), strict=True):
        (number,) = [n for n, page in enumerate(pages) if str(page.folio) == folio]
        found = PageImage(path, quadrant, FoundBy.PLATE)
        yield reader.check(pages[number], f"WYG0140-0330{quadrant}", found, image, neighbours_of(pages, number))


@pytest.fixture(scope="module")
def real(shared: Path, ppocr: PPOCR) -> dict[str, PageResult]:
    return {result.page: result for result in real_results(shared, ppocr)}


def test_real_pages_pair_with_their_text_and_have_their_boxes_on_the_image(real: dict[str, PageResult]) -> None:
    assert {page: result.message for page, result in real.items() if result.status is not Status.CHECKED} == {}
    for result in real.values():
        assert [column.number for column in result.columns] == list(range(1, 9))
        assert_inside([character.box for character in result.characters], result.image_size)


def test_the_errors_of_real_transcriptions_are_raised(shared: Path, real: dict[str, PageResult]) -> None:
    with (shared / "gold" / "dev.tsv").open(encoding="utf-8", newline="") as file:
        gold = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    wanted = [
        (row["page"], int(row["line"]), int(row["offset"]))
        for row in gold
        if row["class"] == "error" and row["page"] in real
    ]
    assert len(wanted) >= 12
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


@dataclass(frozen=True)
class Read:
    """A page engine that was asked once: reading a page takes seconds."""

    identity: EngineIdentity
    reading: PageReading

    def read_page(self, page: Pixels) -> PageReading:
        return self.reading


def test_a_page_of_another_layout_goes_to_the_page_pipeline_and_says_so(
    shared: Path, ppocr: PPOCR, read_page: ReadPage
) -> None:
    name = "tables-seal.png"
    path = shared / "facsimile" / "other" / name
    identity, reading = read_page(name)
    read = [line.text for line in reading.lines]
    longest = max(range(len(read)), key=lambda n: len(read[n]))
    at = len(read[longest]) // 2
    dropped = read[longest][at]
    read[longest] = read[longest][:at] + read[longest][at + 1 :]
    page = with_lines(Page("X", Folio(1, "a"), None, "", 1, ()), read)

    def fallback() -> PageEngine:
        return Read(identity, reading)

    reader = replace(checker(ppocr), fallback=fallback)
    result = reader.check(page, "X", PageImage(path, "", FoundBy.NAME), load_image(path), [])
    assert result.status is Status.CHECKED
    (notice,) = [in_english(notice) for notice in result.notices if notice.code is NoticeCode.READ_BY_PAGE_PIPELINE]
    assert "across the columns" in notice
    assert "paddleocr" in notice
    assert_inside([character.box for character in result.characters], result.image_size)
    omissions = [f for f in result.flags if f.kind is Kind.OMISSION and f.line == longest + 1]
    assert any(f.suggested == dropped and abs(f.offset - at) <= 1 for f in omissions)
