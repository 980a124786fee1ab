"""Converts the columns found on a page of any kind to a `Layout`, from which strips are cut as from a ruled half-folio.

A column's area covers its glyphs, not the gaps beside them: page numbers of the original and marks of readers in the
gaps are not text. The height of a cell is the period of the ink along the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.half_folio import ColumnArea, Layout, Outline
from proof.layout.page import FoundColumn, PageLayout
from proof.layout.rules import Mask, connected, inked_along

MARGIN_GLYPHS = 0.06
"""White margin at either side of a column's ink, in glyph widths."""

HALF_CORE_GLYPHS = 0.16
"""Half the width of a column's core, in glyph widths: main text always has ink in it, a note in half-rows has none."""

MAX_OVERHANG_GLYPHS = 0.22
"""Maximum distance that a glyph reaches beyond the body of its column, in glyph widths."""

MAX_DOT_DISTANCE_GLYPHS = 0.15
"""Maximum distance of the middle of a dot or a small stroke from the body of its column, in glyph widths."""

MAX_END_DISTANCE_GLYPHS = 0.4
"""Maximum distance of small strokes above the first large stroke of a column and below the last, in glyph widths."""

MAX_NOTE_DISTANCE_GLYPHS = 1.05
"""Maximum distance of a character of a note from the middle of its column, in glyph widths."""

MAX_RULE_DISTANCE_PX = 4
"""Maximum distance of a rule's strokes from the position found for it, in pixels at the working size."""

MAX_RULE_EDGE_DISTANCE_PX = 7
"""Distance from the position found for a rule within which a piece of ink is a remnant of the rule's edge, in pixels at
the working size."""

MIN_WIDE_SHARE = 0.8
"""Width of a stretch of text, relative to the wide ones of its column, from which it counts for the column's body."""

MIN_CELL_GLYPHS = 0.6
"""Minimum height of a cell, in glyph widths."""

MAX_CELL_GLYPHS = 2.2
"""Maximum height of a cell, in glyph widths."""

MAX_PERIODS = 8
"""Maximum number of cells over which the height of one is measured."""

MAX_PERIOD_ERROR = 0.15
"""Maximum error of the first measurement of a cell's height, as a share of that height."""

MIN_CORRECTION = 0.02
"""Minimum correction of that height, as a share of that height."""

MIN_AUTOCORRELATION = 0.08
"""Minimum autocorrelation at the lag of a period."""

MIN_PEAK_RATIO = 0.6
"""Minimum height of a peak of the autocorrelation relative to the highest peak: the first such peak is the period, the
others are multiples of it."""

NEIGHBOURS = 3
"""Number of columns on either side that decide where an indented or raised column has its first cell."""

MIN_INDENT_CELLS = 0.6
"""Minimum distance between the beginning of a column and that of its neighbours, in cells: a column that begins lower
is indented, one that begins higher is raised."""

EDGE_PX = 3
"""Distance from the edge of the image within which ink runs into it, in pixels."""

MIN_CUT_SHARE = 0.5
"""Minimum share of the columns near an edge whose ink runs into it for the edge to cut columns off; fewer may end there
between two glyphs."""

MAX_SMALL_PIECE_GLYPHS = 0.5
"""Length below which a piece of ink is small, in glyph widths: it then belongs to a column only if its middle is in the
column's body or it is part of a note."""


@dataclass(frozen=True, slots=True)
class _Body:
    """A column with the `left` and `right` edge of its glyphs; `number` counts from 1 over the page."""

    number: int
    column: FoundColumn
    left: float
    right: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


def as_layout(page_layout: PageLayout) -> Layout:
    """The layout of a page from its detected columns, for `cut_strips` and the steps after it."""
    areas: list[ColumnArea] = []
    owners = np.zeros(page_layout.sheet.ink.shape, dtype=np.int16)
    ink = _without_rules(page_layout)
    registers = [list(columns) for _, columns in groupby(page_layout.columns, key=lambda column: column.register)]
    heights = [cell_height(page_layout.text, columns) for columns in registers]
    known_heights = [height for height in heights if height is not None]
    for columns, height_of_register in zip(registers, heights, strict=True):
        register = columns[0].register
        # the registers of a page are set in one size
        pitch = height_of_register or (float(np.median(known_heights)) if known_heights else default_height(columns))
        glyph = float(np.median([column.glyph for column in columns]))
        bodies = [
            _Body(len(areas) + number, column, *_glyph_edges(page_layout.text, column, glyph))
            for number, column in enumerate(columns, 1)
        ]
        _assign_ink(owners, ink, page_layout, register, bodies, glyph)
        ink_tops = [_ink_top(owners, body, glyph) for body in bodies]
        for body, ink_top, cells_top in zip(bodies, ink_tops, _tops_of_cells(ink_tops, pitch), strict=True):
            height = cells_top - ink_top
            is_raised = height > MIN_INDENT_CELLS * pitch
            top = cells_top if is_raised else min(cells_top, ink_top)
            left, right = _edges(owners, body, glyph)
            bottom = body.column.bottom + 0.2 * pitch
            raised = height if is_raised else 0.0
            areas.append(ColumnArea(body.number, left, right, top, bottom, raised, measured_pitch=pitch))
    ink[owners == 0] = 0
    sheet = page_layout.sheet
    outline = Outline(
        sheet.rectification, tuple(areas), bool(areas), None, sheet.skew, cut=_cut_edges(page_layout, owners, areas)
    )
    return Layout(outline, sheet.grey, ink, 0.0, owners)


def _cut_edges(
    page_layout: PageLayout, owners: NDArray[np.int16], areas: Sequence[ColumnArea]
) -> tuple[float | None, float | None]:
    """The y at which the image cuts the columns off above, and below; None where it does not."""
    if len(page_layout.regions) > 1:
        # the edge would cut only one of several registers, and how many of its cells are visible is unknown
        return None, None
    top, bottom = 0.0, float(len(owners))
    return (
        top if _runs_into(owners[:EDGE_PX], areas, top) else None,
        bottom if _runs_into(owners[-EDGE_PX:], areas, bottom) else None,
    )


def _runs_into(edge_owners: NDArray[np.int16], areas: Sequence[ColumnArea], edge: float) -> bool:
    """Whether the image cuts columns off at its upper or lower `edge` (y): the ink of most columns near it runs into
    it. `edge_owners` are the owners of the ink at the edge."""
    near = [
        area
        for area in areas
        if area.measured_pitch
        and min(abs(area.top - area.raised - edge), abs(area.bottom - edge)) < area.measured_pitch
    ]
    cut = sum(bool((edge_owners == area.number).any()) for area in near)
    return cut > max(1.0, MIN_CUT_SHARE * len(near))


def _without_rules(page_layout: PageLayout) -> Mask:
    """The ink of the sheet without the rules between columns."""
    ink = page_layout.sheet.ink.copy()
    for region, rules in zip(page_layout.regions, page_layout.rules, strict=True):
        for x in rules:
            across = slice(max(0, round(x) - MAX_RULE_DISTANCE_PX), round(x) + MAX_RULE_DISTANCE_PX + 1)
            place = slice(region.top, region.bottom), across
            ink[place][page_layout.sheet.upright[place] > 0] = 0
    return ink


def _assign_ink(
    owners: NDArray[np.int16],
    ink: Mask,
    page_layout: PageLayout,
    register: int,
    bodies: Sequence[_Body],
    glyph: float,
) -> None:
    """Write into `owners` the number of the column that each piece of a register's ink belongs to. `glyph` is the usual
    width of a glyph.

    Ink in the body of a column belongs to it; a large piece in two bodies is divided between them. A small piece
    between two columns belongs to a note of the column without main text at its height (the nearer column if neither
    has any), and to no column if both have main text there. The ragged edges of rules, which `_without_rules` leaves,
    belong to none.
    """
    region, rules = page_layout.regions[register - 1], np.array(page_layout.rules[register - 1])
    reach = round(MAX_END_DISTANCE_GLYPHS * glyph)
    first = max(0, round(min([region.top, *(body.column.top for body in bodies)])) - reach)
    end = round(max(body.column.bottom for body in bodies)) + reach
    part = ink[first:end]
    labels, stats, centres = connected(part)
    x, y, width, height = (stats[:, i].astype(np.intp) for i in range(4))
    middle = centres[:, 0]
    is_small = np.maximum(width, height) < MAX_SMALL_PIECE_GLYPHS * glyph
    rule_distance = np.abs(rules[:, None] - np.stack([x, x + width - 1])[:, None]).max(axis=0)
    is_text = is_small & ~(rule_distance < MAX_RULE_EDGE_DISTANCE_PX).any(axis=0)
    is_text[0] = False
    top, bottom = y + first, y + height + first
    dot_distance = MAX_DOT_DISTANCE_GLYPHS * glyph
    owner_of_piece = np.zeros(len(stats), dtype=np.int16)
    for body in bodies:
        in_body = (middle >= body.left - dot_distance) & (middle <= body.right + dot_distance)
        in_column = (top >= body.column.top - reach) & (bottom <= body.column.bottom + reach)
        owner_of_piece[is_text & in_body & in_column] = body.number
    clear_rows = {body.number: _clear_rows(part, body, glyph) for body in bodies}
    for piece in np.flatnonzero(is_text & (owner_of_piece == 0)).tolist():
        rows = slice(max(0, int(y[piece]) - 1), int(y[piece] + height[piece]) + 1)
        owner_of_piece[piece] = _note_column(float(middle[piece]), rows, bodies, clear_rows, glyph)
    owner_of_pixel = owner_of_piece[labels]
    overhang = MAX_OVERHANG_GLYPHS * glyph
    for body in bodies:
        column = body.column
        rows = slice(max(0, round(column.top) - 3 - first), round(column.bottom) + 3 - first)
        left, right = max(column.left, body.left - overhang), min(column.right, body.right + overhang)
        place = rows, slice(max(0, round(left)), round(right))
        # pieces no wider than a glyph and a half with their middle beside the body are ornaments
        is_beside = (middle < body.left - dot_distance) | (middle > body.right + dot_distance)
        is_large_text = ~is_small & ~(is_beside & (width < 1.5 * glyph))
        owner_of_pixel[place][(part[place] > 0) & is_large_text[labels[place]]] = body.number
    is_owned = owner_of_pixel > 0
    owners[first:end][is_owned] = owner_of_pixel[is_owned]


def _clear_rows(part: Mask, body: _Body, glyph: float) -> NDArray[np.bool_]:
    """The rows without ink in the core of a column, where no main text stands."""
    half = HALF_CORE_GLYPHS * glyph
    core = part[:, max(0, round(body.middle - half)) : round(body.middle + half)]
    return np.asarray(inked_along(core, 1) == 0, dtype=np.bool_)


def _note_column(
    x: float, rows: slice, bodies: Sequence[_Body], clear_rows: dict[int, NDArray[np.bool_]], glyph: float
) -> int:
    """The number of the column to whose note a small piece of ink belongs whose middle is at `x`, outside the columns'
    bodies; 0 where there is none."""
    distances = [
        (abs(x - body.middle), body.number)
        for body in bodies
        if abs(x - body.middle) < MAX_NOTE_DISTANCE_GLYPHS * glyph and clear_rows[body.number][rows].all()
    ]
    return min(distances, default=(0.0, 0))[1]


def _ink_top(owners: NDArray[np.int16], body: _Body, glyph: float) -> float:
    """The y at which a column's own ink begins."""
    top = max(0, round(body.column.top - MAX_END_DISTANCE_GLYPHS * glyph))
    across = slice(max(0, round(body.left - glyph)), round(body.right + glyph))
    rows = np.flatnonzero((owners[top : round(body.column.bottom), across] == body.number).any(axis=1))
    return float(top + rows[0]) if rows.size else body.column.top


def _edges(owners: NDArray[np.int16], body: _Body, glyph: float) -> tuple[float, float]:
    """The left and right edge of a column, equally far from its middle, with its own ink and a margin between them."""
    column = body.column
    first, last = max(0, round(body.left - glyph)), round(body.right + glyph)
    rows = slice(max(0, round(column.top) - 3), round(column.bottom) + 3)
    inked = np.flatnonzero((owners[rows, first:last] == body.number).any(axis=0))
    half = (body.right - body.left) / 2
    if inked.size:
        half = max(half, body.middle - first - float(inked[0]), first + float(inked[-1]) + 1 - body.middle)
    half += MARGIN_GLYPHS * glyph
    return max(0.0, body.middle - half), min(float(owners.shape[1]), body.middle + half)


def default_height(columns: Sequence[FoundColumn]) -> float:
    """The height of a cell of columns whose ink has no period, in pixels."""
    return 1.1 * float(np.median([column.glyph for column in columns]))


def cell_height(text: Mask, columns: Sequence[FoundColumn]) -> float | None:
    """The distance between consecutive glyphs along the columns of a register, in pixels; None where the ink has no
    period."""
    glyph = float(np.median([column.glyph for column in columns]))
    low, high = max(4, int(MIN_CELL_GLYPHS * glyph)), int(MAX_CELL_GLYPHS * glyph)
    correlation = np.zeros(MAX_PERIODS * (high + 2))
    for column in columns:
        part = text[round(column.top) : round(column.bottom), round(column.left) : round(column.right)]
        if part.shape[0] < 3 * high or not part.shape[1]:
            continue
        profile = inked_along(part, 1) / part.shape[1]
        profile = profile - cv2.blur(profile[None, :], (2 * high + 1, 1))[0]
        spectrum = np.fft.rfft(profile, 2 * profile.size)
        own = np.fft.irfft(spectrum * np.conj(spectrum))[: min(len(correlation), profile.size)]
        correlation[: own.size] += own
    if not correlation[0]:
        return None
    period = _first_period(correlation[: high + 2] / correlation[0], low, high)
    return None if period is None else _over_more_periods(correlation, period)


def _first_period(correlation: NDArray[np.float64], low: int, high: int) -> float | None:
    """The lag of the first high peak of an autocorrelation (1 at lag 0) from `low` to `high`, refined by a parabola;
    None where there is none."""
    lags = np.arange(low, high)
    before, at, after = correlation[lags - 1], correlation[lags], correlation[lags + 1]
    peaks = lags[(at > before) & (at >= after) & (at > MIN_AUTOCORRELATION)]
    if not peaks.size:
        return None
    first = int(peaks[correlation[peaks] >= MIN_PEAK_RATIO * correlation[peaks].max()][0])
    left, peak, right = (float(value) for value in correlation[first - 1 : first + 2])
    return first + 0.5 * (left - right) / min(left - 2 * peak + right, -1e-9)


def _over_more_periods(correlation: NDArray[np.float64], period: float) -> float:
    """A period of an autocorrelation, corrected by its multiples, to which an error of one adds up. A small correction
    is not made: it would change no runs, but the lengths of the strips that the recogniser is shown."""
    tried = period * (1 + np.linspace(-1, 1, 301) * MAX_PERIOD_ERROR)
    multiples = np.arange(1, MAX_PERIODS + 1)[:, None] * tried
    totals = np.interp(multiples, np.arange(len(correlation)), correlation).sum(axis=0)
    corrected = float(tried[int(totals.argmax())])
    return corrected if abs(corrected / period - 1) > MIN_CORRECTION else period


def _tops_of_cells(ink_tops: Sequence[float], pitch: float) -> list[float]:
    """The y of each column's first cell, blank or not, from the ink of the columns around it."""
    tops = np.array(ink_tops)
    cell_tops = []
    for number, top in enumerate(tops):
        nearby_tops = tops[max(0, number - NEIGHBOURS) : number + NEIGHBOURS + 1]
        second = float(np.sort(nearby_tops)[min(1, len(nearby_tops) - 1)])  # the highest may be raised
        level = float(np.median(nearby_tops[np.abs(nearby_tops - second) < MIN_INDENT_CELLS * pitch]))
        cell_tops.append(float(top) if abs(top - level) < MIN_INDENT_CELLS * pitch else level)
    return cell_tops


def _glyph_edges(text: Mask, column: FoundColumn, glyph: float) -> tuple[float, float]:
    """The left and right edge of a column's glyphs: the median of the wide ones among its stretches as high as a
    glyph."""
    first = round(column.left)
    part = text[round(column.top) : round(column.bottom), first : round(column.right)]
    step = max(4, round(glyph))
    extents = []
    for start in range(0, max(part.shape[0] - step // 2, 1), step):
        inked = np.flatnonzero(inked_along(part[start : start + step], 0) > 1)
        if inked.size:
            extents.append((float(inked[0]), float(inked[-1] + 1)))
    if not extents:
        return column.left, column.right
    widths = np.array([right - left for left, right in extents])
    wide = np.array(extents)[widths >= MIN_WIDE_SHARE * np.quantile(widths, 0.8)]
    left, right = (float(edge) for edge in np.median(wide, axis=0))
    room = max(0.0, (glyph - right + left) / 2)
    return max(column.left, first + left - room), min(column.right, first + right + room)
