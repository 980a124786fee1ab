"""The records of the queue: filters and orders, pages, flags and counts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.errors import PublicError
from proof.model.flags import Flag, Kind
from proof.store.decision_records import State
from proof.store.models import PageRow
from proof.store.page_states import PageState

Pair = tuple[str, str]
"""Transcribed and suggested text."""


class Order(StrEnum):
    """Order of flags: most suspicious first, or in the order of pages and columns."""

    SCORE = "score"
    PAGE = "page"


class CursorError(PublicError):
    """The cursor is not from this list, or a new check made it invalid: begin at the start."""

    http_status = 400


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """A filter of flags. Empty tuples and None mean all. `first_page` and `last_page` (inclusive) are positions in the
    work, from 1; `raised` None includes hidden flags. A moved character is one question: if both of its flags match,
    the less suspicious one is left out, unless `halves` is set."""

    kinds: tuple[Kind, ...] = ()
    states: tuple[State, ...] = ()
    pair: Pair | None = None
    first_page: int | None = None
    last_page: int | None = None
    least_score: float | None = None
    most_score: float | None = None
    raised: bool | None = True
    halves: bool = False
    juan: str | None = None


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page in lists. `number` identifies it permanently, `position` counts the pages of the work from 1. `flags` and
    `open` count its raised and its open flags. `changed`: its text was changed since it was proofread."""

    number: int
    position: int
    page: str
    repeat: int
    ref: str
    text: str
    juan: str
    folio: str
    status: str
    characters: int
    width: int
    height: int
    image_sha: str
    flags: int = 0
    open: int = 0
    state: PageState = PageState.NOT_PROOFREAD
    version: int = 0
    changed: bool = False

    @property
    def juan_name(self) -> str:
        """The juan of the page, or else the name of its file."""
        return self.juan or Path(self.text).stem


_SAME = ("page", "repeat", "ref", "text", "juan", "folio", "status", "width", "height")
"""Columns of `pages` that a listed page has under the same name."""

_LISTED = (PageRow.id, PageRow.characters_checked, PageRow.image, PageRow.image_sha)
_COLUMNS = (*_LISTED, *(getattr(PageRow, name) for name in _SAME))
"""All columns of `pages` that a listed page needs: they are read in a fifth of the time of whole rows."""


def listed_pages(session: Session, work_id: int) -> list[ListedPage]:
    """The present pages of a work in page order."""
    query = select(*_COLUMNS).where(PageRow.work_id == work_id, PageRow.absent.is_(False))
    query = query.order_by(PageRow.text, PageRow.position, PageRow.id)
    return [listed_page(row, position) for position, row in enumerate(session.execute(query), 1)]


def listed_page(row: Any, position: int) -> ListedPage:
    """The listed page of a row that has `_COLUMNS`."""
    return ListedPage(
        number=row.id,
        position=position,
        characters=row.characters_checked,
        image_sha=row.image_sha if row.image else "",
        **{name: getattr(row, name) for name in _SAME},
    )


@dataclass(frozen=True, slots=True)
class QueuedFlag:
    """A flag with its state; decisions refer to its `number`. A flag of a moved character has its `other` half while
    the two are one question."""

    number: int
    flag: Flag
    page: ListedPage
    state: State
    reading: str
    version: int
    stale: bool
    other: QueuedFlag | None = None


@dataclass(frozen=True, slots=True)
class PairCount:
    """The number of flags with `text` as transcribed and `image` as suggested text, and of those that are open."""

    text: str
    image: str
    count: int
    open: int


@dataclass(frozen=True, slots=True)
class JuanFlags:
    """The number of flags in a juan."""

    juan: str
    count: int


class Facets(NamedTuple):
    """For every value of every filter, the number of flags that would match it, with the other filters unchanged.

    `scores` is the histogram of scores between `edges`, of which there is one more than there are bins.
    """

    total: int
    kinds: dict[Kind, int]
    states: dict[State, int]
    pairs: list[PairCount]
    juans: list[JuanFlags]
    scores: list[int]
    edges: list[float]


@dataclass(frozen=True, slots=True)
class JuanCount:
    """The counts of a juan: raised flags, of these settled ones and confirmed errors (`upheld`); confirmed errors that
    are no longer flagged since their corrections are in the text (`exported`); all confirmed errors, including these
    and corrections by hand; decided samples, and the errors among them (`missed`)."""

    juan: str
    pages: int
    characters: int
    flagged: int
    settled: int
    upheld: int
    exported: int
    confirmed: int
    samples: int
    missed: int


@dataclass(frozen=True, slots=True)
class RemainingWork:
    """The work left: unsettled flags by state, pages with an image that are to be proofread or to be validated, and
    open problems of flags and pages."""

    open: int
    unsure: int
    skipped: int
    to_mark: int
    to_validate: int
    problems: int


@dataclass(frozen=True, slots=True)
class WorkSummary:
    """A work with its counts: pages, characters checked, and raised flags by state."""

    name: str
    title: str
    script: str
    pages: int
    characters: int
    states: dict[State, int]
