"""Separates the ink of one glyph from its neighbours, the other half-row and the rules.

A glyph's box is the cell where the recogniser saw it, not the extent of its strokes. The ink of a stretch of the column
is divided among its glyphs: the cut between two of them is about halfway, where least ink is (dynamic programming over
all cuts of the stretch), and bends around strokes. A stroke goes whole to the glyph that has most of it and is cut only
where two glyphs touch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.glyph_extent import MIN_STAINED_DIRT, Cells, dirt_around, extent, without_dirt
from proof.layout.glyph_form import DrawnForm, fit_form
from proof.layout.glyph_of_form import AT_FORM_CELLS, KnownGlyph
from proof.layout.rules import Mask, connected, ink_mask, long_strokes

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
"""Offsets tried for all glyphs of a stretch together, in cells: a recogniser places all of them a little low."""

MIN_RULE_CELLS = 1.3
"""Length from which an upright stroke is a rule, in cells."""

MAX_RULE_PIECE_CELLS = 0.12
"""Maximum thickness of a piece of a rule or the frame, in cells."""

BESIDE_RULE_WIDTHS = 0.05
"""Maximum distance of a piece of a rule from the rule, as a share of the column's width."""

MAX_CROSSING_CELLS = 0.15
"""Maximum distance that a stroke reaches into a rule and over it, in cells."""

MAX_RULE_OFFSET_WIDTHS = 0.11
"""Maximum distance of a rule from the edge of its column, as a share of the column's width."""

MIN_OWN_SHARE = 0.7
"""Share of a piece of ink from which its glyph gets all of it."""

MAX_FRAME_DISTANCE_CELLS = 0.16
"""Maximum distance of a piece of the frame from the end of its column, in cells."""

AT_FRAME_CELLS = 0.12
"""Distance from the end of a column within which a long level stroke is a piece of the frame, in cells."""

MIN_FRAME_PIECE_WIDTHS = 0.35
"""Minimum length of such a stroke, as a share of the column's width."""

MIN_OUTSIDE_CELLS = 0.06
"""Distance above or below a column beyond which ink does not belong to it, in cells."""

MIN_RULE_INK = (0.22, 0.3)
"""Minimum ink of a broken rule, as a share of the window's height, at the edge of its column and inside it."""

MAX_BEND_CELLS = 0.3
"""Maximum distance that a cut bends around strokes, in cells."""

BEND_COST = 0.02
"""Cost of a bend of that distance, in pixels of ink."""

FORM_MARGIN_CELLS = 0.04
"""Distance from the edge of a glyph's form at which the glyph is cut from a neighbour without one, in cells."""

MIN_GLYPH_AREA = 0.012
"""Minimum area of a glyph's ink, as a share of a cell's area."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle in pixels: left, top, right, bottom."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def x(self) -> float:
        return (self.left + self.right) / 2

    @property
    def y(self) -> float:
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class GlyphInk:
    """The ink of a glyph: the `box` of its extent, and masks of the window for its `own` ink and for all `ink`."""

    box: Rectangle
    own: NDArray[np.bool_]
    ink: NDArray[np.bool_]


Forms = Callable[[int], Sequence[DrawnForm]]


def unknown(_number: int) -> Sequence[DrawnForm]:
    """The default of `glyph_ink`: no glyph has a known form."""
    return ()


def glyph_ink(
    window: NDArray[np.uint8],
    column: Rectangle,
    row: tuple[float, float],
    glyphs: Sequence[Rectangle],
    chosen: Sequence[int],
    pitch: float,
    size: float,
    forms: Forms = unknown,
) -> GlyphInk | None:
    """The ink of the `chosen` ones (by number) of the `glyphs` in a row of a column, from top to bottom; None without
    ink. `forms` gives the known forms of a glyph by its number.

    `window` is upright (grey, height x width, 0 black); `row` is the left and right edge of the half-row in the
    `column`, or of the whole column; `pitch` is the distance between glyphs, `size` the side of the square that a glyph
    fills. All in pixels of `window`.
    """
    scale = min(1.0, MAX_CELL_PX / pitch)
    small = window
    if scale < 1:
        small = np.asarray(cv2.resize(window, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    edges = Rectangle(*(edge * scale for edge in (column.left, column.top, column.right, column.bottom)))
    sides = (row[0] * scale, row[1] * scale)
    cell = pitch * scale
    ink = ink_mask(small) > 0
    text = without_rules(ink, edges, cell)
    places = tuple(glyph.y * scale for glyph in glyphs)
    stretch = _Stretch(text, ink & ~text, edges, sides, places, tuple(chosen), cell, size * scale, forms)
    glyph = stretch.ink_and_extent()
    if glyph is None:
        return None
    own, (left, top, right, bottom) = glyph
    box = Rectangle(left / scale, top / scale, right / scale, bottom / scale)
    return GlyphInk(box, _enlarged(own, window.shape), _enlarged(ink, window.shape))


InkAndExtent = tuple[NDArray[np.bool_], tuple[float, float, float, float]]
"""The ink of a glyph, and the left, top, right and bottom of its extent."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A stretch of a column around the `chosen` glyphs: masks of its `text` and of the ink removed as `lines`, and in
    pixels of these the `column`, the left and right edge of the `row`, the y of the middles of all glyphs (`places`),
    their distance (`cell`), and the side of the square that a glyph fills (`size`)."""

    text: NDArray[np.bool_]
    lines: NDArray[np.bool_]
    column: Rectangle
    row: tuple[float, float]
    places: tuple[float, ...]
    chosen: tuple[int, ...]
    cell: float
    size: float
    forms: Forms

    def ink_and_extent(self) -> InkAndExtent | None:
        """The ink of the chosen glyphs, by their forms where these fit, else by cuts where least ink is; None where
        there is too little ink."""
        spans = [(self.places[number] - self.cell / 2, self.places[number] + self.cell / 2) for number in self.chosen]
        dirt = dirt_around(self.text, (self.column.left, self.column.right), Cells(self.row, spans, self.size))
        known = self._known(self.chosen, dirt)
        if known is None or not (known.sure or dirt > MIN_STAINED_DIRT):
            cells = Cells(self.row, self._spans(), self.size)
            own = without_dirt(_own(self.text, cells.spans, self.row, self.column, self.cell), dirt, cells)
            if known is None or known.leaves_out(own, self.size):
                return (own, extent(own, dirt, cells)) if self._enough(own) else None
        cells = Cells(self.row, known.spans, self.size)
        wide, column = self.text.shape[1], self.column
        row, inside = (_across(wide, each, column) for each in (self.row, (column.left, column.right)))
        own = known.own(self.text & inside, self.lines & inside, row, cells, partial(self._parted, cells))
        return (own, known.extent(own, dirt, cells)) if self._enough(own) else None

    def _enough(self, own: NDArray[np.bool_]) -> bool:
        return bool(np.count_nonzero(own) >= MIN_GLYPH_AREA * self.cell * self.cell * len(self.chosen))

    def _spans(self) -> list[tuple[float, float]]:
        """Top and bottom of each chosen glyph, by cuts where least ink is."""
        inside = self.text[:, max(round(self.row[0]), 0) : max(round(self.row[1]), 1)]
        profile = inside.mean(axis=1) if inside.size else np.zeros(len(self.text))
        cuts = cuts_between(profile, self.places, self.cell, SHIFTS)
        return [cuts[number] for number in self.chosen]

    def _known(self, numbers: Sequence[int], dirt: float) -> KnownGlyph | None:
        """The glyphs with these numbers by their forms; None where any of them has no form that fits."""
        x = (self.row[0] + self.row[1]) / 2
        fits = [fit_form(self.text, self.forms(n), (x, self.places[n]), self.size, dirt) for n in numbers]
        known = [fit for fit in fits if fit is not None]
        return KnownGlyph.of(known) if known and len(known) == len(fits) else None

    def _parted(self, cells: Cells, away: NDArray[np.float32]) -> NDArray[np.bool_]:
        """The pixels that belong neither to the glyph above the chosen ones nor to the one below. `away` is the
        distance of each pixel from the forms of the chosen glyphs; a neighbour gets the pixels at its form that are
        nearer to it. Where its form is unknown, it gets those beyond a cut along the edge of the chosen forms."""
        ys = np.arange(len(self.text))[:, None] + 0.5
        own = np.ones(self.text.shape, bool)
        for beside, edge, down in ((self.chosen[0] - 1, cells.top, 1), (self.chosen[-1] + 1, cells.bottom, -1)):
            other = None
            if 0 <= beside < len(self.places) and abs(self.places[beside] - edge) < MIN_GAP_CELLS * self.cell:
                other = self._known([beside], 0.0)
            if other is not None:
                own &= (away <= other.away) | (other.away > AT_FORM_CELLS * self.size)
            else:
                seam = _seam(
                    self.text, edge - down * FORM_MARGIN_CELLS * self.cell, max(round(MAX_BEND_CELLS * self.cell), 1)
                )
                own &= (ys - seam) * down > 0
        return own


def without_rules(ink: NDArray[np.bool_], column: Rectangle, cell: float) -> NDArray[np.bool_]:
    """The ink without the rules beside a column and the frame above or below it, whole or broken."""
    mask: Mask = np.where(ink, 255, 0).astype(np.uint8)
    width = column.right - column.left
    upright = long_strokes(mask, max(round(MIN_RULE_CELLS * cell), 3), vertical=True)
    level = long_strokes(mask, max(round(1.15 * width), 3), vertical=False)
    rules = cv2.max(cv2.dilate(upright, np.ones((1, 3), np.uint8)), cv2.dilate(level, np.ones((3, 1), np.uint8)))
    middle = slice(
        max(round(column.left + MAX_RULE_OFFSET_WIDTHS * width), 0),
        max(round(column.right - MAX_RULE_OFFSET_WIDTHS * width), 0),
    )
    rules[:, middle] = cv2.dilate(level, np.ones((3, 1), np.uint8))[
        :, middle
    ]  # long upright strokes there are glyphs that touch
    short = long_strokes(mask, max(round(MIN_FRAME_PIECE_WIDTHS * width), 3), vertical=False)
    for end in (column.top, column.bottom):
        at = slice(max(round(end - AT_FRAME_CELLS * cell), 0), max(round(end + AT_FRAME_CELLS * cell), 0))
        rules[at] = np.maximum(rules[at], short[at])
    text = np.asarray(ink & (rules == 0))
    left, right = _rule_at(mask, column.left, cell, width, 1), _rule_at(mask, column.right, cell, width, -1)
    text[:, : max(round(left), 0)] = False
    text[:, max(round(right), 0) :] = False
    labels, stats, centres = connected(text.astype(np.uint8))
    x, y = centres[:, 0], centres[:, 1]
    beside = (x < left + BESIDE_RULE_WIDTHS * width) | (x > right - BESIDE_RULE_WIDTHS * width)
    ends = np.minimum(np.abs(y - column.top), np.abs(y - column.bottom)) < MAX_FRAME_DISTANCE_CELLS * cell
    outside = (y < column.top - MIN_OUTSIDE_CELLS * cell) | (y > column.bottom + MIN_OUTSIDE_CELLS * cell)
    piece = beside & (stats[:, cv2.CC_STAT_WIDTH] <= max(MAX_RULE_PIECE_CELLS * cell, 3))
    piece |= outside | (ends & (stats[:, cv2.CC_STAT_HEIGHT] <= max(MAX_RULE_PIECE_CELLS * cell, 3)))
    piece[0] = False
    kept = np.asarray(text & ~piece[labels])
    reach = max(round(MAX_CROSSING_CELLS * cell), 2)
    _give_back(kept, ink, round(left), reach)
    _give_back(kept[:, ::-1], ink[:, ::-1], ink.shape[1] - round(right), reach)
    return kept


def _give_back(text: NDArray[np.bool_], ink: NDArray[np.bool_], first: int, reach: int) -> None:
    """Restore (in place) the ink of a rule at the left, and beyond it, where a stroke of the text meets or crosses it.
    The text begins at x `first`."""
    if not 0 < first < text.shape[1] - 1:
        return
    met = (text[:, first] | text[:, first + 1])[:, None]
    place = slice(max(first - reach, 0), first)
    through = np.logical_and.accumulate((ink[:, place] & met)[:, ::-1], axis=1)[:, ::-1]
    text[:, place] |= through


def _rule_at(ink: Mask, edge: float, cell: float, width: float, inwards: int) -> float:
    """The x of the inner side of the innermost rule near a column's `edge`, even if it is broken; just outside the edge
    where there is none. `inwards` is the direction into the column, 1 or -1."""
    low, high = (
        max(round(edge - MAX_RULE_OFFSET_WIDTHS * width), 0),
        min(round(edge + MAX_RULE_OFFSET_WIDTHS * width) + 1, ink.shape[1]),
    )
    if high <= low:
        return edge
    thick = cv2.morphologyEx(
        ink, cv2.MORPH_OPEN, np.ones((1, max(round(1.6 * MAX_RULE_PIECE_CELLS * cell), 3)), np.uint8)
    )
    thin = cv2.morphologyEx(
        cv2.subtract(ink, thick), cv2.MORPH_OPEN, np.ones((max(round(0.25 * cell), 3), 1), np.uint8)
    )
    inked = (thin[:, low:high] > 0).mean(axis=0)
    inside = (np.arange(low, high) - edge) * inwards > 0.5 * BESIDE_RULE_WIDTHS * width
    ruled = np.flatnonzero(inked > np.where(inside, MIN_RULE_INK[1], MIN_RULE_INK[0]))
    if not ruled.size:
        return edge - inwards * 0.02 * width
    at = int(ruled[-1] if inwards > 0 else ruled[0])
    while 0 <= at + inwards < len(inked) and inked[at + inwards] > 0.3 * inked[ruled].max():
        at += inwards
    return low + at + (2 if inwards > 0 else -1)


def cuts_between(
    profile: NDArray[np.float64], places: Sequence[float], cell: float, shifts: Sequence[float] = (0.0,)
) -> list[tuple[float, float]]:
    """Top and bottom of each of the glyphs whose middles are at about `places` (ascending), from a `profile` of the ink
    in every row of pixels (0 to 1). All glyphs of a stretch may be off by the same one of `shifts`, in cells."""
    spans: list[tuple[float, float]] = []
    start = 0
    for end in range(1, len(places) + 1):
        if end < len(places) and places[end] - places[end - 1] < MIN_GAP_CELLS * cell:
            continue
        y = np.asarray(places[start:end], dtype=np.float64)
        spans += _stretch(profile, y, cell, np.asarray(shifts, dtype=np.float64) * cell)
        start = end
    return spans


def _stretch(
    profile: NDArray[np.float64], y: NDArray[np.float64], cell: float, shifts: NDArray[np.float64]
) -> list[tuple[float, float]]:
    """`cuts_between` for glyphs without a gap between them, with the cheapest of `shifts` (pixels)."""
    steps = np.diff(y)
    halves = np.concatenate([[y[0] - cell / 2], (y[:-1] + y[1:]) / 2, [y[-1] + cell / 2]])
    heights = np.concatenate([[cell], steps, [cell]])
    sizes = np.clip((heights[:-1] + heights[1:]) / 2, 0.5 * cell, 1.3 * cell)
    reach = np.arange(-round(MAX_CUT_OFFSET_CELLS * cell), round(MAX_CUT_OFFSET_CELLS * cell) + 1)
    cuts = halves[:, None, None] + shifts[:, None] + reach
    smooth = np.convolve(profile, np.ones(5) / 5, mode="same")
    inked = np.where((cuts >= 0) & (cuts < len(smooth)), smooth[np.clip(cuts, 0, len(smooth) - 1).astype(np.intp)], 0.0)
    # the cost of a cell depends only on the offsets of its two ends from halfway, whatever the shift
    above, below = reach[:, None], reach[None, :]
    total = INK_COST * inked[0]
    came = []
    for number, place in enumerate(y):
        height = halves[number + 1] - halves[number]
        middle = (halves[number] + halves[number + 1]) / 2
        stretched = (height + below - above) / sizes[number] - 1.0
        off = (middle + (above + below) / 2 - place) / cell
        costs = total[:, :, None] + (SIZE_COST * stretched**2 + PLACE_COST * off**2)
        came.append(costs.argmin(axis=1))
        total = np.take_along_axis(costs, came[-1][:, None], axis=1)[:, 0] + INK_COST * inked[number + 1]
    best, at = divmod(int(total.argmin()), len(reach))
    cut_places = [float(cuts[-1, best, at])]
    for number in range(len(y) - 1, -1, -1):
        at = int(came[number][best, at])
        cut_places.append(float(cuts[number, best, at]))
    cut_places.reverse()
    return list(pairwise(cut_places))


def _own(
    text: NDArray[np.bool_],
    spans: Sequence[tuple[float, float]],
    row: tuple[float, float],
    column: Rectangle,
    cell: float,
) -> NDArray[np.bool_]:
    """The ink within `spans` and `row`: each stroke whole where most of it is inside."""
    height, width = text.shape
    ys = np.arange(height) + 0.5
    down = np.zeros(height, dtype=bool)
    for top, bottom in spans:
        down |= (ys >= top) & (ys < bottom)
    across = _across(width, row, column)[None, :]
    place = down[:, None] & across
    labels, stats, _ = connected(text.astype(np.uint8))
    count = len(stats)
    mass = stats[:, cv2.CC_STAT_AREA].astype(np.float64)
    inside = np.bincount(labels[place], minlength=count).astype(np.float64)
    share = inside / np.maximum(mass, 1.0)
    # a piece much higher than a cell is glyphs that touch, of which each keeps its part
    high, wide = stats[:, cv2.CC_STAT_HEIGHT], stats[:, cv2.CC_STAT_WIDTH]
    joined = (high > 1.25 * cell * len(spans)) | (wide > 1.2 * np.count_nonzero(across))
    whole = (share >= MIN_OWN_SHARE) & ~joined
    part = ((share >= 1.0 - MIN_OWN_SHARE) & (share < MIN_OWN_SHARE)) | (joined & (inside > 0))
    whole[0] = part[0] = False
    whole &= mass >= 2
    if not part.any():
        return np.asarray(whole[labels])
    bent = np.zeros(text.shape, dtype=bool)
    for top, bottom in spans:
        above, below = (_seam(text, cut, max(round(MAX_BEND_CELLS * cell), 1)) for cut in (top, bottom))
        bent |= (ys[:, None] >= above) & (ys[:, None] < below)
    return np.asarray(whole[labels] | (part[labels] & bent & across))


def _across(width: int, row: tuple[float, float], column: Rectangle) -> NDArray[np.bool_]:
    """Which columns of pixels are in a row; at an edge of its column the row reaches a little beyond it."""
    xs = np.arange(width) + 0.5
    slack = 0.06 * (column.right - column.left)
    left = row[0] if row[0] > column.left + slack else column.left - slack
    right = row[1] if row[1] < column.right - slack else column.right + slack
    return np.asarray((xs >= left) & (xs < right))


def _seam(text: NDArray[np.bool_], cut: float, reach: int) -> NDArray[np.float64]:
    """For every column of pixels the y of a cut that bends around strokes by up to `reach` pixels: the cheapest path
    from left to right (dynamic programming)."""
    height, width = text.shape
    off = np.arange(-reach, reach + 1)
    rows = (np.floor(cut) + off).astype(np.intp)
    there = (rows >= 0) & (rows < height)
    cost = np.where(there[:, None], text[rows.clip(0, height - 1)], False) + BEND_COST * (off / reach)[:, None] ** 2
    total, came = cost[:, 0], np.zeros((len(off), width), np.intp)
    for x in range(1, width):
        around = np.stack([np.append(np.inf, total[:-1]), total, np.append(total[1:], np.inf)])
        came[:, x] = around.argmin(axis=0) - 1
        total = around.min(axis=0) + cost[:, x]
    at = int(total.argmin())
    path = np.empty(width, np.intp)
    for x in range(width - 1, -1, -1):
        path[x] = at
        at += came[at, x]
    return np.asarray(rows[path], dtype=np.float64)


def _enlarged(mask: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    if mask.shape == shape:
        return mask
    size = (shape[1], shape[0])
    return np.asarray(cv2.resize(mask.astype(np.uint8), size, interpolation=cv2.INTER_LINEAR) > 0)
