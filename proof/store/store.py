"""The store of a project: its checked texts, page results and flags, and the acts of people on them.

A page is saved in one transaction: after a crash or a `kill -9`, every page whose `save_pages` returned is complete,
and no page is stored in part. Several threads and processes may write: transactions are isolated, and a work is checked
by one run at a time (`checking`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import URL, Connection, Engine, func, select, text, update
from sqlalchemy.orm import Session

from proof.errors import OutputError, UsageError
from proof.locale.marking import _
from proof.model.flags import TEXT_ORIGINS, Flag, Kind, Origin
from proof.model.notices import Notice
from proof.model.result import PageResult
from proof.ocr.engine import EngineIdentity
from proof.settings.config import STORE_NAME
from proof.store import database, rows
from proof.store.accounts import Accounts
from proof.store.acts import Acts
from proof.store.assignments import Assignments
from proof.store.cache import Cache
from proof.store.comments import Comments
from proof.store.database import Waiting, check_lock
from proof.store.decisions import Decisions
from proof.store.double_readings import DoubleReadings
from proof.store.editions import CarriedDecisions, CollatedTexts
from proof.store.error_reports import Reports
from proof.store.glyphs import Glyphs
from proof.store.history import History
from proof.store.journal import Journal, Line, all_lines, identity, journal_of, read_journal, standing_lines
from proof.store.judgements import Judgements
from proof.store.layout_overrides import LayoutOverrides, PageStamp, overrides_of
from proof.store.library import Library
from proof.store.lookup import batches, raise_revision, work_id_subquery
from proof.store.manual_corrections import ManualCorrections
from proof.store.models import FlagRow, PageRow, RunRow, WorkRow
from proof.store.page_states import PageStates
from proof.store.queue import Queue
from proof.store.recovery import Recovered, recover
from proof.store.rows import KeptPage, RunInfo, StoredRunInfo
from proof.store.saving import (
    CheckedResult,
    KeptResult,
    check_flags,
    check_newest_run,
    kept_result,
    lock_page,
    run_row,
    save_results,
    save_run_pages,
    update_places,
)
from proof.store.search import Finder
from proof.store.text_files import Texts
from proof.store.texts import lock_texts, record_content
from proof.store.variant_rules import Rules


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
        """Open the store at `address`, a database URL or the path of a SQLite file, and create or update its tables.

        `wait` is the time in seconds to wait for another program that writes to it. The journal is beside a SQLite
        file; that of a database server is in `folder`, and there is none without a folder. Acts that the journal lacks
        are added to it, unless `complete` is false.

        Raises OutputError if the store cannot be used or was made by a later version; UsageError for no address.
        """
        url = database.store_url(address)
        if url.get_backend_name() == "sqlite" and url.database and "mode=ro" not in url.database:
            _make_folder(Path(url.database.removeprefix("file:")).parent)
        engine = database.connect(url, wait)
        try:
            with database.explained(url):
                database.migrate(engine)
            store = cls(engine, _journal(url, folder))
            if store.journal and complete:
                store.journal.catch_up(store._reading)
        except BaseException:
            engine.dispose()
            raise
        return store

    @property
    def engine(self) -> Engine:
        """The database of this store."""
        return self._engine

    @property
    def name(self) -> str:
        """The name of this store in messages."""
        return database.name_of(self._engine.url)

    def try_writing(self) -> None:
        """Commit a write that changes nothing, and wait until it is on the disk. Raises OutputError if that fails."""
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
        """Lock `work` for checking, from before its run begins until its reports are written. The context is whether
        another check had to finish first; `waiting` is called before waiting for it. Raises OutputError."""
        return check_lock(self._engine, work, waiting)

    def begin_run(self, info: RunInfo, check_current: Callable[[], None] = lambda: None) -> int:
        """Record a run and the contents of its texts; returns the number under which its pages are saved.
        `check_current` raises if these contents are outdated; it is called while the texts are locked."""
        with self._writing() as session:
            lock_texts(session, [text.path for text in info.texts])
            check_current()
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
        """Record the end of a run. `findings` are notices about the run as a whole. A `whole` run had all pages of its
        texts: the other stored pages of these texts become absent. If they return they are judged anew, since other
        pages may have taken their flags meanwhile.

        Raises OutputError if another run of the work began meanwhile, since pages may then belong to that run."""
        with self._writing() as session:
            run = run_row(session, run_id)
            check_newest_run(session, run)
            run.finished = datetime.now(UTC)
            run.findings = [finding.as_json() for finding in findings]
            if whole:
                not_in_run = select(PageRow.id).where(
                    PageRow.work_id == run.work_id,
                    PageRow.text.in_([text["path"] for text in run.texts]),
                    PageRow.run_id != run.id,
                )
                mark_absent = update(PageRow).where(PageRow.id.in_(not_in_run)).values(absent=True, key="")
                session.execute(mark_absent, execution_options={"synchronize_session": False})
            raise_revision(session, run.work_id)
        self.cache.note_use()

    def run(self, run_id: int) -> StoredRunInfo:
        """The run with this number. Raises UsageError if there is none."""
        with self._reading() as session:
            row = run_row(session, run_id)
            work = session.get_one(WorkRow, row.work_id)
            reused = select(func.count()).where(PageRow.run_id == run_id, PageRow.result_run_id != run_id)
            return rows.run_of(row, work.name, work.title, session.scalar(reused) or 0)

    def latest_run(self, work: str | None = None) -> StoredRunInfo | None:
        """The run that began last, of all works or of one; None if there is none."""
        last = select(func.max(RunRow.id))
        if work is not None:
            last = last.where(RunRow.work_id == work_id_subquery(work))
        with self._reading() as session:
            run_id = session.scalar(last)
        return None if run_id is None else self.run(run_id)

    def engines(self) -> frozenset[EngineIdentity]:
        """The engines of all runs. Each was available when its run began."""
        columns = (RunRow.engine_name, RunRow.engine_version, RunRow.engine_model, RunRow.engine_checksum)
        with self._reading() as session:
            return frozenset(EngineIdentity(*row) for row in session.execute(select(*columns).distinct()))

    # pages

    def save_pages(self, run_id: int, pages: Sequence[CheckedResult]) -> None:
        """Save the results of pages, all or none. Stored flags that were found again are updated, those that were not
        become stale. Raises OverrideChangedError if a person changed meanwhile how one of the pages is read."""
        for checked in pages:
            check_flags(checked.result, checked.quality)
        with self._writing() as session:
            run = run_row(session, run_id)
            raise_revision(session, run.work_id)
            save_run_pages(session, run, pages)

    def stamp(self, number: int) -> PageStamp:
        """The identity of a page's result and its layout override. Raises GonePageError."""
        with self._reading() as session:
            page = lock_page(session, number)
            return PageStamp(page.key, page.result_run_id, overrides_of(session, [page.id]).get(page.id))

    def replace_page(self, number: int, seen: PageStamp, checked: CheckedResult) -> bool:
        """Replace the result of a stored page, which keeps its run, its position, and the decisions whose places
        remain. Returns False and saves nothing if the page was checked after it was `seen`. Raises
        OverrideChangedError; GonePageError if the page is no longer in its text."""
        check_flags(checked.result, checked.quality)
        with self._writing() as session:
            page = lock_page(session, number)
            if (page.key, page.result_run_id) != (seen.key, seen.run):
                return False
            in_work = replace(checked, place=replace(checked.place, position=page.position))
            update_places(session, [(page, in_work)])
            save_results(session, [(page, in_work)])
            raise_revision(session, page.work_id)
        return True

    def kept_pages(self, work: str) -> dict[tuple[str, int], KeptPage]:
        """The identities of the page results of a work, by page id and repeat."""
        with self._reading() as session:
            query = select(PageRow.page, PageRow.repeat, PageRow.key, PageRow.image_sha)
            pages = session.execute(query.where(PageRow.work_id == work_id_subquery(work)))
            return {(page, repeat): KeptPage(key, sha) for page, repeat, key, sha in pages}

    def cached_page(self, key: str) -> KeptResult | None:
        """The stored result with this key; None if there is none. Its `image` is the path at that time."""
        if not key:
            return None
        with self._reading() as session:
            return kept_result(session, key)

    def results(
        self, *, run: int | None = None, work: str | None = None, outline: bool = False, raised: bool = False
    ) -> Iterator[PageResult]:
        """The page results of a run, by position, or of a work, by text and position; a few in memory at a time.
        Exactly one of `run` and `work` is given. An `outline` has no columns and characters; with `raised`, only pages
        with raised findings are included."""
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
        origins: Iterable[Origin] = TEXT_ORIGINS,
        *,
        kinds: Iterable[Kind] = (),
        transcribed: Iterable[str] = (),
        text: str = "",
    ) -> Iterator[Flag]:
        """The present flags of a work in page order, then by line and offset; a few in memory at a time. `kinds`,
        `transcribed` and `text` (the path of a text) select among them unless empty."""
        characters = list(transcribed)
        # the index on characters is faster if there are any; else the flags are read by page
        work_column = FlagRow.work_id if characters else PageRow.work_id
        matching = select(FlagRow.id).join(PageRow, FlagRow.page_id == PageRow.id)
        matching = matching.where(
            work_column == work_id_subquery(work), FlagRow.stale.is_(False), PageRow.absent.is_(False)
        )
        for column, selected in (
            (FlagRow.origin, [origin.value for origin in origins]),
            (FlagRow.kind, [kind.value for kind in kinds]),
            (FlagRow.transcribed, characters),
            (PageRow.text, [text] if text else []),
        ):
            matching = matching.where(column.in_(selected)) if selected else matching
        order = (PageRow.text, PageRow.position, PageRow.id, FlagRow.line, FlagRow.offset, FlagRow.id)
        with self._reading() as session:
            numbers = list(session.scalars(matching.order_by(*order)))
        query = select(FlagRow, PageRow.page).join(PageRow, FlagRow.page_id == PageRow.id)
        for start in range(0, len(numbers), rows.FLAGS_AT_ONCE):
            batch = numbers[start : start + rows.FLAGS_AT_ONCE]
            with self._reading() as session:
                pairs = session.execute(query.where(FlagRow.id.in_(batch)))
                flags_by_number = {flag.id: rows.flag_of(page, flag) for flag, page in pairs}
            yield from (flags_by_number[number] for number in batch if number in flags_by_number)

    def revision(self, work: str) -> int:
        """The revision of a work, which every check and export raises; 0 for an unknown work."""
        with self._reading() as session:
            return session.scalar(select(WorkRow.revision).where(WorkRow.name == work)) or 0

    def rescore(self, work: str, flags: Sequence[Flag], *, seen: int | None = None) -> int | None:
        """Save scores that depend on the whole run to the flags of a work with the same ids. Returns the new revision;
        if the work is no longer at the revision `seen`, returns None and saves nothing."""
        with self._writing() as session:
            query = select(WorkRow.id, WorkRow.revision).where(WorkRow.name == work).with_for_update()
            row = session.execute(query).first()
            if row is None:
                return 0
            work_id, revision = row
            if seen is not None and revision != seen:
                return None
            for batch in batches(flags):
                flag_of = {flag.id: flag for flag in batch}
                # without a condition on the work, for which SQLite would scan all its flags
                stored = select(FlagRow.id, FlagRow.uid, FlagRow.work_id).where(FlagRow.uid.in_(flag_of))
                changes = [
                    {"id": number, **rows.judgement_values(flag_of[uid])}
                    for number, uid, of_work in session.execute(stored)
                    if of_work == work_id
                ]
                if changes:
                    session.execute(update(FlagRow), changes)
            if flags:
                raise_revision(session, work_id)
            return int(revision) + bool(flags)

    def recover(self, path: Path | None = None) -> Recovered:
        """Put the acts into the store that it lacks and its journal, or the one at `path`, holds; all or nothing.
        Raises OutputError; UsageError if there is no journal."""
        if self.journal is None or not (path or self.journal.path).is_file():
            raise UsageError(
                _("%(path)s: there is no journal to recover from; name its file with --journal"), path=path or self.name
            )
        own = path is None or path.resolve() == self.journal.path.resolve()
        if own:
            with self.journal.turn(), self._reading() as session:
                self.journal.complete(session)
        with self._writing(journaling=not own) as session:  # the journal already has the acts that come from it
            recovered = recover(session, read_journal(path or self.journal.path))
            for work in sorted(recovered.works):
                raise_revision(session, work)
        return recovered

    def faults(self) -> list[str]:
        """The faults that the database finds in itself, and the number of acts that the journal lacks."""
        faults = []
        with self.journal.turn() if self.journal else nullcontext(), self._reading() as session:
            if self._engine.dialect.name == "sqlite":
                lines = session.execute(text("PRAGMA integrity_check")).scalars()
                faults = [line for line in lines if line != "ok"]
                broken = session.execute(text("PRAGMA foreign_key_check")).all()
                faults += [f"{len(broken)} rows belong to none"] if broken else []
            if self.journal:
                known = {identity(line) for line in standing_lines(self.journal.read().lines)}
                lacking = sum(identity(line) not in known for line in all_lines(session))
                faults += [f"{lacking} acts are not in its journal"] if lacking else []
        return faults

    # sessions

    @contextmanager
    def at_one_moment(self) -> Iterator[Store]:
        """This store as it is now, for reading only; later writes are not visible in it."""
        reading = self._engine.execution_options(isolation_level="SERIALIZABLE")
        with database.explained(self._engine.url), reading.connect() as connection, connection.begin():
            connection.execute(text("SELECT version_num FROM alembic_version"))  # the first query fixes the moment
            yield Store(self._engine, self.journal, connection)

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        with database.explained(self._engine.url), Session(self._read_from) as session:
            yield session

    @contextmanager
    def _writing(self, *, journaling: bool = True) -> Iterator[Session]:
        """A transaction; its acts are appended to the journal after the commit. Raises OutputError if they were
        committed but cannot be appended; they are then appended along with the next acts."""
        journal, lines = self.journal if journaling else None, list[Line]()
        with database.explained(self._engine.url), Session(self._writers) as session, ExitStack() as turn:
            with session.begin():
                with journal.collecting(session, lines) if journal else nullcontext():
                    yield session
                if journal and lines:
                    turn.enter_context(journal.turn())
                    journal.prepare(lines, self._reading)
            if journal and lines:
                journal.append(lines, self._reading)


def _journal(url: URL, folder: Path | None) -> Journal | None:
    """The journal of the store at this address; see `Store.open`."""
    file = database.file_of(url)
    if file is not None:
        return Journal(journal_of(file))
    return Journal(folder / journal_of(Path(STORE_NAME))) if folder is not None else None


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            _("%(folder)s: cannot make the folder of the store (%(reason)s)"), folder=folder, reason=error.strerror
        ) from error
