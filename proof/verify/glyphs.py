"""The glyphs of a column of the image in reading order, each with the probabilities that the engine gives.

A recogniser reports the characters of which it is sure and drops others without notice. The glyphs of this module
include these: places where blank was the most probable class, but narrowly.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from proof.ocr.belief import FLOOR, Belief
from proof.ocr.page_record import CutStrip
from proof.ocr.spikes import Spike
from proof.text.model import Row

SPLINTERS = "一二丨丶丿"
"""Characters as which a piece of frame or rule is read."""

PROBABLE_PRESENCE = 0.5
"""Presence above which it is more probable that there is a glyph than that there is none."""


@dataclass(frozen=True, slots=True)
class Glyph:
    """One glyph of a column.

    `believed` has the log-probabilities of characters, given that there is a glyph, `presence` is the probability that
    there is one. `strip` is the number of its strip in the column. `y` is its middle, `left`, `top`, `right`, `bottom`
    are its cell, in pixels of the rectified page; `pitch` is the height of a cell there. `seen` has the best character
    of each reading, if there was more than one."""

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
    def probable(self) -> bool:
        """Whether it is more probable that there is a glyph than that there is none."""
        return self.presence > PROBABLE_PRESENCE

    @property
    def best(self) -> str:
        """The most probable character."""
        return self.believed.best

    def log_prob(self, character: str) -> float:
        return self.believed.get(character, FLOOR)


def column_glyphs(
    strips: Sequence[CutStrip], spikes: Sequence[Sequence[Spike]], pitch: float, numbers: Sequence[int]
) -> tuple[Glyph, ...]:
    """The glyphs of one column in reading order, from its strips and the spikes that were read on each.

    `pitch` is the height of a cell on the rectified page; `numbers` are the numbers of the strips in their column.
    """
    glyphs: list[Glyph] = []
    for number, strip, strip_spikes in zip(numbers, strips, spikes, strict=True):
        glyphs += _glyphs_of_strip(strip, number, strip_spikes, pitch)
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
        elif not is_in_window(glyph):
            glyphs.append(glyph)
        else:
            glyphs.append(replace(glyph, presence=glyph.presence * (1.0 - share)))
    taken = set(partner.values())
    for j, glyph in enumerate(second):
        if j not in taken and is_in_window(glyph):
            glyphs.append(replace(glyph, presence=glyph.presence * share))
    return tuple(sorted(glyphs, key=lambda glyph: (glyph.strip, glyph.y)))


def _partners(first: Sequence[Glyph], second: Sequence[Glyph]) -> dict[int, int]:
    """The number of the glyph of the second reading for that of each glyph of the first. The nearest are paired first;
    equal characters count as 0.4 cells nearer."""
    pairs = []
    for i, glyph in enumerate(first):
        for j, other in enumerate(second):
            distance = abs(other.y - glyph.y) / glyph.pitch
            if other.strip == glyph.strip and distance < 0.8:
                is_same = other.best == glyph.best
                if is_same or distance < 0.45:
                    pairs.append((distance - (0.4 if is_same else 0.0), i, j))
    partner: dict[int, int] = {}
    taken: set[int] = set()
    for _, i, j in sorted(pairs):
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
    believed = glyph.believed.mixed(other.believed, share)
    presence = (1.0 - share) * glyph.presence + share * other.presence
    return replace(glyph, believed=believed, presence=presence, seen=(*(glyph.seen or (glyph.best,)), other.best))


def _glyphs_of_strip(strip: CutStrip, number: int, spikes: Sequence[Spike], pitch: float) -> list[Glyph]:
    """Spikes as glyphs on the page."""
    length = strip.bottom - strip.top
    read = [(strip.top + spike.place * length, spike) for spike in spikes if spike.believed]
    # cells end half-way between the glyphs that are probably there; a faint one does not narrow its neighbours
    anchors = sorted(y for y, spike in read if spike.presence > PROBABLE_PRESENCE)
    glyphs = []
    for y, spike in sorted(read, key=lambda entry: entry[0]):
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
