"""How much of a half-folio is on its image: how many of its columns, and whether top or bottom are cut off.

Where the settings say eight columns and only four fit the rules at a width that a column can have, the others are not
on the image; where nine or ten fit better, the page has as many. Where rules run into the edge of the image and no
level line ends them, the frame lies beyond it, as far as so many cells of the height that the glyphs show would reach.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.columns import cell_height
from proof.layout.half_folio import ColumnArea, Layout
from proof.layout.page import FoundColumn
from proof.layout.rules import Mask, ink_mask, inked_along, long_strokes, runs, thickened

RULED = 0.12
"""Of the height of the text: where upright strokes are as long as this together, there is a rule."""

THICK = 0.5
"""Of the height of the text: what a rule that runs further counts."""

ONE_RULE_PX = 3
"""Pixels: strokes of one rule are no further apart."""

DOUBLE_FRAME_PX = 15
"""Pixels: the two lines of a double frame are no further apart."""

MIN_COLUMN_HEIGHTS = 1 / 16
"""Of the height of the text: no column is narrower; a half-folio's of eight has 1/11.5."""

MAX_COLUMN_HEIGHTS = 1 / 6.5
"""Of the height of the text: no column is wider; a half-folio's of eight with its top cut off has 1/8."""

PITCHES = 120
"""How many widths of a column are tried."""

NEAR = 0.06
"""Of a column's width: how far from its place a rule may stand."""

FRAMED = 0.2
"""The same for the outermost rule, away from the columns."""

BAD = 1e6
"""Less than anything: a rule beyond the image."""

OUT = 0.12
"""Of a column's width: how far beyond the edge of the image the outermost rule may lie."""

MIN_COLUMNS = 2
"""The fewest columns that are counted."""

MAX_COLUMNS = 14
"""The most columns that are counted."""

HALF_AS_WELL = 0.5
"""Where the expected columns fit the rules only so well against others, these are taken."""

RULES_FIT = 0.6
"""How well fewer columns than expected must fit the rules: 1 where each stands where it should and none elsewhere."""

MIN_BETTER_FIT = 0.015
"""By how much better more columns than expected must fit."""

MIN_FIT = 0.75
"""How well more columns than expected must fit."""

TAIL = 16
"""Pixels at the height at which columns are counted: no stroke of text is as broad."""

LEVEL = 0.3
"""Of the width of the columns: a level line as long as this is the frame's."""

INTO_EDGE = 0.4
"""Of what is left of the rules elsewhere: where so much of them is left at the end of the columns, they run on."""

AT_EDGE = 0.25
"""Cells: rules that end so near to the edge of the image run up to it."""

GLYPH = 0.75
"""The width of a glyph against that of its column."""

LESS = 0.6
"""Cells: where less than this is missing, nothing is."""

FULL = 1.018
"""The height of a frame against that of the cells in it."""


@dataclass(frozen=True, slots=True)
class Comb:
    """So many equal columns between two x of a page, and how well they explain its rules, 0 to 1."""

    columns: int
    left: float
    right: float
    fit: float

    def enlarged(self, factor: float) -> Comb:
        """The same on a page so many times larger."""
        return replace(self, left=self.left * factor, right=self.right * factor)


def other_count(ink: Mask, expected: int) -> Comb | None:
    """The columns of a ruled page that lies flat, by its `ink`, where its rules plainly speak for another count than
    the expected one."""
    height, width = ink.shape
    rows = np.flatnonzero(inked_along(ink, 1) > 0.01 * width)
    if rows.size < height // 3:
        return None
    tall = float(rows[-1] - rows[0])
    upright = long_strokes(ink, height // 25, vertical=True)
    fits = _fits(inked_along(thickened(upright, 5, 1), 0) / tall, tall)
    if not fits:
        return None
    usual = fits[expected].fit if expected in fits else 0.0
    best = max(fits.values(), key=lambda comb: comb.fit)
    fewer = best.columns < expected and best.fit > RULES_FIT and usual < HALF_AS_WELL * best.fit
    more = best.columns > expected and best.fit > max(MIN_FIT, usual + MIN_BETTER_FIT)
    if not fewer and not (more and not _with_fold_strip(ink, best)):
        return None
    return best


def _with_fold_strip(ink: Mask, comb: Comb) -> bool:
    """Whether the outermost of these columns is a fold strip, told by its fish tail, which is solid ink."""
    solid = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((TAIL, TAIL), np.uint8))
    pitch = (comb.right - comb.left) / comb.columns
    middles = comb.left + pitch / 2, comb.right - pitch / 2
    inner = (solid[:, max(0, round(x - 0.3 * pitch)) : max(0, round(x + 0.3 * pitch))] for x in middles)
    return any(bool(part.any()) for part in inner)


def _rules(share: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Where rules stand, along which share of the height each runs, and the sum of these shares; there the two lines of
    a frame are one."""
    single, double = (_stretches(share, apart) for apart in (ONE_RULE_PX, DOUBLE_FRAME_PX))
    places = [float(np.average(np.arange(a, b), weights=share[a:b])) for a, b in single]
    strength = [min(float(share[a:b].max()), THICK) for a, b in single]
    return np.array(places), np.array(strength), sum(min(float(share[a:b].max()), THICK) for a, b in double)


def _stretches(share: NDArray[np.float64], apart: int) -> list[tuple[int, int]]:
    """From where to where (exclusive) there are rules, those within `apart` pixels taken together."""
    ruled = (share > RULED).astype(np.uint8)[None, :]
    return runs(np.asarray(cv2.morphologyEx(ruled, cv2.MORPH_CLOSE, np.ones((1, apart), np.uint8)))[0] > 0)


def _fits(share: NDArray[np.float64], tall: float) -> dict[int, Comb]:
    """For every count of columns those that explain best where rules stand, by the F measure of rules that are where
    they are expected, each weighed by how far it runs."""
    places, strength, total = _rules(share)
    if not MIN_COLUMNS < places.size < 3 * MAX_COLUMNS:
        return {}
    pitch = np.linspace(MIN_COLUMN_HEIGHTS * tall, MAX_COLUMN_HEIGHTS * tall, PITCHES)[:, None, None]
    teeth = places[None, :, None] + np.arange(-MAX_COLUMNS, MAX_COLUMNS + 1)[None, None, :] * pitch
    off = (places - teeth[..., None]) / pitch[..., None]
    beyond = np.where((teeth < -OUT * pitch) | (teeth > share.size + OUT * pitch), -np.inf, 0.0)

    def hit(low: float, high: float) -> NDArray[np.float64]:
        there = (off > -low) & (off < high)
        return np.asarray((there * strength).max(axis=-1) + beyond, dtype=np.float64)

    # the outer line of a frame may be all that is left of it
    inner, left, right = hit(NEAR, NEAR), hit(FRAMED, NEAR), hit(NEAR, FRAMED)
    sums = np.cumsum(np.pad(np.where(np.isfinite(inner), inner, -BAD), ((0, 0), (0, 0), (1, 0))), axis=-1)
    fits = {}
    for count in range(MIN_COLUMNS, MAX_COLUMNS + 1):
        within = sums[..., count:-1] - sums[..., 1:-count]
        score = left[..., :-count] + within + right[..., count:]
        best = np.unravel_index(int(score.argmax()), score.shape)
        start = float(teeth[best])
        fit = 2 * float(score[best]) / (total + THICK * (count + 1))
        if fit > 0:
            fits[count] = Comb(count, start, start + count * float(pitch[best[0], 0, 0]), fit)
    return fits


def with_cut_edges(layout: Layout, rows: int, page: tuple[int, int], origin: tuple[float, float]) -> Layout:
    """The layout of a ruled page with its columns as long as they are, where the image cuts them off above or below.

    `page` is height and width of the image, `origin` where it lies in its file; a full column holds `rows` cells.
    """
    areas = layout.columns
    reach = areas[0].cell(rows)
    above, below = _ends(layout, page, origin, reach)
    open_ends = tuple(not _is_framed(layout, edge, reach) for edge in (above, below))
    if not any(open_ends):
        return layout
    upright = long_strokes(ink_mask(layout.grey), layout.grey.shape[0] // 25, vertical=True)
    top = open_ends[0] and _runs_out(upright, areas, above, above + reach)
    bottom = open_ends[1] and _runs_out(upright, areas, below - reach, below)
    if not top and not bottom:
        return layout
    begin, end = above if top else areas[0].top, below if bottom else areas[0].bottom
    text_columns = [FoundColumn(1, area.left, begin, area.right, end, GLYPH * area.width) for area in areas]
    pitch = cell_height(layout.ink, text_columns)
    full = FULL * rows * pitch
    if full - (end - begin) < LESS * pitch:
        return layout
    # cut on both sides it is the text that tells how far above it begins
    first = begin if bottom else end - full
    longer = tuple(replace(area, top=first, bottom=first + full, raised=0.0) for area in areas)
    cut = (begin if top else None, end if bottom else None)
    return replace(layout, outline=replace(layout.outline, columns=longer, cut=cut))


def _ends(layout: Layout, page: tuple[int, int], origin: tuple[float, float], reach: float) -> tuple[float, float]:
    """The y of the rectified page at which its columns end above and below: at the edge of the image where their rules
    run up to it, else where these end."""
    height, width = page
    xs = np.linspace(0, width, 41)
    first, last = layout.columns[0], layout.columns[-1]
    edges = []
    for y, inner, out in ((0.0, first.top, -1.0), (float(height), first.bottom, 1.0)):
        seen = layout.rectification.to_page(np.stack([xs, np.full_like(xs, y)], axis=1) + np.array(origin))
        across = (seen[:, 0] > last.left) & (seen[:, 0] < first.right)
        edge = float(np.median(seen[across, 1])) if across.any() else inner
        edges.append(edge if (edge - inner) * out < AT_EDGE * reach else inner)
    return max(0.0, edges[0]), min(float(layout.grey.shape[0]), edges[1])


def _is_framed(layout: Layout, end: float, reach: float) -> bool:
    """Whether a line of the frame runs across where columns end."""
    first, last = layout.columns[0], layout.columns[-1]
    left, right = max(0, round(last.left)), round(first.right)
    band = layout.grey[max(0, round(end - reach)) : round(end + reach), left:right]
    if not band.size:
        return False
    level = long_strokes(ink_mask(band), layout.grey.shape[0] // 15, vertical=False)
    return bool(inked_along(level, 1).max() > LEVEL * (right - left))


def _runs_out(upright: Mask, areas: tuple[ColumnArea, ...], first: float, last: float) -> bool:
    """Whether rules run through a band where columns end."""
    rows = slice(max(0, round(first)), round(last))
    places = [*(round(area.left) for area in areas), round(areas[0].right)]
    strokes = [np.asarray(upright[:, max(0, x - 5) : x + 6].max(axis=1, initial=0) > 0) for x in places]
    # a rule that is broken elsewhere may be so here
    return (
        sum(float(stroke[rows].mean()) for stroke in strokes)
        > INTO_EDGE * sum(float(stroke.mean()) for stroke in strokes)
        > 0
    )
