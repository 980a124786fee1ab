"""Whether a comb of equal columns fitted to the rules of a page agrees with its text.

The two sides of a frame and one or two rules fit many combs. If the comb is right, nearly all text of the page stands
between the outermost rules, and there is hardly any ink at the place of a rule that is not printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.gaps import Span, are_pairs
from proof.layout.rules import Mask, inked_along, thickened

RULE_REACH_PX = 4
"""Distance on either side of an expected rule that is searched for text, in pixels."""

MIN_TEXT_AT_RULE = 0.5
"""Minimum ink at the place of a rule, as a share of the mean ink of a column, for text to stand there."""

MIN_CROSSED_RULES = 2
"""Minimum number of rules crossed by text for the text to contradict the comb."""

MIN_PRINTED_SHARE = 0.1
"""Minimum printed share of the length of a rule for any of it to count as printed."""

MAX_FRAME_LINES = 3
"""Maximum number of printed rules that may be merely the sides of a frame and a line of a drawing."""

MIN_PRINTED_RUN = 0.15
"""Minimum share of a rule's length that is inked for the rule to be printed: more than strokes of text reach by chance.
On real ruled pages at least eight of nine rules are."""

MIN_CLEARLY_PRINTED = 0.35
"""Minimum mean printed share of the rules from which they are rules, whatever stands between them."""

MIN_UNPRINTED = 2
"""Minimum number of unprinted rules for the page to be examined for pairs of columns."""

MAX_OPEN_PRINTED = 0.25
"""Maximum printed share of the outermost rule if its column lies beyond the side of the frame."""

MIN_SIDE_PRINTED = 0.5
"""Minimum printed share of the side of such a frame."""

STROKE_REACH = 0.25
"""Maximum distance that strokes reach over the rule of their column, in widths of a column."""

MIN_HEADING_SHARE = 0.34
"""Minimum share of the ink of two neighbouring columns that stands within `STROKE_REACH` of the rule between them for
it to be a heading over both: of one as wide as a column and a half it is 0.5, of two columns of text 0.2."""

MAX_BESIDE_HEADING_SHARE = 0.015
"""Maximum share of that ink that stands in the outer quarters of the two columns; of a figure it is 0.03 and more."""

MAX_INK_OUTSIDE = 1.4
"""Maximum ink outside the comb, in columns of mean ink: half a fold strip and a part of the other half-folio."""


def has_rules(upright: Mask, rules: Sequence[float], rows: tuple[float, float]) -> bool:
    """Whether any of the inner `rules` (x, left to right) is printed between the top and bottom in `rows`; the two
    sides of a frame alone do not make a page ruled. `upright` are the long strokes of its ink."""
    top, bottom = max(0, round(rows[0])), round(rows[1])
    strokes = _runs(upright, top, bottom)
    return any(int(strokes[_about(rule)].max(initial=0)) > MIN_PRINTED_SHARE * (bottom - top) for rule in rules[1:-1])


def text_against(
    ink: Mask, upright: Mask, level: Mask, rules: Sequence[float], rows: tuple[float, float], support: float
) -> bool:
    """Whether the text of a page contradicts columns between these `rules` (x, left to right) and between the top and
    bottom in `rows`: at most three rules are printed, which may be the sides of a frame and a line of a drawing; or
    text crosses several rules; or more than a column of text stands outside; or the rules are faint, two or more are
    not printed, and each column looks like two. `ink` is all ink of the page, `upright` and `level` are its long
    strokes, `support` is the mean share of the height along which the rules run."""
    top, bottom = max(0, round(rows[0])), round(rows[1])
    strokes, text = _strokes_and_text(ink, upright, level, rows)
    left, right, width = max(0, round(rules[0])), round(rules[-1]), rules[1] - rules[0]
    mean = float(text[left:right].mean()) if right > left else 0.0
    if not mean:
        return False
    apart = round(STROKE_REACH * width)
    outside = int(text[: max(0, left - apart)].sum()) + int(text[right + apart :].sum())
    runs = inked_along(strokes, 0)
    printed = sum(int(runs[_about(rule)].max(initial=0)) > MIN_PRINTED_RUN * (bottom - top) for rule in rules)
    if (
        printed <= MAX_FRAME_LINES
        or outside > MAX_INK_OUTSIDE * mean * width
        or _crossed(text, runs, rules, bottom - top, mean)
    ):
        return True
    return (
        support < MIN_CLEARLY_PRINTED
        and printed <= len(rules) - MIN_UNPRINTED
        and are_pairs(text / max(bottom - top, 1), [Span(max(a, 0.0), b) for a, b in pairwise(rules)])
    )


def without_headings(
    ink: Mask, upright: Mask, level: Mask, rules: Sequence[float], rows: tuple[float, float]
) -> list[float]:
    """The `rules` (x, left to right) without those at whose place a heading over two columns stands: they are not
    printed between the top and bottom in `rows`, and much of the ink of the columns on both sides is near them. `ink`
    is all ink of the page, `upright` and `level` are its long strokes."""
    top, bottom = max(0, round(rows[0])), round(rows[1])
    bare = _unprinted(_runs(upright, top, bottom), rules, bottom - top)
    if not bare:  # as on nearly every ruled page
        return list(rules)
    _, text = _strokes_and_text(ink, upright, level, rows)

    def is_under_heading(left: float, rule: float, right: float) -> bool:
        reach = STROKE_REACH * (right - left) / 2
        columns = text[max(0, round(left)) + RULE_REACH_PX : round(right) - RULE_REACH_PX]
        outer = round(reach) - RULE_REACH_PX
        beside = int(columns[:outer].sum() + columns[-outer:].sum())
        about = int(text[round(rule - reach) : round(rule + reach) + 1].sum())
        both = int(columns.sum())
        return rule in bare and about > MIN_HEADING_SHARE * both and beside < MAX_BESIDE_HEADING_SHARE * both

    inner = zip(rules, rules[1:], rules[2:], strict=False)
    return [rules[0], *(place[1] for place in inner if not is_under_heading(*place)), rules[-1]]


def _strokes_and_text(
    ink: Mask, upright: Mask, level: Mask, rows: tuple[float, float]
) -> tuple[Mask, NDArray[np.intp]]:
    """The long upright strokes of a page between the top and bottom in `rows`, and the amount of other ink at every
    x."""
    top, bottom = max(0, round(rows[0])), round(rows[1])
    strokes, lines = thickened(upright[top:bottom], 5, 1), thickened(level[top:bottom], 1, 5)
    return strokes, inked_along(np.where(cv2.bitwise_or(strokes, lines) > 0, 0, ink[top:bottom]).astype(np.uint8), 0)


def parted(upright: Mask, rules: Sequence[float], rows: tuple[float, float]) -> bool:
    """Whether other rules are printed in the middle of several columns between these `rules` (x, left to right) and
    between the top and bottom in `rows`: the comb was fitted to every other rule of an opening. `upright` are the long
    strokes of its ink."""
    top, bottom = max(0, round(rows[0])), round(rows[1])
    strokes = _runs(upright, top, bottom)
    inside = (
        strokes[max(0, round(a + STROKE_REACH * (b - a))) : round(b - STROKE_REACH * (b - a))]
        for a, b in pairwise(rules)
    )
    return sum(int(part.max(initial=0)) > MIN_CLEARLY_PRINTED * (bottom - top) for part in inside) >= MIN_CROSSED_RULES


def unbounded(upright: Mask, rules: Sequence[float], rows: tuple[float, float]) -> tuple[bool, bool]:
    """Whether the first and the last column between these `rules` (x, left to right) lie beyond the side of the frame:
    their outer rule is hardly printed between the top and bottom in `rows`, their inner one is. `upright` are the long
    strokes of its ink."""
    top, bottom = max(0, round(rows[0])), round(rows[1])
    strokes = _runs(upright, top, bottom)
    share = [int(strokes[_about(rule)].max(initial=0)) / max(bottom - top, 1) for rule in rules]
    first, last = (outer < MAX_OPEN_PRINTED and inner > MIN_SIDE_PRINTED for outer, inner in (share[:2], share[:-3:-1]))
    return first, last


def _crossed(
    text: NDArray[np.intp], strokes: NDArray[np.intp], rules: Sequence[float], height: int, mean: float
) -> bool:
    """Whether text stands where several of the inner rules should be."""
    at_rules = [np.sort(text[_about(rule)])[: RULE_REACH_PX + 1] for rule in _unprinted(strokes, rules, height)]
    return sum(bool(ink.size) and float(ink.mean()) > MIN_TEXT_AT_RULE * mean for ink in at_rules) >= MIN_CROSSED_RULES


def _unprinted(strokes: NDArray[np.intp], rules: Sequence[float], height: int) -> list[float]:
    """The inner rules of which hardly anything is printed over the `height`; `strokes` are those of `_runs`."""
    return [rule for rule in rules[1:-1] if strokes[_about(rule)].max(initial=0) < MIN_PRINTED_SHARE * height]


def _runs(upright: Mask, top: int, bottom: int) -> NDArray[np.intp]:
    """The length of long strokes at every x between two y; strokes are thickened, since a rule wanders by a pixel or
    two."""
    return inked_along(thickened(upright[top:bottom], 5, 1), 0)


def _about(rule: float) -> slice:
    return slice(max(0, round(rule) - RULE_REACH_PX), max(0, round(rule) + RULE_REACH_PX + 1))
