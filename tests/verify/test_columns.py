"""One column of text on one column of the image: aligned, looked at again where they differ."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from proof.images.load import LoadedImage, load_image
from proof.layout.half_folio import Layout, find_layout
from proof.ocr.engine import Engine, Pixels, Reading
from proof.ocr.ppocr import PPOCR
from proof.ocr.readings import HalfFolioReadings
from proof.ocr.replay import RecordingEngine
from proof.text.column import parse_column
from proof.text.model import Column, Row, Script
from proof.text.read import read_transcription
from proof.text.variants import VariantPolicy
from proof.verify.align import Step
from proof.verify.columns import BAD_NOTE_CUT_NATS, ColumnReader, ReadColumn
from proof.verify.likeness import WordLikeness
from proof.verify.page import half_folio

PAGES = Path(__file__).resolve().parents[2] / "pages"
SEALED, SECOND, FIRST = "WYG0103-0192c", "WYG0103-0192d", "WYG0103-0193a"


@dataclass(frozen=True)
class Leaf:
    """A half-folio of the sample, ready to be read column by column, with its lines as they should be."""

    layout: Layout
    reader: ColumnReader
    lines: tuple[Column, ...]

    def read(self, number: int, source: str | None = None) -> ReadColumn:
        """The column of that number as the line that stands there, or as `source`."""
        line = self.lines[number - 1]
        if source is not None:
            line = replace(line, source=source, parsed=parse_column(source).runs)
        return self.reader.read(self.layout.columns[number - 1], line)

    def unaided(self, number: int) -> ReadColumn:
        return self.reader.read(self.layout.columns[number - 1], None)


def leaf(ref: str, engine: PPOCR) -> Leaf:
    with (PAGES / "planted.tsv").open(encoding="utf-8", newline="") as file:
        key = [row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row["page"] == ref]
    (page,) = [page for page in read_transcription(PAGES / "dasheyi.txt").pages if page.id == ref]
    lines = list(page.columns)
    for row in key:
        at = int(row["line"]) - 1
        start, end = int(row["offset"]), int(row["offset"]) + int(row["length"])
        source = lines[at].source[:start] + row["reading"] + lines[at].source[end:]
        lines[at] = replace(lines[at], source=source, parsed=parse_column(source).runs)
    image = load_image(PAGES / f"{ref}.png")
    layout = find_layout(image.pixels)
    likeness = WordLikeness(VariantPolicy(Script.SIMPLIFIED, None), engine)
    return Leaf(layout, ColumnReader(readings(image, engine), likeness), tuple(lines))


def readings(image: LoadedImage, engine: Engine) -> HalfFolioReadings:
    return HalfFolioReadings(engine, 21, lambda: image, lambda image: find_layout(image.pixels))


@pytest.fixture(scope="session")
def first(ppocr: PPOCR) -> Leaf:
    return leaf(FIRST, ppocr)


@pytest.fixture(scope="session")
def sealed(ppocr: PPOCR) -> Leaf:
    """The half-folio 1a, under a seal."""
    return leaf(SEALED, ppocr)


@pytest.fixture(scope="session")
def second(ppocr: PPOCR) -> Leaf:
    """The half-folio 1b, with notes in columns 5 and 6."""
    return leaf(SECOND, ppocr)


def steps(column: ReadColumn) -> list[tuple[Step, str]]:
    """What is not a match, with the characters it is about."""
    found: list[tuple[Step, str]] = []
    for pairing in column.pairings:
        if pairing.step is not Step.MATCH:
            cells = "".join(column.cells[i].text for i in pairing.cells)
            found.append((pairing.step, cells or "".join(column.glyphs[j].best for j in pairing.glyphs)))
    return found


def test_a_column_is_laid_on_its_line_cell_by_cell(first: Leaf, second: Leaf) -> None:
    for page in (first, second):
        for number in range(1, 9):
            column = page.read(number)
            assert steps(column) == [], number
            assert len(column.cells) == len(column.pairings)
            assert column.agreement > 0.9, number
            assert not column.swapped


def test_notes_are_aligned_half_row_by_half_row(second: Leaf) -> None:
    for number in (5, 6):
        column = second.read(number)
        rows = [
            (column.cells[p.cells[0]].row, column.glyphs[p.glyphs[0]].row)
            for p in column.pairings
            if p.step is Step.MATCH
        ]
        assert {row for row, _ in rows} == {Row.MAIN, Row.RIGHT, Row.LEFT}
        assert all(cell is glyph for cell, glyph in rows)


def test_glyphs_of_a_row_follow_one_another_down_the_column(second: Leaf) -> None:
    for number in range(1, 9):
        column = second.read(number)
        for strip in {glyph.strip for glyph in column.glyphs}:
            own = [glyph.y for glyph in column.glyphs if glyph.strip == strip]
            assert own == sorted(own)


def test_without_a_line_a_column_says_what_it_shows(first: Leaf) -> None:
    column = first.unaided(4)
    assert column.line is None
    assert column.cells == ()
    assert column.read == "命大夫之耦曰子與某子射告于大夫曰某御于子"


@dataclass
class Counted(RecordingEngine):
    """A real engine, and every strip that it was given."""

    engine: PPOCR
    given: list[bytes]

    def __post_init__(self) -> None:
        super().__init__(self.engine, Path("never-written"))

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        self.given += [strip.tobytes() for strip in strips]
        return super().read(strips, sought)


def test_no_strip_is_read_twice(first: Leaf, ppocr: PPOCR) -> None:
    """Neither when a column is cut otherwise, nor when it is read without its line as well."""
    counted = Counted(ppocr, [])
    likeness = WordLikeness(VariantPolicy(Script.SIMPLIFIED, None), ppocr)
    image = load_image(PAGES / f"{FIRST}.png")
    page = replace(first, reader=ColumnReader(readings(image, counted), likeness))
    for number in range(1, 9):
        page.read(number, first.lines[number % 8].source)
        assert page.unaided(number).glyphs == first.unaided(number).glyphs
    assert len(counted.given) > 8
    assert len(set(counted.given)) == len(counted.given)


def test_room_before_a_note_is_looked_for_only_where_a_glyph_is_over_there(second: Leaf, ppocr: PPOCR) -> None:
    likeness = WordLikeness(VariantPolicy(Script.SIMPLIFIED, None), ppocr)
    image = load_image(PAGES / f"{SECOND}.png")
    source = second.lines[5].source
    assert source.startswith("(唐")
    for wrong, tried in ((source.replace("御", "馬"), False), (source.replace("唐", ""), True)):
        seen = readings(image, ppocr)
        page = replace(second, reader=ColumnReader(seen, likeness))
        assert page.read(6, wrong).cost > BAD_NOTE_CUT_NATS
        runs = {len(expected) for _, _, expected in seen.used.cuts}
        assert (3 in runs) is tried, wrong


def test_another_line_hardly_agrees(first: Leaf) -> None:
    own = first.read(4).agreement
    other = first.read(4, first.lines[0].source).agreement
    assert own > 0.9
    assert other < 0.5


def test_an_empty_line_on_a_column_with_text_leaves_its_glyphs_over(first: Leaf) -> None:
    column = first.read(2, "")
    assert steps(column) == [(Step.EXTRA_GLYPH, text) for text in "以大夫之耦為上"]


def test_the_halves_of_a_note_exchanged_are_told_from_a_wrong_text(second: Leaf) -> None:
    source = second.lines[4].source
    head, note = source.rstrip(")").split("(")
    right, left = note.split("/")
    column = second.read(5, f"{head}({left}/{right})")
    assert column.swapped
    assert steps(column) == []
    assert not second.read(5).swapped


def test_a_transcription_that_has_no_note_is_laid_on_the_notes_of_the_image(second: Leaf) -> None:
    """Run together and without its parentheses, the text is still that of the column."""
    source = second.lines[4].source.replace("(", "").replace(")", "").replace("/", "")
    column = second.read(5, source)
    assert column.agreement > 0.6
    assert len(steps(column)) <= 2


def test_a_note_where_the_image_has_main_text_is_still_read(first: Leaf) -> None:
    source = first.lines[3].source
    column = first.read(4, f"{source[:8]}({source[8:13]}/{source[13:]})")
    assert len(steps(column)) <= 4


def test_a_second_look_leaves_a_sound_column_as_it_was(first: Leaf) -> None:
    """Whatever is looked at again, the cells keep their glyphs' places."""
    sound = first.read(6)
    doubted = first.read(6, first.lines[5].source.replace("诸", "请"))
    assert doubted.cells != sound.cells
    assert [glyph.y for glyph in doubted.glyphs] == pytest.approx([glyph.y for glyph in sound.glyphs], abs=8)


def test_under_a_seal_the_characters_keep_their_glyphs(sealed: Leaf) -> None:
    cells = matched = 0
    for number in range(1, 9):
        column = sealed.read(number)
        cells += len(column.cells)
        matched += sum(pairing.step is Step.MATCH for pairing in column.pairings)
    assert matched >= 0.97 * cells


def on_plate(shared: Path, ppocr: PPOCR, quadrant: str, number: int, was: str, written: str) -> ReadColumn:
    """A column of a half-folio of the plate, read as its line with `written` for what it has."""
    text = read_transcription(shared / "kanripo" / "KR1d0087" / "KR1d0087_223.txt")
    folio = {"a": "16a", "b": "16b", "c": "17a", "d": "17b"}[quadrant]
    (page,) = [page for page in text.pages if page.id == f"KR1d0087_WYG_223-{folio}"]
    line = page.columns[number - 1]
    assert was in line.source
    source = line.source.replace(was, written)
    plate = load_image(shared / "facsimile" / "plates" / "WYG0140" / "WYG0140-0330.png")
    image = half_folio(plate, quadrant)
    reader = ColumnReader(readings(image, ppocr), WordLikeness(VariantPolicy(Script.TRADITIONAL, None), ppocr))
    area = find_layout(image.pixels).columns[number - 1]
    return reader.read(area, replace(line, source=source, parsed=parse_column(source).runs))


@pytest.mark.parametrize(
    ("written", "expected"),
    [("也(注播/殖也)", [(Step.EXTRA_GLYPH, "掌")]), ("也(注載掌又/殖也)", [(Step.EXTRA_CELL, "載")])],
)
def test_a_note_of_another_length_than_its_line_says_is_cut_as_long_as_it_is(
    shared: Path, ppocr: PPOCR, written: str, expected: list[tuple[Step, str]]
) -> None:
    """也(注掌播/殖也): the last character of the longer half-row stands by itself, and is none of main text."""
    assert steps(on_plate(shared, ppocr, "a", 4, "也(注掌播/殖也)", written)) == expected


def test_where_the_left_half_row_lacks_its_first_character_no_main_text_is_cut_out_of_the_note(
    shared: Path, ppocr: PPOCR
) -> None:
    """疏 and 四 stand side by side at its head; what is cut there as one character is nothing that the line has."""
    column = on_plate(shared, ppocr, "c", 3, "/四岳者", "/岳者")
    assert (Step.EXTRA_GLYPH, "四") in steps(column)
