"""Pages that do not lie flat before the camera: turned by more than a scan is, photographed at an angle, or curved.

Rules and frame say at every place of a page which way is down and which way is across. Low-order polynomials are
fitted to where their pieces run: the linear part is a rotation and a perspective, undone by a homography that sends
both vanishing points to infinity; the rest is a curved sheet, undone by a displacement (a coordinate grid of rules
where Tian and Narasimhan, CVPR 2011, take lines of text). A page that deviates no more than `find_layout` bears is
left as it is, to the last pixel.
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

STEEPEST = 13.0
"""Degrees: a page is looked at as turned by no more than this."""

ASKEW = 2.0
"""Degrees of skew from which a page is laid straight before it is laid out."""

MAX_FAN = (0.011, 0.009)
"""Of half the page's width, of half its height: rules, and top and bottom, that converge by more are not parallel.
Scans of half-folios stay below 0.008 and 0.006."""

MAX_BOW = (0.009, 0.016)
"""The same of rules, and of top and bottom, that are bent: by more they are not straight. Scans of half-folios stay
below 0.006 and 0.013."""

WIDTH = 0.7
"""The width of a half-folio against its height."""

FLAT = 0.005
"""The same for a page that is seen at an angle and not bent at all."""

MIN_UPRIGHT_PIECE_HEIGHTS = 0.07
"""Of the page's height: a piece of an upright line as long as this tells a direction. Strokes of text are no longer."""

MIN_LEVEL_PIECE_WIDTHS = 0.13
"""Of the page's width: the same of a level line. Level strokes of two columns may seem to be one, and they rise to the
right."""

DRIFT = 3
"""Pixels across in which a line may drift within the core of a piece."""

ENOUGH = (60, 16)
"""Points on upright and on level lines below which their bends are not told."""

RIDGE = (1e-4, 1e-3, 3e-3, 1e-2, 1e-2, 3e-2, 3e-2)
"""What the terms of a fit cost, so that what the lines do not tell stays zero."""

PASSES = 2
"""A curved page is measured again on what the last measure makes of it."""

MARGIN = 0.04
"""Of the page's height: the paper left around all ink."""

RULED = 0.12
"""Of the page's height: where upright strokes are as long as this together, there is a rule."""

THICK = 0.5
"""Of the page's height: what a rule that runs further counts."""

FIT_PLACES = 400
"""Places across a page at which columns are fitted."""

MIN_FITTED_WIDTH = 0.5
"""Of the page's width: columns take no less of it."""

MAX_UNEVEN = 0.08
"""Of half the page: how far columns may be displaced by their unequal width."""

UNEVEN_STEPS = 9
"""How many such values are tried."""

GAIN = 1.08
"""How much better equal columns must fit on a page that is stretched."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Points on pieces of lines, from -1 to 1 along and across them; `line` numbers the piece that a point is on."""

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
        """How far they converge, at the edge of the page."""
        return abs(self.weights[1])

    @property
    def bow(self) -> float:
        """How far they are bent, where they are bent most."""
        t, s = np.mgrid[-0.9:0.9:7j, -0.9:0.9:7j]
        return float(np.abs(terms(t, s)[..., 2:] @ np.array(self.weights[2:])).max())


@dataclass(frozen=True, slots=True)
class Damage:
    """What keeps a page from lying flat: its skew in degrees, whether its lines converge (`tilted`), as they do where
    it is seen at an angle and where it rises at one side, and whether they are bent: a little (`bowed`), or plainly."""

    skew: float
    tilted: bool
    bowed: bool
    curved: bool

    @property
    def notices(self) -> tuple[Notice, ...]:
        notices = []
        if abs(self.skew) > ASKEW:
            notices.append(Notice.of(NoticeCode.PAGE_ASKEW, degrees=round(abs(self.skew), 1)))
        if self.curved:
            notices.append(Notice.of(NoticeCode.PAGE_CURVED))
        elif self.tilted:
            code = NoticeCode.PAGE_NOT_FLAT if self.bowed else NoticeCode.PAGE_AT_AN_ANGLE
            notices.append(Notice.of(code))
        return tuple(notices)


def laid_flat(ink: Mask, scale: float, columns: int = 8) -> tuple[Flattening, Damage] | None:
    """How a page is to be laid flat; None where it lies well as it is. `ink` is the page's, which was scaled by `scale`
    for that; `columns` is how many equal ones it has, 0 where that is not known."""
    lean = slope(ink, vertical=True, degrees=STEEPEST)
    if abs(lean) < np.tan(np.radians(ASKEW)):
        lean = 0.0
    flattening = _turned(ink.shape, lean)
    seen = flattening.flat(ink, 0) if lean else ink
    upright, level = _departures(seen)
    # a part of a page is less wide, or less high, than a whole one
    shape = flattening.half[0] / (WIDTH * flattening.half[1])
    wide, high = min(1.0, shape), min(1.0, 1 / shape)
    skew = float(np.degrees(np.arctan(lean) + upright.weights[0] * flattening.half[0] / flattening.half[1]))
    tilted = wide * upright.fan > MAX_FAN[0] or high * level.fan > MAX_FAN[1]
    bowed = max(wide * upright.bow, high * level.bow) > FLAT
    curved = wide * upright.bow > MAX_BOW[0] or high * level.bow > MAX_BOW[1]
    if not lean and abs(skew) < 2 * ASKEW and not tilted and not curved:
        return None
    # turning alone makes both directions lean alike
    sheared = upright.weights[0] * shape * WIDTH + level.weights[0] / (shape * WIDTH)
    tilted = tilted or abs(sheared) > np.tan(np.radians(ASKEW))
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
    """A page of that shape turned so that lines which lean so stand upright, on a sheet that holds all of it."""
    height, width = shape[:2]
    cos, sin = 1 / np.hypot(1, lean), lean / np.hypot(1, lean)
    across, down = width * cos + height * abs(sin), height * cos + width * abs(sin)
    turn = np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]])
    turn[:2, 2] = np.array([width, height]) / 2 - turn[:2, :2] @ np.array([across, down]) / 2
    return Flattening((round(across), round(down)), (0.0, 0.0), (across / 2, down / 2), tuple(turn.ravel().tolist()))


def _in_perspective(flattening: Flattening, upright: Departure, level: Departure) -> Flattening:
    """The same with what leans and converges made upright, level and parallel."""
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
    """How the upright and the level lines of a page depart from straight ones."""
    return _fitted(lines_of(ink, vertical=True), ENOUGH[0]), _fitted(lines_of(ink, vertical=False), ENOUGH[1])


def _fitted(lines: Lines, least: int) -> Departure:
    """The weights of `terms` under which every piece of a line is straight, by least squares in which what does not fit
    loses its weight (Tukey's biweight)."""
    if len(lines) < least:
        return Departure((0.0,) * TERMS)
    functions = terms(lines.along, lines.across)
    weight = np.ones(len(lines))
    weights = np.zeros(TERMS)
    for _ in range(8):
        total = np.maximum(np.bincount(lines.line, weight), 1e-9)

        def centred(values: Floats, weight: Floats = weight, total: Floats = total) -> Floats:
            return np.asarray(values - (np.bincount(lines.line, weight * values) / total)[lines.line])

        target = centred(lines.across)
        design = np.stack([centred(column) for column in functions.T], axis=1)
        square = design.T @ (design * weight[:, None]) + np.diag(RIDGE) * weight.sum()
        weights = np.linalg.solve(square, design.T @ (weight * target))
        left = target - design @ weights
        spread = max(1.48 * float(np.median(np.abs(left))), 1e-3)
        weight = np.clip(1 - (left / (4 * spread)) ** 2, 0, 1) ** 2
    return Departure(tuple(weights.tolist()))


def lines_of(ink: Mask, vertical: bool) -> Lines:
    """Points on the pieces of upright (or level) lines of a page that is hardly turned."""
    own = ink if vertical else np.ascontiguousarray(ink.T)
    height, width = own.shape
    core, step = max(9, height // 45), max(8, height // 60)
    least = MIN_UPRIGHT_PIECE_HEIGHTS * height if vertical else MIN_LEVEL_PIECE_WIDTHS * width
    thick = cv2.dilate(own, np.ones((1, DRIFT), np.uint8))
    opened = np.asarray(cv2.morphologyEx(thick, cv2.MORPH_OPEN, np.ones((core, 1), np.uint8)), dtype=np.uint8)
    joined = cv2.dilate(opened, np.ones((core // 2 | 1, 1), np.uint8))
    labels, stats, _ = connected(joined)
    along, across, line = [], [], []
    for label in (np.flatnonzero(stats[1:, cv2.CC_STAT_HEIGHT] > least) + 1).tolist():
        x, y, w, h, _ = stats[label].tolist()
        ys, xs = np.nonzero((labels[y : y + h, x : x + w] == label) & (opened[y : y + h, x : x + w] > 0))
        if w > 0.25 * h and xs.size > 0.3 * w * h:
            continue  # no line, but something as broad as a seal
        bins = ys // step
        count = np.bincount(bins)
        here = count > step / 2
        along.append(y + (np.bincount(bins, ys)[here] / count[here]))
        across.append(x + (np.bincount(bins, xs)[here] / count[here]))
        line.append(np.full(int(here.sum()), label))
    if not line:
        return Lines(np.empty(0), np.empty(0), np.empty(0, np.intp))
    places = 2 * np.concatenate(along) / height - 1, 2 * np.concatenate(across) / width - 1
    return Lines(*places, np.concatenate(line))


def _evenness(ink: Mask, columns: int) -> tuple[float, float]:
    """The stretch (`Bend.even`) under which equal columns fit the rules best; (0, 0) where that is no gain."""
    height, width = ink.shape
    share = inked_along(long_strokes(ink, height // 25, vertical=True), 0) / height
    strong = np.flatnonzero(share > RULED)
    s, weight = 2 * strong / width - 1, np.minimum(share[strong], THICK)
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
    return even if best > GAIN * plain else (0.0, 0.0)


def _equal_columns(energy: Floats, columns: int) -> float:
    """How well so many equal columns fit where rules stand."""
    best = 0.0
    for pitch in np.linspace(MIN_FITTED_WIDTH * FIT_PLACES / columns, FIT_PLACES / columns, 50).tolist():
        teeth = [round(number * pitch) for number in range(columns + 1)]
        places = FIT_PLACES - teeth[-1]
        if places > 0:
            best = max(best, float(np.sum([energy[tooth : tooth + places] for tooth in teeth], axis=0).max()))
    return best


def _cropped(flattening: Flattening, flat: Mask) -> Flattening:
    """The same without what has no ink around the page."""
    ys, xs = np.flatnonzero(inked_along(flat, 1) > 1), np.flatnonzero(inked_along(flat, 0) > 1)
    if not ys.size or not xs.size:
        return flattening
    margin = MARGIN * flattening.size[1]
    left, top = max(0.0, float(xs[0]) - margin), max(0.0, float(ys[0]) - margin)
    right, bottom = min(flattening.size[0], xs[-1] + margin), min(flattening.size[1], ys[-1] + margin)
    return replace(flattening, size=(round(right - left), round(bottom - top)), corner=(left, top))
