"""The layout of a page, found or set by a person: its columns, its ink, and whose ink that is.

Everything is found on one rectified page of moderate size; `Rectification` brings any place on it back to pixels of the
image file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.images.size import shrunk
from proof.layout.flattening import rectification_as_list, rectification_of
from proof.layout.line_removal import without_lines
from proof.layout.overrides import LayoutOverrideShape
from proof.layout.rules import Mask, Rectification, ink_mask, long_strokes, without_border
from proof.model.geometry import Box
from proof.model.notices import Notice

PAGE_HEIGHT = 1400
"""Pixels: a page is read at this height at most; columns are then some 90 to 110 pixels wide."""

RULE_LENGTH = 1 / 25
"""Of the page height: the shortest stroke taken for a piece of rule. A character cell is about 1/26."""

WIDE_RULE_LENGTH = 1 / 22
"""The same of its width, where it is hardly higher than wide: a part of a page has fewer cells in its height."""

FRAME_LENGTH = 1 / 15
"""Of the page height: the shortest level stroke taken for a piece of frame."""


BRUSH, MOSTLY = 0.055, 0.52
"""Of a cell: a stroke of the brush is as thick. And of the ink above the frame so much is of such strokes where a glyph
stands there; a stain is mostly specks. Of 192 raised columns of rendered pages, worn and not, one has less; of 18
stains six have more."""

EVERYWHERE = (slice(None), slice(None))
"""All rows and columns of pixels of a page."""


@dataclass(frozen=True, slots=True)
class ColumnArea:
    """One column on the rectified page, in its pixels; `number` counts from 1, right to left.

    `top` and `bottom` are the inner frame; `raised` is how far ink reaches above `top` (0: not raised).
    `notes` are the ranges (y from, to) that a person says are set in double rows; None where nobody did. `pitch` is
    the height of a cell where it was measured on the page. `ruled`: rules stand at its sides.
    """

    number: int
    left: float
    right: float
    top: float
    bottom: float
    raised: float
    notes: tuple[tuple[float, float], ...] | None = None
    pitch: float | None = None
    ruled: bool = False

    @property
    def width(self) -> float:
        return self.right - self.left

    def cell(self, rows: int) -> float:
        """The height of a cell: as it was found, else what a column of `rows` cells has."""
        return self.pitch if self.pitch is not None else (self.bottom - self.top) / rows


@dataclass(frozen=True, slots=True)
class Outline:
    """Where the columns of a half-folio stand, without its pixels.

    `ruled` says whether the page is ruled columns at all; `why` is what speaks against it, None where it is.
    `skew` is in degrees. `remarks` say what was done to the page before it was laid out. `cut` has the y
    at which the image cuts its columns off above and below, None where it does not.
    """

    rectification: Rectification
    columns: tuple[ColumnArea, ...]
    ruled: bool
    why: Notice | None
    skew: float
    remarks: tuple[Notice, ...] = ()
    cut: tuple[float | None, float | None] = (None, None)

    def file_box(self, left: float, top: float, right: float, bottom: float) -> Box:
        """The upright box in the image file that holds this rectangle of the rectified page."""
        x0, y0, x1, y1 = self.rectification.bounds_in_file(left, top, right, bottom)
        return Box(x0, y0, x1 - x0, y1 - y0)

    def as_list(self) -> list[Any]:
        """The outline as lists and numbers, from which `of_list` makes it again, to the last bit."""
        columns = [[getattr(column, field.name) for field in fields(column)] for column in self.columns]
        said = [remark.as_json() for remark in self.remarks]
        rectified = rectification_as_list(self.rectification)
        why = self.why and self.why.as_json()
        return [rectified, columns, self.ruled, why, self.skew, said, self.cut]

    @classmethod
    def of_list(cls, parts: Sequence[Any]) -> Outline:
        """The outline that `as_list` gave."""
        rectified, columns, ruled, why, skew, said, cut = parts
        areas = tuple(ColumnArea(*one) for one in columns)
        remarks = tuple(map(Notice.of_json, said))
        told = why and Notice.of_json(why)
        return cls(rectification_of(rectified), areas, ruled, told, skew, remarks, tuple(cut))


@dataclass(frozen=True, slots=True)
class Layout:
    """A half-folio, rectified: its `outline`, `grey` (0 black) and `ink` (255 on 0; rules and frames erased).

    `owners` has for every pixel the number of the column that its ink belongs to: notes of one column stand beside the
    glyphs of the next where there are no rules.
    """

    outline: Outline
    grey: NDArray[np.uint8]
    ink: Mask
    owners: NDArray[np.int16]

    def ink_of(self, column: int, place: tuple[slice, slice] = EVERYWHERE) -> Mask:
        """The ink of one column at a place of the rectified page."""
        own: Mask = self.ink[place] * (self.owners[place] == column)
        return own

    @property
    def rectification(self) -> Rectification:
        return self.outline.rectification

    @property
    def columns(self) -> tuple[ColumnArea, ...]:
        return self.outline.columns

    @property
    def ruled(self) -> bool:
        return self.outline.ruled

    @property
    def why(self) -> Notice | None:
        return self.outline.why

    @property
    def skew(self) -> float:
        return self.outline.skew

    def file_box(self, left: float, top: float, right: float, bottom: float) -> Box:
        """The upright box in the image file that holds this rectangle of the rectified page."""
        return self.outline.file_box(left, top, right, bottom)


def laid_out(
    page: NDArray[np.uint8],
    hint: LayoutOverrideShape,
    rows: int = 21,
    origin: tuple[float, float] = (0, 0),
    small: NDArray[np.uint8] | None = None,
) -> Layout:
    """The layout of a grey page (height x width, 0 black) that a person set: its regions one after the other.

    `rows` is the number of characters a full column holds. `origin` is where `page` lies in its image file (a quadrant
    of a plate). `small` is the page no higher than `PAGE_HEIGHT`, if there is one already.
    """
    small = shrunk(page, PAGE_HEIGHT)[0] if small is None else small
    height, width = small.shape
    whole = Rectification.of(min(1.0, PAGE_HEIGHT / page.shape[0]), hint.lean, hint.tilt, height, width, origin)
    turn = Rectification.of(1.0, hint.lean, hint.tilt, height, width, (0, 0))
    stacked = cv2.merge([small, *_strokes(small)])
    turned = cv2.warpAffine(stacked, turn.matrix, (width, height), borderValue=(255, 0, 0, 0))
    grey, ink, upright, level = (np.asarray(plane, dtype=np.uint8) for plane in cv2.split(turned))
    areas: list[ColumnArea] = []
    clean, owners = ink.copy(), np.zeros(ink.shape, np.int16)
    for region in hint.regions:
        rules, frame = _set_lines(region, whole)
        cell = (frame[1] - frame[0]) / rows
        down = slice(max(0, round(frame[0])), round(frame[1]) + 1) if len(hint.regions) > 1 else slice(None)
        columns = ruled_columns((ink, upright, level), rules, frame, cell, down, (clean, owners), len(areas))
        for number, area in enumerate(columns, 1):
            notes = region.notes_of(number)
            height = frame[1] - frame[0]
            ranges = None if notes is None else tuple((frame[0] + a * height, frame[0] + b * height) for a, b in notes)
            areas.append(replace(area, notes=ranges))
    clean[owners == 0] = 0
    outline = Outline(whole, tuple(areas), True, None, float(np.degrees(np.arctan(hint.lean))))
    return Layout(outline, grey, clean, owners)


def ruled_columns(
    masks: tuple[Mask, Mask, Mask],
    rules: Sequence[float],
    frame: tuple[float, float],
    cell: float,
    down: slice,
    into: tuple[Mask, NDArray[np.int16]],
    before: int,
) -> list[ColumnArea]:
    """The columns between `rules` (x, left to right) of one register, right to left, numbered from `before` + 1.

    `masks` are the ink of the page and its upright and level strokes, `frame` the y of the inner frame above and below,
    `cell` the height of a cell. The ink without lines and its owners are written `into` these, in the rows `down`.
    """
    clean, owners = into
    own = without_lines(*masks, rules, frame, cell)
    across = slice(max(0, round(rules[0])), max(0, round(rules[-1])))
    clean[down, across] = own[down, across]
    areas = []
    for number, (right, left) in enumerate(pairwise(reversed(rules)), before + 1):
        areas.append(
            ColumnArea(number, left, right, *frame, _raised(own, left, right, frame[0], cell), None, cell, True)
        )
        owners[down, max(0, round(left)) : max(0, round(right))] = number
    return areas


def _strokes(page: NDArray[np.uint8]) -> tuple[Mask, Mask, Mask]:
    """The ink of a page of working size, and its upright and level strokes that may be of rules and frames."""
    height, width = page.shape
    ink = without_border(ink_mask(page))
    upright = long_strokes(ink, round(max(height * RULE_LENGTH, width * WIDE_RULE_LENGTH)), vertical=True)
    return ink, upright, long_strokes(ink, round(height * FRAME_LENGTH), vertical=False)


def _set_lines(hint: LayoutOverrideShape, whole: Rectification) -> tuple[list[float], tuple[float, float]]:
    """The x of the rules and the y of the frame of one region that a person set."""
    corners = np.array(hint.corners, dtype=np.float64) @ whole.matrix[:, :2].T + whole.matrix[:, 2]
    left, right = float(corners[[0, 3], 0].mean()), float(corners[[1, 2], 0].mean())
    rules = [left + share * (right - left) for share in (0.0, *hint.rules, 1.0)]
    return rules, (float(corners[:2, 1].mean()), float(corners[2:, 1].mean()))


def _raised(ink: Mask, left: float, right: float, top: float, row: float) -> float:
    """How many pixels above the frame the column's text begins; 0 where it begins below.

    Reverence raises a column by one to three characters (抬頭). Ink counts where it is as wide as a glyph
    and stands in the middle of the column, clear of the notch's own lines; a stain is no text.
    """
    margin = 0.12 * (right - left)
    first = max(0, round(top - 3.2 * row))
    last = round(top - 0.12 * row)
    if last - first < 0.4 * row:
        return 0.0
    part = ink[first:last, max(0, round(left + margin)) : round(right - margin)]
    if not part.size:
        return 0.0
    brush = max(2, round(BRUSH * row))
    strokes = cv2.morphologyEx(part, cv2.MORPH_OPEN, np.ones((brush, brush), np.uint8))
    if np.count_nonzero(strokes) < MOSTLY * np.count_nonzero(part):
        return 0.0
    kernel = np.ones((3, 3), np.uint8)
    body = cv2.morphologyEx(part, cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
    joined = cv2.morphologyEx(body, cv2.MORPH_CLOSE, kernel, iterations=3)
    ys = np.nonzero((joined > 0).sum(axis=1) >= 0.06 * part.shape[1])[0]
    if ys.size < 0.3 * row:
        return 0.0
    return float(top - (first + ys[0]))
