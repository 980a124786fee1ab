"""Describes the shape of a glyph by a vector of two hundred small numbers, similar for glyphs of one character.

The numbers are directional features, as usual for handwritten characters (Bai and Huo, 2005, among others): histograms
of the directions of edges in five by five overlapping fields of the glyph. Glyphs are scaled to one size by the moments
of their ink, not by its outer edges, so that a speck beside a glyph changes little.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.crossings import MIN_STROKE_AREA
from proof.layout.glyph_ink import MAX_CELL_PX, SHIFTS, cuts_between
from proof.layout.half_folio import ColumnArea, Layout
from proof.layout.rules import Mask, connected
from proof.model.result import CheckedCharacter
from proof.text.model import Row

Shapes = NDArray[np.int8]
"""Vectors of glyphs (glyphs x `LENGTH`); the cosine of two is the similarity of their glyphs."""

SIZE = 32
"""Side of the square to which a glyph is scaled, in pixels."""

SIDE_DEVIATIONS = 5.0
"""Side of that square, in standard deviations of the ink."""

FIELDS = 5
"""Number of fields along each side of the square."""

DIRECTIONS = 8
"""Number of directions of edges that are distinguished in a field."""

LENGTH = FIELDS * FIELDS * DIRECTIONS
"""Numbers in a vector."""

NORM = 320.0
"""Euclidean length of a vector, chosen so that its numbers fit into eight bits."""

MIN_GLYPH_PX = 6.0
"""Minimum ink of a glyph, in pixels."""


def glyph_shapes(layout: Layout, characters: Sequence[CheckedCharacter]) -> Shapes:
    """The shapes of the characters of a page, in their order; zeros where there is no ink."""
    squares = np.zeros((len(characters), SIZE, SIZE), np.uint8)
    if characters and layout.outline.columns:
        centres = np.array([character.box.centre for character in characters], dtype=np.float64)
        places = layout.outline.rectification.to_page(centres)
        rows: dict[tuple[int, Row], list[int]] = defaultdict(list)
        for number in np.argsort(places[:, 1], kind="stable").tolist():
            rows[characters[number].line, characters[number].row].append(number)
        for (_line, row), numbers in rows.items():
            x, y = places[numbers].T
            area = min(layout.outline.columns, key=lambda column: abs(sum(_sides(column, row)) / 2 - np.median(x)))
            for number, ink in zip(numbers, _inks_in_row(layout, area, row, y), strict=True):
                draw_scaled(ink, squares[number])
    return shapes_of(squares)


def shape_in_row(layout: Layout, area: ColumnArea, row: Row, places: Sequence[float], number: int) -> Shapes:
    """The shape (1 x `LENGTH`) of the glyph with this `number` in a row of a column; zeros if there is no ink. The
    middles of the glyphs are at `places`, y of the rectified page, from top to bottom."""
    square = np.zeros((1, SIZE, SIZE), np.uint8)
    draw_scaled(_inks_in_row(layout, area, row, np.array(places))[number], square[0])
    return shapes_of(square)


def ink_size_in_row(
    layout: Layout, area: ColumnArea, row: Row, places: Sequence[float], number: int
) -> tuple[int, int]:
    """Width and height in pixels of the ink of the glyph with this `number` in a row of a column, without specks; 0
    where there is none. `places` as in `shape_in_row`."""
    y = np.array(places)
    _, stats, _ = connected(_inks_in_row(layout, area, row, y)[number])
    pieces = stats[1:]
    left, top, width, height, _ = pieces[pieces[:, cv2.CC_STAT_AREA] >= MIN_STROKE_AREA * _pitch(area, y) ** 2].T
    if not left.size:
        return 0, 0
    return int((left + width).max() - left.min()), int((top + height).max() - top.min())


def spans_in_row(layout: Layout, area: ColumnArea, row: Row, places: Sequence[float]) -> list[tuple[float, float]]:
    """Top and bottom of each glyph in a row of a column, y of the rectified page, by cuts where there is least ink. A
    recogniser saw the glyphs at `places`, from top to bottom, a little late."""
    y = np.asarray(places, dtype=np.float64)
    profile, pitch = _profile(_ink_of_row(layout, area, row)), _pitch(area, y)
    # all pairs of pixel rows are tried as cuts: as few rows as needed
    scale = max(pitch / MAX_CELL_PX, 1.0)
    size = (1, max(round(len(profile) / scale), 1))
    small = np.asarray(cv2.resize(profile[:, None], size, interpolation=cv2.INTER_AREA).ravel(), dtype=np.float64)
    spans = cuts_between(small, (y / scale).tolist(), pitch / scale, SHIFTS)
    return [(top * scale, bottom * scale) for top, bottom in spans]


def _inks_in_row(layout: Layout, area: ColumnArea, row: Row, y: NDArray[np.float64]) -> list[Mask]:
    """The ink of each glyph in a row of a column, by cuts where there is least ink; the middles of the glyphs are at
    `y`."""
    ink = _ink_of_row(layout, area, row)
    spans = cuts_between(_profile(ink), y.tolist(), _pitch(area, y))
    return [ink[max(round(top), 0) : max(round(bottom), 0)] for top, bottom in spans]


def _ink_of_row(layout: Layout, area: ColumnArea, row: Row) -> Mask:
    left, right = _sides(area, row)
    return layout.ink_of(area.number, np.s_[:, max(round(left), 0) : max(round(right), 1)])


def _profile(ink: Mask) -> NDArray[np.float64]:
    """The share of ink in each row of pixels."""
    return np.asarray(cv2.reduce(ink, 1, cv2.REDUCE_AVG, dtype=cv2.CV_64F).ravel() / 255.0, dtype=np.float64)


def _pitch(area: ColumnArea, y: NDArray[np.float64]) -> float:
    """The usual distance between glyphs whose middles are at `y`, within bounds by the column's width."""
    distances = np.diff(y)
    distances = distances[distances > 0]
    pitch = float(np.median(distances)) if distances.size else area.width * 0.6
    return min(max(pitch, 0.3 * area.width), 1.2 * area.width)


def _sides(area: ColumnArea, row: Row) -> tuple[float, float]:
    """The left and right edge of a row of a column."""
    middle = area.left + area.width / 2
    return (middle if row is Row.RIGHT else area.left), (middle if row is Row.LEFT else area.right)


def draw_scaled(ink: NDArray[np.uint8], square: NDArray[np.uint8]) -> None:
    """Draw a glyph (ink 255) into its square, centred and scaled by the mean and the deviation of its ink; if there is
    too little ink, the square is left as it is."""
    if not ink.size:
        return
    moments = cv2.moments(ink)
    mass = moments["m00"]
    if mass < MIN_GLYPH_PX * 255:
        return
    x, y = moments["m10"] / mass, moments["m01"] / mass
    deviation_x, deviation_y = np.sqrt(moments["mu20"] / mass + 1), np.sqrt(moments["mu02"] / mass + 1)
    mean = np.sqrt(deviation_x * deviation_y)  # the scales are between equal ones and those that make glyphs square
    scale_x = SIZE / (SIDE_DEVIATIONS * np.sqrt(deviation_x * mean))
    scale_y = SIZE / (SIDE_DEVIATIONS * np.sqrt(deviation_y * mean))
    transform = np.array([[scale_x, 0, SIZE / 2 - x * scale_x], [0, scale_y, SIZE / 2 - y * scale_y]])
    cv2.warpAffine(cv2.blur(ink, (2, 2)), transform, (SIZE, SIZE), dst=square, flags=cv2.INTER_LINEAR)


def shapes_of(squares: NDArray[np.uint8]) -> Shapes:
    """The shapes of glyphs in squares (n x SIZE x SIZE, ink 255)."""
    count = len(squares)
    if not count:
        return np.zeros((0, LENGTH), np.int8)
    soft = np.stack([cv2.GaussianBlur(square, (0, 0), 1.0) for square in squares]).astype(np.float32)
    dx, dy = np.zeros_like(soft), np.zeros_like(soft)
    dx[:, :, 1:-1] = soft[:, :, 2:] - soft[:, :, :-2]
    dy[:, 1:-1, :] = soft[:, 2:, :] - soft[:, :-2, :]
    edges = np.flatnonzero((dx != 0) | (dy != 0))  # most pixels of a square are like those beside them
    dx, dy = dx.ravel()[edges], dy.ravel()[edges]
    strength = np.hypot(dx, dy)
    # an edge between two directions counts for both, for the nearer one more
    angle = np.arctan2(dy, dx) * (DIRECTIONS / (2 * np.pi)) % DIRECTIONS
    direction = np.floor(angle).astype(np.intp) % DIRECTIONS
    share_of_next = angle - np.floor(angle)
    glyph, pixel = np.divmod(edges, SIZE * SIZE)
    weights = np.zeros((count * DIRECTIONS, SIZE * SIZE), np.float32)
    weights[glyph * DIRECTIONS + direction, pixel] = strength * (1 - share_of_next)
    weights[glyph * DIRECTIONS + (direction + 1) % DIRECTIONS, pixel] = strength * share_of_next
    fields = _field_weights()
    vectors = (fields @ weights.reshape(count, DIRECTIONS, SIZE, SIZE) @ fields.T).reshape(count, LENGTH)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.clip(np.rint(vectors * (NORM / np.maximum(norms, 1e-6))), 0, 127), dtype=np.int8)


def _field_weights() -> NDArray[np.float32]:
    """The weight of each row of pixels for each field (`FIELDS` x `SIZE`): overlapping Gaussians."""
    middles = (np.arange(FIELDS) + 0.5) * SIZE / FIELDS
    deviations = (np.arange(SIZE) + 0.5 - middles[:, None]) / (SIZE / FIELDS / 1.6)
    return np.asarray(np.exp(-(deviations**2) / 2), dtype=np.float32)
