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

from sqlalchemy import delete, func, select, tuple_, update
from sqlalchemy.orm import Session

from proof.model.flags import Kind, Origin
from proof.model.notices import Notice
from proof.model.result import Status
from proof.quality.sampling import estimate
from proof.store.decision_records import SETTLED, State
from proof.store.exported_flags import WORK, exported_flags, is_second_half
from proof.store.lookup import Sessions, StoredWork, StorePart, find_works, newest_act_id
from proof.store.models import ActRow, FlagRow, LibraryRow, PageRow, RuleRow, RunRow
from proof.store.seeded_errors import IS_SEEDED
from proof.store.variant_rules import rules_of
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

    `pages` counts the pages by status, `read` those whose result is from the last run. `flagged` counts the raised
    flags; of these `decided`, `settled`, and confirmed as errors (`upheld`). `exported` are confirmed errors that no
    check flags any more, since their corrections are in the text. `confirmed` counts all confirmed errors, including
    these and corrections by hand; `samples` the decided samples, `missed` the errors among them.
    """

    pages: Mapping[str, int] = field(default_factory=dict)
    read: int = 0
    characters: int = 0
    flagged: int = 0
    decided: int = 0
    settled: int = 0
    upheld: int = 0
    exported: int = 0
    confirmed: int = 0
    samples: int = 0
    missed: int = 0

    @property
    def all_pages(self) -> int:
        return sum(self.pages.values())

    @property
    def checked(self) -> int:
        return self.pages.get(Status.CHECKED.value, 0)

    @property
    def missing(self) -> int:
        """The number of pages without an image."""
        return self.pages.get(Status.NO_IMAGE.value, 0)

    @property
    def failed(self) -> int:
        return self.pages.get(Status.FAILED.value, 0) + self.pages.get(Status.MISMATCH.value, 0)

    @property
    def left(self) -> float | None:
        """The expected number of errors left: unsettled flags times the error rate of settled ones, plus characters
        times the error rate of the samples. None while no flag of the work is settled; in a work without flags, while
        no sample is decided."""
        judged = self.settled + self.exported
        if not judged and (self.flagged or not self.samples):
            return None
        in_flags = (self.flagged - self.settled) * (self.upheld + self.exported) / judged if judged else 0.0
        return in_flags + estimate(self.samples, self.missed).rate * self.characters / 10_000


@dataclass(frozen=True, slots=True)
class LibraryWork:
    """A line of the library: a folder (empty for a work in no folder), its work once that was checked, and the counts
    of the work. `speed` is that of the last run in pages per second; None unless it finished and read a page."""

    folder: str
    state: FolderState
    trouble: Notice | None
    turn: int
    work: str
    title: str = ""
    script: str = "zh-Hant"
    counts: WorkCounts = WorkCounts()
    speed: float | None = None

    @property
    def name(self) -> str:
        """The title of the work; its id or folder if it has none."""
        return self.title or self.work or self.folder


class Library(StorePart):
    """The works of a store, as `Store.library`."""

    def __init__(self, reading: Sessions, writing: Sessions) -> None:
        super().__init__(reading, writing)
        self._lock = threading.Lock()
        self._counts: dict[int, _CountedWork] = {}
        self._last_act = 0

    # folders

    def folders(self) -> dict[str, tuple[str, FolderState]]:
        """The folders of the library, each with its work and its state."""
        with self._reading() as session:
            rows = session.execute(select(LibraryRow.folder, LibraryRow.work, LibraryRow.state))
            return {folder: (work, FolderState(state)) for folder, work, state in rows}

    def set_folders(self, folders: Sequence[str]) -> None:
        """Record the folders of a library in the order of checking. Other folders are removed; their works stay."""
        with self._writing() as session:
            stored = {row.folder: row for row in session.scalars(select(LibraryRow))}
            for folder in sorted(stored.keys() - set(folders)):
                session.execute(delete(LibraryRow).where(LibraryRow.folder == folder))
            for turn, folder in enumerate(folders):
                if folder in stored:
                    stored[folder].turn = turn
                else:
                    session.add(LibraryRow(folder=folder, state=FolderState.WAITING.value, turn=turn))

    def set_state(self, folder: str, state: FolderState, *, work: str = "", trouble: Notice | None = None) -> None:
        """Record the state of a folder, and its work unless empty."""
        values: dict[str, Any] = {"state": state.value, "trouble": trouble and trouble.as_json()}
        if work:
            values["work"] = work
        with self._writing() as session:
            session.execute(update(LibraryRow).where(LibraryRow.folder == folder).values(values))

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
        run, counts = runs.get(work.id), self._counts[work.id].counts
        speed = counts.read / run.seconds if run and run.seconds and counts.read else None
        script = run.script if run else "zh-Hant"
        return replace(line, work=work.name, title=work.title, script=script, counts=counts, speed=speed)

    def _catch_up(self, session: Session, works: Collection[StoredWork]) -> None:
        """Recount the works with a new revision or new acts."""
        newest = newest_act_id(session)
        with_new_acts: set[int] = set()
        if newest > self._last_act and self._counts:
            with_new_acts.update(session.scalars(select(ActRow.work_id).where(ActRow.id > self._last_act).distinct()))
        self._last_act = newest
        outdated: dict[int, StoredWork] = {}
        for work in works:
            counted = self._counts.get(work.id)
            if counted is None or counted.revision != work.revision or work.id in with_new_acts:
                outdated[work.id] = work
        if outdated:
            counts = _count(session, outdated.keys() if len(outdated) < len(works) else None)
            for work_id, work in outdated.items():
                self._counts[work_id] = _CountedWork(work.revision, counts.get(work_id, WorkCounts()))


class _CountedWork(NamedTuple):
    """The counts of a work at a revision."""

    revision: int
    counts: WorkCounts


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
    """The counts of these works, or of all works, by work number."""
    pages: defaultdict[int, dict[str, int]] = defaultdict(dict)
    counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
    in_last_run = func.count().filter(PageRow.result_run_id.in_(_LAST_RUNS))
    query = select(PageRow.work_id, PageRow.status, func.count(), func.sum(PageRow.characters_checked), in_last_run)
    query = query.where(PageRow.absent.is_(False)).group_by(PageRow.work_id, PageRow.status)
    for work, status, count, characters, read in session.execute(query.where(*_among(PageRow.work_id, works))):
        pages[work][status] = count
        counts[work].update(characters=characters or 0, read=read)
    _count_flags(session, works, counts)
    return {work: WorkCounts(pages[work], **counts[work]) for work in {*pages, *counts}}


def _count_flags(session: Session, works: Collection[int] | None, counts: Mapping[int, Counter[str]]) -> None:
    """Add the counts of flags to the `counts` of each work."""
    pair = tuple_(FlagRow.work_id, FlagRow.transcribed, FlagRow.suggested)
    hidden = pair.in_(_pairs_of_rules(session, works)) & (FlagRow.state == State.OPEN.value)
    is_flagged = FlagRow.raised & (FlagRow.origin != Origin.PERSON.value) & ~hidden
    keys = (FlagRow.work_id, FlagRow.kind, is_flagged, FlagRow.state)
    flags = select(*keys, func.count()).where(FlagRow.stale.is_(False), ~IS_SEEDED).group_by(*keys)
    flags = flags.join(PageRow, PageRow.id == FlagRow.page_id).where(PageRow.absent.is_(False))
    flags = flags.where(FlagRow.raised.is_(True) | (FlagRow.kind == Kind.AUDIT.value) | (FlagRow.state != "open"))
    flags = flags.where(~is_second_half(), *_among(FlagRow.work_id, works))
    for work, kind, flagged, state, count in session.execute(flags):
        of_work, settled, wrong = counts[work], State(state) in SETTLED, state == State.CORRECTED.value
        if kind == Kind.AUDIT.value:
            of_work["samples"] += count * settled
            of_work["missed"] += count * wrong
        else:
            of_work["flagged"] += count * flagged
            of_work["decided"] += count * (flagged and state != State.OPEN.value)
            of_work["settled"] += count * (flagged and settled)
            of_work["upheld"] += count * (flagged and wrong)
            of_work["confirmed"] += count * wrong
    for (work, by_hand), count in exported_flags(session, WORK, *_among(FlagRow.work_id, works)).items():
        counts[work].update(exported=0 if by_hand else count, confirmed=count)


def _pairs_of_rules(session: Session, works: Collection[int] | None) -> list[tuple[int, str, str]]:
    """The pairs of characters that are variants by a rule, each after the number of the work of the rule."""
    with_rules = session.scalars(select(RuleRow.work_id).distinct().where(*_among(RuleRow.work_id, works)))
    return [
        (work, *pair) for work in with_rules.all() for pair, rule in rules_of(session, work).items() if not rule.planted
    ]


def _among(column: Any, works: Collection[int] | None) -> list[Any]:
    """The condition that the work in `column` is one of `works`; no condition for None."""
    return [] if works is None else [column.in_(works)]
