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
"""Minimum length of the pieces along which a line is followed, in lengths of its shortest piece."""

MIN_LINE_SHARE = 0.06
"""Minimum share of the blocks of a line in which it has such pieces; otherwise there is no line."""

MIN_SECOND_UPRIGHT_SHARE = 0.2
"""The same for a second upright line of the frame."""

BLOCK_LENGTHS = 0.8
"""Height of a block, in lengths of the shortest piece of a line."""

SWERVE_COST = 0.6
"""Cost of a line's moving aside by a pixel from one block to the next, in blocks full of ink."""

ASIDE_COST = 0.02
"""Cost of a pixel of distance from the expected place, in pixels of ink: it decides between paths with equal ink."""

NEAR_PATH_PX = 2
"""Distance on either side of a line's path within which ink tells where the line runs, in pixels."""

SMOOTHING_BLOCKS = 2.5
"""Standard deviation of the smoothing of a line along its blocks."""

WIDER_SHARE = 0.15
"""Share of a line's rows in which its ink reaches further than its `left` and `right`."""

ROUGHNESS_PX = 1.0
"""Distance by which the edge of a line strays from straight, in pixels."""

SPLINTER_PX = 1.0
"""Distance from such an edge within which all of a piece of ink lies that is a splinter of the line, in pixels."""


@dataclass(frozen=True, slots=True)
class Line:
    """An upright line: for each row of pixels its `middle` (x) and whether it is `printed` there; `left` and `right`
    are the distances in pixels from the middle to the edges of its ink."""

    middle: NDArray[np.float64]
    printed: NDArray[np.bool_]
    left: float
    right: float

    def band(self, width: int, beyond: float) -> tuple[int, int]:
        """The range of x, from and to (exclusive), in which a page of this `width` has pixels of the line or at most
        `beyond` pixels from it; empty if the line runs outside the page."""
        low = int(np.floor(self.middle.min() - self.left - beyond))
        high = int(np.ceil(self.middle.max() + self.right + beyond)) + 1
        return min(max(low, 0), width), min(max(high, 0), width)

    def mask(self, low: int, high: int, beyond: float) -> NDArray[np.bool_]:
        """Which of the pixels from x `low` to `high`, row by row, are the line's or at most `beyond` pixels from it."""
        off = np.arange(low, high)[None, :] - self.middle[:, None]
        return np.asarray((off >= -self.left - beyond) & (off <= self.right + beyond), dtype=np.bool_)

    def within(self, extent: tuple[float, float]) -> Line:
        """The line, printed only between two y."""
        printed = self.printed.copy()
        printed[: max(0, round(extent[0]))] = False
        printed[max(0, round(extent[1])) :] = False
        return replace(self, printed=printed)


def follow(
    ink: Mask,
    places: Sequence[float],
    reach: int,
    piece: float,
    least: float = MIN_LINE_SHARE,
    followed: float = LONG_PIECE_LENGTHS,
) -> list[Line]:
    """The lines near the x of `places`, at most `reach` pixels away. `piece` is the length of the shortest piece of a
    line, in pixels; the line is followed along pieces `followed` times as long. A line that has these in less than
    `least` of its blocks is printed nowhere."""
    height, width = ink.shape
    size = max(4, round(BLOCK_LENGTHS * piece))
    blocks = -(-height // size)
    span = 2 * reach + 1
    # the strips around all places side by side: upright pieces are found in each column of pixels separately
    inked = np.zeros((blocks * size, len(places), span), np.uint8)
    for number, place in enumerate(places):
        first = round(place) - reach
        low, high = max(0, first), min(width, first + span)
        if low < high:
            inked[:height, number, low - first : high - first] = ink[:, low:high]

    def pieces(length: int) -> NDArray[np.bool_]:
        return long_strokes(inked.reshape(len(inked), -1), length, True).reshape(inked.shape) > 127

    long = pieces(round(followed * piece)).reshape(blocks, size, len(places), span)
    mass = np.ascontiguousarray(long.sum(axis=1, dtype=np.float64).transpose(1, 0, 2))
    short, is_ink = pieces(round(piece))[:height], inked[:height] > 127
    lines = []
    for number, (path, place) in enumerate(zip(_paths(mass, SWERVE_COST * size), places, strict=True)):
        first = round(place) - reach
        lines.append(_line(short[:, number], is_ink[:, number], mass[number], path, first, size, least))
    return lines


def _paths(mass: NDArray[np.float64], swerve: float) -> NDArray[np.intp]:
    """For each line the path with the most ink, as its x in each block (n x blocks), by dynamic programming. A path
    moves by at most one pixel from block to block, at the cost `swerve`. `mass` is the ink of long pieces (n x blocks x
    span)."""
    lines, blocks, span = mass.shape
    aside = np.abs(np.arange(span) - span // 2)
    wide = mass.copy()
    wide[:, :, 1:] += mass[:, :, :-1]
    wide[:, :, :-1] += mass[:, :, 1:]
    wide -= ASIDE_COST * aside
    total = wide[:, 0].copy()
    came = np.zeros((blocks, lines, span), np.int8)
    padded = np.full((lines, span + 2), -np.inf)
    for block in range(1, blocks):
        padded[:, 1:-1] = total
        steps = np.stack([padded[:, :-2] - swerve, padded[:, 1:-1], padded[:, 2:] - swerve])
        came[block] = steps.argmax(axis=0) - 1
        total = steps.max(axis=0) + wide[:, block]
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
    """The line along a path through blocks of `size` rows, smoothed, as thick as its ink usually is. `pieces` are the
    pixels of short pieces, `mass` is the ink of long ones by block; all are of the strip whose first x is `first`."""
    height, span = ink.shape
    near_path = np.abs(np.arange(span)[None, :] - path[:, None]) <= NEAR_PATH_PX
    mass = mass * near_path
    weight = mass.sum(axis=1)
    place = (mass * np.arange(span)).sum(axis=1) / np.maximum(weight, 1e-9)
    place = np.where(weight > 0, place, path)
    # a block without ink weighs little, but not nothing: it may have only such blocks beside it
    weight = (np.minimum(weight, 2.0 * size) + 0.02)[None, :].astype(np.float32)
    blurred = cv2.GaussianBlur(weight * place[None, :].astype(np.float32), (0, 0), SMOOTHING_BLOCKS)
    smooth = (blurred / cv2.GaussianBlur(weight, (0, 0), SMOOTHING_BLOCKS))[0]
    middle = np.interp(np.arange(height), (np.arange(len(smooth)) + 0.5) * size, smooth)
    nearest = np.rint(middle).astype(np.intp).clip(1, span - 2)
    rows = np.arange(height)
    printed = pieces[rows, nearest - 1] | pieces[rows, nearest] | pieces[rows, nearest + 1]
    if np.count_nonzero(mass.any(axis=1)) < least * len(mass):
        printed[:] = False
    left, right = _sides(ink, nearest, printed)
    return Line(first + middle, printed, left, right)


def _sides(ink: NDArray[np.bool_], nearest: NDArray[np.intp], printed: NDArray[np.bool_]) -> tuple[float, float]:
    """The distances to which a line's ink reaches from its middle without a gap, to the left and to the right, in all
    but `WIDER_SHARE` of its rows, and not much further than in most rows: strokes that meet the line reach further."""
    rows = np.flatnonzero(printed)
    if not rows.size:
        return 0.5, 0.5
    span = ink.shape[1]
    sides = []
    for step in (-1, 1):
        places = nearest[rows, None] + step * np.arange(1, span)
        is_ink = ink[rows[:, None], places.clip(0, span - 1)] & (places >= 0) & (places < span)
        reach = np.sort(np.logical_and.accumulate(is_ink, axis=1).sum(axis=1))
        upper = float(reach[int((len(reach) - 1) * (1 - WIDER_SHARE))])
        sides.append(min(upper, median_of_sorted(reach) + ROUGHNESS_PX) + 0.5)
    return sides[0], sides[1]


def median_of_sorted(numbers: NDArray[Any]) -> float:
    """The median of ascending numbers; `numpy.median` takes ten times as long for as few as a line has."""
    middle = len(numbers) // 2
    return float(numbers[middle] + numbers[middle - 1 + len(numbers) % 2]) / 2


def erase(ink: Mask, line: Line) -> None:
    """Erase (in place) a line where it is printed."""
    low, high = line.band(ink.shape[1], ROUGHNESS_PX)
    ink[:, low:high][line.mask(low, high, ROUGHNESS_PX) & line.printed[:, None]] = 0


def splinters(
    labels: NDArray[np.int32], areas: NDArray[Any], frames: Sequence[Line], lines: Sequence[Line]
) -> NDArray[np.bool_]:
    """Which pieces of ink lie on lines or at their edges with all their pixels. `labels` are the numbers of the pieces,
    with 0 for the paper, `areas` their pixels; `frames` are level lines, `lines` upright ones."""
    near = np.zeros(labels.shape, np.bool_)
    for page, page_lines in ((near, lines), (np.transpose(near), frames)):
        for line in page_lines:
            if line.printed.any():
                low, high = line.band(page.shape[1], ROUGHNESS_PX + SPLINTER_PX)
                page[:, low:high] |= line.mask(low, high, ROUGHNESS_PX + SPLINTER_PX)
    inside = np.bincount(labels[near], minlength=len(areas))
    enclosed = (inside > 0) & (inside == areas)
    enclosed[0] = False
    return np.asarray(enclosed, dtype=np.bool_)
