"""Strokes that meet lines, cross them or lie on them: which ink of a line stays with the glyphs, and whose it is.

Where a stroke meets a line or crosses it, the line's ink there cannot be told from the stroke's and stays. Where one
lies on it, there is more ink across than the line has by itself: the lengths of runs tell, as they do of the signs on
the staff lines of music (Dalitz and others, 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.lines import ROUGH, Line, median_of_sorted, splinters
from proof.layout.rules import Mask, connected, long_strokes, thickened

STROKE = 0.012
"""Of a cell's area: a piece of ink as large as this can be a stroke that meets a line."""

APART = 2
"""Pixels of paper between pieces of ink that are one stroke, worn."""

MAX_DOT_AREA = 0.006
"""Of a cell's area: smaller ink is a dot."""

MIN_DOTS = 8
"""Dots in a cell's area: where so many lie a seal left them, and there is no stroke."""

OVER_RULE_WIDTHS = 0.12
"""Of a column's width: how far strokes reach over a rule."""

REST_OF_GLYPH_WIDTHS = 0.4
"""Of a column's width: how far from a stroke that lies on a rule the rest of its glyph may stand."""

MIN_SHARED_STROKE_WIDTHS = 0.2
"""Of a column's width: a stroke along a rule that is as long as this may be of the glyph on either side, and is shown
with both."""

SHARED_GLYPH_WIDTHS = 0.25
"""Of a column's width: how far from such a stroke the other glyph may stand."""

MIN_SHARED_EXCESS_PX = 1.0
"""Pixels by which such a stroke is thicker than the rule by itself: on 16 real pages all that is thinner is the rule's
own ink."""

THICK_REACH = 12
"""Pixels beyond its edge: how far it is looked for that a line is thicker than by itself."""

THICK_ROWS = 5
"""Rows of pixels over which the thickness of a line is averaged."""

ASIDE = 1.0
"""Pixels by which an edge of a line lies aside of its place where a stroke that meets it goes on along it: over it, or
in its stead where it is broken."""

MAX_BRIDGED_CELLS = 0.09
"""Cells: between two places at which a stroke shows on a line, no farther from each other, it goes on."""

FROM_MEETING_CELLS = 0.45
"""Cells: so far from where strokes meet a line their ink is looked for on it: rules wander, too."""

DEEP = 0.115
"""Cells: so deep into a frame, which may be far broader than a stroke, glyphs reach."""

AT_SIDE = 0.09
"""Of a column: so near to the outermost rules lie pieces of the frame, which is thick and rough, and no strokes."""

PLAIN_EXCESS_PX = 2.0
"""Pixels by which a line is plainly thicker than by itself, where a stroke lies on it; rules of printed pages vary by
one pixel."""

PLAIN_EXCESS_SHARE = 0.25
"""The same of a thick line, as a share of its thickness."""

WORN = 1.5
"""Pixels by which a line is here and there thicker or thinner than it is as a whole."""

ALONG = (0.15, 1.1)
"""Cells: how long a stroke is of which all lies on a rule, at least and at most."""

MAX_TIP_CELLS = 0.3
"""Cells of a rule that a dot or the tip of a stroke takes that lies across it."""

MIN_TIP_AREA = 0.004
"""Of a cell's area: the ink that such a tip adds to the rule."""

TIP_EXCESS = (0.5, 1.2)
"""By how many times of what is plainly thicker the rule is so there: all along the tip, and somewhere. Real rules are
hardly ever so much thicker by themselves for so short a piece."""


@dataclass(frozen=True, slots=True)
class Strokes:
    """The pieces of ink of a page without its lines, labelled: which of them can be of strokes that meet a line
    (`large`), and where the dots lie that a seal or a stain leaves on a scan of two tones (`dotted`)."""

    labels: NDArray[np.int32]
    large: NDArray[np.bool_]
    dotted: NDArray[np.bool_]

    @classmethod
    def of(
        cls, ink: Mask, frames: Sequence[Line], outer: Sequence[Line], rules: Sequence[float], row: float
    ) -> Strokes:
        """The strokes of a page; `outer` are the lines at its sides, `rules` where its rules were found, `row` is the
        height of a cell."""
        labels, boxes, centres = connected(ink)
        # an image that is all ink has no paper, of which the middle would be told
        middles = np.nan_to_num(centres).round().astype(np.intp)
        x, y = (middles[:, i].clip(0, ink.shape[1 - i] - 1) for i in range(2))
        dots = np.zeros(ink.shape, np.float32)
        small = boxes[:, cv2.CC_STAT_AREA] < MAX_DOT_AREA * row * row
        np.add.at(dots, (y[small], x[small]), 1.0)
        cell = max(3, round(row))
        around = cv2.boxFilter(dots, -1, (cell, cell), normalize=False, borderType=cv2.BORDER_CONSTANT)
        dotted = np.asarray(around >= MIN_DOTS - 0.5, dtype=np.bool_)
        large = (_stroke_areas(ink, labels, boxes) >= STROKE * row * row) & ~dotted[y, x]
        large &= ~splinters(labels, boxes[:, cv2.CC_STAT_AREA], frames, outer)
        near = AT_SIDE * (rules[-1] - rules[0]) / (len(rules) - 1)
        left = boxes[:, cv2.CC_STAT_LEFT]
        large &= (left + boxes[:, cv2.CC_STAT_WIDTH] > rules[0] + near) & (left < rules[-1] - near)
        large[0] = False
        return cls(labels, large, dotted)

    @property
    def turned(self) -> Strokes:
        """The same on the page turned over its diagonal."""
        return Strokes(self.labels.T, self.large, self.dotted.T)


def _stroke_areas(ink: Mask, labels: NDArray[np.int32], boxes: NDArray[np.int32]) -> NDArray[np.intp]:
    """For each piece of ink the area of all pieces that are one stroke with it, `APART` pixels from each other."""
    strokes, stats, _ = connected(cv2.dilate(ink, np.ones((APART + 1, APART + 1), np.uint8)))
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
    text: int,
    row: float,
    held: NDArray[np.bool_] | None = None,
) -> None:
    """Give back (in place) the ink of a line, as it was `before`, where one of the `strokes` meets it: from the left
    (`text` -1) or the right (1), where text is, or from either (0), and as far as it goes on along the line, whose
    edges lie aside there; and where a stroke lies on it, so that there is more ink across than the line has by itself.
    `row` is the height of a cell. All of a stroke may lie on a rule (a frame is too rough to tell): `held` is where the
    pixels of such strokes are noted."""
    if not line.printed.any():
        return
    edge = ROUGH + 2.0
    low, high = line.band(ink.shape[1], edge)
    beside = line.own(low, high, edge) & ~line.own(low, high, ROUGH + 1.0)
    if text:
        beside &= text * (np.arange(low, high)[None, :] - line.middle[:, None]) > 0
    met = (strokes.large[strokes.labels[:, low:high]] & beside).any(axis=1) & line.printed
    excess, aside, plain = _thickness(before, line, text, met, row)
    middle = np.rint(line.middle).astype(np.intp).clip(0, ink.shape[1] - 1)
    dotted = strokes.dotted[np.arange(len(ink)), middle]
    excess[dotted] = aside[dotted] = -np.inf
    shown = ((excess >= 0.4 * plain) | (aside >= ASIDE)) & (_rows_from(met) <= FROM_MEETING_CELLS * row) | met
    thick = _runs_with(_closed(shown, round(MAX_BRIDGED_CELLS * row)), met) & line.printed
    own = line.own(low, high, ROUGH)
    if text:
        edge = line.right if text > 0 else line.left
        own &= text * (np.arange(low, high)[None, :] - line.middle[:, None]) >= edge - DEEP * row
    if held is not None:
        whole = _runs_with(excess >= 0.7 * plain, excess >= plain, ALONG[0] * row, ALONG[1] * row)
        whole |= _tips(excess / plain, MIN_TIP_AREA * row * row / plain, MAX_TIP_CELLS * row)
        held[:, low:high] |= own & whole[:, None]
        thick |= whole
    own &= thick[:, None]
    ink[:, low:high][own] = before[:, low:high][own]


def _thickness(
    ink: Mask, line: Line, text: int, met: NDArray[np.bool_], row: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """For every row by how many pixels a line is thicker than it is by itself, on the side of the `text` or (0) on
    both, by how many an edge of it there lies aside of its place, and from when on it is plainly thicker; where strokes
    have `met` it tells nothing of the line by itself."""
    every, last = np.arange(len(ink)), ink.shape[1] - 1
    middle = np.rint(line.middle).astype(np.intp)
    shifts = np.array([0, -1, 1])
    there = ink[every[:, None], (middle[:, None] + shifts).clip(0, last)] > 127
    core, middle = there.any(axis=1), middle + shifts[there.argmax(axis=1)]
    reach = np.arange(int(np.ceil(max(line.left, line.right))) + THICK_REACH)
    alone = line.printed & core & ~met
    width, aside = np.zeros(len(ink)), np.zeros(len(ink))
    for side in (-1, 1):
        if text in (0, side):
            places = middle[:, None] + side * reach
            inked = (ink[every[:, None], places.clip(0, last)] > 127) & (places >= 0) & (places <= last)
            beyond = np.logical_and.accumulate(inked, axis=1).sum(axis=1)
            width += beyond
            if met.any():
                edge = beyond + side * (middle - line.middle)
                aside = np.maximum(aside, np.abs(_excess(edge, alone, row)[0]))
    excess, usual = _excess(width, alone, row)
    plain = max(PLAIN_EXCESS_PX, PLAIN_EXCESS_SHARE * float(np.median(usual))) if text else PLAIN_EXCESS_PX
    runs = core & line.printed
    return np.where(runs, excess, -np.inf), np.where(runs, aside, -np.inf), plain


def _excess(
    width: NDArray[np.float64], alone: NDArray[np.bool_], row: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """By how much more than usual a line has of a width (of all of it, or to one side) about every row, and what is
    usual there."""
    usual = _usual(width, alone, row)
    most = np.minimum(width, usual + THICK_REACH / 2).astype(np.float32)[:, None]
    return np.asarray(cv2.blur(most, (1, THICK_ROWS))[:, 0] - usual, dtype=np.float64), usual


def _usual(width: NDArray[np.float64], alone: NDArray[np.bool_], row: float) -> NDArray[np.float64]:
    """How thick a line is by itself about every row: the median of three cells in which it is `alone`, which differs
    from that of the whole line by no more than a block wears."""
    if not alone.any():
        return np.full(len(width), np.inf)
    whole = median_of_sorted(np.sort(width[alone]))
    cells = np.arange(len(width)) / row
    middles = np.arange(0.5, max(cells[-1], 0.5) + 0.5)
    firsts, lasts = np.searchsorted(cells, middles - 1.5, side="right"), np.searchsorted(cells, middles + 1.5)
    near = [width[a:b][alone[a:b]] for a, b in zip(firsts.tolist(), lasts.tolist(), strict=True)]
    medians = [median_of_sorted(np.sort(widths)) if widths.size > row / 2 else whole for widths in near]
    near_by = np.interp(cells, middles, np.clip(medians, whole - WORN, whole + WORN))
    return np.asarray(near_by, dtype=np.float64)


def _closed(rows: NDArray[np.bool_], gap: int) -> NDArray[np.bool_]:
    """`rows` with the gaps between them that are no longer than `gap`."""
    inked = np.flatnonzero(rows)
    closed = rows.copy()
    for number in np.flatnonzero(np.diff(inked) - 1 <= gap).tolist():
        closed[inked[number] : inked[number + 1]] = True
    return closed


def _runs_with(
    rows: NDArray[np.bool_], sure: NDArray[np.bool_], least: float = 0.0, most: float = np.inf
) -> NDArray[np.bool_]:
    """Of the runs of `rows` those that have one that is `sure`, and at least and at most so many rows."""
    labels, stats, _ = connected(rows.astype(np.uint8)[:, None])
    number, length = labels[:, 0], stats[:, cv2.CC_STAT_AREA]
    keep = (np.bincount(number[sure], minlength=len(stats)) > 0) & (length >= least) & (length <= most)
    keep[0] = False
    return np.asarray(keep[number], dtype=np.bool_)


def columns_of(ink: Mask, rules: Sequence[Line], strokes: Strokes, column: float) -> NDArray[np.int16]:
    """For every pixel the number of its column, from 1 at the right; 0 beyond the outermost rules, where the ink is
    erased. What reaches over a rule a little belongs to the column of its glyph; -n is for ink that may be of column n
    or of the next, n + 1."""
    width = ink.shape[1]
    numbers = [0, *range(len(rules) - 1, 0, -1), 0]
    column_of = np.zeros(ink.shape, np.int16)
    ends = [*(rule.band(width, 0.0)[0] for rule in rules[1:]), width]
    for rule, left, right, end in zip(rules, numbers, numbers[1:], ends, strict=False):
        low, high = rule.band(width, 0.0)
        column_of[:, low:high] = np.where(np.arange(low, high) < rule.middle[:, None], left, right)
        column_of[:, high:end] = right
    for rule, left, right in zip(rules, numbers, numbers[1:], strict=False):
        _give_over_rule(column_of, ink, rule, (left, right), strokes, column)
    np.multiply(ink, column_of != 0, out=ink)
    return column_of


def _give_over_rule(
    column_of: NDArray[np.int16], ink: Mask, rule: Line, numbers: tuple[int, int], strokes: Strokes, column: float
) -> None:
    """Say (in place) whose the pieces of ink are that lie on a rule or across it. Near the rule alone they are pieces
    of glyphs that go on to the left or to the right; one that does neither is of the glyph that is nearer. An upright
    stroke along the rule between two glyphs may be of either. Among the dots of a seal nobody knows."""
    reach = OVER_RULE_WIDTHS * column
    low, high = rule.band(ink.shape[1], reach)
    if low == high:
        return
    off = np.arange(low, high)[None, :] - rule.middle[:, None]
    near = (ink[:, low:high] > 0) & (np.abs(off) <= reach)
    on_rule = rule.own(low, high, ROUGH)
    labels, boxes, _ = connected(near.astype(np.uint8))
    for label in np.unique(labels[on_rule & near]).tolist():
        x, y, w, h, _ = boxes[label]
        if strokes.dotted[y + h // 2, low + x + w // 2]:
            continue
        place = np.s_[y : y + h, x : x + w]
        own = labels[place] == label
        sides = [own & (side * off[place] > reach - 1.5) for side in (-1, 1)]
        goes_on = [side.any(axis=1) for side in sides]
        unsure = own & (on_rule[place] | ~_beyond(off[place], goes_on))
        if goes_on[0].any() and goes_on[1].any():
            # two glyphs meet: what lies on the rule is of the one that goes on nearest to there
            away = [_pixels_from(own & ~on_rule[place] & (side * off[place] > 0), sides[side > 0]) for side in (-1, 1)]
            own &= on_rule[place]
        else:
            if not goes_on[0].any() and not goes_on[1].any():
                within = round(REST_OF_GLYPH_WIDTHS * column)
                goes_on = _nearer(_beside(ink[y : y + h], low + x, low + x + w, within), within)
            away = [_rows_from(side_rows)[:, None] for side_rows in goes_on]
        here = column_of[y : y + h, low + x : low + x + w]
        here[own & (away[0] < away[1])] = numbers[0]
        here[own & (away[1] < away[0])] = numbers[1]
        upright = _upright(unsure, column)
        rows = upright.any(axis=1)
        if 0 in numbers or np.count_nonzero(upright) < (
            rule.left + rule.right + MIN_SHARED_EXCESS_PX
        ) * np.count_nonzero(rows):
            continue
        beside = _beside(ink[y : y + h], low + x, low + x + w, round(SHARED_GLYPH_WIDTHS * column))
        if all(side_rows.any() or part[rows].any() for side_rows, part in zip(goes_on, beside, strict=True)):
            here[upright] = -min(numbers)


def _beyond(off: NDArray[np.float64], goes_on: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Which pixels, so far `off` a rule, lie on a side of it to which a piece of ink goes on."""
    return np.asarray(((off < 0) & goes_on[0].any()) | ((off > 0) & goes_on[1].any()))


def _upright(ink: NDArray[np.bool_], column: float) -> NDArray[np.bool_]:
    """The upright strokes among a piece of ink, beyond whose box there is none."""
    length = round(MIN_SHARED_STROKE_WIDTHS * column)
    framed = np.pad(np.where(ink, np.uint8(255), np.uint8(0)), ((length, length), (0, 0)))
    long = thickened(long_strokes(framed, length, vertical=True), 3, 3)
    return np.asarray(ink & (long[length : length + len(ink)] > 0))


def _beside(ink: Mask, left: int, right: int, reach: int) -> tuple[Mask, Mask]:
    """The ink at the left and at the right of a piece that lies from x `left` to `right`, within `reach`; from the
    piece outwards."""
    return ink[:, max(0, left - reach) : left][:, ::-1], ink[:, right : right + reach]


def _nearer(beside: tuple[Mask, Mask], reach: int) -> list[NDArray[np.bool_]]:
    """For the rows of a piece of ink that lies alone on a rule: all of them at the side where other ink is nearer, none
    at the other; none at both where there is none within `reach`."""
    nearest = [np.append(np.flatnonzero(part.any(axis=0)), reach)[0] for part in beside]
    return [np.full(len(beside[0]), nearest[side] < nearest[1 - side]) for side in (0, 1)]


def _pixels_from(ink: NDArray[np.bool_], going_on: NDArray[np.bool_]) -> NDArray[np.float64]:
    """How far every pixel is from those pieces of `ink` that have one that is `going_on`."""
    labels, stats, _ = connected(ink.astype(np.uint8))
    goes_on = np.bincount(labels[going_on], minlength=len(stats)) > 0
    goes_on[0] = False
    return np.asarray(cv2.distanceTransform((~goes_on[labels]).astype(np.uint8), cv2.DIST_L2, 5), dtype=np.float64)


def _tips(excess: NDArray[np.float64], area: float, longest: float) -> NDArray[np.bool_]:
    """The rows in which dots and tips of strokes lie across a line that has so much `excess` about every row: of so
    much in all, and no longer."""
    rows = excess >= TIP_EXCESS[0]
    labels, stats, _ = connected(rows.astype(np.uint8)[:, None])
    number, length = labels[:, 0], stats[:, cv2.CC_STAT_AREA]
    keep = np.bincount(number[excess >= TIP_EXCESS[1]], minlength=len(stats)) > 0
    keep &= (np.bincount(number, np.where(rows, excess, 0.0), minlength=len(stats)) >= area) & (length <= longest)
    keep[0] = False
    return np.asarray(keep[number], dtype=np.bool_)


def _rows_from(rows: NDArray[np.bool_]) -> NDArray[np.float64]:
    """How many rows every one of them is from the nearest that holds."""
    if not rows.any():
        return np.full(len(rows), np.inf)
    away = np.abs(np.arange(len(rows))[:, None] - np.flatnonzero(rows)[None, :]).min(axis=1)
    return np.asarray(away, dtype=np.float64)
