"""Search in one work or in all works: for pages, juan, pairs of confused characters, and words of the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.model.half_folios import JuanFolio, juan_key, parse_label
from proof.model.refs import Folio, ImageRef, PageId
from proof.store import rows
from proof.store.decision_records import State
from proof.store.library import Library, LibraryWork
from proof.store.lookup import NoPlaceError, Sessions, StoredWork, StorePart
from proof.store.models import FlagRow, PageRow, WorkRow
from proof.store.queue import Queue
from proof.store.queue_records import ListedPage
from proof.store.seeded_errors import IS_SEEDED
from proof.store.work_text import WordsInText, WorkTexts

_RUN_ON = re.compile(r"(?<=[^\x00-\x7f])(?=[0-9]{1,6}[abAB]$)")
"""The boundary between juan and half-folio in `卷三5b`, where Arabic digits follow another character."""

MAX_POSITION = 2**31 - 1
"""Maximum position of a page: a larger number means this one."""

MAX_RESULTS = 50
"""Maximum number of results of each kind."""


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
    `before`, `words` and `after` are the source with the decisions applied. `last` is the page on which the words end,
    if that is another page."""

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
    """A pair of confused characters that matches a search: how many flags of a work have it, and how many are open."""

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
    """Search in a store, as `Store.finder`."""

    def __init__(self, reading: Sessions, writing: Sessions, queue: Queue, library: Library) -> None:
        super().__init__(reading, writing)
        self._queue, self._library, self._texts = queue, library, WorkTexts()

    def find(self, work: str, term: str, near: int | None = None) -> FoundInWork:
        """Search a work for `term`: the address of a page (`001-2a`, `WYG0140-0330b`, `卷三 5b`, or `5b` in the juan
        of the page `near`), a juan, a character, a pair of confused characters (`托託`), or words. Raises
        NoPlaceError."""
        term = term.strip()
        all_pages = self._queue.uncounted_pages(work)
        if not term:
            return FoundInWork()
        pages = addressed(all_pages, term, near)
        juans = _juans(all_pages, term)
        if len(pages) == 1:
            return FoundInWork(pages[0], tuple(pages), juans)
        if not pages and len(juans) == 1:
            return FoundInWork(juans[0].first, (), juans)
        with self._reading() as session:
            stored_work, text = self._texts.of_work(session, work)
            pairs = _pairs(session, term, stored_work)
            places = _places(session, ((stored_work, words) for words in text.find(term)))
        return FoundInWork(None, tuple(pages[:MAX_RESULTS]), juans[:MAX_RESULTS], pairs, places, text.count(term))

    def standing(self, work: str, words: str) -> tuple[tuple[FoundPlace, ...], int]:
        """The first places where exactly these words, in this form, stand within one column; and the number of all such
        places. Raises NoPlaceError."""
        with self._reading() as session:
            stored_work, text = self._texts.of_work(session, work)
            matches = [match for match in text.find(words) if match.words == words and match.first is match.last]
            return _places(session, ((stored_work, match) for match in matches)), len(matches)

    def find_in_all(self, term: str) -> FoundInAll:
        """Search all works: works by name and title, pages by id and image reference, confused characters (one, or a
        pair such as `托託`), and words of two or more characters."""
        term = term.strip()
        if not term:
            return FoundInAll()
        lower = term.lower()
        works = [work for work in self._library.works() if lower in f"{work.folder} {work.work} {work.title}".lower()]
        with self._reading() as session:
            texts = self._texts.texts(session) if len(term) > 1 else ()
            places = _places(session, ((work, words) for work, text in texts for words in text.find(term)))
            return FoundInAll(tuple(works[:MAX_RESULTS]), _pages(session, term), _pairs(session, term), places)


def addressed(pages: Sequence[ListedPage], term: str, near: int | None = None) -> list[ListedPage]:
    """The pages that an address names. An address without a juan refers to the juan of the page `near`, if that juan
    has such a half-folio."""
    ref = ImageRef.match(term)
    names = {term.lower(), *([str(ref).lower()] if ref else [])}
    same = [page for page in pages if page.page.lower() in names or page.ref.lower() in names]
    if same:
        return same
    place, folio = parse_label(_RUN_ON.sub(" ", term)), Folio.match(term)
    if place is not None:
        return [page for page in pages if place in places_of(page)]
    if folio is not None:
        near_page = next((page for page in pages if page.number == near), None)
        near_juans = {juan for juan, _ in places_of(near_page)} if near_page else set()
        with_folio = [page for page in pages if any(place == folio for _, place in places_of(page))]
        in_juan = [page for page in with_folio if any(juan in near_juans for juan, _ in places_of(page))]
        return in_juan or with_folio
    prefixes = tuple(names)
    return [page for page in pages if page.page.lower().startswith(prefixes) or page.ref.lower().startswith(prefixes)]


def position_of(pages: Sequence[ListedPage], address: str) -> int:
    """The position in the work of the page that an address names: its name, its half-folio, a position, an address as
    in `addressed`, or a part of its name. Raises NoPlaceError if there is none, or if it could be any of several."""
    address = address.strip()
    part = address.lower()
    called = [page for page in pages if part in (page.page.lower(), page.folio.lower())]
    if not called and address.isdecimal() and not address.startswith("0"):
        return min(int(address), MAX_POSITION)
    matches = called or addressed(pages, address)
    if not matches:
        matches = [page for page in pages if part in page.page.lower() or part in page.ref.lower()]
    if not matches:
        raise NoPlaceError(_("there is no page %(page)s"), page=address)
    if len(matches) > 1:
        raise NoPlaceError(
            _("%(page)s: several pages are called so; give more of the name, or choose their juan"), page=address
        )
    return matches[0].position


def places_of(page: ListedPage) -> set[JuanFolio]:
    """The half-folio of a page, in its juan according to the text and to the page's id; empty if it has none."""
    page_id = PageId.match(page.page)
    folio = Folio.match(page.folio) or (page_id.folio if page_id else None)
    if folio is None:
        return set()
    juans = (page.juan, page_id.juan if page_id else "")
    return {(juan_key(juan), folio) for juan in juans if juan}


def _juans(pages: Sequence[ListedPage], term: str) -> tuple[FoundJuan, ...]:
    """The juan with the name or number `term`, one for each text that has it."""
    bare = term.removeprefix("卷").removeprefix("第").removesuffix("卷")
    key = juan_key(bare) if bare != term or bare.isascii() else ""  # 一 alone is a character, not a number
    names = {name for name in {page.juan for page in pages} if juan_key(name) == key or name == term}
    pages_of: dict[tuple[str, str], list[ListedPage]] = {}
    for page in pages:
        if page.juan in names and page.juan:
            pages_of.setdefault((page.text, page.juan), []).append(page)
    return tuple(FoundJuan(juan, of_juan[0], len(of_juan)) for (_, juan), of_juan in pages_of.items())


def _pages(session: Session, term: str) -> tuple[FoundPage, ...]:
    """Pages whose id or image reference begins with `term`."""
    query = select(WorkRow.name, WorkRow.title, PageRow.id, PageRow.page, PageRow.ref)
    query = query.join(WorkRow, PageRow.work_id == WorkRow.id).where(PageRow.absent.is_(False))
    page_of: dict[int, FoundPage] = {}
    for column in (PageRow.page, PageRow.ref):
        begins = query.where(column >= term, column < f"{term}\U0010ffff").order_by(column).limit(MAX_RESULTS)
        page_of |= {row[2]: FoundPage(*row) for row in session.execute(begins)}
    return tuple(page_of.values())[:MAX_RESULTS]


def _pairs(session: Session, term: str, work: StoredWork | None = None) -> tuple[FoundPair, ...]:
    """The raised pairs with a transcribed character or, if two are `term`, exactly that pair, of one work or, if
    None, of each work."""
    characters = term.replace("/", "").replace(" ", "")
    if len(characters) not in (1, 2):
        return ()
    matches = FlagRow.transcribed == characters[0]
    if len(characters) == 2:
        matches &= FlagRow.suggested == characters[1]
    open_count = func.sum(case((FlagRow.state == State.OPEN.value, 1), else_=0))
    # for all works, their ids are selected, so that the database uses the index of pairs by work
    of_work = FlagRow.work_id.in_(select(WorkRow.id)) if work is None else FlagRow.work_id == work.id
    query = (
        select(WorkRow.name, WorkRow.title, FlagRow.transcribed, FlagRow.suggested, func.count(), open_count)
        .join(WorkRow, FlagRow.work_id == WorkRow.id)
        .where(of_work, FlagRow.stale.is_(False), matches, FlagRow.raised.is_(True))
        .join(PageRow, PageRow.id == FlagRow.page_id)
        .where(~IS_SEEDED, PageRow.absent.is_(False))
        .group_by(WorkRow.name, WorkRow.title, FlagRow.transcribed, FlagRow.suggested)
        .order_by(func.count().desc(), WorkRow.name)
        .limit(MAX_RESULTS)
    )
    return tuple(FoundPair(*row) for row in session.execute(query))


def _places(session: Session, matches: Iterable[tuple[StoredWork, WordsInText]]) -> tuple[FoundPlace, ...]:
    """The first `MAX_RESULTS` matches, without those on pages that a check added after the text was read."""
    first = list(islice(matches, MAX_RESULTS))
    shown_on = [
        rows.page_showing_place(session, (match.first.page, *match.first.later), match.first.number, match.anchor)
        for _, match in first
    ]
    numbers = {*shown_on, *(match.last.page for _, match in first)}
    query = select(PageRow.id, PageRow.page, PageRow.folio).where(PageRow.id.in_(numbers))
    page_of = {row.id: row for row in session.execute(query)}
    places = []
    for (work, match), number in zip(first, shown_on, strict=True):
        page, last = page_of.get(number), page_of.get(match.last.page)
        if page is None or last is None:
            continue
        place = FoundPlace(
            work=work.name,
            title=work.title,
            number=page.id,
            page=page.page,
            line=match.first.number,
            offset=match.anchor,
            before=match.before,
            words=match.words,
            after=match.after,
            last="" if match.last is match.first or last.id == page.id else last.folio or last.page,
        )
        places.append(place)
    return tuple(places)
