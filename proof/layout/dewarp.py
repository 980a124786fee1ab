"""Pages that do not lie flat before the camera: turned by more than a scan is, photographed at an angle, or curved.

Rules and frame show the directions down and across at every place of a page. Low-order polynomials are fitted to their
pieces: the linear part is a rotation and a perspective, undone by a homography that sends both vanishing points to
infinity; the rest is a curved sheet, undone by a displacement (a coordinate grid of rules where Tian and Narasimhan,
CVPR 2011, take lines of text). A page that deviates no more than `find_layout` tolerates is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.flattening import TERMS, Bend, Flattening, terms
from proof.layout.rules import Mask, connected, inked_along, long_strokes, slope
from proof.model.notices import Notice, NoticeCode

Floats = NDArray[np.float64]

MAX_LEAN_DEGREES = 13.0
"""Maximum rotation of a page, in degrees."""

MAX_SKEW_DEGREES = 2.0
"""Maximum skew of a page whose columns are found without straightening it, in degrees."""

MAX_FAN = (0.011, 0.009)
"""Maximum convergence of upright lines, in halves of the page's width, and of level lines, in halves of its height,
that counts as parallel. Scans of half-folios stay below 0.008 and 0.006."""

MAX_BOW = (0.009, 0.016)
"""The same for the bend of lines that count as straight. Scans of half-folios stay below 0.006 and 0.013."""

MAX_FLAT_BOW = 0.005
"""The same for either on a page that is seen at an angle and not bent at all."""

WIDTH_HEIGHTS = 0.7
"""The width of a half-folio, in its heights."""

MIN_UPRIGHT_PIECE_HEIGHTS = 0.07
"""Minimum length of a piece of an upright line, in heights of the page; strokes of text are shorter."""

MIN_LEVEL_PIECE_WIDTHS = 0.13
"""Minimum length of a piece of a level line, in widths of the page. It is more, since level strokes of two columns may
look like one line, and they rise to the right."""

MAX_DRIFT_PX = 3
"""Maximum drift of a line to the side within the core of a piece, in pixels."""

MIN_POINTS = (60, 16)
"""Minimum number of points on upright and on level lines for anything to be fitted to them."""

RIDGE_PENALTIES = (1e-4, 1e-3, 3e-3, 1e-2, 1e-2, 3e-2, 3e-2)
"""Penalties of the terms of a fit, so that terms which the lines do not determine stay zero."""

FIT_STEPS = 8
"""Steps of a reweighted fit."""

PASSES = 2
"""Number of times that the bends are measured, each time on the page as the last pass flattened it."""

MARGIN_HEIGHTS = 0.04
"""Paper left around all ink, in heights of the page."""

MIN_RULE_HEIGHTS = 0.12
"""Length of upright strokes above which there is a rule, in heights of the page."""

MAX_RULE_WEIGHT = 0.5
"""Maximum weight of a rule, which is its length in heights of the page."""

FIT_PLACES = 400
"""Number of places across a page to which rules are rounded when columns are fitted."""

MIN_FITTED_WIDTHS = 0.5
"""Minimum width of all columns together, in widths of the page."""

MAX_UNEVEN = 0.08
"""Maximum displacement of columns by their unequal width, in halves of the page."""

UNEVEN_STEPS = 9
"""Number of values from -`MAX_UNEVEN` to `MAX_UNEVEN` that are tried of each of the two terms."""

MIN_FIT_RATIO = 1.08
"""Minimum ratio by which equal columns must fit better once a stretch is undone."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Points on pieces of lines: their places along and across the lines, from -1 to 1 over the page, and the number of
    each point's piece (`line`)."""

    along: Floats
    across: Floats
    line: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.along)


@dataclass(frozen=True, slots=True)
class Departure:
    """How lines of one direction depart from straight and parallel ones: the weights of `terms`."""

    weights: tuple[float, ...]

    @property
    def fan(self) -> float:
        """The convergence of the lines at the edge of the page."""
        return abs(self.weights[1])

    @property
    def bow(self) -> float:
        """The greatest bend of the lines."""
        t, s = np.mgrid[-0.9:0.9:7j, -0.9:0.9:7j]
        return float(np.abs(terms(t, s)[..., 2:] @ np.array(self.weights[2:])).max())


@dataclass(frozen=True, slots=True)
class Damage:
    """Why a page is not flat: its skew in degrees; `tilted`: its lines converge, since it is seen at an angle or rises
    at one side; `bowed`: they are bent a little; `curved`: they are plainly bent."""

    skew: float
    tilted: bool
    bowed: bool
    curved: bool

    @property
    def notices(self) -> tuple[Notice, ...]:
        notices = []
        if abs(self.skew) > MAX_SKEW_DEGREES:
            notices.append(Notice.of(NoticeCode.PAGE_ASKEW, degrees=round(abs(self.skew), 1)))
        if self.curved:
            notices.append(Notice.of(NoticeCode.PAGE_CURVED))
        elif self.tilted:
            code = NoticeCode.PAGE_NOT_FLAT if self.bowed else NoticeCode.PAGE_AT_AN_ANGLE
            notices.append(Notice.of(code))
        return tuple(notices)


def laid_flat(ink: Mask, scale: float, columns: int = 8) -> tuple[Flattening, Damage] | None:
    """The flattening of a page, and why it is needed; None if the page is flat enough. `ink` is that of the page scaled
    by `scale`; `columns` is the number of its equal columns, 0 if unknown."""
    lean = slope(ink, vertical=True, degrees=MAX_LEAN_DEGREES)
    if abs(lean) < np.tan(np.radians(MAX_SKEW_DEGREES)):
        lean = 0.0
    flattening = _turned(ink.shape, lean)
    upright, level = _departures(flattening.flat(ink, 0) if lean else ink)
    # a part of a page is less wide, or less high, than a whole one
    shape = flattening.half[0] / (WIDTH_HEIGHTS * flattening.half[1])
    wide, high = min(1.0, shape), min(1.0, 1 / shape)
    skew = float(np.degrees(np.arctan(lean) + upright.weights[0] * flattening.half[0] / flattening.half[1]))
    tilted = wide * upright.fan > MAX_FAN[0] or high * level.fan > MAX_FAN[1]
    bowed = max(wide * upright.bow, high * level.bow) > MAX_FLAT_BOW
    curved = wide * upright.bow > MAX_BOW[0] or high * level.bow > MAX_BOW[1]
    if not lean and abs(skew) < 2 * MAX_SKEW_DEGREES and not tilted and not curved:
        return None
    # mere turning makes both directions lean alike
    sheared = upright.weights[0] * shape * WIDTH_HEIGHTS + level.weights[0] / (shape * WIDTH_HEIGHTS)
    tilted = tilted or abs(sheared) > np.tan(np.radians(MAX_SKEW_DEGREES))
    flattening = _in_perspective(flattening, upright, level)
    for _ in range(PASSES):
        upright, level = _departures(flattening.flat(ink, 0))
        flattening = replace(flattening, bends=(*flattening.bends, Bend(upright.weights, level.weights)))
    flat = flattening.flat(ink, 0)
    even = _evenness(flat, columns) if columns and (tilted or curved) else (0.0, 0.0)
    if any(even):
        flattening = replace(flattening, bends=(*flattening.bends, Bend((0.0,) * TERMS, (0.0,) * TERMS, even)))
        flat = flattening.flat(ink, 0)
    return _cropped(flattening, flat).enlarged(1 / scale), Damage(skew, bool(tilted), bool(bowed), bool(curved))


def _turned(shape: tuple[int, ...], lean: float) -> Flattening:
    """The rotation of a page of that shape that sets lines of slope `lean` upright, on a sheet that holds all of it."""
    height, width = shape[:2]
    cos, sin = 1 / np.hypot(1, lean), lean / np.hypot(1, lean)
    across, down = width * cos + height * abs(sin), height * cos + width * abs(sin)
    turn = np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]])
    turn[:2, 2] = np.array([width, height]) / 2 - turn[:2, :2] @ np.array([across, down]) / 2
    return Flattening((round(across), round(down)), (0.0, 0.0), (across / 2, down / 2), tuple(turn.ravel().tolist()))


def _in_perspective(flattening: Flattening, upright: Departure, level: Departure) -> Flattening:
    """The flattening with a perspective that makes leaning and converging lines upright, level and parallel."""
    a, b = upright.weights, level.weights
    corners = []
    for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        # where the line through (s, 0) and the one through (0, t) meet
        lean, tilt = a[0] + a[1] * s, b[0] + b[1] * t
        corners.append(np.linalg.solve([[1, -lean], [-tilt, 1]], [s, t]))
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], np.float32)
    quad = cv2.getPerspectiveTransform(square, np.array(corners, np.float32))
    x, y = flattening.half
    pixels = np.array([[x, 0, x], [0, y, y], [0, 0, 1]])
    whole = np.reshape(flattening.homography, (3, 3)) @ pixels @ quad @ np.linalg.inv(pixels)
    return replace(flattening, homography=tuple((whole / whole[2, 2]).ravel().tolist()))


def _departures(ink: Mask) -> tuple[Departure, Departure]:
    """The departures of the upright and of the level lines of a page."""
    return (
        _fitted(lines_of(ink, vertical=True), MIN_POINTS[0]),
        _fitted(lines_of(ink, vertical=False), MIN_POINTS[1]),
    )


def _fitted(lines: Lines, min_points: int) -> Departure:
    """The weights of `terms` that make every piece of a line straight, by least squares in which points that do not fit
    lose their weight (Tukey's biweight); zeros for fewer than `min_points` points."""
    if len(lines) < min_points:
        return Departure((0.0,) * TERMS)
    functions = terms(lines.along, lines.across)
    weight = np.ones(len(lines))
    weights = np.zeros(TERMS)
    for _ in range(FIT_STEPS):
        total = np.maximum(np.bincount(lines.line, weight), 1e-9)

        def centred(values: Floats, weight: Floats = weight, total: Floats = total) -> Floats:
            return np.asarray(values - (np.bincount(lines.line, weight * values) / total)[lines.line])

        target = centred(lines.across)
        design = np.stack([centred(column) for column in functions.T], axis=1)
        square = design.T @ (design * weight[:, None]) + np.diag(RIDGE_PENALTIES) * weight.sum()
        weights = np.linalg.solve(square, design.T @ (weight * target))
        residuals = target - design @ weights
        spread = max(1.48 * float(np.median(np.abs(residuals))), 1e-3)
        weight = np.clip(1 - (residuals / (4 * spread)) ** 2, 0, 1) ** 2
    return Departure(tuple(weights.tolist()))


def lines_of(ink: Mask, vertical: bool) -> Lines:
    """Points on the pieces of upright (or level) lines of a page that is hardly turned."""
    ink = ink if vertical else np.ascontiguousarray(ink.T)
    height, width = ink.shape
    core, step = max(9, height // 45), max(8, height // 60)
    min_length = MIN_UPRIGHT_PIECE_HEIGHTS * height if vertical else MIN_LEVEL_PIECE_WIDTHS * width
    thick = cv2.dilate(ink, np.ones((1, MAX_DRIFT_PX), np.uint8))
    opened = np.asarray(cv2.morphologyEx(thick, cv2.MORPH_OPEN, np.ones((core, 1), np.uint8)), dtype=np.uint8)
    joined = cv2.dilate(opened, np.ones((core // 2 | 1, 1), np.uint8))
    labels, stats, _ = connected(joined)
    along, across, line = [], [], []
    for label in (np.flatnonzero(stats[1:, cv2.CC_STAT_HEIGHT] > min_length) + 1).tolist():
        x, y, w, h, _ = stats[label].tolist()
        ys, xs = np.nonzero((labels[y : y + h, x : x + w] == label) & (opened[y : y + h, x : x + w] > 0))
        if w > 0.25 * h and xs.size > 0.3 * w * h:
            continue  # no line, but something as broad as a seal
        bins = ys // step
        count = np.bincount(bins)
        filled = count > step / 2
        along.append(y + (np.bincount(bins, ys)[filled] / count[filled]))
        across.append(x + (np.bincount(bins, xs)[filled] / count[filled]))
        line.append(np.full(int(filled.sum()), label))
    if not line:
        return Lines(np.empty(0), np.empty(0), np.empty(0, np.intp))
    places = 2 * np.concatenate(along) / height - 1, 2 * np.concatenate(across) / width - 1
    return Lines(*places, np.concatenate(line))


def _evenness(ink: Mask, columns: int) -> tuple[float, float]:
    """The stretch (`Bend.even`) under which equal columns fit the rules best; (0, 0) where none fits clearly better."""
    height, width = ink.shape
    share = inked_along(long_strokes(ink, height // 25, vertical=True), 0) / height
    strong = np.flatnonzero(share > MIN_RULE_HEIGHTS)
    s, weight = 2 * strong / width - 1, np.minimum(share[strong], MAX_RULE_WEIGHT)
    if strong.size < columns:
        return (0.0, 0.0)
    tried = np.linspace(-MAX_UNEVEN, MAX_UNEVEN, UNEVEN_STEPS)
    best, even, plain = 0.0, (0.0, 0.0), 0.0
    for square in tried.tolist():
        for cube in tried.tolist():
            # where the rules stand once the stretch, which is small, is undone
            at = s - square * (s * s - 1) - cube * (s**3 - s)
            energy = np.zeros(FIT_PLACES)
            np.maximum.at(energy, ((at + 1) / 2 * FIT_PLACES).astype(np.intp).clip(0, FIT_PLACES - 1), weight)
            score = _equal_columns(np.maximum(energy, np.maximum(np.roll(energy, 1), np.roll(energy, -1))), columns)
            score *= 1 - abs(square) - abs(cube)
            if not square and not cube:
                plain = score
            if score > best:
                best, even = score, (square, cube)
    return even if best > MIN_FIT_RATIO * plain else (0.0, 0.0)


def _equal_columns(energy: Floats, columns: int) -> float:
    """The greatest sum of `energy`, the weights of rules across the page, at the edges of so many equal columns."""
    best = 0.0
    for pitch in np.linspace(MIN_FITTED_WIDTHS * FIT_PLACES / columns, FIT_PLACES / columns, 50).tolist():
        teeth = [round(number * pitch) for number in range(columns + 1)]
        places = FIT_PLACES - teeth[-1]
        if places > 0:
            best = max(best, float(np.sum([energy[tooth : tooth + places] for tooth in teeth], axis=0).max()))
    return best


def _cropped(flattening: Flattening, flat: Mask) -> Flattening:
    """The flattening, cropped to the ink with a margin."""
    ys, xs = np.flatnonzero(inked_along(flat, 1) > 1), np.flatnonzero(inked_along(flat, 0) > 1)
    if not ys.size or not xs.size:
        return flattening
    margin = MARGIN_HEIGHTS * flattening.size[1]
    left, top = max(0.0, float(xs[0]) - margin), max(0.0, float(ys[0]) - margin)
    right, bottom = min(flattening.size[0], xs[-1] + margin), min(flattening.size[1], ys[-1] + margin)
    return replace(flattening, size=(round(right - left), round(bottom - top)), corner=(left, top))
