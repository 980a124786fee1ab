"""Whether equal columns that were laid on the rules of a page are those of its text.

Two sides of a frame and a rule or two fit many combs. On a page that is ruled as the comb says nearly all its text
stands between the outermost rules, and where a rule is not printed there is hardly any ink all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.gaps import Span, are_pairs
from proof.layout.rules import Mask, inked_along, thickened

AROUND = 4
"""Pixels to either side of where a rule should be that are looked at for text."""

CROSSED = 0.5
"""Of the ink that there is on average in a column's breadth: with more of it where a rule should be, text stands
there."""

CROSSINGS = 2
"""In so many places at least text stands where a rule should be."""

MIN_PRINTED_SHARE = 0.1
"""Of its length: of a rule that is printed, however badly, there is more."""

MAX_SIDES = 3
"""Rules of which anything is printed: so many and no more may be the sides of a frame and a line of a drawing, wherever
they fit columns."""

MIN_PRINTED_RUN = 0.15
"""Of a rule's length: with so much in one piece something of it is printed, which is more than strokes of text stand
below each other by chance. Of real pages that are ruled, eight of nine rules and more are printed so far."""

PLAINLY_PRINTED = 0.35
"""Of their length: with more printed of the rules on average, they are rules, whatever stands between them."""

MAX_UNPRINTED = 2
"""And so they are where of fewer than so many nothing is printed."""

MAX_OPEN_PRINTED = 0.25
"""Of its length: of the outermost rule no more is printed where a column lies beyond the side of a frame."""

MIN_SIDE_PRINTED = 0.5
"""Of its length: so much is printed of the side of such a frame. An ear beside a frame is as high as the one."""

BESIDE = 0.25
"""Of a column's width: so far from the outermost rules no stroke of their columns reaches."""

OUTSIDE = 1.4
"""Columns of ink that may stand outside: half a fold strip and part of the other half-folio do."""


def has_rules(upright: Mask, rules: Sequence[float], rows: tuple[float, float]) -> bool:
    """Whether anything is printed of the inner ones of `rules` (x, left to right) from top to bottom (`rows`): the two
    sides of a frame alone rule no page. `upright` are the long strokes of its ink."""
    top, bottom = max(0, round(rows[0])), round(rows[1])
    strokes = _runs(upright, top, bottom)
    return any(int(strokes[_about(rule)].max(initial=0)) > MIN_PRINTED_SHARE * (bottom - top) for rule in rules[1:-1])


def text_against(
    ink: Mask, upright: Mask, level: Mask, rules: Sequence[float], rows: tuple[float, float], support: float
) -> bool:
    """Whether the text of a page speaks against columns between these `rules` (x, left to right) from top to bottom
    (`rows`): nothing is printed of all but two or three of them, which may be sides of a frame, several of them run
    through it, more than a column of it stands outside, or, where hardly any of a rule is printed and of two nothing,
    the columns are two each, as those of a page of notes are, too. `ink` is all of the page, `upright` and `level` the
    long strokes of it, `support` the mean share of the height along which the rules run."""
    top, bottom = max(0, round(rows[0])), round(rows[1])
    strokes, lines = thickened(upright[top:bottom], 5, 1), thickened(level[top:bottom], 1, 5)
    text = inked_along(np.where(cv2.bitwise_or(strokes, lines) > 0, 0, ink[top:bottom]).astype(np.uint8), 0)
    left, right, width = max(0, round(rules[0])), round(rules[-1]), rules[1] - rules[0]
    mean = float(text[left:right].mean()) if right > left else 0.0
    if not mean:
        return False
    apart = round(BESIDE * width)
    outside = int(text[: max(0, left - apart)].sum()) + int(text[right + apart :].sum())
    runs = inked_along(strokes, 0)
    printed = sum(int(runs[_about(rule)].max(initial=0)) > MIN_PRINTED_RUN * (bottom - top) for rule in rules)
    if printed <= MAX_SIDES or outside > OUTSIDE * mean * width or _crossed(text, runs, rules, bottom - top, mean):
        return True
    return (
        support < PLAINLY_PRINTED
        and printed <= len(rules) - MAX_UNPRINTED
        and are_pairs(text / max(bottom - top, 1), [Span(max(a, 0.0), b) for a, b in pairwise(rules)])
    )


def parted(upright: Mask, rules: Sequence[float], rows: tuple[float, float]) -> bool:
    """Whether other rules are printed in the middle of several of the columns between these `rules` (x, left to right)
    from top to bottom (`rows`): a comb laid on every other rule of an opening. `upright` are the long strokes of its
    ink."""
    top, bottom = max(0, round(rows[0])), round(rows[1])
    strokes = _runs(upright, top, bottom)
    inside = (strokes[max(0, round(a + BESIDE * (b - a))) : round(b - BESIDE * (b - a))] for a, b in pairwise(rules))
    return sum(int(part.max(initial=0)) > PLAINLY_PRINTED * (bottom - top) for part in inside) >= CROSSINGS


def unbounded(upright: Mask, rules: Sequence[float], rows: tuple[float, float]) -> tuple[bool, bool]:
    """Whether the first and the last column between these `rules` (x, left to right) have no rule on their outer side
    from top to bottom (`rows`), and one that runs far on their inner side, as beyond the side of a frame. `upright` are
    the long strokes of its ink."""
    top, bottom = max(0, round(rows[0])), round(rows[1])
    strokes = _runs(upright, top, bottom)
    share = [int(strokes[_about(rule)].max(initial=0)) / max(bottom - top, 1) for rule in rules]
    first, last = (outer < MAX_OPEN_PRINTED and inner > MIN_SIDE_PRINTED for outer, inner in (share[:2], share[:-3:-1]))
    return first, last


def _crossed(
    text: NDArray[np.intp], strokes: NDArray[np.intp], rules: Sequence[float], height: int, mean: float
) -> bool:
    """Whether text stands where several of the inner rules should be."""
    bare = [_about(rule) for rule in rules[1:-1] if strokes[_about(rule)].max(initial=0) < MIN_PRINTED_SHARE * height]
    here = [np.sort(text[place])[: AROUND + 1] for place in bare]
    return sum(bool(ink.size) and float(ink.mean()) > CROSSED * mean for ink in here) >= CROSSINGS


def _runs(upright: Mask, top: int, bottom: int) -> NDArray[np.intp]:
    """How far long strokes run down every x between two y: a rule wanders by a pixel or two."""
    return inked_along(thickened(upright[top:bottom], 5, 1), 0)


def _about(rule: float) -> slice:
    return slice(max(0, round(rule) - AROUND), max(0, round(rule) + AROUND + 1))
