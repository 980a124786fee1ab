"""Whether an image shows the page that it was paired with, which is asked before columns are compared: a wrong image is
one finding, not hundreds of flags.

The text read on the image is compared with the text of the page and, if they differ much, with the pages nearby.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from proof.model.notices import Notice, NoticeCode
from proof.text.model import Page
from proof.verify.line_assignment import line_key

OWN_PERCENT = 60.0
"""Similarity, in percent, from which on an image shows its page, and its neighbours are not compared."""

MIN_PERCENT = 35.0
"""Similarity, in percent, below which an image does not show a page."""

MARGIN_PERCENT = 15.0
"""By how many percent more a neighbour must be similar than the page itself, to be the page that an image shows."""

REACH_PAGES = 6
"""Pages on either side with which an image is compared."""

MIN_CHARACTERS = 8
"""Number of characters, read or transcribed, below which a page is not judged: a title leaf proves nothing."""

MIN_TRANSCRIBED = 24
"""Number of transcribed characters from which on an image on which hardly any are read cannot show the page."""

HARDLY_READ_SHARE = 0.1
"""Characters read, as a share of those transcribed, below which an image is blank, black or otherwise illegible."""


@dataclass(frozen=True, slots=True)
class PageShown:
    """Which page an image shows. `fits`: the page it was paired with, or nothing shows the contrary. Otherwise
    `message` says so, and `other` is the page that it shows, if that is nearby. `likeness` is the similarity to the
    paired page, in percent."""

    fits: bool
    likeness: float
    other: Page | None
    message: Notice | None = None


def page_shown(read: str, page: Page, neighbours: Sequence[tuple[int, Page]], fold: Callable[[str], str]) -> PageShown:
    """Which page an image shows, by `read`, all the text read on it: `page`, or one of its `neighbours`. With each of
    these stands how many pages later it is (negative: earlier). `fold` maps forms of one word and both scripts to one
    key."""
    transcribed = page_key(page, str)
    if len(transcribed) >= MIN_TRANSCRIBED and len(read) < HARDLY_READ_SHARE * len(transcribed):
        return PageShown(False, 0.0, None, Notice.of(NoticeCode.HARDLY_READ))
    if len(read) < MIN_CHARACTERS or len(transcribed) < MIN_CHARACTERS:
        return PageShown(True, 100.0, None)
    folded, likeness = "", fuzz.ratio(read, transcribed)
    if likeness < OWN_PERCENT:  # folding takes time, and it never lowers the similarity
        folded = "".join(map(fold, read))
        likeness = fuzz.ratio(folded, page_key(page, fold))
    if likeness >= OWN_PERCENT:
        return PageShown(True, likeness, None)
    best, distance, other = 0.0, 0, None
    for steps, neighbour in neighbours:
        score = fuzz.ratio(folded, page_key(neighbour, fold))
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
