"""The ink of one glyph: told from its neighbours, the other half-row and the rules by what hangs together.

The box of a glyph is where the recogniser saw it, a cell of its column, and not where its strokes end. Here the ink
of a stretch of the column is parted among the glyphs that stand in it: between any two of them the cut lies where
least ink is, about halfway (dynamic programming over all cuts of the stretch at once); a stroke goes, whole, to the
glyph that has most of it, and is cut only where two glyphs touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.rules import Mask, ink_mask, long_strokes

CELL = 40.0
"""Pixels of a cell at which ink is parted: finer images are brought down to it."""

REACH = 2.6
"""Cells above and below the glyph that are looked at."""

BESIDE = 0.3
"""Of the column's width: what is looked at on either side of it."""

APART = 1.6
"""Cells: glyphs further apart than this do not share a cut."""

LOOSE = 0.42
"""Cells: how far from halfway a cut may lie."""

INK_COST, SIZE_COST, PLACE_COST = 10.0, 3.0, 1.0
"""What a cut through ink costs, a cell that departs from the pitch, and one that is not about its glyph's place."""

RULE = 1.3
"""Cells: an upright stroke as long as this is no glyph's."""

THIN, BESIDE_RULE = 0.12, 0.05
"""Cells, and widths of the column: a piece of rule is no wider, and stands no farther from the rule."""

EDGE = 0.11
"""Widths of the column: how far from its edge its rule may stand."""

OWN = 0.7
"""Of a piece of ink: who has so much of it has all of it."""

FRAME = 0.16
"""Cells: how far from the end of its column a piece of the frame stands."""

OUTSIDE = 0.06
"""Cells: what lies so far above or below its column is none of it."""

BROKEN = (0.22, 0.3)
"""Of the window's height: what is left of a rule that is broken, at the edge of its column and inside it."""

SHARED = 0.06
"""Cells: where two glyphs touch each has the ink so far beyond the cut: rather some of the other than a stroke cut."""

SPECK, BLOT = 0.01, 0.03
"""Of the area of a cell that such a glyph fills: a smaller piece of ink is dirt, unless it lies among the others; on
clean paper, and where there is much dirt."""

DIRTY = 5.0
"""Pieces of dirt, in a cell, on paper that is as dirty as can be."""

DOUBT = 2.0
"""How much larger a piece must be on dirty paper that says how far a glyph reaches."""

BODY, NEAR, DOT = 0.75, 0.12, 0.006
"""Of a glyph's ink what is in strokes, where it is not all specks; cells from these to a dot that belongs to them; of a
cell's area the least that a dot has."""

CORE, RIM = 0.36, 0.1
"""Of the row's width from its middle, and cells: where no speck is taken for dirt."""

LEAST = 0.012
"""Of a cell's area: with less ink than this there is no glyph."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle in pixels: left, top, right, bottom."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def x(self) -> float:
        return (self.left + self.right) / 2

    @property
    def y(self) -> float:
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class GlyphInk:
    """The ink of a glyph: its extent (`box`), and which pixels of the window are its own (`own`, booleans) or are any
    ink at all (`ink`)."""

    box: Rectangle
    own: NDArray[np.bool_]
    ink: NDArray[np.bool_]


def glyph_ink(
    window: NDArray[np.uint8],
    column: Rectangle,
    row: tuple[float, float],
    glyphs: Sequence[Rectangle],
    chosen: Sequence[int],
    pitch: float,
    size: float,
) -> GlyphInk | None:
    """The ink of the `chosen` among the `glyphs` that stand one below the other in a row of a column, in reading
    order; None where there is none.

    `window` is upright (grey, height x width, 0 black); `row` is from the left to the right edge of the half-row in the
    `column`, or of the whole column, `pitch` is from one glyph to the next, `size` the side of the
    square that such a glyph fills. All in pixels of `window`.
    """
    scale = min(1.0, CELL / pitch)
    small = window
    if scale < 1:
        small = np.asarray(cv2.resize(window, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    edges = Rectangle(*(edge * scale for edge in (column.left, column.top, column.right, column.bottom)))
    sides = (row[0] * scale, row[1] * scale)
    cell = pitch * scale
    ink = ink_mask(small) > 0
    text = without_rules(ink, edges, cell)
    inside = text[:, max(round(sides[0]), 0) : max(round(sides[1]), 1)]
    places = [glyph.y * scale for glyph in glyphs]
    cuts = cuts_between(inside.mean(axis=1) if inside.size else np.zeros(len(text)), places, cell)
    spans = [cuts[number] for number in chosen]
    dirt = _dirt(text, edges, size * scale)
    own = _without_dirt(_own(text, spans, sides, edges, cell), dirt, sides, spans, size * scale)
    if np.count_nonzero(own) < LEAST * cell * cell * len(chosen):
        return None
    left, top, right, bottom = _extent(own, dirt, size * scale)
    box = Rectangle(left / scale, top / scale, right / scale, bottom / scale)
    return GlyphInk(box, _enlarged(own, window.shape), _enlarged(ink, window.shape))


def without_rules(ink: NDArray[np.bool_], column: Rectangle, cell: float) -> NDArray[np.bool_]:
    """Ink without the rules beside a column and the frame above or below it, whole or broken."""
    mask: Mask = np.where(ink, 255, 0).astype(np.uint8)
    width = column.right - column.left
    upright = long_strokes(mask, max(round(RULE * cell), 3), vertical=True)
    level = long_strokes(mask, max(round(1.15 * width), 3), vertical=False)
    rules = cv2.max(cv2.dilate(upright, np.ones((1, 3), np.uint8)), cv2.dilate(level, np.ones((3, 1), np.uint8)))
    middle = slice(max(round(column.left + EDGE * width), 0), max(round(column.right - EDGE * width), 0))
    rules[:, middle] = cv2.dilate(level, np.ones((3, 1), np.uint8))[:, middle]  # glyphs that touch are no rule
    text = np.asarray(ink & (rules == 0))
    left, right = _rule_at(mask, column.left, cell, width, 1), _rule_at(mask, column.right, cell, width, -1)
    text[:, : max(round(left), 0)] = False
    text[:, max(round(right), 0) :] = False
    _, labels, stats, centres = cv2.connectedComponentsWithStats(text.astype(np.uint8), connectivity=8)
    x, y = centres[:, 0], centres[:, 1]
    beside = (x < left + BESIDE_RULE * width) | (x > right - BESIDE_RULE * width)
    ends = np.minimum(np.abs(y - column.top), np.abs(y - column.bottom)) < FRAME * cell
    outside = (y < column.top - OUTSIDE * cell) | (y > column.bottom + OUTSIDE * cell)
    piece = beside & (stats[:, cv2.CC_STAT_WIDTH] <= max(THIN * cell, 3))
    piece |= outside | (ends & (stats[:, cv2.CC_STAT_HEIGHT] <= max(THIN * cell, 3)))
    piece[0] = False
    return np.asarray(text & ~piece[labels])


def _rule_at(ink: Mask, edge: float, cell: float, width: float, inwards: int) -> float:
    """Where, about the edge of a column, the inner side of its innermost rule stands, broken as it may be; the edge
    itself where there is none. `inwards` is the direction of the column, 1 or -1."""
    low, high = max(round(edge - EDGE * width), 0), min(round(edge + EDGE * width) + 1, ink.shape[1])
    if high <= low:
        return edge
    thick = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((1, max(round(1.6 * THIN * cell), 3)), np.uint8))
    thin = cv2.morphologyEx(
        cv2.subtract(ink, thick), cv2.MORPH_OPEN, np.ones((max(round(0.25 * cell), 3), 1), np.uint8)
    )
    inked = (thin[:, low:high] > 0).mean(axis=0)
    inside = (np.arange(low, high) - edge) * inwards > 0.5 * BESIDE_RULE * width
    ruled = np.flatnonzero(inked > np.where(inside, BROKEN[1], BROKEN[0]))
    if not ruled.size:
        return edge - inwards * 0.02 * width
    at = int(ruled[-1] if inwards > 0 else ruled[0])
    while 0 <= at + inwards < len(inked) and inked[at + inwards] > 0.3 * inked[ruled].max():
        at += inwards
    return low + at + (2 if inwards > 0 else -1)


def cuts_between(profile: NDArray[np.float64], places: Sequence[float], cell: float) -> list[tuple[float, float]]:
    """From where to where each of the glyphs reaches whose middles are about at `places` (ascending), on a profile of
    how much ink stands in every row of pixels (0 to 1)."""
    spans: list[tuple[float, float]] = []
    start = 0
    for end in range(1, len(places) + 1):
        if end < len(places) and places[end] - places[end - 1] < APART * cell:
            continue
        spans += _stretch(profile, places[start:end], cell)
        start = end
    return spans


def _stretch(profile: NDArray[np.float64], places: Sequence[float], cell: float) -> list[tuple[float, float]]:
    """The same for glyphs that follow each other without a gap."""
    y = np.asarray(places, dtype=np.float64)
    steps = np.diff(y)
    halves = np.concatenate([[y[0] - cell / 2], (y[:-1] + y[1:]) / 2, [y[-1] + cell / 2]])
    heights = np.concatenate([[cell], steps, [cell]])
    sizes = np.clip((heights[:-1] + heights[1:]) / 2, 0.5 * cell, 1.3 * cell)
    reach = np.arange(-round(LOOSE * cell), round(LOOSE * cell) + 1)
    cuts = halves[:, None] + reach
    smooth = np.convolve(profile, np.ones(5) / 5, mode="same")
    inked = np.where((cuts >= 0) & (cuts < len(smooth)), smooth[np.clip(cuts, 0, len(smooth) - 1).astype(np.intp)], 0.0)
    total = INK_COST * inked[0]
    came = []
    for number, place in enumerate(y):
        above, below = cuts[number][:, None], cuts[number + 1][None, :]
        stretched = (below - above) / sizes[number] - 1.0
        off = ((above + below) / 2 - place) / cell
        costs = total[:, None] + SIZE_COST * stretched**2 + PLACE_COST * off**2
        came.append(costs.argmin(axis=0))
        total = costs.min(axis=0) + INK_COST * inked[number + 1]
    at = int(total.argmin())
    found = [float(cuts[-1][at])]
    for number in range(len(y) - 1, -1, -1):
        at = int(came[number][at])
        found.append(float(cuts[number][at]))
    found.reverse()
    return list(pairwise(found))


def _own(
    text: NDArray[np.bool_],
    spans: Sequence[tuple[float, float]],
    row: tuple[float, float],
    column: Rectangle,
    cell: float,
) -> NDArray[np.bool_]:
    """The ink between these cuts and in this row: each stroke whole where most of it lies there."""
    height, width = text.shape
    ys, xs = np.arange(height) + 0.5, np.arange(width) + 0.5
    down = np.zeros(height, dtype=bool)
    for top, bottom in spans:
        down |= (ys >= top) & (ys < bottom)
    slack = 0.06 * (column.right - column.left)
    left = row[0] if row[0] > column.left + slack else column.left - slack
    right = row[1] if row[1] < column.right - slack else column.right + slack
    across = ((xs >= left) & (xs < right))[None, :]
    place = down[:, None] & across
    count, labels, stats, _ = cv2.connectedComponentsWithStats(text.astype(np.uint8), connectivity=8)
    mass = stats[:, cv2.CC_STAT_AREA].astype(np.float64)
    inside = np.bincount(labels[place], minlength=count).astype(np.float64)
    share = inside / np.maximum(mass, 1.0)
    # what is much higher than a cell is several glyphs that touch, of which each keeps its own
    high, wide = stats[:, cv2.CC_STAT_HEIGHT], stats[:, cv2.CC_STAT_WIDTH]
    joined = (high > 1.25 * cell * len(spans)) | (wide > 1.2 * (right - left))
    whole = (share >= OWN) & ~joined
    part = ((share >= 1.0 - OWN) & (share < OWN)) | (joined & (inside > 0))
    whole[0] = part[0] = False
    whole &= mass >= 2
    shared = down.copy()
    for top, bottom in spans:
        shared |= (ys >= top - SHARED * cell) & (ys < bottom + SHARED * cell)
    return np.asarray(whole[labels] | (part[labels] & shared[:, None] & across))


def _dirt(text: NDArray[np.bool_], column: Rectangle, size: float) -> float:
    """How dirty the paper of a column is, from 0 to 1: by how many pieces are on it that are too small for a stroke."""
    within = text[:, max(round(column.left), 0) : max(round(column.right), 1)]
    _, _, pieces, _ = cv2.connectedComponentsWithStats(within.astype(np.uint8), connectivity=8)
    tiny = np.count_nonzero(pieces[1:, cv2.CC_STAT_AREA] < SPECK * size * size)
    return min(tiny * size * size / max(within.size, 1) / DIRTY, 1.0)


def _without_dirt(
    own: NDArray[np.bool_], dirt: float, row: tuple[float, float], spans: Sequence[tuple[float, float]], size: float
) -> NDArray[np.bool_]:
    """The glyph's ink without specks at its border, the larger the dirtier the paper is. In the middle of the cell they
    stay: of a glyph under a seal nothing else may be left."""
    least = (SPECK + (BLOT - SPECK) * dirt) * size * size
    _, labels, stats, centres = cv2.connectedComponentsWithStats(own.astype(np.uint8), connectivity=8)
    small = stats[:, cv2.CC_STAT_AREA] < least
    small[0] = True
    if small.all() or not small[1:].any():
        return own
    body = stats[~small]
    left, top = body[:, cv2.CC_STAT_LEFT].min(), body[:, cv2.CC_STAT_TOP].min()
    right = (body[:, cv2.CC_STAT_LEFT] + body[:, cv2.CC_STAT_WIDTH]).max()
    bottom = (body[:, cv2.CC_STAT_TOP] + body[:, cv2.CC_STAT_HEIGHT]).max()
    x, y = centres[:, 0], centres[:, 1]
    gone = small & ((x < left) | (x > right) | (y < top) | (y > bottom))
    gone &= (np.abs(x - (row[0] + row[1]) / 2) > CORE * (row[1] - row[0])) | ~_within(y, spans, RIM * size)
    gone[0] = False
    return np.asarray(own & ~gone[labels])


def _extent(own: NDArray[np.bool_], dirt: float, size: float) -> tuple[float, float, float, float]:
    """How far a glyph's ink reaches to the left, up, to the right and down. Single specks a little apart from it do not
    count, where it is not all specks."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(own.astype(np.uint8), connectivity=8)
    pieces = stats[1:].astype(np.float64)
    area = pieces[:, cv2.CC_STAT_AREA]
    edges = pieces[:, :4] + np.pad(pieces[:, :2], ((0, 0), (2, 0)))
    large = area >= BLOT * (1 + DOUBT * dirt) * size * size
    if area[large].sum() < BODY * area.sum():
        large[:] = True
    left, top = edges[large, :2].min(axis=0) - NEAR * (1 - dirt) * size
    right, bottom = edges[large, 2:].max(axis=0) + NEAR * (1 - dirt) * size
    near = (edges[:, 2] > left) & (edges[:, 3] > top) & (edges[:, 0] < right) & (edges[:, 1] < bottom)
    shown = edges[large | (near & (area >= DOT * size * size))]
    return (*shown[:, :2].min(axis=0), *shown[:, 2:].max(axis=0))


def _within(y: NDArray[Any], spans: Sequence[tuple[float, float]], rim: float) -> NDArray[np.bool_]:
    """Which heights lie inside a cell, off its rim."""
    return np.asarray(np.logical_or.reduce([(y > top + rim) & (y < bottom - rim) for top, bottom in spans]))


def _enlarged(mask: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    if mask.shape == shape:
        return mask
    size = (shape[1], shape[0])
    return np.asarray(cv2.resize(mask.astype(np.uint8), size, interpolation=cv2.INTER_LINEAR) > 0)
