"""Finds which lines of a page, and which characters of each, its image shows where it shows only a part of the page.

The lines are first aligned with the columns as if the page were whole. Lines beyond the first or last column, and
characters of most lines beyond an edge, are not on the image: one notice reports them, without flags.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import groupby
from statistics import median

import numpy as np

from proof.layout.half_folio import Outline
from proof.model.flags import Flag, Kind
from proof.model.notices import Notice, NoticeCode
from proof.text.model import Page, Run
from proof.verify.columns import ReadColumn
from proof.verify.line_assignment import Assignment, LineFault

HALF_SHARE = (0.35, 0.65)
"""Minimum and maximum share of a page's columns that is reported as half of it."""


class Side(Enum):
    """The side of a page at which its image lacks lines."""

    RIGHT = "right"
    LEFT = "left"


HALF_MISSING = {Side.RIGHT: NoticeCode.RIGHT_HALF_MISSING, Side.LEFT: NoticeCode.LEFT_HALF_MISSING}
COLUMNS_MISSING = {Side.RIGHT: NoticeCode.RIGHT_COLUMNS_MISSING, Side.LEFT: NoticeCode.LEFT_COLUMNS_MISSING}
"""The notices for about half of a page missing, and for another share of its columns."""

REGISTER_MISSING = {Side.RIGHT: NoticeCode.UPPER_REGISTER_MISSING, Side.LEFT: NoticeCode.LOWER_REGISTER_MISSING}
"""The notices for a register missing: the lines of the lower one follow those at the left of the upper one."""

MIN_SIDE_LINES = 3
"""Lines missing at one side from which on one notice reports them."""

NEAR_EDGE_CELLS = 1.3
"""Distance from the edge of the image within which a column may be cut off by it, in cells."""

MIN_CUT_SHARE = 0.55
"""Share of the columns near an edge that must lack characters there for the edge to cut the page off."""

MIN_CUT_COLUMNS = 3
"""Number of these columns, at least."""

MIN_CUT_COLUMNS_WITH_INK = 2
"""Number of these columns, at least, where ink runs into the edge; then `MIN_CUT_SHARE` is not asked. At 3 one of 40
pages that are cut off is not said to be."""

MAX_ROWS_SLIP = 1
"""Maximum difference between the rows that a column lacks at an edge and those that most columns lack."""

CUT_OFF_CELLS = 0.6
"""Distance from the lower edge of the image within which a column continues beyond it, in cells."""

BEYOND_CHARACTERS = 6
"""Characters of a line's source, before and after those on the image, to which a glyph at the edge may belong."""

WHOLE_CHARACTER_CELLS = 0.75
"""Distance of a glyph's middle from the cutting edge from which the glyph is whole, in cells. If nearer ones were
flagged, two flags more would be false on 23 pages that are cut off."""


_Edges = tuple[float | None, float | None]
"""The y of the edges that may cut columns off above and below; None for an edge that does not."""


@dataclass(frozen=True, slots=True)
class PartOfPage:
    """The part of a page that is on its image. `page` holds only that part, `notices` report the rest; `outline` is set
    where the text that was read corrected it."""

    page: Page
    notices: tuple[Notice, ...] = ()
    outline: Outline | None = None


def beyond_the_sides(
    part: PartOfPage, outline: Outline, columns: Sequence[ReadColumn], assignment: Assignment
) -> tuple[PartOfPage, Assignment]:
    """The part of a page whose lines are on its image, and its assignment: one notice replaces the troubles of several
    lines missing at one side, or of any number where the layout lacks columns there."""
    if not columns or (_are_ruled(columns) and not outline.missing):
        return part, assignment
    min_lines = 1 if outline.missing else MIN_SIDE_LINES
    # of two equal lines, the missing one may have been taken for the one on the image
    missing = {
        trouble.line for trouble in assignment.troubles if trouble.fault in (LineFault.NOT_ON_PAGE, LineFault.DOUBLED)
    }
    numbers = [line.number for line in part.page.columns if line.cells]
    missing_at_sides = _missing_by_side(numbers, missing, columns)
    reported = {side: lines for side, lines in missing_at_sides.items() if len(lines) >= min_lines}
    is_register = _is_one_of_two_registers(columns, reported, len(numbers))
    notices = []
    for side, lines in reported.items():
        code = REGISTER_MISSING[side] if is_register else _code_of_missing(side, len(lines) / len(numbers))
        notices.append(Notice.of(code, number=len(lines), of=len(numbers)))
    reported_lines = {number for lines in reported.values() for number in lines}
    troubles = tuple(trouble for trouble in assignment.troubles if trouble.line not in reported_lines)
    page = replace(part.page, cut=tuple(line for line in part.page.columns if line.number not in reported_lines))
    return replace(part, page=page, notices=(*part.notices, *notices)), replace(assignment, troubles=troubles)


def _missing_by_side(
    numbers: Sequence[int], missing: Container[int], columns: Sequence[ReadColumn]
) -> dict[Side, list[int]]:
    """The `missing` lines of a page with these line `numbers` that belong beyond its last column at the left, or before
    its first at the right."""
    area_of_line = {column.line.number: column.area for column in columns if column.line is not None}
    width = median(column.area.width for column in columns)
    leftmost = min(column.area.left for column in columns) + width
    rightmost = max(column.area.right for column in columns) - width
    sides: dict[Side, list[int]] = {Side.RIGHT: [], Side.LEFT: []}
    at_either: list[int] = []
    for is_missing, run in groupby(range(len(numbers)), lambda place: numbers[place] in missing):
        if not is_missing:
            continue
        places = list(run)
        before = area_of_line.get(numbers[places[0] - 1]) if places[0] else None
        after = area_of_line.get(numbers[places[-1] + 1]) if places[-1] + 1 < len(numbers) else None
        is_left, is_right = bool(before and before.left < leftmost), bool(after and after.right > rightmost)
        lines = [numbers[place] for place in places]
        if is_left and is_right:
            # between two registers: missing at the end of one or at the beginning of the next
            at_either += lines
        elif is_left or is_right:
            sides[Side.LEFT if is_left else Side.RIGHT] += lines
    sides[Side.RIGHT if sides[Side.RIGHT] and not sides[Side.LEFT] else Side.LEFT] += at_either
    return sides


def _code_of_missing(side: Side, share: float) -> NoticeCode:
    """The notice for a share of a page's columns that is missing at one side."""
    return (HALF_MISSING if HALF_SHARE[0] <= share <= HALF_SHARE[1] else COLUMNS_MISSING)[side]


def _are_ruled(columns: Sequence[ReadColumn]) -> bool:
    """Whether the columns stand between rules; without rules the height of their cells is measured."""
    return columns[0].area.measured_pitch is None


def _is_one_of_two_registers(columns: Sequence[ReadColumn], reported: Mapping[Side, list[int]], lines: int) -> bool:
    """Whether the image shows one of two registers: its columns together are wider than they are high, as no half of a
    leaf is, and about half of the page's lines are missing, all on one side. `reported` holds the missing lines by
    side."""
    areas = [column.area for column in columns]
    wide = max(area.right for area in areas) - min(area.left for area in areas)
    high = max(area.bottom for area in areas) - min(area.top for area in areas)
    halved = [HALF_SHARE[0] <= len(missing) / lines <= HALF_SHARE[1] for missing in reported.values()]
    return halved == [True] and wide > high


def cut_by_edges(
    page: Page, outline: Outline, columns: Sequence[ReadColumn], height: float, rows: int
) -> PartOfPage | None:
    """The part of a page that is on its image, where the image cuts columns off above or below; None where it does not.

    Between rules the layout says which edges may (`outline.cut`). Without rules both may: those of the rectified page,
    y 0 and `height`, where the layout names none. An edge cuts the page off where most of the `columns` near it lack
    the characters that would stand beyond it. A full column has `rows` cells.
    """
    upper, lower = outline.cut
    edges = outline.cut
    is_ruled = not columns or _are_ruled(columns)
    if not is_ruled:
        edges = (0.0 if upper is None else upper, height if lower is None else lower)
    if edges == (None, None):  # as on nearly every ruled page
        return None
    lacking = [_lacking(column, edges, rows) for column in columns]
    lacking_above = _usual([above for above, _ in lacking], upper is not None)
    lacking_below = _usual([below for _, below in lacking], lower is not None)
    if not (lacking_above or lacking_below):
        return None
    lacking_of = {column.line.number: ends for column, ends in zip(columns, lacking, strict=True) if column.line}
    heights = {line.number: line.height for line in page.columns}
    ends_of_cut = [heights[number] - below for number, (_, below) in lacking_of.items() if below]
    lines = []
    for line in page.columns:
        above, below = lacking_of.get(line.number, (None, None))
        if is_ruled:  # the first row of every column is at the top of the frame
            expected_above = lacking_above
            expected_below = max(0, line.height - round(median(ends_of_cut))) if lacking_below else 0
        else:
            expected_above = 0 if above is None else lacking_above
            expected_below = 0 if below is None else lacking_below
        begin = _rows_beyond(above, expected_above)
        end = line.height - _rows_beyond(below, expected_below)
        lines.append(replace(line, parsed=_between(line.runs, begin, end)))
    by_edge = ((NoticeCode.TOP_CUT_OFF, lacking_above), (NoticeCode.BOTTOM_CUT_OFF, lacking_below))
    notices = tuple(Notice.of(code, number=number) for code, number in by_edge if number)
    cut = (edges[0] if lacking_above else upper, edges[1] if lacking_below else lower)
    return PartOfPage(replace(page, cut=tuple(lines)), notices, replace(outline, cut=cut))


def _rows_beyond(lacking: int | None, expected: int) -> int:
    """How many rows of a line are beyond an edge: those that its column lacks, or those expected if the two differ
    much, as where half a character was read as two."""
    return lacking if lacking is not None and abs(lacking - expected) <= MAX_ROWS_SLIP else expected


def _usual(lacking: Sequence[int | None], runs_out: bool) -> int:
    """How many rows the columns near an edge lack (median); 0 where the edge cuts none off. Most of them must lack
    rows, or a few where ink runs into the edge (`runs_out`)."""
    near = [rows for rows in lacking if rows is not None]
    without = [rows for rows in near if rows]
    enough = MIN_CUT_COLUMNS_WITH_INK if runs_out else max(MIN_CUT_COLUMNS, MIN_CUT_SHARE * len(near))
    return round(median(without)) if len(without) >= enough else 0


def _lacking(column: ReadColumn, edges: _Edges, rows: int) -> tuple[int | None, int | None]:
    """How many rows of its line a column lacks at its beginning and at its end; None where its glyphs do not come near
    that edge of the image."""
    line = column.line
    if line is None or not column.cells or not column.glyphs:
        return None, None
    is_near_upper, is_near_lower = _are_near(column, edges, rows)
    shown = {number for pairing in column.pairings if pairing.glyphs for number in pairing.cells}
    row_of: dict[int, int] = {}
    at = 0
    for run in line.runs:
        for half in (run.right, run.left):
            row_of.update({character.offset: at + row for row, character in enumerate(half)})
        at += run.height
    first = min((row_of[column.cells[number].offset] for number in shown), default=0)
    last = max((row_of[column.cells[number].offset] for number in shown), default=at - 1)
    # blank cells at the beginning are no characters that are cut off
    begin = min(row_of[character.offset] for character in column.cells)
    lacking_above = first if first > begin else 0
    return lacking_above if is_near_upper else None, at - 1 - last if is_near_lower else None


def _are_near(column: ReadColumn, edges: _Edges, rows: int) -> tuple[bool, bool]:
    """Whether the glyphs of a column come near the upper and the lower edge."""
    upper, lower = edges
    near = NEAR_EDGE_CELLS * column.area.cell(rows)
    top = min((glyph.top for glyph in column.glyphs), default=column.area.top)
    bottom = max((glyph.bottom for glyph in column.glyphs), default=column.area.bottom)
    return upper is not None and top < upper + near, lower is not None and bottom > lower - near


def is_cut_off(flag: Flag, column: ReadColumn, outline: Outline, height: float, rows: int) -> bool:
    """Whether a flag is about a character that the image cuts off: the last one of a column that ends at the lower
    edge, or the first one where the upper edge cuts columns off."""
    if _is_beyond(flag, outline, rows):
        return True
    area, line = column.area, column.line
    if line is None or not column.cells:
        return False
    upper, lower = outline.cut
    first, last = column.cells[0].offset, column.cells[-1].offset
    if flag.kind is Kind.OMISSION:
        # a character counted as cut off is on the image after all
        cut_off = ""
        if flag.offset > last and lower is not None:
            cut_off = line.source[last + 1 : last + 1 + BEYOND_CHARACTERS]
        elif flag.offset <= first and upper is not None:
            cut_off = line.source[max(0, first - BEYOND_CHARACTERS) : first]
        return bool(flag.suggested) and flag.suggested in cut_off
    above, below = _are_near(column, outline.cut, rows)
    if lower is None and not _are_ruled([column]):
        below = area.bottom >= height - CUT_OFF_CELLS * area.cell(rows)
    # the halves of a note begin and end side by side
    begins, ends = _row(line.runs[0], 0), _row(line.runs[-1], line.runs[-1].height - 1)
    last_flagged = flag.offset + max(flag.length, 1) - 1
    is_at_end = last_flagged >= last or last_flagged in ends
    is_at_beginning = flag.offset <= first or flag.offset in begins
    return (below and is_at_end) or (above and is_at_beginning)


def _is_beyond(flag: Flag, outline: Outline, rows: int) -> bool:
    """Whether a flag is about a character that the image cuts off."""
    if flag.bbox is None or not flag.line:
        return False
    above, below = outline.cut
    middle = np.array([[flag.bbox.x + flag.bbox.w / 2, flag.bbox.y + flag.bbox.h / 2]])
    y = float(outline.rectification.to_page(middle)[0, 1])
    near = WHOLE_CHARACTER_CELLS * outline.columns[0].cell(rows)
    return (above is not None and y < above + near) or (below is not None and y > below - near)


def _row(run: Run, row: int) -> set[int]:
    """The offsets in the source of the characters in one row of a run; a note has up to two."""
    return {half[row].offset for half in (run.right, run.left) if row < len(half)}


def _between(runs: Sequence[Run], begin: int, end: int) -> tuple[Run, ...]:
    """The runs of a line from row `begin` to row `end` (exclusive)."""
    kept = []
    at = 0
    for run in runs:
        first, last = max(0, begin - at), max(0, end - at)
        cut = replace(run, right=run.right[first:last], left=run.left[first:last])
        if cut.cells:
            kept.append(cut)
        at += run.height
    return tuple(kept)
