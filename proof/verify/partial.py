"""Finds which lines of a page, and which characters of each, its image shows where it shows only a part of the page.

The layout says that columns are missing at a side, or that the image cuts columns off above or below. The text read in
the other columns says which lines they are, and where each begins and ends. One notice reports the rest of the page,
without flags.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import median

import numpy as np
from rapidfuzz import fuzz

from proof.layout.half_folio import ColumnArea, Outline
from proof.model.flags import Flag, Kind
from proof.model.notices import Notice, NoticeCode
from proof.text.model import Column, Page, Run
from proof.verify.columns import ReadColumn
from proof.verify.line_assignment import Assignment, LineFault, LineTrouble, line_key

HALF_SHARE = (0.35, 0.65)
"""Minimum and maximum share of a page's columns that is reported as half of it."""

AROUND_CELLS = 3
"""Cells around the expected place in which a line may begin or end; raised columns begin above the frame."""

MIN_BETTER_PERCENT = 0.3
"""Minimum similarity, in percent, by which another place must be better than the one that the layout gives."""

RIGHT_MISSING = (NoticeCode.RIGHT_HALF_MISSING, NoticeCode.RIGHT_COLUMNS_MISSING)
LEFT_MISSING = (NoticeCode.LEFT_HALF_MISSING, NoticeCode.LEFT_COLUMNS_MISSING)
"""The notices for about half of a page missing, and for another share of its columns."""

MIN_SIDE_LINES = 3
"""Lines missing at one side from which on one notice reports them."""

MIN_UNSEEN_CHARACTERS = 3
"""Characters of a line from which on it may be reported as not on the image."""

MAX_UNSEEN_SHARE = 0.3
"""Glyphs read in a column, relative to its line's characters, below which the line is not on the image if none of them
is one of its characters."""

NEAR_EDGE_CELLS = 1.3
"""Distance from the edge of the image within which a column may be cut off by it, in cells."""

MIN_CUT_SHARE = 0.55
"""Share of the columns near an edge that must lack characters there for the edge to cut the page off."""

MIN_CUT_COLUMNS = 3
"""Number of these columns, at least."""

MIN_CUT_COLUMNS_WITH_INK = 2
"""Number of these columns, at least, where ink runs into the edge; then `MIN_CUT_SHARE` is not asked."""

MAX_ROWS_SLIP = 1
"""Maximum difference between the rows that a column lacks at an edge and those that most columns lack."""

CUT_OFF_CELLS = 0.6
"""Distance from the lower edge of the image within which a column continues beyond it, in cells."""

BEYOND_CHARACTERS = 6
"""Characters of a line's source, before and after those on the image, to which a glyph at the edge may belong."""

WHOLE_CHARACTER_CELLS = 0.75
"""Distance of a glyph's middle from the cutting edge from which the glyph is whole, in cells."""


@dataclass(frozen=True, slots=True)
class PartOfPage:
    """The part of a page that is on its image. `page` holds only that part, `notices` report the rest; `outline` is set
    where the text that was read corrected it."""

    page: Page
    notices: tuple[Notice, ...] = ()
    outline: Outline | None = None


def is_partial(outline: Outline) -> bool:
    """Whether columns or parts of them seem to be missing in the image."""
    return outline.missing > 0 or any(edge is not None for edge in outline.cut)


def part_on_image(
    page: Page, outline: Outline, reads: Sequence[str], rows: int, fold: Callable[[str], str]
) -> PartOfPage:
    """The part of a page that is on its image. `reads` is the text read in each column, right to left, without a
    transcription. A full column has `rows` cells; `fold` maps forms of one word and both scripts to one key."""
    shown = ["".join(map(fold, read)) for read in reads]
    first = _first_line(page.columns, shown, fold) if outline.missing else 0
    lines = list(page.columns[first : first + len(shown)] if outline.missing else page.columns)
    notices = _missing_columns(page.columns, first, len(shown), outline.missing)
    if any(edge is not None for edge in outline.cut):
        lines, cut_notices = _cut_lines(lines, outline, shown, rows, fold)
        notices += cut_notices
    return PartOfPage(replace(page, cut=tuple(lines)), notices) if notices else PartOfPage(page)


def beyond_the_sides(
    part: PartOfPage, columns: Sequence[ReadColumn], assignment: Assignment
) -> tuple[PartOfPage, Assignment]:
    """A part of an unruled page and its assignment, in which one notice replaces the troubles of several lines missing
    at one side."""
    if not columns or columns[0].area.measured_pitch is None:
        return part, assignment
    # of two equal lines, the missing one may have been taken for the one on the image
    missing = {
        trouble.line for trouble in assignment.troubles if trouble.fault in (LineFault.NOT_ON_PAGE, LineFault.DOUBLED)
    }
    area_of_line = {column.line.number: column.area for column in columns if column.line is not None}
    width = median(column.area.width for column in columns)
    left, right = min(c.area.left for c in columns) + width, max(c.area.right for c in columns) - width
    numbers = [line.number for line in part.page.columns if line.cells]
    sides: dict[bool, list[int]] = {False: [], True: []}
    either: list[int] = []
    for is_missing, run in groupby(range(len(numbers)), lambda place: numbers[place] in missing):
        places = list(run)
        before = area_of_line.get(numbers[places[0] - 1]) if places[0] else None
        after = area_of_line.get(numbers[places[-1] + 1]) if places[-1] + 1 < len(numbers) else None
        on_left, on_right = bool(before and before.left < left), bool(after and after.right > right)
        if is_missing and (on_left or on_right):
            # between two registers lines may be missing at the end of one or at the beginning of the next
            (either if on_left and on_right else sides[on_left]).extend(numbers[place] for place in places)
    sides[bool(sides[True]) or not sides[False]] += either
    reported = {on_left: lines for on_left, lines in sides.items() if len(lines) >= MIN_SIDE_LINES}
    register = _is_one_of_two_registers(columns, reported, len(numbers))
    notices = []
    for on_left, lines in reported.items():
        if register:
            code = NoticeCode.LOWER_REGISTER_MISSING if on_left else NoticeCode.UPPER_REGISTER_MISSING
            notices.append(Notice.of(code, number=len(lines), of=len(numbers)))
        else:
            notices.append(_side_missing(*(LEFT_MISSING if on_left else RIGHT_MISSING), len(lines), len(numbers)))
    joined = {number for lines in reported.values() for number in lines}
    troubles = tuple(trouble for trouble in assignment.troubles if trouble.line not in joined)
    return replace(part, notices=(*part.notices, *notices)), replace(assignment, troubles=troubles)


def _is_one_of_two_registers(columns: Sequence[ReadColumn], reported: dict[bool, list[int]], lines: int) -> bool:
    """Whether the image shows one of two registers: its columns together are wider than they are high, as no half of a
    leaf is, and about half of the page's lines are missing, all on one side. `reported` holds the missing lines by
    side."""
    areas = [column.area for column in columns]
    wide = max(area.right for area in areas) - min(area.left for area in areas)
    high = max(area.bottom for area in areas) - min(area.top for area in areas)
    halved = [HALF_SHARE[0] <= len(missing) / lines <= HALF_SHARE[1] for missing in reported.values()]
    return halved == [True] and wide > high


def without_unseen(columns: Sequence[ReadColumn], assignment: Assignment) -> tuple[list[ReadColumn], Assignment]:
    """The columns without lines of which nothing was read, and the assignment with one trouble for each of these lines,
    so that their characters are not reported one by one."""
    unseen = [
        column
        for column in columns
        if len(column.cells) >= MIN_UNSEEN_CHARACTERS
        and len(column.read) < MAX_UNSEEN_SHARE * len(column.cells)
        and not set(column.read) & {cell.text for cell in column.cells}
    ]
    troubles = [LineTrouble(LineFault.NOT_ON_PAGE, column.line.number, None, "") for column in unseen if column.line]
    emptied = [replace(column, line=None, cells=(), pairings=()) if column in unseen else column for column in columns]
    return emptied, replace(assignment, troubles=(*assignment.troubles, *troubles))


def _side_missing(half: NoticeCode, fewer: NoticeCode, missing: int, total: int) -> Notice:
    """The notice for `missing` of `total` columns at one side: `half` if that is about half of them."""
    return Notice.of(half if HALF_SHARE[0] <= missing / total <= HALF_SHARE[1] else fewer, number=missing, of=total)


def cut_by_edges(page: Page, outline: Outline, columns: Sequence[ReadColumn], height: float) -> PartOfPage | None:
    """The part of a page without rules that is on its image, where its upper or lower edge (y 0 and `height` of the
    rectified page) cuts columns off; None where it cuts none. It does where most of the `columns` near an edge lack the
    characters that would stand beyond it."""
    if not columns or columns[0].area.measured_pitch is None:
        return None
    lacking = [_lacking(column, height) for column in columns]
    usual = [_usual([ends[side] for ends in lacking], outline.cut[side] is not None) for side in (0, 1)]
    if not any(usual):
        return None
    cut_lines = {}
    for column, ends in zip(columns, lacking, strict=True):
        if column.line is not None:
            above, below = map(_rows_beyond, ends, usual)
            rows = _between(column.line.runs, above, column.line.height - below)
            cut_lines[column.line.number] = replace(column.line, parsed=rows)
    by_edge = zip(usual, (NoticeCode.TOP_CUT_OFF, NoticeCode.BOTTOM_CUT_OFF), strict=True)
    notices = tuple(Notice.of(code, number=number) for number, code in by_edge if number)
    lines = tuple(cut_lines.get(line.number, line) for line in page.columns)
    edges = (0.0 if usual[0] else outline.cut[0], height if usual[1] else outline.cut[1])
    return PartOfPage(replace(page, cut=lines), notices, replace(outline, cut=edges))


def _rows_beyond(lacking: int | None, usual: int) -> int:
    """How many rows of a line are beyond an edge: those that its column lacks, or that most columns lack (`usual`) if
    the two differ much, as where half a character was read as two."""
    if lacking is None or not usual:
        return 0
    return lacking if abs(lacking - usual) <= MAX_ROWS_SLIP else usual


def _usual(lacking: Sequence[int | None], runs_out: bool) -> int:
    """How many rows the columns near an edge lack (median); 0 where the edge cuts none off. Most of them must lack
    rows, or a few where ink runs into the edge (`runs_out`)."""
    near = [rows for rows in lacking if rows is not None]
    without = [rows for rows in near if rows]
    enough = MIN_CUT_COLUMNS_WITH_INK if runs_out else max(MIN_CUT_COLUMNS, MIN_CUT_SHARE * len(near))
    return round(median(without)) if len(without) >= enough else 0


def _lacking(column: ReadColumn, height: float) -> tuple[int | None, int | None]:
    """How many rows of its line a column lacks at its beginning and at its end; None where it is not near that edge of
    the image."""
    area, line = column.area, column.line
    if line is None or not column.cells:
        return None, None
    cell = area.cell(0)
    shown = {number for pairing in column.pairings if pairing.glyphs for number in pairing.cells}
    rows = {}
    at = 0
    for run in line.runs:
        for half in (run.right, run.left):
            rows.update({character.offset: at + row for row, character in enumerate(half)})
        at += run.height
    first = min((rows[column.cells[number].offset] for number in shown), default=0)
    last = max((rows[column.cells[number].offset] for number in shown), default=at - 1)
    # blank cells at the beginning are no characters that are cut off
    begin = min(rows[character.offset] for character in column.cells)
    return (
        (first if first > begin else 0) if area.top - area.raised < NEAR_EDGE_CELLS * cell else None,
        at - 1 - last if area.bottom > height - NEAR_EDGE_CELLS * cell else None,
    )


def is_cut_off(flag: Flag, column: ReadColumn, outline: Outline, height: float, rows: int) -> bool:
    """Whether a flag is about a character that the image cuts off: the last one of a column that ends at the lower
    edge, or the first one where the upper edge cuts columns off."""
    if _is_beyond(flag, outline, rows):
        return True
    area, line = column.area, column.line
    if area.measured_pitch is None or line is None or not column.cells:
        return False
    first, last = column.cells[0].offset, column.cells[-1].offset
    if flag.kind is Kind.OMISSION:
        # a character counted as cut off is on the image after all
        before = line.source[max(0, first - BEYOND_CHARACTERS) : first] if outline.cut[0] is not None else ""
        after = line.source[last + 1 : last + 1 + BEYOND_CHARACTERS] if outline.cut[1] is not None else ""
        cut_off = after if flag.offset > last else before if flag.offset <= first else ""
        return bool(flag.suggested) and flag.suggested in cut_off
    above = outline.cut[0] is not None and area.top - area.raised < NEAR_EDGE_CELLS * area.measured_pitch
    below = area.bottom >= height - CUT_OFF_CELLS * area.measured_pitch
    # the halves of a note begin and end side by side
    begins, ends = _row(line.runs[0], 0), _row(line.runs[-1], line.runs[-1].height - 1)
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
    near = WHOLE_CHARACTER_CELLS * outline.columns[0].cell(rows)
    return (above is not None and y < above + near) or (below is not None and y > below - near)


def _first_line(lines: Sequence[Column], shown: Sequence[str], fold: Callable[[str], str]) -> int:
    """The index of the line in the first column on the image."""
    texts = [line_key(line, fold) for line in lines]

    def worth(first: int) -> float:
        pairs = zip(shown, texts[first:], strict=False)
        return sum(fuzz.partial_ratio(read, text) * min(len(read), len(text)) for read, text in pairs if read and text)

    return max(range(max(1, len(lines) - len(shown) + 1)), key=worth)


def _missing_columns(lines: Sequence[Column], first: int, shown: int, missing: int) -> tuple[Notice, ...]:
    """The notices for the lines that are missing to the right and to the left of those on the image."""
    notices = []
    for beside, codes in ((lines[:first], RIGHT_MISSING), (lines[first + shown :], LEFT_MISSING)):
        if missing and any(line.cells for line in beside):
            notices.append(_side_missing(*codes, len(beside), shown + missing))
    return tuple(notices)


def _cut_lines(
    lines: Sequence[Column], outline: Outline, shown: Sequence[str], rows: int, fold: Callable[[str], str]
) -> tuple[list[Column], tuple[Notice, ...]]:
    """The lines reduced to their part between the cutting edges, and the notices for the rest."""
    cut: list[Column] = []
    rows_above: list[int] = []
    rows_below: list[int] = []
    beyond = max(0, len(lines) - len(shown))
    areas = [*outline.columns, *[outline.columns[0]] * beyond]
    for line, read, area in zip(lines, [*shown, *[""] * beyond], areas, strict=False):
        cell = area.cell(rows)
        above, below = _cut_off(area, outline.cut, cell)
        top = 0 if above is None else round((above - area.top) / cell)
        height = rows if below is None else round((below - max(area.top, above or area.top)) / cell)
        size = line.height
        begin, end = _extent(line, read, (top, height), (above is not None, below is not None), fold)
        cut.append(replace(line, parsed=_between(line.runs, begin, end)))
        if size > begin:
            rows_above.append(begin)
        if size > end:
            rows_below.append(size - end)
    notices = []
    if any(rows_above):
        notices.append(Notice.of(NoticeCode.TOP_CUT_OFF, number=round(median(rows_above))))
    if rows_below:
        notices.append(Notice.of(NoticeCode.BOTTOM_CUT_OFF, number=round(median(rows_below))))
    return cut, tuple(notices)


def _cut_off(
    area: ColumnArea, cut: tuple[float | None, float | None], cell: float
) -> tuple[float | None, float | None]:
    """Where the image cuts off one column, above and below; None at an edge that the column does not reach."""
    above, below = cut
    first = area.top - area.raised
    return (
        None if above is None or first > above + cell else above,
        None if below is None or area.bottom < below - cell else below,
    )


def _extent(
    line: Column, read: str, expected: tuple[int, int], cut: tuple[bool, bool], fold: Callable[[str], str]
) -> tuple[int, int]:
    """The first row of a line on the image, and the end (exclusive): those near the `expected` first row and height
    that fit best the text `read` there."""
    top, height = expected
    size = line.height
    # only the settings say how many cells a whole column has: it may begin at any row up to the expected one
    begins = range(top + AROUND_CELLS + 1) if cut[0] else [0]
    if all(cut):
        begins = range(max(1, size - height + AROUND_CELLS))

    def end_of(begin: int, more: int) -> int:
        return max(begin, begin + height + more) if cut[1] else size

    first = 0 if all(cut) else top
    usual = (first, end_of(first, 0))
    if not read:
        return usual

    def likeness(extent: tuple[int, int]) -> float:
        runs = _between(line.runs, *extent)
        return fuzz.ratio(read, "".join(fold(c.text) for run in runs for c in run.cells if c.glyph))

    # where a column is cut off the height of its cells is uncertain: more may have been read than expected
    more = max(0, min(len(read), size) - height)
    mores = range(-AROUND_CELLS, more + AROUND_CELLS + 1) if cut[1] else [0]
    tried = {(begin, end_of(begin, more)) for begin in begins for more in mores}
    best = max(sorted(tried), key=lambda extent: (likeness(extent), -abs(extent[0] - top)))
    return best if likeness(best) > likeness(usual) + MIN_BETTER_PERCENT else usual


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
