"""Columns with given glyphs and probabilities, aligned with a line, and their flags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from math import log
from typing import Any

from proof.layout.half_folio import ColumnArea, Outline
from proof.layout.rules import Rectification
from proof.layout.runs import CutBy
from proof.model.flags import Flag, Kind
from proof.ocr.belief import FLOOR, Belief
from proof.settings.config import Settings
from proof.text.column import parse_column
from proof.text.model import Cell, Column, Row, Script
from proof.text.variants import VariantPolicy
from proof.verify.align import align
from proof.verify.columns import ReadColumn
from proof.verify.findings import FlagMaker, PageContext
from proof.verify.glyphs import Glyph
from tests.verify.pages import line

PITCH = 50.0
THRESHOLD = Settings().flags.threshold
AREA = ColumnArea(1, 0.0, 90.0, 0.0, 21 * PITCH, 0.0)

FlagSummary = tuple[Kind, int, int, str, str]


PAPER = Outline(Rectification.of(1.0, 0.0, 0.0, 0, 0, (0.0, 0.0)), (), True, None, 0.0)
"""Of an image file on which the working page lies as it is."""


def glyph_at(place: float, believed: dict[str, float], presence: float = 1.0, row: Row = Row.MAIN) -> Glyph:
    """A glyph that many cells down its column; log-probabilities of characters."""
    top = place * PITCH
    strip = (Row.MAIN, Row.RIGHT, Row.LEFT).index(row)
    return Glyph(Belief(believed), presence, strip, row, 0.0, top, 90.0, top + PITCH, top + PITCH / 2, PITCH)


def glyph(place: float, presence: float = 1.0, /, **believed: float) -> Glyph:
    """The same of main text, with probabilities of characters."""
    return glyph_at(place, {text: max(FLOOR, log(p)) for text, p in believed.items()}, presence)


def sure(text: str) -> list[Glyph]:
    return [glyph(place, **{character: 0.998}) for place, character in enumerate(text)]


def in_rows(text: str, rows: list[Row]) -> list[Glyph]:
    """Glyphs that are surely read, each in a row of its own; where the row changes another strip begins."""
    strips = [sum(row is not next_row for row, next_row in pairwise(rows[: n + 1])) for n in range(len(rows))]
    return [replace(shown, strip=strips[n], row=rows[n]) for n, shown in enumerate(sure(text))]


def shown_as(source: str) -> list[Glyph]:
    """The glyphs of a column that shows a line as it is written here, with its notes."""
    cells = [cell for run in parse_column(source).runs for cell in run.cells]
    return in_rows("".join(cell.text for cell in cells), [cell.row for cell in cells])


def exact(character: str, shown: Glyph) -> float | None:
    return shown.log_prob(character)


def laid(source: str, glyphs: list[Glyph]) -> ReadColumn:
    """A column with these glyphs, aligned with this line."""
    own = line(source)
    cells = tuple(cell for cell in own.cells if cell.glyph)
    pairings, cost = align(cells, glyphs, exact)
    return ReadColumn(AREA, own, cells, tuple(glyphs), tuple(pairings), cost, CutBy.BEST)


def unread(area: ColumnArea, own: Column | None = None, cells: tuple[Cell, ...] | None = None) -> ReadColumn:
    """A column of which no glyph was read."""
    cells_of_line = cells if cells is not None else own.cells if own else ()
    return ReadColumn(area, own, cells_of_line, (), (), 0.0, CutBy.BEST)


def flag_maker(
    likeness: Callable[[str, Glyph], float | None] = exact,
    *,
    script: Script = Script.TRADITIONAL,
    threshold: float = THRESHOLD,
    **more: Any,
) -> FlagMaker:
    return FlagMaker(PageContext("P", "", PAPER, threshold), VariantPolicy(script), likeness, **more)


def flags(
    source: str, glyphs: list[Glyph], script: Script = Script.TRADITIONAL, threshold: float = THRESHOLD
) -> list[Flag]:
    return flag_maker(script=script, threshold=threshold).flags(laid(source, glyphs))


def raised_summaries(found_flags: list[Flag]) -> list[FlagSummary]:
    return [
        (flag.kind, flag.offset, flag.length, flag.transcribed, flag.suggested) for flag in found_flags if flag.raised
    ]
