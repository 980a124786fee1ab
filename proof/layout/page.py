"""The columns of a page of any kind, with rules or without, in one or several registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.cores import MAX_NEIGHBOUR_SPACINGS, Core, Register, columns_alone, registers_of
from proof.layout.rules import Mask, Rectification, glyph_pieces, inked_along, thickened, true_ranges, usual_width
from proof.layout.segmenter import LabelMap, label_map
from proof.layout.sheet import Region, Sheet, prepare, text_ink
from proof.layout.straight import Straightening, straightened

MIN_RULE_SHARE = 0.12
"""Minimum length of a rule, as a share of its register's height."""

MIN_UPRIGHT_SHARE = 0.55
"""Minimum share of upright strokes in the ink along a rule; text has fewer."""

MAX_BEYOND_CORE_SPACINGS = 0.75
"""Maximum distance of a column's ink above and below its core, in spacings (distances of neighbouring columns)."""

MAX_WHITE_SPACINGS = 0.22
"""Maximum height of white rows inside the end of a column, in spacings."""

MIN_PIECE_SPACINGS = 0.12
"""Minimum longer side of a piece of ink that counts for the width of glyphs, in spacings."""

SIDE_MARGIN = 0.08
"""Share of a column's width that is ignored at either side, where rules stand."""

MAX_HALF_WIDTH_GLYPHS = 0.95
"""Maximum distance of a column's edge from its middle, in widths of its glyphs."""

MAX_LINES_ACROSS = 3
"""Maximum number of level lines across a register inside its frame; a page with more is a table."""

MIN_ROW_LINE = 0.3
"""Minimum length of a line between the rows of a table, as a share of the register's width."""

FRAME_ZONE = 0.05
"""Share of a register's height at its top and at its foot where the lines of its frame run."""

MIN_BOUND_SHARE = 0.45
"""Minimum length of a level line that bounds a column, as a share of its width."""


@dataclass(frozen=True, slots=True)
class FoundColumn:
    """A column of text in pixels of the straightened sheet: as wide as the room up to its neighbours or rules, as high
    as its ink. `register` counts from 1 in reading order over all leaves; `glyph` is the width of its glyphs."""

    register: int
    left: float
    top: float
    right: float
    bottom: float
    glyph: float

    @property
    def width(self) -> float:
        return self.right - self.left


@dataclass(frozen=True, slots=True)
class PageLayout:
    """The columns of a page in reading order, with the straightened page (`sheet`), its ink without rules and frames
    (`text`), the place of each register (`regions`) and the x of the rules of each register (`rules`)."""

    sheet: Sheet
    text: Mask
    regions: tuple[Region, ...]
    columns: tuple[FoundColumn, ...]
    rules: tuple[tuple[float, ...], ...]

    @property
    def has_columns(self) -> bool:
        """Whether columns were found and the page is no table, which has rows between level lines."""
        lines = [_lines_across(self.sheet, region) for region in self.regions]
        return bool(self.columns) and max(lines) <= MAX_LINES_ACROSS

    @property
    def rectification(self) -> Rectification:
        return self.sheet.rectification


def find_columns(page: NDArray[np.uint8], origin: tuple[float, float] = (0, 0)) -> PageLayout:
    """Find the columns of a page (grey, height x width, 0 black); `origin` is where it lies in its image file."""
    sheet = prepare(page, origin)
    text = text_ink(sheet)
    labels = label_map(sheet.grey)
    labelled = registers_of(labels)
    registers, regions = _on_sheet(sheet, labelled, labels.scale)
    straight_sheet, text = straightened(sheet, text, regions)
    if isinstance(straight_sheet.rectification, Straightening):
        sheet = straight_sheet
        straight_labels = _straightened_labels(columns_alone(labels, labelled), straight_sheet.rectification)
        registers, regions = _on_sheet(sheet, registers_of(straight_labels, keep_all=True), labels.scale)
    columns: list[FoundColumn] = []
    rules = []
    for number, (register, region) in enumerate(zip(registers, regions, strict=True), 1):
        rules.append(_rules(sheet, region))
        columns += [_column(sheet, text, number, register.spacing, span) for span in _spans(register, rules[-1])]
    return PageLayout(sheet, text, tuple(regions), tuple(columns), tuple(rules))


def _straightened_labels(labels: LabelMap, straightening: Straightening) -> LabelMap:
    """The labels of the straightened sheet."""
    ys, xs = np.indices(labels.probabilities.shape[1:], dtype=np.float64)
    places = np.stack([(xs.ravel() + 0.5) / labels.scale, (ys.ravel() + 0.5) / labels.scale], axis=1)
    map_x = (xs + straightening.shifts(places).reshape(xs.shape) * labels.scale).astype(np.float32)
    map_y = ys.astype(np.float32)
    planes = [cv2.remap(plane, map_x, map_y, cv2.INTER_LINEAR) for plane in labels.probabilities]
    return LabelMap(np.stack(planes), labels.scale)


def _on_sheet(sheet: Sheet, labelled: Sequence[Register], scale: float) -> tuple[list[Register], list[Region]]:
    """The registers of a label map in pixels of the sheet, and the region of each. `scale` is the scale of the map."""
    registers = [_enlarged(register, 1 / scale) for register in labelled]
    return registers, [_region(sheet, register, registers) for register in registers]


def _enlarged(register: Register, factor: float) -> Register:
    cores = tuple(
        Core((core.x + 0.5) * factor, core.top * factor, core.bottom * factor, core.width * factor)
        for core in register.cores
    )
    return Register(register.leaf, cores, register.spacing * factor)


def _region(sheet: Sheet, register: Register, registers: Sequence[Register]) -> Region:
    """The region of one of the registers: its columns, and up to the spacing of columns around them."""
    spacing = register.spacing
    top, bottom = _top(register), _bottom(register)
    left, right = register.cores[-1].x - spacing, register.cores[0].x + spacing
    of_leaf = [other for other in registers if other.leaf == register.leaf]
    above = max((_bottom(other) for other in of_leaf if _middle(other) < _middle(register)), default=None)
    below = min((_top(other) for other in of_leaf if _middle(other) > _middle(register)), default=None)
    first = top - spacing if above is None else max(top - spacing, (above + top) / 2)
    last = bottom + spacing if below is None else min(bottom + spacing, (below + bottom) / 2)
    box = (max(0, round(left)), max(0, round(first)), min(sheet.width, round(right)), min(sheet.height, round(last)))
    return Region(register.leaf, *box)


def _middle(register: Register) -> float:
    return float(np.median([core.y for core in register.cores]))


def _top(register: Register) -> float:
    return min(core.top for core in register.cores)


def _bottom(register: Register) -> float:
    return max(core.bottom for core in register.cores)


def _lines_across(sheet: Sheet, region: Region) -> int:
    """How many level lines run across a register inside its frame."""
    margin = round(FRAME_ZONE * (region.bottom - region.top))
    lines = thickened(sheet.level[region.top + margin : region.bottom - margin, region.left : region.right], 1, 9)
    return len(true_ranges(inked_along(lines, 1) > MIN_ROW_LINE * (region.right - region.left)))


def _rules(sheet: Sheet, region: Region) -> tuple[float, ...]:
    """The x of the rules of a register: long upright strokes with hardly any other ink along them."""
    place = slice(region.top, region.bottom), slice(region.left, region.right)
    height = region.bottom - region.top
    if height < 1 or region.right <= region.left:
        return ()
    ink = inked_along(thickened(sheet.ink[place], 3, 1), 0) / height
    upright = inked_along(thickened(sheet.upright[place], 5, 1), 0) / height
    is_rule = (upright > MIN_RULE_SHARE) & (upright > MIN_UPRIGHT_SHARE * ink)
    return tuple(float(region.left + (start + end - 1) / 2) for start, end in true_ranges(is_rule))


class _Span(NamedTuple):
    """A core with the left and right edge of its column."""

    core: Core
    left: float
    right: float


def _spans(register: Register, rules: Sequence[float]) -> list[_Span]:
    """The columns of a register. A column reaches to the rule between it and its neighbour, else to the middle between
    them; without a neighbour it is as wide as the spacing or as its glyphs, whichever is wider."""
    spacing = register.spacing

    def edge(core: Core, neighbour_x: float, side: int) -> float:
        """The left (`side` -1) or right (1) edge of a column."""
        distance = abs(neighbour_x - core.x)
        if distance >= MAX_NEIGHBOUR_SPACINGS * spacing:
            distance = max(spacing, core.width)
        x = core.x + side * min(distance / 2, MAX_HALF_WIDTH_GLYPHS * core.width)
        near = [rule for rule in rules if abs(rule - x) < 0.3 * spacing and side * (rule - core.x) > 0.25 * spacing]
        return float(min(near, key=lambda rule: abs(rule - x), default=x))

    spans = []
    for core in register.cores:
        beside = [other.x for other in register.cores if abs(other.x - core.x) > 0.3 * spacing]
        left = max((x for x in beside if x < core.x), default=-np.inf)
        right = min((x for x in beside if x > core.x), default=np.inf)
        spans.append(_Span(core, edge(core, left, -1), edge(core, right, 1)))
    return spans


def _column(sheet: Sheet, text: Mask, register: int, spacing: float, span: _Span) -> FoundColumn:
    """The column of a span, as high as its ink."""
    core = span.core
    left, right = max(0.0, span.left), min(float(text.shape[1]), span.right)
    margin = SIDE_MARGIN * (right - left)
    across = slice(round(left + margin), max(round(right - margin), round(left + margin) + 1))
    inked = inked_along(text[:, across], 1) > 0
    inked &= inked_along(thickened(sheet.level[:, across], 1, 5), 1) < MIN_BOUND_SHARE * (right - left)
    gap = MAX_WHITE_SPACINGS * spacing
    highest = max(0.0, core.top - MAX_BEYOND_CORE_SPACINGS * spacing)
    lowest = min(float(text.shape[0]), core.bottom + MAX_BEYOND_CORE_SPACINGS * spacing)
    top = _end_of_ink(inked, core.top, -1, highest, gap)
    bottom = _end_of_ink(inked, core.bottom, 1, lowest, gap)
    pieces = glyph_pieces(text[round(top) : round(bottom), across])
    longer_side = pieces[:, [cv2.CC_STAT_WIDTH, cv2.CC_STAT_HEIGHT]].max(axis=1)
    glyph = usual_width(pieces[longer_side > MIN_PIECE_SPACINGS * spacing]) or 0.8 * spacing
    return FoundColumn(register, left, top, right, bottom, glyph)


def _end_of_ink(inked: NDArray[np.bool_], start: float, step: int, limit: float, gap: float) -> float:
    """The y where ink ends, going from `start` upwards (`step` -1) or downwards (1) to `limit` at most, across no more
    than `gap` white rows."""
    rows = np.arange(round(start) - step * 2, round(limit), step)
    rows = rows[(rows >= 0) & (rows < inked.size)]
    last = None
    for row in rows.tolist():
        if inked[row]:
            last = row
        elif abs(row - (start if last is None else last)) > gap:
            break
    if last is None:
        return start
    return float(last + (step > 0))
