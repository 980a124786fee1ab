"""Decides which ink of a ruled line stays with the strokes that meet it, cross it or lie on it, and in which column.

Where a stroke meets or crosses a line, their ink cannot be separated and stays. Where a stroke lies on a line, the line
is thicker than elsewhere: the lengths of runs across it show this, as for signs on the staff lines of music (Dalitz and
others, 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.lines import ROUGHNESS_PX, Line, median_of_sorted, splinters
from proof.layout.rules import Mask, connected, long_strokes, thickened

MIN_STROKE_AREA = 0.012
"""Area from which a piece of ink can be a stroke that meets a line, as a share of a cell's area."""

MAX_WORN_GAP_PX = 2
"""Maximum gap between pieces of ink that are one worn stroke, in pixels."""

MAX_DOT_AREA = 0.006
"""Area below which a piece of ink is a dot, as a share of a cell's area."""

MIN_DOTS = 8
"""Dots in a cell's area from which a seal left them and there is no stroke."""

OVER_RULE_WIDTHS = 0.12
"""Maximum distance that strokes reach over a rule, as a share of the column's width."""

REST_OF_GLYPH_WIDTHS = 0.4
"""Maximum distance of a stroke that lies on a rule from the rest of its glyph, as a share of the column's width."""

MIN_SHARED_STROKE_WIDTHS = 0.2
"""Minimum length of a stroke along a rule that may belong to the glyph on either side and is shown with both, as a
share of the column's width."""

SHARED_GLYPH_WIDTHS = 0.25
"""Maximum distance of such a stroke from the glyph on the other side, as a share of the column's width."""

MIN_SHARED_EXCESS_PX = 1.0
"""Minimum excess of such a stroke over the thickness of the rule, in pixels: on 16 real pages all thinner ink was
the rule's own ink."""

THICKNESS_REACH_PX = 12
"""Distance beyond a line's edge within which its thickness is measured, in pixels."""

THICKNESS_ROWS_PX = 5
"""Rows over which the thickness of a line is averaged, in pixels."""

MIN_EDGE_SHIFT_PX = 1.0
"""Minimum shift of a line's edge from its usual place where a stroke that meets the line continues along it, in pixels:
the stroke reaches over the line, or stands in place of the broken line."""

MAX_BRIDGED_CELLS = 0.09
"""Maximum gap between two places of a line at which a stroke shows, across which it continues, in cells."""

MAX_MEETING_DISTANCE_CELLS = 0.45
"""Maximum distance along a line from the place where a stroke meets it to ink of the stroke on the line, in cells;
farther away, a shifted edge may be that of the rule itself."""

MAX_FRAME_DEPTH_CELLS = 0.115
"""Maximum distance that glyphs reach into a frame, which may be far broader than a stroke, in cells."""

AT_SIDE_WIDTHS = 0.09
"""Distance from the outermost rules within which ink is a piece of the thick, rough frame, as a share of the column's
width."""

PLAIN_EXCESS_PX = 2.0
"""Excess over a line's own thickness from which a stroke plainly lies on it, in pixels; rules of printed pages vary by
one pixel."""

PLAIN_EXCESS_SHARE = 0.25
"""Minimum of the plain excess on a thick line, as a share of its thickness."""

CONTINUED_SHARE = 0.4
"""Excess from which a stroke that meets the line continues along it, as a share of the plain excess."""

WHOLE_STROKE_SHARE = 0.7
"""Excess all along a stroke that lies on the line as a whole, as a share of the plain excess."""

MAX_WEAR_PX = 1.5
"""Maximum local difference of a line's own thickness from that of the whole line, in pixels."""

MIN_STROKE_CELLS = 0.15
"""Minimum length of a stroke that lies on a rule as a whole, in cells."""

MAX_STROKE_CELLS = 1.1
"""Maximum length of such a stroke, in cells."""

MAX_TIP_CELLS = 0.3
"""Maximum length along a rule of a dot or the tip of a stroke that lies across it, in cells."""

MIN_TIP_AREA = 0.004
"""Minimum ink that such a tip adds to the rule, as a share of a cell's area."""

MIN_TIP_EXCESS = 0.5
"""Minimum excess over the rule's own thickness all along such a tip, as a share of the plain excess."""

MIN_TIP_PEAK = 1.2
"""The same at the tip's thickest row. Real rules are hardly ever so much thicker by themselves over so short a
length."""


@dataclass(frozen=True, slots=True)
class Strokes:
    """The pieces of a page's ink without its lines, numbered in `labels`. `large` tells for each label whether its
    piece can be a stroke that meets a line; `dotted` is the mask of dots, from a seal or a stain on a two-tone scan."""

    labels: NDArray[np.int32]
    large: NDArray[np.bool_]
    dotted: NDArray[np.bool_]

    @classmethod
    def of(
        cls, ink: Mask, frames: Sequence[Line], outer: Sequence[Line], rules: Sequence[float], row: float
    ) -> Strokes:
        """The strokes of a page. `outer` are the lines at its sides, `rules` the x of its rules, `row` is the height of
        a cell."""
        labels, boxes, centres = connected(ink)
        # in an image without paper the middle of the paper (label 0) is not a number
        middles = np.nan_to_num(centres).round().astype(np.intp)
        x, y = (middles[:, i].clip(0, ink.shape[1 - i] - 1) for i in range(2))
        dots = np.zeros(ink.shape, np.float32)
        small = boxes[:, cv2.CC_STAT_AREA] < MAX_DOT_AREA * row * row
        np.add.at(dots, (y[small], x[small]), 1.0)
        cell = max(3, round(row))
        around = cv2.boxFilter(dots, -1, (cell, cell), normalize=False, borderType=cv2.BORDER_CONSTANT)
        dotted = np.asarray(around >= MIN_DOTS - 0.5, dtype=np.bool_)
        large = (_stroke_areas(ink, labels, boxes) >= MIN_STROKE_AREA * row * row) & ~dotted[y, x]
        large &= ~splinters(labels, boxes[:, cv2.CC_STAT_AREA], frames, outer)
        near = AT_SIDE_WIDTHS * (rules[-1] - rules[0]) / (len(rules) - 1)
        left = boxes[:, cv2.CC_STAT_LEFT]
        large &= (left + boxes[:, cv2.CC_STAT_WIDTH] > rules[0] + near) & (left < rules[-1] - near)
        large[0] = False
        return cls(labels, large, dotted)

    @property
    def turned(self) -> Strokes:
        """The strokes of the transposed page."""
        return Strokes(self.labels.T, self.large, self.dotted.T)


def _stroke_areas(ink: Mask, labels: NDArray[np.int32], boxes: NDArray[np.int32]) -> NDArray[np.intp]:
    """For each piece of ink the area of all pieces of its stroke: those with gaps of up to `MAX_WORN_GAP_PX` between
    them."""
    strokes, stats, _ = connected(cv2.dilate(ink, np.ones((MAX_WORN_GAP_PX + 1, MAX_WORN_GAP_PX + 1), np.uint8)))
    inked = np.flatnonzero(ink)
    stroke_of = np.zeros(len(boxes), np.intp)
    stroke_of[labels.ravel()[inked]] = strokes.ravel()[inked]
    area = np.bincount(stroke_of[1:], boxes[1:, cv2.CC_STAT_AREA], minlength=len(stats))
    return np.asarray(area[stroke_of], dtype=np.intp)


def restore(
    ink: Mask,
    before: Mask,
    strokes: Strokes,
    line: Line,
    text_side: int,
    row: float,
    held: NDArray[np.bool_] | None = None,
) -> None:
    """Restore (in place) the ink of a line, as it was `before`, where one of the `strokes` meets it or lies on it.

    Strokes meet it from the `text_side`: left (-1), right (1) or either (0). A stroke that meets the line is followed
    along it as far as the line is thicker or its edge is shifted. `row` is the height of a cell. `held`, given for
    rules only (a frame is too rough), receives the pixels of strokes that lie on the line as a whole.
    """
    if not line.printed.any():
        return
    reach = ROUGHNESS_PX + 2.0
    low, high = line.band(ink.shape[1], reach)
    beside = line.mask(low, high, reach) & ~line.mask(low, high, ROUGHNESS_PX + 1.0)
    if text_side:
        beside &= text_side * (np.arange(low, high)[None, :] - line.middle[:, None]) > 0
    met = (strokes.large[strokes.labels[:, low:high]] & beside).any(axis=1) & line.printed
    excess, aside, plain = _thickness(before, line, text_side, met, row)
    middle = np.rint(line.middle).astype(np.intp).clip(0, ink.shape[1] - 1)
    dotted = strokes.dotted[np.arange(len(ink)), middle]
    excess[dotted] = aside[dotted] = -np.inf
    shown = ((excess >= CONTINUED_SHARE * plain) | (aside >= MIN_EDGE_SHIFT_PX)) & (
        _rows_from(met) <= MAX_MEETING_DISTANCE_CELLS * row
    ) | met
    thick = _runs_with(_closed(shown, round(MAX_BRIDGED_CELLS * row)), met) & line.printed
    own = line.mask(low, high, ROUGHNESS_PX)
    if text_side:
        edge = line.right if text_side > 0 else line.left
        own &= text_side * (np.arange(low, high)[None, :] - line.middle[:, None]) >= edge - MAX_FRAME_DEPTH_CELLS * row
    if held is not None:
        whole = _runs_with(
            excess >= WHOLE_STROKE_SHARE * plain,
            excess >= plain,
            MIN_STROKE_CELLS * row,
            MAX_STROKE_CELLS * row,
        )
        whole |= _tips(excess / plain, MIN_TIP_AREA * row * row / plain, MAX_TIP_CELLS * row)
        held[:, low:high] |= own & whole[:, None]
        thick |= whole
    own &= thick[:, None]
    ink[:, low:high][own] = before[:, low:high][own]


def _thickness(
    ink: Mask, line: Line, text_side: int, met: NDArray[np.bool_], row: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """For every row of pixels the excess of a line over its own thickness, on the `text_side` or (0) on both, and the
    shift of its edge from its usual place; for the whole line the excess from which it is plainly thicker. Rows where
    strokes have `met` the line are not used for its own thickness."""
    every, last = np.arange(len(ink)), ink.shape[1] - 1
    middle = np.rint(line.middle).astype(np.intp)
    shifts = np.array([0, -1, 1])
    there = ink[every[:, None], (middle[:, None] + shifts).clip(0, last)] > 127
    core, middle = there.any(axis=1), middle + shifts[there.argmax(axis=1)]
    reach = np.arange(int(np.ceil(max(line.left, line.right))) + THICKNESS_REACH_PX)
    bare = line.printed & core & ~met
    width, aside = np.zeros(len(ink)), np.zeros(len(ink))
    for side in (-1, 1):
        if text_side in (0, side):
            places = middle[:, None] + side * reach
            inked = (ink[every[:, None], places.clip(0, last)] > 127) & (places >= 0) & (places <= last)
            beyond = np.logical_and.accumulate(inked, axis=1).sum(axis=1)
            width += beyond
            if met.any():
                edge = beyond + side * (middle - line.middle)
                aside = np.maximum(aside, np.abs(_excess(edge, bare, row)[0]))
    excess, usual = _excess(width, bare, row)
    plain = max(PLAIN_EXCESS_PX, PLAIN_EXCESS_SHARE * float(np.median(usual))) if text_side else PLAIN_EXCESS_PX
    runs = core & line.printed
    return np.where(runs, excess, -np.inf), np.where(runs, aside, -np.inf), plain


def _excess(
    width: NDArray[np.float64], bare: NDArray[np.bool_], row: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For every row the excess of a `width` (of the line, or to one side of it) over the usual one, and the usual
    one."""
    usual = _usual(width, bare, row)
    most = np.minimum(width, usual + THICKNESS_REACH_PX / 2).astype(np.float32)[:, None]
    return np.asarray(cv2.blur(most, (1, THICKNESS_ROWS_PX))[:, 0] - usual, dtype=np.float64), usual


def _usual(width: NDArray[np.float64], bare: NDArray[np.bool_], row: float) -> NDArray[np.float64]:
    """The usual width of a line around every row: the median over three cells, of rows where the line is `bare` (no
    stroke meets it), limited to `MAX_WEAR_PX` from that of the whole line."""
    if not bare.any():
        return np.full(len(width), np.inf)
    whole = median_of_sorted(np.sort(width[bare]))
    cells = np.arange(len(width)) / row
    middles = np.arange(0.5, max(cells[-1], 0.5) + 0.5)
    firsts, lasts = np.searchsorted(cells, middles - 1.5, side="right"), np.searchsorted(cells, middles + 1.5)
    near = [width[a:b][bare[a:b]] for a, b in zip(firsts.tolist(), lasts.tolist(), strict=True)]
    medians = [median_of_sorted(np.sort(widths)) if widths.size > row / 2 else whole for widths in near]
    near_by = np.interp(cells, middles, np.clip(medians, whole - MAX_WEAR_PX, whole + MAX_WEAR_PX))
    return np.asarray(near_by, dtype=np.float64)


def _closed(rows: NDArray[np.bool_], gap: int) -> NDArray[np.bool_]:
    """The true `rows`, with gaps of at most `gap` rows between them filled."""
    inked = np.flatnonzero(rows)
    closed = rows.copy()
    for number in np.flatnonzero(np.diff(inked) - 1 <= gap).tolist():
        closed[inked[number] : inked[number + 1]] = True
    return closed


def _runs_with(
    rows: NDArray[np.bool_], sure: NDArray[np.bool_], shortest: float = 0.0, longest: float = np.inf
) -> NDArray[np.bool_]:
    """The runs of true `rows` that are between `shortest` and `longest` rows long and contain a row that is `sure`."""
    labels, stats, _ = connected(rows.astype(np.uint8)[:, None])
    number, length = labels[:, 0], stats[:, cv2.CC_STAT_AREA]
    keep = (np.bincount(number[sure], minlength=len(stats)) > 0) & (length >= shortest) & (length <= longest)
    keep[0] = False
    return np.asarray(keep[number], dtype=np.bool_)


def columns_of(ink: Mask, rules: Sequence[Line], strokes: Strokes, column: float) -> NDArray[np.int16]:
    """For every pixel the number of its column, from 1 at the right; 0 beyond the outermost rules, where the ink is
    erased (in place). Ink that reaches a little over a rule belongs to its glyph's column; -n marks ink that may belong
    to column n or n + 1."""
    width = ink.shape[1]
    numbers = [0, *range(len(rules) - 1, 0, -1), 0]
    column_of = np.zeros(ink.shape, np.int16)
    ends = [*(rule.band(width, 0.0)[0] for rule in rules[1:]), width]
    for rule, left, right, end in zip(rules, numbers, numbers[1:], ends, strict=False):
        low, high = rule.band(width, 0.0)
        column_of[:, low:high] = np.where(np.arange(low, high) < rule.middle[:, None], left, right)
        column_of[:, high:end] = right
    for rule, left, right in zip(rules, numbers, numbers[1:], strict=False):
        _assign_ink_on_rule(column_of, ink, rule, (left, right), strokes, column)
    np.multiply(ink, column_of != 0, out=ink)
    return column_of


def _assign_ink_on_rule(
    column_of: NDArray[np.int16], ink: Mask, rule: Line, numbers: tuple[int, int], strokes: Strokes, column: float
) -> None:
    """Write into `column_of` the columns of the pieces of ink on a rule or across it. `numbers` are the columns at its
    left and right, `column` is the width of a column.

    A piece belongs to the side to which it continues; if to neither, to the nearer glyph. An upright stroke along the
    rule between two glyphs may belong to either. Pieces among the dots of a seal are left as they are.
    """
    reach = OVER_RULE_WIDTHS * column
    low, high = rule.band(ink.shape[1], reach)
    if low == high:
        return
    off = np.arange(low, high)[None, :] - rule.middle[:, None]
    near = (ink[:, low:high] > 0) & (np.abs(off) <= reach)
    on_rule = rule.mask(low, high, ROUGHNESS_PX)
    labels, boxes, _ = connected(near.astype(np.uint8))
    for label in np.unique(labels[on_rule & near]).tolist():
        x, y, w, h, _ = boxes[label]
        if strokes.dotted[y + h // 2, low + x + w // 2]:
            continue
        place = np.s_[y : y + h, x : x + w]
        own = labels[place] == label
        sides = [own & (side * off[place] > reach - 1.5) for side in (-1, 1)]
        goes_on = [side.any(axis=1) for side in sides]
        unsure = own & (on_rule[place] | ~_on_continued_side(off[place], goes_on))
        if goes_on[0].any() and goes_on[1].any():
            # two glyphs meet: ink on the rule belongs to the one that continues nearest to it
            away = [_pixels_from(own & ~on_rule[place] & (side * off[place] > 0), sides[side > 0]) for side in (-1, 1)]
            own &= on_rule[place]
        else:
            if not goes_on[0].any() and not goes_on[1].any():
                within = round(REST_OF_GLYPH_WIDTHS * column)
                goes_on = _nearer(_beside(ink[y : y + h], low + x, low + x + w, within), within)
            away = [_rows_from(side_rows)[:, None] for side_rows in goes_on]
        columns = column_of[y : y + h, low + x : low + x + w]
        columns[own & (away[0] < away[1])] = numbers[0]
        columns[own & (away[1] < away[0])] = numbers[1]
        upright = _upright(unsure, column)
        rows = upright.any(axis=1)
        if 0 in numbers or np.count_nonzero(upright) < (
            rule.left + rule.right + MIN_SHARED_EXCESS_PX
        ) * np.count_nonzero(rows):
            continue
        beside = _beside(ink[y : y + h], low + x, low + x + w, round(SHARED_GLYPH_WIDTHS * column))
        if all(side_rows.any() or part[rows].any() for side_rows, part in zip(goes_on, beside, strict=True)):
            columns[upright] = -min(numbers)


def _on_continued_side(off: NDArray[np.float64], goes_on: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Which pixels, by their distance `off` from the middle of a rule, are on a side to which their piece continues."""
    return np.asarray(((off < 0) & goes_on[0].any()) | ((off > 0) & goes_on[1].any()))


def _upright(ink: NDArray[np.bool_], column: float) -> NDArray[np.bool_]:
    """The upright strokes in `ink`, the mask of a single piece."""
    length = round(MIN_SHARED_STROKE_WIDTHS * column)
    framed = np.pad(np.where(ink, np.uint8(255), np.uint8(0)), ((length, length), (0, 0)))
    long = thickened(long_strokes(framed, length, vertical=True), 3, 3)
    return np.asarray(ink & (long[length : length + len(ink)] > 0))


def _beside(ink: Mask, left: int, right: int, reach: int) -> tuple[Mask, Mask]:
    """The ink within `reach` to the left and to the right of a piece between x `left` and `right`, ordered from the
    piece outwards."""
    return ink[:, max(0, left - reach) : left][:, ::-1], ink[:, right : right + reach]


def _nearer(beside: tuple[Mask, Mask], reach: int) -> list[NDArray[np.bool_]]:
    """For the left and the right side whether the ink nearest to a piece of ink on a rule is on that side, repeated for
    all rows of the piece; false for both if no ink is within `reach`, or if both are equally near."""
    nearest = [np.append(np.flatnonzero(part.any(axis=0)), reach)[0] for part in beside]
    return [np.full(len(beside[0]), nearest[side] < nearest[1 - side]) for side in (0, 1)]


def _pixels_from(ink: NDArray[np.bool_], continued: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The distance of every pixel from the nearest piece of `ink` that contains a pixel of `continued`."""
    labels, stats, _ = connected(ink.astype(np.uint8))
    continues = np.bincount(labels[continued], minlength=len(stats)) > 0
    continues[0] = False
    return np.asarray(cv2.distanceTransform((~continues[labels]).astype(np.uint8), cv2.DIST_L2, 5), dtype=np.float64)


def _tips(excess: NDArray[np.float64], area: float, longest: float) -> NDArray[np.bool_]:
    """The rows in which dots and tips of strokes lie across a line, by its `excess` in every row: with a total excess
    of at least `area`, and at most `longest` rows long."""
    rows = excess >= MIN_TIP_EXCESS
    labels, stats, _ = connected(rows.astype(np.uint8)[:, None])
    number, length = labels[:, 0], stats[:, cv2.CC_STAT_AREA]
    keep = np.bincount(number[excess >= MIN_TIP_PEAK], minlength=len(stats)) > 0
    keep &= (np.bincount(number, np.where(rows, excess, 0.0), minlength=len(stats)) >= area) & (length <= longest)
    keep[0] = False
    return np.asarray(keep[number], dtype=np.bool_)


def _rows_from(rows: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The distance of every row from the nearest one that is true; infinite where none is."""
    if not rows.any():
        return np.full(len(rows), np.inf)
    away = np.abs(np.arange(len(rows))[:, None] - np.flatnonzero(rows)[None, :]).min(axis=1)
    return np.asarray(away, dtype=np.float64)
