"""How much of a half-folio is on its image: how many of its columns, and whether top or bottom are cut off.

If the settings name eight columns and only four fit the rules at a possible column width, the others are not on the
image; if nine or ten fit better, the page has nine or ten. If rules run into the edge of the image without a level line
that ends them, the frame lies beyond the edge; its height is that of a full column of cells, measured on the glyphs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.columns import cell_height
from proof.layout.half_folio import ColumnArea, Layout
from proof.layout.page import FoundColumn
from proof.layout.rules import Mask, ink_mask, inked_along, long_strokes, thickened, true_ranges

MIN_RULE_SHARE = 0.12
"""Minimum length of the upright strokes at a rule, as a share of the height of the text."""

MAX_RULE_SHARE = 0.5
"""Maximum weight of a rule, as a share of the height of the text: longer rules count no more."""

RULES_OF_FULL_HEIGHT = 0.75
"""Quantile of the heights of rules that is taken for that of the text: some are worn off at their ends."""

MIN_RULES_HEIGHT = 0.5
"""Minimum height of the rules, in heights of all ink, that is taken for that of the text: lower ones are remnants."""

ONE_RULE_PX = 3
"""Maximum distance of the strokes of a rule, in pixels."""

DOUBLE_FRAME_PX = 15
"""Maximum distance of the two lines of a double frame, in pixels."""

MIN_COLUMN_HEIGHTS = 1 / 20
"""Minimum width of a column in heights of the text; a half-folio of eight columns has 1/11.5, half of which would fit
every second rule of one that is cut off."""

MAX_COLUMN_HEIGHTS = 1 / 6.5
"""Maximum width of a column in heights of the text; a half-folio of eight columns with its top cut off has 1/8."""

TRIED_WIDTHS = 150
"""The number of column widths that are tried."""

MAX_RULE_OFFSET = 0.06
"""Maximum distance of a rule from its expected place, in widths of a column."""

MAX_FRAME_OFFSET = 0.2
"""The same for the outermost rule, on the side away from the columns."""

BEYOND_IMAGE_PENALTY = 1e6
"""Subtracted from the score for a rule beyond the image, which excludes it."""

MAX_BEYOND_IMAGE = 0.12
"""Maximum distance of the outermost rule beyond the edge of the image, in widths of a column."""

MIN_COLUMNS = 2
"""Minimum number of columns that is tried."""

MAX_COLUMNS = 20
"""Maximum number of columns that is tried: an opening may have both of its half-folios on one image."""

MAX_FIT_RATIO = 0.5
"""Maximum fit of the expected number of columns, relative to that of fewer columns, for the fewer to be taken."""

MIN_FIT_OF_FEWER = 0.6
"""Minimum fit of fewer columns than expected: 1 if every rule stands at its place and none elsewhere."""

MIN_BETTER_FIT = 0.015
"""Minimum difference by which more columns than expected must fit better."""

MIN_FIT_OF_MORE = 0.75
"""Minimum fit of more columns than expected."""

FISH_TAIL_PX = 16
"""Minimum breadth of a fish tail, in pixels at the height at which columns are counted; strokes are thinner."""

MIN_FRAME_LINE = 0.3
"""Minimum length of a level line of the frame, as a share of the width of all columns."""

MIN_RULE_AT_END = 0.4
"""Minimum printed share of the rules at the end of the columns, relative to their printed share over the whole
height, for the rules to run on beyond the image."""

MAX_EDGE_DISTANCE_CELLS = 0.25
"""Maximum distance in cells between the end of a rule and the edge of the image for the rule to reach the edge."""

GLYPH_WIDTH = 0.75
"""The usual width of a glyph, in widths of its column."""

MIN_MISSING_CELLS = 0.6
"""Minimum height of the missing part of the columns, in cells; less counts as nothing missing."""

FRAME_HEIGHT = 1.018
"""The height of a frame, in heights of all the cells of a column."""


@dataclass(frozen=True, slots=True)
class CountedColumns:
    """A number of equal columns between two x of a page, and how well they explain its rules, 0 to 1. `partial`: rules
    stand beyond them."""

    columns: int
    left: float
    right: float
    fit: float
    partial: bool = False

    def enlarged(self, factor: float) -> CountedColumns:
        """The same on a page that is larger by this factor."""
        return replace(self, left=self.left * factor, right=self.right * factor)


def other_count(ink: Mask, expected: int) -> CountedColumns | None:
    """The columns of a flat ruled page if its rules clearly show another number than `expected`, else None."""
    height, width = ink.shape
    rows = np.flatnonzero(inked_along(ink, 1) > 0.01 * width)
    if rows.size < height // 3:
        return None
    tall = float(rows[-1] - rows[0])
    upright = thickened(long_strokes(ink, height // 25, vertical=True), 5, 1)
    inked = inked_along(upright, 0)
    height_of_text = _height_of_rules(upright, inked / tall, tall)
    fits = _fits(inked / height_of_text, height_of_text)
    if not fits:
        return None
    usual = fits[expected].fit if expected in fits else 0.0
    best = max(fits.values(), key=lambda comb: comb.fit)
    fewer = best.columns < expected and best.fit > MIN_FIT_OF_FEWER and usual < MAX_FIT_RATIO * best.fit
    more = best.columns > expected and best.fit > max(MIN_FIT_OF_MORE, usual + MIN_BETTER_FIT)
    if not fewer and not (more and not _with_fold_strip(ink, best)):
        return None
    return best


def _height_of_rules(upright: Mask, share: NDArray[np.float64], tall: float) -> float:
    """The height of the text as its rules show it, from the first to the last ink of each: less than that of all ink,
    which is `tall`, where headnotes, labels or stamps stand beyond the frame. `share` is the ink of `upright` at each
    x, as a share of `tall`."""
    heights = []
    for left, right in _stretches(share, DOUBLE_FRAME_PX):
        rows = np.flatnonzero(upright[:, left:right].any(axis=1))
        heights.append(int(rows[-1] - rows[0]))
    height = float(np.quantile(heights, RULES_OF_FULL_HEIGHT)) if heights else tall
    return height if height > MIN_RULES_HEIGHT * tall else tall


def _with_fold_strip(ink: Mask, comb: CountedColumns) -> bool:
    """Whether the outermost of these columns is a fold strip, told by its fish tail, which is solid ink."""
    solid = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((FISH_TAIL_PX, FISH_TAIL_PX), np.uint8))
    pitch = (comb.right - comb.left) / comb.columns
    middles = comb.left + pitch / 2, comb.right - pitch / 2
    inner = (solid[:, max(0, round(x - 0.3 * pitch)) : max(0, round(x + 0.3 * pitch))] for x in middles)
    return any(bool(part.any()) for part in inner)


def _rules(share: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """The x of the rules, the share of the height along which each runs, and the sum of these shares, in which the two
    lines of a double frame count once."""
    single, double = (_stretches(share, apart) for apart in (ONE_RULE_PX, DOUBLE_FRAME_PX))
    places = [float(np.average(np.arange(a, b), weights=share[a:b])) for a, b in single]
    strength = [min(float(share[a:b].max()), MAX_RULE_SHARE) for a, b in single]
    return np.array(places), np.array(strength), sum(min(float(share[a:b].max()), MAX_RULE_SHARE) for a, b in double)


def _stretches(share: NDArray[np.float64], apart: int) -> list[tuple[int, int]]:
    """The ranges of x (end exclusive) in which rules stand; rules within `apart` pixels are joined."""
    ruled = (share > MIN_RULE_SHARE).astype(np.uint8)[None, :]
    return true_ranges(np.asarray(cv2.morphologyEx(ruled, cv2.MORPH_CLOSE, np.ones((1, apart), np.uint8)))[0] > 0)


def _fits(share: NDArray[np.float64], tall: float) -> dict[int, CountedColumns]:
    """For every number of columns the comb that explains the rules best, by the F measure of rules at their expected
    places, each weighted by its length."""
    places, strength, total = _rules(share)
    if not MIN_COLUMNS < places.size < 3 * MAX_COLUMNS:
        return {}
    pitch = np.linspace(MIN_COLUMN_HEIGHTS * tall, MAX_COLUMN_HEIGHTS * tall, TRIED_WIDTHS)[:, None, None]
    teeth = places[None, :, None] + np.arange(-MAX_COLUMNS, MAX_COLUMNS + 1)[None, None, :] * pitch
    off = (places - teeth[..., None]) / pitch[..., None]
    beyond = np.where(
        (teeth < -MAX_BEYOND_IMAGE * pitch) | (teeth > share.size + MAX_BEYOND_IMAGE * pitch), -np.inf, 0.0
    )

    def hit(low: float, high: float) -> NDArray[np.float64]:
        there = (off > -low) & (off < high)
        return np.asarray((there * strength).max(axis=-1) + beyond, dtype=np.float64)

    # the outer line of a frame may be all that is left of it
    inner, left, right = (
        hit(MAX_RULE_OFFSET, MAX_RULE_OFFSET),
        hit(MAX_FRAME_OFFSET, MAX_RULE_OFFSET),
        hit(MAX_RULE_OFFSET, MAX_FRAME_OFFSET),
    )
    sums = np.cumsum(
        np.pad(np.where(np.isfinite(inner), inner, -BEYOND_IMAGE_PENALTY), ((0, 0), (0, 0), (1, 0))), axis=-1
    )
    fits = {}
    for count in range(MIN_COLUMNS, MAX_COLUMNS + 1):
        within = sums[..., count:-1] - sums[..., 1:-count]
        score = left[..., :-count] + within + right[..., count:]
        best = np.unravel_index(int(score.argmax()), score.shape)
        start = float(teeth[best])
        fit = 2 * float(score[best]) / (total + MAX_RULE_SHARE * (count + 1))
        if fit > 0:
            width = float(pitch[best[0], 0, 0])
            end = start + count * width
            beyond_comb = (places < start - width / 2) | (places > end + width / 2)
            fits[count] = CountedColumns(count, start, end, fit, bool(beyond_comb.any()))
    return fits


def with_cut_edges(layout: Layout, rows: int, page: tuple[int, int], origin: tuple[float, float]) -> Layout:
    """The layout of a ruled page with its columns extended to where they end beyond the image that cuts them off.

    `page` is height and width of the image, `origin` its place in the file; a full column holds `rows` cells.
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
    text_columns = [FoundColumn(1, area.left, begin, area.right, end, GLYPH_WIDTH * area.width) for area in areas]
    pitch = cell_height(layout.ink, text_columns)
    full = FRAME_HEIGHT * rows * pitch
    if full - (end - begin) < MIN_MISSING_CELLS * pitch:
        return layout
    # cut on both sides it is the text that tells how far above it begins
    first = begin if bottom else end - full
    longer = tuple(replace(area, top=first, bottom=first + full, raised=0.0) for area in areas)
    cut = (begin if top else None, end if bottom else None)
    return replace(layout, outline=replace(layout.outline, columns=longer, cut=cut))


def _ends(layout: Layout, page: tuple[int, int], origin: tuple[float, float], reach: float) -> tuple[float, float]:
    """The y of the rectified page at which its columns end above and below: the edge of the image if their rules reach
    it, otherwise the end of the rules."""
    height, width = page
    xs = np.linspace(0, width, 41)
    first, last = layout.columns[0], layout.columns[-1]
    edges = []
    for y, inner, out in ((0.0, first.top, -1.0), (float(height), first.bottom, 1.0)):
        seen = layout.rectification.to_page(np.stack([xs, np.full_like(xs, y)], axis=1) + np.array(origin))
        across = (seen[:, 0] > last.left) & (seen[:, 0] < first.right)
        edge = float(np.median(seen[across, 1])) if across.any() else inner
        edges.append(edge if (edge - inner) * out < MAX_EDGE_DISTANCE_CELLS * reach else inner)
    return max(0.0, edges[0]), min(float(layout.grey.shape[0]), edges[1])


def _is_framed(layout: Layout, end: float, reach: float) -> bool:
    """Whether a line of the frame runs across where columns end."""
    first, last = layout.columns[0], layout.columns[-1]
    left, right = max(0, round(last.left)), round(first.right)
    band = layout.grey[max(0, round(end - reach)) : round(end + reach), left:right]
    if not band.size:
        return False
    level = long_strokes(ink_mask(band), layout.grey.shape[0] // 15, vertical=False)
    return bool(inked_along(level, 1).max() > MIN_FRAME_LINE * (right - left))


def _runs_out(upright: Mask, areas: tuple[ColumnArea, ...], first: float, last: float) -> bool:
    """Whether rules run through a band where columns end."""
    rows = slice(max(0, round(first)), round(last))
    places = [*(round(area.left) for area in areas), round(areas[0].right)]
    strokes = [np.asarray(upright[:, max(0, x - 5) : x + 6].max(axis=1, initial=0) > 0) for x in places]
    # a rule that is broken elsewhere may be so here
    return (
        sum(float(stroke[rows].mean()) for stroke in strokes)
        > MIN_RULE_AT_END * sum(float(stroke.mean()) for stroke in strokes)
        > 0
    )
