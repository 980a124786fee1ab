"""Finding anything in one work: a page by its address, a juan, a character and its confusions, words of the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session, aliased

from proof.model.places import Place, juan_key, place_named
from proof.model.refs import Folio, ImageRef, PageId
from proof.store.library import FoundPair, found_pairs
from proof.store.models import ColumnRow, PageRow, WorkRow
from proof.store.queue import Queue
from proof.store.queue_records import ListedPage

Sessions = Callable[[], AbstractContextManager[Session]]

_RUN_ON = re.compile(r"(?<=[^\x00-\x7f])(?=[0-9]{1,6}[abAB]$)")
"""Where `卷三5b` goes on from the juan to the half-folio: their numbers are of two kinds there."""

BLANK = " \u3000¶"
"""What stands at the ends of a column and is no part of its text."""

FOUND = 50
"""Places of each kind that are given at most."""


@dataclass(frozen=True, slots=True)
class FoundJuan:
    """A juan with the first of its pages, and how many it has."""

    juan: str
    first: ListedPage
    pages: int


@dataclass(frozen=True, slots=True)
class FoundWords:
    """A column that holds the words, or begins them where they go on in the next: `before`, `words` and `after` are the
    source, the words from `offset` of the column on."""

    page: ListedPage
    line: int
    offset: int
    before: str
    words: str
    after: str


@dataclass(frozen=True, slots=True)
class FoundInWork:
    """What a work has of what was looked for, each kind up to a limit. `page` is the one page that an address names."""

    page: ListedPage | None = None
    pages: tuple[ListedPage, ...] = ()
    juans: tuple[FoundJuan, ...] = ()
    pairs: tuple[FoundPair, ...] = ()
    columns: tuple[FoundWords, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.pages or self.juans or self.pairs or self.columns)


class Finder:
    """What is in a work, by whatever it is called; `Store.finder` is one."""

    def __init__(self, reading: Sessions, queue: Queue) -> None:
        self._reading = reading
        self._queue = queue

    def find(self, work: str, wanted: str, near: int | None = None) -> FoundInWork:
        """What `wanted` is called in a work: the address of a page (`001-2a`, `WYG0140-0330b`, `卷三 5b`, or `5b`
        in the juan of the page `near`), a juan, a character, a confusion (`托託`), words. Raises MissingError."""
        wanted = wanted.strip()
        pages = self._queue.places(work)
        if not wanted:
            return FoundInWork()
        named = addressed(pages, wanted, near)
        juans = _juans(pages, wanted)
        page = named[0] if len(named) == 1 else None
        if page is None and not named and len(juans) == 1:
            page = juans[0].first
        if page is not None:
            return FoundInWork(page, tuple(named), juans)
        with self._reading() as session:
            by_number = {one.number: one for one in pages}
            whole, across = _columns(session, by_number, work, wanted), _across(session, by_number, work, wanted)
            columns = tuple(sorted(whole + across, key=lambda one: (one.page.position, one.line))[:FOUND])
            return FoundInWork(None, tuple(named[:FOUND]), juans[:FOUND], found_pairs(session, wanted, work), columns)


def addressed(pages: Sequence[ListedPage], wanted: str, near: int | None = None) -> list[ListedPage]:
    """The pages that an address names. `near` is the page whose juan is meant where the address names none."""
    low = wanted.lower()
    ref = ImageRef.match(wanted)
    names = {low, *([str(ref).lower()] if ref else [])}
    same = [page for page in pages if page.page.lower() in names or page.ref.lower() in names]
    if same:
        return same
    place, folio = place_named(_RUN_ON.sub(" ", wanted)), Folio.match(wanted)
    if place is not None:
        return [page for page in pages if place in places_of(page)]
    if folio is not None:
        juan = next(({key for key, _ in places_of(page)} for page in pages if page.number == near), set())
        found = [page for page in pages if any(one == folio for _, one in places_of(page))]
        return [page for page in found if any(key in juan for key, _ in places_of(page))] or found
    begins = tuple(names)
    return [page for page in pages if page.page.lower().startswith(begins) or page.ref.lower().startswith(begins)]


def places_of(page: ListedPage) -> set[Place]:
    """Juan and half-folio of a page, as its text and as its id name them."""
    parts = PageId.match(page.page)
    folio = Folio.match(page.folio) or (parts.folio if parts else None)
    if folio is None:
        return set()
    return {(juan_key(name), folio) for name in (page.juan, parts.juan if parts else "") if name}


def _juans(pages: Sequence[ListedPage], wanted: str) -> tuple[FoundJuan, ...]:
    """The juan that are called so."""
    bare = wanted.removeprefix("卷").removeprefix("第").removesuffix("卷")
    key = juan_key(bare) if bare != wanted or bare.isascii() else ""  # 一 alone is a character
    called = {name: juan_key(name) == key or name == wanted for name in {page.juan for page in pages}}
    found: dict[tuple[str, str], list[ListedPage]] = {}
    for page in pages:
        if page.juan and called[page.juan]:
            found.setdefault((page.text, page.juan), []).append(page)
    return tuple(FoundJuan(juan, among[0], len(among)) for (_, juan), among in found.items())


def _columns(session: Session, pages: dict[int, ListedPage], work: str, wanted: str) -> tuple[FoundWords, ...]:
    """Columns that hold the words as they are transcribed, in the order of the pages."""
    query = select(ColumnRow.page_id, ColumnRow.number, ColumnRow.source)
    query = query.join(PageRow, ColumnRow.page_id == PageRow.id).join(WorkRow, PageRow.work_id == WorkRow.id)
    query = query.where(WorkRow.name == work, PageRow.absent.is_(False))
    query = query.where(ColumnRow.source.contains(wanted, autoescape=True)).limit(FOUND)
    found = []
    for number, line, source in session.execute(query):
        at = source.lower().find(wanted.lower())
        if number in pages and at >= 0:
            before, after = source[:at], source[at + len(wanted) :]
            found.append(FoundWords(pages[number], line, at, before, source[at : at + len(wanted)], after))
    return tuple(sorted(found, key=lambda one: (one.page.position, one.line)))


def _across(session: Session, pages: dict[int, ListedPage], work: str, wanted: str) -> tuple[FoundWords, ...]:
    """Columns whose end begins the words, which the next column of the page goes on with."""
    if len(wanted) < 2:
        return ()
    here, following = aliased(ColumnRow), aliased(ColumnRow)
    foot, head = func.rtrim(here.source, BLANK), func.ltrim(following.source, BLANK)
    last, first = func.substr(foot, func.length(foot), 1), func.substr(head, 1, 1)
    breaks = or_(*(and_(last == one, first == two) for one, two in pairwise(wanted)))
    query = select(here.page_id, here.number, here.source, following.source)
    query = query.join(following, and_(following.page_id == here.page_id, following.ordinal == here.ordinal + 1))
    query = query.join(PageRow, PageRow.id == here.page_id).join(WorkRow, WorkRow.id == PageRow.work_id)
    query = query.where(WorkRow.name == work, PageRow.absent.is_(False), last.in_(set(wanted[:-1])), breaks)
    found: list[FoundWords] = []
    for number, line, source, goes_on in session.execute(query):
        end, begin = source.rstrip(BLANK), goes_on.lstrip(BLANK)
        parted = (at for at in range(1, len(wanted)) if end.endswith(wanted[:at]) and begin.startswith(wanted[at:]))
        cut = next(parted, 0)
        if cut and number in pages and len(found) < FOUND:
            at = len(end) - cut
            found.append(FoundWords(pages[number], line, at, end[:at], wanted, begin[len(wanted) - cut :]))
    return tuple(found)
