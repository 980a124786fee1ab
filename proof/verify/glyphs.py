"""The glyphs of a column of the image in reading order, each with the probabilities that the engine gives.

A recogniser reports the characters of which it is sure and drops others without notice. The glyphs of this module
include these: places where blank was the most probable class, but narrowly, and places with ink where the engine read
nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from proof.ocr.belief import FLOOR, Belief
from proof.ocr.page_record import CutStrip
from proof.ocr.readings import HalfFolioReadings
from proof.ocr.spikes import Spike
from proof.text.model import Row

UNREAD_GAP_CELLS = 1.6
"""Minimum distance of two glyphs, in cells, for which the ink between them is searched for a glyph that was not read.
"""

SPLINTERS = "一二丨丶丿"
"""Characters as which a piece of frame or rule is read."""

PROBABLE_PRESENCE = 0.5
"""Presence above which it is more probable that there is a glyph than that there is none."""


@dataclass(frozen=True, slots=True)
class Glyph:
    """One glyph of a column.

    `believed` has the log-probabilities of characters, given that there is a glyph; it is empty if the engine read
    nothing. `presence` is the probability that there is a glyph. `strip` is the number of its strip in the column. `y`
    is its middle, `left`, `top`, `right`, `bottom` are its cell, in pixels of the rectified page; `pitch` is the height
    of a cell there. `seen` has the best character of each reading, if there was more than one."""

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
        return self.presence > PROBABLE_PRESENCE

    @property
    def best(self) -> str:
        """The most probable character; empty if nothing was read."""
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

    `pitch` is the height of a cell on the rectified page; `numbers` are the numbers of the strips in their column.
    `readings` gives the ink where nothing was read.
    """
    glyphs: list[Glyph] = []
    for number, strip, strip_spikes in zip(numbers, strips, spikes, strict=True):
        glyphs += _glyphs_of_strip(readings, strip, number, strip_spikes, pitch)
    return tuple(glyphs)


def merged(
    first: Sequence[Glyph], second: Sequence[Glyph], windows: Sequence[Window], earlier_count: int
) -> tuple[Glyph, ...]:
    """The glyphs of a strip after reading it again, with the mean of the probabilities of all readings.

    `first` is the mean of `earlier_count` readings. `second` was read only in `windows`; glyphs elsewhere do not
    change. A glyph in a window that a reading lacks gets a lower presence. Glyphs keep the cells of the first reading.
    """

    def is_in_window(glyph: Glyph) -> bool:
        return any(window.holds(glyph) for window in windows)

    share = 1.0 / (earlier_count + 1)
    partner = _partners(first, second)
    glyphs: list[Glyph] = []
    for i, glyph in enumerate(first):
        if i in partner:
            glyphs.append(_mean(glyph, second[partner[i]], share))
        elif glyph.silent or not is_in_window(glyph):
            glyphs.append(glyph)
        else:
            glyphs.append(replace(glyph, presence=glyph.presence * (1.0 - share)))
    taken = set(partner.values())
    for j, glyph in enumerate(second):
        if j not in taken and not glyph.silent and is_in_window(glyph):
            glyphs.append(replace(glyph, presence=glyph.presence * share))
    return tuple(sorted(glyphs, key=lambda glyph: (glyph.strip, glyph.y)))


def _partners(first: Sequence[Glyph], second: Sequence[Glyph]) -> dict[int, int]:
    """The number of the glyph of the second reading for that of each glyph of the first. Glyphs with characters are
    paired before those known from ink alone, the nearest pairs first; equal characters count as 0.4 cells nearer."""
    pairs = []
    for i, glyph in enumerate(first):
        for j, other in enumerate(second):
            distance = abs(other.y - glyph.y) / glyph.pitch
            if other.strip == glyph.strip and distance < 0.8:
                is_same = not glyph.silent and other.best == glyph.best
                if is_same or distance < 0.45:
                    pairs.append((glyph.silent or other.silent, distance - (0.4 if is_same else 0.0), i, j))
    partner: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, i, j in sorted(pairs):
        if i not in partner and j not in taken:
            partner[i] = j
            taken.add(j)
    return partner


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a strip, `top` to `bottom` on the rectified page, to be read again.

    Readings within half a cell of either end are ignored, since the cut may have gone through these glyphs.
    """

    strip: int
    top: float
    bottom: float

    def holds(self, glyph: Glyph) -> bool:
        edge = 0.5 * glyph.pitch
        return self.strip == glyph.strip and self.top + edge <= glyph.y <= self.bottom - edge


def _mean(glyph: Glyph, other: Glyph, share: float) -> Glyph:
    """The mean of two readings of one glyph; `other` has the weight `share`."""
    if glyph.silent or other.silent:
        read = other if glyph.silent else glyph
        return replace(glyph, believed=read.believed, presence=max(glyph.presence, other.presence))
    believed = glyph.believed.mixed(other.believed, share)
    presence = (1.0 - share) * glyph.presence + share * other.presence
    return replace(glyph, believed=believed, presence=presence, seen=(*(glyph.seen or (glyph.best,)), other.best))


def _glyphs_of_strip(
    readings: HalfFolioReadings, strip: CutStrip, number: int, spikes: Sequence[Spike], pitch: float
) -> list[Glyph]:
    """Spikes as glyphs on the page, with silent glyphs where there is ink between them."""
    length = strip.bottom - strip.top
    read = [(strip.top + spike.place * length, spike) for spike in spikes if spike.believed]
    probable = [y for y, spike in read if spike.presence > PROBABLE_PRESENCE]
    silent = _silent_middles(readings, strip, probable, pitch)
    silent = [y for y in silent if all(abs(y - read_y) > 0.5 * pitch for read_y, _ in read)]
    unread = Spike(0.0, Belief({}), 0.5)
    # cells end half-way between the glyphs that are probably there; a faint one does not narrow its neighbours
    anchors = sorted([*probable, *silent])
    glyphs = []
    for y, spike in sorted([*read, *((y, unread) for y in silent)], key=lambda entry: entry[0]):
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


def _silent_middles(readings: HalfFolioReadings, strip: CutStrip, ys: Sequence[float], pitch: float) -> list[float]:
    """Middles (y) of cells with ink in which the engine read nothing: between the glyphs at `ys`, above the first and
    below the last, wherever there is room for a cell."""
    middles: list[float] = []
    edges = [strip.top - 0.3 * pitch, *ys, strip.bottom + 0.3 * pitch]
    for number, (above, below) in enumerate(pairwise(edges)):
        if below - above < UNREAD_GAP_CELLS * pitch:
            continue
        top = above if number == 0 else above - 0.5 * pitch
        bottom = below if number == len(edges) - 2 else below + 0.5 * pitch
        for cell in readings.ink_cells(strip.column, strip.left, top, strip.right, bottom, pitch):
            middle = sum(cell) / 2
            if above + 0.55 * pitch < middle < below - 0.55 * pitch:
                middles.append(middle)
    return middles


def room_between(before: Glyph | None, after: Glyph | None) -> float:
    """Cells from one glyph to the next; 1 if they are not in one strip."""
    if before is None or after is None or before.strip != after.strip:
        return 1.0
    return (after.y - before.y) / before.pitch


def spacing(glyph: Glyph, above: float | None, below: float | None) -> float:
    """The distance, in cells, of a glyph from its nearer neighbour; 1 if it has none. `above` and `below` are the y of
    the neighbours."""
    gaps = [abs(glyph.y - y) / glyph.pitch for y in (above, below) if y is not None]
    return min(gaps, default=1.0)
