"""Removes the rules and the frame from the ink of a half-folio.

Only the lines' own ink is erased: a stroke beside a line stays whole, and where a stroke meets a line, crosses it or
lies on it, the line's ink stays with the stroke.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.crossings import MIN_STROKE_AREA, Strokes, columns_of, restore
from proof.layout.lines import (
    MIN_LINE_SHARE,
    MIN_SECOND_UPRIGHT_SHARE,
    ROUGHNESS_PX,
    SPLINTER_PX,
    Line,
    erase,
    follow,
    splinters,
)
from proof.layout.rules import Mask, connected

MIN_RULE_PIECE_CELLS = 0.3
"""Minimum length of a piece of a rule, in cells."""

MIN_FRAME_PIECE_WIDTHS = 0.35
"""Minimum length of a piece of the frame, in widths of a column."""

MAX_DIRT_AREA = 0.02
"""Area below which isolated ink is dirt unless it is a level stroke, as a share of a cell's area. 一 covers some 0.05,
the upper stroke of 二 in a note 0.015."""

MIN_LEVEL_STROKE_CELLS = 0.2
"""Minimum width of a level stroke, in cells."""

MIN_FLATNESS = 2.5
"""Minimum width of a level stroke relative to its height."""

CORNER_CELLS = 0.12
"""Distance from the frame within which the frame's ink thickens a rule, in cells."""

OUTER_FRAME_CELLS = 0.45
"""Maximum distance of the outer frame and its pieces above the inner one, in cells."""

BESIDE_RULE_WIDTHS = 0.1
"""Distance from a raised column's rules within which the frame around it lies, as a share of the column's width."""

MIN_PRINTED_SHARE = 0.05
"""Share of a column's width that must be printed for the frame to run there."""

FRAME_MARGIN_CELLS = 0.33
"""Distance inside the frame within which ink without any farther inside is no glyph, in cells."""


def without_lines(
    ink: Mask, upright: Mask, level: Mask, rules: Sequence[float], frame: tuple[float, float], row: float
) -> tuple[Mask, NDArray[np.int16]]:
    """The ink of a half-folio without its rules and its frame, and the number of each pixel's column (`columns_of`).
    `upright` and `level` are masks of long strokes, `rules` the x of the rules, `frame` the y of the inner frame above
    and below, `row` is the height of a cell."""
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
        part = line.within((frame[0] + CORNER_CELLS * row, frame[1] - CORNER_CELLS * row))
        restore(clean, before, strokes, part, 0, row, held)
    _restore_under_raised(clean, ink, rules, frame[0], row)
    _erase_debris(clean, frames, lines, rules, frame, row, held)
    _erase_specks(clean, frame, row)
    return clean, columns_of(clean, lines[: len(rules)], strokes, column)


def _followed(
    ink: Mask, rules: Sequence[float], frame: tuple[float, float], row: float
) -> tuple[list[Line], list[Line]]:
    """The lines of the frame above and below, and the upright lines, of which the first are the rules; all are erased
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
    """Remove (in place) from the `second` line of a frame its parts in columns where the `first` does not run: these
    columns are raised, and level ink there is strokes of their glyphs."""
    for left, right in pairwise(np.rint(rules).astype(np.intp).clip(0).tolist()):
        apart = round(BESIDE_RULE_WIDTHS * (right - left))
        across = first.printed[left + apart : right - apart]
        if np.count_nonzero(across) < MIN_PRINTED_SHARE * across.size:
            second.printed[left:right] = False


def _erase_outside(
    ink: Mask, upright: Mask, level: Mask, rules: Sequence[float], rows: tuple[int, int], near: int
) -> None:
    """Erase (in place) long strokes of the outer frame: beyond the outermost rules, and above and below the frame,
    there with its upright parts around raised columns, which continue the rules."""
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


def _restore_under_raised(clean: Mask, ink: Mask, rules: Sequence[float], top: float, row: float) -> None:
    """Restore (in place) the `ink` of the frame under strokes of raised characters, which are written over it where the
    frame was printed first. The frame's ink straight below such a stroke is taken for the stroke's."""
    labels, stats, _ = connected(clean)
    _, between, strokes = _raised_strokes(stats, rules, top, row)
    below = (strokes & between)[labels]
    first, last = round(top - OUTER_FRAME_CELLS * row), round(top + FRAME_MARGIN_CELLS * row)
    for y in range(max(1, first), min(len(ink), last)):
        below[y] |= below[y - 1] & (ink[y] > 0)
        clean[y, below[y]] = ink[y, below[y]]


def _raised_strokes(
    stats: NDArray[np.int32], rules: Sequence[float], top: float, row: float
) -> tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[np.bool_]]:
    """For each piece of ink (`stats`) the number of rules left of its middle, whether it lies between the two rules of
    a column, and whether it can be a stroke of a raised character: it begins above any piece of the outer frame, whose
    inner line is at `top`."""
    x, y, w, h, area = (stats[:, i] for i in range(5))
    number = np.searchsorted(rules, x + w / 2)
    apart = BESIDE_RULE_WIDTHS * (rules[-1] - rules[0]) / (len(rules) - 1)
    left, right = (np.asarray(rules)[(number + step).clip(0, len(rules) - 1)] for step in (-1, 0))
    between = np.asarray((x > left + apart) & (x + w < right - apart), dtype=np.bool_)
    stroke = (area >= MIN_STROKE_AREA * row * row) & (y <= top - OUTER_FRAME_CELLS * row) & (y + h > top - 1.2 * row)
    stroke[0] = False
    return number, between, np.asarray(stroke, dtype=np.bool_)


def _erase_debris(
    ink: Mask,
    frames: Sequence[Line],
    lines: Sequence[Line],
    rules: Sequence[float],
    frame: tuple[float, float],
    row: float,
    held: NDArray[np.bool_],
) -> None:
    """Erase (in place) the remains of broken lines: splinters, corners where two lines met, and ink at the frame's
    lower edge and below it. Strokes that lie on lines, where ink is `held`, are not taken for splinters."""
    column = (rules[-1] - rules[0]) / (len(rules) - 1)
    labels, stats, _ = connected(ink)
    x, y, w, h = (stats[:, i] for i in range(4))
    drop = splinters(labels, stats[:, cv2.CC_STAT_AREA], frames, lines)
    drop[labels[held]] = False
    # at the sides the frame is double, and no text is so near to it
    near = 0.06 * column
    drop |= (x + w <= rules[0] + near) | (x >= rules[-1] - near)
    # pieces of the outer frame, but not the strokes of raised characters above it
    middle = (x + w // 2).clip(0, ink.shape[1] - 1)
    within = [line.middle[middle] + line.right for line in frames if line.printed.any()]
    inner = np.max([edge for edge in within if edge.mean() < frame[1] - row], axis=0, initial=frame[0])
    flat = (
        (y > frame[0] - OUTER_FRAME_CELLS * row) & (y + h <= inner + ROUGHNESS_PX + SPLINTER_PX) & (h <= 0.14 * column)
    )
    drop |= flat & ~_in_raised(stats, frames, rules, frame[0], row)
    # remains of a corner: thin, bent, beside a rule and at the frame
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
    """Which pieces of ink (`stats`) are between the rules of a raised column: one where no line of the frame runs at
    its `top`, and a stroke begins above any piece of the outer frame."""
    number, between, stroke = _raised_strokes(stats, rules, top, row)
    raised = np.bincount(number[stroke], minlength=len(rules) + 1) > 0
    raised[[0, -1]] = False
    apart = BESIDE_RULE_WIDTHS * (rules[-1] - rules[0]) / (len(rules) - 1)
    for column in np.flatnonzero(raised).tolist():
        across = slice(max(0, round(rules[column - 1] + apart)), max(0, round(rules[column] - apart)))
        upper = [line for line in frames if abs(float(line.middle.mean()) - top) < row]
        raised[column] = not any(line.printed[across].any() for line in upper)
    return np.asarray(raised[number] & between, dtype=np.bool_)


def _erase_specks(ink: Mask, frame: tuple[float, float], row: float) -> None:
    """Erase (in place) isolated ink that is too little for a character, or lies at the frame where there is no cell.
    The dots of a glyph are near the rest of it and stay."""
    reach = max(3, round(0.2 * row)) | 1
    near = cv2.dilate(ink, np.ones((reach, reach), np.uint8))
    groups, boxes, _ = connected(near)
    inked = np.flatnonzero(ink > 0)
    amount = np.bincount(groups.ravel()[inked], minlength=len(boxes))
    top = boxes[:, cv2.CC_STAT_TOP] + reach // 2
    bottom = boxes[:, cv2.CC_STAT_TOP] + boxes[:, cv2.CC_STAT_HEIGHT] - reach // 2
    width = boxes[:, cv2.CC_STAT_WIDTH] - 2 * (reach // 2)
    dirt = amount < MAX_DIRT_AREA * row * row
    dirt &= (width < MIN_LEVEL_STROKE_CELLS * row) | (width < MIN_FLATNESS * (bottom - top))
    above = (bottom < frame[0] + FRAME_MARGIN_CELLS * row) & (top > frame[0] - OUTER_FRAME_CELLS * row)
    _erase(ink, inked, groups, dirt | above | (top > frame[1] - FRAME_MARGIN_CELLS * row))


def _erase(ink: Mask, inked: NDArray[np.intp], labels: NDArray[np.int32], drop: NDArray[np.bool_]) -> None:
    """Erase (in place) the pieces of ink whose labels `drop` selects. `inked` are the flat indices of all ink: most of
    a page is paper and need not be looked up."""
    ink.ravel()[inked[drop[labels.ravel()[inked]]]] = 0
