"""Columns read off the cores that the network sees: pieces of one column are joined, leaves and registers parted.

All lengths are in pixels of the label map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.labels import Label
from proof.layout.segmenter import LabelMap

LIKELY = 0.4
"""Probability from which a pixel is of a core."""

CERTAIN = 0.75
"""A core that is nowhere so probable is none."""

MIN_EDGE_PROBABILITY = 0.96
"""Of the core of the first or last column of a register: reached along a quarter of its height at least."""

SHORTEST_PX = 2.0

WHOLE = 0.45
"""Of a column's width: so far from the edge of the image stands at least the middle of a column that is not cut off."""

NEAREST_STRIP = 0.75
"""Of the pitch: what stands nearer to the first or last column is no column."""

NARROWEST_GLYPHS = 0.65
"""Of the usual width of a register's columns: what stands at its side and is narrower is no column."""

FEWEST_BESIDE = 4
"""With fewer columns nothing tells how wide and how far apart they are."""

RAISED = 2.5
"""Pitches: how high what stands above the frame reaches, at most."""

RAISED_SHARE = 0.34
"""Of the columns of a register: so many are raised above it at most."""

WIDEST_PITCH = 2.4
"""Widths of a column's glyphs: neighbouring columns stand no further apart."""

USUAL_PITCH = 1.35
"""Widths of a column's glyphs: how far columns usually stand apart."""

SAME_COLUMN = 0.35
"""Of the pitch: pieces no further aside are of one column."""

RULE = 0.35
"""Of a register's height: a line that is seen so far is a rule."""

FEWEST_GAPS = 3
"""With fewer gaps between rules that may be columns a register is not ruled."""

ROOMIEST = 4.5
"""Widths of a glyph: a wider gap between rules is no column."""

RULED = 1.35
"""Usual gaps between rules: a wider one holds more than a column."""

NOTED = 0.4
"""Mean probability of a note along a core from which it may be a half-row's."""

NEAREST = 0.66
"""Of the pitch: columns stand no nearer beside each other."""

LONGER = 1.5
"""So many times as high is a column beside which something else is none."""

OVERLAP = 0.5
"""Of the height of a piece: it may begin so far above the end of the piece over it and be of the same column."""

ACROSS = 0.3
"""Of the pitch, to either side of a column's middle: a line that crosses so much of a gap parts what is above and
below."""

BESIDE = 2.5
"""Of the pitch, to either side of a column's middle: how far a line that parts registers is followed."""

MIN_LINE_BESIDE = 0.6
"""Of that width: so much of the line is seen."""

NEIGHBOUR = 1.7
"""Pitches: columns no further apart are neighbours."""

GUTTER = 1.45
"""Pitches between columns about the middle of an opening, from which it has two leaves."""

OPENING = 0.8
"""Width of the text against its height from which it may be an opening."""

CROSSING = 0.08
"""Of the columns of a leaf: so many may reach over what parts two registers."""


@dataclass(frozen=True, slots=True)
class Core:
    """The core of a column: its middle (x), from where to where it reaches, and how wide its glyphs are."""

    x: float
    top: float
    bottom: float
    wide: float

    @property
    def height(self) -> float:
        return self.bottom - self.top


@dataclass(frozen=True, slots=True)
class Register:
    """The cores of a register, from right to left, how far these stand apart, and on which leaf (0 the right one)."""

    leaf: int
    cores: tuple[Core, ...]
    pitch: float


def registers_of(seen: LabelMap, alone: bool = False) -> list[Register]:
    """The registers of a page in reading order. `alone` are labels in which no core is left of what is no column."""
    core_map = seen.of(Label.CORE)
    other = seen.of(Label.OTHER)
    pieces = _pieces(np.where(other > np.maximum(core_map, LIKELY), 0, core_map), seen.of(Label.TEXT) > LIKELY)
    if not pieces:
        return []
    pieces = _without_lesser(pieces, pitch_of(pieces))
    pitch = pitch_of(pieces)
    if not alone:
        pieces = [core for core in pieces if _is_whole(core, core_map.shape[1], pitch)]
    if not pieces:
        return []
    lines = seen.of(Label.LINE) > LIKELY
    columns = _joined(pieces, lines, pitch)
    notes = seen.of(Label.RIGHT | Label.LEFT)
    registers = []
    for leaf, side in enumerate(_leaves(columns, lines, pitch)):
        for level in _levels(side, pitch):
            own = _between_rules(level, lines, notes)
            own = own if alone else _without_strips(own, core_map, pitch)
            registers.append(Register(leaf, tuple(sorted(own, key=lambda core: -core.x)), pitch_of(own, pitch)))
    return registers


def columns_alone(seen: LabelMap, registers: Sequence[Register]) -> LabelMap:
    """The labels without the cores of what is in none of the registers."""
    kept = np.zeros(seen.values.shape[1:], np.bool_)
    for register in registers:
        half = SAME_COLUMN * register.pitch
        for core in register.cores:
            rows = slice(max(0, round(core.top - 1)), round(core.bottom + 1))
            kept[rows, max(0, round(core.x - half)) : round(core.x + half) + 1] = True
    values = seen.values.copy()
    values[list(Label).index(Label.CORE)] *= kept
    return LabelMap(values, seen.scale)


def _is_whole(core: Core, width: int, pitch: float) -> bool:
    """Whether the edge of the image does not cut the glyphs of a column off."""
    return min(core.x, width - 1 - core.x) > WHOLE * min(core.wide, pitch)


def _without_strips(columns: Sequence[Core], core_map: NDArray[np.float32], pitch: float) -> list[Core]:
    """The columns of a register without what stands at its sides and is none: half of a fold strip, with glyphs that
    are narrow, or nearer to the first or last column than columns are, or hardly seen to be a column."""
    kept = sorted(columns, key=lambda core: core.x)
    if len(kept) < FEWEST_BESIDE:
        return kept
    usual = float(np.median([min(core.wide, pitch) for core in kept]))
    for outer in (kept[0], kept[-1]):
        apart = [abs(core.x - outer.x) for core in kept if min(core.bottom, outer.bottom) > max(core.top, outer.top)]
        near = any(SAME_COLUMN * pitch < x < NEAREST_STRIP * pitch for x in apart)
        x = round(outer.x)
        along = core_map[round(outer.top) : round(outer.bottom) + 1, max(0, x - 1) : x + 2].max(axis=1)
        doubtful = float(np.quantile(along, 0.75)) < MIN_EDGE_PROBABILITY
        if near or doubtful or min(outer.wide, pitch) < NARROWEST_GLYPHS * usual:
            kept.remove(outer)
    return kept


def _pieces(core_map: NDArray[np.float32], text: NDArray[np.bool_]) -> list[Core]:
    """The connected pieces of the core; `text` is where columns of text are."""
    _, labels, boxes, middles = cv2.connectedComponentsWithStats((core_map > LIKELY).astype(np.uint8), connectivity=4)
    cores = []
    for number, (x, y, w, h, _) in enumerate(boxes.tolist()[1:], 1):
        place = np.s_[y : y + h, x : x + w]
        if h >= SHORTEST_PX and float(core_map[place][labels[place] == number].max()) > CERTAIN:
            middle = float(middles[number, 0])
            cores.append(Core(middle, float(y), float(y + h), _width(text[y : y + h], middle)))
    return cores


def _width(text: NDArray[np.bool_], x: float) -> float:
    """How wide the text about `x` is, at least as wide as a pixel; the median of all rows."""
    middle = min(round(x), text.shape[1] - 1)
    left = np.argmin(np.pad(text[:, middle::-1], ((0, 0), (0, 1))), axis=1)
    right = np.argmin(np.pad(text[:, middle:], ((0, 0), (0, 1))), axis=1)
    return max(1.0, float(np.median(2 * np.minimum(left, right) - 1)))


def pitch_of(cores: Sequence[Core], usual: float = 0.0) -> float:
    """How far neighbouring columns stand apart: the median of the distance to the next one to the left, weighed by how
    high they are; of what is wider apart than columns are there is no telling. `usual` where there are too few, else
    what is usual for glyphs so wide."""
    apart, weight = [], []
    for core in cores:
        beside = [
            core.x - other.x
            for other in cores
            if other.x < core.x - 2
            and core.x - other.x < WIDEST_PITCH * max(core.wide, other.wide)
            and min(core.bottom, other.bottom) - max(core.top, other.top) > 0
        ]
        if beside:
            apart.append(min(beside))
            weight.append(core.height)
    if len(apart) < 2 and usual:
        return usual
    if not apart:
        return USUAL_PITCH * float(np.median([core.wide for core in cores]))
    order = np.argsort(apart)
    total = np.cumsum(np.array(weight)[order])
    return float(np.array(apart)[order][np.searchsorted(total, 0.5 * total[-1])])


def _without_lesser(pieces: Sequence[Core], pitch: float) -> list[Core]:
    """The pieces but those that stand nearer beside a longer one than columns do: a half-row of a note, a gloss."""

    def lesser(core: Core) -> bool:
        return any(
            other.height > LONGER * core.height
            and abs(other.x - core.x) < NEAREST * pitch
            and min(core.bottom, other.bottom) - max(core.top, other.top) > 0.5 * core.height
            for other in pieces
        )

    return [core for core in pieces if not lesser(core)]


def _joined(pieces: Sequence[Core], lines: NDArray[np.bool_], pitch: float) -> list[Core]:
    """The columns that the pieces are parts of: those below each other that no level line parts. Verse has gaps in the
    same rows of all its columns, so that white paper alone parts no registers."""
    columns: list[Core] = []
    for piece in sorted(pieces, key=lambda core: core.top):
        above = [
            n
            for n, core in enumerate(columns)
            if abs(core.x - piece.x) < SAME_COLUMN * pitch and core.bottom < piece.top + OVERLAP * piece.height + 1
        ]
        number = max(above, key=lambda n: columns[n].bottom, default=None)
        if number is not None and (
            columns[number].bottom > piece.top + 1 or not _parted(columns[number], piece, lines, pitch)
        ):
            core = columns[number]
            x = (core.x * core.height + piece.x * piece.height) / (core.height + piece.height)
            columns[number] = Core(x, core.top, max(core.bottom, piece.bottom), max(core.wide, piece.wide))
        else:
            columns.append(piece)
    return columns


def _parted(above: Core, below: Core, lines: NDArray[np.bool_], pitch: float) -> bool:
    """Whether a level line parts two pieces below each other: it crosses the gap between them from side to side, or
    runs on through it beside them where the gap itself has hardly any of it."""
    x, rows = round((above.x + below.x) / 2), slice(round(above.bottom), max(round(below.top), round(above.bottom) + 1))
    near, far = max(1, round(ACROSS * pitch)), max(1, round(BESIDE * pitch))
    crossed = lines[rows, max(0, x - near) : x + near + 1].all(axis=1)
    runs = lines[rows, max(0, x - far) : x + far + 1].mean(axis=1) > MIN_LINE_BESIDE
    return bool((crossed | runs).any())


def _leaves(columns: Sequence[Core], lines: NDArray[np.bool_], pitch: float) -> list[list[Core]]:
    """The columns of the right leaf and of the left one, or all of them."""
    xs = np.sort([core.x for core in columns])
    top, bottom = min(core.top for core in columns), max(core.bottom for core in columns)
    wide = float(xs[-1] - xs[0])
    if xs.size < 4:
        return [list(columns)]
    gaps = np.diff(xs)
    middles = (xs[:-1] + xs[1:]) / 2
    near = np.flatnonzero(np.abs(middles - (xs[0] + xs[-1]) / 2) < 0.2 * wide)
    widest = int(near[int(gaps[near].argmax())]) if near.size else 0
    if not near.size or gaps[widest] < GUTTER * pitch:
        return [list(columns)]
    rows = slice(max(0, round(top - pitch)), round(bottom + pitch))
    if wide < OPENING * (bottom - top) and not _between_frames(lines[rows, round(xs[widest]) : round(xs[widest + 1])]):
        return [list(columns)]
    cut = float(middles[widest])
    return [[core for core in columns if core.x > cut], [core for core in columns if core.x <= cut]]


def _between_frames(gap: NDArray[np.bool_]) -> bool:
    """Whether the sides of two frames stand in a gap between columns, and no level line crosses from one to the
    other."""
    sides = np.flatnonzero(np.diff(np.concatenate([[False], gap.mean(axis=0) > RULE, [False]]).astype(np.int8)))
    if sides.size < 4 or sides[-2] - sides[1] < 2:
        return False
    return not bool(gap[:, sides[1] : sides[-2]].all(axis=1).any())


def _levels(columns: Sequence[Core], pitch: float) -> list[list[Core]]:
    """The columns of each register of a leaf, from the highest down: parted where hardly a column reaches over. What a
    few columns have above the frame is raised and of the register below."""
    height = int(max(core.bottom for core in columns)) + 2
    crossed = np.zeros(height + 1)
    for core in columns:
        crossed[int(core.top)] += 1
        crossed[int(core.bottom) + 1] -= 1
    crossed = np.cumsum(crossed)[:height]
    free = crossed <= CROSSING * len(columns)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], ~free, [False]]).astype(np.int8)))
    bands = edges.reshape(-1, 2).tolist()
    if len(bands) < 2:
        return [list(columns)]
    by_band: list[list[Core]] = [[] for _ in bands]
    for core in columns:
        over = [min(core.bottom, b) - max(core.top, a) for a, b in bands]
        by_band[int(np.argmax(over))].append(core)
    levels = [own for own in by_band if own]
    return [_with_raised(levels[0], levels[1], pitch), *levels[2:]] if _are_raised(levels, pitch) else levels


def _are_raised(levels: Sequence[Sequence[Core]], pitch: float) -> bool:
    """Whether the first register is what a few columns of the second have above its frame."""
    if len(levels) < 2 or len(levels[0]) > RAISED_SHARE * len(levels[1]):
        return False
    first, second = levels[0], levels[1]
    return all(core.height < RAISED * pitch for core in first) and all(
        any(abs(core.x - other.x) < SAME_COLUMN * pitch and other.top - core.bottom < pitch for other in second)
        for core in first
    )


def _with_raised(raised: Sequence[Core], columns: Sequence[Core], pitch: float) -> list[Core]:
    """The columns of a register, each with what stands raised above it."""
    raised_columns = []
    for core in columns:
        above = [other.top for other in raised if abs(core.x - other.x) < SAME_COLUMN * pitch]
        raised_columns.append(replace(core, top=min([core.top, *above])))
    return raised_columns


def _between_rules(columns: Sequence[Core], lines: NDArray[np.bool_], notes: NDArray[np.float32]) -> list[Core]:
    """The columns of a register, those between two neighbouring rules as one where notes are seen along them: half-rows
    of notes stand as far apart as columns do."""
    top, bottom = int(min(core.top for core in columns)), int(max(core.bottom for core in columns)) + 1
    share = cv2.dilate(lines[top:bottom].astype(np.uint8), np.ones((1, 3), np.uint8)).mean(axis=0)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], share > RULE, [False]]).astype(np.int8))).reshape(-1, 2)
    rules = edges.mean(axis=1)
    gaps = np.diff(rules)
    gaps = gaps[(gaps > min(core.wide for core in columns)) & (gaps < ROOMIEST * max(core.wide for core in columns))]
    if len(gaps) < FEWEST_GAPS:
        return list(columns)
    widest = RULED * float(np.median(gaps))
    kept: list[Core] = []
    groups: dict[int, list[Core]] = {}
    for core in columns:
        place = int(np.searchsorted(rules, core.x))
        x = min(round(core.x), notes.shape[1] - 1)
        noted = float(notes[int(core.top) : int(core.bottom) + 1, x].mean()) > NOTED
        if noted and 0 < place < len(rules) and rules[place] - rules[place - 1] < widest:
            groups.setdefault(place, []).append(core)
        else:
            kept.append(core)
    for own in groups.values():
        left, right = min(core.x - core.wide / 2 for core in own), max(core.x + core.wide / 2 for core in own)
        top_y, bottom_y = min(core.top for core in own), max(core.bottom for core in own)
        kept.append(Core((left + right) / 2, top_y, bottom_y, right - left))
    return kept
