"""One column of text on one column of the image: aligned, read again where they differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from proof.images.load import LoadedImage, load_image
from proof.layout.half_folio import Layout, find_layout
from proof.ocr.engine import Engine, Pixels, Reading, WrappedEngine
from proof.ocr.ppocr import PPOCR
from proof.ocr.readings import HalfFolioReadings
from proof.text.column import parse_column
from proof.text.model import Column, Row, Script
from proof.text.read import read_transcription
from proof.text.variants import VariantPolicy
from proof.verify.align import Step
from proof.verify.columns import ColumnReader, ReadColumn
from proof.verify.likeness import WordLikeness
from proof.verify.page import half_folio
from tests.verify.pages import PAGES, sound_sample

SEALED, SECOND, FIRST = "WYG0103-0192c", "WYG0103-0192d", "WYG0103-0193a"


@dataclass(frozen=True)
class Leaf:
    """A half-folio, ready to be read column by column, with its lines as they should be."""

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


def leaf_of(image: LoadedImage, lines: tuple[Column, ...], engine: Engine, script: Script, drawn: PPOCR) -> Leaf:
    layout = find_layout(image.pixels)
    readings = HalfFolioReadings(engine, 21, lambda: image, lambda _: layout)
    return Leaf(layout, ColumnReader(readings, WordLikeness(VariantPolicy(script, None), drawn)), lines)


def sample_leaf(ref: str, engine: Engine, drawn: PPOCR) -> Leaf:
    (page,) = [page for page in sound_sample() if page.id == ref]
    return leaf_of(load_image(PAGES / f"{ref}.png"), page.columns, engine, Script.SIMPLIFIED, drawn)


@pytest.fixture(scope="module")
def first(ppocr: PPOCR) -> Leaf:
    return sample_leaf(FIRST, ppocr, ppocr)


@pytest.fixture(scope="module")
def second(ppocr: PPOCR) -> Leaf:
    """The half-folio 1b, with notes in columns 5 and 6."""
    return sample_leaf(SECOND, ppocr, ppocr)


def steps(column: ReadColumn) -> list[tuple[Step, str]]:
    """What is not a match, with the characters it is about."""
    differences: list[tuple[Step, str]] = []
    for pairing in column.pairings:
        if pairing.step is not Step.MATCH:
            cells = "".join(column.cells[i].text for i in pairing.cells)
            differences.append((pairing.step, cells or "".join(column.glyphs[j].best for j in pairing.glyphs)))
    return differences


def test_a_column_is_laid_on_its_line_cell_by_cell_and_half_row_by_half_row(first: Leaf, second: Leaf) -> None:
    for page in (first, second):
        for number in range(1, 9):
            column = page.read(number)
            assert steps(column) == [], number
            assert len(column.cells) == len(column.pairings)
            assert column.agreement > 0.9, number
            assert not column.halves_exchanged
            for strip in {glyph.strip for glyph in column.glyphs}:
                down = [glyph.y for glyph in column.glyphs if glyph.strip == strip]
                assert down == sorted(down)
            rows = [(column.cells[p.cells[0]].row, column.glyphs[p.glyphs[0]].row) for p in column.pairings]
            assert all(cell is glyph for cell, glyph in rows)
            noted = page is second and number in (5, 6)
            assert {row for row, _ in rows} == ({Row.MAIN, Row.RIGHT, Row.LEFT} if noted else {Row.MAIN})


class Counted(WrappedEngine):
    """An engine, and the bytes of every strip that it was given."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.given: list[bytes] = []

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        self.given += [strip.tobytes() for strip in strips]
        return super().read(strips, sought)


def test_no_strip_is_read_twice(first: Leaf, ppocr: PPOCR) -> None:
    """Neither when a column is cut otherwise, nor when it is read without its line as well."""
    counted = Counted(ppocr)
    page = sample_leaf(FIRST, counted, ppocr)
    for number in range(1, 9):
        page.read(number, first.lines[number % 8].source)
        assert page.unaided(number).glyphs == first.unaided(number).glyphs
    assert len(counted.given) > 8
    assert len(set(counted.given)) == len(counted.given)


def test_a_line_whose_notes_are_not_those_of_the_image_is_still_read(first: Leaf, second: Leaf) -> None:
    """A note run together and without its parentheses, and main text that is written as a note."""
    column = second.read(5, second.lines[4].source.translate(str.maketrans("", "", "()/")))
    assert column.agreement > 0.6
    assert len(steps(column)) <= 2
    source = first.lines[3].source
    column = first.read(4, f"{source[:8]}({source[8:13]}/{source[13:]})")
    assert len(steps(column)) <= 4


@pytest.fixture(scope="module")
def quadrant(shared: Path, ppocr: PPOCR) -> Callable[[str], Leaf]:
    """The half-folios of a plate by their quadrants."""
    plate = load_image(shared / "facsimile" / "plates" / "WYG0140" / "WYG0140-0330.png")
    pages = read_transcription(shared / "kanripo" / "KR1d0087" / "KR1d0087_223.txt").pages
    folios = {"a": "16a", "c": "17a"}

    @cache
    def leaf(name: str) -> Leaf:
        (page,) = [page for page in pages if page.id == f"KR1d0087_WYG_223-{folios[name]}"]
        return leaf_of(half_folio(plate, name), page.columns, ppocr, Script.TRADITIONAL, ppocr)

    return leaf


@pytest.mark.parametrize(
    ("name", "number", "was", "written", "expected"),
    [
        # the last character of the longer half-row stands by itself, and is none of main text
        ("a", 4, "也(注掌播/殖也)", "也(注播/殖也)", (Step.EXTRA_GLYPH, "掌")),
        ("a", 4, "也(注掌播/殖也)", "也(注載掌又/殖也)", (Step.EXTRA_CELL, "載")),
    ],
)
def test_a_note_of_another_length_than_its_line_says_is_cut_as_long_as_it_is(
    quadrant: Callable[[str], Leaf], name: str, number: int, was: str, written: str, expected: tuple[Step, str]
) -> None:
    leaf = quadrant(name)
    source = leaf.lines[number - 1].source
    assert was in source
    differences = steps(leaf.read(number, source.replace(was, written)))
    assert expected in differences
    assert name == "c" or len(differences) == 1
