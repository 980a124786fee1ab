"""Rules and frames as lines: where each runs, how thick it is, and where it is printed.

A line is followed from end to end along the long straight pieces of ink near its expected place, so that it may bend,
lean and be broken.

All lines here are upright; a level line is followed on the transposed page (`numpy.transpose`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.rules import Mask, long_strokes

LONG_PIECE_LENGTHS = 2.0
"""Minimum length of the pieces along which an upright line is followed, in lengths of its shortest piece."""

MIN_LINE_SHARE = 0.06
"""Minimum share of the blocks of a line in which it has such pieces; otherwise there is no line."""

BLOCK_LENGTHS = 0.8
"""Height of a block, in lengths of the shortest piece of a line."""

SWERVE_COST = 0.6
"""Cost of a shift of a line by a pixel from one block to the next, in blocks full of ink."""

ASIDE_COST = 0.02
"""Cost of each pixel of distance from the expected place, in pixels of ink: it decides between paths with equal ink."""

NEAR_PATH_PX = 2
"""Distance on either side of a line's path within which ink shows where the line runs, in pixels."""

SMOOTHING_BLOCKS = 2.5
"""Standard deviation of the smoothing of a line along its blocks."""

WIDER_SHARE = 0.15
"""Share of a line's rows in which its ink reaches further than its `left` and `right`."""

ROUGHNESS_PX = 1.0
"""Distance by which the edge of a line strays from straight, in pixels."""

SPLINTER_PX = 1.0
"""Distance beyond the rough edge of a line within which all ink of a splinter lies, in pixels."""


@dataclass(frozen=True, slots=True)
class Line:
    """An upright line: for each row of pixels its `middle` (x) and whether it is `printed` there; `left` and `right`
    are the distances in pixels from the middle to the edges of its ink."""

    middle: NDArray[np.float64]
    printed: NDArray[np.bool_]
    left: float
    right: float

    def band(self, width: int, beyond: float) -> tuple[int, int]:
        """The range of x (end exclusive) with all pixels of the line and those at most `beyond` pixels from it, on a
        page of this `width`; empty if the line runs outside the page."""
        low = int(np.floor(self.middle.min() - self.left - beyond))
        high = int(np.ceil(self.middle.max() + self.right + beyond)) + 1
        return min(max(low, 0), width), min(max(high, 0), width)

    def mask(self, low: int, high: int, beyond: float) -> NDArray[np.bool_]:
        """Which of the pixels from x `low` to `high`, row by row, are the line's or at most `beyond` pixels from it."""
        offset = np.arange(low, high)[None, :] - self.middle[:, None]
        return np.asarray((offset >= -self.left - beyond) & (offset <= self.right + beyond), dtype=np.bool_)

    def within(self, first: float, last: float) -> Line:
        """The line, printed only between two y."""
        printed = self.printed.copy()
        printed[: max(0, round(first))] = False
        printed[max(0, round(last)) :] = False
        return replace(self, printed=printed)


def follow(
    ink: Mask,
    places: Sequence[float],
    reach: int,
    piece_length: float,
    length_factor: float = LONG_PIECE_LENGTHS,
) -> list[Line]:
    """The lines near the x of `places`, at most `reach` pixels away.

    `piece_length` is the length of the shortest piece of a line, in pixels; a line is followed along pieces
    `length_factor` times as long. A line that has these in less than `MIN_LINE_SHARE` of its blocks is printed
    nowhere.
    """
    height, width = ink.shape
    block_height = max(4, round(BLOCK_LENGTHS * piece_length))
    blocks = -(-height // block_height)
    span = 2 * reach + 1
    # the strips around all places side by side: upright pieces are found in each column of pixels separately
    strips = np.zeros((blocks * block_height, len(places), span), np.uint8)
    for number, place in enumerate(places):
        first = round(place) - reach
        low, high = max(0, first), min(width, first + span)
        if low < high:
            strips[:height, number, low - first : high - first] = ink[:, low:high]

    def pieces_of(length: int) -> NDArray[np.bool_]:
        return long_strokes(strips.reshape(len(strips), -1), length, True).reshape(strips.shape) > 127

    long_pieces = pieces_of(round(length_factor * piece_length)).reshape(blocks, block_height, len(places), span)
    long_ink = np.ascontiguousarray(long_pieces.sum(axis=1, dtype=np.float64).transpose(1, 0, 2))
    pieces, is_ink = pieces_of(round(piece_length))[:height], strips[:height] > 127
    paths = _paths(long_ink, SWERVE_COST * block_height)
    lines = []
    for number, place in enumerate(places):
        strip = _LineStrip(round(place) - reach, block_height, is_ink[:, number], pieces[:, number], long_ink[number])
        lines.append(strip.line_along(paths[number]))
    return lines


def _paths(long_ink: NDArray[np.float64], swerve_cost: float) -> NDArray[np.intp]:
    """For each line the path with the most ink, as its x in each block (lines x blocks), by dynamic programming. A path
    moves by at most one pixel from block to block, at the cost `swerve_cost`. `long_ink` is the ink of long pieces
    (lines x blocks x span)."""
    lines, blocks, span = long_ink.shape
    gain = long_ink.copy()
    gain[:, :, 1:] += long_ink[:, :, :-1]
    gain[:, :, :-1] += long_ink[:, :, 1:]
    gain -= ASIDE_COST * np.abs(np.arange(span) - span // 2)
    total = gain[:, 0].copy()
    moves = np.zeros((blocks, lines, span), np.int8)
    padded = np.full((lines, span + 2), -np.inf)
    for block in range(1, blocks):
        padded[:, 1:-1] = total
        choices = np.stack([padded[:, :-2] - swerve_cost, padded[:, 1:-1], padded[:, 2:] - swerve_cost])
        moves[block] = choices.argmax(axis=0) - 1
        total = choices.max(axis=0) + gain[:, block]
    paths = np.zeros((lines, blocks), np.intp)
    paths[:, -1] = total.argmax(axis=1)
    line_numbers = np.arange(lines)
    for block in range(blocks - 1, 0, -1):
        paths[:, block - 1] = paths[:, block] + moves[block, line_numbers, paths[:, block]]
    return paths


@dataclass(frozen=True, slots=True)
class _LineStrip:
    """The strip of a page in which a line is sought, from the x `left` on: masks of its `ink` and of short `pieces` of
    lines (height x span), and the ink of long pieces (`long_ink`, blocks x span) in blocks of `block_height` rows."""

    left: int
    block_height: int
    ink: NDArray[np.bool_]
    pieces: NDArray[np.bool_]
    long_ink: NDArray[np.float64]

    def line_along(self, path: NDArray[np.intp]) -> Line:
        """The line along a path through the blocks, smoothed, as thick as its ink usually is."""
        height, span = self.ink.shape
        near_path = np.abs(np.arange(span)[None, :] - path[:, None]) <= NEAR_PATH_PX
        line_ink = self.long_ink * near_path
        weight = line_ink.sum(axis=1)
        x = (line_ink * np.arange(span)).sum(axis=1) / np.maximum(weight, 1e-9)
        x = np.where(weight > 0, x, path)
        middle = self._smoothed(x, weight)
        nearest = np.rint(middle).astype(np.intp).clip(1, span - 2)
        rows = np.arange(height)
        printed = self.pieces[rows, nearest - 1] | self.pieces[rows, nearest] | self.pieces[rows, nearest + 1]
        if np.count_nonzero(line_ink.any(axis=1)) < MIN_LINE_SHARE * len(line_ink):
            printed[:] = False
        left, right = _sides(self.ink, nearest, printed)
        return Line(self.left + middle, printed, left, right)

    def _smoothed(self, x: NDArray[np.float64], ink: NDArray[np.float64]) -> NDArray[np.float64]:
        """The smoothed x of a line in each row of pixels, from its `x` in each block and its `ink` there."""
        # a block without ink weighs little, but not nothing: it may have only such blocks beside it
        weight = (np.minimum(ink, 2.0 * self.block_height) + 0.02)[None, :].astype(np.float32)
        blurred = cv2.GaussianBlur(weight * x[None, :].astype(np.float32), (0, 0), SMOOTHING_BLOCKS)
        smooth = (blurred / cv2.GaussianBlur(weight, (0, 0), SMOOTHING_BLOCKS))[0]
        middles = (np.arange(len(smooth)) + 0.5) * self.block_height
        return np.asarray(np.interp(np.arange(len(self.ink)), middles, smooth), np.float64)


def _sides(ink: NDArray[np.bool_], nearest: NDArray[np.intp], printed: NDArray[np.bool_]) -> tuple[float, float]:
    """The distances to which a line's ink reaches from its middle (`nearest`, in whole pixels) without a gap, to the
    left and to the right, in all but `WIDER_SHARE` of its rows, and not much further than in most rows: strokes that
    meet the line reach further."""
    rows = np.flatnonzero(printed)
    if not rows.size:
        return 0.5, 0.5
    span = ink.shape[1]

    def distance(step: int) -> float:
        x = nearest[rows, None] + step * np.arange(1, span)
        is_ink = ink[rows[:, None], x.clip(0, span - 1)] & (x >= 0) & (x < span)
        reach = np.sort(np.logical_and.accumulate(is_ink, axis=1).sum(axis=1))
        upper = float(reach[int((len(reach) - 1) * (1 - WIDER_SHARE))])
        return min(upper, median_of_sorted(reach) + ROUGHNESS_PX) + 0.5

    return distance(-1), distance(1)


def median_of_sorted(numbers: NDArray[Any]) -> float:
    """The median of ascending numbers; `numpy.median` takes ten times as long for as few as a line has."""
    middle = len(numbers) // 2
    return float(numbers[middle] + numbers[middle - 1 + len(numbers) % 2]) / 2


def erase(ink: Mask, line: Line) -> None:
    """Erase (in place) a line where it is printed."""
    low, high = line.band(ink.shape[1], ROUGHNESS_PX)
    ink[:, low:high][line.mask(low, high, ROUGHNESS_PX) & line.printed[:, None]] = 0


def splinters(
    labels: NDArray[np.int32], areas: NDArray[Any], level_lines: Sequence[Line], upright_lines: Sequence[Line]
) -> NDArray[np.bool_]:
    """Which pieces of ink lie on lines or at their edges with all their pixels. `labels` are the numbers of the pieces
    (0 for the paper), `areas` their areas in pixels."""
    at_lines = np.zeros(labels.shape, np.bool_)
    for mask, lines in ((at_lines, upright_lines), (np.transpose(at_lines), level_lines)):
        for line in lines:
            if line.printed.any():
                low, high = line.band(mask.shape[1], ROUGHNESS_PX + SPLINTER_PX)
                mask[:, low:high] |= line.mask(low, high, ROUGHNESS_PX + SPLINTER_PX)
    areas_at_lines = np.bincount(labels[at_lines], minlength=len(areas))
    is_splinter = (areas_at_lines > 0) & (areas_at_lines == areas)
    is_splinter[0] = False
    return np.asarray(is_splinter, dtype=np.bool_)
