"""Whether a comb of equal columns fitted to the rules of a page is right.

The two sides of a frame and one or two rules fit many combs. If the comb is right, its rules are printed and no others
are. The functions take the columns of the comb as a `Frame`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.rules import Frame, Mask, PageInk, inked_along, thickened, true_ranges

RULE_REACH_PX = 4
"""Distance on either side of an expected rule that is searched for text, in pixels."""

MIN_TEXT_AT_RULE = 0.5
"""Minimum ink at the place of a rule, as a share of the mean ink of a column, for text to stand there."""

MIN_PRINTED_SHARE = 0.1
"""Minimum share of a rule's length that is inked for the rule to be printed: more than strokes of text reach by chance.
On real ruled pages at least eight of nine rules are."""

MIN_CLEARLY_PRINTED = 0.35
"""Printed share of rules above which they are taken for rules, whatever is between them."""

MAX_WRONG_RULES = 1
"""Maximum number of rules that are not printed, or of columns with a rule in their middle, on a ruled page."""

MAX_OPEN_PRINTED = 0.25
"""Maximum printed share of the outermost rule if its column lies beyond the side of the frame."""

MIN_SIDE_PRINTED = 0.5
"""Minimum printed share of the side of such a frame."""

STROKE_REACH = 0.25
"""Maximum distance that strokes reach over the rule of their column, in widths of a column."""

MIN_HEADING_SHARE = 0.34
"""Minimum share of the ink of two neighbouring columns that stands within `STROKE_REACH` of the rule between them for
it to be a heading over both: for a heading as wide as a column and a half it is 0.5, for two columns of text 0.2."""

MAX_BESIDE_HEADING_SHARE = 0.015
"""Maximum share of that ink that stands in the outer quarters of the two columns; for a figure it is 0.03 and more."""

MAX_EMPTY_INK = 0.01
"""Maximum share of inked rows that counts as no ink."""

MAX_GAP_INK = 0.25
"""Maximum ink of a gap, relative to the mean ink."""

GAP_REACH_WIDTHS = 0.2
"""Maximum distance of a gap from the middle or side of a column, in widths of the column."""

MIN_MIDDLE_GAP = 0.75
"""Minimum width of the gaps in the middle of columns, relative to the gaps between them, for both to part columns."""


def has_rules(upright: Mask, frame: Frame) -> bool:
    """Whether any of the inner rules is printed; the two sides of a frame alone do not make a page ruled. `upright` are
    the long strokes of the page."""
    return len(_unprinted(_stroke_lengths(upright, frame), frame)) < frame.column_count - 1


def contradicts_columns(page: PageInk, frame: Frame) -> bool:
    """Whether the text of a page contradicts the columns: several of their rules are not printed, and text stands there
    or each column looks like two."""
    unprinted = _unprinted(_stroke_lengths(page.upright, frame), frame)
    if len(unprinted) <= MAX_WRONG_RULES:
        return False
    text, rules = _text_along(page, frame), frame.rules
    mean = float(text[max(0, round(rules[0])) : round(rules[-1])].mean())
    least = [float(np.sort(text[_near(rule)])[: RULE_REACH_PX + 1].mean()) for rule in unprinted]
    if sum(ink > MIN_TEXT_AT_RULE * mean for ink in least) > MAX_WRONG_RULES:
        return True
    return _are_pairs(text / max(frame.row_count, 1), rules)


def without_headings(page: PageInk, frame: Frame) -> list[float]:
    """The rules without those at whose place a heading over two columns stands: they are not printed, and much of the
    ink of the columns on both sides is near them."""
    rules = frame.rules
    unprinted = _unprinted(_stroke_lengths(page.upright, frame), frame)
    if not unprinted:  # as on nearly every ruled page
        return list(rules)
    text = _text_along(page, frame)

    def is_under_heading(left: float, rule: float, right: float) -> bool:
        reach = STROKE_REACH * (right - left) / 2
        columns = text[max(0, round(left)) + RULE_REACH_PX : round(right) - RULE_REACH_PX]
        outer = round(reach) - RULE_REACH_PX
        total = int(columns.sum())
        beside = int(columns[:outer].sum() + columns[-outer:].sum())
        near_rule = int(text[round(rule - reach) : round(rule + reach) + 1].sum())
        return near_rule > MIN_HEADING_SHARE * total and beside < MAX_BESIDE_HEADING_SHARE * total

    headings = [
        rule
        for left, rule, right in zip(rules, rules[1:], rules[2:], strict=False)
        if rule in unprinted and is_under_heading(left, rule, right)
    ]
    return [rule for rule in rules if rule not in headings]


def are_divided(upright: Mask, frame: Frame) -> bool:
    """Whether other rules are printed in the middle of several columns: the comb was fitted to every other rule of an
    opening. `upright` are the long strokes of the page."""
    min_length = MIN_CLEARLY_PRINTED * frame.row_count
    lengths = _stroke_lengths(upright, frame)
    divided = 0
    for left, right in pairwise(frame.rules):
        reach = STROKE_REACH * (right - left)
        inside = lengths[max(0, round(left + reach)) : round(right - reach)]
        divided += int(inside.max(initial=0)) > min_length
    return divided > MAX_WRONG_RULES


def beyond_frame(upright: Mask, frame: Frame) -> tuple[bool, bool]:
    """Whether the leftmost and the rightmost column lie beyond the side of the frame: their outer rule is hardly
    printed, their inner one is. `upright` are the long strokes of the page."""
    height = max(frame.row_count, 1)
    lengths = _stroke_lengths(upright, frame)

    def is_beyond(outer_rule: float, inner_rule: float) -> bool:
        outer, inner = (_longest_near(lengths, rule) / height for rule in (outer_rule, inner_rule))
        return outer < MAX_OPEN_PRINTED and inner > MIN_SIDE_PRINTED

    rules = frame.rules
    return is_beyond(rules[0], rules[1]), is_beyond(rules[-1], rules[-2])


def _are_pairs(across: NDArray[np.float64], rules: Sequence[float]) -> bool:
    """Whether each column between the rules is really two: the gaps in their middles are as wide as those at the rules.
    `across` is the share of inked rows at every x."""
    inked = across[across > 2 * MAX_EMPTY_INK]
    if not inked.size:
        return False
    is_gap = across < MAX_GAP_INK * float(inked.mean())
    gaps_in_middles, gaps_at_rules = [], []
    for left, right in pairwise(max(rule, 0.0) for rule in rules):
        middle, reach = (left + right) / 2, GAP_REACH_WIDTHS * (right - left)
        gaps_in_middles.append(_gap_width(is_gap, middle, reach))
        gaps_at_rules.append(_gap_width(is_gap, left, reach))
    between_columns = float(np.median(gaps_at_rules[1:]))
    return between_columns > 0 and float(np.median(gaps_in_middles)) > MIN_MIDDLE_GAP * between_columns


def _gap_width(is_gap: NDArray[np.bool_], x: float, reach: float) -> int:
    """The width of the widest gap within `reach` of `x`, in pixels."""
    part = is_gap[max(0, round(x - reach)) : round(x + reach) + 1]
    return max((end - start for start, end in true_ranges(part)), default=0)


def _unprinted(lengths: NDArray[np.intp], frame: Frame) -> list[float]:
    """The inner rules of which hardly anything is printed; `lengths` are those of `_stroke_lengths`."""
    min_length = MIN_PRINTED_SHARE * frame.row_count
    return [rule for rule in frame.rules[1:-1] if _longest_near(lengths, rule) < min_length]


def _text_along(page: PageInk, frame: Frame) -> NDArray[np.intp]:
    """The amount of ink at every x between top and bottom, without long strokes."""
    strokes, lines = thickened(page.upright[frame.rows], 5, 1), thickened(page.level[frame.rows], 1, 5)
    text = np.where(cv2.bitwise_or(strokes, lines) > 0, 0, page.ink[frame.rows]).astype(np.uint8)
    return inked_along(text, 0)


def _stroke_lengths(upright: Mask, frame: Frame) -> NDArray[np.intp]:
    """The length of long strokes at every x between top and bottom; strokes are thickened, since a rule wanders by a
    pixel or two."""
    return inked_along(thickened(upright[frame.rows], 5, 1), 0)


def _near(rule: float) -> slice:
    return slice(max(0, round(rule) - RULE_REACH_PX), max(0, round(rule) + RULE_REACH_PX + 1))


def _longest_near(lengths: NDArray[np.intp], rule: float) -> int:
    return int(lengths[_near(rule)].max(initial=0))
