"""An opening: two half-folios side by side on one image, the right one read first.

It is an opened book (1b to the right, 2a to the left, the gutter between them) or a leaf that was never folded (1a to
the right, 1b to the left, the fold strip between them). Part a is the right half, b the left, as on a leaf of a plate.
Both halves have the same equal columns, so two combs of equal pitch are fitted to the rules; the cut lies between them.
Without rules it lies in the widest band without ink.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.images.size import shrunk
from proof.layout.half_folio import MIN_OPENING_RATIO
from proof.layout.rules import Mask, ink_mask, inked_along, long_strokes, slope, true_ranges, without_border
from proof.model.geometry import Box
from proof.ocr.engine import Pixels

WORKING_HEIGHT = 1400
"""The height of the opening, in pixels, at which the cut is found."""

MAX_GAP_WIDTHS = 1.0
"""Maximum gap between the two half-folios, in widths of a half-folio."""

MIN_HALF_WIDTH = 0.22
"""Minimum width of all columns of a half-folio, as a share of the width of the sheet."""

MAX_WIDTH_DIFFERENCE = 0.06
"""Maximum relative difference between the column widths of the two halves, for a book that does not lie flat."""

MIN_RULE_SUPPORT = 0.25
"""Minimum mean share of the height along which a line runs at the expected rules."""

BESIDE_WIDTHS = 0.04
"""Room left beside the columns, in widths of both halves."""

ABOVE_HEIGHTS = 0.12
"""Room left above the columns for raised text, in heights of the columns."""

BELOW_HEIGHTS = 0.05
"""Room left below the columns, in heights of the columns."""

MAX_FOLD_OVERLAP_WIDTHS = 0.03
"""Maximum reach of a half-folio past the middle of a fold strip, in widths of both halves."""

MAX_STRIP_WIDTH = 0.06
"""Maximum width of a fold strip, in widths of both halves; a wider gap is a gutter. One of eight columns has 0.06."""

GUTTER_SHARE = 0.3
"""The share of the gutter that goes with each half."""

SHADE_PX = 28
"""Minimum breadth of shade, in pixels at the working height; dark parts that are narrower are ink."""

MIN_GROUND_TONE = 0.25
"""Minimum tone of shade, as a share of the paper's tone: darker shade is brightened no more than this."""

MIN_EVEN_TONE = 0.85
"""Minimum tone of the ground, as a share of the paper's tone, at which a page is left as it is."""


@dataclass(frozen=True, slots=True)
class _Halves:
    """The left and right edge of each half at half the height of the sheet, the top and bottom of both (`rows`), and
    the slope of the rules of each (dx per dy). In pixels at the working height."""

    left: tuple[float, float]
    right: tuple[float, float]
    rows: tuple[float, float]
    leans: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class _Fit:
    """The left and right edge of two combs, their common score, and the mean strength of the better one's rules."""

    left: tuple[float, float]
    right: tuple[float, float]
    score: float
    support: float


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
    small, scale = shrunk(page, WORKING_HEIGHT)
    ink = ink_mask(small)
    leaves = _by_rules(ink, columns) or _by_ink(ink)
    if leaves is None:
        return None
    (left, end), (start, right), (top, bottom) = leaves.left, leaves.right, leaves.rows
    across, down, gap = right - left, bottom - top, start - end
    if across < MIN_OPENING_RATIO * down:
        return None
    # Past the middle of a fold strip, to include the rule by the fold, but not as far as the rule of the other half,
    # which could be mistaken for one of this half; in a gutter, not as far as its darkest part.
    reach = (
        min(gap * 0.85, gap / 2 + MAX_FOLD_OVERLAP_WIDTHS * across)
        if gap < MAX_STRIP_WIDTH * across
        else gap * GUTTER_SHARE
    )
    high, low = max(0.0, top - ABOVE_HEIGHTS * down), min(ink.shape[0], bottom + BELOW_HEIGHTS * down)
    return {
        "a": _half(page, scale, (start - reach, high, right + BESIDE_WIDTHS * across, low), leaves.leans[1], "a"),
        "b": _half(page, scale, (left - BESIDE_WIDTHS * across, high, end + reach, low), leaves.leans[0], "b"),
    }


def _half(page: Pixels, scale: float, edges: tuple[float, float, float, float], lean: float, part: str) -> Half:
    """The part between the edges (left, top, right, bottom, at the working height), blank beyond the leaning cut."""
    left, top, right, bottom = (edge / scale for edge in edges)
    sway = abs(lean) * (bottom - top) / 2
    x0, x1 = round(max(0.0, left - sway)), round(min(page.shape[1], right + sway))
    y0, y1 = round(top), min(page.shape[0], round(bottom))
    pixels = page[y0:y1, x0:x1].copy()
    cut = (left if part == "a" else right) - x0 + lean * (np.arange(y0, y1) - page.shape[0] / 2)
    xs = np.arange(x1 - x0)
    beyond = xs[None, :] < cut[:, None] if part == "a" else xs[None, :] > cut[:, None]
    pixels[beyond] = np.percentile(pixels, 75)
    return Half(Box(x0, y0, x1 - x0, y1 - y0), pixels)


def _evened(page: Pixels) -> Pixels:
    """The page without the shade of the gutter and the dark ground below the book; unchanged if it has neither."""
    small, _ = shrunk(page, WORKING_HEIGHT)
    ground = cv2.morphologyEx(small, cv2.MORPH_CLOSE, np.ones((SHADE_PX, SHADE_PX), np.uint8))
    paper = max(float(np.percentile(ground, 75)), 1.0)
    ink = ink_mask(small)
    surround = cv2.dilate(cv2.subtract(ink, without_border(ink)), np.ones((5, 5), np.uint8)) > 0
    ground = cv2.blur(np.maximum(ground, MIN_GROUND_TONE * paper).astype(np.float32), (SHADE_PX, SHADE_PX))
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
    leans = slope(upright[:, : width // 2], vertical=True), slope(upright[:, width // 2 :], vertical=True)
    sides = [_straightened(upright, lean) for lean in leans]
    shares = [inked_along(side, 0) / height for side in sides]
    counts = [columns] if columns else range(5, 15)
    weights = {count: 1.0 if columns else count / (count + 1) ** 2 for count in counts}
    # as in the layout of a half-folio: a thick frame does not outweigh several thin rules
    seen = [np.minimum(share, 0.6) for share in shares]
    fits = {count: fit for count in counts if (fit := _fitted(seen[0], seen[1], count))}
    if not fits:
        return None
    count, fit = max(fits.items(), key=lambda entry: entry[1].score * weights[entry[0]])
    ends = []
    for side, share, edges in zip(sides, shares, (fit.left, fit.right), strict=True):
        rules = np.linspace(*edges, count + 1).round().astype(int)
        ends += [np.flatnonzero(side[:, x])[[0, -1]] for x in rules if x < width and share[x] > 0.3 * share.max()]
    if not ends:
        return None
    top, bottom = float(np.quantile([e[0] for e in ends], 0.1)), float(np.quantile([e[1] for e in ends], 0.9))
    support = fit.support * height / max(bottom - top, 1.0)
    return _Halves(fit.left, fit.right, (top, bottom), leans) if support > MIN_RULE_SUPPORT else None


def _straightened(upright: Mask, lean: float) -> Mask:
    """The leaning strokes set upright about half the height, and broadened a little since pages are bent."""
    height, width = upright.shape
    turn = np.array([[1.0, -lean, lean * height / 2], [0.0, 1.0, 0.0]])
    straight = cv2.warpAffine(upright, turn, (width, height), flags=cv2.INTER_NEAREST)
    return np.asarray(cv2.dilate(straight, np.ones((1, 7), np.uint8)), dtype=np.uint8)


def _fitted(to_left: NDArray[np.float64], to_right: NDArray[np.float64], count: int) -> _Fit | None:
    """The two combs of `count` equal columns, side by side, that fit the rules best. `to_left` and `to_right` are, for
    every x, the share of the height along which rules run, by the slope of the left and of the right half."""
    width = to_left.size
    pitches = np.arange(MIN_HALF_WIDTH * width / count, 0.5 * width / count, 0.5)
    starting, ending = np.full((2, pitches.size, width), -1.0)
    for number, pitch in enumerate(pitches.tolist()):
        teeth = [round(n * pitch) for n in range(count + 1)]
        places = width - teeth[-1]
        # squared: nine rules under one comb and none under the other are better than eight and one
        ending[number, teeth[-1] :] = np.sum([to_left[tooth : tooth + places] for tooth in teeth], axis=0) ** 2
        starting[number, :places] = np.sum([to_right[tooth : tooth + places] for tooth in teeth], axis=0) ** 2
    best: _Fit | None = None
    pitch = float(pitches[0])
    while pitch < pitches[-1]:
        alike = np.flatnonzero(
            (pitches > pitch * (1 - MAX_WIDTH_DIFFERENCE)) & (pitches < pitch * (1 + MAX_WIDTH_DIFFERENCE))
        )
        lefts, rights = ending[alike].max(axis=0), starting[alike].max(axis=0)
        gap = round(MAX_GAP_WIDTHS * count * pitch)
        windows = np.lib.stride_tricks.sliding_window_view(np.concatenate([np.full(gap, -1.0), lefts]), gap + 1)
        together = windows.max(axis=1) + rights
        start = int(together.argmax())
        if best is None or together[start] > best.score:
            end = start - gap + int(windows[start].argmax())
            wide = [
                count * float(pitches[alike[scores[alike, at].argmax()]])
                for scores, at in ((ending, end), (starting, start))
            ]
            support = max(float(lefts[end]), float(rights[start])) ** 0.5 / (count + 1)
            edges = (end - wide[0], float(end)), (float(start), start + wide[1])
            best = _Fit(*edges, float(together[start]), support)
        pitch *= 1 + MAX_WIDTH_DIFFERENCE / 2
    return best


def _by_ink(ink: Mask) -> _Halves | None:
    """The halves as two blocks of ink with a band without ink between them; None where there is none."""
    rows, across = inked_along(ink, 1), inked_along(ink, 0)
    dirt = 0.002 * ink.shape[0]
    ys, xs = np.flatnonzero(rows > 0.004 * ink.shape[1]), np.flatnonzero(across > dirt)
    if ys.size < 2 or xs.size < 2:
        return None
    left, right = int(xs[0]), int(xs[-1])
    low, high = left + (right - left) * 2 // 5, left + (right - left) * 3 // 5
    bands = true_ranges(across[low:high] <= dirt)
    if not bands:
        return None
    start, end = max(bands, key=lambda band: band[1] - band[0])
    if end - start < 0.02 * (right - left):
        return None
    return _Halves((left, low + start), (low + end, right), (float(ys[0]), float(ys[-1])))
