"""Finds light characters on dark ground, on whole pages (microfilm) or in blocks on a page (titles, names, rubbings),
and inverts such blocks."""

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
"""Sides of the windows in which a block is mostly dark, for small to large characters, in cells of that grid."""

MAX_DARK_TONE_SHARE = 0.5
"""Tone below which a pixel is ink, or the ground of a block, as a share of the paper's tone."""

MIN_DARK_SHARE = 0.6
"""Share of a window that must be dark: dark characters on paper cover less, the ground of light ones more."""

LIGHT_SHARE_RANGE = (0.02, 0.45)
"""Minimum and maximum share of a block that its light characters cover."""

BOXED_LIGHT_SHARE_RANGE = (0.02, 0.4)
"""The same for a block that could be a dark character with a frame (國)."""

MIN_BOX_SHARE = 0.88
"""Share of its bounding box that the outline of a block must fill."""

MIN_SIDE_PX = 18
"""Minimum side of a block, in pixels."""

MIN_DARK_CHARACTERS = 1.2
"""Minimum width of a block that is dark throughout, in sizes of a character; dense characters are narrower."""

MAX_FRAME_CHARACTERS = 3.0
"""Maximum width of a block around single characters or a column, in sizes of a character."""

SIZE_QUANTILE = 0.8
"""Quantile of the sizes of pieces of ink that is taken for the size of a character, which has all strokes joined."""

MAX_CHARACTER_SHARE = 0.1
"""Maximum height of a character, as a share of the height of the page."""

EDGE_PX = 2
"""Width, in pixels, of the edge of a block, which must be ground."""

MIN_DARK_EDGE_SHARE = 0.85
"""Share of the edge that must be dark."""

MAX_RULE_PX = 7
"""Maximum width of a rule or a frame beside a block, in pixels."""


def is_negative(page: Grey) -> bool:
    """Whether the characters of a whole page are light on dark.

    Characters cover less than half of a page, so the median tone of its central part is the ground, and the tones of
    the characters lie far to one side of it. The borders of the image, which may be black, are ignored."""
    height, width = page.shape
    middle = page[height // 5 : height - height // 5 : 7, width // 5 : width - width // 5 : 7]
    low, ground, high = np.percentile(middle, (2, 50, 98))
    return bool(ground < 128 and high - ground > 60 and high - ground > 2 * (ground - low))


def blocks_inverted(page: Grey, measured: Grey | None = None) -> Grey:
    """A page (height x width) with its blocks of light characters inverted; the same page if it has none. `measured` is
    the page at a smaller size, if available: blocks are then searched on it."""
    small, _ = shrunk(page if measured is None else measured, WORKING_HEIGHT_PX)
    paper = max(float(np.percentile(small, 75)), 1.0)
    blocks = _blocks((small < MAX_DARK_TONE_SHARE * paper).astype(np.uint8))
    if not blocks.any():
        return page
    height, width = page.shape
    square = np.ones((2 * EDGE_PX + 1, 2 * EDGE_PX + 1), np.uint8)
    masks = cv2.erode(blocks, square), cv2.dilate(blocks, square)
    inside, with_edge = (cv2.resize(mask, (width, height), interpolation=cv2.INTER_NEAREST) > 0 for mask in masks)
    ground, light = (float(tone) for tone in np.percentile(page[inside], (30, 99)))
    tones = paper * (1.0 - (page[inside].astype(np.float32) - ground) / max(light - ground, 1.0))
    inverted = page.copy()
    inverted[with_edge] = round(paper)
    inverted[inside] = np.clip(tones, 0.0, paper).astype(np.uint8)
    return inverted


def _blocks(dark: Mask) -> Mask:
    """The mask (1) of the blocks of light characters within the dark part of a page."""
    blocks = np.zeros_like(dark)
    character_size = max(float(MIN_SIDE_PX), _character_size(dark))
    _add_large_blocks(blocks, dark, character_size)
    _add_boxes(blocks, dark, character_size)
    return blocks


def _add_large_blocks(blocks: Mask, dark: Mask, character_size: float) -> None:
    """Add the blocks that are wider than a character, and dark throughout."""
    height, width = dark.shape
    grid = cv2.resize(255 * dark, (-(-width // GRID_PX), -(-height // GRID_PX)), interpolation=cv2.INTER_AREA)
    for window in WINDOW_SIDES:
        mostly_dark = (cv2.blur(grid, (window, window)) > 255 * MIN_DARK_SHARE).astype(np.uint8)
        core = cv2.morphologyEx(mostly_dark, cv2.MORPH_OPEN, np.ones((2 * window - 1, 2 * window - 1), np.uint8))
        if not core.any():
            continue
        side = window * GRID_PX
        core = cv2.resize(cv2.erode(core, np.ones((3, 3), np.uint8)), (width, height), interpolation=cv2.INTER_NEAREST)
        # the block reaches from its core to the end of the dark ground nearby, without rules beside it
        neighbourhood = cv2.dilate(core, np.ones((2 * side + 1, 2 * side + 1), np.uint8))
        without_rules = cv2.morphologyEx(dark, cv2.MORPH_OPEN, np.ones((MAX_RULE_PX, MAX_RULE_PX), np.uint8))
        block = cv2.bitwise_or(core, cv2.bitwise_and(without_rules, neighbourhood))
        block = cv2.morphologyEx(block, cv2.MORPH_OPEN, np.ones((side // 2 | 1, side // 2 | 1), np.uint8))
        for outline in _outlines(np.asarray(block, dtype=np.uint8)):
            _add_if_block(blocks, dark, outline, round(MIN_DARK_CHARACTERS * character_size), LIGHT_SHARE_RANGE)


def _add_boxes(blocks: Mask, dark: Mask, character_size: float) -> None:
    """Add the blocks of one or a few characters, which are recognised by their outline: as it is, without upright rules
    that touch it, and without level ones."""
    for across, down in ((1, 1), (MAX_RULE_PX, 1), (1, MAX_RULE_PX)):
        without_rules = cv2.morphologyEx(dark, cv2.MORPH_OPEN, np.ones((down, across), np.uint8))
        for outline in _outlines(np.asarray(without_rules, dtype=np.uint8)):
            if _is_box(outline, character_size):
                _add_if_block(blocks, dark, outline, MIN_SIDE_PX, BOXED_LIGHT_SHARE_RANGE)


def _outlines(dark: Mask) -> Iterator[NDArray[np.int32]]:
    """The outer outline of every dark piece, also of those within a frame."""
    outlines, hierarchy = cv2.findContours(dark, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    for number, outline in enumerate(outlines):
        if hierarchy[0, number, 3] < 0:  # it has no parent, so it is not the outline of a hole
            yield np.asarray(outline, dtype=np.int32)


def _character_size(dark: Mask) -> float:
    """The size of the larger pieces of ink, which are characters with all strokes joined; 0 without any."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(dark, connectivity=8)
    width, height = stats[1:, cv2.CC_STAT_WIDTH], stats[1:, cv2.CC_STAT_HEIGHT]
    is_character = (np.minimum(width, height) > MAX_RULE_PX) & (height < MAX_CHARACTER_SHARE * dark.shape[0])
    sizes = np.maximum(width, height)[is_character]
    return float(np.quantile(sizes, SIZE_QUANTILE)) if sizes.size else 0.0


def _is_box(outline: NDArray[np.int32], character_size: float) -> bool:
    """Whether an outline is a box around one or a few characters, or a column of them."""
    if min(cv2.boundingRect(outline)[2:]) < character_size:
        return False
    width, height = cv2.minAreaRect(outline)[1]
    is_narrow = min(width, height) < MAX_FRAME_CHARACTERS * character_size
    return is_narrow and cv2.contourArea(outline) > MIN_BOX_SHARE * width * height


def _add_if_block(
    blocks: Mask, dark: Mask, outline: NDArray[np.int32], min_side: int, light_share_range: tuple[float, float]
) -> None:
    """Add the area within an outline to `blocks` if it is within the page, its sides are at least `min_side` pixels,
    its edge is dark, and the share of it that light characters cover is within the range."""
    x, y, w, h = cv2.boundingRect(outline)
    height, width = dark.shape
    if min(w, h) < min_side or x <= 0 or y <= 0 or x + w >= width or y + h >= height:
        return
    block = np.zeros((h, w), np.uint8)
    cv2.drawContours(block, [outline], 0, (1,), cv2.FILLED, offset=(-x, -y))
    dark_inside = dark[y : y + h, x : x + w]
    light_share = 1.0 - float(dark_inside[block > 0].mean())
    inner = np.asarray(cv2.erode(block, np.ones((2 * EDGE_PX + 1, 2 * EDGE_PX + 1), np.uint8), borderValue=(0,)))
    edge = (block > 0) & (inner == 0)
    min_light, max_light = light_share_range
    if min_light < light_share < max_light and float(dark_inside[edge].mean()) > MIN_DARK_EDGE_SHARE:
        blocks[y : y + h, x : x + w] |= block
