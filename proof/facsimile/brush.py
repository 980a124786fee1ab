"""Ink on a canvas: glyphs as a hand writes them, and rules as a block prints them.

A canvas is ink coverage, height x width, 0 bare to 255 full, in pixels of the page before it is skewed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from proof.facsimile.fonts import EM_PX, LEVELS_PER_PIXEL, MIN_INK_COVERAGE, OUTLINE_LEVEL, SIDE, Field
from proof.images.opencv import cv2

Canvas = NDArray[np.uint8]
"""Ink coverage, height x width."""
Points = NDArray[np.float64]
"""Points, n x 2, x then y."""
Owners = NDArray[np.int16]
"""For each pixel of a canvas or an image the number of the glyph whose ink it is; `LINES` for rules, frames and other
ink that is no text; 0 for bare paper."""
LINES = -1

SUBPIXEL_BITS = 4
"""Number of fractional bits in the coordinates of filled outlines."""
KNOTS_PER_SIDE = 4
"""Number of points across a glyph, in each direction, that are displaced independently."""
INK_REACH_EMS = 0.68
"""Maximum distance of a glyph's ink from its middle, in em squares."""
SLANT_SPREAD = 0.3
"""Standard deviation of the slant from glyph to glyph, as a share of the hand's."""
MAX_WEIGHT_DEVIATION = 2.0
"""Maximum deviation of a glyph's weight from that of the hand, in standard deviations."""


@dataclass(frozen=True, slots=True)
class Hand:
    """How a scribe departs from the font.

    Standard deviations from glyph to glyph: `size` and `shift` in em squares, `turn` in degrees, `wobble` (the
    displacement of parts of a glyph) in em squares, `weight_spread` in thousandths of the em. Common to all glyphs:
    `slant`, the rise of horizontals (dy over dx), and `weight`, which is added to the half-width of strokes, in
    thousandths of the em.
    """

    size: float = 0.04
    shift: float = 0.025
    turn: float = 1.2
    wobble: float = 0.02
    slant: float = -0.02
    weight: float = 0.0
    weight_spread: float = 2.5


def write_glyph(
    canvas: Canvas,
    field: Field,
    centre: tuple[float, float],
    em: tuple[float, float],
    hand: Hand,
    rng: np.random.Generator,
    owners: Owners | None = None,
    number: int = 0,
) -> Points | None:
    """Write one glyph with its em square (width, height in pixels) about `centre`.

    Returns the left and right ends of its ink in each inked row of the canvas, or None if it left no ink. `number` is
    the number of the glyph in `owners`.
    """
    # the eighth number is not used; it is drawn so that the facsimiles of a seed stay the same
    wider, higher, to_right, down, turned, slanted, bolder, _ = rng.standard_normal(8)
    width, height = em[0] * (1 + hand.size * wider), em[1] * (1 + hand.size * higher)
    x, y = centre[0] + hand.shift * em[0] * to_right, centre[1] + hand.shift * em[1] * down
    turn = np.radians(hand.turn * turned)
    slant = hand.slant * (1 + SLANT_SPREAD * slanted)
    scale = float(np.sqrt(width * height)) / EM_PX
    matrix = (
        np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        @ np.array([[1, 0], [slant, 1]])
        @ np.diag([width / EM_PX, height / EM_PX])
    )
    inverse = np.linalg.inv(matrix).astype(np.float32)
    reach_x, reach_y = int(width * INK_REACH_EMS) + 2, int(height * INK_REACH_EMS) + 2
    left, top = round(x) - reach_x, round(y) - reach_y
    u = np.arange(left, left + 2 * reach_x + 1, dtype=np.float32) - np.float32(x)
    v = (np.arange(top, top + 2 * reach_y + 1, dtype=np.float32) - np.float32(y))[:, None]
    stray = rng.standard_normal((2, KNOTS_PER_SIDE, KNOTS_PER_SIDE), dtype=np.float32) * np.float32(hand.wobble * EM_PX)
    stray_x, stray_y = _bending(v.size) @ stray @ _bending(u.size).T
    middle = np.float32(SIDE / 2 - 0.5)  # of the field, counted from the centre of its first pixel
    map_x = inverse[0, 0] * u + inverse[0, 1] * v + middle + stray_x
    map_y = inverse[1, 0] * u + inverse[1, 1] * v + middle + stray_y
    sampled = cv2.remap(field, map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(0,))
    bolder = min(max(bolder, -MAX_WEIGHT_DEVIATION), MAX_WEIGHT_DEVIATION)
    extra = (hand.weight + hand.weight_spread * bolder) / 1000 * EM_PX
    distances = (np.arange(256, dtype=np.float32) - OUTLINE_LEVEL) / LEVELS_PER_PIXEL
    coverage = np.clip(((distances + extra) * scale + 0.5) * 255, 0, 255)
    coverage[0] = 0  # level 0 means "at least so far outside": the field is clipped there
    ink = np.asarray(cv2.LUT(sampled, coverage.astype(np.uint8)), dtype=np.uint8)
    return _add_ink(canvas, ink, left, top, owners, number)


def _add_ink(canvas: Canvas, ink: Canvas, left: int, top: int, owners: Owners | None, number: int) -> Points | None:
    """Add a glyph's ink to the canvas, its upper left corner at `left`, `top`. Returns as `write_glyph` does."""
    x0, y0 = max(left, 0), max(top, 0)
    x1, y1 = min(left + ink.shape[1], canvas.shape[1]), min(top + ink.shape[0], canvas.shape[0])
    if x0 >= x1 or y0 >= y1:
        return None
    ink = ink[y0 - top : y1 - top, x0 - left : x1 - left]
    place = canvas[y0:y1, x0:x1]
    np.maximum(place, ink, out=place)
    inked = ink >= MIN_INK_COVERAGE
    if owners is not None:
        owners[y0:y1, x0:x1][inked] = number
    rows = np.flatnonzero(inked.any(axis=1))
    if rows.size == 0:
        return None
    first = inked[rows].argmax(axis=1)
    last = inked.shape[1] - 1 - inked[rows, ::-1].argmax(axis=1)
    ends = np.stack([np.concatenate([first, last]), np.concatenate([rows, rows])], axis=1)
    return np.asarray(ends + np.array([x0, y0]), dtype=np.float64)


@lru_cache(maxsize=512)
def _bending(size: int) -> NDArray[np.float32]:
    """The weights (`size` x KNOTS_PER_SIDE) by which the displacements at the knots become smooth displacements of
    `size` pixels."""
    knots = np.eye(KNOTS_PER_SIDE, dtype=np.float32)
    return np.asarray(cv2.resize(knots, (KNOTS_PER_SIDE, size), interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def rule(
    canvas: Canvas,
    start: tuple[float, float],
    end: tuple[float, float],
    width: float,
    rng: np.random.Generator,
    wander: float = 0.5,
    rough: float = 0.2,
    lost: float = 0.0,
    piece: float = 60.0,
    bow: float = 0.0,
) -> None:
    """Draw a printed line, `width` pixels thick.

    `bow` is the distance of its middle from the straight line in pixels, `wander` its sideways deviation in pixels
    (standard deviation), `rough` the variation of its thickness (as a share of it), `lost` the share of its length that
    did not print, in gaps of `piece` pixels on average.
    """
    a, b = np.array(start, dtype=np.float64), np.array(end, dtype=np.float64)
    length = float(np.hypot(*(b - a)))
    if length < 1 or width <= 0:
        return
    count = max(int(length / 6), 2)
    along = np.linspace(0, 1, count)
    normal = np.array([-(b - a)[1], (b - a)[0]]) / length
    slow = _smooth(rng, count, max(count // 25, 2)) * wander
    coarse = _smooth(rng, count, max(count // 10, 2))
    fine = rng.standard_normal((2, count))
    half = width / 2
    edges = [half * np.clip(1 + rough * (0.8 * coarse + 0.6 * fine[i]), 0.15, None) for i in (0, 1)]
    spine = a + along[:, None] * (b - a) + (slow + 4 * bow * along * (1 - along))[:, None] * normal
    upper, lower = spine + edges[0][:, None] * normal, spine - edges[1][:, None] * normal
    for first, last in _printed(count, lost, piece / length * count, rng):
        outline = np.concatenate([upper[first:last], lower[first:last][::-1]])
        cv2.fillPoly(
            canvas,
            [np.round(outline * (1 << SUBPIXEL_BITS)).astype(np.int32)],
            (255,),
            lineType=cv2.LINE_AA,
            shift=SUBPIXEL_BITS,
        )


def _smooth(rng: np.random.Generator, count: int, knots: int) -> NDArray[np.float64]:
    """A slowly varying random curve of `count` values with `knots` turning points."""
    values = rng.standard_normal(knots + 1)
    return np.interp(np.linspace(0, knots, count), np.arange(knots + 1), values)


def _printed(count: int, lost: float, gap: float, rng: np.random.Generator) -> list[tuple[int, int]]:
    """The stretches of a line of `count` points that printed, as index ranges of two points or more; `lost` is the
    share that did not, in gaps of `gap` points on average (at least one)."""
    if lost <= 0:
        return [(0, count)]
    kept, position = [], 0.0
    gap = max(gap, 1.0)
    while position < count:
        # printed stretches and gaps alternate; their lengths are exponential, with means in the ratio of the shares
        printed = rng.exponential(gap * (1 - lost) / lost)
        first, last = int(position), int(min(position + printed, count))
        if last - first >= 2:
            kept.append((first, last))
        position += printed + rng.exponential(gap)
    return kept
