"""An opening: two half-folios side by side on one image, the right one read first.

It is an opened book (1b to the right, 2a to the left, the gutter between them) or a leaf that was never folded (1a to
the right, 1b to the left, the fold strip between them). Part a is the right half, b the left, as on a leaf of a plate.
Both halves have the same equal columns, so two combs of equal pitch are fitted to the rules; the cut lies between them.
Without rules it lies in the widest band without ink.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.images.size import shrunk
from proof.layout.half_folio import MAX_RULE_ENERGY
from proof.layout.rules import (
    MIN_OPENING_RATIO,
    PAGE_HEIGHT,
    Mask,
    ink_mask,
    inked_along,
    long_strokes,
    slope,
    true_ranges,
    without_border,
)
from proof.model.geometry import Box
from proof.ocr.engine import Pixels

MAX_GAP_WIDTHS = 1.0
"""Maximum gap between the two half-folios, in widths of a half-folio."""

MIN_HALF_WIDTH = 0.22
"""Minimum width of all columns of a half-folio, as a share of the width of the sheet."""

MAX_WIDTH_DIFFERENCE = 0.06
"""Maximum relative difference between the column widths of the two halves, for a book that does not lie flat."""

MIN_PRINTED_SHARE = 0.25
"""Minimum mean share of the height along which the expected rules are printed."""

BESIDE_WIDTHS = 0.04
"""Room left beside the columns, in widths of both halves."""

ABOVE_HEIGHTS = 0.12
"""Room left above the columns for raised text, in heights of the columns."""

BELOW_HEIGHTS = 0.05
"""Room left below the columns, in heights of the columns."""

GUTTER_SHARE = 0.3
"""Share of the gap between the halves that goes to each: not as far as the darkest part of a gutter. At 0.5 one half of
25 is not found where it is."""

SHADE_PX = 28
"""Minimum breadth of shade, in pixels at the working height; narrower dark parts are ink."""

MIN_EVEN_TONE = 0.85
"""Minimum tone of the ground, as a share of the paper's tone, at which a page is not changed."""


class _Edges(NamedTuple):
    """The left and right edge of a half-folio at half the height of the sheet."""

    left: float
    right: float


@dataclass(frozen=True, slots=True)
class _Halves:
    """The edges of each half, the top and bottom of both, and the slope of the rules of each (dx per dy). In pixels at
    the working height."""

    left: _Edges
    right: _Edges
    top: float
    bottom: float
    left_lean: float = 0.0
    right_lean: float = 0.0


@dataclass(frozen=True, slots=True)
class _Fit:
    """The edges of two combs of `columns`, their common score, and the mean share of the sheet's height along which the
    rules of the better one are printed."""

    columns: int
    left: _Edges
    right: _Edges
    score: float
    printed_share: float


@dataclass(frozen=True, slots=True)
class Half:
    """One half-folio of an opening: `box` in pixels of the opening, and `pixels` of that size, in even light, and blank
    where the other half or the ground below the book would be seen."""

    box: Box
    pixels: Pixels


def opening_halves(page: NDArray[np.uint8], columns: int = 8) -> dict[str, Half] | None:
    """The two half-folios of an opening (grey, height x width): a the right one, b the left.

    `columns` is the number of columns of a half-folio, 0 if unknown. One half may be blank, as at the beginning of a
    book. None if the sheet does not show two half-folios side by side.
    """
    page = _evened(page)
    small, scale = shrunk(page, PAGE_HEIGHT)
    ink = ink_mask(small)
    halves = _by_rules(ink, columns) or _by_ink(ink)
    if halves is None:
        return None
    left, right = halves.left, halves.right
    width, height = right.right - left.left, halves.bottom - halves.top
    if width < MIN_OPENING_RATIO * height:
        return None
    reach, margin = GUTTER_SHARE * (right.left - left.right), BESIDE_WIDTHS * width
    top = max(0.0, halves.top - ABOVE_HEIGHTS * height)
    bottom = min(ink.shape[0], halves.bottom + BELOW_HEIGHTS * height)
    edges_a, edges_b = _Edges(right.left - reach, right.right + margin), _Edges(left.left - margin, left.right + reach)
    return {
        "a": _half(page, scale, edges_a, top, bottom, halves.right_lean, cut_at_left=True),
        "b": _half(page, scale, edges_b, top, bottom, halves.left_lean, cut_at_left=False),
    }


def _half(page: Pixels, scale: float, edges: _Edges, top: float, bottom: float, lean: float, cut_at_left: bool) -> Half:
    """The half between the edges (at the working height), blank beyond the leaning cut, its left or right edge."""
    left, right, top, bottom = (edge / scale for edge in (*edges, top, bottom))
    sway = abs(lean) * (bottom - top) / 2
    x0, x1 = round(max(0.0, left - sway)), round(min(page.shape[1], right + sway))
    y0, y1 = round(top), min(page.shape[0], round(bottom))
    pixels = page[y0:y1, x0:x1].copy()
    cut = (left if cut_at_left else right) - x0 + lean * (np.arange(y0, y1) - page.shape[0] / 2)
    xs = np.arange(x1 - x0)
    beyond = xs[None, :] < cut[:, None] if cut_at_left else xs[None, :] > cut[:, None]
    pixels[beyond] = np.percentile(pixels, 75)
    return Half(Box(x0, y0, x1 - x0, y1 - y0), pixels)


def _evened(page: Pixels) -> Pixels:
    """The page without the shade of the gutter and the dark ground below the book; unchanged if it has neither."""
    small, _ = shrunk(page, PAGE_HEIGHT)
    ground = cv2.morphologyEx(small, cv2.MORPH_CLOSE, np.ones((SHADE_PX, SHADE_PX), np.uint8))
    paper = max(float(np.percentile(ground, 75)), 1.0)
    ink = ink_mask(small)
    surround = cv2.dilate(cv2.subtract(ink, without_border(ink)), np.ones((5, 5), np.uint8)) > 0
    ground = cv2.blur(np.maximum(ground, 1).astype(np.float32), (SHADE_PX, SHADE_PX))
    if not surround.any() and float(np.percentile(ground, 1)) > MIN_EVEN_TONE * paper:
        return page
    light = np.maximum(paper / ground, 1.0)
    light[surround] = 255
    large = cv2.resize(light, (page.shape[1], page.shape[0]), interpolation=cv2.INTER_LINEAR)
    return np.asarray(np.minimum(page * large, paper), dtype=np.uint8)


def _by_rules(ink: Mask, columns: int) -> _Halves | None:
    """The halves by their rules; None if too little of the rules is printed."""
    height, width = ink.shape
    upright = long_strokes(ink, height // 25, vertical=True)
    # the two pages of a book hardly ever lean alike
    left_lean, right_lean = (
        slope(upright[:, : width // 2], vertical=True),
        slope(upright[:, width // 2 :], vertical=True),
    )
    left_strokes, right_strokes = _straightened(upright, left_lean), _straightened(upright, right_lean)
    left_share, right_share = inked_along(left_strokes, 0) / height, inked_along(right_strokes, 0) / height
    fit = _best_fit(left_share, right_share, columns)
    if fit is None:
        return None
    starts, ends = [], []
    for strokes, share, edges in ((left_strokes, left_share, fit.left), (right_strokes, right_share, fit.right)):
        for x in np.linspace(*edges, fit.columns + 1).round().astype(int):
            if x < width and share[x] > 0.3 * share.max():
                rows = np.flatnonzero(strokes[:, x])
                starts.append(rows[0])
                ends.append(rows[-1])
    if not starts:
        return None
    top, bottom = float(np.quantile(starts, 0.1)), float(np.quantile(ends, 0.9))
    if fit.printed_share * height / max(bottom - top, 1.0) <= MIN_PRINTED_SHARE:
        return None
    return _Halves(fit.left, fit.right, top, bottom, left_lean, right_lean)


def _straightened(upright: Mask, lean: float) -> Mask:
    """The leaning strokes set upright about half the height, and broadened a little since pages are bent."""
    height, width = upright.shape
    turn = np.array([[1.0, -lean, lean * height / 2], [0.0, 1.0, 0.0]])
    straight = cv2.warpAffine(upright, turn, (width, height), flags=cv2.INTER_NEAREST)
    return np.asarray(cv2.dilate(straight, np.ones((1, 7), np.uint8)), dtype=np.uint8)


def _best_fit(left_share: NDArray[np.float64], right_share: NDArray[np.float64], columns: int) -> _Fit | None:
    """The two combs that fit the rules best, of so many columns or, if that is 0, of the number that fits best.
    `left_share` and `right_share` are, for every x, the share of the height along which upright strokes run, by the
    slope of the left and of the right half."""
    # as in the layout of a half-folio: a thick frame does not outweigh several thin rules
    capped = np.minimum(left_share, MAX_RULE_ENERGY), np.minimum(right_share, MAX_RULE_ENERGY)
    if columns:
        return _fit_of(*capped, columns)
    fits = [fit for count in range(5, 15) if (fit := _fit_of(*capped, count))]
    return max(fits, key=lambda fit: fit.score * (fit.columns / (fit.columns + 1) ** 2), default=None)


def _fit_of(left_share: NDArray[np.float64], right_share: NDArray[np.float64], columns: int) -> _Fit | None:
    """The two combs of so many equal columns, side by side, that fit the rules best."""
    width = left_share.size
    column_widths = np.arange(MIN_HALF_WIDTH * width / columns, 0.5 * width / columns, 0.5)
    # the score of every comb: of the left half by its right edge, of the right half by its left edge
    left_scores, right_scores = np.full((2, column_widths.size, width), -1.0)
    for number, column_width in enumerate(column_widths.tolist()):
        teeth = [round(tooth * column_width) for tooth in range(columns + 1)]
        starts = width - teeth[-1]
        # squared: nine rules under one comb and none under the other are better than eight and one
        left_scores[number, teeth[-1] :] = np.sum([left_share[tooth : tooth + starts] for tooth in teeth], axis=0) ** 2
        right_scores[number, :starts] = np.sum([right_share[tooth : tooth + starts] for tooth in teeth], axis=0) ** 2
    best: _Fit | None = None
    usual_width = float(column_widths[0])
    while usual_width < column_widths[-1]:
        low, high = usual_width * (1 - MAX_WIDTH_DIFFERENCE), usual_width * (1 + MAX_WIDTH_DIFFERENCE)
        alike = np.flatnonzero((column_widths > low) & (column_widths < high))
        best_left, best_right = left_scores[alike].max(axis=0), right_scores[alike].max(axis=0)
        max_gap = round(MAX_GAP_WIDTHS * columns * usual_width)
        padded = np.concatenate([np.full(max_gap, -1.0), best_left])
        left_windows = np.lib.stride_tricks.sliding_window_view(padded, max_gap + 1)
        scores = left_windows.max(axis=1) + best_right
        start = int(scores.argmax())
        if best is None or scores[start] > best.score:
            end = start - max_gap + int(left_windows[start].argmax())
            left_width = columns * float(column_widths[alike[left_scores[alike, end].argmax()]])
            right_width = columns * float(column_widths[alike[right_scores[alike, start].argmax()]])
            left, right = _Edges(end - left_width, float(end)), _Edges(float(start), start + right_width)
            printed_share = max(float(best_left[end]), float(best_right[start])) ** 0.5 / (columns + 1)
            best = _Fit(columns, left, right, float(scores[start]), printed_share)
        usual_width *= 1 + MAX_WIDTH_DIFFERENCE / 2
    return best


def _by_ink(ink: Mask) -> _Halves | None:
    """The halves as two blocks of ink with a band without ink between them; None where there is none."""
    ink_in_row, ink_at_x = inked_along(ink, 1), inked_along(ink, 0)
    max_dirt = 0.002 * ink.shape[0]
    ys, xs = np.flatnonzero(ink_in_row > 0.004 * ink.shape[1]), np.flatnonzero(ink_at_x > max_dirt)
    if ys.size < 2 or xs.size < 2:
        return None
    left, right = int(xs[0]), int(xs[-1])
    first, last = left + (right - left) * 2 // 5, left + (right - left) * 3 // 5
    bands = true_ranges(ink_at_x[first:last] <= max_dirt)
    start, end = max(bands, key=lambda band: band[1] - band[0], default=(0, 0))
    if not bands or end - start < 0.02 * (right - left):
        return None
    return _Halves(_Edges(left, first + start), _Edges(first + end, right), float(ys[0]), float(ys[-1]))
