"""Decides which ink of a ruled line stays with the strokes that meet it or cross it, and in which column.

Where a stroke meets or crosses a line, their ink cannot be separated and stays; so it does between two such places that
are near to each other, since the stroke may go on along the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.lines import ROUGHNESS_PX, Line
from proof.layout.rules import Mask, connected

MIN_STROKE_AREA = 0.012
"""Area from which a piece of ink can be a stroke that meets a line, as a share of a cell's area."""

MAX_DOT_AREA = 0.006
"""Area below which a piece of ink is a dot, as a share of a cell's area."""

MIN_DOTS = 8
"""Dots in a cell's area from which a seal left them and there is no stroke."""

OVER_RULE_WIDTHS = 0.12
"""Maximum distance that strokes reach over a rule, as a share of the column's width."""

MAX_BRIDGED_CELLS = 0.45
"""Maximum distance of two places of a line that strokes meet for the ink of the line between them to stay, in cells: at
0.25, 7 of 1,674 glyphs on hard pages lose over a twentieth of their ink, and 5 at this."""


@dataclass(frozen=True, slots=True)
class Strokes:
    """The pieces of a page's ink without its lines, numbered in `labels`. `can_meet_line` says for each label whether
    its piece can be a stroke that meets a line; `dotted` is the mask of dots, from a seal or a stain on a two-tone
    scan."""

    labels: NDArray[np.int32]
    can_meet_line: NDArray[np.bool_]
    dotted: NDArray[np.bool_]

    @classmethod
    def of(cls, ink: Mask, pitch: float) -> Strokes:
        """The strokes of a page; `pitch` is the height of a cell."""
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
        can_meet_line = (area >= MIN_STROKE_AREA * pitch * pitch) & ~dotted[y, x]
        can_meet_line[0] = False
        return cls(labels, can_meet_line, dotted)

    @property
    def transposed(self) -> Strokes:
        """The strokes of the transposed page."""
        return Strokes(self.labels.T, self.can_meet_line, self.dotted.T)


def restore(ink: Mask, with_lines: Mask, strokes: Strokes, line: Line, text_side: int, pitch: float) -> None:
    """Restore (in place) the ink of a line, as it is in `with_lines`, where one of the `strokes` meets it.

    Strokes meet it from the `text_side`: left (-1), right (1) or either (0). `pitch` is the height of a cell.
    """
    if not line.printed.any():
        return
    low, high = line.band(ink.shape[1], ROUGHNESS_PX + 2.0)
    own = line.mask(low, high, ROUGHNESS_PX)
    beside = line.mask(low, high, ROUGHNESS_PX + 2.0) & ~line.mask(low, high, ROUGHNESS_PX + 1.0)
    if text_side:
        beside &= text_side * (np.arange(low, high)[None, :] - line.middle[:, None]) > 0
    met = (strokes.can_meet_line[strokes.labels[:, low:high]] & beside).any(axis=1) & line.printed
    if not met.any():
        return
    own &= (_closed(met, round(MAX_BRIDGED_CELLS * pitch)) & line.printed)[:, None]
    ink[:, low:high][own] = with_lines[:, low:high][own]


def _closed(rows: NDArray[np.bool_], gap: int) -> NDArray[np.bool_]:
    """The true `rows`, with gaps of at most `gap` rows between them filled."""
    true_rows = np.flatnonzero(rows)
    closed = rows.copy()
    for number in np.flatnonzero(np.diff(true_rows) - 1 <= gap).tolist():
        closed[true_rows[number] : true_rows[number + 1]] = True
    return closed


def _rows_from(rows: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The distance of every row from the nearest true one; infinite where none is true."""
    if not rows.any():
        return np.full(len(rows), np.inf)
    distance = np.abs(np.arange(len(rows))[:, None] - np.flatnonzero(rows)[None, :]).min(axis=1)
    return np.asarray(distance, dtype=np.float64)


def columns_of(ink: Mask, rules: Sequence[Line], dotted: NDArray[np.bool_], column_width: float) -> NDArray[np.int16]:
    """For every pixel the number of its column, from 1 at the right; 0 beyond the outermost rules, where the ink is
    erased (in place). Ink that reaches a little over a rule belongs to its glyph's column. `dotted` as in `Strokes`."""
    width = ink.shape[1]
    numbers = [0, *range(len(rules) - 1, 0, -1), 0]
    column_of = np.zeros(ink.shape, np.int16)
    ends = [*(rule.band(width, 0.0)[0] for rule in rules[1:]), width]
    for rule, left, right, end in zip(rules, numbers, numbers[1:], ends, strict=False):
        low, high = rule.band(width, 0.0)
        column_of[:, low:high] = np.where(np.arange(low, high) < rule.middle[:, None], left, right)
        column_of[:, high:end] = right
    for rule, left, right in zip(rules, numbers, numbers[1:], strict=False):
        _assign_ink_on_rule(column_of, ink, rule, left, right, dotted, column_width)
    np.multiply(ink, column_of != 0, out=ink)
    return column_of


def _assign_ink_on_rule(
    column_of: NDArray[np.int16],
    ink: Mask,
    rule: Line,
    left: int,
    right: int,
    dotted: NDArray[np.bool_],
    column_width: float,
) -> None:
    """Write into `column_of` the columns of the pieces of ink on the rule between the columns `left` and `right`, or
    across it.

    A piece belongs to the side to which it continues. Pieces among the dots of a seal are left as they are.
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
        if dotted[y + h // 2, low + x + w // 2]:
            continue
        box = np.s_[y : y + h, x : x + w]
        piece = _PieceOnRule(labels[box] == label, offset[box], on_rule[box], column_width)
        beyond_left, beyond_right = piece.rows_beyond()
        assigned = piece.own
        if beyond_left.any() and beyond_right.any():
            # two glyphs meet: ink on the rule belongs to the side whose continuing part is nearest
            from_left, from_right = piece.distance_from_part(-1), piece.distance_from_part(1)
            assigned = piece.own & piece.on_rule
        else:
            from_left, from_right = _rows_from(beyond_left)[:, None], _rows_from(beyond_right)[:, None]
        columns = column_of[y : y + h, low + x : low + x + w]
        columns[assigned & (from_left < from_right)] = left
        columns[assigned & (from_right < from_left)] = right


class _PieceOnRule(NamedTuple):
    """A piece of ink on a rule or across it, in its bounding box: its mask (`own`), the distance of each pixel from the
    rule's middle (`offset`), and the pixels of the rule (`on_rule`)."""

    own: NDArray[np.bool_]
    offset: NDArray[np.float64]
    on_rule: NDArray[np.bool_]
    column_width: float

    def _beyond(self, side: int) -> NDArray[np.bool_]:
        """The pixels with which the piece continues to the left (-1) or right (1) of what strokes reach over a rule."""
        return self.own & (side * self.offset > OVER_RULE_WIDTHS * self.column_width - 1.5)

    def rows_beyond(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The rows of pixels in which the piece continues to the left, and to the right."""
        left, right = (np.asarray(self._beyond(side).any(axis=1), np.bool_) for side in (-1, 1))
        return left, right

    def distance_from_part(self, side: int) -> NDArray[np.float64]:
        """The distance of every pixel from those parts of the piece at the left (-1) or right (1) of the rule that
        continue there."""
        labels, stats, _ = connected((self.own & ~self.on_rule & (side * self.offset > 0)).astype(np.uint8))
        continues = np.bincount(labels[self._beyond(side)], minlength=len(stats)) > 0
        continues[0] = False
        away = cv2.distanceTransform((~continues[labels]).astype(np.uint8), cv2.DIST_L2, 5)
        return np.asarray(away, dtype=np.float64)
