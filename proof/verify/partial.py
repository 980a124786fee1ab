"""A page of which only a part is on its image: which lines, and which characters of each, can be checked at all.

The layout says that columns are missing at a side, or that the image cuts columns off above or below; what is read in
the columns that are there says which lines these are and where each begins and ends. The rest of the page is told once
and raises nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import median

import numpy as np

from proof.layout.half_folio import Outline
from proof.model.flags import Flag, Kind
from proof.model.notices import Notice, NoticeCode
from proof.text.model import Page, Run
from proof.verify.columns import ReadColumn
from proof.verify.lines import Assignment, LineFault, LineTrouble

HALF = (0.35, 0.65)
"""Of the columns of a page: what is called half of it."""

RIGHT = NoticeCode.RIGHT_HALF_MISSING, NoticeCode.RIGHT_COLUMNS_MISSING
LEFT = NoticeCode.LEFT_HALF_MISSING, NoticeCode.LEFT_COLUMNS_MISSING
"""What is said where a half of a page is missing, and where less or more is."""

UPPER, LOWER = NoticeCode.UPPER_REGISTER_MISSING, NoticeCode.LOWER_REGISTER_MISSING
"""The same where what is there is one register of two: wider than it is high, as no half of a leaf is."""

SEVERAL = 3
"""Lines: so many beyond one side of an image are told together; and so are so many characters of a line."""

SEEN = 0.3
"""Of the characters of a line: where something else is read, and so little, the line is not there."""

NEAR_EDGE, MOST, FEW, SLIP = 1.3, 0.55, 2, 1
"""Cells: a column that begins or ends so near to the edge of the image may be cut off by it; of the columns that do, so
many lack characters there where it does, or so many at all where ink runs into it; rows that one may lack beside these.
"""

CUT_OFF = 0.6
"""Cells: a column that ends so near to the edge of its image goes on beyond it."""

BEYOND = 6
"""Characters of a line's source beside what is on the image: what is read there after all is one of these."""

PART = 0.75
"""Cells: what lies nearer to where the image cuts a column off is not a whole character."""


@dataclass(frozen=True, slots=True)
class PartOfPage:
    """What of a page is on its image: the `page` with nothing else, and what is to be said of the rest; its `outline`
    where that was told by what was read."""

    page: Page
    notices: tuple[Notice, ...] = ()
    outline: Outline | None = None


def beyond_the_sides(
    part: PartOfPage, columns: Sequence[ReadColumn], assignment: Assignment
) -> tuple[PartOfPage, Assignment]:
    """What of a page without rules is on its image, and what is out of place there, once lines that would stand beyond
    one side of the image, several of them, are told together."""
    if not columns:
        return part, assignment
    # of two equal lines the one that is there may be the other
    gone = {one.line for one in assignment.troubles if one.trouble in (LineFault.NOT_ON_PAGE, LineFault.DOUBLED)}
    there = {column.line.number: column.area for column in columns if column.line is not None}
    width = median(column.area.width for column in columns)
    left, right = min(c.area.left for c in columns) + width, max(c.area.right for c in columns) - width
    numbers = [line.number for line in part.page.columns if line.cells]
    sides: dict[bool, list[int]] = {False: [], True: []}
    either: list[int] = []
    for is_gone, run in groupby(range(len(numbers)), lambda place: numbers[place] in gone):
        places = list(run)
        before = there.get(numbers[places[0] - 1]) if places[0] else None
        after = there.get(numbers[places[-1] + 1]) if places[-1] + 1 < len(numbers) else None
        on_left, on_right = bool(before and before.left < left), bool(after and after.right > right)
        if is_gone and (on_left or on_right):
            # between two registers lines may be missing at the end of one or at the beginning of the next
            (either if on_left and on_right else sides[on_left]).extend(numbers[place] for place in places)
    sides[bool(sides[True]) or not sides[False]] += either
    told = {on_left: own for on_left, own in sides.items() if len(own) >= SEVERAL}
    register = _is_one_of_two_registers(columns, told, len(numbers))
    notices = tuple(
        Notice.of(LOWER if on_left else UPPER, number=len(own), of=len(numbers))
        if register
        else _side_missing(*(LEFT if on_left else RIGHT), len(own), len(numbers))
        for on_left, own in told.items()
    )
    joined = {number for own in told.values() for number in own}
    troubles = tuple(one for one in assignment.troubles if one.line not in joined or one.line not in gone)
    return replace(part, notices=(*part.notices, *notices)), replace(assignment, troubles=troubles)


def _is_one_of_two_registers(columns: Sequence[ReadColumn], told: dict[bool, list[int]], lines: int) -> bool:
    """Whether the columns that are there stand side by side over more than their height, where half of the lines of a
    page that are missing (`told`, by side) are all on one side."""
    areas = [column.area for column in columns]
    wide = max(area.right for area in areas) - min(area.left for area in areas)
    high = max(area.bottom for area in areas) - min(area.top for area in areas)
    halved = [HALF[0] <= len(own) / lines <= HALF[1] for own in told.values()]
    return halved == [True] and wide > high


def without_unseen(columns: Sequence[ReadColumn], assignment: Assignment) -> tuple[list[ReadColumn], Assignment]:
    """The columns without the lines of which nothing is seen where they would stand, and what is out of place with
    these: a line that is not on the page is told once, not by each of its characters."""
    unseen = [
        one
        for one in columns
        if len(one.cells) >= SEVERAL
        and len(one.read) < SEEN * len(one.cells)
        and not set(one.read) & {cell.text for cell in one.cells}
    ]
    gone = [LineTrouble(LineFault.NOT_ON_PAGE, one.line.number, None, "") for one in unseen if one.line]
    left = [replace(one, line=None, cells=(), pairings=()) if one in unseen else one for one in columns]
    return left, replace(assignment, troubles=(*assignment.troubles, *gone))


def _side_missing(half: NoticeCode, some: NoticeCode, gone: int, total: int) -> Notice:
    """What is said of so many columns that are not on the image, at one side of it."""
    return Notice.of(half if HALF[0] <= gone / total <= HALF[1] else some, number=gone, of=total)


def cut_by_edges(page: Page, outline: Outline, columns: Sequence[ReadColumn], height: float) -> PartOfPage | None:
    """What of a page without rules is on its image, where the upper or the lower edge of it (y of the rectified page: 0
    and `height`) cuts columns off; None where it cuts none. `columns` as they were read: most of those that come near
    the edge lack the characters that would stand beyond it."""
    if not columns:
        return None
    lacking = [_lacking(column, height) for column in columns]
    gone = [_usual([ends[side] for ends in lacking], outline.cut[side] is not None) for side in (0, 1)]
    if not any(gone):
        return None
    lines = {}
    for column, ends in zip(columns, lacking, strict=True):
        if column.line is not None:
            begin, off = (_gone(own, usual) for own, usual in zip(ends, gone, strict=True))
            size = sum(map(_height, column.line.runs))
            lines[column.line.number] = replace(column.line, parsed=_between(column.line.runs, begin, size - off))
    said = zip(gone, (NoticeCode.TOP_CUT_OFF, NoticeCode.BOTTOM_CUT_OFF), strict=True)
    notices = tuple(Notice.of(code, number=number) for number, code in said if number)
    there = tuple(lines.get(line.number, line) for line in page.columns)
    edges = (0.0 if gone[0] else outline.cut[0], height if gone[1] else outline.cut[1])
    return PartOfPage(replace(page, cut=there), notices, replace(outline, cut=edges))


def _gone(own: int | None, usual: int) -> int:
    """How many rows of a line are beyond an edge where most lack so many (`usual`): as many as its column lacks itself
    (`own`) unless that is far from it, as where half a character was read as two."""
    if own is None or not usual:
        return 0
    return own if abs(own - usual) <= SLIP else usual


def _usual(lacking: Sequence[int | None], runs_out: bool) -> int:
    """How many rows columns lack that come near an edge: most of them, or a few where ink runs into it (`runs_out`); 0
    where it cuts none off."""
    near = [number for number in lacking if number is not None]
    without = [number for number in near if number]
    enough = FEW if runs_out else max(SEVERAL, MOST * len(near))
    return round(median(without)) if len(without) >= enough else 0


def _lacking(column: ReadColumn, height: float) -> tuple[int | None, int | None]:
    """How many rows of its line a column lacks at its beginning and at its end; None where it does not come near the
    edge of the image."""
    area, line = column.area, column.line
    if line is None or not column.cells:
        return None, None
    cell = area.cell(0)
    shown = {number for pairing in column.pairings if pairing.glyphs for number in pairing.cells}
    rows = {}
    at = 0
    for run in line.runs:
        for half in (run.right, run.left):
            rows.update({one.offset: at + row for row, one in enumerate(half)})
        at += _height(run)
    first = min((rows[column.cells[number].offset] for number in shown), default=0)
    last = max((rows[column.cells[number].offset] for number in shown), default=at - 1)
    # blanks above what is there are no characters that are cut off
    begin = min(rows[one.offset] for one in column.cells)
    return (
        (first if first > begin else 0) if area.top - area.raised < NEAR_EDGE * cell else None,
        at - 1 - last if area.bottom > height - NEAR_EDGE * cell else None,
    )


def is_cut_off(flag: Flag, column: ReadColumn, outline: Outline, height: float, rows: int) -> bool:
    """Whether a flag is about a character that the image cuts off, the last of a column that ends at its lower edge, or
    the first where the upper edge cuts columns off."""
    if _is_beyond(flag, outline, rows):
        return True
    area, line = column.area, column.line
    if area.pitch is None or line is None or not column.cells:
        return False
    first, last = column.cells[0].offset, column.cells[-1].offset
    if flag.kind is Kind.OMISSION:
        # what was taken for cut off is on the image after all
        before = line.source[max(0, first - BEYOND) : first] if outline.cut[0] is not None else ""
        after = line.source[last + 1 : last + 1 + BEYOND] if outline.cut[1] is not None else ""
        gone = after if flag.offset > last else before if flag.offset <= first else ""
        return bool(flag.suggested) and flag.suggested in gone
    above = outline.cut[0] is not None and area.top - area.raised < NEAR_EDGE * area.pitch
    below = area.bottom >= height - CUT_OFF * area.pitch
    # the halves of a note begin and end side by side
    begins, ends = _row(line.runs[0], 0), _row(line.runs[-1], _height(line.runs[-1]) - 1)
    return (below and (flag.offset >= last or flag.offset in ends)) or (
        above and (flag.offset <= first or flag.offset in begins)
    )


def _is_beyond(flag: Flag, outline: Outline, rows: int) -> bool:
    """Whether a flag is about a character that the image cuts off."""
    if flag.bbox is None or not flag.line:
        return False
    above, below = outline.cut
    middle = np.array([[flag.bbox.x + flag.bbox.w / 2, flag.bbox.y + flag.bbox.h / 2]])
    y = float(outline.rectification.to_page(middle)[0, 1])
    near = PART * outline.columns[0].cell(rows)
    return (above is not None and y < above + near) or (below is not None and y > below - near)


def _row(run: Run, row: int) -> set[int]:
    """Where in the source the characters of one row of a run stand: two of a note."""
    return {half[row].offset for half in (run.right, run.left) if row < len(half)}


def _height(run: Run) -> int:
    """How many cells of its column a run takes."""
    return max(len(run.right), len(run.left))


def _between(runs: Sequence[Run], begin: int, end: int) -> tuple[Run, ...]:
    """The runs of a line from one row to another (exclusive)."""
    kept = []
    at = 0
    for run in runs:
        first, last = max(0, begin - at), max(0, end - at)
        cut = replace(run, right=run.right[first:last], left=run.left[first:last])
        if cut.cells:
            kept.append(cut)
        at += _height(run)
    return tuple(kept)
