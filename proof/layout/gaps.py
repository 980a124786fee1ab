"""Columns found from what parts them: gaps between equal columns, and rules where there are any.

The pitch of the columns is the first strong period of the ink across them (its autocorrelation); with it the
boundaries are the cheapest way to part the width: a column far from the pitch costs, a boundary through ink costs, one
on a rule is rewarded, and empty paper costs nothing. The method is dynamic programming over boundaries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.rules import Mask, connected

Profile = NDArray[np.float64]
"""For every x a share, from 0 to 1, of the rows of a region."""

MIN_PITCH_GLYPHS = 0.85
"""Widths of a glyph: columns stand no closer."""

MAX_PITCH_GLYPHS = 3.6
"""Widths of a glyph: columns stand no wider apart."""

PERIODIC = 0.08
"""Autocorrelation from which a period is one."""

AS_GOOD = 0.6
"""Of the highest peak of the autocorrelation: the first peak as high as this is the pitch and not a multiple of it."""

SAME_PITCH = 0.08
"""Pitches that differ by less, as a share, are one."""

MAX_GLYPH_RATIO = 1.35
"""Glyphs of registers set alike differ in width by a factor no greater."""

SPREAD = 0.15
"""Of the pitch: how far the width of a column departs from it without oddness."""

INK_COST = 6.0
"""What a boundary costs, in squared spreads, that goes through as much ink as there is on average."""

RULE_GAIN = 8.0
"""What a boundary gains, in squared spreads, that lies on a rule which runs all the way."""

EMPTY = 0.01
"""Share of the rows: less ink than this is none."""

LEFT_OUT = 40.0
"""What it costs, in squared spreads, to leave as much ink out as a column has: dirt at the edges."""

MIN_STRETCH_INK = 0.012
"""Of a column's average ink: with less a stretch is no column. A single character of a long column has little more."""

MAX_GAP_INK = 0.25
"""Of the average ink: where there is less, there is a gap."""

GAP_REACH_WIDTHS = 0.2
"""Of a column's width: so near to its middle, or its side, a gap is looked for."""

MIN_MIDDLE_GAP = 0.75
"""Gaps in the middle of columns that are so wide, against those between them, part columns as well."""

MIN_PAIRS = 2
"""So many columns at least have ink on either side of their middle, where each is two."""

MIN_HALF_INK = 0.06
"""Of a column's ink: so much is on either side of its middle."""

WIDEST_RULED = 6.0
"""Widths of a glyph: columns between rules are no wider, where their glyphs are those of notes in double rows."""

SAME_GAP = 0.1
"""Gaps between rules that differ by less, as a share, are of one width."""

MIN_EQUAL_GAPS = 3
"""So many gaps of one width at least rule a page."""

MIN_RULED_SHARE = 0.4
"""Of what lies between the outermost rules: gaps of one width are so much of a ruled page."""

CROSSING_PITCHES = 0.25
"""Of a pitch: ink that reaches so far to either side stands across what parts two columns."""

MIN_CROSSING_INK = 0.4
"""Of the ink of two columns: with so much of it across what parts them they are one."""

STEP = 2
"""Pixels between the places where a boundary is tried."""


@dataclass(frozen=True, slots=True)
class Span:
    """From where to where a column goes across its region, in pixels."""

    left: float
    right: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


def glyph_width(text: Mask) -> float:
    """How wide a glyph of main text is, in pixels, from the connected pieces of ink; 0 where there is none."""
    joined = cv2.morphologyEx(text, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    _, stats, _ = connected(joined)
    width, area = stats[1:, cv2.CC_STAT_WIDTH], stats[1:, cv2.CC_STAT_AREA]
    sound = (area > 20) & (width < 0.2 * text.shape[0])
    if not sound.any():
        return 0.0
    order = np.argsort(width[sound])
    total = np.cumsum(area[sound][order])
    return float(width[sound][order][np.searchsorted(total, 0.6 * total[-1])])


def pitch_of(across: Profile, glyph: float, usual: float | None = None) -> float | None:
    """How far columns stand apart, from the ink `across` them; None where nothing recurs. `usual` is how far they do in
    the registers of the page together: it holds where it is a period of this one as well."""
    low, high = max(4, int(MIN_PITCH_GLYPHS * glyph)), int(MAX_PITCH_GLYPHS * glyph)
    if across.size < 2 * low or not across.any():
        return None
    even = across - cv2.blur(across[None, :].astype(np.float32), (2 * high + 1, 1))[0]
    spectrum = np.fft.rfft(even, 2 * even.size)
    alike = np.fft.irfft(spectrum * np.conj(spectrum))[: even.size]
    high = min(high, even.size - 2)
    alike = alike / max(alike[0], 1e-9) * even.size / np.arange(even.size, 0, -1)
    own = first_period(alike, low, high)
    if usual is None:
        return own
    near = first_period(alike, max(low, round((1 - SAME_PITCH) * usual)), min(high, round((1 + SAME_PITCH) * usual)))
    if near is not None:
        return near
    # with columns that are empty it may recur at a multiple alone
    times = max(1, round(own / usual)) if own else 1
    return usual if own is None or (times > 1 and abs(own / (times * usual) - 1) < SAME_PITCH) else own


def pitch_together(profiles: Sequence[Profile], glyphs: Sequence[float]) -> float | None:
    """How far columns stand apart in registers whose glyphs are so wide; None where these differ, or nothing recurs."""
    wide = [glyph for glyph in glyphs if glyph]
    if len(wide) < 2 or max(wide) > MAX_GLYPH_RATIO * min(wide):
        return None
    glyph = float(np.median(wide))
    apart = np.zeros(int(MAX_PITCH_GLYPHS * glyph) + 2)  # so that nothing in one is compared with another
    return pitch_of(np.concatenate([part for profile in profiles for part in (profile, apart)]), glyph)


def ruled_pitch(places: Sequence[float], glyph: float) -> float | None:
    """How far columns stand apart where rules at `places` (x, left to right) part most of them; None where they do not.
    Notes in double rows between rules are one column, and columns that are empty are columns, whatever their ink
    tells. `glyph` is how wide a glyph is."""
    gaps = np.diff(places)
    wide = gaps[(gaps > MIN_PITCH_GLYPHS * glyph) & (gaps < WIDEST_RULED * glyph)]
    if wide.size < MIN_EQUAL_GAPS:
        return None
    alike = np.abs(wide[:, None] / wide[None, :] - 1.0) < SAME_GAP
    usual = wide[alike[int(alike.sum(axis=0).argmax())]]
    pitch = float(np.median(usual))
    most = float(usual.sum()) > MIN_RULED_SHARE * float(gaps.sum())
    return pitch if usual.size >= MIN_EQUAL_GAPS and most else None


def columns_between(gaps: NDArray[np.float64], pitch: float) -> NDArray[np.intp]:
    """How many columns of about `pitch` fill the gap between two rules; 0 where no number of them does."""
    count = np.rint(gaps / pitch)
    return np.where(np.abs(gaps / pitch - count) < SAME_GAP * np.sqrt(count), count, 0).astype(np.intp)


def equal_rules(places: Sequence[float], pitch: float) -> list[float]:
    """The x of the rules between equal columns of `pitch`: of those at `places`, and where between two of them rules
    are not printed."""
    counts = columns_between(np.diff(places), pitch)
    return [
        left + (right - left) * step / count
        for (left, right), count in zip(pairwise(places), counts.tolist(), strict=True)
        for step in range(count + 1)
        if count
    ]


def first_period(alike: Profile, low: int, high: int) -> float | None:
    """The lag of the first high peak of an autocorrelation (1 at lag 0) from `low` to `high`; None where there is
    none."""
    lags = np.arange(low, high)
    peaks = lags[(alike[lags] > alike[lags - 1]) & (alike[lags] >= alike[lags + 1]) & (alike[lags] > PERIODIC)]
    if not peaks.size:
        return None
    first = int(peaks[alike[peaks] >= AS_GOOD * alike[peaks].max()][0])
    a, b, c = (float(value) for value in alike[first - 1 : first + 2])
    return first + 0.5 * (a - c) / min(a - 2 * b + c, -1e-9)


def part(across: Profile, rules: Profile, pitch: float) -> list[Span]:
    """The columns, left to right. `across` is the share of rows with ink of text, `rules` that along which a rule
    runs, for every x."""
    inked = across[across > 2 * EMPTY]
    if not inked.size:
        return []
    mean = float(inked.mean())
    count = across.size // STEP + 1
    grid = (np.arange(count) * STEP).clip(0, across.size - 1)
    total = np.concatenate([[0.0], np.cumsum(across)])[grid]
    smooth = cv2.blur(across[None, :], (3, 1))[0]
    edge = INK_COST * np.minimum(smooth[grid] / mean, 2.0) - RULE_GAIN * rules[grid]
    shortest, longest = max(2, int(0.5 * pitch / STEP)), int(1.6 * pitch / STEP)
    odd = ((np.arange(longest + 1) * STEP / pitch - 1.0) / SPREAD) ** 2
    ink = np.diff(total, prepend=0.0)
    passed = np.where(ink < EMPTY * STEP, 0.0, LEFT_OUT * ink / (mean * pitch))
    best = np.full(count, np.inf)
    best[0] = 0.0
    came = np.full(count, -1)
    for end in range(1, count):
        best[end] = best[end - 1] + passed[end]
        first, last = max(0, end - longest), end - shortest + 1
        if last <= first:
            continue
        cost = best[first:last] + odd[end - first : end - last : -1] + edge[first:last] + edge[end]
        cost[total[end] - total[first:last] < MIN_STRETCH_INK * mean * pitch] = np.inf
        start = int(cost.argmin())
        if cost[start] < best[end]:
            best[end], came[end] = cost[start], first + start
    return _walked_back(best, came, grid)


def joined(text: Mask, spans: Sequence[Span], pitch: float) -> list[Span]:
    """The columns that `spans` are: two are one where glyphs of `text` stand across what parts them, as in a title over
    two columns."""
    _, stats, _ = connected(text)
    x, wide, area = stats[1:, cv2.CC_STAT_LEFT], stats[1:, cv2.CC_STAT_WIDTH], stats[1:, cv2.CC_STAT_AREA]
    columns: list[Span] = []
    for span in spans:
        last = columns[-1] if columns else None
        if last and last.right == span.left:
            reach = CROSSING_PITCHES * pitch
            own = (x + wide / 2 > last.left) & (x + wide / 2 < span.right)
            across = own & (x < span.left - reach) & (x + wide > span.left + reach)
            if area[across].sum() > MIN_CROSSING_INK * area[own].sum():
                columns[-1] = Span(last.left, span.right)
                continue
        columns.append(span)
    return columns


def are_pairs(across: Profile, spans: Sequence[Span]) -> bool:
    """Whether these columns are two each: they have gaps in the middle as wide as those between them. What recurs most
    may be every other column, where some are empty."""
    inked = across[across > 2 * EMPTY]
    if not inked.size:
        return False
    slight = across < MAX_GAP_INK * float(inked.mean())
    middles, between, pairs = [], [], 0
    for number, span in enumerate(spans):
        left, middle, right = round(span.left), round(span.middle), round(span.right)
        halves = float(across[left:middle].sum()), float(across[middle:right].sum())
        pairs += min(halves) > MIN_HALF_INK * sum(halves)
        middles.append(_gap(slight, span.middle, GAP_REACH_WIDTHS * span.width))
        if number and span.left == spans[number - 1].right:
            between.append(_gap(slight, span.left, GAP_REACH_WIDTHS * span.width))
    if pairs < MIN_PAIRS or not between:
        return False
    wide = float(np.median(between))
    return wide > 0 and float(np.median(middles)) > MIN_MIDDLE_GAP * wide


def _gap(slight: NDArray[np.bool_], x: float, reach: float) -> int:
    """How many pixels the widest gap about a place is wide."""
    part = slight[max(0, round(x - reach)) : round(x + reach) + 1]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], part, [False]]).astype(np.int8)))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def _walked_back(best: Profile, came: NDArray[np.intp], grid: NDArray[np.intp]) -> list[Span]:
    spans = []
    end = int(np.flatnonzero(np.isfinite(best))[-1])
    while end > 0:
        if came[end] < 0:
            end -= 1
            continue
        spans.append(Span(float(grid[came[end]]), float(grid[end])))
        end = int(came[end])
    return spans[::-1]
