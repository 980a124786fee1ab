"""Finding anything in one work: a page by its address, a juan, a character and its confusions, words of the text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from proof.model.places import Place, juan_key, place_named
from proof.model.refs import Folio, ImageRef, PageId
from proof.store.library import FoundPair, found_pairs
from proof.store.lookup import Sessions, StorePart
from proof.store.queue import Queue
from proof.store.queue_records import ListedPage
from proof.store.work_text import WordsInText, WorkTexts

_RUN_ON = re.compile(r"(?<=[^\x00-\x7f])(?=[0-9]{1,6}[abAB]$)")
"""Where `卷三5b` goes on from the juan to the half-folio: their numbers are of two kinds there."""

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
    """Where words stand: from `offset` of column `line`, as it was checked, of a page on, up to the page `last`.
    `before`, `words` and `after` are the source after decisions."""

    page: ListedPage
    line: int
    offset: int
    before: str
    words: str
    after: str
    last: ListedPage


@dataclass(frozen=True, slots=True)
class FoundInWork:
    """What a work has of what was looked for, each kind up to a limit. `page` is the one page that an address names;
    the words occur `places` times."""

    page: ListedPage | None = None
    pages: tuple[ListedPage, ...] = ()
    juans: tuple[FoundJuan, ...] = ()
    pairs: tuple[FoundPair, ...] = ()
    columns: tuple[FoundWords, ...] = ()
    places: int = 0

    def __bool__(self) -> bool:
        return bool(self.pages or self.juans or self.pairs or self.columns)


class Finder(StorePart):
    """What is in a work, by whatever it is called; `Store.finder` is one."""

    def __init__(self, reading: Sessions, writing: Sessions, queue: Queue, texts: WorkTexts) -> None:
        super().__init__(reading, writing)
        self._queue = queue
        self._texts = texts

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
            text = self._texts.of(session, work)
            pairs = found_pairs(session, wanted, work)
        listed = {page.number: page for page in pages}
        found = (_found_words(one, listed) for one in text.find(wanted))
        columns = tuple(islice((one for one in found if one is not None), FOUND))
        return FoundInWork(None, tuple(named[:FOUND]), juans[:FOUND], pairs, columns, text.count(wanted))


def _found_words(one: WordsInText, pages: Mapping[int, ListedPage]) -> FoundWords | None:
    """Where words stand; None on a page that a check has just added."""
    first, last = pages.get(one.first.page), pages.get(one.last.page)
    if first is None or last is None:
        return None
    return FoundWords(first, one.first.number, one.anchor, one.before, one.words, one.after, last)


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
