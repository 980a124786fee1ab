"""The glyphs of a column of the image in reading order, each with the probabilities that the engine gives.

A recogniser reports the characters that it is sure of and silently drops others. The glyphs here include those: places
where blank won narrowly, and places with ink where the engine read nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf

import numpy as np

from proof.ocr.belief import FLOOR, Belief
from proof.ocr.page_record import CutStrip
from proof.ocr.readings import HalfFolioReadings
from proof.ocr.spikes import Spike
from proof.text.model import Row

UNREAD_GAP_CELLS = 1.6
"""Cells between two glyphs from which on the ink between them is searched for a glyph that was not read."""

SPLINTERS = "一二丨丶丿"
"""Characters that a piece of frame or rule is read as."""

# Real characters may have their middle 0.2 cells from the end of the column, and then the next glyph is a cell away.
AT_FRAME_CELLS = 0.15
"""A splinter whose middle is nearer to the end of its column than this is a piece of the frame."""

NEAR_FRAME_CELLS = 0.3
"""A splinter nearer than this is one, too, if the next glyph is nearer than `TOO_NEAR_CELLS`."""

TOO_NEAR_CELLS = 0.6
"""Distance between the middles of two glyphs below which there is hardly room for both."""

SPLINTER_PRESENCE_WEIGHT = 0.3
"""Factor for the presence of a splinter of the frame."""


@dataclass(frozen=True, slots=True)
class Glyph:
    """One glyph of a column.

    `believed` has log-probabilities of characters, given that there is a glyph; empty where the engine read nothing.
    `presence` is the probability that there is a glyph. `y` is its middle, `left`, `top`, `right`, `bottom` its cell,
    in pixels of the rectified page; `pitch` is the height of a cell there. `seen` has the best reading of each look, if
    there was more than one."""

    believed: Belief
    presence: float
    strip: int
    row: Row
    left: float
    top: float
    right: float
    bottom: float
    y: float
    pitch: float
    seen: tuple[str, ...] = ()

    @property
    def silent(self) -> bool:
        """Whether the engine read nothing: the glyph is known from its ink alone."""
        return not self.believed

    @property
    def probable(self) -> bool:
        """Whether it is more probable that there is a glyph than that there is none."""
        return self.presence > 0.5

    @property
    def best(self) -> str:
        """The most probable character; empty where nothing was read."""
        return self.believed.best

    def log_prob(self, character: str) -> float:
        return self.believed.get(character, FLOOR)


def column_glyphs(
    readings: HalfFolioReadings,
    strips: Sequence[CutStrip],
    spikes: Sequence[Sequence[Spike]],
    pitch: float,
    numbers: Sequence[int],
) -> tuple[Glyph, ...]:
    """The glyphs of one column in reading order, from its strips and the spikes that were read on each.

    `pitch` is the height of a cell on the rectified page; `numbers` are the strips' numbers in their column. `readings`
    gives the ink where nothing was read.
    """
    glyphs: list[Glyph] = []
    for number, strip, on_strip in zip(numbers, strips, spikes, strict=True):
        glyphs += _placed(readings, strip, number, on_strip, pitch)
    return tuple(glyphs)


def without_splinters(glyphs: Sequence[Glyph], top: float, bottom: float) -> tuple[Glyph, ...]:
    """The glyphs of a column that reaches from `top` to `bottom`, the presence of splinters of its frame reduced: those
    between the outermost character and the frame, without room for another character. They stay in the list, since a
    transcribed character may still be matched with them."""
    solid = [glyph for glyph in glyphs if glyph.probable]

    def is_splinter(glyph: Glyph) -> bool:
        if glyph.silent or glyph.best not in SPLINTERS:
            return False
        beside = (abs(other.y - glyph.y) for other in solid if other is not glyph and other.strip == glyph.strip)
        room = min(glyph.y - top, bottom - glyph.y) / glyph.pitch
        return room < AT_FRAME_CELLS or (
            room < NEAR_FRAME_CELLS and min(beside, default=inf) < TOO_NEAR_CELLS * glyph.pitch
        )

    return tuple(
        replace(glyph, presence=SPLINTER_PRESENCE_WEIGHT * glyph.presence) if is_splinter(glyph) else glyph
        for glyph in glyphs
    )


def merged(first: Sequence[Glyph], second: Sequence[Glyph], windows: Sequence[Window], looks: int) -> tuple[Glyph, ...]:
    """The glyphs of a strip after another look, with the mean of the probabilities of all looks.

    `first` is the mean of `looks` earlier ones. `second` was read only in `windows`; glyphs elsewhere do not change. A
    glyph in a window that a look did not see loses presence. Glyphs keep the cells of the first look.
    """
    share = 1.0 / (looks + 1)
    partner = _partners(first, second)
    both: list[Glyph] = []
    for i, glyph in enumerate(first):
        if i in partner:
            both.append(_mean(glyph, second[partner[i]], share))
        elif glyph.silent or not any(window.holds(glyph) for window in windows):
            both.append(glyph)
        else:
            both.append(replace(glyph, presence=glyph.presence * (1.0 - share)))
    taken = set(partner.values())
    alone = [
        replace(other, presence=other.presence * share)
        for j, other in enumerate(second)
        if j not in taken and not other.silent and any(window.holds(other) for window in windows)
    ]
    return tuple(sorted([*both, *alone], key=lambda g: (g.strip, g.y)))


def _partners(first: Sequence[Glyph], second: Sequence[Glyph]) -> dict[int, int]:
    """The glyph of the second look for each glyph of the first: nearest pairs first, glyphs that were read before
    those seen from ink alone."""
    pairs = []
    for i, glyph in enumerate(first):
        for j, other in enumerate(second):
            away = abs(other.y - glyph.y) / glyph.pitch
            if other.strip == glyph.strip and away < 0.8:
                same = not glyph.silent and other.best == glyph.best
                if same or away < 0.45:
                    pairs.append((glyph.silent or other.silent, away - (0.4 if same else 0.0), i, j))
    partner: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, i, j in sorted(pairs):
        if i not in partner and j not in taken:
            partner[i] = j
            taken.add(j)
    return partner


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a strip, `top` to `bottom` on the rectified page, that is looked at again.

    Readings within half a cell of either end are ignored: the cut may have gone through these glyphs.
    """

    strip: int
    top: float
    bottom: float

    def holds(self, glyph: Glyph) -> bool:
        edge = 0.5 * glyph.pitch
        return self.strip == glyph.strip and self.top + edge <= glyph.y <= self.bottom - edge


def _mean(glyph: Glyph, other: Glyph, share: float) -> Glyph:
    """The mean of two looks at one glyph, `other` at `share` of the whole."""
    if glyph.silent or other.silent:
        read = other if glyph.silent else glyph
        return replace(glyph, believed=read.believed, presence=max(glyph.presence, other.presence))
    believed = glyph.believed.mixed(other.believed, share)
    presence = (1.0 - share) * glyph.presence + share * other.presence
    return replace(glyph, believed=believed, presence=presence, seen=(*(glyph.seen or (glyph.best,)), other.best))


def _placed(
    readings: HalfFolioReadings, strip: CutStrip, number: int, spikes: Sequence[Spike], pitch: float
) -> list[Glyph]:
    """Spikes as glyphs on the page, with silent glyphs where there is ink between them."""
    length = strip.bottom - strip.top
    kept = [s for s in spikes if s.believed]
    ys = [strip.top + s.place * length for s in kept]
    solid = [y for y, s in zip(ys, kept, strict=True) if s.presence > 0.5]
    silent = _silent(readings, strip, solid, pitch)
    silent = [y for y in silent if all(abs(y - other) > 0.5 * pitch for other in ys)]
    unread = Spike(0.0, Belief({}), 0.5)
    entries = sorted([*zip(ys, kept, strict=True), *((y, unread) for y in silent)], key=lambda entry: entry[0])
    # cells end half-way between the glyphs that are surely there; a faint one does not narrow its neighbours
    anchors = sorted([*solid, *silent])
    glyphs = []
    for y, spike in entries:
        before, after = bisect_left(anchors, y - 0.05 * pitch), bisect_right(anchors, y + 0.05 * pitch)
        above = anchors[before - 1] if before else None
        below = anchors[after] if after < len(anchors) else None
        top = max(y - 0.62 * pitch, strip.top, (above + y) / 2 if above is not None else -np.inf)
        bottom = min(y + 0.62 * pitch, strip.bottom, (below + y) / 2 if below is not None else np.inf)
        glyphs.append(
            Glyph(
                spike.believed,
                spike.presence,
                number,
                strip.row,
                strip.left,
                float(top),
                strip.right,
                float(bottom),
                y,
                pitch,
            )
        )
    return glyphs


def _silent(readings: HalfFolioReadings, strip: CutStrip, ys: Sequence[float], pitch: float) -> list[float]:
    """Middles (y) of cells with ink in which the engine read nothing: between the glyphs at `ys`, above the first and
    below the last, wherever there is room for a cell."""
    middles: list[float] = []
    edges = [strip.top - 0.3 * pitch, *ys, strip.bottom + 0.3 * pitch]
    for number, (a, b) in enumerate(pairwise(edges)):
        if b - a < UNREAD_GAP_CELLS * pitch:
            continue
        first = a if number == 0 else a - 0.5 * pitch
        last = b if number == len(edges) - 2 else b + 0.5 * pitch
        for cell in readings.ink_cells(strip.column, strip.left, first, strip.right, last, pitch):
            y = (cell.top + cell.bottom) / 2
            if a + 0.55 * pitch < y < b - 0.55 * pitch:
                middles.append(y)
    return middles


def room_between(before: Glyph | None, after: Glyph | None) -> float:
    """Cells from one glyph to the next; 1 if they are not in one strip."""
    if before is None or after is None or before.strip != after.strip:
        return 1.0
    return (after.y - before.y) / before.pitch


def spacing(glyph: Glyph, above: float | None, below: float | None) -> float:
    """How far, in cells, a glyph is from its nearer neighbour; 1 where it stands alone."""
    gaps = [abs(glyph.y - y) / glyph.pitch for y in (above, below) if y is not None]
    return min(gaps, default=1.0)
