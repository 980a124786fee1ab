"""The columns of a page of any kind: how many there are, with rules or without, in how many registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from proof.geometry import Box
from proof.images.lines import Mask, inked_along
from proof.layout.gaps import Profile, Span, glyph_width, part, pitch_of
from proof.layout.regions import Region, regions_of, runs, solid_ink, text_ink, thickened
from proof.layout.sheet import Sheet, prepare
from proof.layout.straight import straightened

RULE_SHARE = 0.12
"""Of a register's height: a rule that runs less far is none."""

RULE_PURE = 0.55
"""Of the ink along a line: how much of it is upright strokes where there is a rule and no text."""

SIDE = 0.6
"""Of a register's height: a rule as long as this can be the side of its frame."""

BROAD = 0.45
"""Of a glyph's width: the longer side of a piece of ink that begins or ends a column."""

NARROW = 0.8
"""Of a column's width: what stands at the edge of a leaf or beyond its frame and is narrower is no column."""

SMALL = 0.72
"""Of the glyphs of the other columns: what is so small at the edge of a leaf is a title or a page number."""

RAISED = 0.7
"""Pitches: ink that goes on above a register with no wider gap is a raised column."""


@dataclass(frozen=True, slots=True)
class FoundColumn:
    """A column of text on the straightened sheet, in its pixels: its width reaches to its neighbours or its rules, its
    height is that of its ink. `register` counts from 1 in reading order, over all leaves."""

    register: int
    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left


@dataclass(frozen=True, slots=True)
class PageLayout:
    """What stands where on a page. `sheet` is the page straightened, `text` its ink without rules and frames; `regions`
    are its registers, `columns` those in them in reading order, `rules` the x of the rules of each register."""

    sheet: Sheet
    text: Mask
    regions: tuple[Region, ...]
    columns: tuple[FoundColumn, ...]
    rules: tuple[tuple[float, ...], ...]

    def file_box(self, left: float, top: float, right: float, bottom: float) -> Box:
        """The upright box in the image file that holds this rectangle of the sheet."""
        corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]], dtype=np.float64)
        xy = self.sheet.rectification.to_file(corners)
        (x0, y0), (x1, y1) = xy.min(axis=0), xy.max(axis=0)
        return Box(float(x0), float(y0), float(x1 - x0), float(y1 - y0))


@dataclass(frozen=True, slots=True)
class _Register:
    """One register as it is measured: its ink of text, where its rules are and how far they run, and the spans."""

    region: Region
    text: Mask
    rules: Profile
    glyph: float
    pitch: float
    spans: Sequence[Span]


def lay_out(page: NDArray[np.uint8], origin: tuple[float, float] = (0, 0)) -> PageLayout:
    """Find the columns of a page (grey, height x width, 0 black); `origin` is where it lies in its image file."""
    sheet = prepare(page, origin)
    text = text_ink(sheet)
    regions = regions_of(sheet, text)
    sheet, text = straightened(sheet, text, regions)
    columns: list[FoundColumn] = []
    rules = []
    for number, region in enumerate(regions, 1):
        register = _measured(sheet, text, region)
        rules.append(tuple(float(region.left + (a + b - 1) / 2) for a, b in runs(register.rules > 0)))
        columns += _columns(sheet, text, register, number)
    return PageLayout(sheet, text, tuple(regions), tuple(columns), tuple(rules))


def _measured(sheet: Sheet, text: Mask, region: Region) -> _Register:
    rows, across = slice(region.top, region.bottom), slice(region.left, region.right)
    own = text[rows, across]
    inked = _extent(own)
    height = max(inked[1] - inked[0], 1)
    band = slice(region.top + inked[0], region.top + inked[1])
    ink = inked_along(thickened(sheet.ink[band, across], 3, 1), 0) / height
    upright = inked_along(thickened(sheet.upright[band, across], 5, 1), 0) / height
    rules = np.where((upright > RULE_SHARE) & (upright > RULE_PURE * ink), upright, 0.0)
    profile = inked_along(own[inked[0] : inked[1]], 0) / height
    glyph = glyph_width(own)
    pitch = pitch_of(profile, glyph) or 0.0
    spans = part(profile, rules, pitch) if pitch else []
    return _Register(region, own, rules, glyph, pitch, spans)


def _extent(ink: Mask) -> tuple[int, int]:
    """From which row to which (exclusive) there is ink, but for single dirt."""
    rows = np.flatnonzero(inked_along(ink, 1) > 0.002 * ink.shape[1])
    return (int(rows[0]), int(rows[-1]) + 1) if rows.size else (0, ink.shape[0])


def _columns(sheet: Sheet, text: Mask, register: _Register, number: int) -> list[FoundColumn]:
    """The columns of a register, right to left, without what is no text."""
    region = register.region
    solid = solid_ink(sheet.ink)
    found = []
    pieces = [_pieces(register, span) for span in register.spans]
    sizes = [_size(own) for own in pieces]
    usual = float(np.median([size for size in sizes if size])) if any(sizes) else 0.0
    for span, own, size in zip(register.spans, pieces, sizes, strict=True):
        if not own.size or _beside(sheet, solid, register, span, own, size, usual):
            continue
        top, bottom = region.top + float(own[:, 1].min()), region.top + float((own[:, 1] + own[:, 3]).max())
        left, right = region.left + span.left, region.left + span.right
        if top - region.top < RAISED * register.pitch:
            top = _raised(text, left, top, right, register.pitch)
        found.append(FoundColumn(number, left, top, right, bottom))
    return found[::-1]


def _pieces(register: _Register, span: Span) -> NDArray[np.intp]:
    """The pieces of ink in a span that are large enough to begin or end a column: x, y, w, h, area (n x 5), in pixels
    of the region."""
    x0, x1 = int(span.left), int(span.right)
    margin = round(0.05 * span.width)
    ink = register.text[:, x0 + margin : x1 - margin]
    if not ink.size:
        return np.empty((0, 5), dtype=np.intp)
    joined = cv2.morphologyEx(ink, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    found = np.array(stats[1:], dtype=np.intp)
    width, height, area = found[:, 2], found[:, 3], found[:, 4]
    large = np.maximum(width, height) > BROAD * register.glyph
    rule_like = (width < 0.18 * register.glyph) & (height > 2 * width)
    faint = area < 0.15 * width * height
    found[:, 0] += x0 + margin
    return found[large & ~rule_like & ~(faint & (height > register.glyph))]


def _size(pieces: NDArray[np.intp]) -> float:
    """How wide the glyphs of a span are: of its pieces, weighed by their ink."""
    if not pieces.size:
        return 0.0
    order = np.argsort(pieces[:, 2])
    total = np.cumsum(pieces[order, 4])
    return float(pieces[order, 2][np.searchsorted(total, 0.6 * total[-1])])


def _beside(
    sheet: Sheet,
    solid: Mask,
    register: _Register,
    span: Span,
    pieces: NDArray[np.intp],
    size: float,
    usual: float,
) -> bool:
    """Whether what stands in a span stands beside the text: a title or number beyond the frame, half of a fold strip,
    the edge of the book."""
    region = register.region
    spans = register.spans
    middle = float(np.median([one.width for one in spans]))
    left, right = _frame_sides(sheet, register)
    outside = span.middle < left or span.middle > right
    if outside:
        return True
    edge = span in (spans[0], spans[-1])
    narrow = span.width < NARROW * middle
    small = size < SMALL * usual
    filled = float(pieces[:, 3].sum()) / max(register.text.shape[0], 1)
    block = solid[region.top : region.bottom, region.left + int(span.left) : region.left + int(span.right)]
    fish = bool((block > 0).any())
    return (edge and (narrow or (small and filled < 0.5) or fish)) or (narrow and fish)


def _frame_sides(sheet: Sheet, register: _Register) -> tuple[float, float]:
    """The x of the sides of the frame, in pixels of the region: the outermost of the rules that run far, beyond which
    no more than a column stands; the region's own where there are none."""
    spans, region = register.spans, register.region
    width = float(region.right - region.left)
    strong = [((a + b) / 2, b - a) for a, b in runs(register.rules > SIDE)]
    left = max((x for x, _ in strong if sum(one.middle < x for one in spans) <= 1), default=0.0)
    right = min((x for x, _ in strong if sum(one.middle > x for one in spans) <= 1), default=width)
    # a leaf that is ruled throughout has a rule on the inner side of its last column as well
    ruled = sum(1 for _ in strong) > 4
    return (0.0, width) if ruled else (left, right)


def _raised(text: Mask, left: float, top: float, right: float, pitch: float) -> float:
    """Where a column begins whose ink goes on above its register."""
    margin = 0.12 * (right - left)
    first = max(0, round(top - 4 * pitch))
    band = text[first : round(top), round(left + margin) : round(right - margin)]
    if not band.size:
        return top
    inked = inked_along(band, 1) > 0.04 * band.shape[1]
    start = round(top)
    for low, high in reversed(runs(inked)):
        if start - (first + high) > RAISED * pitch:
            break
        if high - low > 3:
            start = first + low
    return float(start) if top - start > 0.6 * pitch else top
