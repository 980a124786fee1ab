"""The pairing gate: whether an image shows the page it was paired with, before anything is compared.

A wrong image is one finding, not hundreds of flags. The text read on the image is compared with the page and, where
that fits badly, with the pages around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from proof.model.notices import Notice, NoticeCode
from proof.text.model import Page
from proof.verify.line_assignment import line_key

OWN_PERCENT = 60.0
"""Similarity, in percent, from which on the image shows its page, and no neighbours are compared."""

MIN_PERCENT = 35.0
"""Similarity, in percent, below which an image does not show a page."""

MARGIN_PERCENT = 15.0
"""By how much more similar a neighbour must be than the page itself."""

REACH_PAGES = 6
"""Pages on either side with which an image is compared."""

MIN_CHARACTERS = 8
"""Characters, read and transcribed, below which a page is not judged: a title leaf proves nothing."""

HARDLY_READ_SHARE = 0.1
"""Characters read, relative to those transcribed, below which the image was not read at all: it is blank or black."""


@dataclass(frozen=True, slots=True)
class PageShown:
    """Which page an image shows. `fits`: the one it was paired with. Otherwise `other` is the page that it shows, if
    that is nearby, and `message` says so. `likeness` is the similarity to the paired page, in percent."""

    fits: bool
    likeness: float
    other: Page | None
    message: Notice | None = None


def gate(read: str, page: Page, neighbours: Sequence[tuple[int, Page]], fold: Callable[[str], str]) -> PageShown:
    """Compare `read`, all the text read on an image, with `page` and its `neighbours`, each with how many pages later
    (negative: earlier) it is. `fold` maps forms of one word and both scripts to one key."""
    transcribed = page_key(page, str)
    if len(transcribed) >= 3 * MIN_CHARACTERS and len(read) < HARDLY_READ_SHARE * len(transcribed):
        return PageShown(False, 0.0, None, Notice.of(NoticeCode.HARDLY_READ))
    if len(read) < MIN_CHARACTERS or len(transcribed) < MIN_CHARACTERS:
        return PageShown(True, 100.0, None)
    shown, likeness = "", fuzz.ratio(read, transcribed)
    if likeness < OWN_PERCENT:  # folding never lowers it
        shown = "".join(map(fold, read))
        likeness = fuzz.ratio(shown, page_key(page, fold))
    if likeness >= OWN_PERCENT:
        return PageShown(True, likeness, None)
    best, distance, other = 0.0, 0, None
    for steps, neighbour in neighbours:
        score = fuzz.ratio(shown, page_key(neighbour, fold))
        if score > best:
            best, distance, other = score, steps, neighbour
    if other is not None and best >= max(MIN_PERCENT, likeness + MARGIN_PERCENT):
        return PageShown(False, likeness, other, _shows_other(other, distance))
    if likeness < MIN_PERCENT:
        return PageShown(False, likeness, None, Notice.of(NoticeCode.CARRIES_OTHER))
    return PageShown(True, likeness, None)


def neighbours_of(pages: Sequence[Page], number: int) -> list[tuple[int, Page]]:
    """The pages within `REACH_PAGES` of a page, nearest first, each with how many pages later it is."""
    near = [
        (steps, pages[number + steps])
        for steps in range(-REACH_PAGES, REACH_PAGES + 1)
        if steps and 0 <= number + steps < len(pages)
    ]
    return sorted(near, key=lambda entry: abs(entry[0]))


def page_key(page: Page, fold: Callable[[str], str]) -> str:
    """The characters of a page in reading order, folded."""
    return "".join(line_key(column, fold) for column in page.columns)


def _shows_other(other: Page, distance: int) -> Notice:
    """The notice for an image that shows another page."""
    code = NoticeCode.CARRIES_LATER if distance > 0 else NoticeCode.CARRIES_EARLIER
    return Notice.of(code, page=str(other.folio) if other.folio else other.id, number=abs(distance))
