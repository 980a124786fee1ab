"""Checking pages that are not ruled columns (tables, registers). A page pipeline reads them, and a notice says so.

Such a reading has no posteriors, and the order of its lines is not certain, so the scores of its findings are halved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import log

from proof.layout.half_folio import ColumnArea, Outline
from proof.layout.rules import Rectification
from proof.model.flags import is_raised, with_ids
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.model.result import CheckedColumn, PageResult
from proof.ocr.belief import MIN_PROBABILITY, Belief
from proof.ocr.page import PageLine, PageReading
from proof.ocr.page_record import PageSheet
from proof.text.model import Page, Row
from proof.text.variants import VariantPolicy
from proof.verify.checked_result import checked_characters
from proof.verify.columns import ReadColumn
from proof.verify.findings import FlagMaker, PageContext
from proof.verify.glyphs import Glyph
from proof.verify.likeness import text_likeness
from proof.verify.page_findings import mismatch, unreadable
from proof.verify.pairing import MIN_CHARACTERS, page_key, page_shown
from proof.verify.passages import lines_of, linked
from proof.verify.running_text import lay_out

TEXT_ONLY_WEIGHT = 0.5
"""Factor for the score of a finding that rests on a reading without posteriors."""

WRONG_ORDER_SHARE = 0.1
"""Share of the characters of a page above which, if they are also more than `MIN_CHARACTERS`, differing characters mean
that the lines were read in the wrong order. In the right order about 0.04 differ."""

OTHER_PAGE_SHARE = 0.4
"""Share of the characters of a page from which, if they were not read anywhere on the image, the image shows another
page. For two pages of one work the share is 0.6 and more."""


def check_unruled(
    page: Page,
    pipeline: str,
    reading: PageReading,
    sheet: PageSheet,
    empty_result: PageResult,
    policy: VariantPolicy,
    neighbours: Sequence[tuple[int, Page]],
    threshold: float,
) -> PageResult:
    """Check a page by the `reading` of the page pipeline named `pipeline`. The outline of `sheet` says why the page has
    no ruled columns."""
    glyphs = [_line_glyphs(line, number) for number, line in enumerate(reading.lines)]
    if sheet.outline.why:
        notice = Notice.of(NoticeCode.READ_BY_PAGE_PIPELINE, why=sheet.outline.why, engine=pipeline)
        empty_result = replace(empty_result, notices=(*empty_result.notices, notice))
    read = "".join(glyph.best for line in glyphs for glyph in line)
    paired = page_shown(read, page, neighbours, policy.fold)
    if not paired.fits:
        unread = _unread_characters(read, page, policy)
        in_other_order = paired.other is None and unread < OTHER_PAGE_SHARE * len(page_key(page, str))
        return _not_in_columns(empty_result, page, unread) if in_other_order else mismatch(empty_result, paired)
    origin = (sheet.box.x, sheet.box.y) if sheet.box else (0.0, 0.0)
    outline = replace(sheet.outline, rectification=Rectification.of(1.0, 0.0, 0.0, 0, 0, origin))
    areas = [_area(line, number) for number, line in enumerate(reading.lines)] or [ColumnArea(1, 0, 1, 0, 1, 0)]
    likeness = text_likeness(policy)
    columns = lay_out(page.columns, areas, glyphs, likeness)
    context = PageContext(page.id, empty_result.ref, outline, threshold)
    flag_maker = FlagMaker(context, policy, likeness)
    flags = [
        replace(flag, score=flag.score * TEXT_ONLY_WEIGHT) for column in columns for flag in flag_maker.flags(column)
    ]
    flags = [replace(flag, raised=is_raised(flag.kind, flag.score, threshold)) for flag in flags]
    differing = sum(max(len(flag.transcribed), len(flag.suggested)) for flag in flags if flag.raised)
    if differing > max(MIN_CHARACTERS, WRONG_ORDER_SHARE * len(page_key(page, str))):
        return _not_in_columns(empty_result, page, differing)
    return replace(
        empty_result,
        characters_checked=sum(len(column.cells) for column in columns),
        columns=tuple(_checked_column(outline, column) for column in columns if column.line is not None),
        characters=tuple(checked_characters(outline, columns, None)),
        flags=linked(with_ids(sorted(flags, key=lambda flag: (flag.line, flag.offset))), lines_of(columns), policy),
    )


def _not_in_columns(empty_result: PageResult, page: Page, differing: int) -> PageResult:
    """The result, with one finding, of a page whose lines were not read in the order of its text; `differing` is the
    number of differing characters."""
    notice = Notice.of(NoticeCode.NOT_IN_COLUMNS, number=differing, of=len(page_key(page, str)))
    return unreadable(empty_result, "page not in columns", notice)


def _unread_characters(read: str, page: Page, policy: VariantPolicy) -> int:
    """How many characters of a page were not read anywhere on its image."""
    return (Counter(page_key(page, policy.fold)) - Counter(map(policy.fold, read))).total()


def _line_glyphs(line: PageLine, number: int) -> tuple[Glyph, ...]:
    """The characters of one line as glyphs, each with the score of the line as its probability."""
    glyphs = []
    for character in line.characters:
        box = line.character_box(character)
        glyphs.append(
            Glyph(
                believed=Belief({character.text: log(max(line.score, MIN_PROBABILITY))}),
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
    return tuple(glyphs)


def _area(line: PageLine, number: int) -> ColumnArea:
    box = line.box
    return ColumnArea(number + 1, box.x, box.right, box.y, box.bottom, 0.0)


def _checked_column(outline: Outline, column: ReadColumn) -> CheckedColumn:
    assert column.line is not None, "running text is laid out line by line"
    boxes = [outline.file_box(g.left, g.top, g.right, g.bottom) for g in column.glyphs]
    area = column.area
    box = Box.around(boxes) if boxes else outline.file_box(area.left, area.top, area.right, area.bottom)
    return CheckedColumn(column.line.number, box, column.line.source)
