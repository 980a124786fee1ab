"""Rules and frames as lines: where each runs, how thick it is, where it is printed; and the ink without them.

A line is followed from end to end along the long straight pieces of ink near where it is expected, so that it may bend,
lean and be broken. What is erased is the line's own ink alone: a stroke that stands beside it stays whole, and where a
stroke meets the line, or crosses it, the line's ink stays with the stroke.

Lines are upright here; a level one is followed on the page turned over its diagonal (`numpy.transpose`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.rules import Mask, long_strokes

FOLLOWED = 2.0
"""A line is followed by pieces so many times as long as the shortest that is taken for a piece of it."""

LEAST, LEAST_SECOND = 0.06, 0.2
"""Of its length: a line of which less is printed in such pieces is none; the same of a second upright of the frame."""

SWERVE = 0.6
"""What it costs that a line moves aside by a pixel from one block to the next, in blocks full of ink."""

SMOOTH = 2.5
"""Blocks: the standard deviation of the weights by which neighbouring blocks tell where a line runs."""

EDGE = 0.12
"""A line reaches as far as there is ink in such a share of its rows."""

ROUGH = 1.0
"""Pixels: how far the edge of a line strays from straight."""

RULE_PIECE, FRAME_PIECE = 0.3, 0.35
"""The shortest piece of a rule in cells, and of a frame in widths of a column."""

ALONE = 0.02
"""Of a cell's area: less ink than this, with nothing near it, is dirt. 一 covers some 0.05."""

STROKE = 0.012
"""Of a cell's area: a piece of ink as large as this can be a stroke that meets a line."""

DOT, DOTS = 0.006, 8
"""Of a cell's area: ink smaller than this is a dot; among so many to a cell's area lies what a seal left, no stroke."""

TIP, OVER = 0.3, 0.12
"""The tip of a stroke that reaches over a rule: at most such a share of the ink that it is one with, and no further
than such a share of a column."""

NO_CELL = 0.33
"""Cells: so near to the frame, within it, no glyph stands; its lower strokes are near the rest of it."""

SLIVER = 2.0
"""Pixels beyond that: a piece of ink that lies so near to lines, all of it, is a splinter of them."""


@dataclass(frozen=True, slots=True)
class Line:
    """An upright line: for every row of pixels its `middle` (x) and whether it is `printed` there; its ink reaches
    `left` and `right` of the middle, in pixels."""

    middle: NDArray[np.float64]
    printed: NDArray[np.bool_]
    left: float
    right: float

    def band(self, width: int, beyond: float) -> tuple[int, int]:
        """From which x to which (exclusive) a page of this width has pixels of the line, or `beyond` it."""
        low = int(np.floor(self.middle.min() - self.left - beyond))
        high = int(np.ceil(self.middle.max() + self.right + beyond)) + 1
        return max(0, low), min(width, max(high, 0))

    def own(self, low: int, high: int, beyond: float) -> NDArray[np.bool_]:
        """Which of the pixels from x `low` to `high`, row by row, are the line's, or `beyond` it."""
        off = np.arange(low, high)[None, :] - self.middle[:, None]
        return np.asarray((off >= -self.left - beyond) & (off <= self.right + beyond), dtype=np.bool_)


def follow(
    ink: Mask, places: Sequence[float], reach: int, piece: float, least: float = LEAST, followed: float = FOLLOWED
) -> list[Line]:
    """The lines near the x of `places`, at most `reach` pixels away; `piece` is the length of the shortest piece of
    one, in pixels, `least` the share of its length that is printed in pieces `followed` times as long: of any other
    line nothing is printed."""
    height, width = ink.shape
    size = max(4, round(0.8 * piece))
    blocks = -(-height // size)
    span = 2 * reach + 1
    inked = np.zeros((len(places), blocks * size, span), np.uint8)
    for number, place in enumerate(places):
        first = round(place) - reach
        low, high = max(0, first), min(width, first + span)
        if low < high:
            inked[number, :height, low - first : high - first] = ink[:, low:high]
    long = np.stack([long_strokes(own, round(followed * piece), True) for own in inked]) > 127
    mass = long.reshape(len(places), blocks, size, span).sum(axis=2, dtype=np.float64)
    found = []
    for own, path, strong, place in zip(inked, _paths(mass, SWERVE * size), mass, places, strict=True):
        short = long_strokes(own, round(piece), True)[:height] > 127
        found.append(_line(short, own[:height] > 127, strong, path, round(place) - reach, size, least))
    return found


def _paths(mass: NDArray[np.float64], swerve: float) -> NDArray[np.intp]:
    """For lines (n x blocks x places across) the way through all blocks with most ink, at most one place aside from
    each to the next: dynamic programming."""
    lines, blocks, span = mass.shape
    near = np.abs(np.arange(span) - span // 2)
    wide = mass.copy()
    wide[:, :, 1:] += mass[:, :, :-1]
    wide[:, :, :-1] += mass[:, :, 1:]
    wide -= 0.02 * near
    total = wide[:, 0].copy()
    came = np.zeros((blocks, lines, span), np.int8)
    padded = np.full((lines, span + 2), -np.inf)
    for block in range(1, blocks):
        padded[:, 1:-1] = total
        steps = np.stack([padded[:, :-2] - swerve, padded[:, 1:-1], padded[:, 2:] - swerve])
        how = steps.argmax(axis=0)
        came[block] = how - 1
        total = np.take_along_axis(steps, how[None], axis=0)[0] + wide[:, block]
    paths = np.zeros((lines, blocks), np.intp)
    paths[:, -1] = total.argmax(axis=1)
    every = np.arange(lines)
    for block in range(blocks - 1, 0, -1):
        paths[:, block - 1] = paths[:, block] + came[block, every, paths[:, block]]
    return paths


def _line(
    pieces: NDArray[np.bool_],
    ink: NDArray[np.bool_],
    mass: NDArray[np.float64],
    path: NDArray[np.intp],
    first: int,
    size: int,
    least: float,
) -> Line:
    """The line along a path of blocks: smooth, as thick as its ink usually is."""
    height, span = ink.shape
    near = np.abs(np.arange(span)[None, :] - path[:, None]) <= 2
    own = mass * near
    weight = own.sum(axis=1)
    place = (own * np.arange(span)).sum(axis=1) / np.maximum(weight, 1e-9)
    place = np.where(weight > 0, place, path)
    weight = (np.minimum(weight, 2.0 * size) + 0.02)[None, :].astype(np.float32)
    blurred = cv2.GaussianBlur(weight * place[None, :].astype(np.float32), (0, 0), SMOOTH)
    smooth = (blurred / cv2.GaussianBlur(weight, (0, 0), SMOOTH))[0]
    middle = np.interp(np.arange(height), (np.arange(len(smooth)) + 0.5) * size, smooth)
    nearest = np.rint(middle).astype(np.intp).clip(1, span - 2)
    rows = np.arange(height)
    printed = pieces[rows, nearest - 1] | pieces[rows, nearest] | pieces[rows, nearest + 1]
    if np.count_nonzero(own.any(axis=1)) < least * len(own):
        printed[:] = False
    left, right = _sides(ink, nearest, printed)
    return Line(first + middle, printed, left, right)


def _sides(ink: NDArray[np.bool_], nearest: NDArray[np.intp], printed: NDArray[np.bool_]) -> tuple[float, float]:
    """How far a line's ink reaches to the left and to the right of its middle: where an eighth of its rows have any."""
    rows = np.flatnonzero(printed)
    span = ink.shape[1]
    sides = [0.5, 0.5]
    for side, step in enumerate((-1, 1)):
        for off in range(1, span):
            at = nearest[rows] + step * off
            inside = (at >= 0) & (at < span)
            if not rows.size or not inside.any() or ink[rows[inside], at[inside]].mean() <= EDGE:
                break
            sides[side] = off + 0.5
    return sides[0], sides[1]


def erase(ink: Mask, line: Line) -> None:
    """Erase (in place) a line where it is printed."""
    low, high = line.band(ink.shape[1], ROUGH)
    ink[:, low:high][line.own(low, high, ROUGH) & line.printed[:, None]] = 0


def restore(
    ink: Mask, before: Mask, labels: NDArray[np.int32], strokes: NDArray[np.bool_], line: Line, text: int
) -> None:
    """Give back (in place) the ink of a line, as it was `before`, where one of the `strokes` (which of the pieces of
    ink, labelled, are some) meets it: from the left (`text` -1) or the right (1), where text is, or from either (0)."""
    edge = ROUGH + 2.0
    low, high = line.band(ink.shape[1], edge)
    beside = line.own(low, high, edge) & ~line.own(low, high, ROUGH + 1.0)
    if text:
        beside &= text * (np.arange(low, high)[None, :] - line.middle[:, None]) > 0
    met = (strokes[labels[:, low:high]] & beside).any(axis=1) & line.printed
    own = line.own(low, high, ROUGH) & met[:, None]
    ink[:, low:high][own] = before[:, low:high][own]


def splinters(
    labels: NDArray[np.int32], areas: NDArray[Any], frames: Sequence[Line], lines: Sequence[Line]
) -> NDArray[np.bool_]:
    """Which of the pieces of ink (labelled, 0 the paper; of so many pixels each) lie on lines or at their edges, all of
    them."""
    near = np.zeros(labels.shape, np.bool_)
    for page, some in ((near, lines), (np.transpose(near), frames)):
        for line in some:
            if line.printed.any():
                low, high = line.band(page.shape[1], ROUGH + SLIVER)
                page[:, low:high] |= line.own(low, high, ROUGH + SLIVER)
    inside = np.bincount(labels[near], minlength=len(areas))
    found = (inside > 0) & (inside == areas)
    found[0] = False
    return np.asarray(found, dtype=np.bool_)


def _among_dots(boxes: NDArray[Any], centres: NDArray[Any], shape: tuple[int, ...], row: float) -> NDArray[np.bool_]:
    """Which of the pieces of ink lie in the net of dots that a seal leaves on a scan of two tones."""
    x, y = (np.clip(centres[:, i].round().astype(np.intp), 0, shape[1 - i] - 1) for i in range(2))
    dots = np.zeros(shape, np.float32)
    small = boxes[:, cv2.CC_STAT_AREA] < DOT * row * row
    np.add.at(dots, (y[small], x[small]), 1.0)
    cell = max(3, round(row))
    around = cv2.boxFilter(dots, -1, (cell, cell), normalize=False, borderType=cv2.BORDER_CONSTANT)
    return np.asarray(around[y, x] >= DOTS - 0.5, dtype=np.bool_)


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
    _, found, boxes, centres = cv2.connectedComponentsWithStats(clean, connectivity=8)
    labels = np.asarray(found, dtype=np.int32)
    inner = range(1, len(rules) - 1)
    outer = [line for number, line in enumerate(lines) if number not in inner]
    large = (boxes[:, cv2.CC_STAT_AREA] >= STROKE * row * row) & ~_among_dots(
        boxes, np.asarray(centres), clean.shape, row
    )
    large &= ~splinters(labels, boxes[:, cv2.CC_STAT_AREA], frames, outer)
    large[0] = False
    centre = (frame[0] + frame[1]) / 2, (rules[0] + rules[-1]) / 2
    for line in frames:
        restore(clean.T, before.T, labels.T, large, line, 1 if line.middle[0] < centre[0] else -1)
    for number, line in enumerate(lines):
        restore(clean, before, labels, large, line, 0 if number in inner else 1 if line.middle[0] < centre[1] else -1)
    _erase_debris(clean, frames, lines, rules, frame, row)
    _erase_specks(clean, frame, row)
    return clean, _columns(clean, lines[: len(rules)], column)


def _columns(ink: Mask, rules: Sequence[Line], column: float) -> NDArray[np.int16]:
    """For every pixel the number of its column, from 1 at the right; 0 beyond the outermost rules, where the ink is
    erased. The tip of a stroke that reaches over a rule belongs to the column of its glyph."""
    width = ink.shape[1]
    numbers = [0, *range(len(rules) - 1, 0, -1), 0]
    found = np.zeros(ink.shape, np.int16)
    ends = [*(rule.band(width, 0.0)[0] for rule in rules[1:]), width]
    for rule, left, right, end in zip(rules, numbers, numbers[1:], ends, strict=False):
        low, high = rule.band(width, 0.0)
        found[:, low:high] = np.where(np.arange(low, high) < rule.middle[:, None], left, right)
        found[:, high:end] = right
    _, labels, boxes, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    rows = np.arange(len(ink))
    for rule, left, right in zip(rules, numbers, numbers[1:], strict=False):
        at = np.rint(rule.middle).astype(np.intp).clip(0, width - 1)
        for label in np.unique(labels[rows, at])[1:].tolist():
            x, y, w, h, _ = boxes[label]
            place = np.s_[y : y + h, x : x + w]
            ys, xs = np.nonzero(labels[place] == label)
            off = xs + x - rule.middle[ys + y]
            lesser, number = (off < 0, right) if 2 * np.count_nonzero(off < 0) < off.size else (off >= 0, left)
            if lesser.mean() < TIP and np.abs(off[lesser]).max(initial=0.0) < OVER * column:
                found[place][ys[lesser], xs[lesser]] = number
    np.multiply(ink, found != 0, out=ink)
    return found


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
    for places, reach, least in ((rules, near, LEAST), (sides, 2 * near, LEAST_SECOND)):
        for one in follow(ink.T, frame, max(4, round(0.16 * row)), FRAME_PIECE * column, followed=1.0):
            frames.append(_within(one, sides))
            erase(ink.T, frames[-1])
        for one in follow(ink, places, reach, RULE_PIECE * row, least):
            lines.append(_within(one, frame))
            erase(ink, lines[-1])
    return frames, lines


def _within(line: Line, extent: tuple[float, float]) -> Line:
    """The line as far as it runs between two ends."""
    printed = line.printed.copy()
    printed[: max(0, round(extent[0]))] = False
    printed[max(0, round(extent[1])) :] = False
    return replace(line, printed=printed)


def _erase_outside(
    ink: Mask, upright: Mask, level: Mask, rules: Sequence[float], rows: tuple[int, int], near: int
) -> None:
    """Erase (in place) long strokes beyond the outermost rules, and above and below the frame: the outer frame, and its
    notches over what is raised, which run where rules do."""
    left, right = max(0, round(rules[0]) - near), max(0, round(rules[-1]) + near + 1)
    thick = np.ones((3, max(3, near // 2)), np.uint8)
    uprights, levels = (np.asarray(cv2.dilate(one, by)) > 0 for one, by in ((upright, thick), (level, thick.T)))
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
) -> None:
    """Erase (in place) what is left of broken lines: splinters of them, the corners where two met, and what stands
    below the frame."""
    column = (rules[-1] - rules[0]) / (len(rules) - 1)
    _, found, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    labels = np.asarray(found, dtype=np.int32)
    x, y, w, h = (stats[:, i] for i in range(4))
    drop = splinters(labels, stats[:, cv2.CC_STAT_AREA], frames, lines)
    # at the sides the frame is double, and no text comes so near to it
    near = 0.06 * column
    drop |= (x + w <= rules[0] + near) | (x >= rules[-1] - near)
    # pieces of the outer frame; above it stand raised characters, whose strokes are no pieces of it
    middle = (x + w // 2).clip(0, ink.shape[1] - 1)
    within = [line.middle[middle] + line.right for line in frames if line.printed.any()]
    inner = np.max([edge for edge in within if edge.mean() < frame[1] - row], axis=0, initial=frame[0])
    drop |= (y > frame[0] - 0.45 * row) & (y + h <= inner + ROUGH + SLIVER) & (h <= 0.14 * column)
    # what is left of a corner: thin, bent, by a rule and at the frame
    off = np.abs((x + w / 2)[:, None] - np.asarray(rules)[None, :]).min(axis=1)
    thin = stats[:, cv2.CC_STAT_AREA] < 0.23 * w * h
    by_rule = off - w / 2 < 0.08 * column
    at_top = (y < frame[0] + 0.15 * row) & (y + h < frame[0] + 0.8 * row)
    at_bottom = (y + h > frame[1] - 0.1 * row) & (y > frame[1] - 0.8 * row)
    drop |= thin & by_rule & (at_top | at_bottom)
    drop |= (y > frame[1] - 0.12 * row) | ((y > frame[1] - 0.2 * row) & (h <= 0.08 * column))
    drop[0] = False
    _erase(ink, labels, drop)


def _erase_specks(ink: Mask, frame: tuple[float, float], row: float) -> None:
    """Erase (in place) what stands alone and is too little for a character, or lies where the frame does and no cell
    is; the dots of a glyph are near the rest of it."""
    reach = max(3, round(0.2 * row)) | 1
    near = cv2.dilate(ink, np.ones((reach, reach), np.uint8))
    count, labels, boxes, _ = cv2.connectedComponentsWithStats(near)
    groups = np.asarray(labels, dtype=np.int32)
    amount = np.bincount(groups.ravel()[np.flatnonzero(ink > 0)], minlength=count)
    top = boxes[:, cv2.CC_STAT_TOP] + reach // 2
    bottom = boxes[:, cv2.CC_STAT_TOP] + boxes[:, cv2.CC_STAT_HEIGHT] - reach // 2
    above = (bottom < frame[0] + NO_CELL * row) & (top > frame[0] - 0.45 * row)
    _erase(ink, groups, (amount < ALONE * row * row) | above | (top > frame[1] - NO_CELL * row))


def _erase(ink: Mask, labels: NDArray[np.int32], drop: NDArray[np.bool_]) -> None:
    """Erase (in place) the pieces of ink that `drop` says, by their label; most of a page is paper and not asked."""
    inked = np.flatnonzero(ink > 0)
    ink.ravel()[inked[drop[labels.ravel()[inked]]]] = 0
