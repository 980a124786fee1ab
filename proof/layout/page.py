"""The columns of a page of any kind: how many there are, with rules or without, in how many registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.gaps import (
    EMPTY,
    Profile,
    Span,
    are_pairs,
    equal_rules,
    glyph_width,
    joined,
    part,
    pitch_of,
    pitch_together,
    ruled_pitch,
)
from proof.layout.measured_span import FILLED, SMALL, MeasuredSpan, size_of
from proof.layout.regions import OPENING, Region, regions_of, runs, solid_ink, text_ink
from proof.layout.rules import Mask, connected, inked_along, long_strokes, thickened
from proof.layout.seals import is_seal
from proof.layout.sheet import Sheet, prepare
from proof.layout.straight import straightened
from proof.model.geometry import Box

RULE_SHARE = 0.12
"""Of a register's height: a rule that runs less far is none."""

RULE_PURE = 0.55
"""Of the ink along a line: how much of it is upright strokes where there is a rule and no text."""

SIDE = 0.6
"""Of a register's height: a rule as long as this can be the side of its frame."""

BROAD = 0.45
"""Of a glyph's width: the longer side of a piece of ink that begins or ends a column."""

MIN_FOLLOWING_GLYPHS = 0.15
"""Of a glyph's width: the longer side of a piece of ink that goes on a column below its large ones, at least."""

MAX_FOLLOWING_GLYPHS = 1.5
"""The same at most."""

FOLLOWING_REACH_GLYPHS = 0.6
"""Of a glyph's width: how far below the one before it such a piece stands at most."""

THIN = 0.18
"""Of a glyph's width: what is upright and thinner is of a rule."""

ORNAMENT_APART_WIDTHS = 0.5
"""Widths of a column: what stands alone at the edge, so far from the next column, is an ornament."""

MAX_ORNAMENT_GLYPHS = 0.7
"""Widths of a glyph: what stands alone at the edge and is no higher is an ornament."""

NARROW = 0.8
"""Of a column's width: what stands at the edge of a leaf or beyond its frame and is narrower is no column."""

MARGINAL = 0.6
"""The same for what stands between columns, if it is sparse too."""

MAX_OFF_CENTRE = 0.12
"""Widths of an opening: a fold strip stands no further from its middle."""

MAX_STRIP_PITCHES = 2.6
"""Pitches: a fold strip stands between sides of frames no further apart."""

ROOMY = 2.15
"""Pitches between the glyphs of two columns, less a glyph: so far apart there is a fold strip between them."""

ON_FRAME_GLYPHS = 0.1
"""Of a glyph's width: what comes so near to the side of the frame is its ornament."""

SEAL_REACH_GLYPHS = 0.4
"""Of a glyph's width: so far about ink a seal reaches."""

LEGIBLE = 7.0
"""Pixels at the working size: what is no wider is no glyph but a piece of a rule."""

SPARSE = 0.2
"""Of a register's height: less than this has glyphs where a span holds marks and numbers."""

LONG = 2.5
"""Widths of a glyph: no stroke of text is as long as this."""

MAX_SIDES = 2
"""A register with no more rules that run far has none but the sides of its frame."""

MIN_FAR_SHARE = 0.3
"""Of a register's height: a rule runs far; a seal has sides, too."""

GLOSSES = 0.25
"""Of the spans of a register that was parted by what stands beside each other: where so many are in small script, they
are glosses between its columns."""

HEADROOM = 1.2
"""Widths of a glyph: small script so far above the first large glyph of a column is a note in the upper margin."""

LONGEST = 1.6
"""Pitches: a wider span is of two columns."""

BEYOND = 2.0
"""Pitches: what stands beyond the side of a frame reaches no further."""

MANY = 4
"""With more rules than this a page is ruled."""

REGISTERS = 3
"""More registers on a leaf are the rows of a table."""

LONE_PITCH = 1.6
"""Widths of a glyph: how wide a column is taken to be where neither ink nor rules recur."""

EQUAL_RULE_SHARE = 0.6
"""Of a register's height: how far a rule between equal columns is taken to run at least, however little is printed.
Of ten real books and a half-folio under a seal the columns are parted rightly from 0.6 on, with 0.3 not all."""

EQUAL_RULE_REACH_PX = 2
"""Pixels to either side of where it would stand that such a rule takes."""

MIN_COLUMN_SHARE = 0.6
"""Pitches: what stands beyond the side of a frame in less room is no column, but half of a fold strip."""

RAISED = 0.7
"""Pitches: ink that goes on above a register with no wider gap is a raised column."""


@dataclass(frozen=True, slots=True)
class FoundColumn:
    """A column of text on the straightened sheet, in its pixels: its width reaches to its neighbours or its rules, its
    height is that of its ink. `register` counts from 1 in reading order, over all leaves. `glyph` is
    the width of its glyphs."""

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
    """What stands where on a page. `sheet` is the page straightened, `text` its ink without rules and frames; `regions`
    are its registers, `columns` those in them in reading order, `rules` the x of the rules of each register."""

    sheet: Sheet
    text: Mask
    regions: tuple[Region, ...]
    columns: tuple[FoundColumn, ...]
    rules: tuple[tuple[float, ...], ...]

    @property
    def kind(self) -> str:
        """What kind of page it is: `blank`, a `table` (rows between level lines), or `columns`."""
        if not self.columns:
            return "blank" if not self.text.any() else "no columns"
        most = max(sum(region.leaf == leaf for region in self.regions) for leaf in (0, 1))
        return "table" if most > REGISTERS else "columns"

    def file_box(self, left: float, top: float, right: float, bottom: float) -> Box:
        """The upright box in the image file that holds this rectangle of the sheet."""
        corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]], dtype=np.float64)
        xy = self.sheet.rectification.to_file(corners)
        (x0, y0), (x1, y1) = xy.min(axis=0), xy.max(axis=0)
        return Box(float(x0), float(y0), float(x1 - x0), float(y1 - y0))


@dataclass(frozen=True, slots=True)
class _Inked:
    """The ink of text of one register, from which row to which (exclusive) there is any, which share of these has ink
    for every x, and how wide its glyphs are."""

    text: Mask
    rows: tuple[int, int]
    across: Profile
    glyph: float


@dataclass(frozen=True, slots=True)
class _Register:
    """One register as it is measured: its ink of text, where its rules are and how far they run, and the spans."""

    region: Region
    text: Mask
    rules: Profile
    glyph: float
    pitch: float
    spans: Sequence[Span]


def find_columns(page: NDArray[np.uint8], origin: tuple[float, float] = (0, 0)) -> PageLayout:
    """Find the columns of a page (grey, height x width, 0 black); `origin` is where it lies in its image file."""
    sheet = prepare(page, origin)
    text = text_ink(sheet)
    regions = regions_of(sheet, text)
    sheet, text = straightened(sheet, text, regions)
    columns: list[FoundColumn] = []
    rules = []
    inked = [_inked(text, region) for region in regions]
    usual = pitch_together(
        [inked_region.across for inked_region in inked], [inked_region.glyph for inked_region in inked]
    )
    for number, (region, inked_region) in enumerate(zip(regions, inked, strict=True), 1):
        register = _measured(sheet, region, inked_region, usual)
        rules.append(tuple(float(region.left + (a + b - 1) / 2) for a, b in runs(register.rules > 0)))
        columns += _columns(sheet, text, register, number)
    return PageLayout(sheet, text, tuple(regions), tuple(columns), tuple(rules))


def _inked(text: Mask, region: Region) -> _Inked:
    own = text[region.top : region.bottom, region.left : region.right]
    rows = _extent(own)
    profile = inked_along(own[rows[0] : rows[1]], 0) / max(rows[1] - rows[0], 1)
    return _Inked(own, rows, profile, glyph_width(own))


def _measured(sheet: Sheet, region: Region, inked: _Inked, usual: float | None) -> _Register:
    """`usual` is how far the columns of all registers stand apart."""
    across = slice(region.left, region.right)
    height = max(inked.rows[1] - inked.rows[0], 1)
    band = slice(region.top + inked.rows[0], region.top + inked.rows[1])
    ink = inked_along(thickened(sheet.ink[band, across], 3, 1), 0) / height
    upright = inked_along(thickened(sheet.upright[band, across], 5, 1), 0) / height
    rules = np.where((upright > RULE_SHARE) & (upright > RULE_PURE * ink), upright, 0.0)
    places = [(a + b) / 2 for a, b in runs(rules > 0)]
    pitch = pitch_of(inked.across, inked.glyph, usual) or LONE_PITCH * inked.glyph
    ruled = ruled_pitch(places, inked.glyph)
    pitch = ruled or pitch
    has_rules = sum(float(rules[a:b].max()) > MIN_FAR_SHARE for a, b in runs(rules > 0)) > MAX_SIDES
    if ruled and has_rules:
        for x in equal_rules(places, ruled):
            own = rules[max(0, round(x) - EQUAL_RULE_REACH_PX) : round(x) + EQUAL_RULE_REACH_PX + 1]
            own[:] = np.maximum(own, EQUAL_RULE_SHARE)
        inked = replace(inked, across=_within_sides(inked.across, rules, ruled))
    spans = part(inked.across, rules, pitch) if pitch else []
    whole = _Register(region, inked.text, rules, inked.glyph, pitch, joined(inked.text, spans, pitch))
    if has_rules or not are_pairs(inked.across, spans):
        return whole
    spans = part(inked.across, rules, pitch / 2)
    halved = replace(whole, pitch=pitch / 2, spans=joined(inked.text, spans, pitch / 2))
    return whole if _has_glosses(halved) else halved


def _within_sides(across: Profile, rules: Profile, pitch: float) -> Profile:
    """The ink across a ruled register without what stands beyond the sides of its frame in less room than a column
    has: half of a fold strip."""
    inked = np.flatnonzero(across > 2 * EMPTY)
    sides = [(a + b) / 2 for a, b in runs(rules > MIN_FAR_SHARE)]
    if not inked.size or not sides:
        return across
    reach = MIN_COLUMN_SHARE * pitch
    left = max((x for x in sides if x < inked[0] + reach), default=0.0)
    right = min((x for x in sides if x > inked[-1] - reach), default=float(across.size))
    within = across.copy()
    within[: round(left)] = 0.0
    within[round(right) + 1 :] = 0.0
    return within


def _has_glosses(register: _Register) -> bool:
    """Whether many of the spans of a register are in small script beside others in large."""
    sizes = np.array([size for span in register.spans if (size := size_of(_pieces(register, span)))])
    return bool(sizes.size) and float((sizes < SMALL * np.quantile(sizes, 0.8)).mean()) > GLOSSES


def _extent(ink: Mask) -> tuple[int, int]:
    """From which row to which (exclusive) there is ink, but for single dirt."""
    rows = np.flatnonzero(inked_along(ink, 1) > 0.002 * ink.shape[1])
    return (int(rows[0]), int(rows[-1]) + 1) if rows.size else (0, ink.shape[0])


def _columns(sheet: Sheet, text: Mask, register: _Register, number: int) -> list[FoundColumn]:
    """The columns of a register, right to left, without what is no text."""
    region = register.region
    solid = solid_ink(sheet.ink[region.top : region.bottom, region.left : region.right])

    def solid_in(span: Span) -> bool:
        margin = 0.2 * span.width
        return bool(solid[:, int(span.left + margin) : int(span.right - margin)].any())

    measured = [MeasuredSpan(span, _pieces(register, span), solid_in(span)) for span in register.spans]
    columns = []
    for span_measured in _without_headnotes(register, _of_text(sheet, register, measured)):
        span, own = span_measured.span, span_measured.pieces
        top, bottom = region.top + float(own[:, 1].min()), region.top + float((own[:, 1] + own[:, 3]).max())
        bottom = max(bottom, region.top + _low_end(register, span, bottom - region.top))
        left, right = region.left + span.left, region.left + span.right
        if region.lined[0] and top - region.top < RAISED * register.pitch:
            top = _raised(text, left, top, right, span_measured.size)
        columns.append(FoundColumn(number, left, top, right, bottom, span_measured.size))
    return columns[::-1]


def _without_headnotes(register: _Register, measured: Sequence[MeasuredSpan]) -> list[MeasuredSpan]:
    """The columns of a register without notes in small script that stand in the margin above, where no line parts them
    from these."""
    if register.region.lined[0] or not measured:
        return list(measured)
    usual = float(np.median([measured_span.size for measured_span in measured]))
    large = [
        measured_span.pieces[measured_span.pieces[:, 2:4].max(axis=1) > SMALL * usual] for measured_span in measured
    ]
    head = float(np.quantile([pieces[:, 1].min() for pieces in large if pieces.size] or [0], 0.2))
    kept = []
    for measured_span, large_pieces in zip(measured, large, strict=True):
        first = min(float(large_pieces[:, 1].min()), head) if large_pieces.size else head
        ends = measured_span.pieces[:, 1] + measured_span.pieces[:, 3]
        above = ends < first
        noted = above.any() and not above.all() and first - float(ends[above].max()) > HEADROOM * usual
        kept.append(replace(measured_span, pieces=measured_span.pieces[~above]) if noted else measured_span)
    return kept


def _pieces(register: _Register, span: Span) -> NDArray[np.intp]:
    """The pieces of ink in a span that are large enough to begin or end a column: x, y, w, h, area (n x 5), in pixels
    of the region."""
    x0, x1 = int(span.left), int(span.right)
    margin = round(0.05 * span.width)
    ink = register.text[:, x0 + margin : x1 - margin]
    if not ink.size:
        return np.empty((0, 5), dtype=np.intp)
    joined = cv2.morphologyEx(ink, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    _, stats, _ = connected(joined)
    pieces = np.array(stats[1:], dtype=np.intp)
    width, height, area = pieces[:, 2], pieces[:, 3], pieces[:, 4]
    # a title over two columns has glyphs as large as it is wide
    glyph = register.glyph * max(1.0, span.width / (LONGEST * register.pitch))
    large = np.maximum(width, height) > BROAD * register.glyph
    rule_like = (width < THIN * register.glyph) & (height > 2 * width)
    faint = area < 0.15 * width * height
    # what is left of a level line runs on from one side to the other
    level = (width > 0.95 * ink.shape[1]) & (height < 0.6 * register.glyph)
    pieces[:, 0] += x0 + margin
    return np.asarray(pieces[large & ~rule_like & ~level & ~(faint & (height > 1.2 * glyph))], dtype=np.intp)


def _low_end(register: _Register, span: Span, bottom: float) -> float:
    """Where a column ends whose large pieces of ink end at `bottom`, in pixels of the region: what follows closely, one
    piece after the other, is a note's in small script, or a thin glyph's (十)."""
    first, glyph = round(bottom), register.glyph
    ink = register.text[first:, int(span.left) : int(span.right)]
    if not ink.size:
        return bottom
    _, stats, _ = connected(ink)
    end = 0.0
    for _, y, w, h, _ in sorted(stats[1:].tolist(), key=lambda piece: piece[1]):
        if y - end > FOLLOWING_REACH_GLYPHS * glyph:
            break
        if MIN_FOLLOWING_GLYPHS * glyph < max(w, h) < MAX_FOLLOWING_GLYPHS * glyph and (w > THIN * glyph or h < 2 * w):
            end = max(end, float(y + h))
    return first + end


def _of_text(sheet: Sheet, register: _Register, measured: Sequence[MeasuredSpan]) -> list[MeasuredSpan]:
    """The spans that are columns of text: without what stands beside the frame (titles, page numbers), between the
    leaves (a fold strip), and without edges of the book."""
    strong = _far_rules(sheet, register)
    left, right = _frame_sides(strong, register, measured)
    clear = ON_FRAME_GLYPHS * register.glyph
    inside = [
        candidate.between(left + clear, right - clear)
        for candidate in measured
        if left <= candidate.span.middle <= right
    ]
    kept = [candidate for candidate in inside if candidate.pieces.size]
    usual = float(np.median([candidate.size for candidate in kept])) if kept else 0.0
    if usual < LEGIBLE:
        return []
    middle = float(np.median([candidate.span.width for candidate in kept]))
    height = register.text.shape[0]
    kept = [
        candidate
        for candidate in kept
        if candidate.filled(height) > SPARSE
        or max(candidate.size, candidate.lone_size, candidate.broad) > MARGINAL * usual
    ]
    kept = [candidate for candidate in kept if not is_seal(_around(sheet, register, candidate), register.glyph)]
    for end, inward in ((0, 1), (-1, -1)):
        while kept and (
            _at_the_edge(kept[end], usual, middle, height)
            or (len(kept) > 1 and _is_ornament(kept[end], kept[end + inward], usual))
        ):
            kept.pop(end)
    kept = [
        candidate
        for candidate in kept
        if not (candidate.solid and candidate.span.width < NARROW * middle and not candidate.is_text(usual, height))
    ]
    return [candidate for n, candidate in enumerate(kept) if not _is_fold_strip(kept, n, strong, register, usual)]


def _around(sheet: Sheet, register: _Register, candidate: MeasuredSpan) -> Mask:
    """All the ink where the pieces of a span stand, and a little about them."""
    region, room = register.region, round(SEAL_REACH_GLYPHS * register.glyph)
    (left, right), (y, height) = candidate.extent, candidate.pieces[:, [1, 3]].T
    top, bottom = max(0, int(y.min()) - room), int((y + height).max()) + room
    return sheet.ink[
        region.top + top : region.top + bottom, region.left + max(0, left - room) : region.left + right + room
    ]


def _is_fold_strip(
    kept: Sequence[MeasuredSpan], number: int, strong: Sequence[float], register: _Register, usual: float
) -> bool:
    """Whether a span stands between the leaves of an opening: in its middle, between the sides of two frames, with
    solid ink in it or in small script; or sparse, in small script, with more room about it than a column has."""
    candidate = kept[number]
    wide, high = register.text.shape[1], register.text.shape[0]
    if wide < OPENING * high or abs(candidate.span.middle / wide - 0.5) > MAX_OFF_CENTRE:
        return False
    before = max((x for x in strong if x < candidate.span.middle), default=-np.inf)
    after = min((x for x in strong if x > candidate.span.middle), default=np.inf)
    small = max(candidate.size, candidate.broad) < SMALL * usual
    if after - before < MAX_STRIP_PITCHES * register.pitch:
        return small or (candidate.solid and not candidate.is_text(usual, high))
    if not small or candidate.filled(high) > FILLED or not 0 < number < len(kept) - 1:
        return False
    room = kept[number + 1].extent[0] - kept[number - 1].extent[1]
    return room > ROOMY * register.pitch - usual


def _at_the_edge(candidate: MeasuredSpan, usual: float, width: float, height: int) -> bool:
    """Whether an outermost span is no column: cut, of small script in one row with room between, or with solid ink in
    it that is no text."""
    small = max(candidate.size, candidate.broad) < SMALL * usual and candidate.filled(height) < FILLED
    return candidate.span.width < NARROW * width or small or (candidate.solid and not candidate.is_text(usual, height))


def _is_ornament(candidate: MeasuredSpan, other: MeasuredSpan, usual: float) -> bool:
    """Whether an outermost span holds a single thing that is flat, or stands apart from the next column."""
    if not candidate.lone_size:
        return False
    apart = max(candidate.span.left - other.span.right, other.span.left - candidate.span.right)
    return (
        apart > ORNAMENT_APART_WIDTHS * candidate.span.width
        or int(candidate.pieces[:, 3].sum()) < MAX_ORNAMENT_GLYPHS * usual
    )


def _far_rules(sheet: Sheet, register: _Register) -> list[float]:
    """The x of the rules that run far, in pixels of the region: sides of frames, and what rules there are."""
    region = register.region
    # a frame is bent where a page was photographed, and stands in several columns of pixels
    inside = sheet.upright[region.top : region.bottom, region.left : region.right]
    long = long_strokes(inside, round(LONG * register.glyph), vertical=True)
    share = inked_along(thickened(long, round(0.2 * register.pitch) | 1, 1), 0) / max(inside.shape[0], 1)
    return [(a + b) / 2 for a, b in runs(share > SIDE)]


def _frame_sides(strong: Sequence[float], register: _Register, measured: Sequence[MeasuredSpan]) -> tuple[float, float]:
    """The x of the sides of the frame, in pixels of the region: the outermost of the rules that run far (`strong`),
    beyond which no more than a column stands; the region's own where there are none."""
    height, width = register.text.shape[0], float(register.region.right - register.region.left)
    spans = [candidate.span for candidate in measured if candidate.covered(height) > SPARSE]
    if len(strong) > MANY:
        # a page that is ruled throughout has a rule on the inner side of its last column as well
        return 0.0, width
    # where there are but few columns, one rule or the other that is no frame has no more than one beyond it
    first = min((span.left for span in spans), default=0.0) + BEYOND * register.pitch
    last = max((span.right for span in spans), default=width) - BEYOND * register.pitch
    left = max((x for x in strong if x < first and sum(span.middle < x for span in spans) <= 1), default=0.0)
    right = min((x for x in strong if x > last and sum(span.middle > x for span in spans) <= 1), default=width)
    usual = float(np.median([candidate.size for candidate in measured])) if measured else 0.0
    for candidate in measured:
        # between two such rules stands a column like any other, and the outer one is the frame's
        if candidate.size > SMALL * usual and candidate.filled(register.text.shape[0]) > FILLED:
            left = max((x for x in strong if x < candidate.span.middle < left), default=left)
            right = min((x for x in strong if x > candidate.span.middle > right), default=right)
    return left, right


def _raised(text: Mask, left: float, top: float, right: float, glyph: float) -> float:
    """Where a column begins whose glyphs go on above its register: the top of the highest of them."""
    margin = 0.08 * (right - left)
    first, across = max(0, round(top - 4 * glyph)), slice(round(left + margin), round(right - margin))
    band = text[first : round(top), across]
    if band.shape[0] < 0.5 * glyph or not band.shape[1]:
        return top
    joined = cv2.morphologyEx(band, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    _, stats, _ = connected(joined)
    large = stats[1:][
        (stats[1:, 2] > 0.4 * glyph) & (stats[1:, 3] > 0.3 * glyph) & (stats[1:, 2] < 0.95 * band.shape[1])
    ]
    start = top
    for _, y, _, h, _ in sorted(large.tolist(), key=lambda piece: -piece[1]):
        if start - (first + y + h) > RAISED * glyph:
            break
        start = min(start, float(first + y))
    return start if top - start > 0.6 * glyph else top
