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

SPECK, BLOT = 0.01, 0.03
"""Of the area of a cell that such a glyph fills: a smaller piece of ink is dirt, unless it lies among the others; on
clean paper, and where there is much dirt."""

AROUND, BY_ITSELF = 0.6, 0.1
"""Cells above and below a glyph in which dirt is looked for; and how far from all strokes it must lie: a worn stroke
falls into pieces as small, which lie near to each other."""

DIRTY, LEAST_PAPER = 8.0, 0.3
"""Pieces of dirt, in a cell of bare paper, on paper that is as dirty as can be; and of a cell the least such paper that
tells it."""

CLEAN, STAINED = 0.2, 0.5
"""Up to this dirt a stroke may go on beyond where glyphs reach, and from this on strokes are told from the dirt that
touches them."""

STRAIGHT, TIP, MOSTLY = 0.12, 2, 0.3
"""Cells that a stroke runs straight; pixels at its tips and bends that do not; and of the ink the least that is in such
strokes, where they tell anything."""

CLEANED = 0.25
"""Of its dirt: what is left of it where that was done."""

STROKE = 0.3
"""Cells: a piece of ink as long as this is a stroke, however thin."""

DOUBT = 2.0
"""How much larger a piece must be on dirty paper that says how far a glyph reaches."""

BODY = (0.9, 0.3)
"""Of a glyph's ink what is in strokes, where it is not all specks: on clean paper, and on dirty."""

NEAR, DOT, FARTHER = 0.12, 0.006, 2.0
"""Cells from the strokes to a dot that belongs to them; of a cell's area the least that a dot has; and how much farther
off a large one may lie."""

STEPS = 4
"""How many dots may follow each other from the strokes outwards."""

CORE, RIM = 0.36, 0.1
"""Of the row's width from its middle, and cells: where no speck is taken for dirt."""

WIDE, HIGH, OF_ROW, SLACK = 0.66, 0.55, 0.48, 0.1
"""Cells to the side, and up and down, from the middle of its cell that a glyph reaches; of the row's width to the side;
and cells more on clean paper, where strokes that hang together may go farther. By the true boxes of rendered pages of
many styles one glyph in 100 is wider."""


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
        dots = self.area / (DOT * size * size)
        return np.asarray((dots >= 1) & (apart < NEAR * (1 - dirt) * size * np.minimum(np.sqrt(dots), FARTHER)))


def dirt_around(text: NDArray[np.bool_], column: tuple[float, float], cells: Cells) -> float:
    """How dirty the paper about a glyph is, from 0 to 1: by how many pieces of ink lie by themselves between the left
    and right edge of its `column` that are too small for a stroke."""
    first, last = round(cells.top - AROUND * cells.size), round(cells.bottom + AROUND * cells.size)
    within = text[max(first, 0) : max(last, 0), max(round(column[0]), 0) : max(round(column[1]), 0)]
    if not within.size:
        return 0.0
    labels, stats, centres = connected(within.astype(np.uint8))
    cell = cells.size * cells.size
    tiny = stats[:, cv2.CC_STAT_AREA] < SPECK * cell
    tiny[0] = True
    reach = 2 * round(BY_ITSELF * cells.size) + 1
    bare = cv2.dilate((~tiny)[labels].astype(np.uint8), np.ones((reach, reach), np.uint8)) == 0
    x, y = centres[1:][tiny[1:]].astype(np.intp).T
    paper = max(float(np.count_nonzero(bare)), LEAST_PAPER * cell)
    return min(float(np.count_nonzero(bare[y, x])) * cell / paper / DIRTY, 1.0)


def without_dirt(own: NDArray[np.bool_], dirt: float, cells: Cells) -> NDArray[np.bool_]:
    """The glyph's ink without specks at its border, the larger the dirtier the paper is. In the middle of the cell they
    stay: of a glyph under a seal nothing else may be left."""
    size, (left, right) = cells.size, cells.row
    labels, stats, centres = connected(own.astype(np.uint8))
    small = stats[:, cv2.CC_STAT_AREA] < (SPECK + (BLOT - SPECK) * dirt) * size * size
    small[0] = True
    if small.all() or not small[1:].any():
        return own
    pieces = Pieces.of(np.asarray(stats))
    body = pieces.around(~small)
    x, y = centres[:, 0], centres[:, 1]
    gone = small & ((x < body[0]) | (y < body[1]) | (x > body[2]) | (y > body[3]))
    gone &= ~pieces.dots_of(body, dirt, size)
    core = [(y > top + RIM * size) & (y < bottom - RIM * size) for top, bottom in cells.spans]
    gone &= (np.abs(x - (left + right) / 2) > CORE * (right - left)) | ~np.logical_or.reduce(core)
    gone[0] = False
    return np.asarray(own & ~gone[labels])


def extent(own: NDArray[np.bool_], dirt: float, cells: Cells) -> tuple[float, float, float, float]:
    """How far a glyph's ink reaches to the left, up, to the right and down: its strokes, and the dots that are near to
    them. Single specks a little apart do not count, where the glyph is not all specks."""
    ink, size, limits, clean = own.astype(np.uint8), cells.size, _limits(cells, dirt), dirt < CLEAN
    if dirt > STAINED:
        straight = straight_strokes(ink, max(round(STRAIGHT * size), 3))
        if np.count_nonzero(straight) > MOSTLY * np.count_nonzero(ink):
            ink, dirt = straight, CLEANED * dirt
    _, stats, _ = connected(ink)
    pieces = Pieces.of(np.asarray(stats)[1:])
    large = pieces.area >= BLOT * (1 + DOUBT * dirt) * size * size
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
    more = 2 * SLACK * max(0.0, 0.5 - dirt) * size
    wide = min(WIDE * size, OF_ROW * (right - left)) + more
    high = HIGH * size + more + (cells.bottom - cells.top) * (1 - 1 / len(cells.spans)) / 2
    x, y = (left + right) / 2, (cells.top + cells.bottom) / 2
    return np.array([x - wide, y - high, x + wide, y + high])


def straight_strokes(ink: Mask, length: int) -> Mask:
    """The ink that runs straight for so many pixels in one of four directions, and what is next to it."""
    falling = np.eye(length, dtype=np.uint8)
    lines = (np.ones((1, length), np.uint8), np.ones((length, 1), np.uint8), falling, np.fliplr(falling).copy())
    found = np.zeros_like(ink)
    for line in lines:
        found |= np.asarray(cv2.morphologyEx(ink, cv2.MORPH_OPEN, line), dtype=np.uint8)
    for _ in range(TIP):
        found = np.asarray(cv2.min(cv2.dilate(found, np.ones((3, 3), np.uint8)), ink), dtype=np.uint8)
    return found
