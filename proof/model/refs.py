"""Half-folios, image references and page ids: parsing, writing, and the order of pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import ClassVar

from proof.errors import UsageError
from proof.model.notices import Notice, NoticeCode

MIN_OPENINGS = 3
"""Fewest pages of a volume, all without quadrants c and d, that are taken for openings."""

_FOLIO = re.compile(r"([0-9]{1,6})([ab])", re.IGNORECASE)
_IMAGE_REF = re.compile(
    r"(?P<edition>[^\W\d_](?:[\w-]*?[^\W\d_])?)(?P<volume>[0-9]{1,6})-(?P<page>[0-9]{1,6})(?P<quadrant>[a-d]?)",
    re.IGNORECASE,
)
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
_PAGE_ID = re.compile(r"(?P<work>\S+)_(?P<edition>[^\s_]+)_(?P<juan>[^\s_-]+)-(?P<folio>[0-9]+[A-Za-z])")


@dataclass(frozen=True, slots=True, order=True)
class Folio:
    """A half-folio of a juan: `1a` is the right half of leaf 1, `1b` the left."""

    leaf: int
    side: str

    def __post_init__(self) -> None:
        if self.leaf < 0 or self.side not in ("a", "b"):
            raise ValueError(f"no half-folio: leaf {self.leaf}, side {self.side!r} (sides are a and b)")

    @classmethod
    def match(cls, text: str) -> Folio | None:
        """The half-folio that `text` names (`10a`, `010A`), or None."""
        match = _FOLIO.fullmatch(text.strip())
        return cls(int(match[1]), match[2].lower()) if match else None

    @classmethod
    def parse(cls, text: str) -> Folio:
        """The half-folio that `text` names. Raises UsageError."""
        folio = cls.match(text)
        if folio is None:
            raise UsageError(f"{text!r} is no half-folio: write the leaf and its side, such as 10a or 10b")
        return folio

    def __str__(self) -> str:
        return f"{self.leaf}{self.side}"

    @property
    def ordinal(self) -> int:
        """Half-folios since `0a`; neighbours differ by one."""
        return 2 * self.leaf + (self.side == "b")

    def successor(self) -> Folio:
        """The next half-folio in reading order: 1a, 1b, 2a."""
        return Folio(self.leaf, "b") if self.side == "a" else Folio(self.leaf + 1, "a")

    def distance(self, other: Folio) -> int:
        """How many half-folios `other` stands after this one; negative where it stands before."""
        return other.ordinal - self.ordinal


@dataclass(frozen=True, slots=True, order=True)
class ImageRef:
    """An image reference, `WYG0103-0192c`: edition, volume, printed page and quadrant ('' for the plate).

    Where the pages of a volume are openings of two half-folios, these are a and b.
    """

    QUADRANTS: ClassVar[str] = "abcd"

    edition: str
    volume: int
    page: int
    quadrant: str

    def __post_init__(self) -> None:
        if min(self.volume, self.page) < 0 or self.quadrant not in ("", *self.QUADRANTS):
            raise ValueError(f"no image reference: {self.volume}-{self.page}, quadrant {self.quadrant!r}")

    @classmethod
    def match(cls, text: str) -> ImageRef | None:
        """The reference in a file name or path (`WYG0103/WYG0103-0192c.png`) or standing alone, or None."""
        name = re.split(r"[\\/]", text.strip())[-1]
        match = _IMAGE_REF.fullmatch(_EXTENSION.sub("", name))
        if match is None:
            return None
        return cls(match["edition"].upper(), int(match["volume"]), int(match["page"]), match["quadrant"].lower())

    def __str__(self) -> str:
        return f"{self.edition}{self.volume:04}-{self.page:04}{self.quadrant}"

    @property
    def plate(self) -> ImageRef:
        """The whole printed page, four half-folios, that this quadrant is on."""
        return ImageRef(self.edition, self.volume, self.page, "")

    @property
    def is_plate(self) -> bool:
        return not self.quadrant

    @property
    def quadrant_index(self) -> int | None:
        """0 to 3 for a (upper right), b (upper left), c (lower right), d (lower left); None for a plate."""
        return self.QUADRANTS.index(self.quadrant) if self.quadrant else None

    def successor(self, parts: int = 4) -> ImageRef:
        """The next image in the volume: the next of the `parts` of a page, the next page after the last, or the next
        plate."""
        index = self.quadrant_index
        if index is None:
            return ImageRef(self.edition, self.volume, self.page + 1, "")
        following = index + 1
        return ImageRef(self.edition, self.volume, self.page + following // parts, self.QUADRANTS[following % parts])

    def distance(self, other: ImageRef, parts: int = 4) -> int | None:
        """How many images `other` stands after this one: half-folios, `parts` a page, or plates between two plates.

        None where the two cannot be counted through: another edition or volume, a plate and a quadrant.
        """
        if (self.edition, self.volume, self.is_plate) != (other.edition, other.volume, other.is_plate):
            return None
        pages = other.page - self.page
        if self.quadrant_index is None or other.quadrant_index is None:
            return pages
        return parts * pages + other.quadrant_index - self.quadrant_index


@dataclass(frozen=True, slots=True)
class PageId:
    """The id in a Kanripo page mark, `KR1d0087_WYG_223-17b`: work, edition, juan as written, half-folio."""

    work: str
    edition: str
    juan: str
    folio: Folio

    @classmethod
    def match(cls, text: str) -> PageId | None:
        """The parts of a page id, or None where it is built otherwise."""
        match = _PAGE_ID.fullmatch(text.strip())
        folio = Folio.match(match["folio"]) if match else None
        return cls(match["work"], match["edition"], match["juan"], folio) if match and folio else None

    def __str__(self) -> str:
        return f"{self.work}_{self.edition}_{self.juan}-{self.folio}"


class Break(StrEnum):
    """How a sequence of pages is broken."""

    GAP = "gap"
    REPEAT = "repeat"
    JUMP = "jump"


@dataclass(frozen=True, slots=True)
class SequenceFinding:
    """A break in a sequence of pages, at the page `index`, from 0.

    `folio` and `ref` are those of the page; `expected_folio` and `expected_ref` would have continued the sequence.
    """

    kind: Break
    index: int
    folio: Folio | None
    ref: ImageRef | None
    expected_folio: Folio | None
    expected_ref: ImageRef | None
    notice: Notice


Leaf = tuple[Folio | None, ImageRef | None]
"""A page in a sequence: its half-folio and its image reference, either of which may be unknown."""


def sequence_findings(pages: Iterable[Leaf], juans: Sequence[str] = ()) -> list[SequenceFinding]:
    """Gaps, repeats and jumps in a sequence of pages, in order; `juans` names the juan of each, where these are known.

    Folios and references advance together by one, with these exceptions:

    - At the start of a juan (1a, or a folio that goes back to another juan) folios begin anew. References may then skip
      a blank half or continue in another volume, but not go back.
    - The first leaf of a juan may stand alone on its plate: up to 2b, references may skip to the next plate.
    - A whole plate has four half-folios. Openings have no quadrants c and d.

    Anything else is a finding: a *gap* if folios and images skip the same number of pages, a *repeat* if a folio or an
    image comes twice, a *jump* if one goes back or the two advance unequally.
    """
    findings: list[SequenceFinding] = []
    pages = list(pages)
    parts = _parts_of_a_page([ref for _, ref in pages if ref and not ref.is_plate])
    for index, (before, after) in enumerate(pairwise(pages), start=1):
        broken = _break(before, after, parts, begins=len(set(juans[index - 1 : index + 1])) > 1)
        if broken is not None:
            kind, difference = broken
            folio, ref = before
            expected_folio = folio.successor() if folio else None
            expected_ref = ref.successor(parts) if ref else None
            notice = Notice.of(NoticeCode.SEQUENCE, one=_place(before), other=_place(after), what=difference)
            findings.append(SequenceFinding(kind, index, *after, expected_folio, expected_ref, notice))
    return findings


def _parts_of_a_page(refs: Sequence[ImageRef]) -> int:
    """Half-folios of an image: two if the images are openings, else four."""
    openings = len({ref.plate for ref in refs}) >= MIN_OPENINGS and all(ref.quadrant in "ab" for ref in refs)
    return 2 if openings else 4


def _break(before: Leaf, after: Leaf, parts: int, *, begins: bool) -> tuple[Break, Notice] | None:
    """The break between two consecutive pages, with its notice; None if there is none. `begins`: another juan does."""
    (folio, ref), (next_folio, next_ref) = before, after
    leaves = folio.distance(next_folio) if folio and next_folio else None
    images = ref.distance(next_ref, parts) if ref and next_ref else None
    elsewhere = images is None and ref is not None and next_ref is not None
    if (begins and leaves is not None and leaves <= 0) or _juan_starts(folio, next_folio, images, elsewhere):
        if images is not None and images < 0:
            return Break.JUMP, Notice.of(NoticeCode.JUAN_BACK)
        if images == 0 and ref and not ref.is_plate:
            return Break.REPEAT, Notice.of(NoticeCode.JUAN_ON_SAME_IMAGE)
        return None
    if elsewhere:
        return Break.JUMP, Notice.of(NoticeCode.VOLUME_WITHIN_JUAN)
    if ref and next_ref and ref.is_plate and images is not None:
        images = _images_as_half_folios(images, leaves)
    steps = {step for step in (leaves, images) if step is not None}
    if steps <= {1} or _opening_plate_ends(next_folio, next_ref, leaves, images):
        return None
    return _apart(leaves, images) if len(steps) > 1 else _together(steps.pop())


def _together(step: int) -> tuple[Break, Notice]:
    """The break if folios and images advance by the same `step`, or only one of them is known."""
    if step == 0:
        return Break.REPEAT, Notice.of(NoticeCode.SAME_PAGE)
    if step > 1:
        return Break.GAP, Notice.of(NoticeCode.HALF_FOLIOS_MISSING, number=step - 1)
    return Break.JUMP, Notice.of(NoticeCode.PAGES_BACK, number=-step)


def _apart(leaves: int | None, images: int | None) -> tuple[Break, Notice]:
    """The break if folios and images advance unequally."""
    if leaves == 0:
        return Break.REPEAT, Notice.of(NoticeCode.FOLIO_STAYS, number=images or 0)
    if images == 0:
        return Break.REPEAT, Notice.of(NoticeCode.IMAGE_STAYS, number=leaves or 0)
    return Break.JUMP, Notice.of(NoticeCode.UNEQUAL_STEPS, folios=leaves or 0, images=images or 0)


def _juan_starts(folio: Folio | None, next_folio: Folio | None, images: int | None, elsewhere: bool) -> bool:
    """Whether the second page begins a juan. After a juan of one half-folio the next one begins two images further on,
    which tells it from a folio that is counted twice."""
    if next_folio != Folio(1, "a") or folio is None:
        return False
    return folio != next_folio or elsewhere or (images is not None and images > 1)


def _opening_plate_ends(
    next_folio: Folio | None, next_ref: ImageRef | None, leaves: int | None, images: int | None
) -> bool:
    """Whether the images skip only the blank rest of the plate after the first leaf of a juan."""
    return (
        (leaves, images) in ((1, 2), (1, 3))
        and next_folio is not None
        and next_folio <= Folio(2, "b")
        and next_ref is not None
        and next_ref.quadrant == "a"
    )


def _images_as_half_folios(plates: int, leaves: int | None) -> int:
    """How many half-folios an advance by `plates` means: as many as the folios advance, if that is possible."""
    if leaves is not None and abs(4 * plates - leaves) < 4:
        return leaves
    return 1 if leaves is None and plates in (0, 1) else 4 * plates


def _place(page: Leaf) -> str | Notice:
    folio, ref = page
    if folio and ref:
        return f"{folio} ({ref})"
    return str(folio or ref) if folio or ref else Notice.of(NoticeCode.UNNUMBERED)
