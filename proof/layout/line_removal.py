"""The ink of a half-folio without its rules and its frame.

What is erased is the lines' own ink alone: a stroke that stands beside a line stays whole, and where one meets it,
crosses it or lies on it, the line's ink stays with the stroke.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.crossings import STROKE, Strokes, columns_of, restore
from proof.layout.lines import MIN_LINE_SHARE, MIN_SECOND_UPRIGHT_SHARE, ROUGH, SLIVER, Line, erase, follow, splinters
from proof.layout.rules import Mask, connected

MIN_RULE_PIECE_CELLS = 0.3
"""Cells: the shortest piece of a rule."""

MIN_FRAME_PIECE_WIDTHS = 0.35
"""Widths of a column: the shortest piece of a frame."""

ALONE = 0.02
"""Of a cell's area: less ink than this, with nothing near it, is dirt, unless it is a level stroke. 一 covers some
0.05, and the upper stroke of 二 in a note 0.015."""

MIN_LEVEL_STROKE_CELLS = 0.2
"""Cells: ink alone that is as wide as this is a level stroke, where it is flat."""

MIN_FLATNESS = 2.5
"""Width against height of a level stroke."""

CORNER = 0.12
"""Cells: so near to the frame a rule is thicker by the frame's ink."""

OUTSIDE = 0.45
"""Cells above the inner frame: so far the outer one may lie, and pieces of it."""

BESIDE = 0.1
"""Of a column's width: nearer to its rules lie pieces of the frame that runs around what is raised."""

NOT_RUN = 0.05
"""Of a column's width: where less of the frame is printed it does not run."""

NO_CELL = 0.33
"""Cells: so near to the frame, within it, no glyph stands; its lower strokes are near the rest of it."""


def without_lines(
    ink: Mask, upright: Mask, level: Mask, rules: Sequence[float], frame: tuple[float, float], row: float
) -> tuple[Mask, NDArray[np.int16]]:
    """Ink of a half-folio without its rules and its frame, whose long pieces are in `upright` and `level`, and the
    number of the column that every pixel belongs to. `frame` is the y of its inner frame above and below, `row` the
    height of a cell."""
    height = ink.shape[0]
    column = (rules[-1] - rules[0]) / (len(rules) - 1)
    clean = ink.copy()
    near = max(3, round(0.06 * column))
    rows = (max(0, round(frame[0] - 0.05 * row)), min(height, round(frame[1] + 0.05 * row)))
    _erase_outside(clean, upright, level, rules, rows, near)
    before = clean.copy()
    frames, lines = _followed(clean, rules, frame, row)
    inner = slice(1, len(rules) - 1)
    outer = [*lines[:1], *lines[inner.stop :]]
    strokes = Strokes.of(clean, frames, outer, rules, row)
    centre = (frame[0] + frame[1]) / 2, (rules[0] + rules[-1]) / 2
    for line in frames:
        restore(clean.T, before.T, strokes.turned, line, 1 if line.middle[0] < centre[0] else -1, row)
    for line in outer:
        restore(clean, before, strokes, line, 1 if line.middle[0] < centre[1] else -1, row)
    held = np.zeros(clean.shape, np.bool_)
    for line in lines[inner]:
        part = line.within((frame[0] + CORNER * row, frame[1] - CORNER * row))
        restore(clean, before, strokes, part, 0, row, held)
    _erase_debris(clean, frames, lines, rules, frame, row, held)
    _erase_specks(clean, frame, row)
    return clean, columns_of(clean, lines[: len(rules)], strokes, column)


def _followed(
    ink: Mask, rules: Sequence[float], frame: tuple[float, float], row: float
) -> tuple[list[Line], list[Line]]:
    """The lines of the frame above and below, and the upright ones, of which the first are the rules; all are erased
    (in place)."""
    column = (rules[-1] - rules[0]) / (len(rules) - 1)
    near, sides = max(3, round(0.06 * column)), (rules[0], rules[-1])
    frames: list[Line] = []
    lines: list[Line] = []
    # frames are double: where one line was erased, the other is found
    for places, reach, least in ((rules, near, MIN_LINE_SHARE), (sides, 2 * near, MIN_SECOND_UPRIGHT_SHARE)):
        for line in follow(ink.T, frame, max(4, round(0.16 * row)), MIN_FRAME_PIECE_WIDTHS * column, followed=1.0):
            frames.append(line.within(sides))
            if len(frames) > 2:
                _leave_raised(frames[-1], frames[-3], rules)
            erase(ink.T, frames[-1])
        for line in follow(ink, places, reach, MIN_RULE_PIECE_CELLS * row, least):
            lines.append(line.within(frame))
            erase(ink, lines[-1])
    return frames, lines


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
    notches over what is raised, which run where rules do."""
    left, right = max(0, round(rules[0]) - near), max(0, round(rules[-1]) + near + 1)
    thick = np.ones((3, max(3, near // 2)), np.uint8)
    uprights, levels = (np.asarray(cv2.dilate(strokes, by)) > 0 for strokes, by in ((upright, thick), (level, thick.T)))
    ink[:, :left][(uprights | levels)[:, :left]] = 0
    ink[:, right:][(uprights | levels)[:, right:]] = 0
    for part in (slice(0, rows[0]), slice(rows[1], None)):
        ink[part][levels[part]] = 0
        for x in rules:
            across = slice(max(0, round(x) - near), round(x) + near + 1)
            ink[part, across][uprights[part, across]] = 0


def _erase_debris(
    ink: Mask,
    frames: Sequence[Line],
    lines: Sequence[Line],
    rules: Sequence[float],
    frame: tuple[float, float],
    row: float,
    held: NDArray[np.bool_],
) -> None:
    """Erase (in place) what is left of broken lines: splinters of them, the corners where two met, and what stands
    below the frame; not the strokes that lie on them, where ink is `held`."""
    column = (rules[-1] - rules[0]) / (len(rules) - 1)
    labels, stats, _ = connected(ink)
    x, y, w, h = (stats[:, i] for i in range(4))
    drop = splinters(labels, stats[:, cv2.CC_STAT_AREA], frames, lines)
    drop[labels[held]] = False
    # at the sides the frame is double, and no text comes so near to it
    near = 0.06 * column
    drop |= (x + w <= rules[0] + near) | (x >= rules[-1] - near)
    # pieces of the outer frame; above it stand raised characters, whose strokes are no pieces of it
    middle = (x + w // 2).clip(0, ink.shape[1] - 1)
    within = [line.middle[middle] + line.right for line in frames if line.printed.any()]
    inner = np.max([edge for edge in within if edge.mean() < frame[1] - row], axis=0, initial=frame[0])
    flat = (y > frame[0] - OUTSIDE * row) & (y + h <= inner + ROUGH + SLIVER) & (h <= 0.14 * column)
    drop |= flat & ~_in_raised(stats, frames, rules, frame[0], row)
    # what is left of a corner: thin, bent, by a rule and at the frame
    off = np.abs((x + w / 2)[:, None] - np.asarray(rules)[None, :]).min(axis=1)
    thin = stats[:, cv2.CC_STAT_AREA] < 0.23 * w * h
    by_rule = off - w / 2 < 0.08 * column
    at_top = (y < frame[0] + 0.15 * row) & (y + h < frame[0] + 0.8 * row)
    at_bottom = (y + h > frame[1] - 0.1 * row) & (y > frame[1] - 0.8 * row)
    drop |= thin & by_rule & (at_top | at_bottom)
    drop |= (y > frame[1] - 0.12 * row) | ((y > frame[1] - 0.2 * row) & (h <= 0.08 * column))
    drop[0] = False
    _erase(ink, np.flatnonzero(ink > 0), labels, drop)


def _in_raised(
    stats: NDArray[np.int32], frames: Sequence[Line], rules: Sequence[float], top: float, row: float
) -> NDArray[np.bool_]:
    """Which pieces of ink (`stats`) stand between the rules of a column that is raised: where no line of the frame runs
    at its `top`, and a stroke begins higher than any piece of the outer frame does."""
    x, y, w, h, area = (stats[:, i] for i in range(5))
    number = np.searchsorted(rules, x + w / 2)
    stroke = (area >= STROKE * row * row) & (y <= top - OUTSIDE * row) & (y + h > top - 1.2 * row)
    stroke[0] = False
    raised = np.bincount(number[stroke], minlength=len(rules) + 1) > 0
    raised[[0, -1]] = False
    apart = BESIDE * (rules[-1] - rules[0]) / (len(rules) - 1)
    for column in np.flatnonzero(raised).tolist():
        across = slice(max(0, round(rules[column - 1] + apart)), max(0, round(rules[column] - apart)))
        upper = [line for line in frames if abs(float(line.middle.mean()) - top) < row]
        raised[column] = not any(line.printed[across].any() for line in upper)
    left, right = (np.asarray(rules)[(number + step).clip(0, len(rules) - 1)] for step in (-1, 0))
    return np.asarray(raised[number] & (x > left + apart) & (x + w < right - apart), dtype=np.bool_)


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
    dirt &= (width < MIN_LEVEL_STROKE_CELLS * row) | (width < MIN_FLATNESS * (bottom - top))
    above = (bottom < frame[0] + NO_CELL * row) & (top > frame[0] - OUTSIDE * row)
    _erase(ink, inked, groups, dirt | above | (top > frame[1] - NO_CELL * row))


def _erase(ink: Mask, inked: NDArray[np.intp], labels: NDArray[np.int32], drop: NDArray[np.bool_]) -> None:
    """Erase (in place) the pieces of ink that `drop` says, by their label. `inked` are the places of all ink: most of a
    page is paper and not asked."""
    ink.ravel()[inked[drop[labels.ravel()[inked]]]] = 0
