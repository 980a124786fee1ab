"""Pages that are not ruled columns (tables, registers): read by a page pipeline, and said so.

Such a reading has no posteriors and no certain order, so what it finds is weighed at half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

from proof.layout.half_folio import ColumnArea
from proof.model.flags import is_raised
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult
from proof.ocr.belief import Belief
from proof.ocr.page import PageLine, PageReading
from proof.ocr.page_record import PageSheet
from proof.text.model import Page, Row
from proof.text.variants import VariantPolicy
from proof.verify.columns import ReadColumn
from proof.verify.findings import PageContext, Weigher, linked
from proof.verify.glyphs import Glyph
from proof.verify.likeness import text_likeness
from proof.verify.page_findings import mismatch, numbered
from proof.verify.pairing import gate
from proof.verify.running import lay_out

HALF = 0.5
"""What a finding weighs that rests on text alone."""


@dataclass(frozen=True, slots=True)
class _Placement:
    """Places on the half-folio as places in its file."""

    x: float
    y: float

    def file_box(self, left: float, top: float, right: float, bottom: float) -> Box:
        return Box(left + self.x, top + self.y, right - left, bottom - top)


def check_unruled(
    page: Page,
    pipeline: str,
    reading: PageReading,
    sheet: PageSheet,
    blank: PageResult,
    policy: VariantPolicy,
    neighbours: Sequence[tuple[int, Page]],
    threshold: float,
) -> PageResult:
    """Check a page by the `reading` that the page pipeline of that name made of it; the outline of `sheet` says what
    speaks against ruled columns."""
    glyphs = [_line_glyphs(line, number) for number, line in enumerate(reading.lines)]
    if sheet.outline.why:
        told = Notice.of(NoticeCode.READ_BY_PAGE_PIPELINE, why=sheet.outline.why, engine=pipeline)
        blank = replace(blank, notices=(*blank.notices, told))
    paired = gate("".join(g.best for line in glyphs for g in line), page, neighbours, policy.fold)
    if not paired.fits:
        return mismatch(blank, paired)
    placement = _Placement(sheet.box.x, sheet.box.y) if sheet.box else _Placement(0.0, 0.0)
    areas = [_area(line, number) for number, line in enumerate(reading.lines)] or [ColumnArea(1, 0, 1, 0, 1, 0)]
    likeness = text_likeness(policy)
    columns = lay_out(page.columns, areas, glyphs, likeness)
    context = PageContext(page.id, blank.ref, placement, threshold)
    weigher = Weigher(context, policy, likeness, lambda _: 1.0)
    flags = [
        replace(flag, score=flag.score * HALF, raised=is_raised(flag.kind, flag.score * HALF, threshold))
        for column in columns
        for flag in weigher.flags(column)
    ]
    return replace(
        blank,
        characters_checked=sum(len(column.cells) for column in columns),
        columns=tuple(_checked_column(placement, column) for column in columns if column.line is not None),
        characters=tuple(character for column in columns for character in _characters(placement, column)),
        flags=linked(numbered(sorted(flags, key=lambda flag: (flag.line, flag.offset)))),
    )


def _line_glyphs(line: PageLine, number: int) -> tuple[Glyph, ...]:
    """The characters of one line as glyphs; the score of the line is what is believed of each."""
    found = []
    for character in line.characters:
        box = line.character_box(character)
        found.append(
            Glyph(
                believed=Belief({character.text: log(max(line.score, 1e-5))}),
                presence=1.0,
                strip=number,
                row=Row.MAIN,
                left=box.x,
                top=box.y,
                right=box.right,
                bottom=box.bottom,
                y=box.centre[1],
                pitch=max(box.h, 1.0),
            )
        )
    return tuple(found)


def _area(line: PageLine, number: int) -> ColumnArea:
    box = line.box
    return ColumnArea(number + 1, box.x, box.right, box.y, box.bottom, 0.0)


def _checked_column(placement: _Placement, column: ReadColumn) -> CheckedColumn:
    assert column.line is not None, "running text is laid out line by line"
    boxes = [placement.file_box(g.left, g.top, g.right, g.bottom) for g in column.glyphs]
    area = column.area
    whole = boxes[0] if boxes else placement.file_box(area.left, area.top, area.right, area.bottom)
    for box in boxes[1:]:
        whole = whole.union(box)
    return CheckedColumn(column.line.number, whole, column.line.source)


def _characters(placement: _Placement, column: ReadColumn) -> list[CheckedCharacter]:
    assert column.line is not None, "running text is laid out line by line"
    found = []
    for pairing in column.pairings:
        for i, j in zip(pairing.cells, pairing.glyphs, strict=False):
            cell, glyph = column.cells[i], column.glyphs[j]
            box = placement.file_box(glyph.left, glyph.top, glyph.right, glyph.bottom)
            found.append(
                CheckedCharacter(
                    column.line.number, cell.offset, cell.length, cell.row, cell.text, box, glyph.best, None
                )
            )
    return found
