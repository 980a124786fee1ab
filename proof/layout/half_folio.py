"""The layout of a ruled half-folio: frame, columns, and what lies above them.

A half-folio of the Siku is a frame with eight equal columns between rules, and the fold strip at one side.
A comb of equal columns, whose teeth are the rules, is fitted to the upright lines, so that a broken, faint or missing
rule does no harm if its neighbours are printed. All places are found on a rectified page of moderate size;
`Rectification` maps them to pixels of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.images.size import shrunk
from proof.layout.flattening import rectification_as_list, rectification_of
from proof.layout.line_removal import without_lines
from proof.layout.overrides import LayoutOverrideShape
from proof.layout.ruled import are_divided, beyond_frame, contradicts_columns, has_rules, without_headings
from proof.layout.rules import (
    MIN_OPENING_RATIO,
    MIN_RULE_HEIGHTS,
    PAGE_HEIGHT,
    Frame,
    Mask,
    PageInk,
    Rectification,
    ink_mask,
    inked_along,
    long_strokes,
    rectified,
    slope,
    without_border,
)
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode

MIN_RULE_WIDTHS = 1 / 22
"""The same in widths of the page. The longer of the two applies, since a part of a page has fewer cells in its
height."""

MIN_FRAME_HEIGHTS = 1 / 15
"""Minimum length of a level piece of frame, in heights of the page."""

MAX_RULE_ENERGY = 0.6
"""Maximum energy of a rule, so that a thick frame does not outweigh several thin rules."""

MAX_SHORTER_RULES = 0.1
"""Maximum difference, in heights of the page, between the total lengths of the rules of a comb and of the comb moved by
a column for both to fit equally well."""

MIN_MORE_TEXT = 0.02
"""Minimum share of the page's ink by which the moved comb must enclose more."""

WHOLE_PAGE = (slice(None), slice(None))
"""The slices of a whole page."""


@dataclass(frozen=True, slots=True)
class ColumnArea:
    """One column on the rectified page, in its pixels; `number` counts from 1, right to left.

    `top` and `bottom` are the inner frame; `raised` is how far ink reaches above `top` (0: not raised).
    `notes` are the ranges (y from, to) that are set in double rows, as a person marked them or as the check tries them;
    None where the column is searched for them.
    `measured_pitch` is the height of a cell as measured on an unruled page; None on a ruled one, where the number of
    rows determines it.
    """

    number: int
    left: float
    right: float
    top: float
    bottom: float
    raised: float
    notes: tuple[tuple[float, float], ...] | None = None
    measured_pitch: float | None = None

    @property
    def width(self) -> float:
        return self.right - self.left

    def cell(self, rows: int) -> float:
        """The height of a cell: as measured, else as in a full column of `rows` cells."""
        return self.measured_pitch if self.measured_pitch is not None else (self.bottom - self.top) / rows


@dataclass(frozen=True, slots=True)
class Outline:
    """The columns of a half-folio, without its pixels.

    `ruled`: the page has ruled columns; if not, `why` is the reason. `skew` is in degrees. `remarks` name the
    corrections of the image before the layout was found. `cut` is the y at which the image cuts the columns off above,
    and below, None where it does not; `missing` is the number of expected columns that are not on the image.
    """

    rectification: Rectification
    columns: tuple[ColumnArea, ...]
    ruled: bool
    why: Notice | None
    skew: float
    remarks: tuple[Notice, ...] = ()
    cut: tuple[float | None, float | None] = (None, None)
    missing: int = 0

    def file_box(self, left: float, top: float, right: float, bottom: float) -> Box:
        """The upright box in the image file that holds this rectangle of the rectified page."""
        return self.rectification.file_box(left, top, right, bottom)

    def as_list(self) -> list[Any]:
        """The outline as lists and numbers, from which `of_list` restores it bit by bit."""
        columns = [[getattr(column, field.name) for field in fields(column)] for column in self.columns]
        remarks = [remark.as_json() for remark in self.remarks]
        rectified = rectification_as_list(self.rectification)
        why = self.why and self.why.as_json()
        return [rectified, columns, self.ruled, why, self.skew, remarks, self.cut, self.missing]

    @classmethod
    def of_list(cls, parts: Sequence[Any]) -> Outline:
        """The inverse of `as_list`."""
        rectified, columns, ruled, why, skew, remarks_list, cut, missing = parts
        areas = tuple(ColumnArea(*area) for area in columns)
        remarks = tuple(map(Notice.of_json, remarks_list))
        notice = why and Notice.of_json(why)
        return cls(rectification_of(rectified), areas, ruled, notice, skew, remarks, tuple(cut), missing)


@dataclass(frozen=True, slots=True)
class Layout:
    """A half-folio, rectified: its `outline`, `grey` (0 black) and `ink` (255 on 0; rules and frames erased).

    `printed_share` is the mean share of its height along which a rule is printed. `owners` has for every pixel the
    number of the column that its ink belongs to, since strokes reach over rules, and on unruled pages notes of one
    column reach over the next. `doubtful`: text or rules contradict these columns. `beyond` are
    the numbers of columns that may lie beyond the sides of the frame."""

    outline: Outline
    grey: NDArray[np.uint8]
    ink: Mask
    printed_share: float
    owners: NDArray[np.int16]
    doubtful: bool = False
    beyond: tuple[int, ...] = ()

    def ink_of(self, column: int, place: tuple[slice, slice] = WHOLE_PAGE) -> Mask:
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


class _Comb(NamedTuple):
    """A comb of equal columns: its leftmost rule is at `x`, the next one `column_width` further right. `energy` is that
    of each rule: the share of the page's height along which it is printed."""

    x: float
    column_width: float
    energy: NDArray[np.float64]


def find_layout(
    page: NDArray[np.uint8],
    columns: int = 8,
    rows: int = 21,
    origin: tuple[float, float] = (0, 0),
    override: LayoutOverrideShape | None = None,
    small: NDArray[np.uint8] | None = None,
) -> Layout:
    """Find frame and columns on a grey half-folio (height x width, 0 black).

    `columns` 0 means that the number is found from the page. `rows` is the number of characters of a full column.
    `origin` is the place of `page` in its image file (a quadrant of a plate). `override` is a layout that a person set;
    with it nothing is searched. `small` is the page at `PAGE_HEIGHT` or lower, if the caller has it already.
    """
    small = shrunk(page, PAGE_HEIGHT)[0] if small is None else small
    height, width = small.shape
    raw_ink = _ink_of(small)
    lean = override.lean if override else slope(raw_ink.upright, vertical=True)
    tilt = override.tilt if override else slope(raw_ink.level, vertical=False)
    rectification = Rectification.of(min(1.0, PAGE_HEIGHT / page.shape[0]), lean, tilt, height, width, origin)
    grey, page_ink = rectified(small, raw_ink, lean, tilt)
    skew = float(np.degrees(np.arctan(lean)))
    if override:
        return _layout_of_override(override, rectification, grey, page_ink, rows)
    comb = _fit_comb(page_ink, [columns] if columns else range(5, 15))
    frame = _frame_of(page_ink, _rules_of(comb, page_ink.upright))
    energy = comb.energy * height / max(frame.bottom - frame.top, 1.0)
    printed_share = float(np.mean(np.minimum(energy, 1.0)))
    why = _why_unruled(page_ink, frame, printed_share)
    pitch = (frame.bottom - frame.top) / rows
    if why:
        # there are no lines to erase, and the owners of the ink are not used
        outline = Outline(rectification, _areas(page_ink.ink, frame, pitch), False, why, skew)
        return Layout(outline, grey, page_ink.ink, printed_share, np.zeros(page_ink.ink.shape, np.int16))
    frame = replace(frame, rules=without_headings(page_ink, frame))
    ink, owners = without_lines(page_ink, frame, pitch)
    outline = Outline(rectification, _areas(ink, frame, pitch), True, None, skew)
    beyond_left, beyond_right = beyond_frame(page_ink.upright, frame)
    beyond = (1,) * beyond_right + (frame.column_count,) * beyond_left
    upright = page_ink.upright
    doubtful = bool(beyond) or contradicts_columns(page_ink, frame) or are_divided(upright, frame)
    return Layout(outline, grey, ink, printed_share, owners, doubtful, beyond)


def is_wide(layout: Layout) -> bool:
    """Whether the columns together are as wide as those of an opening or of a page that is cut off."""
    first, last = layout.columns[0], layout.columns[-1]
    return first.right - last.left > MIN_OPENING_RATIO * (first.bottom - first.top)


def _ink_of(page: NDArray[np.uint8]) -> PageInk:
    """The ink of a grey page of working size."""
    height, width = page.shape
    ink = without_border(ink_mask(page))
    upright = long_strokes(ink, round(max(height * MIN_RULE_HEIGHTS, width * MIN_RULE_WIDTHS)), vertical=True)
    return PageInk(ink, upright, long_strokes(ink, round(height * MIN_FRAME_HEIGHTS), vertical=False))


def _areas(ink: Mask, frame: Frame, pitch: float) -> tuple[ColumnArea, ...]:
    """The columns of a frame from right to left. `ink` is that of the page without lines, `pitch` the height of a
    cell."""
    top, bottom = frame.top, frame.bottom
    areas = []
    for number, (left, right) in enumerate(reversed(list(pairwise(frame.rules))), 1):
        areas.append(ColumnArea(number, left, right, top, bottom, _raised_height(ink, left, right, top, pitch)))
    return tuple(areas)


def _layout_of_override(
    override: LayoutOverrideShape,
    rectification: Rectification,
    grey: NDArray[np.uint8],
    page_ink: PageInk,
    rows: int,
) -> Layout:
    """The layout that a person set, region by region, on the page rectified by it."""
    areas, ink, owners = _region(override.regions[0], rectification, page_ink, rows)
    for region in override.regions[1:]:
        region_areas, region_ink, region_owners = _region(region, rectification, page_ink, rows)
        before = len(areas)
        areas += [replace(area, number=area.number + before) for area in region_areas]
        down = slice(round(region_areas[0].top), round(region_areas[0].bottom) + 1)
        across = slice(round(region_areas[-1].left), round(region_areas[0].right) + 1)
        ink[down, across] = region_ink[down, across]
        owners[down, across] = (region_owners + before * (region_owners > 0))[down, across]
    outline = Outline(rectification, tuple(areas), True, None, float(np.degrees(np.arctan(override.lean))))
    return Layout(outline, grey, ink, 1.0, owners)


def _region(
    override: LayoutOverrideShape, rectification: Rectification, page_ink: PageInk, rows: int
) -> tuple[list[ColumnArea], Mask, NDArray[np.int16]]:
    """The columns of one region that a person set, numbered from 1; the ink without its rules, and the owners of that
    ink."""
    corners = rectification.to_page(np.array(override.corners, dtype=np.float64))
    left, right = float(corners[[0, 3], 0].mean()), float(corners[[1, 2], 0].mean())
    top, bottom = float(corners[:2, 1].mean()), float(corners[2:, 1].mean())
    height = bottom - top
    frame = Frame([left + share * (right - left) for share in (0.0, *override.rules, 1.0)], top, bottom)
    ink, owners = without_lines(page_ink, frame, height / rows)
    areas = []
    for area in _areas(ink, frame, height / rows):
        shares = override.notes_of(area.number)
        notes = None if shares is None else tuple((top + a * height, top + b * height) for a, b in shares)
        areas.append(replace(area, notes=notes))
    return areas, ink, owners


def _fit_comb(page: PageInk, counts: Sequence[int]) -> _Comb:
    """The comb of equal columns, as many as one of `counts`, that fits the upright strokes and the text best."""
    height, width = page.ink.shape
    energy = cv2.dilate((inked_along(page.upright, 0) / height)[None, :].astype(np.float32), np.ones((1, 5)))[0]
    # the last combs are a little wider than the page: its edge is repeated beyond it
    capped = np.pad(np.minimum(energy, np.float32(MAX_RULE_ENERGY)), (0, width), mode="edge")
    best_score, best = -np.inf, None
    for count in counts:
        # with the count unknown, a comb is as good as its mean tooth, and many teeth beat few
        weight = 1.0 if len(counts) == 1 else np.sqrt(count) / (count + 1)
        for column_width in np.arange(width * 0.44 / count, width * 1.02 / count, 0.25).tolist():
            starts = max(int(width - count * column_width), 0) + 1
            scores = capped[:starts].copy()
            for tooth in range(1, count + 1):
                offset = round(tooth * column_width)
                scores += capped[offset : offset + starts]
            start = int(scores.argmax())
            score = float(scores[start]) * weight
            if score > best_score:
                best_score, best = score, (count, start, column_width)
    assert best is not None, "counts is never empty"
    count, start, column_width = best
    x = np.minimum([start + round(tooth * column_width) for tooth in range(count + 1)], width - 1)
    comb = _Comb(float(start), column_width, energy[x].astype(np.float64))
    text = np.asarray(cv2.subtract(page.ink, cv2.max(page.upright, page.level)), dtype=np.uint8)
    return _around_text(comb, energy.astype(np.float64), text)


def _around_text(comb: _Comb, energy: NDArray[np.float64], text: Mask) -> _Comb:
    """The comb, or the comb moved by one column if its rules are as good there and it encloses clearly more of the
    page's `text`: if the rule at the fold is broken, only text distinguishes a column from blank paper. `energy` is
    that of upright strokes at every x."""
    text_before = np.append(0, np.cumsum(inked_along(text, 0)))
    teeth = comb.column_width * np.arange(len(comb.energy))
    min_energy = np.minimum(comb.energy, MAX_RULE_ENERGY).sum() - MAX_SHORTER_RULES
    first, last = (min(round(comb.x + tooth), energy.size) for tooth in (teeth[0], teeth[-1]))
    best, most_text = comb, text_before[last] - text_before[first]
    for x in (comb.x - comb.column_width, comb.x + comb.column_width):
        rules = np.rint(x + teeth).astype(np.intp)
        is_on_page = rules[0] >= 0 and rules[-1] < energy.size
        if not is_on_page or np.minimum(energy[rules], MAX_RULE_ENERGY).sum() < min_energy:
            continue
        enclosed = text_before[rules[-1]] - text_before[rules[0]]
        if enclosed > most_text + MIN_MORE_TEXT * text_before[-1]:
            best, most_text = _Comb(x, comb.column_width, energy[rules]), enclosed
    return best


def _rules_of(comb: _Comb, upright: Mask) -> list[float]:
    """The rules of a comb, each moved to the line found near it; a rule without a line stays where the comb has it."""
    lengths = inked_along(upright, 0).astype(np.float64)
    reach = max(2, round(comb.column_width * 0.06))
    rules = []
    for number in range(len(comb.energy)):
        x = comb.x + number * comb.column_width
        low, high = max(0, round(x) - reach), min(lengths.size, round(x) + reach + 1)
        near = lengths[low:high]
        if near.size and near.max() > 0.1 * upright.shape[0]:
            x = low + (np.arange(near.size) * near).sum() / near.sum()
        rules.append(float(x))
    return rules


def _frame_of(page: PageInk, rules: Sequence[float]) -> Frame:
    """The frame of columns between `rules`: above and below a level line, of a double frame the inner one. The ends of
    the rules replace a line that is broken or missing."""
    height = page.ink.shape[0]
    starts, ends = [], []
    for x in rules:
        rows = np.flatnonzero(page.upright[:, max(0, round(x) - 4) : round(x) + 5].any(axis=1))
        if rows.size > 0.15 * height:
            starts.append(float(rows[0]))
            ends.append(float(rows[-1]))
    left, right = round(max(rules[0], 0)), round(rules[-1])
    share = inked_along(page.level[:, left:right], 1) / max(right - left, 1)
    top = _longest_line(share, 0, round(0.4 * height))
    bottom = _longest_line(share, round(0.6 * height), height)
    if top is None:
        top = float(np.quantile(starts, 0.25)) if starts else 0.08 * height
    if bottom is None:
        bottom = float(np.quantile(ends, 0.75)) if ends else 0.92 * height
    reach = 0.02 * height
    return Frame(rules, max(_lines_near(share, top, reach)), min(_lines_near(share, bottom, reach)))


def _longest_line(share: NDArray[np.float64], low: int, high: int) -> float | None:
    """The y of the longest level line between `low` and `high`; None where none runs along a third of the columns.
    `share` is the printed share of each row of pixels."""
    part = share[low:high]
    if not part.size or part.max() < 0.3:
        return None
    return float(low + int(part.argmax()))


def _lines_near(share: NDArray[np.float64], y: float, reach: float) -> list[float]:
    """The y of all level lines at most `reach` from `y`; `y` itself where there is none."""
    low, high = max(0, round(y - reach)), min(share.size, round(y + reach) + 1)
    lines = np.flatnonzero(share[low:high] > 0.15) + low
    return [float(line) for line in lines] or [y]


def _raised_height(ink: Mask, left: float, right: float, top: float, pitch: float) -> float:
    """The distance above the frame at which the column's text begins, in pixels; 0 if it begins below.

    Reverence raises a column by one to three characters (抬頭). Ink counts if it is as wide as a glyph and stands in
    the middle of the column, away from the frame around the raised characters."""
    margin = 0.12 * (right - left)
    first, last = max(0, round(top - 3.2 * pitch)), round(top - 0.12 * pitch)
    if last - first < 0.4 * pitch:
        return 0.0
    part = ink[first:last, max(0, round(left + margin)) : round(right - margin)]
    if not part.size:
        return 0.0
    without_specks = cv2.morphologyEx(part, cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
    joined = cv2.morphologyEx(without_specks, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8), iterations=3)
    rows = np.flatnonzero((joined > 0).sum(axis=1) >= 0.06 * part.shape[1])
    if rows.size < 0.3 * pitch:
        return 0.0
    return float(top - (first + rows[0]))


def _why_unruled(page: PageInk, frame: Frame, printed_share: float) -> Notice | None:
    """Why a page has no ruled columns; None if it has. `printed_share` as in `Layout`."""
    left, right = round(max(frame.rules[0], 0)), round(frame.rules[-1])
    height = frame.bottom - frame.top
    if printed_share < 0.12:
        return Notice.of(NoticeCode.NOT_RULED)
    inner = page.level[round(frame.top + 0.06 * height) : round(frame.bottom - 0.06 * height), left:right]
    share = inked_along(inner, 1) / max(inner.shape[1], 1)
    rows = np.flatnonzero(share > 0.35)
    if rows.size:
        lines = 1 + int((np.diff(rows) > 0.01 * height).sum())
        return Notice.of(NoticeCode.LEVEL_LINES, number=lines)
    return None if has_rules(page.upright, frame) else Notice.of(NoticeCode.NOT_RULED)
