"""Separates the ink of one glyph from its neighbours, the other half-row and the rules.

A glyph's box is the cell where the recogniser saw it, not the extent of its strokes. The ink of a stretch of the column
is divided among its glyphs: the cut between two of them is about halfway, where least ink is (dynamic programming over
all cuts of the stretch).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.glyph_form import DrawnForm, fit_form
from proof.layout.glyph_of_form import KnownGlyph
from proof.layout.rules import Mask, connected, ink_mask, long_strokes
from proof.model.geometry import Box

MAX_CELL_PX = 40.0
"""Maximum height of a cell when ink is divided, in pixels: finer images are scaled down."""

WINDOW_CELLS = 2.6
"""Distance above and below a glyph that its window includes, in cells."""

BESIDE_WIDTHS = 0.3
"""Distance on either side of a column that a glyph's window includes, as a share of the column's width."""

MIN_GAP_CELLS = 1.6
"""Distance between two glyphs from which they share no cut, in cells."""

MAX_CUT_OFFSET_CELLS = 0.42
"""Maximum distance of a cut from halfway between two glyphs, in cells."""

INK_COST = 10.0
"""Cost of a cut through rows full of ink."""

SIZE_COST = 3.0
"""Cost of the squared difference of a cell's height from the expected one, relative to that."""

PLACE_COST = 1.0
"""Cost of the squared distance of a cell's middle from the place of its glyph, in cells."""

SHIFTS = (0.0, -0.1, -0.2, -0.3, 0.1)
"""Offsets tried for all glyphs of a stretch together, in cells: a recogniser sees them a little low."""

MAX_FRAME_PIECE_CELLS = 0.12
"""Maximum thickness of a piece of the frame, in cells."""

MAX_CROSSING_CELLS = 0.15
"""Maximum distance that a stroke reaches into a rule and over it, in cells."""

MAX_RULE_OFFSET_WIDTHS = 0.11
"""Maximum distance of a rule from the edge of its column, as a share of the column's width."""

MAX_FRAME_DISTANCE_CELLS = 0.16
"""Maximum distance of a piece of the frame from the end of its column, in cells."""

MIN_RULE_INK = 0.22
"""Minimum ink of a broken rule, as a share of the window's height."""

MAX_BEND_CELLS = 0.3
"""Maximum distance that a cut bends around strokes, in cells."""

BEND_COST = 0.02
"""Cost of a bend of that distance, in pixels of ink."""

FORM_MARGIN_CELLS = 0.04
"""Distance from the edge of a glyph's form at which the glyph is cut from a neighbour without one, in cells."""

MAX_SPECK_AREA = 0.01
"""Area below which a piece of ink is a dot or a speck, as a share of a cell's area. If specks stay, 868 of 940 glyphs
that no font has are whole and in the middle, and 921 without them."""

MAX_DOT_DISTANCE_CELLS = 0.12
"""Maximum distance of a glyph's dots from the box around its strokes, in cells."""


@dataclass(frozen=True, slots=True)
class GlyphInk:
    """The ink of a glyph: the `box` of its extent, and masks of the window for its `own` ink and for all `ink`."""

    box: Box
    own: NDArray[np.bool_]
    ink: NDArray[np.bool_]


Forms = Callable[[int], Sequence[DrawnForm]]
"""Gives the known forms of a glyph by its number; none if it has none."""


def no_forms(_number: int) -> Sequence[DrawnForm]:
    """The default of `glyph_ink`: no glyph has a known form."""
    return ()


def glyph_ink(
    window: NDArray[np.uint8],
    column: Box,
    row: tuple[float, float],
    glyphs: Sequence[Box],
    chosen: Sequence[int],
    pitch: float,
    size: float,
    forms: Forms = no_forms,
) -> GlyphInk | None:
    """The ink of the `chosen` glyphs (by number) of those in a row of a column, from top to bottom; None without ink.

    `window` is upright (grey, height x width, 0 black); `row` is the left and right edge of the half-row in the
    `column`, or of the whole column; `pitch` is the distance between glyphs, `size` the side of the square that a glyph
    fills. All in pixels of `window`.
    """
    scale = min(1.0, MAX_CELL_PX / pitch)
    small = window
    if scale < 1:
        small = np.asarray(cv2.resize(window, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    scaled_column = Box(*(edge * scale for edge in (column.x, column.y, column.w, column.h)))
    scaled_row = (row[0] * scale, row[1] * scale)
    ink = ink_mask(small) > 0
    text = without_rules(ink, scaled_column, pitch * scale)
    places = tuple(glyph.centre[1] * scale for glyph in glyphs)
    own = _Stretch(text, scaled_column, scaled_row, places, tuple(chosen), pitch * scale, size * scale, forms).own_ink()
    if not own.any():
        return None
    ys, xs = np.nonzero(own)
    extent = (xs.min(), ys.min(), xs.max() + 1 - xs.min(), ys.max() + 1 - ys.min())
    box = Box(*(float(side) / scale for side in extent))
    return GlyphInk(box, _enlarged(own, window.shape), _enlarged(ink, window.shape))


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A stretch of a column around the `chosen` glyphs: the mask of its `text`, and in pixels of it the `column`, the
    left and right edge of the `row`, the y of the middles of all glyphs (`places`), their distance (`pitch`), and the
    side of the square that a glyph fills (`size`)."""

    text: NDArray[np.bool_]
    column: Box
    row: tuple[float, float]
    places: tuple[float, ...]
    chosen: tuple[int, ...]
    pitch: float
    size: float
    forms: Forms

    def own_ink(self) -> NDArray[np.bool_]:
        """The ink of the chosen glyphs, by their forms where these fit, else by cuts where least ink is."""
        known_glyph = self._known_glyph(self.chosen)
        if known_glyph is None:
            return _without_specks(_ink_within(self.text, self._spans_by_cuts(), self.row), self.size)
        in_column = _within_sides(self.text.shape[1], (self.column.x, self.column.right))
        return known_glyph.own_ink(self.text & in_column, self._without_neighbours)

    def _spans_by_cuts(self) -> list[tuple[float, float]]:
        """Top and bottom of each chosen glyph, by cuts where least ink is."""
        in_row = self.text[:, max(round(self.row[0]), 0) : max(round(self.row[1]), 1)]
        profile = in_row.mean(axis=1) if in_row.size else np.zeros(len(self.text))
        spans = cuts_between(profile, self.places, self.pitch, SHIFTS)
        return [spans[number] for number in self.chosen]

    def _known_glyph(self, numbers: Sequence[int]) -> KnownGlyph | None:
        """The glyphs with these numbers by their forms; None where any of them has no form that fits."""
        x = (self.row[0] + self.row[1]) / 2
        fits = []
        for number in numbers:
            fit = fit_form(self.text, self.forms(number), (x, self.places[number]), self.size)
            if fit is None:
                return None
            fits.append(fit)
        return KnownGlyph.of(fits, self.size) if fits else None

    def _without_neighbours(self, known: KnownGlyph) -> NDArray[np.bool_]:
        """The pixels that belong neither to the glyph above the chosen ones nor to the one below. A neighbour gets the
        pixels that are nearer to its form. Where its form is unknown, it gets those beyond a cut along the edge of the
        chosen forms."""
        ys = np.arange(len(self.text))[:, None] + 0.5
        margin, max_bend = FORM_MARGIN_CELLS * self.pitch, max(round(MAX_BEND_CELLS * self.pitch), 1)
        own = np.ones(self.text.shape, bool)
        for number, edge, inwards in ((self.chosen[0] - 1, known.top, 1), (self.chosen[-1] + 1, known.bottom, -1)):
            neighbour = self._known_glyph([number]) if 0 <= number < len(self.places) else None
            if neighbour is not None:
                own &= known.distance <= neighbour.distance
            else:
                own &= (ys - _seam(self.text, edge - inwards * margin, max_bend)) * inwards > 0
        return own


def without_rules(ink: NDArray[np.bool_], column: Box, pitch: float) -> NDArray[np.bool_]:
    """The ink without the rules beside a column and the frame above or below it, whole or broken."""
    mask: Mask = np.where(ink, 255, 0).astype(np.uint8)
    width = column.w
    level = cv2.dilate(long_strokes(mask, max(round(1.15 * width), 3), vertical=False), np.ones((3, 1), np.uint8)) > 0
    ys, reach = np.arange(len(ink))[:, None], MAX_FRAME_DISTANCE_CELLS * pitch
    text = np.asarray(ink & ~(level & ((ys < column.y + reach) | (ys > column.bottom - reach))))
    left, right = _rule_at(mask, column.x, pitch, width, 1), _rule_at(mask, column.right, pitch, width, -1)
    text[:, : max(round(left), 0)] = False
    text[:, max(round(right), 0) :] = False
    labels, stats, centres = connected(text.astype(np.uint8))
    from_end = np.minimum(np.abs(centres[:, 1] - column.y), np.abs(centres[:, 1] - column.bottom))
    is_line = from_end < reach
    is_line &= stats[:, cv2.CC_STAT_HEIGHT] <= max(MAX_FRAME_PIECE_CELLS * pitch, 3)
    is_line[0] = False
    text = np.asarray(text & ~is_line[labels])
    crossing = max(round(MAX_CROSSING_CELLS * pitch), 2)
    _restore_crossed(text, ink, round(left), crossing)
    _restore_crossed(text[:, ::-1], ink[:, ::-1], ink.shape[1] - round(right), crossing)
    return text


def _restore_crossed(text: NDArray[np.bool_], ink: NDArray[np.bool_], first: int, reach: int) -> None:
    """Restore (in place) the ink of a rule at the left, and beyond it, where a stroke of the text meets or crosses it.
    The text begins at x `first`."""
    if not 0 < first < text.shape[1] - 1:
        return
    met = (text[:, first] | text[:, first + 1])[:, None]
    place = slice(max(first - reach, 0), first)
    text[:, place] |= np.logical_and.accumulate((ink[:, place] & met)[:, ::-1], axis=1)[:, ::-1]


def _rule_at(ink: Mask, edge: float, pitch: float, width: float, inwards: int) -> float:
    """The x of the inner side of the innermost rule near a column's `edge`, even if it is broken; just outside the edge
    where there is none. `inwards` is the direction into the column, 1 or -1."""
    low = max(round(edge - MAX_RULE_OFFSET_WIDTHS * width), 0)
    high = min(round(edge + MAX_RULE_OFFSET_WIDTHS * width) + 1, ink.shape[1])
    if high <= low:
        return edge
    upright = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((max(round(0.25 * pitch), 3), 1), np.uint8))
    rules = np.flatnonzero((upright[:, low:high] > 0).mean(axis=0) > MIN_RULE_INK)
    if not rules.size:
        return edge
    return low + int(rules[-1]) + 2 if inwards > 0 else low + int(rules[0]) - 1


def cuts_between(
    profile: NDArray[np.float64], places: Sequence[float], pitch: float, shifts: Sequence[float] = (0.0,)
) -> list[tuple[float, float]]:
    """Top and bottom of each of the glyphs whose middles are at about `places` (ascending), from a `profile` of the ink
    in every row of pixels (0 to 1). All glyphs of a stretch may be off by the same one of `shifts`, in cells."""
    spans: list[tuple[float, float]] = []
    start = 0
    for end in range(1, len(places) + 1):
        if end < len(places) and places[end] - places[end - 1] < MIN_GAP_CELLS * pitch:
            continue
        stretch = np.asarray(places[start:end], dtype=np.float64)
        spans += _cuts_of_stretch(profile, stretch, pitch, np.asarray(shifts, dtype=np.float64) * pitch)
        start = end
    return spans


def _cuts_of_stretch(
    profile: NDArray[np.float64], places: NDArray[np.float64], pitch: float, shifts: NDArray[np.float64]
) -> list[tuple[float, float]]:
    """`cuts_between` for glyphs without a gap between them, with the cheapest of `shifts` (pixels)."""
    halfway = np.concatenate([[places[0] - pitch / 2], (places[:-1] + places[1:]) / 2, [places[-1] + pitch / 2]])
    distances = np.concatenate([[pitch], np.diff(places), [pitch]])
    expected_heights = np.clip((distances[:-1] + distances[1:]) / 2, 0.5 * pitch, 1.3 * pitch)
    offsets = np.arange(-round(MAX_CUT_OFFSET_CELLS * pitch), round(MAX_CUT_OFFSET_CELLS * pitch) + 1)
    cuts = halfway[:, None, None] + shifts[:, None] + offsets
    smooth = np.convolve(profile, np.ones(5) / 5, mode="same")
    is_inside = (cuts >= 0) & (cuts < len(smooth))
    ink = np.where(is_inside, smooth[np.clip(cuts, 0, len(smooth) - 1).astype(np.intp)], 0.0)
    # the cost of a cell depends only on the offsets of its two ends from halfway, whatever the shift
    above, below = offsets[:, None], offsets[None, :]
    total = INK_COST * ink[0]
    best_above = []
    for number, place in enumerate(places):
        height = halfway[number + 1] - halfway[number]
        middle = (halfway[number] + halfway[number + 1]) / 2
        stretched = (height + below - above) / expected_heights[number] - 1.0
        displaced = (middle + (above + below) / 2 - place) / pitch
        costs = total[:, :, None] + (SIZE_COST * stretched**2 + PLACE_COST * displaced**2)
        best_above.append(costs.argmin(axis=1))
        least = np.take_along_axis(costs, best_above[-1][:, None], axis=1)[:, 0]
        total = least + INK_COST * ink[number + 1]
    shift, offset = divmod(int(total.argmin()), len(offsets))
    chosen = [float(cuts[-1, shift, offset])]
    for number in range(len(places) - 1, -1, -1):
        offset = int(best_above[number][shift, offset])
        chosen.append(float(cuts[number, shift, offset]))
    chosen.reverse()
    return list(pairwise(chosen))


def _ink_within(
    text: NDArray[np.bool_], spans: Sequence[tuple[float, float]], row: tuple[float, float]
) -> NDArray[np.bool_]:
    """The ink within `spans` and `row`."""
    ys = np.arange(len(text))[:, None] + 0.5
    in_spans = np.logical_or.reduce([(ys >= top) & (ys < bottom) for top, bottom in spans])
    return np.asarray(text & in_spans & _within_sides(text.shape[1], row))


def _without_specks(own: NDArray[np.bool_], size: float) -> NDArray[np.bool_]:
    """The ink of a glyph without specks away from its strokes; all of it where it has no stroke, as under a seal."""
    labels, stats, centres = connected(own.astype(np.uint8))
    is_small = stats[:, cv2.CC_STAT_AREA] < MAX_SPECK_AREA * size * size
    is_small[0] = True
    if is_small.all():
        return own
    corners = stats[:, :2], stats[:, :2] + stats[:, 2:4]
    reach = MAX_DOT_DISTANCE_CELLS * size
    least, most = corners[0][~is_small].min(axis=0) - reach, corners[1][~is_small].max(axis=0) + reach
    is_far = ((centres < least) | (centres > most)).any(axis=1)
    return np.asarray(own & ~(is_small & is_far)[labels])


def _within_sides(width: int, row: tuple[float, float]) -> NDArray[np.bool_]:
    """Which columns of pixels are in a row."""
    xs = np.arange(width) + 0.5
    return np.asarray((xs >= row[0]) & (xs < row[1]))


def _seam(text: NDArray[np.bool_], cut: float, max_bend: int) -> NDArray[np.float64]:
    """For every column of pixels the y of a cut that bends around strokes by up to `max_bend` pixels: the cheapest path
    from left to right (dynamic programming)."""
    height, width = text.shape
    bends = np.arange(-max_bend, max_bend + 1)
    ys = (np.floor(cut) + bends).astype(np.intp)
    is_inside = (ys >= 0) & (ys < height)
    ink = np.where(is_inside[:, None], text[ys.clip(0, height - 1)], False)
    cost = ink + BEND_COST * (bends / max_bend)[:, None] ** 2
    total, steps = cost[:, 0], np.zeros((len(bends), width), np.intp)
    for x in range(1, width):
        previous = np.stack([np.append(np.inf, total[:-1]), total, np.append(total[1:], np.inf)])
        steps[:, x] = previous.argmin(axis=0) - 1
        total = previous.min(axis=0) + cost[:, x]
    bend = int(total.argmin())
    path = np.empty(width, np.intp)
    for x in range(width - 1, -1, -1):
        path[x] = bend
        bend += steps[bend, x]
    return np.asarray(ys[path], dtype=np.float64)


def _enlarged(mask: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """A mask at the size of the window it was made from."""
    if mask.shape == shape:
        return mask
    size = (shape[1], shape[0])
    return np.asarray(cv2.resize(mask.astype(np.uint8), size, interpolation=cv2.INTER_LINEAR) > 0)
