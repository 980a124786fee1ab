"""The pairing gate: whether an image carries the page it was paired with, before anything is compared.

A wrong image would give hundreds of flags; it is one finding. The page is scored against its own text and,
where that fits badly, against its neighbours'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from proof.model.notices import Notice, NoticeCode
from proof.text.model import Page

OWN = 60.0
"""Similarity in percent from which an image plainly carries its own page; then no neighbour is asked."""

LEAST = 35.0
"""Similarity in percent below which an image does not carry a page."""

MARGIN = 15.0
"""By how much a neighbour must be more alike than the page's own text."""

REACH = 6
"""Pages on either side that a wrong image is looked for on."""

FEW = 8
"""A page with fewer characters, read or transcribed, is not judged: a title leaf proves nothing."""


HARDLY = 0.1
"""Share of its characters below which a page was not read at all: a blank sheet, a black one."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What an image carries. `fits`: its own page; else `other` is the page that it carries, if one nearby.

    `distance` is how many pages on (negative: back) `other` is, `message` the finding, None where it fits.
    """

    fits: bool
    likeness: float
    other: Page | None
    distance: int
    message: Notice | None = None


def gate(read: str, page: Page, neighbours: Sequence[tuple[int, Page]], fold: Callable[[str], str]) -> Carried:
    """Whether `read`, all that was read on the image, is the text of `page`.

    `neighbours` are other pages with how many pages on (negative: back) they are; `fold` brings forms of
    one word and both scripts together.
    """
    own = page_key(page, str)
    if len(own) >= 3 * FEW and len(read) < HARDLY * len(own):
        return Carried(False, 0.0, None, 0, Notice.of(NoticeCode.HARDLY_READ))
    if len(read) < FEW or len(own) < FEW:
        return Carried(True, 100.0, None, 0)
    shown, likeness = "", fuzz.ratio(read, own)
    if likeness < OWN:  # forms of one word brought together it is no less
        shown = "".join(map(fold, read))
        likeness = fuzz.ratio(shown, page_key(page, fold))
    if likeness >= OWN:
        return Carried(True, likeness, None, 0)
    best, distance, other = 0.0, 0, None
    for steps, neighbour in neighbours:
        score = fuzz.ratio(shown, page_key(neighbour, fold))
        if score > best:
            best, distance, other = score, steps, neighbour
    if other is not None and best >= max(LEAST, likeness + MARGIN):
        return Carried(False, likeness, other, distance, _carries(other, distance))
    if likeness < LEAST:
        return Carried(False, likeness, None, 0, Notice.of(NoticeCode.CARRIES_OTHER))
    return Carried(True, likeness, None, 0)


def neighbours_of(pages: Sequence[Page], number: int) -> list[tuple[int, Page]]:
    """The pages within `REACH` of a page, nearest first, with how many pages on they are."""
    near = [
        (steps, pages[number + steps])
        for steps in range(-REACH, REACH + 1)
        if steps and 0 <= number + steps < len(pages)
    ]
    return sorted(near, key=lambda entry: abs(entry[0]))


def page_key(page: Page, fold: Callable[[str], str]) -> str:
    """All glyph cells of a page, folded, in reading order."""
    return "".join(fold(cell.text) for column in page.columns for cell in column.cells if cell.glyph)


def _carries(other: Page, distance: int) -> Notice:
    """Which page an image carries: 11a, one page on."""
    code = NoticeCode.CARRIES_LATER if distance > 0 else NoticeCode.CARRIES_EARLIER
    return Notice.of(code, page=str(other.folio) if other.folio else other.id, number=abs(distance))
