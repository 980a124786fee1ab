"""The store of a project: what was checked, what was found, and what need not be read again.

A page is saved in one transaction: after a crash, or a `kill -9`, every page whose `save_pages` returned
is there whole and no page is there in part. Several threads and processes may write: each transaction is alone,
and a work is checked by one run at a time (`checking`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import URL, Connection, Engine, func, select, text, update
from sqlalchemy.orm import Session

from proof.errors import OutputError, UsageError
from proof.locale.marking import _
from proof.model.flags import OF_TEXT, Flag, Kind, Origin
from proof.model.notices import Notice
from proof.model.quality import NO_QUALITY, QualityFlags
from proof.model.result import PageResult
from proof.ocr.engine import EngineIdentity
from proof.store import database, rows
from proof.store.accounts import Accounts
from proof.store.acts import Acts
from proof.store.assignments import Assignments
from proof.store.cache import Cache
from proof.store.comments import Comments
from proof.store.database import Waiting, check_lock
from proof.store.decisions import Decisions
from proof.store.editions import CarriedDecisions, CollatedTexts
from proof.store.finder import Finder
from proof.store.glyphs import Glyphs, Shapes
from proof.store.history import History
from proof.store.journal import Journal, Line, all_lines, identity, journal_of, read_journal, standing_lines
from proof.store.judgements import Judgements
from proof.store.layout_overrides import LayoutOverrides, PageStamp, overrides_of
from proof.store.library import Library
from proof.store.lookup import raise_revision, work_id_subquery
from proof.store.manual_corrections import ManualCorrections
from proof.store.models import FlagRow, PageRow, RunRow, WorkRow
from proof.store.page_states import PageStates
from proof.store.places import place_unchanged_pages
from proof.store.queue import Queue
from proof.store.readings import DoubleReadings
from proof.store.recovery import Recovered, recover
from proof.store.reports import Reports
from proof.store.rows import (
    KeptPage,
    PagePlace,
    RunInfo,
    StoredRunInfo,
)
from proof.store.rules import Rules
from proof.store.saving import (
    CheckedResult,
    KeptResult,
    check_flags,
    check_newest_run,
    check_override,
    kept_result,
    lock_page,
    run_row,
    save_results,
    save_run_pages,
)
from proof.store.text_files import Texts
from proof.store.texts import lock_texts, record_content

RESCORED_AT_ONCE = 500
"""Flags whose rows are looked for together."""

STORE_NAME = "proof.sqlite"


class Store:
    """A project's store; `Store.open` gives one."""

    def __init__(self, engine: Engine, journal: Journal | None = None, moment: Connection | None = None) -> None:
        self._engine = engine
        self._read_from = moment or engine
        self.journal = journal
        self._writers = engine.execution_options(writes=True)
        sessions = (self._reading, self._writing)
        self.cache = Cache(*sessions)
        self.decisions = Decisions(*sessions)
        self.double_readings = DoubleReadings(*sessions)
        self.acts = Acts(*sessions)
        self.manual_corrections = ManualCorrections(*sessions)
        self.collated = CollatedTexts(*sessions)
        self.carried = CarriedDecisions(*sessions)
        self.comments = Comments(*sessions)
        self.assignments = Assignments(*sessions)
        self.reports = Reports(*sessions)
        self.page_states = PageStates(*sessions)
        self.rules = Rules(*sessions)
        self.layout_overrides = LayoutOverrides(*sessions)
        self.accounts = Accounts(*sessions)
        self.queue = Queue(*sessions)
        self.library = Library(*sessions)
        self.glyphs = Glyphs(*sessions)
        self.history = History(*sessions)
        self.judgements = Judgements(*sessions)
        self.texts = Texts(*sessions, self.name)
        self.finder = Finder(*sessions, self.queue, self.library)

    @classmethod
    def open(
        cls, address: str | Path | URL, *, wait: float = 30.0, folder: Path | None = None, complete: bool = True
    ) -> Self:
        """Open the store at `address` (a database URL, or the path of a SQLite file), make or update its
        tables. `wait` is how many seconds to wait for another program that writes to it. The journal of what people
        do lies beside a file; that of a store on a server in `folder`, without which it has none. What it lacks is
        added to it, unless `complete` is false.

        Raises OutputError where the store cannot be used or a later version made it; UsageError for no address.
        """
        url = database.store_url(address)
        if url.get_backend_name() == "sqlite" and url.database and "mode=ro" not in url.database:
            _make_folder(Path(url.database.removeprefix("file:")).parent)
        engine = database.connect(url, wait)
        try:
            with database.explained(url):
                database.migrate(engine)
            file = database.file_of(url)
            path = journal_of(file) if file else folder / journal_of(Path(STORE_NAME)) if folder else None
            store = cls(engine, Journal(path) if path else None)
            if store.journal and complete:
                store.journal.follow(store._reading)
        except BaseException:
            engine.dispose()
            raise
        return store

    @property
    def engine(self) -> Engine:
        """The database that this store lies in."""
        return self._engine

    @property
    def name(self) -> str:
        """How messages call this store."""
        return database.name_of(self._engine.url)

    def try_writing(self) -> None:
        """Write what is there already, so that nothing changes, and wait until it is on the disk. Raises OutputError
        where that cannot be done."""
        with self._writing() as session:
            session.execute(text("UPDATE alembic_version SET version_num = version_num"))

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # runs

    def checking(self, work: str, waiting: Waiting = lambda: None) -> AbstractContextManager[bool]:
        """Hold the right to check `work`, from before its run begins until its reports are written; gives whether
        another check had to be waited for, before which `waiting` is called. Raises OutputError."""
        return check_lock(self._engine, work, waiting)

    def begin_run(self, info: RunInfo, still: Callable[[], None] = lambda: None) -> int:
        """Note that a run begins; gives the number by which its pages are saved. `still` raises where its texts no
        longer read so, and is asked while nobody else can note another version of them."""
        with self._writing() as session:
            lock_texts(session, [text.path for text in info.texts])
            still()
            work = session.scalar(select(WorkRow).where(WorkRow.name == info.work))
            if work is None:
                work = WorkRow(name=info.work, title=info.title)
                session.add(work)
            work.title = info.title or work.title
            session.flush()
            for text_info in info.texts:
                if text_info.content is not None:
                    record_content(session, text_info.path, text_info.content, text_info.script)
            run = RunRow(work_id=work.id, **rows.run_values(info), findings=[], started=datetime.now(UTC))
            session.add(run)
            raise_revision(session, work.id)
            session.flush()
            return run.id

    def finish_run(self, run_id: int, *, findings: Sequence[Notice] = (), whole: bool = False) -> None:
        """Note that a run came to its end. `findings` are remarks about the run as a whole; `whole` says
        that it had all pages of its texts: pages that it did not have are no longer there.

        Raises OutputError where another run of the work began meanwhile: what this one had is then not all there."""
        with self._writing() as session:
            run = run_row(session, run_id)
            check_newest_run(session, run)
            run.finished = datetime.now(UTC)
            run.findings = [finding.as_json() for finding in findings]
            if whole:
                gone = select(PageRow.id).where(
                    PageRow.work_id == run.work_id,
                    PageRow.text.in_([text["path"] for text in run.texts]),
                    PageRow.run_id != run.id,
                )
                absent = update(PageRow).where(PageRow.id.in_(gone)).values(absent=True)
                session.execute(absent, execution_options={"synchronize_session": False})
            raise_revision(session, run.work_id)
        self.cache.note_use()

    def run(self, run_id: int) -> StoredRunInfo:
        """The run of that number. Raises UsageError where there is none."""
        with self._reading() as session:
            row = run_row(session, run_id)
            work = session.get_one(WorkRow, row.work_id)
            reused = select(func.count()).where(PageRow.run_id == run_id, PageRow.result_run_id != run_id)
            return rows.run_of(row, work.name, work.title, session.scalar(reused) or 0)

    def latest_run(self, work: str | None = None) -> StoredRunInfo | None:
        """The run begun last, of all works or of one."""
        last = select(func.max(RunRow.id))
        if work is not None:
            last = last.where(RunRow.work_id == work_id_subquery(work))
        with self._reading() as session:
            run_id = session.scalar(last)
        return None if run_id is None else self.run(run_id)

    def engines(self) -> frozenset[EngineIdentity]:
        """The engines of all runs: each could read when its run began."""
        columns = (RunRow.engine_name, RunRow.engine_version, RunRow.engine_model, RunRow.engine_checksum)
        with self._reading() as session:
            return frozenset(EngineIdentity(*row) for row in session.execute(select(*columns).distinct()))

    # pages

    def save_pages(self, run_id: int, pages: Sequence[CheckedResult]) -> None:
        """Keep the results of pages, all or none. A flag that is there already is updated, one that was not found
        this time is marked stale. Raises ReadOtherwiseError where a person has set meanwhile that one is read
        otherwise."""
        for checked in pages:
            check_flags(checked.result, checked.quality)
        with self._writing() as session:
            run = run_row(session, run_id)
            raise_revision(session, run.work_id)
            save_run_pages(session, run, pages)

    def stamp(self, number: int) -> PageStamp:
        """What the result of the page of that number, and how it is read, can be told by. Raises GonePageError."""
        with self._reading() as session:
            page = lock_page(session, number)
            return PageStamp(page.key, page.result_run_id, overrides_of(session, [page.id]).get(page.id))

    def replace_page(
        self,
        number: int,
        seen: PageStamp,
        place: PagePlace,
        key: str,
        result: PageResult,
        quality: QualityFlags = NO_QUALITY,
        shapes: Shapes | None = None,
    ) -> bool:
        """Keep another result of a page that is there, which stays in the run and at the position that it has, with
        the decisions whose places remain. Gives False, and keeps nothing, where the page was checked meanwhile and is
        no longer as it was `seen`. Raises ReadOtherwiseError, and GonePageError where it is no longer in its text."""
        check_flags(result, quality)
        with self._writing() as session:
            page = lock_page(session, number)
            if (page.key, page.result_run_id) != (seen.key, seen.run):
                return False
            check_override(overrides_of(session, [page.id]).get(page.id), seen.override)
            page.text, page.juan, page.folio = place.text, place.juan, place.folio
            if page.key == key != "":
                place_unchanged_pages(session, [(page, place)])
            save_results(session, [(page, CheckedResult(place, key, result, shapes=shapes, quality=quality))])
            raise_revision(session, page.work_id)
        return True

    def kept_pages(self, work: str) -> dict[tuple[str, int], KeptPage]:
        """By what the results of a work's pages can be told to hold, by the page's id and repeat."""
        with self._reading() as session:
            return rows.kept_pages(session, work)

    def cached_page(self, key: str) -> KeptResult | None:
        """The result kept under `key`, if there is one. Its `image` is the path it then had."""
        if not key:
            return None
        with self._reading() as session:
            return kept_result(session, key)

    def results(
        self, *, run: int | None = None, work: str | None = None, outline: bool = False, raised: bool = False
    ) -> Iterator[PageResult]:
        """Page results in page order, a few in memory at a time: of the pages that `run` had, or of all
        that a work has (by text, then by position). Exactly one of the two is given. An `outline` is a
        result without its columns and characters; `raised`: of pages with raised findings alone."""
        if (run is None) == (work is None):
            raise ValueError("name the run or the work whose results are wanted")
        with self._reading() as session:
            numbers = rows.pages_in_order(session, run, work, raised)
        for start in range(0, len(numbers), rows.PAGES_AT_ONCE):
            with self._reading() as session:
                pages = rows.pages_of(session, numbers[start : start + rows.PAGES_AT_ONCE])
                results = rows.results(session, pages, outline)
            yield from results

    # findings

    def flags(
        self,
        work: str,
        origins: Iterable[Origin] = OF_TEXT,
        *,
        kinds: Iterable[Kind] = (),
        transcribed: Iterable[str] = (),
        text: str = "",
    ) -> Iterator[Flag]:
        """The flags of a work that are there now, of some kinds and characters and of the text at one path where these
        are given, in page order, then by line and offset; a few in memory at a time."""
        return rows.flags(self._reading, work, origins, kinds, transcribed, text)

    def revision(self, work: str) -> int:
        """How often what was found in a work changed; 0 where there is none."""
        with self._reading() as session:
            return session.scalar(select(WorkRow.revision).where(WorkRow.name == work)) or 0

    def rescore(self, work: str, flags: Sequence[Flag], *, seen: int | None = None) -> int | None:
        """Give flags of a work, known by their ids, the scores that they have in the light of the whole run. Gives the
        revision that the work is at then; None, and nothing is changed, where it is no longer at the one at which it
        was `seen`."""
        with self._writing() as session:
            known = select(WorkRow.id, WorkRow.revision).where(WorkRow.name == work).with_for_update()
            there = session.execute(known).first()
            if there is None:
                return 0
            number, revision = there
            if seen is not None and revision != seen:
                return None
            for first in range(0, len(flags), RESCORED_AT_ONCE):
                judged = {flag.id: flag for flag in flags[first : first + RESCORED_AT_ONCE]}
                # by their ids alone: where their work is asked for as well, SQLite goes through all flags of it
                query = select(FlagRow.id, FlagRow.uid, FlagRow.work_id).where(FlagRow.uid.in_(judged))
                rescored = [(row, uid) for row, uid, of_work in session.execute(query) if of_work == number]
                changes = [{"id": row, **rows.judgement_values(judged[uid])} for row, uid in rescored]
                if changes:
                    session.execute(update(FlagRow), changes)
            if flags:
                raise_revision(session, number)
            return int(revision) + bool(flags)

    def recover(self, path: Path | None = None) -> Recovered:
        """Put into the store what people did by the journal, or by the one at `path`, and is not there; all or
        nothing. Raises OutputError, UsageError where there is no journal."""
        if self.journal is None or not (path or self.journal.path).is_file():
            raise UsageError(
                _("%(path)s: there is no journal to recover from; name its file with --journal"), path=path or self.name
            )
        own = path is None or path.resolve() == self.journal.path.resolve()
        if own:
            with self.journal.turn(), self._reading() as session:
                self.journal.complete(session)
        with self._writing(noting=not own) as session:  # what comes out of it does not go into it again
            done = recover(session, read_journal(path or self.journal.path))
            for work in done.works:
                raise_revision(session, work)
        return done

    def faults(self) -> list[str]:
        """What is wrong with the store by its own account, and what people did that its journal lacks."""
        faults = []
        with self.journal.turn() if self.journal else nullcontext(), self._reading() as session:
            if self._engine.dialect.name == "sqlite":
                lines = session.execute(text("PRAGMA integrity_check")).scalars()
                faults = [line for line in lines if line != "ok"]
                broken = session.execute(text("PRAGMA foreign_key_check")).all()
                faults += [f"{len(broken)} rows belong to none"] if broken else []
            known = {identity(line) for line in standing_lines(self.journal.read().lines)} if self.journal else set()
            lacking = sum(identity(line) not in known for line in all_lines(session)) if self.journal else 0
        return faults + ([f"{lacking} acts are not in its journal"] if lacking else [])

    # sessions

    @contextmanager
    def at_one_moment(self) -> Iterator[Store]:
        """This store as it is now, to be read: what is written meanwhile is not in it."""
        reading = self._engine.execution_options(isolation_level="SERIALIZABLE")
        with database.explained(self._engine.url), reading.connect() as connection, connection.begin():
            connection.execute(text("SELECT version_num FROM alembic_version"))  # the moment is that of the first look
            yield Store(self._engine, self.journal, connection)

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        with database.explained(self._engine.url), Session(self._read_from) as session:
            yield session

    @contextmanager
    def _writing(self, *, noting: bool = True) -> Iterator[Session]:
        """A transaction; what people do in it is in the journal, too, when this ends. Raises OutputError where it is
        in the store and cannot be written down there: it will be with what is done next."""
        journal, lines = self.journal if noting else None, list[Line]()
        with database.explained(self._engine.url), Session(self._writers) as session, ExitStack() as turn:
            with session.begin():
                with journal.collecting(session, lines) if journal else nullcontext():
                    yield session
                if journal and lines:
                    turn.enter_context(journal.turn())
                    journal.prepare(lines, self._reading)
            if journal and lines:
                journal.append(lines, self._reading)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            _("%(folder)s: cannot make the folder of the store (%(reason)s)"), folder=folder, reason=error.strerror
        ) from error
