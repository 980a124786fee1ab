"""Decides which ink of a ruled line stays with the strokes that meet it, cross it or lie on it, and in which column.

Where a stroke meets or crosses a line, their ink cannot be separated and stays. Where a stroke lies on a line, the line
is thicker than elsewhere: the lengths of runs across it show this, as for signs on the staff lines of music (Dalitz and
others, 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.lines import ROUGHNESS_PX, Line, median_of_sorted, splinters
from proof.layout.rules import Frame, Mask, connected, long_strokes, thickened

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
farther away, a shifted edge may be the rule's own."""

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
"""Maximum local difference of a line's own thickness from its thickness as a whole, in pixels."""

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
    """The pieces of a page's ink without its lines, numbered in `labels`. `can_meet_line` says for each label whether
    its piece can be a stroke that meets a line; `dotted` is the mask of dots, from a seal or a stain on a two-tone
    scan."""

    labels: NDArray[np.int32]
    can_meet_line: NDArray[np.bool_]
    dotted: NDArray[np.bool_]

    @classmethod
    def of(
        cls, ink: Mask, frame_lines: Sequence[Line], side_lines: Sequence[Line], frame: Frame, pitch: float
    ) -> Strokes:
        """The strokes of a page. `frame_lines` are its level lines, `side_lines` the lines at its sides; `pitch` is the
        height of a cell."""
        labels, boxes, centres = connected(ink)
        area = boxes[:, cv2.CC_STAT_AREA]
        # in an image without paper the middle of the paper (label 0) is not a number
        middles = np.nan_to_num(centres).round().astype(np.intp)
        x, y = (middles[:, i].clip(0, ink.shape[1 - i] - 1) for i in range(2))
        is_dot = area < MAX_DOT_AREA * pitch * pitch
        dots = np.zeros(ink.shape, np.float32)
        np.add.at(dots, (y[is_dot], x[is_dot]), 1.0)
        cell = max(3, round(pitch))
        dots_around = cv2.boxFilter(dots, -1, (cell, cell), normalize=False, borderType=cv2.BORDER_CONSTANT)
        dotted = np.asarray(dots_around >= MIN_DOTS - 0.5, dtype=np.bool_)
        is_large = _stroke_areas(ink, labels, boxes) >= MIN_STROKE_AREA * pitch * pitch
        is_splinter = splinters(labels, area, frame_lines, side_lines)
        left, right = boxes[:, cv2.CC_STAT_LEFT], boxes[:, cv2.CC_STAT_LEFT] + boxes[:, cv2.CC_STAT_WIDTH]
        margin = AT_SIDE_WIDTHS * frame.width / frame.column_count
        between_sides = (right > frame.rules[0] + margin) & (left < frame.rules[-1] - margin)
        can_meet_line = is_large & between_sides & ~is_splinter & ~dotted[y, x]
        can_meet_line[0] = False
        return cls(labels, can_meet_line, dotted)

    @property
    def transposed(self) -> Strokes:
        """The strokes of the transposed page."""
        return Strokes(self.labels.T, self.can_meet_line, self.dotted.T)


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
    with_lines: Mask,
    strokes: Strokes,
    line: Line,
    text_side: int,
    pitch: float,
    on_rules: NDArray[np.bool_] | None = None,
) -> None:
    """Restore (in place) the ink of a line, as it is in `with_lines`, where one of the `strokes` meets it or lies on
    it.

    Strokes meet it from the `text_side`: left (-1), right (1) or either (0). A stroke that meets the line is followed
    along it as far as the line is thicker or its edge is shifted. `pitch` is the height of a cell. `on_rules`, given
    for rules only (a frame is too rough), receives the pixels of strokes that lie on the line as a whole.
    """
    if not line.printed.any():
        return
    low, high = line.band(ink.shape[1], ROUGHNESS_PX + 2.0)
    own = line.mask(low, high, ROUGHNESS_PX)
    beside = line.mask(low, high, ROUGHNESS_PX + 2.0) & ~line.mask(low, high, ROUGHNESS_PX + 1.0)
    if text_side:
        towards_text = text_side * (np.arange(low, high)[None, :] - line.middle[:, None])
        beside &= towards_text > 0
        edge = line.right if text_side > 0 else line.left
        own &= towards_text >= edge - MAX_FRAME_DEPTH_CELLS * pitch
    met = (strokes.can_meet_line[strokes.labels[:, low:high]] & beside).any(axis=1) & line.printed
    excess, edge_shift, plain = _thickness(with_lines, line, text_side, met, pitch)
    middle = np.rint(line.middle).astype(np.intp).clip(0, ink.shape[1] - 1)
    dotted = strokes.dotted[np.arange(len(ink)), middle]
    excess[dotted] = edge_shift[dotted] = -np.inf
    continued = (excess >= CONTINUED_SHARE * plain) | (edge_shift >= MIN_EDGE_SHIFT_PX)
    continued &= _rows_from(met) <= MAX_MEETING_DISTANCE_CELLS * pitch
    bridged = _closed(continued | met, round(MAX_BRIDGED_CELLS * pitch))
    restored = _ranges_with(bridged, met) & line.printed
    if on_rules is not None:
        lying = _ranges_with(
            excess >= WHOLE_STROKE_SHARE * plain, excess >= plain, MIN_STROKE_CELLS * pitch, MAX_STROKE_CELLS * pitch
        )
        lying |= _tips(excess / plain, MIN_TIP_AREA * pitch * pitch / plain, MAX_TIP_CELLS * pitch)
        on_rules[:, low:high] |= own & lying[:, None]
        restored |= lying
    own &= restored[:, None]
    ink[:, low:high][own] = with_lines[:, low:high][own]


class _Thickness(NamedTuple):
    """For every row of pixels the `excess` of a line over its own thickness, and the shift of its edge from its usual
    place (both -inf where the line is not printed); `plain_excess` is the excess of a plainly thicker line."""

    excess: NDArray[np.float64]
    edge_shift: NDArray[np.float64]
    plain_excess: float


def _thickness(ink: Mask, line: Line, text_side: int, met: NDArray[np.bool_], pitch: float) -> _Thickness:
    """The thickness of a line on the `text_side` or (0) on both. Rows where strokes have `met` the line are not used
    for its own thickness."""
    rows, last_x = np.arange(len(ink)), ink.shape[1] - 1
    middle, shifts = np.rint(line.middle).astype(np.intp), np.array([0, -1, 1])
    inked_at = ink[rows[:, None], (middle[:, None] + shifts).clip(0, last_x)] > 127
    is_inked, middle = inked_at.any(axis=1), middle + shifts[inked_at.argmax(axis=1)]
    distances = np.arange(int(np.ceil(max(line.left, line.right))) + THICKNESS_REACH_PX)
    bare = line.printed & is_inked & ~met
    width, edge_shift = np.zeros(len(ink)), np.zeros(len(ink))
    for side in (text_side,) if text_side else (-1, 1):
        x = middle[:, None] + side * distances
        inked = (ink[rows[:, None], x.clip(0, last_x)] > 127) & (x >= 0) & (x <= last_x)
        width_beside = np.logical_and.accumulate(inked, axis=1).sum(axis=1)
        width += width_beside
        if met.any():
            edge = width_beside + side * (middle - line.middle)
            edge_shift = np.maximum(edge_shift, np.abs(_excess(edge, _usual(edge, bare, pitch))))
    usual = _usual(width, bare, pitch)
    plain = PLAIN_EXCESS_PX
    if text_side:
        plain = max(plain, PLAIN_EXCESS_SHARE * float(np.median(usual)))
    measured = is_inked & line.printed
    excess = np.where(measured, _excess(width, usual), -np.inf)
    return _Thickness(excess, np.where(measured, edge_shift, -np.inf), plain)


def _excess(width: NDArray[np.float64], usual: NDArray[np.float64]) -> NDArray[np.float64]:
    """For every row the excess of a `width` (of the line, or to one side of it) over the `usual` one."""
    limited = np.minimum(width, usual + THICKNESS_REACH_PX / 2).astype(np.float32)[:, None]
    return np.asarray(cv2.blur(limited, (1, THICKNESS_ROWS_PX))[:, 0] - usual, dtype=np.float64)


def _usual(width: NDArray[np.float64], bare: NDArray[np.bool_], pitch: float) -> NDArray[np.float64]:
    """The usual width of a line around every row: the median over three cells, of rows where the line is `bare` (no
    stroke meets it), at most `MAX_WEAR_PX` from the usual width of the whole line."""
    if not bare.any():
        return np.full(len(width), np.inf)
    usual_of_line = median_of_sorted(np.sort(width[bare]))
    cells = np.arange(len(width)) / pitch
    middles = np.arange(0.5, max(cells[-1], 0.5) + 0.5)
    firsts, lasts = np.searchsorted(cells, middles - 1.5, side="right"), np.searchsorted(cells, middles + 1.5)
    medians = []
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        widths = width[first:last][bare[first:last]]
        medians.append(median_of_sorted(np.sort(widths)) if widths.size > pitch / 2 else usual_of_line)
    usual = np.interp(cells, middles, np.clip(medians, usual_of_line - MAX_WEAR_PX, usual_of_line + MAX_WEAR_PX))
    return np.asarray(usual, dtype=np.float64)


def _closed(rows: NDArray[np.bool_], gap: int) -> NDArray[np.bool_]:
    """The true `rows`, with gaps of at most `gap` rows between them filled."""
    true_rows = np.flatnonzero(rows)
    closed = rows.copy()
    for number in np.flatnonzero(np.diff(true_rows) - 1 <= gap).tolist():
        closed[true_rows[number] : true_rows[number + 1]] = True
    return closed


def _ranges_with(
    rows: NDArray[np.bool_], sure: NDArray[np.bool_], shortest: float = 0.0, longest: float = np.inf
) -> NDArray[np.bool_]:
    """The ranges of true `rows` that are between `shortest` and `longest` rows long and contain a row that is
    `sure`."""
    labels, stats, _ = connected(rows.astype(np.uint8)[:, None])
    number, length = labels[:, 0], stats[:, cv2.CC_STAT_AREA]
    keep = (np.bincount(number[sure], minlength=len(stats)) > 0) & (length >= shortest) & (length <= longest)
    keep[0] = False
    return np.asarray(keep[number], dtype=np.bool_)


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
    """The distance of every row from the nearest true one; infinite where none is true."""
    if not rows.any():
        return np.full(len(rows), np.inf)
    distance = np.abs(np.arange(len(rows))[:, None] - np.flatnonzero(rows)[None, :]).min(axis=1)
    return np.asarray(distance, dtype=np.float64)


def columns_of(ink: Mask, rules: Sequence[Line], strokes: Strokes, column_width: float) -> NDArray[np.int16]:
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
        _assign_ink_on_rule(column_of, ink, rule, left, right, strokes, column_width)
    np.multiply(ink, column_of != 0, out=ink)
    return column_of


def _assign_ink_on_rule(
    column_of: NDArray[np.int16], ink: Mask, rule: Line, left: int, right: int, strokes: Strokes, column_width: float
) -> None:
    """Write into `column_of` the columns of the pieces of ink on the rule between the columns `left` and `right`, or
    across it.

    A piece belongs to the side to which it continues; if to neither, to the nearer glyph. An upright stroke along the
    rule between two glyphs may belong to either. Pieces among the dots of a seal are left as they are.
    """
    reach = OVER_RULE_WIDTHS * column_width
    low, high = rule.band(ink.shape[1], reach)
    if low == high:
        return
    offset = np.arange(low, high)[None, :] - rule.middle[:, None]
    near_rule = (ink[:, low:high] > 0) & (np.abs(offset) <= reach)
    on_rule = rule.mask(low, high, ROUGHNESS_PX)
    labels, boxes, _ = connected(near_rule.astype(np.uint8))
    for label in np.unique(labels[on_rule & near_rule]).tolist():
        x, y, w, h, _ = boxes[label]
        if strokes.dotted[y + h // 2, low + x + w // 2]:
            continue
        rows, box = slice(y, y + h), np.s_[y : y + h, x : x + w]
        edges = (low + x, low + x + w)
        piece = _PieceOnRule(labels[box] == label, offset[box], on_rule[box], ink[rows], edges, column_width)
        beyond_left, beyond_right = piece.rows_beyond()
        stroke = piece.upright_stroke(beyond_left, beyond_right)
        assigned = piece.own
        if beyond_left.any() and beyond_right.any():
            # two glyphs meet: ink on the rule belongs to the side whose continuing part is nearest
            from_left, from_right = piece.distance_from_part(-1), piece.distance_from_part(1)
            assigned = piece.own & piece.on_rule
        else:
            if not beyond_left.any() and not beyond_right.any():
                beyond_left, beyond_right = piece.nearer_side()
            from_left, from_right = _rows_from(beyond_left)[:, None], _rows_from(beyond_right)[:, None]
        columns = column_of[rows, slice(*edges)]
        columns[assigned & (from_left < from_right)] = left
        columns[assigned & (from_right < from_left)] = right
        min_width = rule.left + rule.right + MIN_SHARED_EXCESS_PX
        is_thick = np.count_nonzero(stroke) >= min_width * np.count_nonzero(stroke.any(axis=1))
        if left and right and is_thick and piece.is_between_glyphs(stroke, beyond_left, beyond_right):
            columns[stroke] = -min(left, right)


class _PieceOnRule(NamedTuple):
    """A piece of ink on a rule or across it, in its bounding box: its mask (`own`), the distance of each pixel from the
    rule's middle (`offset`), and the pixels of the rule (`on_rule`). `page_rows` is the ink of the page in the rows of
    the box, `edges` are the x of the box there."""

    own: NDArray[np.bool_]
    offset: NDArray[np.float64]
    on_rule: NDArray[np.bool_]
    page_rows: Mask
    edges: tuple[int, int]
    column_width: float

    def _beyond(self, side: int) -> NDArray[np.bool_]:
        """The pixels with which the piece continues to the left (-1) or right (1) of what strokes reach over a rule."""
        return self.own & (side * self.offset > OVER_RULE_WIDTHS * self.column_width - 1.5)

    def _beside(self, reach: int) -> tuple[Mask, Mask]:
        """The ink within `reach` to the left and to the right of the piece, ordered from the piece outwards."""
        left, right = self.edges
        return self.page_rows[:, max(0, left - reach) : left][:, ::-1], self.page_rows[:, right : right + reach]

    def rows_beyond(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The rows of pixels in which the piece continues to the left, and to the right."""
        left, right = (np.asarray(self._beyond(side).any(axis=1), np.bool_) for side in (-1, 1))
        return left, right

    def nearer_side(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether the nearest ink is at the left, and whether at the right of the piece, repeated for all its rows;
        false for both if there is none near, or if both are equally near."""
        reach = round(REST_OF_GLYPH_WIDTHS * self.column_width)
        left, right = (np.append(np.flatnonzero(ink.any(axis=0)), reach)[0] for ink in self._beside(reach))
        return np.full(len(self.own), left < right), np.full(len(self.own), right < left)

    def distance_from_part(self, side: int) -> NDArray[np.float64]:
        """The distance of every pixel from those parts of the piece at the left (-1) or right (1) of the rule that
        continue there."""
        labels, stats, _ = connected((self.own & ~self.on_rule & (side * self.offset > 0)).astype(np.uint8))
        continues = np.bincount(labels[self._beyond(side)], minlength=len(stats)) > 0
        continues[0] = False
        away = cv2.distanceTransform((~continues[labels]).astype(np.uint8), cv2.DIST_L2, 5)
        return np.asarray(away, dtype=np.float64)

    def upright_stroke(self, beyond_left: NDArray[np.bool_], beyond_right: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The upright strokes of the piece on the rule, or at a side to which it does not continue."""
        at_continued_side = ((self.offset < 0) & beyond_left.any()) | ((self.offset > 0) & beyond_right.any())
        unsure = self.own & (self.on_rule | ~at_continued_side)
        length = round(MIN_SHARED_STROKE_WIDTHS * self.column_width)
        padded = np.pad(np.where(unsure, np.uint8(255), np.uint8(0)), ((length, length), (0, 0)))
        long = thickened(long_strokes(padded, length, vertical=True), 3, 3)
        return np.asarray(unsure & (long[length : length + len(unsure)] > 0))

    def is_between_glyphs(
        self, stroke: NDArray[np.bool_], beyond_left: NDArray[np.bool_], beyond_right: NDArray[np.bool_]
    ) -> bool:
        """Whether at either side the piece continues, or other ink is near its upright `stroke`."""
        left, right = self._beside(round(SHARED_GLYPH_WIDTHS * self.column_width))
        rows = stroke.any(axis=1)
        return bool((beyond_left.any() or left[rows].any()) and (beyond_right.any() or right[rows].any()))
