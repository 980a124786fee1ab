"""Search in one work or in all: for pages, juan, pairs of confused characters, and words of the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from proof.model.half_folios import JuanFolio, juan_key, parse_label
from proof.model.refs import Folio, ImageRef, PageId
from proof.store.decision_records import State
from proof.store.library import Library, LibraryWork
from proof.store.lookup import Sessions, StoredWork, StorePart
from proof.store.models import FlagRow, PageRow, WorkRow
from proof.store.queue import Queue
from proof.store.queue_records import ListedPage
from proof.store.seeded import IS_SEEDED
from proof.store.work_text import WordsInText, WorkTexts

_RUN_ON = re.compile(r"(?<=[^\x00-\x7f])(?=[0-9]{1,6}[abAB]$)")
"""The boundary between juan and half-folio in `卷三5b`, where Arabic digits follow another character."""

FOUND = 50
"""Results of each kind, at most."""


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page that a search found."""

    work: str
    title: str
    number: int
    page: str
    ref: str


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """Words that a search found, starting at `offset` of column `line`, as it was checked, of the page `number`.
    `before`, `words` and `after` are the source after decisions; `last` is the page on which the words end, if that is
    another one."""

    work: str
    title: str
    number: int
    page: str
    line: int
    offset: int
    before: str
    words: str
    after: str
    last: str


@dataclass(frozen=True, slots=True)
class FoundPair:
    """A pair of confused characters that matches a search: how often a work has it, and how often it is still open."""

    work: str
    title: str
    transcribed: str
    suggested: str
    count: int
    open: int


@dataclass(frozen=True, slots=True)
class FoundInAll:
    """The results of a search in all works, each kind up to a limit."""

    works: tuple[LibraryWork, ...] = ()
    pages: tuple[FoundPage, ...] = ()
    pairs: tuple[FoundPair, ...] = ()
    places: tuple[FoundPlace, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundJuan:
    """A juan with its first page and its number of pages."""

    juan: str
    first: ListedPage
    pages: int


@dataclass(frozen=True, slots=True)
class FoundInWork:
    """The results of a search in a work, each kind up to a limit. `page` is set if the search names exactly one page;
    `places` is the number of occurrences of the words."""

    page: ListedPage | None = None
    pages: tuple[ListedPage, ...] = ()
    juans: tuple[FoundJuan, ...] = ()
    pairs: tuple[FoundPair, ...] = ()
    columns: tuple[FoundPlace, ...] = ()
    places: int = 0

    def __bool__(self) -> bool:
        return bool(self.pages or self.juans or self.pairs or self.columns)


class Finder(StorePart):
    """Search in a store; `Store.finder` is one."""

    def __init__(self, reading: Sessions, writing: Sessions, queue: Queue, library: Library) -> None:
        super().__init__(reading, writing)
        self._queue, self._library, self._texts = queue, library, WorkTexts()

    def find(self, work: str, wanted: str, near: int | None = None) -> FoundInWork:
        """Search a work for `wanted`: the address of a page (`001-2a`, `WYG0140-0330b`, `卷三 5b`, or `5b` in the juan
        of the page `near`), a juan, a character, a pair of confused characters (`托託`), or words. Raises
        NoPlaceError."""
        wanted = wanted.strip()
        pages = self._queue.uncounted_pages(work)
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
            now, text = self._texts.of_work(session, work)
            pairs = _pairs(session, wanted, now)
            places = _places(session, ((now, words) for words in text.find(wanted)))
        return FoundInWork(None, tuple(named[:FOUND]), juans[:FOUND], pairs, places, text.count(wanted))

    def standing(self, work: str, words: str) -> tuple[tuple[FoundPlace, ...], int]:
        """The first places where exactly these words stand within a column, in this form, and the number of all. Raises
        NoPlaceError."""
        with self._reading() as session:
            now, text = self._texts.of_work(session, work)
            same = [found for found in text.find(words) if found.words == words and found.first is found.last]
            return _places(session, ((now, found) for found in same)), len(same)

    def find_in_all(self, wanted: str) -> FoundInAll:
        """Search all works: works by name and title, pages by id and image reference, confused characters (one, or a
        pair such as `托託`), and words of two or more characters."""
        wanted = wanted.strip()
        if not wanted:
            return FoundInAll()
        low = wanted.lower()
        works = [line for line in self._library.works() if low in f"{line.folder} {line.work} {line.title}".lower()]
        with self._reading() as session:
            texts = self._texts.texts(session) if len(wanted) > 1 else ()
            places = _places(session, ((work, words) for work, text in texts for words in text.find(wanted)))
            return FoundInAll(tuple(works[:FOUND]), _pages(session, wanted), _pairs(session, wanted), places)


def addressed(pages: Sequence[ListedPage], wanted: str, near: int | None = None) -> list[ListedPage]:
    """The pages that an address names; an address without a juan refers to that of the page `near`."""
    low = wanted.lower()
    ref = ImageRef.match(wanted)
    names = {low, *([str(ref).lower()] if ref else [])}
    same = [page for page in pages if page.page.lower() in names or page.ref.lower() in names]
    if same:
        return same
    place, folio = parse_label(_RUN_ON.sub(" ", wanted)), Folio.match(wanted)
    if place is not None:
        return [page for page in pages if place in places_of(page)]
    if folio is not None:
        juan = next(({key for key, _ in places_of(page)} for page in pages if page.number == near), set())
        of_folio = [page for page in pages if any(place == folio for _, place in places_of(page))]
        return [page for page in of_folio if any(key in juan for key, _ in places_of(page))] or of_folio
    begins = tuple(names)
    return [page for page in pages if page.page.lower().startswith(begins) or page.ref.lower().startswith(begins)]


def places_of(page: ListedPage) -> set[JuanFolio]:
    """Juan and half-folio of a page, according to its text and to its id."""
    parts = PageId.match(page.page)
    folio = Folio.match(page.folio) or (parts.folio if parts else None)
    if folio is None:
        return set()
    return {(juan_key(name), folio) for name in (page.juan, parts.juan if parts else "") if name}


def _juans(pages: Sequence[ListedPage], wanted: str) -> tuple[FoundJuan, ...]:
    """The juan with the name or number `wanted`, one for each text that has it."""
    bare = wanted.removeprefix("卷").removeprefix("第").removesuffix("卷")
    key = juan_key(bare) if bare != wanted or bare.isascii() else ""  # 一 alone is a character
    called = {name: juan_key(name) == key or name == wanted for name in {page.juan for page in pages}}
    pages_of: dict[tuple[str, str], list[ListedPage]] = {}
    for page in pages:
        if page.juan and called[page.juan]:
            pages_of.setdefault((page.text, page.juan), []).append(page)
    return tuple(FoundJuan(juan, among[0], len(among)) for (_, juan), among in pages_of.items())


def _pages(session: Session, wanted: str) -> tuple[FoundPage, ...]:
    """Pages whose id or image reference begins with `wanted`."""
    query = select(WorkRow.name, WorkRow.title, PageRow.id, PageRow.page, PageRow.ref)
    query = query.join(WorkRow, PageRow.work_id == WorkRow.id).where(PageRow.absent.is_(False))
    page_of: dict[int, FoundPage] = {}
    for column in (PageRow.page, PageRow.ref):
        begins = query.where(column >= wanted, column < f"{wanted}\U0010ffff").order_by(column).limit(FOUND)
        page_of |= {row[2]: FoundPage(*row) for row in session.execute(begins)}
    return tuple(page_of.values())[:FOUND]


def _pairs(session: Session, wanted: str, work: StoredWork | None = None) -> tuple[FoundPair, ...]:
    """The raised pairs with that transcribed character, or exactly that pair, by work; of one `work`, or of all."""
    characters = wanted.replace("/", "").replace(" ", "")
    if len(characters) not in (1, 2):
        return ()
    matches = FlagRow.transcribed == characters[0]
    if len(characters) == 2:
        matches &= FlagRow.suggested == characters[1]
    open_count = func.sum(case((FlagRow.state == State.OPEN.value, 1), else_=0))
    every_work = select(WorkRow.id)  # named, so that the index of pairs by work is used
    of_work = FlagRow.work_id.in_(every_work) if work is None else FlagRow.work_id == work.id
    query = (
        select(WorkRow.name, WorkRow.title, FlagRow.transcribed, FlagRow.suggested, func.count(), open_count)
        .join(WorkRow, FlagRow.work_id == WorkRow.id)
        .where(of_work, FlagRow.stale.is_(False), matches, FlagRow.raised.is_(True))
        .join(PageRow, PageRow.id == FlagRow.page_id)
        .where(~IS_SEEDED, PageRow.absent.is_(False))
        .group_by(WorkRow.name, WorkRow.title, FlagRow.transcribed, FlagRow.suggested)
        .order_by(func.count().desc(), WorkRow.name)
        .limit(FOUND)
    )
    return tuple(FoundPair(*row) for row in session.execute(query))


def _places(session: Session, matches: Iterable[tuple[StoredWork, WordsInText]]) -> tuple[FoundPlace, ...]:
    """The first matches, without those on pages that a check has just added."""
    first = list(islice(matches, FOUND))
    numbers = {column.page for _, words in first for column in (words.first, words.last)}
    query = select(PageRow.id, PageRow.page, PageRow.folio).where(PageRow.id.in_(numbers))
    pages = {row.id: row for row in session.execute(query)}
    return tuple(
        FoundPlace(
            work.name,
            work.title,
            words.first.page,
            pages[words.first.page].page,
            words.first.number,
            words.anchor,
            words.before,
            words.words,
            words.after,
            "" if words.last.page == words.first.page else pages[words.last.page].folio or pages[words.last.page].page,
        )
        for work, words in first
        if {words.first.page, words.last.page} <= pages.keys()
    )
