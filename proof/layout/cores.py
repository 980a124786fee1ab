"""Columns, registers and leaves, read from the column cores in the label map of a page.

Pieces of one column are joined, leaves and registers are parted. All lengths are in pixels of the label map. The
spacing is the distance between the middles of neighbouring columns.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.labels import Label
from proof.layout.rules import MIN_OPENING_RATIO, true_ranges, weighted_quantile
from proof.layout.segmenter import LabelMap

MIN_PROBABILITY = 0.4
"""Minimum probability of a label at a pixel for the pixel to count as labelled."""

MIN_PEAK_PROBABILITY = 0.75
"""Minimum highest probability of a piece of core; fainter pieces are dropped."""

MIN_EDGE_PROBABILITY = 0.96
"""Minimum upper quartile of the core's probability along the first and the last column of a register."""

MIN_EDGE_DISTANCE_WIDTHS = 0.45
"""Minimum distance of a column's middle from the edge of the image, in widths of its glyphs: nearer ones are cut."""

MIN_COLUMNS_TO_COMPARE = 4
"""Minimum number of columns in a register for its first or last one to be a fold strip."""

MAX_RAISED_SPACINGS = 2.5
"""Maximum height of raised text above the frame, in spacings."""

MAX_SPACING_WIDTHS = 2.4
"""Maximum distance of neighbouring columns, in widths of their glyphs."""

USUAL_SPACING_WIDTHS = 1.35
"""Usual distance of neighbouring columns, in widths of their glyphs."""

MAX_ASIDE_SPACINGS = 0.35
"""Maximum horizontal distance of pieces of the same column, in spacings."""

MIN_RULE_SHARE = 0.35
"""Minimum share of a register's height along which a line is seen where there is a rule."""

MIN_BESIDE_SPACINGS = 0.66
"""Minimum distance of columns that stand side by side, in spacings."""

MIN_LENGTH_RATIO = 1.5
"""Minimum ratio of heights from which the shorter of two pieces that stand too close is dropped."""

MAX_OVERLAP = 0.5
"""Maximum share of a piece's height that stands beside the piece above it in the same column."""

LINE_ACROSS_SPACINGS = 0.3
"""Distance from a column's middle to either side over which a line that parts the column is unbroken, in spacings."""

LINE_BESIDE_SPACINGS = 2.5
"""Distance from a column's middle to either side over which a line between registers is followed, in spacings."""

MIN_LINE_SHARE = 0.6
"""Minimum share of that distance along which the line is seen."""

MAX_NEIGHBOUR_SPACINGS = 1.7
"""Maximum distance of neighbouring columns, in spacings."""

MIN_GUTTER_SPACINGS = 1.45
"""Minimum distance of the two columns on either side of the gutter of an opening, in spacings."""

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

    @property
    def y(self) -> float:
        return (self.top + self.bottom) / 2

    def overlap(self, other: Core) -> float:
        """The height over which both cores stand; negative where one is below the other."""
        return min(self.bottom, other.bottom) - max(self.top, other.top)


@dataclass(frozen=True, slots=True)
class Register:
    """A register: its leaf (0 is the right one), its cores from right to left, and the spacing of its columns."""

    leaf: int
    cores: tuple[Core, ...]
    spacing: float


def registers_of(labels: LabelMap, keep_all: bool = False) -> list[Register]:
    """The registers of a page in reading order. With `keep_all`, for labels from `columns_alone`, no core is dropped
    for standing at an edge."""
    core_map = labels.of(Label.CORE)
    pieces = _pieces(np.where(labels.of(Label.OTHER) > core_map, 0, core_map), labels.of(Label.TEXT) > MIN_PROBABILITY)
    if not pieces:
        return []
    pieces = _without_lesser(pieces, spacing_of(pieces))
    spacing = spacing_of(pieces)
    if not keep_all:
        pieces = [core for core in pieces if _is_whole(core, core_map.shape[1], spacing)]
    if not pieces:
        return []
    lines = labels.of(Label.LINE) > MIN_PROBABILITY
    registers = []
    for leaf, columns in enumerate(_leaves(_joined(pieces, lines, spacing), lines, spacing)):
        for cores in _levels(_with_raised(columns, spacing), lines, spacing):
            kept = cores if keep_all else _without_fold_strips(cores, core_map)
            right_to_left = tuple(sorted(kept, key=lambda core: -core.x))
            registers.append(Register(leaf, right_to_left, spacing_of(kept, spacing)))
    return registers


def columns_alone(labels: LabelMap, registers: Sequence[Register]) -> LabelMap:
    """The labels without cores outside the columns of these registers."""
    kept = np.zeros(labels.probabilities.shape[1:], np.bool_)
    for register in registers:
        half = MAX_ASIDE_SPACINGS * register.spacing
        for core in register.cores:
            rows = slice(max(0, round(core.top - 1)), round(core.bottom + 1))
            kept[rows, max(0, round(core.x - half)) : round(core.x + half) + 1] = True
    probabilities = labels.probabilities.copy()
    probabilities[list(Label).index(Label.CORE)] *= kept
    return LabelMap(probabilities, labels.scale)


def _is_whole(core: Core, width: int, spacing: float) -> bool:
    """Whether the image, of this `width`, shows the glyphs of a column whole."""
    return min(core.x, width - 1 - core.x) > MIN_EDGE_DISTANCE_WIDTHS * min(core.width, spacing)


def _without_fold_strips(columns: Sequence[Core], core_map: NDArray[np.float32]) -> list[Core]:
    """The columns of a register without a first or last one of doubtful probability, as half of a fold strip has."""
    kept = sorted(columns, key=lambda core: core.x)
    if len(kept) < MIN_COLUMNS_TO_COMPARE:
        return kept
    for outer in (kept[0], kept[-1]):
        x = round(outer.x)
        along = core_map[round(outer.top) : round(outer.bottom) + 1, max(0, x - 1) : x + 2].max(axis=1)
        if float(np.quantile(along, 0.75)) < MIN_EDGE_PROBABILITY:
            kept.remove(outer)
    return kept


def _pieces(core_map: NDArray[np.float32], text: NDArray[np.bool_]) -> list[Core]:
    """The connected pieces of `core_map`, each with the width of the `text` around it."""
    is_core = (core_map > MIN_PROBABILITY).astype(np.uint8)
    _, numbers, boxes, middles = cv2.connectedComponentsWithStats(is_core, connectivity=4)
    cores = []
    for number, (x, y, w, h, _) in enumerate(boxes.tolist()[1:], 1):
        box = np.s_[y : y + h, x : x + w]
        if float(core_map[box][numbers[box] == number].max()) > MIN_PEAK_PROBABILITY:
            middle = float(middles[number, 0])
            cores.append(Core(middle, float(y), float(y + h), _width_at(text[y : y + h], middle)))
    return cores


def _width_at(text: NDArray[np.bool_], x: float) -> float:
    """The median width of the text around `x` over all rows, at least one pixel."""
    middle = min(round(x), text.shape[1] - 1)
    left = np.argmin(np.pad(text[:, middle::-1], ((0, 0), (0, 1))), axis=1)
    right = np.argmin(np.pad(text[:, middle:], ((0, 0), (0, 1))), axis=1)
    return max(1.0, float(np.median(2 * np.minimum(left, right) - 1)))


def spacing_of(cores: Sequence[Core], default: float = 0.0) -> float:
    """The distance of neighbouring columns: the median distance to the next column on the left, weighted by height.

    Gaps wider than `MAX_SPACING_WIDTHS` do not count. With fewer than two distances the result is `default` if given;
    with none, `USUAL_SPACING_WIDTHS` times the width of the glyphs."""
    distances, heights = [], []
    for core in cores:
        to_left = [
            core.x - other.x
            for other in cores
            if other.x < core.x - 2
            and core.x - other.x < MAX_SPACING_WIDTHS * max(core.width, other.width)
            and core.overlap(other) > 0
        ]
        if to_left:
            distances.append(min(to_left))
            heights.append(core.height)
    if len(distances) < 2 and default:
        return default
    if not distances:
        return USUAL_SPACING_WIDTHS * float(np.median([core.width for core in cores]))
    return weighted_quantile(np.array(distances), np.array(heights), 0.5)


def _without_lesser(pieces: Sequence[Core], spacing: float) -> list[Core]:
    """The pieces without those that stand too close beside a longer one: half-rows of notes and glosses."""

    def is_lesser(core: Core) -> bool:
        return any(
            other.height > MIN_LENGTH_RATIO * core.height
            and abs(other.x - core.x) < MIN_BESIDE_SPACINGS * spacing
            and core.overlap(other) > 0.5 * core.height
            for other in pieces
        )

    return [core for core in pieces if not is_lesser(core)]


def _joined(pieces: Sequence[Core], lines: NDArray[np.bool_], spacing: float) -> list[Core]:
    """The pieces, joined into columns where they stand below each other with no level line between them.

    White paper alone does not part registers: verse has gaps in the same rows of all its columns."""
    columns: list[Core] = []
    left, right = min(core.x for core in pieces) - spacing / 2, max(core.x for core in pieces) + spacing / 2
    edges = max(0, round(left)), round(right)
    for piece in sorted(pieces, key=lambda core: core.top):
        max_bottom = piece.top + MAX_OVERLAP * piece.height + 1
        above = [
            number
            for number, column in enumerate(columns)
            if abs(column.x - piece.x) < MAX_ASIDE_SPACINGS * spacing and column.bottom < max_bottom
        ]
        number = max(above, key=lambda number: columns[number].bottom, default=None)
        if number is None:
            columns.append(piece)
            continue
        column = columns[number]
        if _is_line_between(column, piece, lines, spacing, edges):
            columns.append(piece)
            continue
        x = (column.x * column.height + piece.x * piece.height) / (column.height + piece.height)
        columns[number] = Core(x, column.top, max(column.bottom, piece.bottom), max(column.width, piece.width))
    return columns


def _is_line_between(
    above: Core, below: Core, lines: NDArray[np.bool_], spacing: float, edges: tuple[int, int]
) -> bool:
    """Whether a level line runs between two pieces that stand below each other: unbroken across the column, or through
    most of the columns on both sides as far as the `edges` (x) of the text."""
    x, first = round((above.x + below.x) / 2), round(above.bottom)
    rows = slice(first, max(round(below.top), first + 1))
    reach = max(1, round(LINE_BESIDE_SPACINGS * spacing))
    beside = lines[rows, max(edges[0], x - reach) : min(edges[1], x + reach) + 1].mean(axis=1) > MIN_LINE_SHARE
    return bool(beside.any()) or bool(_crossing_rows(x, rows, lines, spacing).size)


def _crossing_rows(x: int, rows: slice, lines: NDArray[np.bool_], spacing: float) -> NDArray[np.intp]:
    """Those of `rows` along which a level line crosses a column with its middle at `x` unbroken."""
    reach = max(1, round(LINE_ACROSS_SPACINGS * spacing))
    crossed = lines[rows, max(0, x - reach) : x + reach + 1].all(axis=1)
    return np.asarray(rows.start + np.flatnonzero(crossed), np.intp)


def _leaves(columns: Sequence[Core], lines: NDArray[np.bool_], spacing: float) -> list[list[Core]]:
    """The columns of each leaf, the right one first; a single list if the page is no opening."""
    one_leaf = [list(columns)]
    if len(columns) < 4:
        return one_leaf
    xs = np.sort([core.x for core in columns])
    width, gaps, middles = float(xs[-1] - xs[0]), np.diff(xs), (xs[:-1] + xs[1:]) / 2
    near_middle = np.flatnonzero(np.abs(middles - (xs[0] + xs[-1]) / 2) < 0.2 * width)
    if not near_middle.size:
        return one_leaf
    gutter = int(near_middle[int(gaps[near_middle].argmax())])
    if gaps[gutter] < MIN_GUTTER_SPACINGS * spacing:
        return one_leaf
    top, bottom = min(core.top for core in columns), max(core.bottom for core in columns)
    if width < MIN_OPENING_RATIO * (bottom - top):
        rows = slice(max(0, round(top - spacing)), round(bottom + spacing))
        if not _is_between_frames(lines[rows, round(xs[gutter]) : round(xs[gutter + 1])]):
            return one_leaf
    cut = float(middles[gutter])
    return [[core for core in columns if core.x > cut], [core for core in columns if core.x <= cut]]


def _is_between_frames(gap: NDArray[np.bool_]) -> bool:
    """Whether the sides of two frames stand in `gap` (the lines between two columns) with no level line from one to the
    other."""
    sides = true_ranges(gap.mean(axis=0) > MIN_RULE_SHARE)
    if len(sides) < 2:
        return False
    left, right = sides[0][1], sides[-1][0]
    return right - left >= 2 and not bool(gap[:, left:right].all(axis=1).any())


def _levels(columns: Sequence[Core], lines: NDArray[np.bool_], spacing: float) -> list[list[Core]]:
    """The columns of each register of a leaf, the highest first. A row parts two registers if columns stand below each
    other above and below it and hardly any column crosses it; one that does is cut at the line there, if a glyph has
    joined two columns over it."""
    height = int(max(core.bottom for core in columns)) + 2
    crossing = _counted([(core.top, core.bottom) for core in columns], height)
    gaps = sorted(_gaps_between(columns, spacing), key=lambda gap: gap[1])
    cuts: list[int] = []
    while gaps:
        top, bottom = (int(row) for row in gaps[0])
        clear = _counted(gaps, height) - crossing
        cut = top + int(clear[top : bottom + 1].argmax())
        if crossing[cut] <= MAX_CROSSING_SHARE * len(columns):
            cuts.append(cut)
        gaps = [gap for gap in gaps[1:] if not any(gap[0] <= cut <= gap[1] for cut in cuts)]
    cuts.sort()
    by_level: list[list[Core]] = [[] for _ in range(len(cuts) + 1)]
    for column in columns:
        for part in _cut_at_lines(column, cuts, lines, spacing):
            by_level[bisect(cuts, part.y)].append(part)
    return [cores for cores in by_level if cores]


def _cut_at_lines(column: Core, rows: Sequence[int], lines: NDArray[np.bool_], spacing: float) -> list[Core]:
    """The column, cut at those of the `rows` between registers where a level line crosses it unbroken."""
    parts, rest, reach = [], column, round(spacing / 2)
    for row in rows:
        if rest.top + spacing < row < rest.bottom - spacing:
            line = _crossing_rows(round(rest.x), slice(row - reach, row + reach + 1), lines, spacing)
            if line.size:
                parts.append(replace(rest, bottom=float(line[0])))
                rest = replace(rest, top=float(line[-1] + 1))
    return [*parts, rest]


def _gaps_between(columns: Sequence[Core], spacing: float) -> list[tuple[float, float]]:
    """For each column with another one below it, its bottom and the top of that column."""
    gaps = []
    for core in columns:
        below = [other.top for other in columns if abs(other.x - core.x) < spacing / 2 and other.top >= core.bottom]
        if below:
            gaps.append((core.bottom, min(below)))
    return gaps


def _counted(spans: Sequence[tuple[float, float]], height: int) -> NDArray[np.intp]:
    """How many of the spans, each from its first to its last row, lie over each row."""
    counts = np.zeros(height + 1, np.intp)
    for first, last in spans:
        counts[int(first)] += 1
        counts[int(last) + 1] -= 1
    return np.asarray(np.cumsum(counts)[:height], dtype=np.intp)


def _with_raised(columns: Sequence[Core], spacing: float) -> list[Core]:
    """The columns of a leaf, each extended by the raised text above it: short pieces that end above where most columns
    begin, each close above a column."""

    def is_above(other: Core, core: Core) -> bool:
        return abs(other.x - core.x) < MAX_ASIDE_SPACINGS * spacing and other.bottom <= core.top

    start = np.median([core.top for core in columns if not any(is_above(other, core) for other in columns)])
    short = [core for core in columns if core.bottom <= start and core.height < MAX_RAISED_SPACINGS * spacing]
    extended, raised = [], set()
    for core in columns:
        above = [other for other in short if is_above(other, core) and core.top - other.bottom < spacing]
        raised.update(above)
        extended.append(replace(core, top=min(other.top for other in (core, *above))))
    return [core for core, column in zip(extended, columns, strict=True) if column not in raised]
