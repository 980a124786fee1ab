"""Measures the extent of the ink of one glyph, on clean and on dirty paper.

Strokes count, and dots near them; a larger dot may be farther away. On dirty paper pieces of ink must be larger to
count, and dirt that touches a stroke is removed because it does not run straight. Ink beyond the usual size of glyphs
does not count. Lengths in cells are multiples of `Cells.size`, areas are shares of its square.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.rules import Mask, connected

MAX_SPECK_AREA = 0.01
"""Area below which a piece of ink is a speck on clean paper, as a share of a cell's area."""

MAX_BLOT_AREA = 0.03
"""The same on wholly dirty paper; also the area from which a piece is a stroke on clean paper."""

DIRT_WINDOW_CELLS = 0.6
"""Distance above and below a glyph within which dirt is counted, in cells."""

MIN_DIRT_DISTANCE_CELLS = 0.1
"""Minimum distance of dirt from all strokes, in cells. A worn stroke falls into pieces as small, but they lie close
together."""

MAX_DIRT_PIECES = 8.0
"""Specks per cell of bare paper from which the paper is wholly dirty."""

MIN_BARE_PAPER = 0.3
"""Lower bound for the area of bare paper by which the number of specks is divided, as a share of a cell's area."""

MAX_CLEAN_DIRT = 0.2
"""Dirt (0 to 1) below which the largest piece of ink counts in full, even beyond the usual size of glyphs."""

MIN_STAINED_DIRT = 0.5
"""Dirt (0 to 1) above which strokes are separated from the dirt that touches them."""

STRAIGHT_CELLS = 0.12
"""Minimum length over which a stroke runs straight, in cells."""

TIP_PX = 2
"""Length of the tips and bends of a stroke that do not run straight, in pixels."""

MIN_STRAIGHT_SHARE = 0.3
"""Minimum share of straight strokes in the ink for the rest to be ignored; fewer are not reliable."""

DIRT_LEFT_SHARE = 0.25
"""Share of the dirt that remains among straight strokes."""

MIN_STROKE_CELLS = 0.3
"""Length from which a piece of ink is a stroke on clean paper, however thin, in cells."""

STROKE_AREA_GAIN = 2.0
"""Relative increase of the minimum area of a stroke on wholly dirty paper."""

MIN_STROKE_SHARES = (0.9, 0.3)
"""Minimum share of a glyph's ink in strokes, on clean paper and at dirt of 0.5 or more; with less, every piece counts
as a stroke."""

MAX_DOT_DISTANCE_CELLS = 0.12
"""Maximum distance of the smallest dots from the strokes on clean paper, in cells."""

MIN_DOT_AREA = 0.006
"""Minimum area of a dot, as a share of a cell's area."""

MAX_DOT_DISTANCE_FACTOR = 2.0
"""Maximum factor by which that distance grows with the size of the dot."""

DOT_STEPS = 4
"""Rounds in which dots are added that are near the strokes and the dots added before."""

CORE_WIDTHS = 0.36
"""Distance from the row's middle within which no speck is removed, as a share of the row's width."""

RIM_CELLS = 0.1
"""Distance from the top and the bottom of a cell within which specks may be removed, in cells."""

MAX_HALF_WIDTH_CELLS = 0.66
"""Maximum distance of a glyph's ink to either side of its cell's middle, in cells. By the true boxes of rendered pages
in many styles, one glyph in 100 is wider."""

MAX_HALF_HEIGHT_CELLS = 0.55
"""Maximum distance of a glyph's ink above and below its cell's middle, in cells."""

MAX_HALF_WIDTH_ROWS = 0.48
"""Maximum distance of a glyph's ink to either side of its cell's middle, as a share of the row's width."""

CLEAN_SLACK_CELLS = 0.1
"""Addition to these limits on clean paper, where connected strokes may reach farther, in cells."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one glyph or of consecutive glyphs in a row, in pixels: the left and right edge of the `row`, the
    top and bottom of each cell (`spans`), and the side of the square that a glyph fills (`size`)."""

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
class _Pieces:
    """Connected pieces of ink: `area` (n) and `edges` (n x 4: left, top, right, bottom), in pixels."""

    area: NDArray[np.float64]
    edges: NDArray[np.float64]

    @classmethod
    def of(cls, stats: NDArray[np.int32]) -> _Pieces:
        """The pieces with these extents and areas (as of `connected`)."""
        numbers = stats.astype(np.float64)
        return cls(numbers[:, cv2.CC_STAT_AREA], numbers[:, :4] + np.pad(numbers[:, :2], ((0, 0), (2, 0))))

    @property
    def length(self) -> NDArray[np.float64]:
        """The longer side of each piece's box."""
        return np.asarray((self.edges[:, 2:] - self.edges[:, :2]).max(axis=1), dtype=np.float64)

    def box_around(self, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Left, top, right and bottom of the box around the chosen pieces."""
        return np.append(self.edges[chosen, :2].min(axis=0), self.edges[chosen, 2:].max(axis=0))

    def are_dots_of(self, body: NDArray[np.float64], dirt: float, size: float) -> NDArray[np.bool_]:
        """Which pieces are dots of a glyph whose strokes have the box `body`. The allowed distance from it grows with
        the size of a dot and shrinks with the dirt."""
        distance = np.maximum(body[:2] - self.edges[:, 2:], self.edges[:, :2] - body[2:]).max(axis=1)
        relative_area = self.area / (MIN_DOT_AREA * size * size)
        factor = np.minimum(np.sqrt(relative_area), MAX_DOT_DISTANCE_FACTOR)
        is_near = distance < MAX_DOT_DISTANCE_CELLS * (1 - dirt) * size * factor
        return np.asarray((relative_area >= 1) & is_near)


def dirt_around(text: NDArray[np.bool_], column: tuple[float, float], cells: Cells) -> float:
    """How dirty the paper around a glyph is, 0 to 1: the density of specks away from strokes, between the left and
    right edge of its `column`."""
    reach = DIRT_WINDOW_CELLS * cells.size
    rows = slice(max(round(cells.top - reach), 0), max(round(cells.bottom + reach), 0))
    window = text[rows, max(round(column[0]), 0) : max(round(column[1]), 0)]
    if not window.size:
        return 0.0
    labels, stats, centres = connected(window.astype(np.uint8))
    cell_area = cells.size * cells.size
    is_speck = stats[:, cv2.CC_STAT_AREA] < MAX_SPECK_AREA * cell_area
    is_speck[0] = True
    side = 2 * round(MIN_DIRT_DISTANCE_CELLS * cells.size) + 1
    is_bare = cv2.dilate((~is_speck)[labels].astype(np.uint8), np.ones((side, side), np.uint8)) == 0
    x, y = centres[1:][is_speck[1:]].astype(np.intp).T
    bare_area = max(float(np.count_nonzero(is_bare)), MIN_BARE_PAPER * cell_area)
    return min(float(np.count_nonzero(is_bare[y, x])) * cell_area / bare_area / MAX_DIRT_PIECES, 1.0)


def without_dirt(own: NDArray[np.bool_], dirt: float, cells: Cells) -> NDArray[np.bool_]:
    """The glyph's ink without specks at the border of its cells; on dirtier paper, larger specks are removed. In the
    middle they stay: under a seal they may be all that is left of a glyph."""
    size, (left, right) = cells.size, cells.row
    labels, stats, centres = connected(own.astype(np.uint8))
    max_area = (MAX_SPECK_AREA + (MAX_BLOT_AREA - MAX_SPECK_AREA) * dirt) * size * size
    is_small = stats[:, cv2.CC_STAT_AREA] < max_area
    is_small[0] = True
    if is_small.all() or not is_small[1:].any():
        return own
    pieces = _Pieces.of(stats)
    body = pieces.box_around(~is_small)
    x, y = centres[:, 0], centres[:, 1]
    outside_body = (x < body[0]) | (y < body[1]) | (x > body[2]) | (y > body[3])
    rim = RIM_CELLS * size
    in_core_rows = np.logical_or.reduce([(y > top + rim) & (y < bottom - rim) for top, bottom in cells.spans])
    in_core = in_core_rows & (np.abs(x - (left + right) / 2) <= CORE_WIDTHS * (right - left))
    is_dirt = is_small & outside_body & ~pieces.are_dots_of(body, dirt, size) & ~in_core
    is_dirt[0] = False
    return np.asarray(own & ~is_dirt[labels])


def ink_extent(own: NDArray[np.bool_], dirt: float, cells: Cells) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a glyph's ink: its strokes and the dots near them. Isolated specks do not count,
    unless the glyph has nothing else."""
    ink, size = own.astype(np.uint8), cells.size
    limits, is_clean = _limits(cells, dirt), dirt < MAX_CLEAN_DIRT
    if dirt > MIN_STAINED_DIRT:
        straight = straight_strokes(ink, max(round(STRAIGHT_CELLS * size), 3))
        if np.count_nonzero(straight) > MIN_STRAIGHT_SHARE * np.count_nonzero(ink):
            ink, dirt = straight, DIRT_LEFT_SHARE * dirt
    _, stats, _ = connected(ink)
    pieces = _Pieces.of(stats[1:])
    counts = pieces.area >= MAX_BLOT_AREA * (1 + STROKE_AREA_GAIN * dirt) * size * size
    counts |= pieces.length >= MIN_STROKE_CELLS * (1 + dirt) * size
    clean_share, dirty_share = MIN_STROKE_SHARES
    min_share = dirty_share + (clean_share - dirty_share) * max(0.0, 1 - 2 * dirt)
    if pieces.area[counts].sum() < min_share * pieces.area.sum():
        counts[:] = True
    for _ in range(DOT_STEPS):
        counts |= pieces.are_dots_of(pieces.box_around(counts), dirt, size)
    edges = np.clip(pieces.edges[counts], limits[[0, 1, 0, 1]], limits[[2, 3, 2, 3]])
    if is_clean:
        edges = np.vstack([edges, pieces.edges[pieces.area.argmax()]])
    left, top = (float(edge) for edge in edges[:, :2].min(axis=0))
    right, bottom = (float(edge) for edge in edges[:, 2:].max(axis=0))
    return left, top, max(right, left + 1), max(bottom, top + 1)


def _limits(cells: Cells, dirt: float) -> NDArray[np.float64]:
    """The limits for the left, top, right and bottom of a glyph's ink."""
    (left, right), size = cells.row, cells.size
    slack = 2 * CLEAN_SLACK_CELLS * max(0.0, 0.5 - dirt) * size
    half_width = min(MAX_HALF_WIDTH_CELLS * size, MAX_HALF_WIDTH_ROWS * (right - left)) + slack
    half_height = MAX_HALF_HEIGHT_CELLS * size + slack
    half_height += (cells.bottom - cells.top) * (1 - 1 / len(cells.spans)) / 2
    x, y = (left + right) / 2, (cells.top + cells.bottom) / 2
    return np.array([x - half_width, y - half_height, x + half_width, y + half_height])


def straight_strokes(ink: Mask, length: int) -> Mask:
    """The ink that runs straight for `length` pixels in one of four directions, and the ink within `TIP_PX` pixels of
    it."""
    falling = np.eye(length, dtype=np.uint8)
    lines = (np.ones((1, length), np.uint8), np.ones((length, 1), np.uint8), falling, np.fliplr(falling).copy())
    straight = np.zeros_like(ink)
    for line in lines:
        straight |= np.asarray(cv2.morphologyEx(ink, cv2.MORPH_OPEN, line), dtype=np.uint8)
    for _ in range(TIP_PX):
        straight = np.asarray(cv2.min(cv2.dilate(straight, np.ones((3, 3), np.uint8)), ink), dtype=np.uint8)
    return straight
