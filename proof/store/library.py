"""A library: the folders that are checked into one store, and the counts of every work.

Counts are kept in memory until the revision of a work changes or an act is added to it, so that a list of thousands of
works counts only the changed ones again.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Select, and_, delete, func, select, tuple_, update
from sqlalchemy.orm import Session, aliased

from proof.model.flags import Kind, Origin
from proof.model.notices import Notice
from proof.quality.sampling import estimate
from proof.store.decision_records import SETTLED, State
from proof.store.flag_columns import IN_HALVES
from proof.store.lookup import Sessions, StoredWork, StorePart, find_works, newest_act_id
from proof.store.models import ActRow, FlagRow, LibraryRow, PageRow, RuleRow, RunRow
from proof.store.rules import rules_of
from proof.store.seeded import IS_SEEDED
from proof.text.model import script_shown


class FolderState(StrEnum):
    """The state of a folder of a library."""

    WAITING = "waiting"
    CHECKING = "checking"
    CHECKED = "checked"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class WorkCounts:
    """The counts of a work.

    `pages` counts pages by status, `read` those whose result is from the last run. `flagged` are raised flags, of which
    `decided`, `settled` and confirmed as errors (`upheld`); `confirmed` are all confirmed errors, including those found
    by hand; `samples` are decided samples, `missed` the errors among them.
    """

    pages: Mapping[str, int] = field(default_factory=dict)
    read: int = 0
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
        """Expected number of errors left: unsettled flags times the error rate of the settled ones, plus characters
        times the error rate of the samples; None if nothing tells: no flag is settled of those there are, and of a
        work without flags no sample."""
        if not self.settled and (self.flagged or not self.samples):
            return None
        in_flags = (self.flagged - self.settled) * self.upheld / self.settled if self.settled else 0.0
        return in_flags + estimate(self.samples, self.missed).rate * self.characters / 10_000


@dataclass(frozen=True, slots=True)
class LibraryWork:
    """A line of the library: a folder (empty for a work in no folder), its work once it was checked, and the counts of
    the work. `speed` is the pages per second that the last run read; None unless it finished and read a page."""

    folder: str
    state: FolderState
    trouble: Notice | None
    turn: int
    work: str
    title: str = ""
    script: str = "zh-Hant"
    counts: WorkCounts = WorkCounts()
    speed: float | None = None


class Library(StorePart):
    """The works of a store, as `Store.library`."""

    def __init__(self, reading: Sessions, writing: Sessions) -> None:
        super().__init__(reading, writing)
        self._lock = threading.Lock()
        self._counts: dict[int, tuple[int, WorkCounts]] = {}
        self._act = 0

    # folders

    def folders(self) -> dict[str, tuple[str, FolderState]]:
        """The folders of the library, each with its work and its state."""
        with self._reading() as session:
            rows = session.execute(select(LibraryRow.folder, LibraryRow.work, LibraryRow.state))
            return {folder: (work, FolderState(state)) for folder, work, state in rows}

    def begin(self, folders: Sequence[str]) -> None:
        """Record the folders of a library in the order of checking. Missing folders are removed, their works stay."""
        with self._writing() as session:
            known = {row.folder: row for row in session.scalars(select(LibraryRow))}
            for name in sorted(known.keys() - set(folders)):
                session.execute(delete(LibraryRow).where(LibraryRow.folder == name))
            for turn, name in enumerate(folders):
                if name in known:
                    known[name].turn = turn
                else:
                    session.add(LibraryRow(folder=name, state=FolderState.WAITING.value, turn=turn))

    def note(self, folder: str, state: FolderState, *, work: str = "", trouble: Notice | None = None) -> None:
        """Record the state of a folder, and its work unless empty."""
        values: dict[str, Any] = {"state": state.value, "trouble": trouble and trouble.as_json()}
        with self._writing() as session:
            change = update(LibraryRow).where(LibraryRow.folder == folder)
            session.execute(change.values(values | ({"work": work} if work else {})))

    def folder_of(self, work: str) -> str | None:
        """The folder in which a work was checked."""
        with self._reading() as session:
            return session.scalar(select(LibraryRow.folder).where(LibraryRow.work == work).limit(1))

    # counts

    def works(self) -> list[LibraryWork]:
        """All folders in the order of checking, then the works in no folder."""
        with self._lock, self._reading() as session:
            works = {work.name: work for work in find_works(session)}
            self._catch_up(session, works.values())
            runs = _last_runs(session)
            lines = []
            for row in session.execute(select(LibraryRow.__table__).order_by(LibraryRow.turn)):
                trouble = row.trouble and Notice.of_json(row.trouble)
                line = LibraryWork(row.folder, FolderState(row.state), trouble, row.turn, row.work)
                lines.append(self._with_counts(line, works.pop(row.work, None), runs))
            for work in works.values():
                run = runs.get(work.id)
                state = FolderState.CHECKED if run and run.seconds is not None else FolderState.CHECKING
                line = LibraryWork("", state, None, len(lines), work.name)
                lines.append(self._with_counts(line, work, runs))
        return lines

    def _with_counts(self, line: LibraryWork, work: StoredWork | None, runs: Mapping[int, _Run]) -> LibraryWork:
        if work is None:
            return line
        run, counts = runs.get(work.id), self._counts[work.id][1]
        speed = counts.read / run.seconds if run and run.seconds and counts.read else None
        script = run.script if run else "zh-Hant"
        return replace(line, work=work.name, title=work.title, script=script, counts=counts, speed=speed)

    def _catch_up(self, session: Session, works: Collection[StoredWork]) -> None:
        """Count again the works with a new revision or new acts."""
        newest = newest_act_id(session)
        touched: set[int] = set()
        if newest > self._act and self._counts:
            touched.update(session.scalars(select(ActRow.work_id).where(ActRow.id > self._act).distinct()))
        self._act = newest
        stale = {work.id for work in works if work.id in touched or self._revision(work) != work.revision}
        if stale:
            counts = _count(session, stale if len(stale) < len(works) else None)
            self._counts |= {w.id: (w.revision, counts.get(w.id, WorkCounts())) for w in works if w.id in stale}

    def _revision(self, work: StoredWork) -> int | None:
        """The revision at which a work was counted, None if it was not."""
        return self._counts[work.id][0] if work.id in self._counts else None


class _Run(NamedTuple):
    """The last run of a work: its wall-clock seconds, None unless it finished, and the script of its first text."""

    seconds: float | None
    script: str


_LAST_RUNS = select(func.max(RunRow.id)).group_by(RunRow.work_id)
"""The last run of each work."""


def _last_runs(session: Session) -> dict[int, _Run]:
    script = RunRow.texts[0]["script"].as_string()
    query = select(RunRow.work_id, RunRow.started, RunRow.finished, script).where(RunRow.id.in_(_LAST_RUNS))
    return {
        work: _Run((finished - started).total_seconds() if finished else None, script_shown([script]))
        for work, started, finished, script in session.execute(query)
    }


def _count(session: Session, works: Collection[int] | None) -> dict[int, WorkCounts]:
    """The counts of these works, or of all works."""
    pages: defaultdict[int, dict[str, int]] = defaultdict(dict)
    characters: Counter[int] = Counter()
    read: Counter[int] = Counter()
    in_last_run = func.count().filter(PageRow.result_run_id.in_(_LAST_RUNS))
    query = select(PageRow.work_id, PageRow.status, func.count(), func.sum(PageRow.characters_checked), in_last_run)
    query = query.where(PageRow.absent.is_(False)).group_by(PageRow.work_id, PageRow.status)
    for work, status, count, checked, just_read in session.execute(query.where(*_among(PageRow.work_id, works))):
        pages[work][status] = count
        characters[work] += checked or 0
        read[work] += just_read
    sums: defaultdict[int, Counter[str]] = defaultdict(Counter)
    hidden = tuple_(FlagRow.work_id, FlagRow.transcribed, FlagRow.suggested).in_(_hidden_pairs(session, works))
    shown = FlagRow.raised & (FlagRow.origin != Origin.PERSON.value) & ~hidden
    keys = (FlagRow.work_id, FlagRow.kind, shown, FlagRow.state)
    flags = select(*keys, func.count()).where(FlagRow.stale.is_(False), ~IS_SEEDED).group_by(*keys)
    flags = flags.join(PageRow, PageRow.id == FlagRow.page_id).where(PageRow.absent.is_(False))
    flags = flags.where(FlagRow.raised.is_(True) | (FlagRow.kind == Kind.AUDIT.value) | (FlagRow.state != "open"))
    all_flags = flags.where(*_among(FlagRow.work_id, works))
    counted = [(work, kind, flagged, state, count) for work, kind, flagged, state, count in session.execute(all_flags)]
    for work, kind, flagged, state, count in session.execute(_second_halves(works)):
        counted.append((work, kind, flagged, state, -count))
    for work, kind, flagged, state, count in counted:
        total, settled, wrong = sums[work], State(state) in SETTLED, state == State.CORRECTED.value
        if kind == Kind.AUDIT.value:
            total["samples"] += count * settled
            total["missed"] += count * wrong
        else:
            total["flagged"] += count * flagged
            total["decided"] += count * (flagged and state != State.OPEN.value)
            total["settled"] += count * (flagged and settled)
            total["upheld"] += count * (flagged and wrong)
            total["confirmed"] += count * wrong
    return {work: WorkCounts(pages[work], read[work], characters[work], **sums[work]) for work in {*pages, *sums}}


def _second_halves(works: Collection[int] | None) -> Select[int, str, bool, str, int]:
    """Per work, kind, whether raised, and state: how many flags are one question with an earlier one, as of a character
    or a column that moved."""
    other = aliased(FlagRow)
    keys = (FlagRow.work_id, FlagRow.kind, FlagRow.raised, FlagRow.state)
    pair = (other.page_id == FlagRow.page_id, other.uid == FlagRow.evidence["moved"].as_string(), other.id < FlagRow.id)
    alike = (other.state == FlagRow.state, other.stale.is_(False), other.raised.is_(True))
    query = select(*keys, func.count()).join(other, and_(*pair, *alike)).group_by(*keys)
    query = query.join(PageRow, PageRow.id == FlagRow.page_id).where(PageRow.absent.is_(False))
    own = (FlagRow.stale.is_(False), FlagRow.raised.is_(True), FlagRow.kind.in_([kind.value for kind in IN_HALVES]))
    return query.where(*own, *_among(FlagRow.work_id, works))


def _hidden_pairs(session: Session, works: Collection[int] | None) -> list[tuple[int, str, str]]:
    """The pairs of characters that a rule of their work hides as variants, with the id of the work."""
    ruled = session.scalars(select(RuleRow.work_id).distinct().where(*_among(RuleRow.work_id, works)))
    rules = ((work, pair, rule) for work in ruled.all() for pair, rule in rules_of(session, work).items())
    return [(work, *pair) for work, pair, rule in rules if not rule.planted]


def _among(column: Any, works: Collection[int] | None) -> list[Any]:
    return [] if works is None else [column.in_(works)]
