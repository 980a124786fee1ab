"""Where on the image a character would stand whose form is known: the form is held against the ink around its place.

A regular-script font draws the form. It is laid on the ink in several sizes and proportions and at every place near
where the glyph was seen; the place of the greatest correlation is taken (template matching by the normalised
correlation coefficient). A scribe's hand departs from the font's by less than strokes lie apart, so both are blurred.
Dirt, pieces of a neighbour and strokes that are worn off weigh little against all strokes together, and so it is known
what of the ink is the glyph's where the ink alone does not tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2

SIDE = 24
"""Pixels of the square that a glyph fills, at which forms are held against ink."""

HEIGHTS = (0.78, 0.88, 0.98, 1.08)
"""Of that square's side: the heights of the em in which a form is tried."""

BROADER = (1.0, 1.12, 1.25, 1.4)
"""How much wider than high the em is: glyphs of ruled columns are squat."""

MARGIN_SIDES = 0.12
"""Sides of the square: the empty margin that belongs to a form."""

BLUR_SIDES = 0.05
"""Sides of the square: by how much form and ink are blurred."""

EDGE = 8
"""Pixels around a drawing into which it is blurred."""

ASIDE_SIDES = 0.3
"""Sides of the square: how far to the side of its place a form is looked for."""

ABOVE_SIDES = 0.5
"""The same up and down."""

LATE = 0.1
"""Sides of the square: how far below its place a recogniser sees a glyph."""

ASIDE_COST = 0.5
"""What it costs, in parts of the correlation, to stand a side of the square aside of its place (by the square of
it)."""

ABOVE_COST = 0.25
"""The same above or below it."""

SIZE_COST = 0.3
"""What it costs to be of another size than most (by the square of the logarithm)."""

USUAL = 0.93
"""Of the square's side: the height of the em of most hands."""

ALIKE = (0.7, 0.55)
"""The least correlation at which a glyph is taken for that form, on clean paper and where there is much dirt, or so
much is worn off."""


@dataclass(frozen=True, slots=True)
class SizedForm:
    """A form as it is held against ink: `picture` (blurred, with its margin), the `scale` across and down by which the
    font's drawing is brought to it, and what its size costs."""

    picture: NDArray[np.float32]
    scale: tuple[float, float]
    cost: float


@dataclass(frozen=True, slots=True)
class DrawnForm:
    """The form of a character: `ink` (0 or 1, trimmed), and where the middle of that lies from the middle of the em
    square, in pixels of the drawing."""

    ink: NDArray[np.uint8]
    middle: tuple[float, float]
    sizes: tuple[SizedForm, ...]

    @classmethod
    def of(cls, drawing: NDArray[np.bool_], em: int) -> DrawnForm | None:
        """The form of what is drawn about the middle of a square picture with an em of so many pixels; None where
        nothing is."""
        ys, xs = np.nonzero(drawing)
        if not ys.size:
            return None
        top, bottom, left, right = int(ys.min()), int(ys.max()) + 1, int(xs.min()), int(xs.max()) + 1
        ink = drawing[top:bottom, left:right].astype(np.uint8)
        middle = ((left + right - drawing.shape[1]) / 2, (top + bottom - drawing.shape[0]) / 2)
        soft = cv2.GaussianBlur(np.pad(ink, EDGE).astype(np.float32), (0, 0), 0.4 * em / SIDE)
        sizes = tuple(_sized(soft, em, height, broader) for height, broader in product(HEIGHTS, BROADER))
        return cls(ink, middle, sizes)


@dataclass(frozen=True, slots=True)
class FormFit:
    """How a form lies on ink: the correlation with it (up to 1), its edges, and for each pixel how far the nearest
    stroke of the form is (`away`); all in pixels of the ink's picture."""

    alike: float
    left: float
    top: float
    right: float
    bottom: float
    away: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Lie:
    """One place and size of a form: what it is worth, and its middle in the picture in which it was looked for."""

    worth: float
    alike: float
    middle: tuple[float, float]
    form: DrawnForm
    scale: tuple[float, float]


def fit_form(
    ink: NDArray[np.bool_], forms: Sequence[DrawnForm], place: tuple[float, float], size: float, dirt: float = 0.0
) -> FormFit | None:
    """How that one of the `forms` lies on the ink (height x width) that fits best about `place`, where a glyph was
    seen that fills a square with sides of `size` pixels; None where none fits. `dirt` says how dirty the paper is, from
    0 to 1."""
    zoom = SIDE / size
    shape = (max(round(ink.shape[1] * zoom), 1), max(round(ink.shape[0] * zoom), 1))
    small = _blurred(cv2.resize(ink.astype(np.float32), shape, interpolation=cv2.INTER_AREA))
    x, y = place[0] * zoom, place[1] * zoom - LATE * SIDE
    best = max(
        (_best_lie(small, form, sized, (x, y)) for form in forms for sized in form.sizes),
        key=lambda lie: lie.worth,
        default=None,
    )
    if best is None or best.alike < ALIKE[0] + (ALIKE[1] - ALIKE[0]) * dirt:
        return None
    (x, y), (across, down) = best.middle, best.scale
    half_wide, half_high = best.form.ink.shape[1] * across / 2, best.form.ink.shape[0] * down / 2
    left, right = (x - half_wide) / zoom, (x + half_wide) / zoom
    top, bottom = (y - half_high) / zoom, (y + half_high) / zoom
    away = _away(ink.shape, best.form.ink, (left, top, right, bottom))
    return FormFit(best.alike, left, top, right, bottom, away)


def _blurred(picture: NDArray[Any]) -> NDArray[np.float32]:
    return cast(NDArray[np.float32], cv2.GaussianBlur(picture.astype(np.float32), (0, 0), BLUR_SIDES * SIDE))


def _sized(soft: NDArray[Any], em: int, height: float, broader: float) -> SizedForm:
    """A form, drawn softly with an edge around it, brought to a height of its em, in squares, and so much broader."""
    down = height * SIDE / em
    across = down * broader
    high, wide = (
        round((soft.shape[n] - 2 * EDGE) * scale + 2 * MARGIN_SIDES * SIDE) for n, scale in ((0, down), (1, across))
    )
    turn = np.array(
        [[across, 0, (wide - across * soft.shape[1]) / 2], [0, down, (high - down * soft.shape[0]) / 2]], np.float32
    )
    picture = _blurred(cv2.warpAffine(soft, turn, (wide, high), flags=cv2.INTER_LINEAR))
    return SizedForm(picture, (across, down), SIZE_COST * float(np.log(height / USUAL)) ** 2)


def _best_lie(ink: NDArray[np.float32], form: DrawnForm, sized: SizedForm, place: tuple[float, float]) -> _Lie:
    """Where near a place a form of one size lies best."""
    high, wide = sized.picture.shape
    x, y = (place[n] + form.middle[n] * sized.scale[n] for n in (0, 1))
    left, right = int(x - wide / 2 - ASIDE_SIDES * SIDE), int(x + wide / 2 + ASIDE_SIDES * SIDE) + 1
    top, bottom = int(y - high / 2 - ABOVE_SIDES * SIDE), int(y + high / 2 + ABOVE_SIDES * SIDE) + 1
    part = _part(ink, left, top, right, bottom)
    alike = cv2.matchTemplate(part, sized.picture, cv2.TM_CCOEFF_NORMED)
    down = (np.arange(alike.shape[0]) + top + high / 2 - y) / SIDE
    across = (np.arange(alike.shape[1]) + left + wide / 2 - x) / SIDE
    worth = alike - ABOVE_COST * down[:, None] ** 2 - ASIDE_COST * across**2 - sized.cost
    at, beside = np.unravel_index(int(worth.argmax()), worth.shape)
    middle = (left + int(beside) + wide / 2, top + int(at) + high / 2)
    return _Lie(float(worth[at, beside]), float(alike[at, beside]), middle, form, sized.scale)


def _part(ink: NDArray[np.float32], left: int, top: int, right: int, bottom: int) -> NDArray[np.float32]:
    """A part of a picture, empty where it reaches beyond it."""
    part = np.zeros((bottom - top, right - left), np.float32)
    high, wide = ink.shape
    x0, y0, x1, y1 = max(left, 0), max(top, 0), min(right, wide), min(bottom, high)
    if x0 < x1 and y0 < y1:
        part[y0 - top : y1 - top, x0 - left : x1 - left] = ink[y0:y1, x0:x1]
    return part


def _away(shape: tuple[int, ...], form: NDArray[np.uint8], edges: Sequence[float]) -> NDArray[np.float32]:
    """For each pixel of a picture how far the nearest stroke of a form is that fills these edges."""
    left, top, right, bottom = edges
    across, down = (right - left) / form.shape[1], (bottom - top) / form.shape[0]
    turn = np.array([[across, 0, left + across / 2 - 0.5], [0, down, top + down / 2 - 0.5]], np.float32)
    soft = cv2.blur(form.astype(np.float32), (max(round(1 / across), 1), max(round(1 / down), 1)))
    laid = cv2.warpAffine(soft, turn, (shape[1], shape[0]), flags=cv2.INTER_LINEAR)
    if not (laid > 0.4).any():
        return np.full(shape, np.inf, np.float32)
    return np.asarray(cv2.distanceTransform((laid <= 0.4).astype(np.uint8), cv2.DIST_L2, 3), dtype=np.float32)
