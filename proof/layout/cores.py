"""Columns read off the cores that the network sees: pieces of one column are joined, leaves and registers parted.

All lengths are in pixels of the label map.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.labels import Label
from proof.layout.rules import true_ranges, weighted_quantile
from proof.layout.segmenter import LabelMap

MIN_PROBABILITY = 0.4
"""Minimum probability of a label at a pixel for the pixel to count as labelled."""

MIN_PEAK_PROBABILITY = 0.75
"""Minimum highest probability of a piece of core; fainter pieces are dropped."""

MIN_EDGE_PROBABILITY = 0.96
"""Minimum upper quartile of the core's probability along the first and the last column of a register."""

MIN_PIECE_PX = 2.0
"""Minimum height of a piece of core, in pixels of the label map."""

MIN_EDGE_DISTANCE_WIDTHS = 0.45
"""Minimum distance of a column's middle from the edge of the image, in widths of its glyphs: nearer ones are cut."""

MIN_EDGE_PITCH = 0.75
"""Minimum distance of the first or last column of a register from its neighbour, in pitches."""

MIN_EDGE_WIDTH = 0.65
"""Minimum width of the first or last column of a register, in median widths of its columns."""

MIN_COLUMNS_TO_COMPARE = 4
"""Minimum number of columns in a register for its first and last one to be compared with the others."""

MAX_RAISED_PITCHES = 2.5
"""Maximum height of what stands raised above the frame, in pitches."""

MAX_PITCH_WIDTHS = 2.4
"""Maximum distance of neighbouring columns, in widths of their glyphs."""

USUAL_PITCH_WIDTHS = 1.35
"""Usual distance of neighbouring columns, in widths of their glyphs."""

MAX_ASIDE_PITCHES = 0.35
"""Maximum horizontal distance of pieces of the same column, in pitches."""

MIN_RULE_SHARE = 0.35
"""Minimum share of a register's height along which a line is seen where there is a rule."""

MIN_RULED_GAPS = 3
"""Minimum number of gaps between rules that are as wide as columns for a register to be ruled."""

MAX_GAP_WIDTHS = 4.5
"""Maximum width of a column between rules, in widths of its glyphs."""

MAX_GAP_RATIO = 1.35
"""Maximum width of a column between rules, in median gaps of the register's rules."""

MIN_NOTE_PROBABILITY = 0.4
"""Minimum mean probability of a note along a core for it to be a half-row of a note."""

MIN_BESIDE_PITCHES = 0.66
"""Minimum distance of columns that stand side by side, in pitches."""

MIN_LONGER = 1.5
"""Minimum ratio of heights from which the shorter of two pieces that stand too close is dropped."""

MAX_OVERLAP = 0.5
"""Maximum share of a piece's height that stands beside the piece above it in the same column."""

LINE_ACROSS_PITCHES = 0.3
"""Distance from a column's middle to either side, in pitches, over which a line that parts the column is unbroken."""

LINE_BESIDE_PITCHES = 2.5
"""Distance from a column's middle to either side, in pitches, over which a line between registers is followed."""

MIN_LINE_SHARE = 0.6
"""Minimum share of that distance along which the line is seen."""

MAX_NEIGHBOUR_PITCHES = 1.7
"""Maximum distance of neighbouring columns, in pitches."""

MIN_GUTTER_PITCHES = 1.45
"""Minimum gap between columns near the middle of an opening that parts its two leaves, in pitches."""

MIN_OPENING_RATIO = 0.8
"""Minimum width of the text against its height for a page to be an opening."""

MAX_CROSSING_SHARE = 0.08
"""Maximum share of a leaf's columns that reach across the gap between two registers."""


@dataclass(frozen=True, slots=True)
class Core:
    """The core of a column or a piece of it: its middle (x), its top and bottom, and the width of its glyphs."""

    x: float
    top: float
    bottom: float
    width: float

    @property
    def height(self) -> float:
        return self.bottom - self.top


@dataclass(frozen=True, slots=True)
class Register:
    """A register: its leaf (0 is the right one), its cores from right to left, and the distance of neighbours."""

    leaf: int
    cores: tuple[Core, ...]
    pitch: float


def registers_of(seen: LabelMap, cleaned: bool = False) -> list[Register]:
    """The registers of a page in reading order. Set `cleaned` for labels from `columns_alone`: all cores are kept."""
    core_map = seen.of(Label.CORE)
    other = seen.of(Label.OTHER)
    pieces = _pieces(
        np.where(other > np.maximum(core_map, MIN_PROBABILITY), 0, core_map), seen.of(Label.TEXT) > MIN_PROBABILITY
    )
    if not pieces:
        return []
    pieces = _without_lesser(pieces, pitch_of(pieces))
    pitch = pitch_of(pieces)
    if not cleaned:
        pieces = [core for core in pieces if _is_whole(core, core_map.shape[1], pitch)]
    if not pieces:
        return []
    lines = seen.of(Label.LINE) > MIN_PROBABILITY
    columns = _joined(pieces, lines, pitch)
    notes = seen.of(Label.RIGHT | Label.LEFT)
    registers = []
    for leaf, side in enumerate(_leaves(columns, lines, pitch)):
        for level in _levels(_with_raised(side, pitch), lines, pitch):
            cores = _between_rules(level, lines, notes)
            cores = cores if cleaned else _without_strips(cores, core_map, pitch)
            registers.append(Register(leaf, tuple(sorted(cores, key=lambda core: -core.x)), pitch_of(cores, pitch)))
    return registers


def columns_alone(seen: LabelMap, registers: Sequence[Register]) -> LabelMap:
    """The labels with no core outside the columns of these registers."""
    kept = np.zeros(seen.values.shape[1:], np.bool_)
    for register in registers:
        half = MAX_ASIDE_PITCHES * register.pitch
        for core in register.cores:
            rows = slice(max(0, round(core.top - 1)), round(core.bottom + 1))
            kept[rows, max(0, round(core.x - half)) : round(core.x + half) + 1] = True
    values = seen.values.copy()
    values[list(Label).index(Label.CORE)] *= kept
    return LabelMap(values, seen.scale)


def _is_whole(core: Core, width: int, pitch: float) -> bool:
    """Whether the image shows the glyphs of a column whole."""
    return min(core.x, width - 1 - core.x) > MIN_EDGE_DISTANCE_WIDTHS * min(core.width, pitch)


def _without_strips(columns: Sequence[Core], core_map: NDArray[np.float32], pitch: float) -> list[Core]:
    """The columns of a register without a first or last one that is half of a fold strip: narrower than the others,
    closer to its neighbour than they are, or of doubtful probability."""
    kept = sorted(columns, key=lambda core: core.x)
    if len(kept) < MIN_COLUMNS_TO_COMPARE:
        return kept
    usual = float(np.median([min(core.width, pitch) for core in kept]))
    for outer in (kept[0], kept[-1]):
        apart = [abs(core.x - outer.x) for core in kept if min(core.bottom, outer.bottom) > max(core.top, outer.top)]
        near = any(MAX_ASIDE_PITCHES * pitch < x < MIN_EDGE_PITCH * pitch for x in apart)
        x = round(outer.x)
        along = core_map[round(outer.top) : round(outer.bottom) + 1, max(0, x - 1) : x + 2].max(axis=1)
        doubtful = float(np.quantile(along, 0.75)) < MIN_EDGE_PROBABILITY
        if near or doubtful or min(outer.width, pitch) < MIN_EDGE_WIDTH * usual:
            kept.remove(outer)
    return kept


def _pieces(core_map: NDArray[np.float32], text: NDArray[np.bool_]) -> list[Core]:
    """The connected pieces of `core_map`, each with the width of the `text` around it."""
    _, labels, boxes, middles = cv2.connectedComponentsWithStats(
        (core_map > MIN_PROBABILITY).astype(np.uint8), connectivity=4
    )
    cores = []
    for number, (x, y, w, h, _) in enumerate(boxes.tolist()[1:], 1):
        place = np.s_[y : y + h, x : x + w]
        if h >= MIN_PIECE_PX and float(core_map[place][labels[place] == number].max()) > MIN_PEAK_PROBABILITY:
            middle = float(middles[number, 0])
            cores.append(Core(middle, float(y), float(y + h), _width(text[y : y + h], middle)))
    return cores


def _width(text: NDArray[np.bool_], x: float) -> float:
    """The median width of the text around `x` over all rows, at least one pixel."""
    middle = min(round(x), text.shape[1] - 1)
    left = np.argmin(np.pad(text[:, middle::-1], ((0, 0), (0, 1))), axis=1)
    right = np.argmin(np.pad(text[:, middle:], ((0, 0), (0, 1))), axis=1)
    return max(1.0, float(np.median(2 * np.minimum(left, right) - 1)))


def pitch_of(cores: Sequence[Core], usual: float = 0.0) -> float:
    """The distance of neighbouring columns: the median distance to the next column on the left, weighted by height.

    Gaps wider than `MAX_PITCH_WIDTHS` do not count. With fewer than two distances the result is `usual` if given; with
    none, `USUAL_PITCH_WIDTHS` times the width of the glyphs."""
    apart, weight = [], []
    for core in cores:
        beside = [
            core.x - other.x
            for other in cores
            if other.x < core.x - 2
            and core.x - other.x < MAX_PITCH_WIDTHS * max(core.width, other.width)
            and min(core.bottom, other.bottom) - max(core.top, other.top) > 0
        ]
        if beside:
            apart.append(min(beside))
            weight.append(core.height)
    if len(apart) < 2 and usual:
        return usual
    if not apart:
        return USUAL_PITCH_WIDTHS * float(np.median([core.width for core in cores]))
    return weighted_quantile(np.array(apart), np.array(weight), 0.5)


def _without_lesser(pieces: Sequence[Core], pitch: float) -> list[Core]:
    """The pieces without those that stand too close beside a longer one: half-rows of notes and glosses."""

    def is_lesser(core: Core) -> bool:
        return any(
            other.height > MIN_LONGER * core.height
            and abs(other.x - core.x) < MIN_BESIDE_PITCHES * pitch
            and min(core.bottom, other.bottom) - max(core.top, other.top) > 0.5 * core.height
            for other in pieces
        )

    return [core for core in pieces if not is_lesser(core)]


def _joined(pieces: Sequence[Core], lines: NDArray[np.bool_], pitch: float) -> list[Core]:
    """Join pieces that stand below each other with no level line between them into columns.

    White paper alone does not part registers: verse has gaps in the same rows of all its columns."""
    columns: list[Core] = []
    left, right = min(core.x for core in pieces) - pitch / 2, max(core.x for core in pieces) + pitch / 2
    edges = max(0, round(left)), round(right)
    for piece in sorted(pieces, key=lambda core: core.top):
        above = [
            n
            for n, core in enumerate(columns)
            if abs(core.x - piece.x) < MAX_ASIDE_PITCHES * pitch
            and core.bottom < piece.top + MAX_OVERLAP * piece.height + 1
        ]
        number = max(above, key=lambda n: columns[n].bottom, default=None)
        if number is not None and (
            columns[number].bottom > piece.top + 1 or not _parted(columns[number], piece, lines, pitch, edges)
        ):
            core = columns[number]
            x = (core.x * core.height + piece.x * piece.height) / (core.height + piece.height)
            columns[number] = Core(x, core.top, max(core.bottom, piece.bottom), max(core.width, piece.width))
        else:
            columns.append(piece)
    return columns


def _parted(above: Core, below: Core, lines: NDArray[np.bool_], pitch: float, edges: tuple[int, int]) -> bool:
    """Whether a level line runs between two pieces that stand below each other: unbroken across the column, or through
    most of the columns on both sides as far as the `edges` (x) of the text."""
    x, rows = round((above.x + below.x) / 2), slice(round(above.bottom), max(round(below.top), round(above.bottom) + 1))
    far = max(1, round(LINE_BESIDE_PITCHES * pitch))
    beside = lines[rows, max(edges[0], x - far) : min(edges[1], x + far) + 1].mean(axis=1) > MIN_LINE_SHARE
    return bool(beside.any()) or bool(_crossing(x, rows, lines, pitch).size)


def _crossing(x: int, rows: slice, lines: NDArray[np.bool_], pitch: float) -> NDArray[np.intp]:
    """The rows, of those given, along which a level line crosses a column with its middle at `x` unbroken."""
    near = max(1, round(LINE_ACROSS_PITCHES * pitch))
    crossed = lines[rows, max(0, x - near) : x + near + 1].all(axis=1)
    return np.asarray(rows.start + np.flatnonzero(crossed), np.intp)


def _leaves(columns: Sequence[Core], lines: NDArray[np.bool_], pitch: float) -> list[list[Core]]:
    """The columns of each leaf, the right one first; a single list if the page is no opening."""
    xs = np.sort([core.x for core in columns])
    top, bottom = min(core.top for core in columns), max(core.bottom for core in columns)
    wide = float(xs[-1] - xs[0])
    if xs.size < 4:
        return [list(columns)]
    gaps = np.diff(xs)
    middles = (xs[:-1] + xs[1:]) / 2
    near = np.flatnonzero(np.abs(middles - (xs[0] + xs[-1]) / 2) < 0.2 * wide)
    widest = int(near[int(gaps[near].argmax())]) if near.size else 0
    if not near.size or gaps[widest] < MIN_GUTTER_PITCHES * pitch:
        return [list(columns)]
    rows = slice(max(0, round(top - pitch)), round(bottom + pitch))
    if wide < MIN_OPENING_RATIO * (bottom - top) and not _between_frames(
        lines[rows, round(xs[widest]) : round(xs[widest + 1])]
    ):
        return [list(columns)]
    cut = float(middles[widest])
    return [[core for core in columns if core.x > cut], [core for core in columns if core.x <= cut]]


def _between_frames(gap: NDArray[np.bool_]) -> bool:
    """Whether the sides of two frames stand in `gap` (the lines between two columns) with no level line from one to the
    other."""
    sides = true_ranges(gap.mean(axis=0) > MIN_RULE_SHARE)
    if len(sides) < 2 or sides[-1][0] - sides[0][1] < 2:
        return False
    return not bool(gap[:, sides[0][1] : sides[-1][0]].all(axis=1).any())


def _levels(columns: Sequence[Core], lines: NDArray[np.bool_], pitch: float) -> list[list[Core]]:
    """The columns of each register of a leaf, the highest first. A row parts two registers if columns stand below each
    other above and below it and hardly any column crosses it; one that does is cut at the line there, if a glyph has
    joined two columns over it."""
    height = int(max(core.bottom for core in columns)) + 2
    crossed = _counted([(core.top, core.bottom) for core in columns], height)
    gaps = sorted(_gaps_between(columns, pitch), key=lambda gap: gap[1])
    rows: list[int] = []
    while gaps:
        top, bottom = (int(row) for row in gaps[0])
        clear = _counted(gaps, height) - crossed
        row = top + int(clear[top : bottom + 1].argmax())
        rows += [row] if crossed[row] <= MAX_CROSSING_SHARE * len(columns) else []
        gaps = [gap for gap in gaps[1:] if not any(gap[0] <= row <= gap[1] for row in rows)]
    rows.sort()
    by_level: list[list[Core]] = [[] for _ in range(len(rows) + 1)]
    for core in [part for column in columns for part in _cut_at_lines(column, rows, lines, pitch)]:
        by_level[bisect(rows, (core.top + core.bottom) / 2)].append(core)
    return [cores for cores in by_level if cores]


def _cut_at_lines(core: Core, rows: Sequence[int], lines: NDArray[np.bool_], pitch: float) -> list[Core]:
    """The column above and below each of the `rows` between registers where a level line crosses it unbroken; the
    column itself where none does."""
    parts, near = [], round(pitch / 2)
    for row in rows:
        if core.top + pitch < row < core.bottom - pitch:
            line = _crossing(round(core.x), slice(row - near, row + near + 1), lines, pitch)
            if line.size:
                parts.append(replace(core, bottom=float(line[0])))
                core = replace(core, top=float(line[-1] + 1))
    return [*parts, core]


def _gaps_between(columns: Sequence[Core], pitch: float) -> list[tuple[float, float]]:
    """The rows between each column and the next one below it: the bottom of the one and the top of the other."""
    gaps = []
    for core in columns:
        below = [other.top for other in columns if abs(other.x - core.x) < pitch / 2 and other.top >= core.bottom]
        gaps += [(core.bottom, min(below))] if below else []
    return gaps


def _counted(spans: Sequence[tuple[float, float]], height: int) -> NDArray[np.intp]:
    """How many of the spans, each from its first to its last row, lie over each row."""
    counts = np.zeros(height + 1, np.intp)
    for first, last in spans:
        counts[int(first)] += 1
        counts[int(last) + 1] -= 1
    return np.asarray(np.cumsum(counts)[:height], dtype=np.intp)


def _with_raised(columns: Sequence[Core], pitch: float) -> list[Core]:
    """The columns of a leaf, each extended by the raised text above it: short pieces that end above where most columns
    begin, each close above a column."""

    def is_above(other: Core, core: Core) -> bool:
        return abs(other.x - core.x) < MAX_ASIDE_PITCHES * pitch and other.bottom <= core.top

    start = np.median([core.top for core in columns if not any(is_above(other, core) for other in columns)])
    short = [core for core in columns if core.bottom <= start and core.height < MAX_RAISED_PITCHES * pitch]
    extended, raised = [], set()
    for core in columns:
        above = [other for other in short if is_above(other, core) and core.top - other.bottom < pitch]
        raised.update(above)
        extended.append(replace(core, top=min(other.top for other in (core, *above))))
    return [core for core, column in zip(extended, columns, strict=True) if column not in raised]


def _between_rules(columns: Sequence[Core], lines: NDArray[np.bool_], notes: NDArray[np.float32]) -> list[Core]:
    """The columns of a register, with the half-rows of notes between two neighbouring rules joined into one column."""
    top, bottom = int(min(core.top for core in columns)), int(max(core.bottom for core in columns)) + 1
    share = cv2.dilate(lines[top:bottom].astype(np.uint8), np.ones((1, 3), np.uint8)).mean(axis=0)
    rules = np.array([(start + end) / 2 for start, end in true_ranges(share > MIN_RULE_SHARE)])
    gaps = np.diff(rules)
    gaps = gaps[
        (gaps > min(core.width for core in columns)) & (gaps < MAX_GAP_WIDTHS * max(core.width for core in columns))
    ]
    if len(gaps) < MIN_RULED_GAPS:
        return list(columns)
    widest = MAX_GAP_RATIO * float(np.median(gaps))
    kept: list[Core] = []
    groups: dict[int, list[Core]] = {}
    for core in columns:
        place = int(np.searchsorted(rules, core.x))
        x = min(round(core.x), notes.shape[1] - 1)
        noted = float(notes[int(core.top) : int(core.bottom) + 1, x].mean()) > MIN_NOTE_PROBABILITY
        if noted and 0 < place < len(rules) and rules[place] - rules[place - 1] < widest:
            groups.setdefault(place, []).append(core)
        else:
            kept.append(core)
    for group in groups.values():
        left, right = min(core.x - core.width / 2 for core in group), max(core.x + core.width / 2 for core in group)
        top_y, bottom_y = min(core.top for core in group), max(core.bottom for core in group)
        kept.append(Core((left + right) / 2, top_y, bottom_y, right - left))
    return kept
