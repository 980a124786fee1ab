"""Filters, orders, pages, flags and counts of the queue."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.errors import PublicError
from proof.model.flags import Flag, Kind
from proof.store.decision_records import State
from proof.store.models import PageRow
from proof.store.page_states import PageState

Pair = tuple[str, str]
"""What is transcribed, and what is read there."""


class Order(StrEnum):
    """Most suspicious first, or as the pages and columns run."""

    SCORE = "score"
    PAGE = "page"


class CursorError(PublicError):
    """A cursor that this list did not give, or that a new check made useless: begin at the start."""

    http_status = 400


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """A filter of flags. Empty tuples and None mean all; pages are numbers in the order of the work, from 1, both ends
    included; `raised` None includes hidden flags. A moved character is one question: of its two flags the less
    suspicious is left out if both match, unless `halves` is set."""

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
    """A page as a list shows it: `number` is its own for good, `position` counts the pages of the work from 1;
    `changed`: its text was changed since it was proofread."""

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
        """The juan that the page is counted with: as its text names it, else its file."""
        return self.juan or Path(self.text).stem


_SAME = ("page", "repeat", "ref", "text", "juan", "folio", "status", "width", "height")
"""Columns of `pages` that a listed page has under the same name."""

_LISTED = (PageRow.id, PageRow.characters_checked, PageRow.image, PageRow.image_sha)
_COLUMNS = (*_LISTED, *(getattr(PageRow, name) for name in _SAME))
"""All of its columns: rows of these alone are read in a fifth of the time of whole ones."""


def listed_pages(session: Session, work_id: int) -> list[ListedPage]:
    """The pages of a work in their order."""
    query = select(*_COLUMNS).where(PageRow.work_id == work_id, PageRow.absent.is_(False))
    query = query.order_by(PageRow.text, PageRow.position, PageRow.id)
    return [listed_page(row, position) for position, row in enumerate(session.execute(query), 1)]


def listed_page(row: Any, position: int) -> ListedPage:
    """A page as lists show it, from its row."""
    return ListedPage(
        number=row.id,
        position=position,
        characters=row.characters_checked,
        image_sha=row.image_sha if row.image else "",
        **{name: getattr(row, name) for name in _SAME},
    )


@dataclass(frozen=True, slots=True)
class QueuedFlag:
    """A flag with its state, under the `number` that decisions use; of a moved character with the `other` half, while
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
class Facets:
    """Counts on every filter: the result of each choice, with all other filters as they are.

    `scores` counts the flags of each step of the score between `edges` (one more than there are steps).
    """

    total: int
    kinds: dict[Kind, int]
    states: dict[State, int]
    pairs: tuple[tuple[Pair, int], ...]
    juans: tuple[tuple[str, int], ...]
    scores: tuple[int, ...]
    edges: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class WorkPair:
    """A pair of transcribed and suggested text: its flags, and those still open."""

    text: str
    image: str
    count: int
    open: int


@dataclass(frozen=True, slots=True)
class JuanCount:
    """A juan in numbers: raised flags, how many of them are settled, and how many of these are errors (`upheld`);
    errors that people confirmed, found by hand as well; samples that were decided and how many of them were wrong."""

    juan: str
    pages: int
    characters: int
    flagged: int
    settled: int
    upheld: int
    confirmed: int
    samples: int
    missed: int


@dataclass(frozen=True, slots=True)
class WorkLeft:
    """The work left: unsettled flags by state, pages with an image to be proofread and to be validated, and open
    problems of flags and pages."""

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
