"""Whether an image shows the page that it was paired with. This is tested before columns are compared, so that a wrong
image is one finding, not hundreds of flags.

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
"""Similarity, in percent, from which on an image surely shows its page. The neighbours are then not compared."""

MIN_PERCENT = 35.0
"""Minimum similarity, in percent, of an image and the page that it shows."""

MARGIN_PERCENT = 15.0
"""Minimum excess, in percent, of the similarity of a neighbour over that of the page itself, for the image to show the
neighbour."""

REACH_PAGES = 6
"""Number of pages on either side with which an image is compared."""

MIN_CHARACTERS = 8
"""Minimum number of characters, read and transcribed, of a page that is judged: a title leaf proves nothing."""

MIN_TRANSCRIBED = 24
"""Minimum number of transcribed characters of a page that an image cannot show if hardly any characters are read."""

HARDLY_READ_SHARE = 0.1
"""Number of characters read, as a share of those transcribed, below which an image is blank, black or otherwise
illegible."""


@dataclass(frozen=True, slots=True)
class PageShown:
    """Which page an image shows. `fits`: it is the page that the image was paired with, or there is no evidence to the
    contrary. Otherwise `message` says so, and `other` is the page that it shows, if that is nearby. `likeness` is the
    similarity to the paired page, in percent."""

    fits: bool
    likeness: float
    other: Page | None
    message: Notice | None = None


def page_shown(read: str, page: Page, neighbours: Sequence[tuple[int, Page]], fold: Callable[[str], str]) -> PageShown:
    """Which page an image shows: `page`, or one of its `neighbours`. `read` is all text read on the image. With each
    neighbour stands how many pages later it is (negative: earlier). `fold` maps forms of one word and both scripts to
    one key."""
    transcribed = page_key(page, fold=str)  # not folded
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
    scores = [fuzz.ratio(folded, page_key(neighbour, fold)) for _, neighbour in neighbours]
    best = max(scores, default=0.0)
    if best >= max(MIN_PERCENT, likeness + MARGIN_PERCENT):
        distance, other = neighbours[scores.index(best)]
        return PageShown(False, likeness, other, _shows_other(other, distance))
    if likeness < MIN_PERCENT:
        return PageShown(False, likeness, None, Notice.of(NoticeCode.CARRIES_OTHER))
    return PageShown(True, likeness, None)


def neighbours_of(pages: Sequence[Page], number: int) -> list[tuple[int, Page]]:
    """The pages within `REACH_PAGES` of a page, nearest first, each with how many pages later it is."""
    neighbours = [
        (steps, pages[number + steps])
        for steps in range(-REACH_PAGES, REACH_PAGES + 1)
        if steps and 0 <= number + steps < len(pages)
    ]
    return sorted(neighbours, key=lambda neighbour: abs(neighbour[0]))


def page_key(page: Page, fold: Callable[[str], str]) -> str:
    """The characters of a page in reading order, folded."""
    return "".join(line_key(column, fold) for column in page.columns)


def _shows_other(other: Page, distance: int) -> Notice:
    """The notice for an image that shows another page."""
    code = NoticeCode.CARRIES_LATER if distance > 0 else NoticeCode.CARRIES_EARLIER
    return Notice.of(code, page=str(other.folio) if other.folio else other.id, number=abs(distance))
