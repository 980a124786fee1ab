"""How much of a half-folio is on its image: the number of its columns, and whether its top or bottom is cut off.

If the settings name eight columns and only four fit the rules at a possible column width, the others are not on the
image; if nine or ten fit better, the page has nine or ten. If rules run into the edge of the image without a level line
that ends them, the frame lies beyond the edge; it is as high as a full column of cells, measured on the glyphs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.columns import cell_height, default_height
from proof.layout.half_folio import ColumnArea, Layout
from proof.layout.page import FoundColumn
from proof.layout.rules import Mask, ink_mask, inked_along, long_strokes, thickened, true_ranges

MIN_RULE_SHARE = 0.12
"""Minimum length of the upright strokes at a rule, as a share of the height of the text."""

MAX_RULE_SHARE = 0.5
"""Maximum share of the height of the text that a rule counts for."""

RULES_OF_FULL_HEIGHT = 0.75
"""Quantile of the heights of rules that is taken for the height of the text: some are worn off at their ends."""

MIN_RULES_HEIGHT = 0.5
"""Minimum height of the rules, in heights of all ink, to be taken for the height of the text: lower ones are
remnants."""

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
"""Maximum ratio of the fit of the expected number of columns to the fit of fewer columns for the fewer to be taken."""

MIN_FIT_OF_FEWER = 0.6
"""Minimum fit of fewer columns than expected: 1 if every rule stands at its place and none elsewhere."""

MIN_BETTER_FIT = 0.015
"""Minimum difference by which more columns than expected must fit better than the expected ones."""

MIN_FIT_OF_MORE = 0.75
"""Minimum fit of more columns than expected."""

FISH_TAIL_PX = 16
"""Minimum breadth of a fish tail, in pixels at the height at which columns are counted; strokes are thinner."""

MIN_FRAME_LINE = 0.3
"""Minimum length of a level line of the frame, as a share of the width of all columns."""

MIN_RULE_AT_END = 0.4
"""Minimum printed share of the rules at the end of the columns, relative to that over the whole height, for the rules
to continue beyond the image."""

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
    """A number of equal columns between two x of a page, and how well they explain its rules, 0 to 1 (`fit`).
    `partial`: rules stand beyond them."""

    columns: int
    left: float
    right: float
    fit: float
    partial: bool = False

    @property
    def width(self) -> float:
        """The width of a column."""
        return (self.right - self.left) / self.columns

    def enlarged(self, factor: float) -> CountedColumns:
        """The same columns on a page that is larger by this factor."""
        return replace(self, left=self.left * factor, right=self.right * factor)


def other_count(ink: Mask, expected: int) -> CountedColumns | None:
    """The columns of a flat ruled page if its rules clearly show another number than `expected`, else None."""
    height, width = ink.shape
    rows = np.flatnonzero(inked_along(ink, 1) > 0.01 * width)
    if rows.size < height // 3:
        return None
    upright = thickened(long_strokes(ink, height // 25, vertical=True), 5, 1)
    lengths = inked_along(upright, 0)
    text_height = _height_of_rules(upright, lengths, float(rows[-1] - rows[0]))
    fits = _fits(lengths / text_height, text_height)
    if not fits:
        return None
    best = max(fits.values(), key=lambda columns: columns.fit)
    expected_fit = fits[expected].fit if expected in fits else 0.0
    if best.columns < expected:
        is_clear = best.fit > MIN_FIT_OF_FEWER and expected_fit < MAX_FIT_RATIO * best.fit
        return best if is_clear else None
    if best.columns > expected:
        is_clear = best.fit > max(MIN_FIT_OF_MORE, expected_fit + MIN_BETTER_FIT)
        return best if is_clear and not _has_fold_strip(ink, best) else None
    return None


def _height_of_rules(upright: Mask, lengths: NDArray[np.intp], ink_height: float) -> float:
    """The height of the text as its rules show it, from the first to the last ink of each: less than that of all ink
    (`ink_height`) where headnotes, labels or stamps stand beyond the frame. `lengths` is the ink of `upright` at each
    x."""
    heights = []
    for left, right in _rule_ranges(lengths / ink_height, DOUBLE_FRAME_PX):
        rows = np.flatnonzero(upright[:, left:right].any(axis=1))
        heights.append(int(rows[-1] - rows[0]))
    height = float(np.quantile(heights, RULES_OF_FULL_HEIGHT)) if heights else ink_height
    return height if height > MIN_RULES_HEIGHT * ink_height else ink_height


def _has_fold_strip(ink: Mask, columns: CountedColumns) -> bool:
    """Whether the outermost of these columns is a fold strip, shown by its fish tail, which is solid ink."""
    solid = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((FISH_TAIL_PX, FISH_TAIL_PX), np.uint8))
    reach = 0.3 * columns.width
    for middle in (columns.left + columns.width / 2, columns.right - columns.width / 2):
        if solid[:, max(0, round(middle - reach)) : max(0, round(middle + reach))].any():
            return True
    return False


class _Rules(NamedTuple):
    """The `x` of the rules, and the share of the height along which each runs; `total` is the sum of these shares, in
    which the two lines of a double frame count once."""

    x: NDArray[np.float64]
    share: NDArray[np.float64]
    total: float


def _rules(share: NDArray[np.float64]) -> _Rules:
    """The rules of a page. `share` is, at every x, the share of the height along which upright strokes run."""

    def longest(start: int, end: int) -> float:
        return min(float(share[start:end].max()), MAX_RULE_SHARE)

    ranges = _rule_ranges(share, ONE_RULE_PX)
    x = [float(np.average(np.arange(start, end), weights=share[start:end])) for start, end in ranges]
    total = sum(longest(*double) for double in _rule_ranges(share, DOUBLE_FRAME_PX))
    return _Rules(np.array(x), np.array([longest(*single) for single in ranges]), total)


def _rule_ranges(share: NDArray[np.float64], max_gap: int) -> list[tuple[int, int]]:
    """The ranges of x (end exclusive) in which rules stand; rules within `max_gap` pixels are joined."""
    ruled = (share > MIN_RULE_SHARE).astype(np.uint8)[None, :]
    joined = cv2.morphologyEx(ruled, cv2.MORPH_CLOSE, np.ones((1, max_gap), np.uint8))
    return true_ranges(np.asarray(joined)[0] > 0)


def _fits(share: NDArray[np.float64], text_height: float) -> dict[int, CountedColumns]:
    """For every number of columns the equal columns that explain the rules best, by the F measure of rules at their
    expected places, each weighted by its length. `share` as in `_rules`."""
    rules = _rules(share)
    if not MIN_COLUMNS < rules.x.size < 3 * MAX_COLUMNS:
        return {}
    # axes: the width of a column, the rule from which columns are counted, the number of the expected rule
    widths = np.linspace(MIN_COLUMN_HEIGHTS * text_height, MAX_COLUMN_HEIGHTS * text_height, TRIED_WIDTHS)
    width = widths[:, None, None]
    expected = rules.x[None, :, None] + np.arange(-MAX_COLUMNS, MAX_COLUMNS + 1)[None, None, :] * width
    offset = (rules.x - expected[..., None]) / width[..., None]
    beyond_left = expected < -MAX_BEYOND_IMAGE * width
    beyond_right = expected > share.size + MAX_BEYOND_IMAGE * width
    penalty = np.where(beyond_left | beyond_right, -BEYOND_IMAGE_PENALTY, 0.0)

    def score_of(max_left: float, max_right: float) -> NDArray[np.float64]:
        """The length of the longest rule near each expected rule: up to so many widths to its left and right."""
        is_near = (offset > -max_left) & (offset < max_right)
        return np.asarray((is_near * rules.share).max(axis=-1) + penalty, dtype=np.float64)

    inner = score_of(MAX_RULE_OFFSET, MAX_RULE_OFFSET)
    # the outer line of a frame may be all that is left of it
    left = score_of(MAX_FRAME_OFFSET, MAX_RULE_OFFSET)
    right = score_of(MAX_RULE_OFFSET, MAX_FRAME_OFFSET)
    sums = np.cumsum(np.pad(inner, ((0, 0), (0, 0), (1, 0))), axis=-1)
    fits = {}
    for count in range(MIN_COLUMNS, MAX_COLUMNS + 1):
        within = sums[..., count:-1] - sums[..., 1:-count]
        score = left[..., :-count] + within + right[..., count:]
        best = np.unravel_index(int(score.argmax()), score.shape)
        fit = 2 * float(score[best]) / (rules.total + MAX_RULE_SHARE * (count + 1))
        if fit > 0:
            column_width, start = float(widths[best[0]]), float(expected[best])
            end = start + count * column_width
            outside = (rules.x < start - column_width / 2) | (rules.x > end + column_width / 2)
            fits[count] = CountedColumns(count, start, end, fit, bool(outside.any()))
    return fits


def with_cut_edges(layout: Layout, rows: int, page: tuple[int, int], origin: tuple[float, float]) -> Layout:
    """The layout of a ruled page with its columns extended to where they end beyond the image that cuts them off.

    `page` is height and width of the image, `origin` its place in the file; a full column holds `rows` cells.
    """
    areas = layout.columns
    nominal_pitch = areas[0].cell(rows)
    above, below = _ends(layout, page, origin, nominal_pitch)
    open_above, open_below = (not _is_framed(layout, edge, nominal_pitch) for edge in (above, below))
    if not open_above and not open_below:
        return layout
    upright = long_strokes(ink_mask(layout.grey), layout.grey.shape[0] // 25, vertical=True)
    cut_above = open_above and _runs_out(upright, areas, above, above + nominal_pitch)
    cut_below = open_below and _runs_out(upright, areas, below - nominal_pitch, below)
    if not cut_above and not cut_below:
        return layout
    top, bottom = above if cut_above else areas[0].top, below if cut_below else areas[0].bottom
    text_columns = [FoundColumn(1, area.left, top, area.right, bottom, GLYPH_WIDTH * area.width) for area in areas]
    pitch = cell_height(layout.ink, text_columns) or default_height(text_columns)
    full_height = FRAME_HEIGHT * rows * pitch
    if full_height - (bottom - top) < MIN_MISSING_CELLS * pitch:
        return layout
    # if columns are cut off on both sides, the text shows how far above the image they begin
    full_top = top if cut_below else bottom - full_height
    longer = tuple(replace(area, top=full_top, bottom=full_top + full_height, raised=0.0) for area in areas)
    cut = (top if cut_above else None, bottom if cut_below else None)
    return replace(layout, outline=replace(layout.outline, columns=longer, cut=cut))


def _ends(layout: Layout, page: tuple[int, int], origin: tuple[float, float], pitch: float) -> tuple[float, float]:
    """The y of the rectified page at which its columns end above and below: the edge of the image if their rules reach
    it, otherwise the end of the rules."""
    height, width = page
    right, left = layout.columns[0], layout.columns[-1]
    xs = np.linspace(0, width, 41)

    def edge_y(file_y: float, default: float) -> float:
        """The y of an edge of the image between the outermost rules."""
        points = layout.rectification.to_page(np.stack([xs, np.full_like(xs, file_y)], axis=1) + np.array(origin))
        between = (points[:, 0] > left.left) & (points[:, 0] < right.right)
        return float(np.median(points[between, 1])) if between.any() else default

    top, bottom = edge_y(0.0, right.top), edge_y(float(height), right.bottom)
    max_distance = MAX_EDGE_DISTANCE_CELLS * pitch
    above = top if right.top - top < max_distance else right.top
    below = bottom if bottom - right.bottom < max_distance else right.bottom
    return max(0.0, above), min(float(layout.grey.shape[0]), below)


def _is_framed(layout: Layout, end: float, pitch: float) -> bool:
    """Whether a line of the frame runs across where columns end."""
    left, right = max(0, round(layout.columns[-1].left)), round(layout.columns[0].right)
    band = layout.grey[max(0, round(end - pitch)) : round(end + pitch), left:right]
    if not band.size:
        return False
    level = long_strokes(ink_mask(band), layout.grey.shape[0] // 15, vertical=False)
    return bool(inked_along(level, 1).max() > MIN_FRAME_LINE * (right - left))


def _runs_out(upright: Mask, areas: tuple[ColumnArea, ...], first: float, last: float) -> bool:
    """Whether rules run through the rows where columns end. A rule that is broken elsewhere may be so here."""
    rows = slice(max(0, round(first)), round(last))
    rules = [*(round(area.left) for area in areas), round(areas[0].right)]
    strokes = [np.asarray(upright[:, max(0, x - 5) : x + 6].max(axis=1, initial=0) > 0) for x in rules]
    printed = sum(float(stroke.mean()) for stroke in strokes)
    printed_here = sum(float(stroke[rows].mean()) for stroke in strokes)
    return printed > 0 and printed_here > MIN_RULE_AT_END * printed
