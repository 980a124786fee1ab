"""The layout of a ruled half-folio: frame, columns, and what lies above them.

A half-folio of the Siku is a frame with eight equal columns between rules, and the fold strip at one side.
Equal columns are fitted to the upright lines, so that a broken, faint or missing rule does no harm if its neighbours
are printed. All places are found on a rectified page of moderate size; `Rectification` maps them to pixels of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.images.size import shrunk
from proof.layout.flattening import rectification_as_list, rectification_of
from proof.layout.line_removal import without_lines
from proof.layout.overrides import LayoutOverrideShape
from proof.layout.ruled import has_rules, parted, text_against, unbounded, without_headings
from proof.layout.rules import Mask, Rectification, ink_mask, inked_along, long_strokes, slope, without_border
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode

PAGE_HEIGHT = 1400
"""Maximum height of a page for its layout, in pixels; columns are then 90 to 110 pixels wide."""

MIN_RULE_HEIGHTS = 1 / 25
"""Minimum length of a piece of rule, in heights of the page. A cell has about 1/26."""

MIN_RULE_WIDTHS = 1 / 22
"""The same in widths of the page; the longer of the two holds, since a part of a page has fewer cells in its height."""

MIN_FRAME_HEIGHTS = 1 / 15
"""Minimum length of a level piece of frame, in heights of the page."""

BRUSH_CELLS = 0.055
"""The thickness of a stroke of the brush, in cells."""

MIN_BRUSH_SHARE = 0.52
"""Minimum share of the ink above the frame that is as thick as such strokes for a glyph to stand there; stains are
mostly specks. Of 192 raised columns of rendered pages, worn and not, one has less; of 18 stains six have more."""

MAX_SHORTER_RULES = 0.1
"""Maximum length, in heights of the page, by which the rules of another place may be shorter in all and still be as
good for the columns."""

MIN_MORE_TEXT = 0.02
"""Minimum share of the page's ink by which the better place must hold more."""

MIN_OPENING_RATIO = 0.95
"""Minimum width of all columns, in their heights, for an opening; a half-folio has 0.6 to 0.8, a plate 0.7."""

WHOLE_PAGE = (slice(None), slice(None))
"""The slices of a whole page."""


@dataclass(frozen=True, slots=True)
class ColumnArea:
    """One column on the rectified page, in its pixels; `number` counts from 1, right to left.

    `top` and `bottom` are the inner frame; `raised` is how far ink reaches above `top` (0: not raised).
    `notes` are the ranges (y from, to) that a person says are set in double rows; None where nobody did. `pitch` is
    the height of a cell where it was measured on the page.
    """

    number: int
    left: float
    right: float
    top: float
    bottom: float
    raised: float
    notes: tuple[tuple[float, float], ...] | None = None
    pitch: float | None = None

    @property
    def width(self) -> float:
        return self.right - self.left

    def cell(self, rows: int) -> float:
        """The height of a cell: as it was found, else what a column of `rows` cells has."""
        return self.pitch if self.pitch is not None else (self.bottom - self.top) / rows


@dataclass(frozen=True, slots=True)
class Outline:
    """The columns of a half-folio, without its pixels.

    `ruled`: the page has ruled columns; `why` is the reason if it has not. `skew` is in degrees. `remarks` name the
    corrections of the image before the layout was found. `cut` has the y at which the image cuts the columns off above
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
        x0, y0, x1, y1 = self.rectification.bounds_in_file(left, top, right, bottom)
        return Box(x0, y0, x1 - x0, y1 - y0)

    def as_list(self) -> list[Any]:
        """The outline as lists and numbers, from which `of_list` makes it again, to the last bit."""
        columns = [[getattr(column, field.name) for field in fields(column)] for column in self.columns]
        remarks = [remark.as_json() for remark in self.remarks]
        rectified = rectification_as_list(self.rectification)
        why = self.why and self.why.as_json()
        return [rectified, columns, self.ruled, why, self.skew, remarks, self.cut, self.missing]

    @classmethod
    def of_list(cls, parts: Sequence[Any]) -> Outline:
        """The outline that `as_list` gave."""
        rectified, columns, ruled, why, skew, remarks_list, cut, missing = parts
        areas = tuple(ColumnArea(*area) for area in columns)
        remarks = tuple(map(Notice.of_json, remarks_list))
        notice = why and Notice.of_json(why)
        return cls(rectification_of(rectified), areas, ruled, notice, skew, remarks, tuple(cut), missing)


@dataclass(frozen=True, slots=True)
class Layout:
    """A half-folio, rectified: its `outline`, `grey` (0 black) and `ink` (255 on 0; rules and frames erased).

    `support` is the mean share of its height along which a rule is printed. `owners` has for every pixel the number of
    the column that its ink belongs to, since strokes reach over rules, and on unruled pages notes of one column reach
    over the next; -n: column n or n + 1. `doubtful`: text or rules contradict these columns. `beyond` are the numbers
    of columns that may lie beyond the sides of the frame."""

    outline: Outline
    grey: NDArray[np.uint8]
    ink: Mask
    support: float
    owners: NDArray[np.int16]
    doubtful: bool = False
    beyond: tuple[int, ...] = ()

    def ink_of(self, column: int, place: tuple[slice, slice] = WHOLE_PAGE) -> Mask:
        """The ink of one column at a place of the rectified page, with ink that may belong to it or its neighbour."""
        owners = self.owners[place]
        own: Mask = self.ink[place] * ((owners == column) | (owners == -column) | (owners == min(1 - column, -1)))
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


@dataclass(frozen=True, slots=True)
class _Comb:
    """Equal columns: the leftmost rule at `x`, `width` apart; `energy` at each of the rules."""

    x: float
    width: float
    energy: NDArray[np.float64]
    score: float


def find_layout(
    page: NDArray[np.uint8],
    columns: int = 8,
    rows: int = 21,
    origin: tuple[float, float] = (0, 0),
    hint: LayoutOverrideShape | None = None,
    small: NDArray[np.uint8] | None = None,
) -> Layout:
    """Find frame and columns on a grey half-folio (height x width, 0 black).

    `columns` 0 means that the number is found from the page. `rows` is the number of characters of a full column.
    `origin` is the place of `page` in its image file (a quadrant of a plate). `hint` is a layout that a person set;
    with it nothing is searched. `small` is the page at `PAGE_HEIGHT` or lower, if the caller has it already.
    """
    small = shrunk(page, PAGE_HEIGHT)[0] if small is None else small
    height, width = small.shape
    raw, upright, level = _strokes(small)
    lean = hint.lean if hint else slope(upright, vertical=True)
    tilt = hint.tilt if hint else slope(level, vertical=False)
    whole = Rectification.of(min(1.0, PAGE_HEIGHT / page.shape[0]), lean, tilt, height, width, origin)
    turn = Rectification.of(1.0, lean, tilt, height, width, (0, 0))
    # four images through one warp take a third of the time of four
    stacked = cv2.merge([small, raw, upright, level])
    turned = cv2.warpAffine(stacked, turn.matrix, (width, height), borderValue=(255, 0, 0, 0))
    grey, ink, upright, level = (np.asarray(plane, dtype=np.uint8) for plane in cv2.split(turned))
    if hint:
        return _set_layout(hint, whole, grey, ink, upright, level, rows)
    comb = _comb_on(ink, upright, level, [columns] if columns else range(5, 15))
    rules = _refine(comb, upright)
    top, bottom = _frame(upright, level, rules)
    support = float(np.mean(np.minimum(comb.energy * height / max(bottom - top, 1.0), 1.0)))
    why = _against(upright, level, rules, (top, bottom), support)
    if why:
        # not ruled: there are no lines to erase, and the owners of the ink are not used
        clean, owners = ink, np.zeros(ink.shape, np.int16)
    else:
        rules = without_headings(ink, upright, level, rules, (top, bottom))
        clean, owners = without_lines(ink, upright, level, rules, (top, bottom), (bottom - top) / rows)
    count = len(rules) - 1
    areas = tuple(
        ColumnArea(
            count - i,
            *(rules[i], rules[i + 1], top, bottom),
            raised=_raised(clean, rules[i], rules[i + 1], top, (bottom - top) / rows),
        )
        for i in reversed(range(count))
    )
    outline = Outline(whole, areas, not why, why, float(np.degrees(np.arctan(lean))))
    layout = Layout(outline, grey, clean, support, owners)
    return layout if why else _with_doubts(layout, ink, upright, level, rules)


def _strokes(page: NDArray[np.uint8]) -> tuple[Mask, Mask, Mask]:
    """The ink of a page of working size, and its upright and level strokes that may be of rules and frames."""
    height, width = page.shape
    ink = without_border(ink_mask(page))
    upright = long_strokes(ink, round(max(height * MIN_RULE_HEIGHTS, width * MIN_RULE_WIDTHS)), vertical=True)
    return ink, upright, long_strokes(ink, round(height * MIN_FRAME_HEIGHTS), vertical=False)


def _comb_on(ink: Mask, upright: Mask, level: Mask, counts: Sequence[int]) -> _Comb:
    """The equal columns that fit the upright strokes and the text best."""
    energy = inked_along(upright, 0) / ink.shape[0]
    text = np.asarray(cv2.subtract(ink, cv2.max(upright, level)), dtype=np.uint8)
    return _around_text(_fit_comb(energy, counts), energy, text)


def _with_doubts(layout: Layout, ink: Mask, upright: Mask, level: Mask, rules: Sequence[float]) -> Layout:
    """The layout, marked as doubtful if the text, a side without a rule, or other rules contradict its columns."""
    rows = layout.columns[0].top, layout.columns[0].bottom
    left, right = unbounded(upright, rules, rows)
    beyond = (1,) * right + (len(layout.columns),) * left
    doubtful = bool(beyond) or text_against(ink, upright, level, rules, rows, layout.support)
    doubtful = doubtful or parted(upright, rules, rows)
    return replace(layout, doubtful=doubtful, beyond=beyond)


def is_wide(layout: Layout) -> bool:
    """Whether the columns together are about as wide as high or wider: of an opening, or of a page cut off."""
    first, last = layout.columns[0], layout.columns[-1]
    return first.right - last.left > MIN_OPENING_RATIO * (first.bottom - first.top)


def _set_layout(
    hint: LayoutOverrideShape,
    whole: Rectification,
    grey: NDArray[np.uint8],
    ink: Mask,
    upright: Mask,
    level: Mask,
    rows: int,
) -> Layout:
    """The layout that a person set, region by region, on the page rectified by it."""
    regions = [_region(region, whole, ink, upright, level, rows) for region in hint.regions]
    areas, clean, owners = regions[0]
    for others, own, of_column in regions[1:]:
        first = len(areas)
        areas += [replace(area, number=area.number + first) for area in others]
        down = slice(round(others[0].top), round(others[0].bottom) + 1)
        across = slice(round(others[-1].left), round(others[0].right) + 1)
        clean[down, across] = own[down, across]
        owners[down, across] = (of_column + first * np.sign(of_column))[down, across]
    outline = Outline(whole, tuple(areas), True, None, float(np.degrees(np.arctan(hint.lean))))
    return Layout(outline, grey, clean, 1.0, owners)


def _region(
    hint: LayoutOverrideShape, whole: Rectification, ink: Mask, upright: Mask, level: Mask, rows: int
) -> tuple[list[ColumnArea], Mask, NDArray[np.int16]]:
    """The columns of one region that a person set, numbered from 1; the ink without its rules, and whose that is."""
    corners = np.array(hint.corners, dtype=np.float64) @ whole.matrix[:, :2].T + whole.matrix[:, 2]
    left, right = float(corners[[0, 3], 0].mean()), float(corners[[1, 2], 0].mean())
    top, bottom = float(corners[:2, 1].mean()), float(corners[2:, 1].mean())
    rules = [left + share * (right - left) for share in (0.0, *hint.rules, 1.0)]
    row = (bottom - top) / rows
    clean, owners = without_lines(ink, upright, level, rules, (top, bottom), row)
    areas = []
    for number, i in enumerate(reversed(range(len(rules) - 1)), 1):
        notes = hint.notes_of(number)
        ranges = (
            None if notes is None else tuple((top + a * (bottom - top), top + b * (bottom - top)) for a, b in notes)
        )
        raised = _raised(clean, rules[i], rules[i + 1], top, row)
        areas.append(ColumnArea(number, rules[i], rules[i + 1], top, bottom, raised, ranges))
    return areas, clean, owners


def _fit_comb(energy: NDArray[np.float64], counts: Sequence[int]) -> _Comb:
    """The equal columns that best explain the upright lines.

    `energy` is, for every x, the share of the page height along which an upright line runs. One rule adds
    0.6 at most, so that a thick frame does not outweigh several thin rules.
    """
    width = energy.size
    spread = cv2.dilate(energy[None, :].astype(np.float32), np.ones((1, 5)))[0]
    # the last combs are a little wider than the page: its edge is repeated beyond it
    capped = np.pad(np.minimum(spread, np.float32(0.6)), (0, width), mode="edge")
    best: tuple[float, int, int, float] | None = None
    for count in counts:
        # with the count unknown, a comb is as good as its mean tooth, and many teeth beat few
        weight = 1.0 if len(counts) == 1 else np.sqrt(count) / (count + 1)
        for column in np.arange(width * 0.44 / count, width * 1.02 / count, 0.25).tolist():
            combs = max(int(width - count * column), 0) + 1
            scores = capped[:combs].copy()
            for tooth in range(1, count + 1):
                place = round(tooth * column)
                scores += capped[place : place + combs]
            start = int(scores.argmax())
            score = float(scores[start]) * weight
            if best is None or score > best[0]:
                best = (score, count, start, column)
    assert best is not None, "counts is never empty"
    score, count, start, column = best
    places = np.minimum([start + round(tooth * column) for tooth in range(count + 1)], width - 1)
    return _Comb(float(start), column, spread[places].astype(np.float64), score)


def _around_text(comb: _Comb, energy: NDArray[np.float64], text: Mask) -> _Comb:
    """The comb, or the comb moved by one column if its rules are as good there and it encloses clearly more of the
    page's `text`: if the rule at the fold is broken, only text distinguishes a column from blank paper."""
    spread = cv2.dilate(energy[None, :].astype(np.float32), np.ones((1, 5)))[0].astype(np.float64)
    before = np.append(0, np.cumsum(inked_along(text, 0)))
    teeth = comb.width * np.arange(len(comb.energy))
    min_energy = np.minimum(comb.energy, 0.6).sum() - MAX_SHORTER_RULES
    best = comb
    first, last = (min(round(comb.x + tooth), energy.size) for tooth in (teeth[0], teeth[-1]))
    within = before[last] - before[first]
    for x in (comb.x - comb.width, comb.x + comb.width):
        places = np.rint(x + teeth).astype(np.intp)
        if places[0] < 0 or places[-1] >= energy.size or np.minimum(spread[places], 0.6).sum() < min_energy:
            continue
        inside = before[places[-1]] - before[places[0]]
        if inside > within + MIN_MORE_TEXT * before[-1]:
            best, within = _Comb(x, comb.width, spread[places], comb.score), inside
    return best


def _refine(comb: _Comb, upright: Mask) -> list[float]:
    """Move each rule to the line found near it; a rule without a line stays where the comb puts it."""
    profile = inked_along(upright, 0).astype(np.float64)
    reach = max(2, round(comb.width * 0.06))
    rules = []
    for i in range(len(comb.energy)):
        x = comb.x + i * comb.width
        low, high = max(0, round(x) - reach), min(profile.size, round(x) + reach + 1)
        window = profile[low:high]
        if window.size and window.max() > 0.1 * upright.shape[0]:
            rules.append(float(low + (np.arange(window.size) * window).sum() / window.sum()))
        else:
            rules.append(float(x))
    return rules


def _frame(upright: Mask, level: Mask, rules: Sequence[float]) -> tuple[float, float]:
    """The y of the inner frame above and below the columns: a level line, of a double frame the inner one. The ends of
    the rules replace a line that is broken or missing."""
    height = upright.shape[0]
    starts, ends = [], []
    for x in rules:
        band = upright[:, max(0, round(x) - 4) : round(x) + 5]
        ys = np.nonzero(band.any(axis=1))[0] if band.size else np.empty(0)
        if ys.size > 0.15 * height:
            starts.append(float(ys[0]))
            ends.append(float(ys[-1]))
    left, right = round(max(rules[0], 0)), round(rules[-1])
    share = inked_along(level[:, left:right], 1) / max(right - left, 1)
    top_guess = _strong_line(share, 0, round(0.4 * height))
    bottom_guess = _strong_line(share, round(0.6 * height), height)
    if top_guess is None:
        top_guess = float(np.quantile(starts, 0.25)) if starts else 0.08 * height
    if bottom_guess is None:
        bottom_guess = float(np.quantile(ends, 0.75)) if ends else 0.92 * height
    return (
        _inner_line(share, top_guess, upper=True, reach=0.02 * height),
        _inner_line(share, bottom_guess, upper=False, reach=0.02 * height),
    )


def _strong_line(share: NDArray[np.float64], low: int, high: int) -> float | None:
    """The level line that runs furthest among those between `low` and `high`; None where none runs a third."""
    part = share[low:high]
    if not part.size or part.max() < 0.3:
        return None
    return float(low + int(part.argmax()))


def _inner_line(share: NDArray[np.float64], guess: float, upper: bool, reach: float) -> float:
    """Of the level lines near `guess` the one nearest to the text; `guess` itself where there is none."""
    low, high = max(0, round(guess - reach)), min(share.size, round(guess + reach) + 1)
    near = np.nonzero(share[low:high] > 0.15)[0] + low
    if not near.size:
        return guess
    return float(near.max() if upper else near.min())


def _raised(ink: Mask, left: float, right: float, top: float, row: float) -> float:
    """The distance above the frame at which the column's text begins, in pixels; 0 if it begins below.

    Reverence raises a column by one to three characters (抬頭). Ink counts if it is as wide as a glyph and stands in
    the middle of the column, away from the frame around the raised characters; stains do not count."""
    margin = 0.12 * (right - left)
    first = max(0, round(top - 3.2 * row))
    last = round(top - 0.12 * row)
    if last - first < 0.4 * row:
        return 0.0
    part = ink[first:last, max(0, round(left + margin)) : round(right - margin)]
    if not part.size:
        return 0.0
    brush = max(2, round(BRUSH_CELLS * row))
    strokes = cv2.morphologyEx(part, cv2.MORPH_OPEN, np.ones((brush, brush), np.uint8))
    if np.count_nonzero(strokes) < MIN_BRUSH_SHARE * np.count_nonzero(part):
        return 0.0
    kernel = np.ones((3, 3), np.uint8)
    body = cv2.morphologyEx(part, cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
    joined = cv2.morphologyEx(body, cv2.MORPH_CLOSE, kernel, iterations=3)
    ys = np.nonzero((joined > 0).sum(axis=1) >= 0.06 * part.shape[1])[0]
    if ys.size < 0.3 * row:
        return 0.0
    return float(top - (first + ys[0]))


def _against(
    upright: Mask, level: Mask, rules: Sequence[float], rows: tuple[float, float], support: float
) -> Notice | None:
    """Why a page has no ruled columns between the top and bottom in `rows`; None if it has."""
    top, bottom = rows
    left, right = round(max(rules[0], 0)), round(rules[-1])
    height = bottom - top
    if support < 0.12 or height < 0.3 * level.shape[0]:
        return Notice.of(NoticeCode.NOT_RULED)
    inner = level[round(top + 0.06 * height) : round(bottom - 0.06 * height), left:right]
    share = inked_along(inner, 1) / max(inner.shape[1], 1)
    strong = np.nonzero(share > 0.35)[0]
    lines = 0 if not strong.size else 1 + int((np.diff(strong) > 0.01 * height).sum())
    if lines >= 1:
        return Notice.of(NoticeCode.LEVEL_LINES, number=lines)
    return None if has_rules(upright, rules, rows) else Notice.of(NoticeCode.NOT_RULED)
