"""The database: its address, connections and migrations, the lock of a check, and its errors with advice."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout
from sqlalchemy import URL, Connection, Engine, create_engine, event, func, inspect, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from proof.errors import OutputError, UsageError
from proof.locale.marking import Sentence, _

if TYPE_CHECKING:
    from alembic.script import ScriptDirectory

MIGRATIONS = Path(__file__).parent / "migrations"
MIGRATION_LOCK = 0x70726F6F6D696772
"""The number of the advisory lock on a PostgreSQL database while its tables are changed: the letters `proomigr`."""
CHECK_LOCK = 0x70726F6F
"""The first of the two numbers of the advisory locks of checks in a PostgreSQL database: the letters `proo`."""
LOCK_POLL_S = 0.1
"""Seconds between two attempts to take a lock that another program holds."""
WAL_POLL_S = 0.02
"""Seconds between two attempts to switch a new SQLite file to write-ahead logging."""

Waiting = Callable[[], None]
"""Called once if a lock is held by another program."""

ADVICE = [
    ("database is locked", Sentence(_("another program is writing to it; wait until it is done, or end it"))),
    ("readonly", Sentence(_("it may only be read; allow writing to the file and its folder, or name another store"))),
    ("disk is full", Sentence(_("the disk is full; make room and run again, what was done is kept"))),
    ("unable to open", Sentence(_("it cannot be opened; the folder must exist and allow writing"))),
    ("not a database", Sentence(_("this is no store; name another file, or move this one away"))),
    ("malformed", Sentence(_("the file is damaged; restore a copy of it, or move it away and run again"))),
    (
        "disk i/o error",
        Sentence(_("the disk cannot be read or written: it may be full; check it, or put the store on another one")),
    ),
]
"""Words in the message of a database error, and the advice about it."""


def store_url(address: str | Path | URL) -> URL:
    """The address of a store: a database URL as SQLAlchemy writes it, or the path of a SQLite file."""
    if isinstance(address, Path):
        return URL.create("sqlite", database=str(address))
    try:
        return make_url(address)
    except ArgumentError:
        raise UsageError(
            _("store %(address)s is no database address; write it like sqlite:///folder/proof.sqlite"),
            address=repr(address),
        ) from None


def connect(url: URL, wait: float) -> Engine:
    """An engine for `url`; `wait` are the seconds to wait for another writer of a SQLite file. Raises UsageError if the
    driver is missing."""
    options = {"connect_args": {"timeout": wait}} if url.get_backend_name() == "sqlite" else {}
    try:
        engine = create_engine(url, **options)
    except (NoSuchModuleError, ImportError) as error:
        remedy = ": pip install 'hanproof[postgresql]'" if url.get_backend_name() == "postgresql" else ""
        raise UsageError(
            _("store %(name)s: no driver for this kind of database (%(error)s)%(remedy)s"),
            name=name_of(url),
            error=error,
            remedy=remedy,
        ) from error
    if engine.dialect.name == "sqlite":
        make_private(url)
        _prepare_sqlite(engine, wait)
    return engine


def make_private(url: URL) -> None:
    """Let only the owner read a SQLite store and its log files; a missing file is created. Errors are ignored: opening
    the file reports them, and a file of another user keeps its mode."""
    file = file_of(url)
    if file is None or not file.parent.is_dir():
        return
    with suppress(OSError):
        if not file.exists():
            _create_private(file)
    for path in (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
        with suppress(OSError):
            if path.exists() and path.stat().st_mode & 0o077:
                path.chmod(path.stat().st_mode & 0o700)


def _prepare_sqlite(engine: Engine, wait: float) -> None:
    """Switch on write-ahead logging, foreign keys and explicit transactions.

    A transaction with the execution option `writes` takes the write lock when it begins. If it began by reading, it
    could not take the lock after another program has written.
    """

    @event.listens_for(engine, "connect")
    def set_up(connection: sqlite3.Connection, _record: Any) -> None:
        connection.isolation_level = None  # the driver must not begin transactions by itself
        _write_ahead(connection, wait)
        for pragma in ("synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _write_ahead(connection: sqlite3.Connection, wait: float) -> None:
    """Switch a file to write-ahead logging. If two programs do so at once, SQLite refuses one of them without waiting,
    so this tries again for `wait` seconds."""
    end = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() >= end:
                raise
            time.sleep(WAL_POLL_S)


def _create_private(file: Path) -> None:
    """Create an empty file that only its owner may read.

    It is created and closed under another name: closing a descriptor of a SQLite file releases the locks that all
    threads of the process hold on it.
    """
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    os.close(descriptor)
    try:
        os.link(temporary, file)
    finally:
        with suppress(OSError):
            Path(temporary).unlink()


def name_of(url: URL) -> str:
    """The name of a store in messages: its file, or its address without the password."""
    if url.get_backend_name() == "sqlite" and url.database:
        return url.database
    return url.render_as_string(hide_password=True)


def file_of(url: URL) -> Path | None:
    """The file of a SQLite store; None for a store in memory, one opened read-only, or one on a server."""
    name = url.database or ""
    if url.get_backend_name() != "sqlite" or not name or ":memory:" in name or "mode=ro" in name:
        return None
    if name.startswith("file:"):
        name = name.removeprefix("file:").partition("?")[0]
    return Path(name)


def is_missing(address: str | Path) -> bool:
    """Whether the file of a store is missing, so that opening the store would create an empty one. Raises UsageError
    for an invalid address."""
    file = address if isinstance(address, Path) else file_of(store_url(address))
    return file is not None and not file.is_file()


@contextmanager
def explained(url: URL) -> Iterator[None]:
    """Turns database errors into OutputError with advice."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        original = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
        if not isinstance(error, (DBAPIError, sqlite3.Error)) or not _is_operational(original):
            raise
        message = " ".join(str(original).split())
        unknown = Sentence(_("the database cannot be used"))
        advice = next((advice for words, advice in ADVICE if words in message.lower()), unknown)
        raise OutputError(
            "%(name)s: %(advice)s (%(message)s)", name=name_of(url), advice=advice, message=message
        ) from error


def _is_operational(error: BaseException) -> bool:
    """Whether the database itself fails, rather than a statement. The class names are those of PEP 249."""
    classes = {kind.__name__ for kind in type(error).__mro__}
    of_statement = {"IntegrityError", "ProgrammingError", "DataError", "NotSupportedError", "InterfaceError"}
    return bool(classes & {"OperationalError", "DatabaseError"}) and not classes & of_statement


def migrate(engine: Engine) -> None:
    """Bring the tables up to date. Raises OutputError for a store of a later version of proof, or a database of another
    program."""
    with engine.connect() as connection:
        if revisions_in(connection) == {newest_revision()}:
            return
    from alembic import command  # noqa: PLC0415 - a tenth of a second, which a store that is up to date need not pay
    from alembic.config import Config  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    script = ScriptDirectory.from_config(config)
    with engine.execution_options(writes=True).begin() as connection:
        if engine.dialect.name == "postgresql":  # else two programs could make the same tables
            connection.execute(select(func.pg_advisory_xact_lock(MIGRATION_LOCK)))
        if not _is_current(connection, script):  # another program may have migrated it meanwhile
            _keep_copy(connection)
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def newest_revision() -> str:
    """The revision of the tables that this version of proof works with: that of the last migration."""
    return max(path.name for path in (MIGRATIONS / "versions").glob("[0-9]*_*.py")).partition("_")[0]


def revisions_in(connection: Connection) -> set[str]:
    """The revisions of the tables of a database, as Alembic recorded them; empty if it has no store."""
    if not inspect(connection).has_table("alembic_version"):
        return set()
    return set(connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalars())


def _keep_copy(connection: Connection) -> None:
    """Copy a SQLite store into a file beside it before its tables are changed: `proof.sqlite.as-of-0011` for revision
    0011. A server has backups of its own. Raises OutputError if the copy cannot be written."""
    file, revisions = file_of(connection.engine.url), revisions_in(connection)
    if file is None or not revisions:
        return
    copy = file.with_name(f"{file.name}.as-of-{'-'.join(sorted(revisions))}")
    part = copy.with_name(f".{copy.name}.part")
    try:
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(make_empty(part))) as target:
            source.backup(target)
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.replace(copy)
    except (OSError, sqlite3.Error) as error:
        raise OutputError(
            _("%(copy)s: the copy before an update cannot be written (%(error)s); make room"), copy=copy, error=error
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def make_empty(path: Path) -> Path:
    """Create an empty file that only its owner may read, or restrict an existing one: a store holds hashes of
    passwords. SQLite gives its log files the same mode."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    path.chmod(0o600)
    return path


def _is_current(connection: Connection, script: ScriptDirectory) -> bool:
    """Whether the tables are up to date. Raises OutputError as `migrate`."""
    revisions = revisions_in(connection)
    name = name_of(connection.engine.url)
    if revisions - {revision.revision for revision in script.walk_revisions()}:
        raise OutputError(
            _("%(name)s: a later version of proof made this store; update proof, or name another store"), name=name
        )
    if not revisions and inspect(connection).get_table_names():
        raise OutputError(_("%(name)s: this database holds something else; name another store"), name=name)
    return revisions == set(script.get_heads())


@contextmanager
def check_lock(engine: Engine, work: str, waiting: Waiting) -> Iterator[bool]:
    """Hold the lock for checking `work` in this store; yields whether another program held it first, in which case
    `waiting` was called. Raises OutputError if no lock can be taken."""
    lock: AbstractContextManager[bool] = nullcontext(False)  # for a store in memory, which no other program has open
    file = file_of(engine.url)
    if file is not None:
        lock = _file_lock(file.with_name(f".{file.name}.{_digest(work)}.lock"), waiting)
    elif engine.dialect.name == "postgresql":
        lock = _advisory_lock(engine, work, waiting)
    with lock as waited:
        yield waited


@contextmanager
def _advisory_lock(engine: Engine, work: str, waiting: Waiting) -> Iterator[bool]:
    """Hold the lock of a work in a PostgreSQL database."""
    numbers = CHECK_LOCK, int(_digest(work)[:8], 16) - 2**31
    with explained(engine.url), engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT")
        waited = _take(lambda: bool(connection.scalar(select(func.pg_try_advisory_lock(*numbers)))), waiting)
        try:
            yield waited
        finally:
            # closing the connection would release the lock too, but a moment later
            with suppress(SQLAlchemyError):
                connection.execute(select(func.pg_advisory_unlock(*numbers)))
            connection.invalidate()


@contextmanager
def _file_lock(path: Path, waiting: Waiting) -> Iterator[bool]:
    """Hold the lock of a work in a file. Raises OutputError."""
    lock = FileLock(path, mode=0o600, thread_local=False)

    def try_lock() -> bool:
        with suppress(Timeout):
            lock.acquire(timeout=0)
        return lock.is_locked

    try:
        waited = _take(try_lock, waiting)
    except OSError as error:
        raise OutputError(
            _("%(path)s: cannot be locked (%(reason)s); allow writing there"), path=path, reason=error.strerror or error
        ) from error
    try:
        yield waited
    finally:
        lock.release()


def _take(try_lock: Callable[[], bool], waiting: Waiting) -> bool:
    """Try to take a lock until it is taken; returns whether it had to be waited for."""
    waited = False
    while not try_lock():
        if not waited:
            waiting()
        waited = True
        time.sleep(LOCK_POLL_S)
    return waited


def _digest(work: str) -> str:
    return hashlib.sha256(work.encode("utf-8", "surrogatepass")).hexdigest()[:16]
