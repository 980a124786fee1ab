"""Lays pages flat that were turned by more than a scan is, photographed at an angle, or curved.

Rules and frame show the directions down and across at every place of a page. Low-order polynomials are fitted to their
pieces: the linear part is a rotation and a perspective, undone by a homography that sends both vanishing points to
infinity; the rest is a curved sheet, undone by a displacement (a coordinate grid of rules where Tian and Narasimhan,
CVPR 2011, take lines of text). A page that deviates no more than `find_layout` tolerates is not changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

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
"""The same for both on a page that is seen at an angle but not bent."""

WIDTH_HEIGHTS = 0.7
"""The width of a half-folio, in its heights."""

MIN_UPRIGHT_PIECE_HEIGHTS = 0.07
"""Minimum length of a piece of an upright line, in heights of the page; strokes of text are shorter."""

MIN_LEVEL_PIECE_WIDTHS = 0.13
"""Minimum length of a piece of a level line, in widths of the page. It is greater, since level strokes of two columns
may look like one line, and they rise to the right."""

MAX_DRIFT_PX = 3
"""Maximum drift of a line to the side within the core of a piece, in pixels."""

MIN_POINTS = (60, 16)
"""Minimum number of points on upright and on level lines for anything to be fitted to them."""

RIDGE_PENALTIES = (1e-4, 1e-3, 3e-3, 1e-2, 1e-2, 3e-2, 3e-2)
"""Penalties of the terms of a fit, so that terms which the lines do not determine stay zero."""

FIT_STEPS = 8
"""Steps of a reweighted fit."""

PASSES = 2
"""Number of times that the bends are measured, each time on the page flattened by the pass before."""

MARGIN_HEIGHTS = 0.04
"""Margin around all ink, in heights of the page."""

MIN_RULE_HEIGHTS = 0.12
"""Minimum length of upright strokes for a rule, in heights of the page."""

MAX_RULE_WEIGHT = 0.5
"""Maximum weight of a rule, which is its length in heights of the page."""

FIT_PLACES = 400
"""Number of places across a page to which rules are rounded when columns are fitted."""

MIN_FITTED_WIDTHS = 0.5
"""Minimum width of all columns together, in widths of the page."""

MAX_UNEVEN = 0.08
"""Maximum displacement of columns by their unequal width, in halves of the page. If it is not undone, one of eight
columns of a curled page is not found."""

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
            notices.append(Notice.of(NoticeCode.PAGE_NOT_FLAT if self.bowed else NoticeCode.PAGE_AT_AN_ANGLE))
        return tuple(notices)


def laid_flat(ink: Mask, scale: float, columns: int = 8) -> tuple[Flattening, Damage] | None:
    """The flattening of a page, and why it is needed; None if the page is flat enough. `ink` is that of the page scaled
    by `scale`; `columns` is the number of its equal columns, 0 if unknown."""
    lean = slope(ink, vertical=True, degrees=MAX_LEAN_DEGREES)
    if abs(lean) < np.tan(np.radians(MAX_SKEW_DEGREES)):
        lean = 0.0
    flattening = _turned(ink.shape, lean)
    upright, level = _departures(flattening.flat(ink, 0) if lean else ink)
    damage = _damage(lean, upright, level, flattening.half)
    if not lean and not damage.tilted and not damage.curved:
        return None
    if _is_sheared(upright, level, flattening.half):
        damage = replace(damage, tilted=True)
    flattening = _in_perspective(flattening, upright, level)
    for _ in range(PASSES):
        upright, level = _departures(flattening.flat(ink, 0))
        flattening = flattening.with_bend(Bend(upright.weights, level.weights))
    flat = flattening.flat(ink, 0)
    stretch = _stretch(flat, columns) if columns and (damage.tilted or damage.curved) else (0.0, 0.0)
    if any(stretch):
        flattening = flattening.with_bend(Bend((0.0,) * TERMS, (0.0,) * TERMS, stretch))
        flat = flattening.flat(ink, 0)
    return _cropped(flattening, flat).enlarged(1 / scale), damage


def _damage(lean: float, upright: Departure, level: Departure, half: tuple[float, float]) -> Damage:
    """The damage of a page that was turned by `lean` and whose lines then depart from straight ones. `half` is half its
    width and height."""
    half_width, half_height = half
    skew = float(np.degrees(np.arctan(lean) + upright.weights[0] * half_width / half_height))
    # a part of a page is less wide, or less high, than a whole one
    shape = half_width / (WIDTH_HEIGHTS * half_height)
    wide, high = min(1.0, shape), min(1.0, 1 / shape)
    fan_upright, fan_level = wide * upright.fan, high * level.fan
    bow_upright, bow_level = wide * upright.bow, high * level.bow
    tilted = fan_upright > MAX_FAN[0] or fan_level > MAX_FAN[1]
    bowed = max(bow_upright, bow_level) > MAX_FLAT_BOW
    curved = bow_upright > MAX_BOW[0] or bow_level > MAX_BOW[1]
    return Damage(skew, bool(tilted), bool(bowed), bool(curved))


def _is_sheared(upright: Departure, level: Departure, half: tuple[float, float]) -> bool:
    """Whether upright and level lines lean against each other; mere turning makes both lean alike."""
    shape = half[0] / (WIDTH_HEIGHTS * half[1])
    shear = upright.weights[0] * shape * WIDTH_HEIGHTS + level.weights[0] / (shape * WIDTH_HEIGHTS)
    return bool(abs(shear) > np.tan(np.radians(MAX_SKEW_DEGREES)))


def _turned(shape: tuple[int, ...], lean: float) -> Flattening:
    """The rotation of a page of that shape that sets lines of slope `lean` upright, on a sheet that holds all of it."""
    height, width = shape[:2]
    cos, sin = 1 / np.hypot(1, lean), lean / np.hypot(1, lean)
    sheet_width, sheet_height = width * cos + height * abs(sin), height * cos + width * abs(sin)
    half = (sheet_width / 2, sheet_height / 2)
    turn = np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]])
    turn[:2, 2] = np.array([width, height]) / 2 - turn[:2, :2] @ np.array([sheet_width, sheet_height]) / 2
    return Flattening((round(sheet_width), round(sheet_height)), (0.0, 0.0), half, tuple(turn.ravel().tolist()))


def _in_perspective(flattening: Flattening, upright: Departure, level: Departure) -> Flattening:
    """The flattening with a perspective that makes leaning and converging lines upright, level and parallel."""
    square = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    corners = []
    for s, t in square:
        # where the line through (s, 0) and the one through (0, t) meet
        lean = upright.weights[0] + upright.weights[1] * s
        tilt = level.weights[0] + level.weights[1] * t
        corners.append(np.linalg.solve([[1, -lean], [-tilt, 1]], [s, t]))
    perspective = cv2.getPerspectiveTransform(np.array(square, np.float32), np.array(corners, np.float32))
    x, y = flattening.half
    to_pixels = np.array([[x, 0, x], [0, y, y], [0, 0, 1]])
    whole = np.reshape(flattening.homography, (3, 3)) @ to_pixels @ perspective @ np.linalg.inv(to_pixels)
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
    point_weights = np.ones(len(lines))
    weights = np.zeros(TERMS)
    for _ in range(FIT_STEPS):
        target = _centred(lines, lines.across, point_weights)
        design = np.stack([_centred(lines, column, point_weights) for column in functions.T], axis=1)
        normal = design.T @ (design * point_weights[:, None]) + np.diag(RIDGE_PENALTIES) * point_weights.sum()
        weights = np.linalg.solve(normal, design.T @ (point_weights * target))
        residuals = target - design @ weights
        spread = max(1.48 * float(np.median(np.abs(residuals))), 1e-3)
        point_weights = np.clip(1 - (residuals / (4 * spread)) ** 2, 0, 1) ** 2
    return Departure(tuple(weights.tolist()))


def _centred(lines: Lines, values: Floats, point_weights: Floats) -> Floats:
    """The value of every point less the weighted mean of its piece."""
    totals = np.maximum(np.bincount(lines.line, point_weights), 1e-9)
    return np.asarray(values - (np.bincount(lines.line, point_weights * values) / totals)[lines.line])


def lines_of(ink: Mask, vertical: bool) -> Lines:
    """Points on the pieces of upright (or level) lines of a page that is hardly turned."""
    ink = ink if vertical else np.ascontiguousarray(ink.T)
    height, width = ink.shape
    core_length, step = max(9, height // 45), max(8, height // 60)
    min_length = MIN_UPRIGHT_PIECE_HEIGHTS * height if vertical else MIN_LEVEL_PIECE_WIDTHS * width
    thick = cv2.dilate(ink, np.ones((1, MAX_DRIFT_PX), np.uint8))
    cores = np.asarray(cv2.morphologyEx(thick, cv2.MORPH_OPEN, np.ones((core_length, 1), np.uint8)), dtype=np.uint8)
    labels, stats, _ = connected(cv2.dilate(cores, np.ones((core_length // 2 | 1, 1), np.uint8)))
    along, across, line = [], [], []
    for label in (np.flatnonzero(stats[1:, cv2.CC_STAT_HEIGHT] > min_length) + 1).tolist():
        x, y, w, h, _ = stats[label].tolist()
        box = np.s_[y : y + h, x : x + w]
        ys, xs = np.nonzero((labels[box] == label) & (cores[box] > 0))
        if w > 0.25 * h and xs.size > 0.3 * w * h:
            continue  # something as broad as a seal
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


def _stretch(ink: Mask, columns: int) -> tuple[float, float]:
    """The stretch (`Bend.stretch`) under which equal columns fit the rules best; (0, 0) if it is not clearly better."""
    height, width = ink.shape
    share = inked_along(long_strokes(ink, height // 25, vertical=True), 0) / height
    is_rule = np.flatnonzero(share > MIN_RULE_HEIGHTS)
    if is_rule.size < columns:
        return (0.0, 0.0)
    s, weight = 2 * is_rule / width - 1, np.minimum(share[is_rule], MAX_RULE_WEIGHT)
    steps = np.linspace(-MAX_UNEVEN, MAX_UNEVEN, UNEVEN_STEPS).tolist()
    best_score, best, score_without = 0.0, (0.0, 0.0), 0.0
    for square, cube in product(steps, steps):
        # the places of the rules once the stretch, which is small, is undone
        undone = s - square * (s * s - 1) - cube * (s**3 - s)
        energy = np.zeros(FIT_PLACES)
        np.maximum.at(energy, ((undone + 1) / 2 * FIT_PLACES).astype(np.intp).clip(0, FIT_PLACES - 1), weight)
        energy = np.maximum(energy, np.maximum(np.roll(energy, 1), np.roll(energy, -1)))
        score = _fit_of_equal_columns(energy, columns) * (1 - abs(square) - abs(cube))
        if not square and not cube:
            score_without = score
        if score > best_score:
            best_score, best = score, (square, cube)
    return best if best_score > MIN_FIT_RATIO * score_without else (0.0, 0.0)


def _fit_of_equal_columns(energy: Floats, columns: int) -> float:
    """The greatest sum of `energy`, the weights of rules across the page, at the edges of so many equal columns."""
    best = 0.0
    for width in np.linspace(MIN_FITTED_WIDTHS * FIT_PLACES / columns, FIT_PLACES / columns, 50).tolist():
        teeth = [round(number * width) for number in range(columns + 1)]
        starts = FIT_PLACES - teeth[-1]
        if starts > 0:
            best = max(best, float(np.sum([energy[tooth : tooth + starts] for tooth in teeth], axis=0).max()))
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
