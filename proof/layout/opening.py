"""An opening: two half-folios side by side on one image, the right one read first.

It is an opened book (1b to the right, 2a to the left, the gutter between them) or a leaf that was never folded (1a to
the right, 1b to the left, the fold strip between them). Part a is the right half, b the left, as on a leaf of a plate.
Both have the same equal columns, so that two combs of one pitch are laid on the rules; between the combs lies the cut.
Where there are no rules it lies in the widest band without ink.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.rules import Mask, ink_mask, inked_along, long_strokes, runs, slope, without_border
from proof.model.geometry import Box
from proof.ocr.engine import Pixels

WORKING_HEIGHT = 1400
"""Pixels: the cut is looked for on an opening of this height."""

WIDE = 0.95
"""Width against height from which on what stands on a sheet is two half-folios; one has 0.6 to 0.8, a plate 0.7."""

FURTHEST = 1.0
"""Of the width of a half-folio: the widest gap between two."""

NARROWEST = 0.22
"""Of the width of a sheet: a half-folio's columns together."""

ALIKE = 0.06
"""How much the columns of the two may differ in width, on a book that does not lie flat."""

LEAST_SUPPORT = 0.25
"""Mean share of its height along which a line runs where a rule is expected."""

BESIDE_WIDTHS = 0.04
"""Room beside the columns, of the width of both halves."""

ABOVE_HEIGHTS = 0.12
"""Room above the columns, of their height, for raised ones."""

BELOW_HEIGHTS = 0.05
"""Room below the columns, of their height."""

OVERLAP = 0.03
"""Of the width of both: how far past the middle of a fold strip a half-folio goes."""

STRIP = 0.06
"""Of the width of both: a wider gap between the two is a gutter; a column has 0.06 where there are eight."""

CLEAR = 0.3
"""Of the gutter: how much of it goes with either half."""

SHADE = 28
"""Pixels at the working height: what is broader than this and dark is shade, not ink."""

DEEPEST = 0.25
"""Of the paper's tone: no shade is taken for deeper."""

EVEN = 0.85
"""Of the paper's tone: lighter shade does no harm."""


@dataclass(frozen=True, slots=True)
class _Halves:
    """Left and right edge of the left half and of the right one, at half the height of the sheet; top and bottom of
    both; how far the rules of either lean (dx per dy). Pixels at the working height."""

    left: tuple[float, float]
    right: tuple[float, float]
    rows: tuple[float, float]
    leans: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class _Fit:
    """Left and right edge of two combs, how well both fit, and the mean energy at the rules of the better one."""

    left: tuple[float, float]
    right: tuple[float, float]
    score: float
    support: float


@dataclass(frozen=True, slots=True)
class Half:
    """One half-folio of an opening: `box` in pixels of the opening, and `pixels` of that size, in even light and blank
    where the other half or what the book lies on would be seen."""

    box: Box
    pixels: Pixels


def opening_halves(page: NDArray[np.uint8], columns: int = 8) -> dict[str, Half] | None:
    """The two half-folios of an opening (grey, height x width): a the right one, b the left.

    `columns` are those of one half-folio, 0 where that is not known. One of the two may be blank, as at the beginning
    of a book. None where the sheet does not show two half-folios side by side.
    """
    scale = min(1.0, WORKING_HEIGHT / page.shape[0])
    page = _evened(page, scale)
    small = cv2.resize(page, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else page
    ink = ink_mask(np.asarray(small, dtype=np.uint8))
    leaves = _by_rules(ink, columns) or _by_ink(ink)
    if leaves is None:
        return None
    (left, end), (start, right), (top, bottom) = leaves.left, leaves.right, leaves.rows
    across, down, gap = right - left, bottom - top, start - end
    if across < WIDE * down:
        return None
    # past the middle of a fold strip, so that the rule by the fold is in it, but no further than the other half's rule,
    # which could be taken for one of this half's; in a gutter not as far as where it is darkest
    reach = min(gap * 0.85, gap / 2 + OVERLAP * across) if gap < STRIP * across else gap * CLEAR
    high, low = max(0.0, top - ABOVE_HEIGHTS * down), min(ink.shape[0], bottom + BELOW_HEIGHTS * down)
    return {
        "a": _half(page, scale, (start - reach, high, right + BESIDE_WIDTHS * across, low), leaves.leans[1], "a"),
        "b": _half(page, scale, (left - BESIDE_WIDTHS * across, high, end + reach, low), leaves.leans[0], "b"),
    }


def _half(page: Pixels, scale: float, edges: tuple[float, float, float, float], lean: float, part: str) -> Half:
    """What lies between the edges (left, top, right, bottom, at the working height), blank beyond the leaning cut."""
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


def _evened(page: Pixels, scale: float) -> Pixels:
    """The page without the shade of the gutter and without the dark ground that the book lies on; one without them
    stays as it is."""
    small = np.asarray(cv2.resize(page, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    ground = cv2.morphologyEx(small, cv2.MORPH_CLOSE, np.ones((SHADE, SHADE), np.uint8))
    paper = max(float(np.percentile(ground, 75)), 1.0)
    ink = ink_mask(small)
    surround = cv2.dilate(cv2.subtract(ink, without_border(ink)), np.ones((5, 5), np.uint8)) > 0
    ground = cv2.blur(np.maximum(ground, DEEPEST * paper).astype(np.float32), (SHADE, SHADE))
    if not surround.any() and float(np.percentile(ground, 1)) > EVEN * paper:
        return page
    light = np.maximum(paper / ground, 1.0)
    light[surround] = 255
    large = cv2.resize(light, (page.shape[1], page.shape[0]), interpolation=cv2.INTER_LINEAR)
    return np.asarray(np.minimum(page * large, paper), dtype=np.uint8)


def _by_rules(ink: Mask, columns: int) -> _Halves | None:
    """The halves by their rules; None where too few run along."""
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
    return _Halves(fit.left, fit.right, (top, bottom), leans) if support > LEAST_SUPPORT else None


def _straightened(upright: Mask, lean: float) -> Mask:
    """Strokes that lean so set upright, each where it is at half the height; a little broader, as pages are bent."""
    height, width = upright.shape
    turn = np.array([[1.0, -lean, lean * height / 2], [0.0, 1.0, 0.0]])
    straight = cv2.warpAffine(upright, turn, (width, height), flags=cv2.INTER_NEAREST)
    return np.asarray(cv2.dilate(straight, np.ones((1, 7), np.uint8)), dtype=np.uint8)


def _fitted(to_left: NDArray[np.float64], to_right: NDArray[np.float64], count: int) -> _Fit | None:
    """Two combs of `count` equal columns, one to the right of the other, that best explain where rules stand: for every
    x the share of the height along which they run, as seen from the left and from the right half."""
    width = to_left.size
    pitches = np.arange(NARROWEST * width / count, 0.5 * width / count, 0.5)
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
        alike = np.flatnonzero((pitches > pitch * (1 - ALIKE)) & (pitches < pitch * (1 + ALIKE)))
        lefts, rights = ending[alike].max(axis=0), starting[alike].max(axis=0)
        gap = round(FURTHEST * count * pitch)
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
        pitch *= 1 + ALIKE / 2
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
    bands = runs(across[low:high] <= dirt)
    if not bands:
        return None
    start, end = max(bands, key=lambda band: band[1] - band[0])
    if end - start < 0.02 * (right - left):
        return None
    return _Halves((left, low + start), (low + end, right), (float(ys[0]), float(ys[-1])))
