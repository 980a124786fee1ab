"""The ink of a ruled page without its rules and its frame.

What is erased is the lines' own ink alone: a stroke that stands beside a line stays whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.lines import LEAST, LEAST_SECOND, Line, erase, follow
from proof.layout.rules import MIN_RULE_REACH_PX, RULE_REACH, Mask, connected, inked_along

RULE_PIECE, FRAME_PIECE = 0.3, 0.35
"""The shortest piece of a rule in cells, and of a frame in widths of a column."""

ALONE = 0.02
"""Of a cell's area: less ink than this, with nothing near it, is dirt, unless it is a level stroke. 一 covers some
0.05, and the upper stroke of 二 in a note 0.015."""

LEVEL_STROKE, FLAT = 0.2, 2.5
"""Cells: ink alone that is as wide as this is a level stroke, where it is so many times as wide as high."""

OUTSIDE = 0.45
"""Cells above the inner frame: so far the outer one may lie, and pieces of it."""

NOTCH = 2
"""Times as far beside a rule as it is looked for: there runs the frame around what is raised."""

BESIDE = 0.1
"""Of a column's width: nearer to its rules lie pieces of the frame that runs around what is raised."""

NOT_RUN = 0.05
"""Of a column's width: where less of the frame is printed it does not run."""

NO_CELL = 0.33
"""Cells: so near to the frame, within it, no glyph stands; its lower strokes are near the rest of it."""


def frame_of(upright: Mask, level: Mask, rules: Sequence[float], text: tuple[float, float]) -> tuple[float, float]:
    """The y of the inner frame above and below the columns; where the `text` begins and ends, where neither lines nor
    rules tell.

    The rules end at the frame, so their ends say where it is when it is broken or missing; a level line
    near there is taken where there is one. Of the double frame the inner line is taken.
    """
    height = upright.shape[0]
    starts, ends = [], []
    for x in rules:
        band = upright[:, max(0, round(x) - 4) : round(x) + 5]
        ys = np.nonzero(band.any(axis=1))[0] if band.size else np.empty(0)
        if ys.size > 0.15 * height:
            starts.append(float(ys[0]))
            ends.append(float(ys[-1]))
    left, right = round(max(rules[0], 0)), round(rules[-1])
    share = inked_along(level[:, left:right], 1) / max(right - left, 1)
    top_guess = _strong_line(share, 0, round(0.4 * height))
    bottom_guess = _strong_line(share, round(0.6 * height), height)
    if top_guess is None:
        top_guess = float(np.quantile(starts, 0.25)) if starts else text[0]
    if bottom_guess is None:
        bottom_guess = float(np.quantile(ends, 0.75)) if ends else text[1]
    return (
        _inner_line(share, top_guess, upper=True, reach=0.02 * height),
        _inner_line(share, bottom_guess, upper=False, reach=0.02 * height),
    )


def _strong_line(share: NDArray[np.float64], low: int, high: int) -> float | None:
    """The level line that runs furthest among those between `low` and `high`; None where none runs a third."""
    part = share[low:high]
    if not part.size or part.max() < 0.3:
        return None
    return float(low + int(part.argmax()))


def _inner_line(share: NDArray[np.float64], guess: float, upper: bool, reach: float) -> float:
    """Of the level lines near `guess` the one nearest to the text; `guess` itself where there is none."""
    low, high = max(0, round(guess - reach)), min(share.size, round(guess + reach) + 1)
    near = np.nonzero(share[low:high] > 0.15)[0] + low
    if not near.size:
        return guess
    return float(near.max() if upper else near.min())


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
    """Erase (in place) the lines of the frame above and below, and the upright ones at the `rules`. Frames are double:
    where one line was erased, the other is found."""
    column = (rules[-1] - rules[0]) / (len(rules) - 1)
    near, sides = max(MIN_RULE_REACH_PX, round(RULE_REACH * column)), (rules[0], rules[-1])
    firsts: list[Line] = []
    for places, reach, least in ((rules, near, LEAST), (sides, 2 * near, LEAST_SECOND)):
        frames = follow(ink.T, frame, max(4, round(0.16 * row)), FRAME_PIECE * column, followed=1.0)
        frames = [line.within(sides) for line in frames]
        for second, first in zip(frames, firsts, strict=False):
            _leave_raised(second, first, rules)
        for line in frames:
            erase(ink.T, line)
        firsts = frames
        for line in follow(ink, places, reach, RULE_PIECE * row, least):
            erase(ink, line.within(frame))


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
    dirt |= above | (top > frame[1] - NO_CELL * row)
    # most of a page is paper and not asked
    ink.ravel()[inked[dirt[groups.ravel()[inked]]]] = 0
