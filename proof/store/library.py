"""A library: the folders that are checked into one store, every work in numbers, and one search over all of them.

The counts of a work are kept in memory until its revision changes or somebody does something in it: a page that lists
thousands of works counts again those alone.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from typing import Any

from sqlalchemy import case, delete, func, select, update
from sqlalchemy.orm import Session

from proof.model.flags import Kind
from proof.model.notices import Notice
from proof.quality.sampling import estimate
from proof.store import rows
from proof.store.decision_records import SETTLED, State
from proof.store.lookup import Sessions, StorePart, WorkNow, newest_act, works_now
from proof.store.models import ActRow, FlagRow, LibraryRow, PageRow, RuleRow, RunRow, WorkRow
from proof.store.quality import is_finding, is_seeded
from proof.store.rules import rules_of
from proof.store.work_text import WorkTexts
from proof.text.model import script_shown

FOUND = 50
"""Places of each kind that a search gives at most."""


class FolderState(StrEnum):
    """What became of a folder of a library."""

    WAITING = "waiting"
    CHECKING = "checking"
    CHECKED = "checked"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class WorkCounts:
    """A work in numbers: pages by status; raised flags, how many of them people decided, settled, and found to be
    errors (`upheld`); errors that they confirmed, found by hand as well; samples decided and errors among them."""

    pages: Mapping[str, int] = field(default_factory=dict)
    characters: int = 0
    flagged: int = 0
    decided: int = 0
    settled: int = 0
    upheld: int = 0
    confirmed: int = 0
    samples: int = 0
    missed: int = 0

    @property
    def all_pages(self) -> int:
        return sum(self.pages.values())

    @property
    def left(self) -> float | None:
        """Errors expected to be left: among the flags that nobody decided, as many as among those that were, and among
        all other characters as many as among the samples; None before anything was decided."""
        if not self.settled and not self.samples:
            return None
        among = (self.flagged - self.settled) * self.upheld / self.settled if self.settled else 0.0
        return among + estimate(self.samples, self.missed).rate * self.characters / 10_000


@dataclass(frozen=True, slots=True)
class LibraryWork:
    """A line of the library: a folder, the work in it once it was checked, and that in numbers. `speed` is in pages a
    second of its last whole check. A work of the store that is in no folder of a library has none."""

    folder: str
    state: FolderState
    trouble: Notice | None
    turn: int
    work: str
    title: str = ""
    script: str = "zh-Hant"
    counts: WorkCounts = WorkCounts()
    speed: float | None = None


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
    """Words that a search found: from `offset` of column `line`, as it was checked, of the page of that `number` on.
    `before`, `words` and `after` are the source after decisions; `last` is the page on which they end where that is
    another."""

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
    """How often a work has a confusion of what was looked for, and how often that is still open."""

    work: str
    title: str
    transcribed: str
    suggested: str
    count: int
    open: int


@dataclass(frozen=True, slots=True)
class Found:
    """What a search over all works found, each kind up to a limit."""

    works: tuple[LibraryWork, ...] = ()
    pages: tuple[FoundPage, ...] = ()
    pairs: tuple[FoundPair, ...] = ()
    places: tuple[FoundPlace, ...] = ()


class Library(StorePart):
    """All works of a store; `Store.library` is one."""

    def __init__(self, reading: Sessions, writing: Sessions, texts: WorkTexts) -> None:
        super().__init__(reading, writing)
        self._texts = texts
        self._lock = threading.Lock()
        self._counts: dict[int, tuple[int, WorkCounts]] = {}
        self._act = 0

    # folders

    def folders(self) -> dict[str, tuple[str, FolderState]]:
        """The folders of the library, each with its work and what became of it."""
        with self._reading() as session:
            found = session.execute(select(LibraryRow.folder, LibraryRow.work, LibraryRow.state))
            return {folder: (work, FolderState(state)) for folder, work, state in found}

    def begin(self, folders: Sequence[str]) -> None:
        """Note the folders of a library in the order in which they will be checked; those that are gone are forgotten,
        their works are not."""
        now = datetime.now(UTC)
        with self._writing() as session:
            known = {row.folder: row for row in session.scalars(select(LibraryRow))}
            for name in sorted(known.keys() - set(folders)):
                session.execute(delete(LibraryRow).where(LibraryRow.folder == name))
            for turn, name in enumerate(folders):
                if name in known:
                    known[name].turn = turn
                else:
                    session.add(LibraryRow(folder=name, state=FolderState.WAITING.value, turn=turn, at=now))

    def note(self, folder: str, state: FolderState, *, work: str = "", trouble: Notice | None = None) -> None:
        """Note what becomes of a folder; its work stays what it was where none is given."""
        values: dict[str, Any] = {
            "state": state.value,
            "trouble": trouble and trouble.as_json(),
            "at": datetime.now(UTC),
        }
        with self._writing() as session:
            change = update(LibraryRow).where(LibraryRow.folder == folder)
            session.execute(change.values(values | ({"work": work} if work else {})))

    def folder_of(self, work: str) -> str | None:
        """The folder that a work was checked in."""
        with self._reading() as session:
            return session.scalar(select(LibraryRow.folder).where(LibraryRow.work == work).limit(1))

    # counts

    def works(self) -> list[LibraryWork]:
        """Every folder and every work, in the order of checking; works of no folder after them."""
        with self._lock, self._reading() as session:
            works = {work.name: work for work in works_now(session)}
            self._catch_up(session, works.values())
            runs = _last_runs(session)
            lines = []
            for row in session.execute(select(LibraryRow.__table__).order_by(LibraryRow.turn)):
                trouble = row.trouble and Notice.of_json(row.trouble)
                line = LibraryWork(row.folder, FolderState(row.state), trouble, row.turn, row.work)
                lines.append(self._with_counts(line, works.pop(row.work, None), runs))
            for work in works.values():
                run = runs.get(work.id)
                state = FolderState.CHECKED if run and run.finished else FolderState.CHECKING
                line = LibraryWork("", state, None, len(lines), work.name)
                lines.append(self._with_counts(line, work, runs))
        return lines

    def _with_counts(self, line: LibraryWork, work: WorkNow | None, runs: Mapping[int, _Run]) -> LibraryWork:
        if work is None:
            return line
        run, counts = runs.get(work.id), self._counts[work.id][1]
        speed = counts.all_pages / run.seconds if run and run.seconds else None
        script = run.script if run else "zh-Hant"
        return replace(line, work=work.name, title=work.title, script=script, counts=counts, speed=speed)

    def _catch_up(self, session: Session, works: Collection[WorkNow]) -> None:
        """Count again the works that have another revision, and those in which people did something since."""
        newest = newest_act(session)
        touched: set[int] = set()
        if newest > self._act and self._counts:
            touched.update(session.scalars(select(ActRow.work_id).where(ActRow.id > self._act).distinct()))
        self._act = newest
        stale = {work.id for work in works if work.id in touched or self._revision(work) != work.revision}
        if stale:
            counts = _count(session, stale if len(stale) < len(works) else None)
            self._counts |= {w.id: (w.revision, counts.get(w.id, WorkCounts())) for w in works if w.id in stale}

    def _revision(self, work: WorkNow) -> int | None:
        """The revision at which a work was counted."""
        return self._counts[work.id][0] if work.id in self._counts else None

    # search

    def search(self, wanted: str) -> Found:
        """Works by name and title, pages by id and image reference, confusions of one character or `托託`, and words
        wherever they stand in a text."""
        wanted = wanted.strip()
        if not wanted:
            return Found()
        low = wanted.lower()
        works = [one for one in self.works() if low in f"{one.folder} {one.work} {one.title}".lower()]
        with self._reading() as session:
            pairs, places = found_pairs(session, wanted), _places(session, wanted, self._texts)
            return Found(tuple(works[:FOUND]), _pages(session, wanted), pairs, places)


@dataclass(frozen=True, slots=True)
class _Run:
    """The last run of a work."""

    number: int
    started: datetime
    finished: datetime | None
    script: str

    @property
    def seconds(self) -> float:
        return (self.finished - self.started).total_seconds() if self.finished else 0.0


def _last_runs(session: Session) -> dict[int, _Run]:
    last = select(func.max(RunRow.id)).group_by(RunRow.work_id)
    script = RunRow.texts[0]["script"].as_string()
    query = select(RunRow.work_id, RunRow.id, RunRow.started, RunRow.finished, script).where(RunRow.id.in_(last))
    return {
        work: _Run(number, started, finished, script_shown([said]))
        for work, number, started, finished, said in session.execute(query)
    }


def _count(session: Session, works: Collection[int] | None) -> dict[int, WorkCounts]:
    """The counts of these works, or of all."""
    pages: defaultdict[int, dict[str, int]] = defaultdict(dict)
    characters: Counter[int] = Counter()
    query = select(PageRow.work_id, PageRow.status, func.count(), func.sum(PageRow.characters_checked))
    query = query.where(PageRow.absent.is_(False)).group_by(PageRow.work_id, PageRow.status)
    for work, status, count, checked in session.execute(query.where(*_among(PageRow.work_id, works))):
        pages[work][status] = count
        characters[work] += checked or 0
    sums: defaultdict[int, Counter[str]] = defaultdict(Counter)
    said = (FlagRow.work_id, FlagRow.kind, FlagRow.raised, FlagRow.state, FlagRow.ordinal == rows.BY_HAND)
    flags = select(*said, func.count()).where(FlagRow.stale.is_(False), ~is_seeded()).group_by(*said)
    flags = flags.where(FlagRow.raised.is_(True) | (FlagRow.kind == Kind.AUDIT.value) | (FlagRow.state != "open"))
    for work, kind, raised, state, by_hand, count in session.execute(flags.where(*_among(FlagRow.work_id, works))):
        found, settled, wrong = sums[work], State(state) in SETTLED, state == State.CORRECTED.value
        if kind == Kind.AUDIT.value:
            found["samples"] += count * settled
            found["missed"] += count * wrong
        else:
            flagged = raised and not by_hand
            found["flagged"] += count * flagged
            found["decided"] += count * (flagged and state != State.OPEN.value)
            found["settled"] += count * (flagged and settled)
            found["upheld"] += count * (flagged and wrong)
            found["confirmed"] += count * wrong
    _leave_out_hidden(session, works, sums)
    return {work: WorkCounts(pages[work], characters[work], **sums[work]) for work in {*pages, *sums}}


def _leave_out_hidden(session: Session, works: Collection[int] | None, sums: Mapping[int, Counter[str]]) -> None:
    """Take from the counts the flags of pairs that are variants by a rule of their work."""
    ruled = select(RuleRow.work_id).distinct().where(*_among(RuleRow.work_id, works))
    for work in session.scalars(ruled).all():
        for (transcribed, suggested), rule in rules_of(session, work).items():
            if rule.planted:
                continue
            hidden = select(FlagRow.state, func.count()).group_by(FlagRow.state)
            hidden = hidden.where(FlagRow.work_id == work, FlagRow.stale.is_(False), FlagRow.raised.is_(True))
            hidden = hidden.where(FlagRow.transcribed == transcribed, FlagRow.suggested == suggested)
            hidden = hidden.where(FlagRow.ordinal != rows.BY_HAND, is_finding())
            for state, count in session.execute(hidden):
                sums[work]["flagged"] -= count
                sums[work]["decided"] -= count * (state != State.OPEN.value)
                sums[work]["settled"] -= count * (State(state) in SETTLED)
                sums[work]["upheld"] -= count * (state == State.CORRECTED.value)


def _among(column: Any, works: Collection[int] | None) -> list[Any]:
    return [] if works is None else [column.in_(works)]


def _pages(session: Session, wanted: str) -> tuple[FoundPage, ...]:
    """Pages whose id or image reference begins so."""
    query = select(WorkRow.name, WorkRow.title, PageRow.id, PageRow.page, PageRow.ref)
    query = query.join(WorkRow, PageRow.work_id == WorkRow.id).where(PageRow.absent.is_(False))
    found: dict[int, FoundPage] = {}
    for column in (PageRow.page, PageRow.ref):
        begins = query.where(column >= wanted, column < f"{wanted}\U0010ffff").order_by(column).limit(FOUND)
        found |= {row[2]: FoundPage(*row) for row in session.execute(begins)}
    return tuple(found.values())[:FOUND]


def found_pairs(session: Session, wanted: str, work: str | None = None) -> tuple[FoundPair, ...]:
    """Raised confusions of that character, or of one for another, by work; of one `work`, or of all."""
    characters = wanted.replace("/", "").replace(" ", "")
    if len(characters) not in (1, 2):
        return ()
    there = FlagRow.transcribed == characters[0]
    if len(characters) == 2:
        there &= FlagRow.suggested == characters[1]
    still = func.sum(case((FlagRow.state == State.OPEN.value, 1), else_=0))
    ids = select(WorkRow.id)  # by work, so that the index of each work's pairs serves
    if work is not None:
        ids = ids.where(WorkRow.name == work)
    query = (
        select(WorkRow.name, WorkRow.title, FlagRow.transcribed, FlagRow.suggested, func.count(), still)
        .join(WorkRow, FlagRow.work_id == WorkRow.id)
        .where(FlagRow.work_id.in_(ids), FlagRow.stale.is_(False), there, FlagRow.raised.is_(True))
        .where(~is_seeded())
        .group_by(WorkRow.name, WorkRow.title, FlagRow.transcribed, FlagRow.suggested)
        .order_by(func.count().desc(), WorkRow.name)
        .limit(FOUND)
    )
    return tuple(FoundPair(*row) for row in session.execute(query))


def _places(session: Session, wanted: str, texts: WorkTexts) -> tuple[FoundPlace, ...]:
    """Where words of two characters and more stand in the texts of all works."""
    if len(wanted) < 2:
        return ()
    every = ((work, words) for work, text in texts.every(session) for words in text.find(wanted))
    places = list(islice(every, FOUND))
    numbers = {column.page for _, words in places for column in (words.first, words.last)}
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
        for work, words in places
        if {words.first.page, words.last.page} <= pages.keys()
    )
