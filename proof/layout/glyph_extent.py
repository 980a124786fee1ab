"""How far the ink of one glyph reaches, on clean paper and in dirt.

Strokes tell it, and dots that are near to them; the larger a piece of ink is, the farther off it may lie. Where the
paper is dirty a piece must be larger, and dirt that touches a stroke is told from it by not running straight. What lies
farther from the middle of its cell than glyphs reach does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.rules import Mask, connected

MAX_SPECK_AREA = 0.01
"""Of the area of a cell that such a glyph fills: on clean paper a smaller piece of ink is dirt, unless it lies among
the others."""

MAX_BLOT_AREA = 0.03
"""The same where there is much dirt."""

AROUND_CELLS = 0.6
"""Cells above and below a glyph in which dirt is looked for."""

BY_ITSELF_CELLS = 0.1
"""Cells from all strokes that dirt lies: a worn stroke falls into pieces as small, which lie near to each other."""

MAX_DIRT_PIECES = 8.0
"""Pieces of dirt, in a cell of bare paper, on paper that is as dirty as can be."""

MIN_BARE_PAPER = 0.3
"""Of a cell: the least bare paper that tells how dirty it is."""

MAX_CLEAN_DIRT = 0.2
"""Up to this dirt (0 to 1) a stroke may go on beyond where glyphs reach."""

MIN_STAINED_DIRT = 0.5
"""From this dirt on strokes are told from the dirt that touches them."""

STRAIGHT_CELLS = 0.12
"""Cells that a stroke runs straight."""

TIP_PX = 2
"""Pixels at the tips and bends of a stroke that do not run straight."""

MIN_STRAIGHT_SHARE = 0.3
"""Of the ink: with less in straight strokes these tell nothing."""

CLEANED = 0.25
"""Of its dirt: what is left of it where that was done."""

STROKE = 0.3
"""Cells: a piece of ink as long as this is a stroke, however thin."""

DOUBT = 2.0
"""How much larger a piece must be on dirty paper that says how far a glyph reaches."""

BODY = (0.9, 0.3)
"""Of a glyph's ink what is in strokes, where it is not all specks: on clean paper, and on dirty."""

NEAR_CELLS = 0.12
"""Cells from the strokes to a dot that belongs to them."""

MIN_DOT_AREA = 0.006
"""Of a cell's area: the least that a dot has."""

MAX_FARTHER = 2.0
"""How many times as far off a large dot may lie."""

STEPS = 4
"""How many dots may follow each other from the strokes outwards."""

CORE_WIDTHS = 0.36
"""Of the row's width from its middle: within it no speck is taken for dirt."""

RIM_CELLS = 0.1
"""Cells from the top and the foot of a cell within which specks may be dirt."""

WIDE_CELLS = 0.66
"""Cells to the side from the middle of its cell that a glyph reaches. By the true boxes of rendered pages of many
styles one glyph in 100 is wider."""

HIGH_CELLS = 0.55
"""The same up and down."""

WIDE_ROWS = 0.48
"""Of the row's width: the same to the side."""

CLEAN_SLACK_CELLS = 0.1
"""Cells more on clean paper, where strokes that hang together may go farther."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Where the cells of a glyph, or of some in a row, lie: `row` from left to right, `spans` from top to bottom each,
    `size` the side of the square that such a glyph fills; in pixels."""

    row: tuple[float, float]
    spans: Sequence[tuple[float, float]]
    size: float

    @property
    def top(self) -> float:
        return self.spans[0][0]

    @property
    def bottom(self) -> float:
        return self.spans[-1][1]


@dataclass(frozen=True, slots=True)
class Pieces:
    """The connected pieces of ink: `area` (n), and `edges` (n x 4) left, top, right, bottom."""

    area: NDArray[np.float64]
    edges: NDArray[np.float64]

    @classmethod
    def of(cls, stats: NDArray[Any]) -> Pieces:
        """The pieces of which the drawing library gives these numbers."""
        numbers = stats.astype(np.float64)
        return cls(numbers[:, cv2.CC_STAT_AREA], numbers[:, :4] + np.pad(numbers[:, :2], ((0, 0), (2, 0))))

    @property
    def length(self) -> NDArray[np.float64]:
        """The longer side of each."""
        return np.asarray((self.edges[:, 2:] - self.edges[:, :2]).max(axis=1), dtype=np.float64)

    def around(self, which: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Left, top, right and bottom of some of them together."""
        return np.append(self.edges[which, :2].min(axis=0), self.edges[which, 2:].max(axis=0))

    def dots_of(self, body: NDArray[np.float64], dirt: float, size: float) -> NDArray[np.bool_]:
        """Which are dots of the strokes that reach as far as `body`: they are near to it, and the larger one is, the
        less it looks like dirt."""
        apart = np.maximum(body[:2] - self.edges[:, 2:], self.edges[:, :2] - body[2:]).max(axis=1)
        dots = self.area / (MIN_DOT_AREA * size * size)
        return np.asarray(
            (dots >= 1) & (apart < NEAR_CELLS * (1 - dirt) * size * np.minimum(np.sqrt(dots), MAX_FARTHER))
        )


def dirt_around(text: NDArray[np.bool_], column: tuple[float, float], cells: Cells) -> float:
    """How dirty the paper about a glyph is, from 0 to 1: by how many pieces of ink lie by themselves between the left
    and right edge of its `column` that are too small for a stroke."""
    first, last = round(cells.top - AROUND_CELLS * cells.size), round(cells.bottom + AROUND_CELLS * cells.size)
    within = text[max(first, 0) : max(last, 0), max(round(column[0]), 0) : max(round(column[1]), 0)]
    if not within.size:
        return 0.0
    labels, stats, centres = connected(within.astype(np.uint8))
    cell = cells.size * cells.size
    tiny = stats[:, cv2.CC_STAT_AREA] < MAX_SPECK_AREA * cell
    tiny[0] = True
    reach = 2 * round(BY_ITSELF_CELLS * cells.size) + 1
    bare = cv2.dilate((~tiny)[labels].astype(np.uint8), np.ones((reach, reach), np.uint8)) == 0
    x, y = centres[1:][tiny[1:]].astype(np.intp).T
    paper = max(float(np.count_nonzero(bare)), MIN_BARE_PAPER * cell)
    return min(float(np.count_nonzero(bare[y, x])) * cell / paper / MAX_DIRT_PIECES, 1.0)


def without_dirt(own: NDArray[np.bool_], dirt: float, cells: Cells) -> NDArray[np.bool_]:
    """The glyph's ink without specks at its border, the larger the dirtier the paper is. In the middle of the cell they
    stay: of a glyph under a seal nothing else may be left."""
    size, (left, right) = cells.size, cells.row
    labels, stats, centres = connected(own.astype(np.uint8))
    small = stats[:, cv2.CC_STAT_AREA] < (MAX_SPECK_AREA + (MAX_BLOT_AREA - MAX_SPECK_AREA) * dirt) * size * size
    small[0] = True
    if small.all() or not small[1:].any():
        return own
    pieces = Pieces.of(np.asarray(stats))
    body = pieces.around(~small)
    x, y = centres[:, 0], centres[:, 1]
    gone = small & ((x < body[0]) | (y < body[1]) | (x > body[2]) | (y > body[3]))
    gone &= ~pieces.dots_of(body, dirt, size)
    core = [(y > top + RIM_CELLS * size) & (y < bottom - RIM_CELLS * size) for top, bottom in cells.spans]
    gone &= (np.abs(x - (left + right) / 2) > CORE_WIDTHS * (right - left)) | ~np.logical_or.reduce(core)
    gone[0] = False
    return np.asarray(own & ~gone[labels])


def extent(own: NDArray[np.bool_], dirt: float, cells: Cells) -> tuple[float, float, float, float]:
    """How far a glyph's ink reaches to the left, up, to the right and down: its strokes, and the dots that are near to
    them. Single specks a little apart do not count, where the glyph is not all specks."""
    ink, size, limits, clean = own.astype(np.uint8), cells.size, _limits(cells, dirt), dirt < MAX_CLEAN_DIRT
    if dirt > MIN_STAINED_DIRT:
        straight = straight_strokes(ink, max(round(STRAIGHT_CELLS * size), 3))
        if np.count_nonzero(straight) > MIN_STRAIGHT_SHARE * np.count_nonzero(ink):
            ink, dirt = straight, CLEANED * dirt
    _, stats, _ = connected(ink)
    pieces = Pieces.of(np.asarray(stats)[1:])
    large = pieces.area >= MAX_BLOT_AREA * (1 + DOUBT * dirt) * size * size
    large |= pieces.length >= STROKE * (1 + dirt) * size
    body = BODY[1] + (BODY[0] - BODY[1]) * max(0.0, 1 - 2 * dirt)
    if pieces.area[large].sum() < body * pieces.area.sum():
        large[:] = True
    for _ in range(STEPS):
        large |= pieces.dots_of(pieces.around(large), dirt, size)
    edges = np.clip(pieces.edges[large], limits[[0, 1, 0, 1]], limits[[2, 3, 2, 3]])
    if clean:
        edges = np.vstack([edges, pieces.edges[pieces.area.argmax()]])
    left, top = (float(edge) for edge in edges[:, :2].min(axis=0))
    right, bottom = (float(edge) for edge in edges[:, 2:].max(axis=0))
    return left, top, max(right, left + 1), max(bottom, top + 1)


def _limits(cells: Cells, dirt: float) -> NDArray[np.float64]:
    """How far to the left, up, to the right and down a glyph reaches at most."""
    (left, right), size = cells.row, cells.size
    more = 2 * CLEAN_SLACK_CELLS * max(0.0, 0.5 - dirt) * size
    wide = min(WIDE_CELLS * size, WIDE_ROWS * (right - left)) + more
    high = HIGH_CELLS * size + more + (cells.bottom - cells.top) * (1 - 1 / len(cells.spans)) / 2
    x, y = (left + right) / 2, (cells.top + cells.bottom) / 2
    return np.array([x - wide, y - high, x + wide, y + high])


def straight_strokes(ink: Mask, length: int) -> Mask:
    """The ink that runs straight for so many pixels in one of four directions, and what is next to it."""
    falling = np.eye(length, dtype=np.uint8)
    lines = (np.ones((1, length), np.uint8), np.ones((length, 1), np.uint8), falling, np.fliplr(falling).copy())
    straight = np.zeros_like(ink)
    for line in lines:
        straight |= np.asarray(cv2.morphologyEx(ink, cv2.MORPH_OPEN, line), dtype=np.uint8)
    for _ in range(TIP_PX):
        straight = np.asarray(cv2.min(cv2.dilate(straight, np.ones((3, 3), np.uint8)), ink), dtype=np.uint8)
    return straight
