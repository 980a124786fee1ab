"""Fits the form of a known character to the ink around the place of its glyph.

A regular-script font draws the form. It is compared with the ink in several sizes and proportions at every place near
where the recogniser saw the glyph, by the normalised correlation coefficient; the best fit is taken. A scribe's strokes
depart from the font's by less than their distance from one another, so form and ink are blurred. Dirt, pieces of a
neighbour and worn strokes weigh little against all strokes together: a fit shows which ink belongs to the glyph where
the ink alone does not.

Lengths named `SIDES` are in sides of the square that the glyph fills.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2

SIDE_PX = 24
"""Side of the square, in pixels, to which the ink is scaled."""

EM_HEIGHTS_SIDES = (0.78, 0.88, 0.98, 1.08)
"""Heights of the em in which a form is tried."""

EM_WIDTHS = (1.0, 1.12, 1.25, 1.4)
"""Widths of the em in which a form is tried, in its heights: glyphs in ruled columns are squat."""

MARGIN_SIDES = 0.12
"""Width of the empty margin around a form, which is compared as well."""

BLUR_SIDES = 0.05
"""Standard deviation by which form and ink are blurred."""

PADDING_PX = 8
"""Empty pixels around a drawing before it is blurred."""

ANTI_ALIASING_PX = 0.4
"""Standard deviation of the blur of a drawing before it is scaled down, in pixels of the result."""

MAX_OFF_SIDES = 0.3
"""Maximum distance of a form from its expected place, across and down."""

MIN_CORRELATION = 0.7
"""Minimum correlation of a fit."""

MIN_INK = 0.4
"""Minimum ink, from 0 to 1, of a pixel in a stroke of a scaled form."""


@dataclass(frozen=True, slots=True)
class SizedForm:
    """A form in one size: its `picture` (blurred, with its margin), and the `scale` across and down from the font's
    drawing to it."""

    picture: NDArray[np.float32]
    scale: tuple[float, float]


@dataclass(frozen=True, slots=True)
class DrawnForm:
    """The form of a character: its `ink` (0 or 1, trimmed), the distance (x, y) of its `middle` from that of the em
    square, in pixels of the drawing, and the form in all `sizes`."""

    ink: NDArray[np.uint8]
    middle: tuple[float, float]
    sizes: tuple[SizedForm, ...]

    @classmethod
    def of(cls, drawing: NDArray[np.bool_], em: int) -> DrawnForm | None:
        """The form of a character that is drawn in the middle of a square picture, with an em of so many pixels; None
        if the picture is empty."""
        ys, xs = np.nonzero(drawing)
        if not ys.size:
            return None
        top, bottom, left, right = int(ys.min()), int(ys.max()) + 1, int(xs.min()), int(xs.max()) + 1
        ink = drawing[top:bottom, left:right].astype(np.uint8)
        middle = ((left + right - drawing.shape[1]) / 2, (top + bottom - drawing.shape[0]) / 2)
        padded = np.pad(ink, PADDING_PX).astype(np.float32)
        soft = cv2.GaussianBlur(padded, (0, 0), ANTI_ALIASING_PX * em / SIDE_PX)
        sizes = tuple(_sized(soft, em, height, width) for height, width in product(EM_HEIGHTS_SIDES, EM_WIDTHS))
        return cls(ink, middle, sizes)


@dataclass(frozen=True, slots=True)
class FormFit:
    """How a form fits ink: the `correlation` with it (up to 1), the edges of the form, and the `distance` of each pixel
    from the nearest stroke of the form, in pixels of the ink's picture."""

    correlation: float
    left: float
    top: float
    right: float
    bottom: float
    distance: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Placement:
    """A form in one place and size: its `correlation` with the ink, and its `middle` in the scaled ink."""

    correlation: float
    middle: tuple[float, float]
    form: DrawnForm
    scale: tuple[float, float]


def fit_form(
    ink: NDArray[np.bool_], forms: Sequence[DrawnForm], place: tuple[float, float], size: float
) -> FormFit | None:
    """The best fit of one of the `forms` to the ink (height x width) around `place` (x, y), where a recogniser saw a
    glyph that fills a square with sides of `size` pixels; None if none fits."""
    zoom = SIDE_PX / size
    shape = (max(round(ink.shape[1] * zoom), 1), max(round(ink.shape[0] * zoom), 1))
    scaled = _blurred(cv2.resize(ink.astype(np.float32), shape, interpolation=cv2.INTER_AREA))
    expected = (place[0] * zoom, place[1] * zoom)
    placements = [_best_placement(scaled, form, sized, expected) for form in forms for sized in form.sizes]
    best = max(placements, key=lambda placement: placement.correlation, default=None)
    if best is None or best.correlation < MIN_CORRELATION:
        return None
    (x, y), (across, down) = best.middle, best.scale
    half_width, half_height = best.form.ink.shape[1] * across / 2, best.form.ink.shape[0] * down / 2
    left, right = (x - half_width) / zoom, (x + half_width) / zoom
    top, bottom = (y - half_height) / zoom, (y + half_height) / zoom
    distance = _distance_from(best.form.ink, (left, top, right, bottom), ink.shape)
    return FormFit(best.correlation, left, top, right, bottom, distance)


def _blurred(picture: NDArray[Any]) -> NDArray[np.float32]:
    return cast(NDArray[np.float32], cv2.GaussianBlur(picture.astype(np.float32), (0, 0), BLUR_SIDES * SIDE_PX))


def _sized(soft: NDArray[Any], em: int, height: float, width: float) -> SizedForm:
    """A blurred and padded drawing, scaled so that its em has this height, in sides, and this width, in heights."""
    down = height * SIDE_PX / em
    across = down * width
    margins = 2 * MARGIN_SIDES * SIDE_PX
    rows = round((soft.shape[0] - 2 * PADDING_PX) * down + margins)
    columns = round((soft.shape[1] - 2 * PADDING_PX) * across + margins)
    shift_x, shift_y = (columns - across * soft.shape[1]) / 2, (rows - down * soft.shape[0]) / 2
    transform = np.array([[across, 0, shift_x], [0, down, shift_y]], np.float32)
    picture = _blurred(cv2.warpAffine(soft, transform, (columns, rows), flags=cv2.INTER_LINEAR))
    return SizedForm(picture, (across, down))


def _best_placement(
    ink: NDArray[np.float32], form: DrawnForm, sized: SizedForm, place: tuple[float, float]
) -> _Placement:
    """The best placement of a form in one size near a place."""
    height, width = sized.picture.shape
    x, y = (place[axis] + form.middle[axis] * sized.scale[axis] for axis in (0, 1))
    half_width, half_height = width / 2, height / 2
    left, right = int(x - half_width - MAX_OFF_SIDES * SIDE_PX), int(x + half_width + MAX_OFF_SIDES * SIDE_PX) + 1
    top, bottom = int(y - half_height - MAX_OFF_SIDES * SIDE_PX), int(y + half_height + MAX_OFF_SIDES * SIDE_PX) + 1
    part = _part(ink, left, top, right, bottom)
    correlation = cv2.matchTemplate(part, sized.picture, cv2.TM_CCOEFF_NORMED)
    row, column = (int(index) for index in np.unravel_index(int(correlation.argmax()), correlation.shape))
    middle = (left + column + half_width, top + row + half_height)
    return _Placement(float(correlation[row, column]), middle, form, sized.scale)


def _part(ink: NDArray[np.float32], left: int, top: int, right: int, bottom: int) -> NDArray[np.float32]:
    """A part of a picture; empty where it reaches beyond the picture."""
    part = np.zeros((bottom - top, right - left), np.float32)
    height, width = ink.shape
    x0, y0, x1, y1 = max(left, 0), max(top, 0), min(right, width), min(bottom, height)
    if x0 < x1 and y0 < y1:
        part[y0 - top : y1 - top, x0 - left : x1 - left] = ink[y0:y1, x0:x1]
    return part


def _distance_from(form: NDArray[np.uint8], edges: Sequence[float], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """The distance of each pixel of a picture of this `shape` from the nearest stroke of a form, whose `edges` are
    left, top, right and bottom."""
    left, top, right, bottom = edges
    across, down = (right - left) / form.shape[1], (bottom - top) / form.shape[0]
    transform = np.array([[across, 0, left + across / 2 - 0.5], [0, down, top + down / 2 - 0.5]], np.float32)
    soft = cv2.blur(form.astype(np.float32), (max(round(1 / across), 1), max(round(1 / down), 1)))
    strokes = cv2.warpAffine(soft, transform, (shape[1], shape[0]), flags=cv2.INTER_LINEAR) > MIN_INK
    if not strokes.any():
        return np.full(shape, np.inf, np.float32)
    return np.asarray(cv2.distanceTransform((~strokes).astype(np.uint8), cv2.DIST_L2, 3), dtype=np.float32)
