"""Reading whole pages that are not ruled columns (tables, two registers), and the order of their lines.

A text detector finds the lines, in no order. The order of a classical page is: registers from top to bottom, in a
register columns from right to left, in a column from top to bottom; of lines side by side in one column (the halves of
a note) the right one first.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.rules import true_ranges
from proof.model.geometry import Box
from proof.ocr.engine import EngineIdentity, Pixels, ReadCharacter

Point = tuple[float, float]
"""x and y."""

Quad = tuple[Point, Point, Point, Point]
"""A line's outline in pixels of the page: top left, top right, bottom right, bottom left."""

MIN_REGISTER_RULE_SHARE = 0.8
"""Minimum length of a horizontal rule that divides registers, as a share of the text's width. The rules of a table
beside other columns are shorter."""

MIN_REGISTER_HEIGHT_SHARE = 0.2
"""Minimum height of a register, as a share of the text's height. The rows of a fully ruled table are lower: a
transcription follows its columns, not its rows."""

MAX_RULE_THICKNESS_SHARE = 0.02
"""Maximum thickness of a rule, also a double one, as a share of the page's height."""

MIN_CROSSING_SHARE = 0.2
"""Share of a line's height that must be on either side of a rule for the line to cross it."""

MIN_LONG_LINE_RATIO = 3.0
"""Height to width of a line from which on its slope is used to measure the page's skew."""


@dataclass(frozen=True, slots=True)
class PageLine:
    """One line of text that was found and read on a page.

    The extents of `characters` are 0 to 1 along the line: downwards if it is `vertical`, else to the right. `score` is
    the engine's score of the line, 0 to 1; it is low for a line read from stains or rules. `register` counts from 1 at
    the top (0: in the margin beside the registers), `column` from 1 at the right of each register. Lines side by side
    in one column have the same `column`.
    """

    characters: tuple[ReadCharacter, ...]
    score: float
    outline: Quad
    vertical: bool
    register: int
    column: int

    @property
    def text(self) -> str:
        return "".join(character.text for character in self.characters)

    @property
    def box(self) -> Box:
        return _bounds(self.outline)

    def character_box(self, character: ReadCharacter) -> Box:
        """The upright box around one of the line's characters, in pixels of the page."""
        start, end = character.start, character.end
        top_left, top_right, bottom_right, bottom_left = self.outline
        if self.vertical:
            corners = (
                _between(top_left, bottom_left, start),
                _between(top_right, bottom_right, start),
                _between(top_right, bottom_right, end),
                _between(top_left, bottom_left, end),
            )
        else:
            corners = (
                _between(top_left, top_right, start),
                _between(top_left, top_right, end),
                _between(bottom_left, bottom_right, end),
                _between(bottom_left, bottom_right, start),
            )
        return _bounds(corners)


@dataclass(frozen=True, slots=True)
class PageReading:
    """Everything read on a page, its lines in reading order."""

    lines: tuple[PageLine, ...]

    @property
    def text(self) -> str:
        """A line of text for each column, the lines of a column one after the other."""
        columns: dict[tuple[int, int], list[str]] = {}
        for line in self.lines:
            columns.setdefault((line.register, line.column), []).append(line.text)
        return "\n".join("".join(parts) for parts in columns.values())


class PageEngine(Protocol):
    """A reader of whole pages. Implementations are safe to call from several threads."""

    @property
    def identity(self) -> EngineIdentity: ...

    def read_page(self, page: Pixels) -> PageReading:
        """Find and read the lines of a page. Raises EngineError."""
        ...


@dataclass(frozen=True, slots=True)
class LineOrder:
    """The register and column of a line; `index` is its index in the given outlines."""

    index: int
    register: int
    column: int


@dataclass(frozen=True, slots=True)
class _Rule:
    """A horizontal rule on the upright page."""

    y: float
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class _BoxedLine:
    """A line on the upright page."""

    index: int
    box: Box


def reading_order(page: Pixels, outlines: Sequence[Quad]) -> list[LineOrder]:
    """The lines of a page in the order in which they are read.

    Registers are divided by a rule across the page that no line crosses. A gap is not enough: verses and lists of names
    have gaps and are read down the column all the same. The page is turned upright first; its skew is taken from the
    slopes of its long lines.
    """
    if not outlines:
        return []
    height, width = page.shape
    turn = np.asarray(cv2.getRotationMatrix2D((width / 2, height / 2), -skew(outlines), 1.0), np.float64)
    boxed = [_BoxedLine(index, _bounds(_turned(outline, turn))) for index, outline in enumerate(outlines)]
    upright = cv2.warpAffine(page, turn, (width, height), borderMode=cv2.BORDER_REPLICATE)
    rules = _register_rules(np.asarray(upright, np.uint8), boxed)
    places: list[LineOrder] = []
    for number, lines in _registers(boxed, rules):
        columns = _clusters(lines, lambda box: (box.x, box.right))
        for column, members in enumerate(reversed(columns), start=1):
            places += [LineOrder(line.index, number, column) for line in _column_order(members)]
    return places


def skew(outlines: Sequence[Quad]) -> float:
    """The page's skew in degrees, positive where columns lean to the right at their foot: the median slope of the long
    vertical lines, weighted by their lengths; 0 if there are none."""
    slopes: list[tuple[float, float]] = []
    for top_left, top_right, bottom_right, bottom_left in outlines:
        head, foot = _between(top_left, top_right, 0.5), _between(bottom_left, bottom_right, 0.5)
        length = math.dist(head, foot)
        if length >= MIN_LONG_LINE_RATIO * max(math.dist(top_left, top_right), 1.0):
            slopes.append((math.degrees(math.atan2(foot[0] - head[0], foot[1] - head[1])), length))
    half = sum(length for _, length in slopes) / 2
    for slope, length in sorted(slopes):
        half -= length
        if half <= 0:
            return slope
    return 0.0


def _register_rules(page: Pixels, lines: Sequence[_BoxedLine]) -> list[_Rule]:
    """The horizontal rules that divide registers: they run across (nearly) all of the text, and no line crosses
    them."""
    text = Box.around(line.box for line in lines)
    min_height = MIN_REGISTER_HEIGHT_SHARE * text.h
    rules = [
        rule
        for rule in _horizontal_rules(page, text)
        if min_height <= rule.y - text.y <= text.h - min_height and not _is_crossed(rule, lines)
    ]
    are_rows_of_a_table = any(lower.y - upper.y < min_height for upper, lower in pairwise(rules))
    return [] if are_rows_of_a_table else rules


def _is_crossed(rule: _Rule, lines: Sequence[_BoxedLine]) -> bool:
    boxes = [line.box for line in lines if rule.left <= line.box.centre[0] <= rule.right]
    return any(min(rule.y - box.y, box.bottom - rule.y) > MIN_CROSSING_SHARE * box.h for box in boxes)


def _horizontal_rules(page: Pixels, text: Box) -> list[_Rule]:
    """Every rule that runs across `MIN_REGISTER_RULE_SHARE` of the text's width; a double rule is one."""
    left, right = max(0, int(text.x)), min(page.shape[1], math.ceil(text.right))
    if right - left < 2:
        return []
    _, ink = cv2.threshold(page, 0, 255, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)
    # A stroke of a character is shorter than a tenth of the text's width; a rule wavers by some pixels.
    ink = cv2.dilate(ink, np.ones((3, 1), np.uint8))
    strokes = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((1, max(3, (right - left) // 10)), np.uint8))
    strokes = cv2.dilate(strokes, np.ones((max(3, round(MAX_RULE_THICKNESS_SHARE * page.shape[0])), 1), np.uint8))
    drawn = (strokes[:, left:right] > 0).mean(axis=1) >= MIN_REGISTER_RULE_SHARE
    rules: list[_Rule] = []
    for top, bottom in true_ranges(drawn):
        across = np.flatnonzero((strokes[top:bottom] > 0).any(axis=0))
        rules.append(_Rule((top + bottom) / 2, float(across[0]), float(across[-1])))
    return rules


def _registers(lines: Sequence[_BoxedLine], rules: Sequence[_Rule]) -> list[tuple[int, list[_BoxedLine]]]:
    """The lines of each register, from the top; those in the margins beside them last, as register 0."""
    if not rules:
        return [(1, list(lines))]
    left, right = min(rule.left for rule in rules), max(rule.right for rule in rules)
    margin: list[_BoxedLine] = []
    by_rules_above: defaultdict[int, list[_BoxedLine]] = defaultdict(list)
    for line in lines:
        x, y = line.box.centre
        group = by_rules_above[sum(rule.y < y for rule in rules)] if left <= x <= right else margin
        group.append(line)
    registers = [(number, members) for number, (_, members) in enumerate(sorted(by_rules_above.items()), start=1)]
    return [*registers, (0, margin)] if margin else registers


def _column_order(lines: Sequence[_BoxedLine]) -> list[_BoxedLine]:
    """The lines of one column: from top to bottom, and side by side from right to left.

    They are divided into rows and into halves in turn, as long as possible. Lines that cannot be divided, because
    their outlines overlap, are ordered by their middles.
    """
    rows = _clusters(lines, lambda box: (box.y, box.bottom))
    if len(rows) > 1:
        return [line for row in rows for line in _column_order(row)]
    halves = _clusters(lines, lambda box: (box.x, box.right))
    if len(halves) > 1:
        return [line for half in reversed(halves) for line in _column_order(half)]
    return sorted(lines, key=lambda line: (-line.box.centre[0], line.box.centre[1]))


def _clusters(lines: Sequence[_BoxedLine], extent: Callable[[Box], tuple[float, float]]) -> list[list[_BoxedLine]]:
    """Groups of lines whose extents overlap by more than half of the shorter one, in ascending order of the groups'
    middles."""
    groups: list[list[_BoxedLine]] = []
    for line in sorted(lines, key=lambda line: extent(line.box)):
        joined: list[_BoxedLine] = [line]
        separate: list[list[_BoxedLine]] = []
        for group in groups:
            if any(_overlap(extent(line.box), extent(other.box)) > 0.5 for other in group):
                joined += group
            else:
                separate.append(group)
        groups = [*separate, joined]

    def middle(group: list[_BoxedLine]) -> float:
        lows, highs = zip(*(extent(line.box) for line in group), strict=True)
        return float(min(lows) + max(highs))

    return sorted(groups, key=middle)


def _overlap(first: tuple[float, float], second: tuple[float, float]) -> float:
    """The share of the shorter of two extents that the other covers; negative if they do not touch."""
    shorter = min(first[1] - first[0], second[1] - second[0])
    return (min(first[1], second[1]) - max(first[0], second[0])) / max(shorter, 1e-9)


def _turned(outline: Quad, turn: NDArray[np.float64]) -> Quad:
    """The outline after an affine map (2 x 3)."""
    a, b, c, d = ((float(x), float(y)) for x, y in np.hstack([np.asarray(outline), np.ones((4, 1))]) @ turn.T)
    return a, b, c, d


def _between(a: Point, b: Point, share: float) -> Point:
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share


def _bounds(corners: Sequence[Point]) -> Box:
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return Box(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))
