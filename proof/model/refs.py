"""Half-folios, image references and page ids: their parsing and spelling, and breaks in a sequence of pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from proof.errors import UsageError
from proof.locale.marking import _
from proof.model.notices import Notice, NoticeCode

MIN_OPENINGS = 3
"""Minimum number of printed pages, none with a quadrant c or d, to be taken for openings of two half-folios."""

MIN_PASSAGES = 3
"""Minimum number of pages that are taken to be passages, not half-folios, if all are of side a."""

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
            raise UsageError(
                _("%(text)s is not a half-folio: write the leaf and its side, such as 10a or 10b"), text=repr(text)
            )
        return folio

    def __str__(self) -> str:
        return f"{self.leaf}{self.side}"

    @property
    def ordinal(self) -> int:
        """The number of half-folios since `0a`; neighbours differ by one."""
        return 2 * self.leaf + (self.side == "b")

    def successor(self) -> Folio:
        """The next half-folio in reading order: 1a, 1b, 2a."""
        return Folio(self.leaf, "b") if self.side == "a" else Folio(self.leaf + 1, "a")

    def distance(self, other: Folio) -> int:
        """The number of half-folios from this one to `other`; negative if `other` comes first."""
        return other.ordinal - self.ordinal


@dataclass(frozen=True, slots=True, order=True)
class ImageRef:
    """An image reference, `WYG0103-0192c`: edition, volume, printed page and quadrant ('' for the plate).

    If the printed pages are openings of two half-folios, there are only quadrants a and b.
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
        """The reference in the name of a file (`WYG0103/WYG0103-0192c.png`), or alone; None if there is none."""
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

    def distance(self, other: ImageRef, parts: int = 4) -> int | None:
        """The number of images from this one to `other`: plates between two plates, half-folios between two quadrants,
        with `parts` half-folios in a printed page. None if the editions or volumes differ, or if only one of the two is
        a plate."""
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
        """The page id in `text`, or None if it has another form."""
        match = _PAGE_ID.fullmatch(text.strip())
        folio = Folio.match(match["folio"]) if match else None
        return cls(match["work"], match["edition"], match["juan"], folio) if match and folio else None

    def __str__(self) -> str:
        return f"{self.work}_{self.edition}_{self.juan}-{self.folio}"


SequencePage = tuple[Folio | None, ImageRef | None]
"""A page of a sequence: its half-folio and its image reference, each None if unknown."""


def are_passages(folios: Sequence[Folio | None]) -> bool:
    """Whether pages are not half-folios: editions that are divided into passages have only `1a`, `2a`, `3a` ..."""
    return len(folios) >= MIN_PASSAGES and all(folio is not None and folio.side == "a" for folio in folios)


def sequence_findings(pages: Iterable[SequencePage], juans: Sequence[str] = ()) -> list[Notice]:
    """A notice for every break in a sequence of pages, in order; `juans` has the juan of each page, if known.

    Folios and references advance together by one, with these exceptions:

    - At the start of a juan (1a, or a folio of another juan that goes back) folios begin anew. References may then skip
      a blank half-folio or continue in another volume, but not go back.
    - The first leaf of a juan may stand alone on its plate: up to 2b, references may skip to the next plate.
    - A whole plate has four half-folios. Openings have no quadrants c and d.
    - Passages without images advance by a leaf.
    """
    findings: list[Notice] = []
    pages = list(pages)
    refs = [ref for _, ref in pages if ref]
    parts = _parts_of_a_page([ref for ref in refs if not ref.is_plate])
    unit = 2 if not refs and are_passages([folio for folio, _ in pages]) else 1
    for number, (before, after) in enumerate(pairwise(pages)):
        difference = _break(before, after, parts, unit, new_juan=len(set(juans[number : number + 2])) > 1)
        if difference is not None:
            findings.append(Notice.of(NoticeCode.SEQUENCE, one=_place(before), other=_place(after), what=difference))
    return findings


def _parts_of_a_page(refs: Sequence[ImageRef]) -> int:
    """The number of half-folios in a printed page: two if `refs`, all of quadrants, are of openings, else four."""
    openings = len({ref.plate for ref in refs}) >= MIN_OPENINGS and all(ref.quadrant in "ab" for ref in refs)
    return 2 if openings else 4


def _break(before: SequencePage, after: SequencePage, parts: int, unit: int, *, new_juan: bool) -> Notice | None:
    """The break between two consecutive pages; None if there is none. A page is `unit` half-folios. `new_juan`: they
    are of two juans."""
    (folio, ref), (next_folio, next_ref) = before, after
    folio_step = folio.distance(next_folio) // unit if folio and next_folio else None
    image_step = ref.distance(next_ref, parts) if ref and next_ref else None
    is_incomparable = image_step is None and ref is not None and next_ref is not None
    goes_back = new_juan and folio_step is not None and folio_step <= 0
    if goes_back or _juan_starts(folio, next_folio, image_step, is_incomparable):
        if image_step is not None and image_step < 0:
            return Notice.of(NoticeCode.JUAN_BACK)
        if image_step == 0 and ref and not ref.is_plate:
            return Notice.of(NoticeCode.JUAN_ON_SAME_IMAGE)
        return None
    if is_incomparable:
        return Notice.of(NoticeCode.VOLUME_WITHIN_JUAN)
    if ref and next_ref and ref.is_plate and image_step is not None:
        image_step = _plates_as_half_folios(image_step, folio_step)
    steps = {step for step in (folio_step, image_step) if step is not None}
    if steps <= {1} or _first_plate_ends(next_folio, next_ref, folio_step, image_step):
        return None
    return _unequal_steps(folio_step, image_step) if len(steps) > 1 else _equal_steps(steps.pop())


def _equal_steps(step: int) -> Notice:
    """The break if folios and images advance by the same `step`, not 1, or only one of them is known."""
    if step == 0:
        return Notice.of(NoticeCode.SAME_PAGE)
    if step > 1:
        return Notice.of(NoticeCode.HALF_FOLIOS_MISSING, number=step - 1)
    return Notice.of(NoticeCode.PAGES_BACK, number=-step)


def _unequal_steps(folio_step: int | None, image_step: int | None) -> Notice:
    """The break if folios and images advance unequally."""
    if folio_step == 0:
        return Notice.of(NoticeCode.FOLIO_STAYS, number=image_step or 0)
    if image_step == 0:
        return Notice.of(NoticeCode.IMAGE_STAYS, number=folio_step or 0)
    return Notice.of(NoticeCode.UNEQUAL_STEPS, folios=folio_step or 0, images=image_step or 0)


def _juan_starts(folio: Folio | None, next_folio: Folio | None, image_step: int | None, is_incomparable: bool) -> bool:
    """Whether the second page begins a juan. After a juan of one half-folio, the next one begins at least two images
    later; otherwise the folio was counted twice."""
    if next_folio != Folio(1, "a") or folio is None:
        return False
    return folio != next_folio or is_incomparable or (image_step is not None and image_step > 1)


def _first_plate_ends(
    next_folio: Folio | None, next_ref: ImageRef | None, folio_step: int | None, image_step: int | None
) -> bool:
    """Whether the images skip only the blank rest of the plate on which the first leaf of a juan stands alone."""
    skips_images = folio_step == 1 and image_step in (2, 3)
    follows_first_leaf = next_folio is not None and next_folio <= Folio(2, "b")
    begins_plate = next_ref is not None and next_ref.quadrant == "a"
    return skips_images and follows_first_leaf and begins_plate


def _plates_as_half_folios(plates: int, folio_step: int | None) -> int:
    """The advance by `plates` as a number of half-folios: that of the folios, if possible."""
    if folio_step is not None and abs(4 * plates - folio_step) < 4:
        return folio_step
    return 1 if folio_step is None and plates in (0, 1) else 4 * plates


def _place(page: SequencePage) -> str | Notice:
    """The page in a notice."""
    folio, ref = page
    if folio and ref:
        return f"{folio} ({ref})"
    return str(folio or ref) if folio or ref else Notice.of(NoticeCode.UNNUMBERED)
