"""What a glyph looks like, in two hundred small numbers: glyphs of one character have like ones.

They are directional features (histograms of the direction of edges in five by five fields of the glyph, softly
shared), the classical ones for handwritten characters (Bai and Huo, 2005, among others). The glyph is brought to one
size by the moments of its ink and not by its edges, so that a speck beside it changes little.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.glyph_ink import SHIFTS, cuts_between
from proof.layout.half_folio import ColumnArea, Layout
from proof.layout.rules import Mask
from proof.model.result import CheckedCharacter
from proof.text.model import Row

Shapes = NDArray[np.int8]
"""Glyphs x `LENGTH`; two are the more alike the larger the cosine between them."""

SIZE = 32
"""Pixels: the square that a glyph is brought to."""

SPREAD = 5.0
"""Standard deviations of the ink that this square is wide and high."""

FIELDS = 5
"""Fields of a glyph along each side of its square."""

DIRECTIONS = 8
"""Directions of strokes that are told apart in a field."""
LENGTH = FIELDS * FIELDS * DIRECTIONS
NORM = 320.0
"""Length of the vector, so that its numbers fit into eight bits."""

HALF_ROW = 0.5
"""Of the column's width."""

CELL = 40.0
"""Pixels of a cell at which it is looked for where glyphs begin and end: finer images are brought down to it."""

MIN_GLYPH_PIXELS = 6.0
"""Pixels of ink: fewer are no glyph."""


def glyph_shapes(layout: Layout, characters: Sequence[CheckedCharacter]) -> Shapes:
    """The shapes of the characters of a page, in their order; all zero where there is no ink."""
    squares = np.zeros((len(characters), SIZE, SIZE), np.uint8)
    if characters and layout.outline.columns:
        centres = np.array([character.box.centre for character in characters], dtype=np.float64)
        places = layout.outline.rectification.to_page(centres)
        order = sorted(range(len(characters)), key=lambda n: (characters[n].line, characters[n].row, places[n, 1]))
        for _, run in groupby(order, key=lambda n: (characters[n].line, characters[n].row)):
            _squares(layout, characters, places, list(run), squares)
    return shapes_of(squares)


def _squares(
    layout: Layout,
    characters: Sequence[CheckedCharacter],
    places: NDArray[np.float64],
    run: Sequence[int],
    squares: NDArray[np.uint8],
) -> None:
    """The glyphs of one row of a column, each cut where least ink is and brought to one size."""
    x, y = places[run].T
    row = characters[run[0]].row
    area = min(layout.outline.columns, key=lambda column: abs(_middle(column, row) - np.median(x)))
    for number, piece in zip(run, _pieces(layout, area, row, y), strict=True):
        if piece.size:
            bring(piece, squares[number])


def shape_in_row(layout: Layout, area: ColumnArea, row: Row, places: Sequence[float], number: int) -> Shapes:
    """The shape (1 x `LENGTH`) of the glyph of that `number` among those of a row of a column, whose middles are at
    `places`, y of the rectified page, from top to bottom; zero where there is no ink."""
    squares = np.zeros((1, SIZE, SIZE), np.uint8)
    piece = _pieces(layout, area, row, np.array(places))[number]
    if piece.size:
        bring(piece, squares[0])
    return shapes_of(squares)


def spans_in_row(layout: Layout, area: ColumnArea, row: Row, places: Sequence[float]) -> list[tuple[float, float]]:
    """From where to where each of the glyphs of a row of a column reaches, y of the rectified page: cut where least ink
    is. A recogniser saw them about `places`, from top to bottom, and a little late."""
    y = np.asarray(places, dtype=np.float64)
    profile, pitch = _profile(_ink_of_row(layout, area, row)), _pitch(area, y)
    # a cut is looked for among all pairs of rows: of as many as are needed
    fine = max(pitch / CELL, 1.0)
    size = (1, max(round(len(profile) / fine), 1))
    rows = np.asarray(cv2.resize(profile[:, None], size, interpolation=cv2.INTER_AREA).ravel(), dtype=np.float64)
    cuts = cuts_between(rows, (y / fine).tolist(), pitch / fine, SHIFTS)
    return [(top * fine, bottom * fine) for top, bottom in cuts]


def _pieces(layout: Layout, area: ColumnArea, row: Row, y: NDArray[np.float64]) -> list[Mask]:
    """The ink of each of the glyphs of a row of a column, whose middles are at `y`, cut where least ink is."""
    ink = _ink_of_row(layout, area, row)
    cuts = cuts_between(_profile(ink), y.tolist(), _pitch(area, y))
    return [ink[max(round(top), 0) : max(round(bottom), 0)] for top, bottom in cuts]


def _ink_of_row(layout: Layout, area: ColumnArea, row: Row) -> Mask:
    low, high = _sides(area, row)
    return layout.ink_of(area.number, np.s_[:, max(round(low), 0) : max(round(high), 1)])


def _profile(ink: Mask) -> NDArray[np.float64]:
    """How much ink stands in every row of pixels, 0 to 1."""
    return np.asarray(cv2.reduce(ink, 1, cv2.REDUCE_AVG, dtype=cv2.CV_64F).ravel() / 255.0, dtype=np.float64)


def _pitch(area: ColumnArea, y: NDArray[np.float64]) -> float:
    """From one glyph of a row to the next, of those whose middles are at `y`."""
    steps = np.diff(y)
    pitch = float(np.median(steps[steps > 0])) if np.any(steps > 0) else area.width * 0.6
    return min(max(pitch, 0.3 * area.width), 1.2 * area.width)


def _middle(area: ColumnArea, row: Row) -> float:
    low, high = _sides(area, row)
    return (low + high) / 2


def _sides(area: ColumnArea, row: Row) -> tuple[float, float]:
    """From where to where a row of a column reaches."""
    middle = area.left + HALF_ROW * area.width
    return (middle if row is Row.RIGHT else area.left), (middle if row is Row.LEFT else area.right)


def bring(piece: NDArray[np.uint8], square: NDArray[np.uint8]) -> None:
    """Draw a glyph (ink 255) into its square, by the middle and the spread of its ink."""
    moments = cv2.moments(piece)
    mass = moments["m00"]
    if mass < MIN_GLYPH_PIXELS * 255:
        return
    x, y = moments["m10"] / mass, moments["m01"] / mass
    across, down = np.sqrt(moments["mu20"] / mass + 1), np.sqrt(moments["mu02"] / mass + 1)
    even = np.sqrt(across * down)
    scale_x, scale_y = SIZE / (SPREAD * np.sqrt(across * even)), SIZE / (SPREAD * np.sqrt(down * even))
    place = np.array([[scale_x, 0, SIZE / 2 - x * scale_x], [0, scale_y, SIZE / 2 - y * scale_y]])
    cv2.warpAffine(cv2.blur(piece, (2, 2)), place, (SIZE, SIZE), dst=square, flags=cv2.INTER_LINEAR)


def shapes_of(squares: NDArray[np.uint8]) -> Shapes:
    """The shapes of glyphs (n x SIZE x SIZE, ink 255)."""
    count = len(squares)
    if not count:
        return np.zeros((0, LENGTH), np.int8)
    soft = np.stack([cv2.GaussianBlur(square, (0, 0), 1.0) for square in squares]).astype(np.float32)
    dx, dy = np.zeros_like(soft), np.zeros_like(soft)
    dx[:, :, 1:-1] = soft[:, :, 2:] - soft[:, :, :-2]
    dy[:, 1:-1, :] = soft[:, 2:, :] - soft[:, :-2, :]
    edges = np.flatnonzero((dx != 0) | (dy != 0))  # most of a glyph's square is as its surroundings
    dx, dy = dx.ravel()[edges], dy.ravel()[edges]
    strength = np.hypot(dx, dy)
    turn = np.arctan2(dy, dx) * (DIRECTIONS / (2 * np.pi)) % DIRECTIONS
    lower = np.floor(turn).astype(np.intp) % DIRECTIONS
    share = turn - np.floor(turn)
    glyph, place = np.divmod(edges, SIZE * SIZE)
    weights = np.zeros((count * DIRECTIONS, SIZE * SIZE), np.float32)
    weights[glyph * DIRECTIONS + lower, place] = strength * (1 - share)
    weights[glyph * DIRECTIONS + (lower + 1) % DIRECTIONS, place] = strength * share
    pools = _pools()
    pooled = pools @ weights.reshape(count, DIRECTIONS, SIZE, SIZE) @ pools.T
    flat = pooled.reshape(count, LENGTH)
    norms = np.linalg.norm(flat, axis=1, keepdims=True)
    return np.asarray(np.clip(np.rint(flat * (NORM / np.maximum(norms, 1e-6))), 0, 127), dtype=np.int8)


def _pools() -> NDArray[np.float32]:
    """How much each row of pixels counts for each field: bells that overlap by half."""
    middles = (np.arange(FIELDS) + 0.5) * SIZE / FIELDS
    away = (np.arange(SIZE) + 0.5 - middles[:, None]) / (SIZE / FIELDS / 1.6)
    return np.asarray(np.exp(-(away**2) / 2), dtype=np.float32)
