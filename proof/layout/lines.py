"""Rules and frames as lines: where each runs, how thick it is, where it is printed.

A line is followed from end to end along the long straight pieces of ink near where it is expected, so that it may bend,
lean and be broken.

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

MIN_LINE_SHARE = 0.06
"""Of a line's length: a line of which less is printed in such pieces is none."""

MIN_SECOND_UPRIGHT_SHARE = 0.2
"""The same of a second upright of the frame."""

SWERVE = 0.6
"""What it costs that a line moves aside by a pixel from one block to the next, in blocks full of ink."""

SMOOTH = 2.5
"""Blocks: the standard deviation of the weights by which neighbouring blocks tell where a line runs."""

EDGE = 0.15
"""A line reaches further than it is said to in such a share of its rows."""

ROUGH = 1.0
"""Pixels: how far the edge of a line strays from straight."""

SLIVER = 1.0
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
        """From which x to which (exclusive) a page of this width has pixels of the line, or `beyond` it; from and to
        the same edge of the page where the line runs outside it."""
        low = int(np.floor(self.middle.min() - self.left - beyond))
        high = int(np.ceil(self.middle.max() + self.right + beyond)) + 1
        return min(max(low, 0), width), min(max(high, 0), width)

    def own(self, low: int, high: int, beyond: float) -> NDArray[np.bool_]:
        """Which of the pixels from x `low` to `high`, row by row, are the line's, or `beyond` it."""
        off = np.arange(low, high)[None, :] - self.middle[:, None]
        return np.asarray((off >= -self.left - beyond) & (off <= self.right + beyond), dtype=np.bool_)

    def within(self, extent: tuple[float, float]) -> Line:
        """The line as far as it runs between two ends."""
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
    followed: float = FOLLOWED,
) -> list[Line]:
    """The lines near the x of `places`, at most `reach` pixels away; `piece` is the length of the shortest piece of
    one, in pixels, `least` the share of its length that is printed in pieces `followed` times as long: of any other
    line nothing is printed."""
    height, width = ink.shape
    size = max(4, round(0.8 * piece))
    blocks = -(-height // size)
    span = 2 * reach + 1
    # all places beside each other: what is upright is looked for in every column of pixels by itself
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
    short, own = pieces(round(piece))[:height], inked[:height] > 127
    lines = []
    for number, (path, place) in enumerate(zip(_paths(mass, SWERVE * size), places, strict=True)):
        first = round(place) - reach
        lines.append(_line(short[:, number], own[:, number], mass[number], path, first, size, least))
    return lines


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
    """How far a line's ink reaches to the left and to the right of its middle, without a gap, in all but a few rows;
    strokes that meet it reach further."""
    rows = np.flatnonzero(printed)
    if not rows.size:
        return 0.5, 0.5
    span = ink.shape[1]
    sides = []
    for step in (-1, 1):
        places = nearest[rows, None] + step * np.arange(1, span)
        there = ink[rows[:, None], places.clip(0, span - 1)] & (places >= 0) & (places < span)
        reach = np.sort(np.logical_and.accumulate(there, axis=1).sum(axis=1))
        most = float(reach[int((len(reach) - 1) * (1 - EDGE))])
        sides.append(min(most, median_of_sorted(reach) + ROUGH) + 0.5)
    return sides[0], sides[1]


def median_of_sorted(numbers: NDArray[Any]) -> float:
    """The median of numbers that ascend; NumPy's own takes ten times the time for as few as a line has."""
    middle = len(numbers) // 2
    return float(numbers[middle] + numbers[middle - 1 + len(numbers) % 2]) / 2


def erase(ink: Mask, line: Line) -> None:
    """Erase (in place) a line where it is printed."""
    low, high = line.band(ink.shape[1], ROUGH)
    ink[:, low:high][line.own(low, high, ROUGH) & line.printed[:, None]] = 0


def splinters(
    labels: NDArray[np.int32], areas: NDArray[Any], frames: Sequence[Line], lines: Sequence[Line]
) -> NDArray[np.bool_]:
    """Which of the pieces of ink (labelled, 0 the paper; of so many pixels each) lie on lines or at their edges, all of
    them."""
    near = np.zeros(labels.shape, np.bool_)
    for page, page_lines in ((near, lines), (np.transpose(near), frames)):
        for line in page_lines:
            if line.printed.any():
                low, high = line.band(page.shape[1], ROUGH + SLIVER)
                page[:, low:high] |= line.own(low, high, ROUGH + SLIVER)
    inside = np.bincount(labels[near], minlength=len(areas))
    enclosed = (inside > 0) & (inside == areas)
    enclosed[0] = False
    return np.asarray(enclosed, dtype=np.bool_)
