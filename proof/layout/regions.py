"""Leaves and registers: the parts of a page that hold columns of one height, from right to left and top to bottom."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.gaps import EMPTY, glyph_width, pitch_of
from proof.layout.rules import Mask, inked_along, thickened
from proof.layout.sheet import Sheet

SOLID = 17
"""Pixels at the working size: ink as broad as this in both directions is no stroke of text."""

ACROSS = 0.45
"""Of a leaf's width: a level line that runs so far parts registers."""

NEAR = 0.02
"""Of the page's height: lines closer than this are one, a double frame."""

SHARE = 0.04
"""Of a leaf's text: a band with less is no register."""

OUTSIDE = 0.3
"""The same for what lies above the first level line and below the last: headings and page numbers are no text."""

LOW = 0.08
"""Of the page's height: a lower band is no register."""

OPENING = 0.8
"""Width of the text against its height from which a page can be an opening."""

GUTTER = 1.1
"""Pitches: a band without text as wide as this parts an opening."""

MAX_FRAMES_APART = 2.6
"""Pitches: the frames of two leaves stand no further apart."""

LINE_MARGIN_PX = 3
"""Pixels beside a line that may be its own."""

MIN_SIDE_SHARE = 0.5
"""Of its height: the side of a frame runs so far at least."""

MAX_ACROSS_SHARE = 0.3
"""Of the gap between two frames: level lines that end at these cross less."""


@dataclass(frozen=True, slots=True)
class Region:
    """A register of a leaf in pixels of the sheet. `lined`: whether a level line bounds it above and below."""

    leaf: int
    left: int
    top: int
    right: int
    bottom: int
    lined: tuple[bool, bool]


def solid_ink(ink: Mask) -> Mask:
    """The ink that is broader than any stroke: edges of the book, fish tails."""
    return np.asarray(cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((SOLID, SOLID), np.uint8)), dtype=np.uint8)


def text_ink(sheet: Sheet) -> Mask:
    """The ink of a sheet without what may be rules, frames, edges of the book: text, and not all of it."""
    drop = cv2.dilate(solid_ink(sheet.ink), np.ones((7, 7), np.uint8))
    drop = cv2.bitwise_or(drop, cv2.dilate(sheet.upright, np.ones((1, 3), np.uint8)))
    drop = cv2.bitwise_or(drop, cv2.dilate(sheet.level, np.ones((3, 1), np.uint8)))
    return np.asarray(np.where(drop > 0, 0, sheet.ink), dtype=np.uint8)


def regions_of(sheet: Sheet, text: Mask) -> list[Region]:
    """The registers of a sheet in reading order."""
    regions = []
    for number, (left, right) in enumerate(_leaves(sheet, text)):
        regions += _registers(sheet, text, number, left, right)
    return regions


def _leaves(sheet: Sheet, text: Mask) -> list[tuple[int, int]]:
    """From where to where the leaves reach, right to left: two of an opening with a gutter, else one."""
    across, down = inked_along(text, 0) / sheet.height, inked_along(text, 1) / sheet.width
    xs, ys = np.flatnonzero(across > EMPTY), np.flatnonzero(down > EMPTY)
    whole = [(0, sheet.width)]
    if xs.size < 2 or ys.size < 2:
        return whole
    left, wide, high = int(xs[0]), int(xs[-1] - xs[0]), int(ys[-1] - ys[0])
    if wide < OPENING * high:
        return whole
    pitch = pitch_of(across, glyph_width(text))
    if pitch is None:
        return whole
    low, end = left + round(0.3 * wide), left + round(0.7 * wide)
    bands = [(low + a, low + b) for a, b in runs(across[low:end] < 0.5 * EMPTY)]
    start, stop = max(bands, key=lambda band: band[1] - band[0], default=(0, 0))
    if stop - start < GUTTER * pitch or _crossed(sheet, start, stop):
        start, stop = _between_frames(sheet, (left, left + wide), (low, end), pitch) or (0, 0)
    if not stop:
        return whole
    middle = (start + stop) // 2
    return [(middle, sheet.width), (0, middle)]


def _between_frames(
    sheet: Sheet, block: tuple[int, int], within: tuple[int, int], pitch: float
) -> tuple[int, int] | None:
    """From where to where the gap between two frames reaches that stand side by side in a block of text, somewhere
    `within` it; None where there is none. It lies between two upright lines that run far, and level lines run up to it
    from either side and not across: there may be an ornament in it, and less room than in a gutter without frames."""
    ys = np.flatnonzero(inked_along(sheet.upright, 1))
    if not ys.size:
        return None
    share = inked_along(thickened(sheet.upright[ys[0] : ys[-1] + 1, within[0] : within[1]], 5, 1), 0)
    sides = [(within[0] + a, within[0] + b) for a, b in runs(share > MIN_SIDE_SHARE * (ys[-1] - ys[0]))]
    level = thickened(sheet.level, 1, 9)
    for (_, start), (stop, _) in pairwise(sides):
        if not 2 * LINE_MARGIN_PX < stop - start < MAX_FRAMES_APART * pitch:
            continue
        before, across, after = (
            inked_along(level[:, a:b], 1) / max(b - a, 1)
            for a, b in (
                (block[0], start - LINE_MARGIN_PX),
                (start + LINE_MARGIN_PX, stop - LINE_MARGIN_PX),
                (stop + LINE_MARGIN_PX, block[1]),
            )
        )
        lines = (before > ACROSS) & (after > ACROSS)
        if lines.any() and float(across[lines].mean()) < MAX_ACROSS_SHARE:
            return start, stop
    return None


def _crossed(sheet: Sheet, left: int, right: int) -> bool:
    """Whether a level line runs on through a band: then it is a gap of one leaf."""
    inner = thickened(sheet.level[:, left:right], 1, 5)
    return bool((inked_along(inner, 1) > 0.9 * (right - left)).sum() > 3)


def _registers(sheet: Sheet, text: Mask, number: int, left: int, right: int) -> list[Region]:
    part = text[:, left:right]
    xs = np.flatnonzero(inked_along(part, 0) / sheet.height > EMPTY)
    mass = inked_along(part, 1)
    if xs.size < 2 or not mass.any():
        return []
    a, b = left + int(xs[0]), left + int(xs[-1]) + 1
    thick = thickened(sheet.level[:, a:b], 1, 9)
    drawn = inked_along(thick, 1) / (b - a) > ACROSS
    lines: list[tuple[int, int]] = []
    for start, end in runs(drawn):
        if lines and start - lines[-1][1] < NEAR * sheet.height:
            lines[-1] = (lines[-1][0], end)
        else:
            lines.append((start, end))
    edges = [(0, 0), *lines, (sheet.height, sheet.height)]
    registers = []
    for i, (above, below) in enumerate(pairwise(edges)):
        top, bottom = above[1], below[0]
        if bottom - top < LOW * sheet.height:
            continue
        line = below if i == 0 else above if i == len(edges) - 2 else None
        outside = bool(lines) and line is not None and not _goes_on(sheet, line, (left, right), (top, bottom))
        share = float(mass[top:bottom].sum()) / float(mass.sum())
        if share > (OUTSIDE if outside else SHARE):
            registers.append(Region(number, left, top, right, bottom, (i > 0, i < len(edges) - 2)))
    return registers


def _goes_on(sheet: Sheet, line: tuple[int, int], across: tuple[int, int], rows: tuple[int, int]) -> bool:
    """Whether both sides of a frame run on through the `rows` beyond a level `line` (rows of pixels, too), from end to
    end of these: a register that the image cuts off. `across` is from where to where the leaf reaches."""
    ends = np.flatnonzero(inked_along(sheet.level[line[0] : line[1], across[0] : across[1]], 0))
    if not ends.size:
        return False
    reach = round(NEAR * sheet.height)
    beside = (across[0] + int(end) for end in (ends[0], ends[-1]))
    sides = [sheet.upright[rows[0] : rows[1], max(0, x - reach) : x + reach] for x in beside]
    return all(float(inked_along(side, 1).astype(bool).mean()) > MIN_SIDE_SHARE for side in sides)


def runs(holds: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """From where to where (exclusive) `found` holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]).astype(np.int8)))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]
