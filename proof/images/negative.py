"""Light characters on dark ground: whole pages (microfilm), or blocks on a page (titles, names, rubbings)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.images.size import shrunk

Grey = NDArray[np.uint8]
Mask = NDArray[np.uint8]

WORKING_HEIGHT_PX = 1400
"""Height, in pixels, to which a page is scaled to find blocks."""

GRID_PX = 4
"""Side of a cell of the grid on which the share of dark pixels is measured."""

WINDOW_SIDES = (3, 7, 15)
"""Sides of the squares in which a block is mostly dark, in units of `GRID_PX`, for small to large characters."""

MAX_DARK_TONE_SHARE = 0.5
"""Share of the paper's tone below which something is ink, or the ground of a block."""

MIN_DARK_SHARE = 0.6
"""Share of such a square that must be dark: dark characters on paper cover less, the ground of light ones more."""

LIGHT_SHARE_RANGE = (0.02, 0.45)
"""Share of a block, least and most, that its light characters cover."""

BOXED_LIGHT_SHARE_RANGE = (0.02, 0.4)
"""The same for a block that could be a character in a frame (國)."""

MIN_BOX_SHARE = 0.88
"""Share of its bounding box that the outline of a block must fill."""

MIN_SIDE_PX = 18
"""Least side of a block."""

MIN_DARK_CHARACTERS = 1.2
"""Width, in sizes of a character, above which something dark throughout is a block; dense characters are narrower."""

MAX_FRAME_CHARACTERS = 3.0
"""Width, in sizes of a character, of a frame about single characters or a column, at most."""

SIZE_QUANTILE = 0.8
"""Quantile of the sizes of pieces of ink that is taken for the size of a character with all strokes joined."""

MAX_CHARACTER_SHARE = 0.1
"""Greatest height of a character, as a share of the height of the page."""

EDGE_PX = 2
"""Width, in pixels, of the edge of a block, which must be ground."""

MIN_DARK_EDGE_SHARE = 0.85
"""Share of the edge that must be dark."""

MAX_RULE_PX = 7
"""Width up to which something dark is a rule or a frame beside a block, and no part of it."""


def is_negative(page: Grey) -> bool:
    """Whether the characters of a whole page are light on dark.

    Ink covers less than half of a page, so the median of its central part is the ground, and the characters are the
    long tail on the other side. Black borders are ignored, and poor light is not mistaken for a negative."""
    height, width = page.shape
    middle = page[height // 5 : height - height // 5 : 7, width // 5 : width - width // 5 : 7]
    low, ground, high = np.percentile(middle, (2, 50, 98))
    return bool(ground < 128 and high - ground > 60 and high - ground > 2 * (ground - low))


def turned_over(page: Grey, measured: Grey | None = None) -> Grey:
    """A page (height x width) with its blocks of light characters inverted; the same page if it has none. Blocks are
    searched on `measured`, the page at a smaller size, where it is given."""
    small, _ = shrunk(page if measured is None else measured, WORKING_HEIGHT_PX)
    paper = max(float(np.percentile(small, 75)), 1.0)
    blocks = _blocks((small < MAX_DARK_TONE_SHARE * paper).astype(np.uint8))
    if not blocks.any():
        return page
    height, width = page.shape
    square = np.ones((2 * EDGE_PX + 1, 2 * EDGE_PX + 1), np.uint8)
    masks = cv2.erode(blocks, square), cv2.dilate(blocks, square)
    inside, reach = (cv2.resize(mask, (width, height), interpolation=cv2.INTER_NEAREST) > 0 for mask in masks)
    ground, light = (float(value) for value in np.percentile(page[inside], (30, 99)))
    other = paper * (1.0 - (page[inside].astype(np.float32) - ground) / max(light - ground, 1.0))
    turned = page.copy()
    turned[reach] = round(paper)
    turned[inside] = np.clip(other, 0.0, paper).astype(np.uint8)
    return turned


def _blocks(dark: Mask) -> Mask:
    """The mask (1) of blocks of light characters within the dark part of a page: large ones are recognised by being
    dark throughout, those of one or a few characters by their outline."""
    blocks = np.zeros_like(dark)
    height, width = dark.shape
    usual = max(float(MIN_SIDE_PX), _usual_size(dark))
    covered = cv2.resize(255 * dark, (-(-width // GRID_PX), -(-height // GRID_PX)), interpolation=cv2.INTER_AREA)
    for window in WINDOW_SIDES:
        even = (cv2.blur(covered, (window, window)) > 255 * MIN_DARK_SHARE).astype(np.uint8)
        core = cv2.morphologyEx(even, cv2.MORPH_OPEN, np.ones((2 * window - 1, 2 * window - 1), np.uint8))
        if not core.any():
            continue
        across = window * GRID_PX
        core = cv2.resize(cv2.erode(core, np.ones((3, 3), np.uint8)), (width, height), interpolation=cv2.INTER_NEAREST)
        near = cv2.dilate(core, np.ones((2 * across + 1, 2 * across + 1), np.uint8))
        thick = cv2.morphologyEx(dark, cv2.MORPH_OPEN, np.ones((MAX_RULE_PX, MAX_RULE_PX), np.uint8))
        whole = cv2.bitwise_or(core, cv2.bitwise_and(thick, near))
        whole = cv2.morphologyEx(whole, cv2.MORPH_OPEN, np.ones((across // 2 | 1, across // 2 | 1), np.uint8))
        for outline in _outlines(np.asarray(whole, dtype=np.uint8)):
            _add_if_block(blocks, dark, outline, round(MIN_DARK_CHARACTERS * usual), LIGHT_SHARE_RANGE)
    for across, down in ((1, 1), (MAX_RULE_PX, 1), (1, MAX_RULE_PX)):
        plain = cv2.morphologyEx(dark, cv2.MORPH_OPEN, np.ones((down, across), np.uint8))
        for outline in _outlines(np.asarray(plain, dtype=np.uint8)):
            if _is_box(outline, usual):
                _add_if_block(blocks, dark, outline, MIN_SIDE_PX, BOXED_LIGHT_SHARE_RANGE)
    return blocks


def _outlines(dark: Mask) -> Iterator[NDArray[np.int32]]:
    """The outer outline of every dark piece, also of those within a frame."""
    outlines, nested = cv2.findContours(dark, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    for number, outline in enumerate(outlines):
        if nested[0, number, 3] < 0:
            yield np.asarray(outline, dtype=np.int32)


def _usual_size(dark: Mask) -> float:
    """The size of the larger pieces of ink, which are characters with all strokes joined."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(dark, connectivity=8)
    width, height = stats[1:, cv2.CC_STAT_WIDTH], stats[1:, cv2.CC_STAT_HEIGHT]
    sizes = np.maximum(width, height)[
        (np.minimum(width, height) > MAX_RULE_PX) & (height < MAX_CHARACTER_SHARE * dark.shape[0])
    ]
    return float(np.quantile(sizes, SIZE_QUANTILE)) if sizes.size else 0.0


def _is_box(outline: NDArray[np.int32], usual: float) -> bool:
    """Whether an outline is a box about characters of the usual size, a column or a few of them wide."""
    if min(cv2.boundingRect(outline)[2:]) < usual:
        return False
    across, down = cv2.minAreaRect(outline)[1]
    return min(across, down) < MAX_FRAME_CHARACTERS * usual and cv2.contourArea(outline) > MIN_BOX_SHARE * across * down


def _add_if_block(
    blocks: Mask, dark: Mask, outline: NDArray[np.int32], least: int, shares: tuple[float, float]
) -> None:
    """Add the area of an outline to `blocks` if both its sides are at least `least` pixels, its edge is dark, and light
    characters cover a share of it between the two `shares`."""
    x, y, w, h = cv2.boundingRect(outline)
    height, width = dark.shape
    if min(w, h) < least or x <= 0 or y <= 0 or x + w >= width or y + h >= height:
        return
    block = np.zeros((h, w), np.uint8)
    cv2.drawContours(block, [outline], 0, (1,), cv2.FILLED, offset=(-x, -y))
    inside = dark[y : y + h, x : x + w]
    light = 1.0 - float(inside[block > 0].mean())
    inner = np.asarray(cv2.erode(block, np.ones((2 * EDGE_PX + 1, 2 * EDGE_PX + 1), np.uint8), borderValue=(0,)))
    edge = (block > 0) & (inner == 0)
    if shares[0] < light < shares[1] and float(inside[edge].mean()) > MIN_DARK_EDGE_SHARE:
        blocks[y : y + h, x : x + w] |= block
