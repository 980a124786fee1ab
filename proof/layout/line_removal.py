"""The ink of a ruled page without its rules and its frame.

What is erased is the lines' own ink and splinters of it: a stroke that stands beside a line stays whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.lines import LEAST, LEAST_SECOND, Line, erase, follow, splinters
from proof.layout.rules import Mask, connected

RULE_PIECE, FRAME_PIECE = 0.3, 0.35
"""The shortest piece of a rule in cells, and of a frame in widths of a column."""

ALONE = 0.02
"""Of a cell's area: less ink than this, with nothing near it, is dirt, unless it is a level stroke. 一 covers some
0.05, and the upper stroke of 二 in a note 0.015."""

LEVEL_STROKE, FLAT = 0.2, 2.5
"""Cells: ink alone that is as wide as this is a level stroke, where it is so many times as wide as high."""

RULE_REACH, MIN_RULE_REACH_PX = 0.06, 3
"""Of a column's width, and pixels at least: how far from its place a rule is followed."""

OUTSIDE = 0.45
"""Cells above the inner frame: so far the outer one may lie, and pieces of it."""

NOTCH = 2
"""Times as far beside a rule as it is looked for: there runs the frame around what is raised."""

BESIDE = 0.1
"""Of a column's width: nearer to its rules lie pieces of the frame that runs around what is raised."""

NOT_RUN = 0.05
"""Of a column's width: where less of the frame is printed it does not run."""

AT_FRAME = 0.2
"""Cells: what begins so near to the lower line of the frame is a piece of it."""

NO_CELL = 0.33
"""Cells: so near to the frame, within it, no glyph stands; its lower strokes are near the rest of it."""


def without_lines(
    ink: Mask, upright: Mask, level: Mask, rules: Sequence[float], frame: tuple[float, float], row: float
) -> Mask:
    """Ink of a half-folio without its rules and its frame, whose long pieces are in `upright` and `level`. `frame` is
    the y of its inner frame above and below, `row` the height of a cell."""
    clean = ink.copy()
    near = max(MIN_RULE_REACH_PX, round(RULE_REACH * (rules[-1] - rules[0]) / (len(rules) - 1)))
    rows = (max(0, round(frame[0] - 0.05 * row)), min(ink.shape[0], round(frame[1] + 0.05 * row)))
    _erase_outside(clean, upright, level, rules, rows, near)
    _erase_lines(clean, rules, frame, row)
    _erase_specks(clean, frame, row)
    return clean


def _erase_lines(ink: Mask, rules: Sequence[float], frame: tuple[float, float], row: float) -> None:
    """Erase (in place) the lines of the frame above and below, the upright ones at the `rules`, and splinters of them.
    Frames are double: where one line was erased, the other is found."""
    column = (rules[-1] - rules[0]) / (len(rules) - 1)
    near, sides = max(MIN_RULE_REACH_PX, round(RULE_REACH * column)), (rules[0], rules[-1])
    frames: list[Line] = []
    lines: list[Line] = []
    for places, reach, least in ((rules, near, LEAST), (sides, 2 * near, LEAST_SECOND)):
        for line in follow(ink.T, frame, max(4, round(0.16 * row)), FRAME_PIECE * column, followed=1.0):
            frames.append(line.within(sides))
            if len(frames) > 2:
                _leave_raised(frames[-1], frames[-3], rules)
            erase(ink.T, frames[-1])
        for line in follow(ink, places, reach, RULE_PIECE * row, least):
            lines.append(line.within(frame))
            erase(ink, lines[-1])
    labels, stats, _ = connected(ink)
    drop = splinters(labels, stats[:, cv2.CC_STAT_AREA], frames, lines)
    left, top = stats[:, cv2.CC_STAT_LEFT], stats[:, cv2.CC_STAT_TOP]
    # at the sides the frame is double, and no text comes so near to it
    drop |= (left + stats[:, cv2.CC_STAT_WIDTH] <= rules[0] + near) | (left >= rules[-1] - near)
    drop |= top > frame[1] - AT_FRAME * row
    drop[0] = False
    _erase(ink, labels, drop)


def _leave_raised(second: Line, first: Line, rules: Sequence[float]) -> None:
    """Take (in place) from the `second` line of a frame what lies in columns where the `first` does not run: these are
    raised, and what is level there are strokes of their glyphs."""
    for left, right in pairwise(np.rint(rules).astype(np.intp).clip(0).tolist()):
        apart = round(BESIDE * (right - left))
        across = first.printed[left + apart : right - apart]
        if np.count_nonzero(across) < NOT_RUN * across.size:
            second.printed[left:right] = False


def _erase_outside(
    ink: Mask, upright: Mask, level: Mask, rules: Sequence[float], rows: tuple[int, int], near: int
) -> None:
    """Erase (in place) long strokes beyond the outermost rules, and above and below the frame: the outer frame, and its
    notches over what is raised, which run beside rules."""
    left, right = max(0, round(rules[0]) - near), max(0, round(rules[-1]) + near + 1)
    thick = np.ones((3, near | 1), np.uint8)
    uprights, levels = cv2.dilate(upright, thick) > 0, cv2.dilate(level, thick.T) > 0
    far = np.ones(ink.shape[1], np.bool_)
    for x in rules:
        far[max(0, round(x) - NOTCH * near) : round(x) + NOTCH * near + 1] = False
    far[:left] = far[right:] = False
    uprights[:, far] = False
    lines = uprights | levels
    lines[rows[0] : rows[1], left:right] = False
    ink[lines] = 0


def _erase_specks(ink: Mask, frame: tuple[float, float], row: float) -> None:
    """Erase (in place) what stands alone and is too little for a character, or lies where the frame does and no cell
    is; the dots of a glyph are near the rest of it."""
    reach = max(3, round(0.2 * row)) | 1
    near = cv2.dilate(ink, np.ones((reach, reach), np.uint8))
    groups, boxes, _ = connected(near)
    inked = np.flatnonzero(ink > 0)
    amount = np.bincount(groups.ravel()[inked], minlength=len(boxes))
    top = boxes[:, cv2.CC_STAT_TOP] + reach // 2
    bottom = boxes[:, cv2.CC_STAT_TOP] + boxes[:, cv2.CC_STAT_HEIGHT] - reach // 2
    width = boxes[:, cv2.CC_STAT_WIDTH] - 2 * (reach // 2)
    dirt = amount < ALONE * row * row
    dirt &= (width < LEVEL_STROKE * row) | (width < FLAT * (bottom - top))
    above = (bottom < frame[0] + NO_CELL * row) & (top > frame[0] - OUTSIDE * row)
    _erase(ink, groups, dirt | above | (top > frame[1] - NO_CELL * row))


def _erase(ink: Mask, labels: NDArray[np.int32], drop: NDArray[np.bool_]) -> None:
    """Erase (in place) the pieces of ink that `drop` says, by their label."""
    inked = np.flatnonzero(ink > 0)  # most of a page is paper and not asked
    ink.ravel()[inked[drop[labels.ravel()[inked]]]] = 0
