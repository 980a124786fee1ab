"""The ink of a page and its long strokes: their slope, and the map that sets them upright and level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.images.size import shrunk
from proof.model.geometry import Box

Mask = NDArray[np.uint8]
"""Ink as 255 on 0, height x width."""

PAGE_HEIGHT = 1400
"""Maximum height of a page for its layout, in pixels; columns are then 90 to 110 pixels wide."""

MIN_RULE_HEIGHTS = 1 / 25
"""Minimum length of a piece of rule, in heights of the page. A cell has about 1/26."""

MIN_OPENING_RATIO = 0.8
"""Minimum width of the text of an opening, in its heights; a half-folio has 0.6 to 0.8, a plate 0.7."""

MAX_SKEW_DEGREES = 4.0
"""Maximum slope of lines that `slope` searches unless another is given, in degrees."""

MAX_POINTS = 8000
"""Maximum number of pixels of ink from which a slope is measured."""


class PageInk(NamedTuple):
    """All `ink` of a page, and its long `upright` and `level` strokes, which may be of rules and frames."""

    ink: Mask
    upright: Mask
    level: Mask


@dataclass(frozen=True, slots=True)
class Frame:
    """The frame of a ruled half-folio: the x of its `rules` from left to right, the outermost being its sides, and the
    y of its inner `top` and `bottom`. In pixels of the rectified page."""

    rules: Sequence[float]
    top: float
    bottom: float

    @property
    def column_count(self) -> int:
        return len(self.rules) - 1

    @property
    def width(self) -> float:
        return self.rules[-1] - self.rules[0]

    @property
    def column_width(self) -> float:
        """The mean width of a column."""
        return self.width / self.column_count

    @property
    def rows(self) -> slice:
        """The rows of pixels between top and bottom."""
        return slice(max(0, round(self.top)), round(self.bottom))

    @property
    def row_count(self) -> int:
        """The number of these rows, 0 or less where there are none."""
        return int(self.rows.stop - self.rows.start)


def ink_mask(grey: NDArray[np.uint8]) -> Mask:
    """Ink of a grey page, by Otsu's threshold, limited to a range in which a blank page stays blank."""
    threshold, _ = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    _, mask = cv2.threshold(grey, min(max(threshold, 60), 200), 255, cv2.THRESH_BINARY_INV)
    return np.asarray(mask, dtype=np.uint8)


def measured_ink(page: NDArray[np.uint8], height: float) -> tuple[Mask, float]:
    """Ink of a grey page scaled to at most this height, and the factor by which it was scaled."""
    small, scale = shrunk(page, height)
    return without_border(ink_mask(small)), scale


def without_border(ink: Mask) -> Mask:
    """Ink without the dark surround of a scan: ink that touches the edge and is far thicker than a stroke."""
    height, width = ink.shape
    edge = np.concatenate([ink[0], ink[-1], ink[:, 0], ink[:, -1]])
    if np.count_nonzero(edge) < 0.2 * edge.size:
        return ink
    labels, stats, _ = connected(cv2.erode(ink, np.ones((15, 15), np.uint8), borderValue=(255,)))
    x, y, w, h = (stats[:, i] for i in range(4))
    at_edge = (x == 0) | (y == 0) | (x + w == width) | (y + h == height)
    at_edge[0] = False
    surround = cv2.dilate(at_edge[labels].astype(np.uint8), np.ones((21, 21), np.uint8))
    return np.where(surround > 0, 0, ink).astype(np.uint8)


def connected(ink: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """The connected pieces of ink (not 0), connected at corners, too: the number of each pixel's piece (0: paper), the
    extent and area of each piece (columns as of `cv2.CC_STAT_LEFT`), and its middle (x, y)."""
    # Grana's algorithm, with one thread, gives the same numbers as OpenCV's default in three quarters of the time
    _, labels, boxes, middles = cv2.connectedComponentsWithStatsWithAlgorithm(ink, 8, cv2.CV_32S, cv2.CCL_GRANA)
    return np.asarray(labels, np.int32), np.asarray(boxes, np.int32), np.asarray(middles, np.float64)


def long_strokes(ink: Mask, length: int, vertical: bool) -> Mask:
    """The parts of `ink` that run straight for `length` pixels, at least one: rules and frames, hardly any glyphs."""
    length = max(1, length)
    bridge = np.ones((3, 1) if vertical else (1, 3), np.uint8)
    closed = np.asarray(cv2.morphologyEx(ink, cv2.MORPH_CLOSE, bridge), dtype=np.uint8)
    eroded = _extremes(closed, length, vertical, np.minimum, 255)
    return _extremes(eroded, length, vertical, np.maximum, 0)


def _extremes(ink: Mask, length: int, vertical: bool, extreme: np.ufunc, beyond: int) -> Mask:
    """For every pixel the minimum or maximum (`extreme`) of `length` pixels along a line through it; pixels outside the
    page have the value `beyond`. Two short lines give one twice as long, so that few steps suffice for any length (van
    Herk's algorithm does the same for one row at a time)."""
    before, after = length // 2, length - 1 - length // 2
    edges = (before, after, 0, 0) if vertical else (0, 0, before, after)
    reduced = np.asarray(cv2.copyMakeBorder(ink, *edges, cv2.BORDER_CONSTANT, value=(beyond,)), dtype=np.uint8)
    reached = 1
    while reached < length:
        step = min(reached, length - reached)
        first, second = (reduced[:-step], reduced[step:]) if vertical else (reduced[:, :-step], reduced[:, step:])
        reduced = extreme(first, second)
        reached += step
    return reduced


def thickened(mask: Mask, across: int, down: int) -> Mask:
    """`mask` dilated by a rectangle of `across` x `down` pixels."""
    return np.asarray(cv2.dilate(mask, np.ones((down, across), np.uint8)), dtype=np.uint8)


def inked_along(mask: Mask, axis: int) -> NDArray[np.intp]:
    """The number of inked pixels of `mask` in every column (`axis` 0) or every row (1). Grey pixels, which a warp makes
    at edges, count if they are above the middle."""
    if not mask.size:
        return np.zeros(mask.shape[1 - axis], dtype=np.intp)
    _, ones = cv2.threshold(mask, 127, 1, cv2.THRESH_BINARY)
    return np.asarray(cv2.reduce(ones, axis, cv2.REDUCE_SUM, dtype=cv2.CV_32S).ravel(), dtype=np.intp)


def true_ranges(values: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Start and end (exclusive) of each range of consecutive true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], values, [False]]).astype(np.int8)))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def weighted_quantile(values: NDArray[Any], weights: NDArray[Any], share: float) -> float:
    """The smallest of `values` with at least this share of the weight at or below it."""
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, share * total[-1])])


def glyph_pieces(text: Mask) -> NDArray[np.int32]:
    """The extents and areas (as of `connected`) of the pieces of ink, with gaps of a pixel or two closed."""
    if not text.size:
        return np.zeros((0, 5), np.int32)
    joined = cv2.morphologyEx(text, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    return connected(np.asarray(joined, np.uint8))[1][1:]


def usual_width(pieces: NDArray[np.int32]) -> float:
    """The width of glyphs in pixels: the 60th percentile of the widths of `glyph_pieces`, weighted by ink; 0 without
    any."""
    if not len(pieces):
        return 0.0
    return weighted_quantile(pieces[:, cv2.CC_STAT_WIDTH], pieces[:, cv2.CC_STAT_AREA], 0.6)


def glyph_width(text: Mask) -> float:
    """The width of a page's glyphs in pixels, without specks and pieces wider than any glyph; 0 without any."""
    pieces = glyph_pieces(text)
    width, area = pieces[:, cv2.CC_STAT_WIDTH], pieces[:, cv2.CC_STAT_AREA]
    return usual_width(pieces[(area > 20) & (width < 0.2 * text.shape[0])])


def slope(lines: Mask, vertical: bool, degrees: float = MAX_SKEW_DEGREES) -> float:
    """The slope of lines, up to `degrees`: dx per dy for vertical ones, dy per dx for horizontal ones.

    The slope under which the profile across the lines is sharpest (largest sum of squares), as in
    projection-profile skew detection (Postl 1986), searched coarsely and then finely.
    """
    places = np.flatnonzero(lines > 0)
    if places.size < 50:
        return 0.0
    if places.size > MAX_POINTS:
        places = places[np.linspace(0, places.size - 1, MAX_POINTS).astype(np.intp)]
    ys, xs = np.divmod(places, lines.shape[1])
    along, across = (ys, xs) if vertical else (xs, ys)
    centred = along - lines.shape[0 if vertical else 1] / 2
    extent = max(lines.shape) * 2
    limit = np.tan(np.radians(degrees))

    def sharpness(tangent: float) -> float:
        bins = np.bincount((across - centred * tangent + extent / 4).astype(np.intp), minlength=extent)
        return float(bins @ bins)

    coarse = np.linspace(-limit, limit, 2 * round(7 * degrees) + 1)
    best = float(coarse[int(np.argmax([sharpness(t) for t in coarse]))])
    step = float(coarse[1] - coarse[0])
    fine = np.linspace(best - step, best + step, 17)
    return float(fine[int(np.argmax([sharpness(t) for t in fine]))])


@dataclass(frozen=True, slots=True)
class Rectification:
    """An affine map that makes rules upright and frames level.

    `matrix` (2 x 3) takes pixels of the image file to pixels of the rectified page; `inverse` takes them back.
    """

    matrix: NDArray[np.float64]
    inverse: NDArray[np.float64]

    @classmethod
    def of(
        cls, scale: float, lean: float, tilt: float, height: int, width: int, origin: tuple[float, float]
    ) -> Rectification:
        """The map that undoes the slopes of rules (`lean`) and frames (`tilt`). `scale` is that from file to page
        pixels; `height` and `width` are those of the page in page pixels; `origin` is the file pixel at the page's
        upper left corner."""
        turn = np.linalg.inv(np.array([[1.0, lean], [tilt, 1.0]]))
        centre = np.array([width / 2, height / 2])
        linear = turn * scale
        shift = centre - turn @ centre - linear @ np.array(origin)
        matrix = np.hstack([linear, shift[:, None]])
        return cls(matrix, np.asarray(cv2.invertAffineTransform(matrix)))

    def to_file(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (n x 2) of the rectified page, in pixels of the image file."""
        return points @ self.inverse[:, :2].T + self.inverse[:, 2]

    def file_box(self, left: float, top: float, right: float, bottom: float) -> Box:
        """The upright box in the image file that holds this rectangle of the rectified page."""
        if type(self) is not Rectification:
            corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]], dtype=np.float64)
            xy = self.to_file(corners)
            (x0, y0), (x1, y1) = xy.min(axis=0).tolist(), xy.max(axis=0).tolist()
            return Box(x0, y0, x1 - x0, y1 - y0)
        # computed for every character of a work: numbers take a tenth of the time of arrays
        inverse: list[list[float]] = self.inverse.tolist()
        bounds = []
        for across, down, shift in inverse:
            (low_x, high_x), (low_y, high_y) = (
                sorted((across * left, across * right)),
                sorted((down * top, down * bottom)),
            )
            bounds.append((low_x + low_y + shift, high_x + high_y + shift))
        (x0, x1), (y0, y1) = bounds
        return Box(x0, y0, x1 - x0, y1 - y0)

    def to_page(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (n x 2) of the image file, in pixels of the rectified page."""
        return points @ self.matrix[:, :2].T + self.matrix[:, 2]


def rectified(
    grey: NDArray[np.uint8], page_ink: PageInk, lean: float, tilt: float
) -> tuple[NDArray[np.uint8], PageInk]:
    """A grey page and its ink with the slopes of rules (`lean`) and frames (`tilt`) undone; edges of the ink become
    grey."""
    height, width = grey.shape
    turn = Rectification.of(1.0, lean, tilt, height, width, (0, 0))
    # four images through one warp take a third of the time of four
    stacked = cv2.merge([grey, *page_ink])
    turned = cv2.warpAffine(stacked, turn.matrix, (width, height), borderValue=(255, 0, 0, 0))
    upright_grey, *masks = (np.asarray(plane, dtype=np.uint8) for plane in cv2.split(turned))
    return upright_grey, PageInk(*masks)
