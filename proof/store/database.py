"""The database: its address, connections, migrations, the lock of a check, and what its errors mean to a user."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
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
MIGRATING = 0x70726F6F6D696772
"""The number of the advisory lock on a PostgreSQL database while its tables are changed: the letters `proomigr`."""
LOCK_POLL_S = 0.1
"""Seconds from one look at a lock that another holds to the next."""
CHECKING = 0x70726F6F
"""The first of the two numbers of our advisory locks in a PostgreSQL database: the letters `proo`."""

Waiting = Callable[[], None]

ADVICE = [
    ("database is locked", Sentence(_("another program is writing to it; wait until it is done, or end it"))),
    ("readonly", Sentence(_("it may only be read; allow writing to the file and its folder, or name another store"))),
    ("disk is full", Sentence(_("the disk is full; make room and run again, what was done is kept"))),
    ("unable to open", Sentence(_("it cannot be opened; the folder must exist and allow writing"))),
    ("not a database", Sentence(_("this is no store; name another file, or move this one away"))),
    ("malformed", Sentence(_("the file is damaged; restore a copy of it, or move it away and run again"))),
    ("disk i/o error", Sentence(_("the disk cannot be read or written; check it, or put the store on another one"))),
]


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
    """An engine for `url`; `wait` is how many seconds to wait for another writer, where that can be set."""
    try:
        engine = create_engine(
            url, **({"connect_args": {"timeout": wait}} if url.get_backend_name() == "sqlite" else {})
        )
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
    """Take the right to read a store in a file, and the files beside it, from all but its owner."""
    file = file_of(url)
    if file is None or not file.parent.is_dir():
        return
    with suppress(OSError):  # what keeps it from being made is told where it is opened
        if not file.exists():
            _make_private(file)
    for each in (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
        with suppress(OSError):  # another's file stays as it is
            if each.exists() and each.stat().st_mode & 0o077:
                each.chmod(each.stat().st_mode & 0o700)


def _prepare_sqlite(engine: Engine, wait: float) -> None:
    """Write-ahead logging, foreign keys, and explicit transactions.

    A transaction that will write (`writes` among its execution options) takes the write lock at once: one that began by
    reading could not get it after another writer.
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
    """Switch a new file to its log. Of two programs that do so at once SQLite refuses one without waiting."""
    end = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() >= end:
                raise
            time.sleep(0.02)


def _make_private(file: Path) -> None:
    """Make an empty file that its owner alone may read. It is closed before it has its name: whoever closes a SQLite
    file takes the locks of all threads of the process from it."""
    number, part = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    os.close(number)
    try:
        os.link(part, file)
    finally:
        with suppress(OSError):
            Path(part).unlink()


def name_of(url: URL) -> str:
    """How messages call a store: the file, or the address without its password."""
    if url.get_backend_name() == "sqlite" and url.database:
        return url.database
    return url.render_as_string(hide_password=True)


def file_of(url: URL) -> Path | None:
    """The file of a SQLite store; None for a store in memory, one that is only read, or one on a server."""
    name = url.database or ""
    if url.get_backend_name() != "sqlite" or not name or ":memory:" in name or "mode=ro" in name:
        return None
    return Path(name.removeprefix("file:").partition("?")[0]) if name.startswith("file:") else Path(name)


def is_missing(address: str | Path) -> bool:
    """Whether a store that would be a file is not there: to open it would make an empty one. Raises UsageError."""
    file = address if isinstance(address, Path) else file_of(store_url(address))
    return file is not None and not file.is_file()


@contextmanager
def explained(url: URL) -> Iterator[None]:
    """Turns database errors into OutputError with advice."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        original = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
        if not isinstance(error, (DBAPIError, sqlite3.Error)) or not _of_the_place(original):
            raise
        message = " ".join(str(original).split())
        advice = next(
            (advice for words, advice in ADVICE if words in message.lower()), Sentence(_("the database cannot be used"))
        )
        raise OutputError(
            "%(name)s: %(advice)s (%(message)s)", name=name_of(url), advice=advice, message=message
        ) from error


def _of_the_place(error: BaseException) -> bool:
    """Whether the database itself fails, rather than the statement."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    asked = {"IntegrityError", "ProgrammingError", "DataError", "NotSupportedError", "InterfaceError"}
    return bool(kinds & {"OperationalError", "DatabaseError"}) and not kinds & asked


def migrate(engine: Engine) -> None:
    """Bring the tables up to date. Raises OutputError for a store that a later version made, or that is
    somebody else's database."""
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
        if engine.dialect.name == "postgresql":  # two programs would make the same tables, and wait for each other
            connection.execute(select(func.pg_advisory_xact_lock(MIGRATING)))
        if not _is_current(connection, script):  # another program may have been quicker
            _keep_copy(connection)
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def newest_revision() -> str:
    """The revision of the tables that this program works with: the number at the head of the last migration."""
    return max(path.name for path in (MIGRATIONS / "versions").glob("[0-9]*_*.py")).partition("_")[0]


def revisions_in(connection: Connection) -> set[str]:
    """The revisions that the tables of a database have; none where it has no store."""
    if not inspect(connection).has_table("alembic_version"):
        return set()
    return set(connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalars())


def _keep_copy(connection: Connection) -> None:
    """Before tables are changed, the store as it is, in a file beside it: `proof.sqlite.as-of-0011` for one
    of revision 0011. A server has backups of its own. Raises OutputError where there is no room for it."""
    file, heads = file_of(connection.engine.url), revisions_in(connection)
    if file is None or not heads:
        return
    copy = file.with_name(f"{file.name}.as-of-{'-'.join(sorted(heads))}")
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
    """An empty file that its owner alone may read: a store holds hashes of passwords. SQLite gives its log the same
    mode."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    path.chmod(0o600)
    return path


def _is_current(connection: Connection, script: ScriptDirectory) -> bool:
    heads = revisions_in(connection)
    name = name_of(connection.engine.url)
    if heads - {revision.revision for revision in script.walk_revisions()}:
        raise OutputError(
            _("%(name)s: a later version of proof made this store; update proof, or name another store"), name=name
        )
    if not heads and inspect(connection).get_table_names():
        raise OutputError(_("%(name)s: this database holds something else; name another store"), name=name)
    return heads == set(script.get_heads())


@contextmanager
def check_lock(engine: Engine, work: str, waiting: Waiting) -> Iterator[bool]:
    """Hold the right to check `work` in this store; gives whether it had to be waited for. `waiting` is called once
    where another holds it. Raises OutputError where no lock can be had."""
    name = engine.dialect.name
    file = file_of(engine.url)
    if file is not None:
        with _file_lock(file.with_name(f".{file.name}.{_digest(work)}.lock"), waiting) as waited:
            yield waited
    elif name == "postgresql":
        with explained(engine.url), engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            waited = _taken(
                lambda: bool(connection.scalar(select(func.pg_try_advisory_lock(*_lock_of(work))))), waiting
            )
            try:
                yield waited
            finally:
                # with the connection the server frees it too, but a moment after that is closed here
                with suppress(SQLAlchemyError):
                    connection.execute(select(func.pg_advisory_unlock(*_lock_of(work))))
                connection.invalidate()
    else:  # a store in memory is nobody else's
        yield False


@contextmanager
def _file_lock(path: Path, waiting: Waiting) -> Iterator[bool]:
    lock = FileLock(path, mode=0o600, thread_local=False)

    def take() -> bool:
        with suppress(Timeout):
            lock.acquire(timeout=0)
        return lock.is_locked

    try:
        waited = _taken(take, waiting)
    except OSError as error:
        raise OutputError(
            _("%(path)s: cannot be locked (%(reason)s); allow writing there"), path=path, reason=error.strerror or error
        ) from error
    try:
        yield waited
    finally:
        lock.release()


def _taken(take: Callable[[], bool], waiting: Waiting) -> bool:
    """Try to take a lock until it is taken; gives whether it had to be waited for."""
    waited = False
    while not take():
        if not waited:
            waiting()
        waited = True
        time.sleep(LOCK_POLL_S)
    return waited


def _lock_of(work: str) -> tuple[int, int]:
    """The two numbers of the lock of a work."""
    return CHECKING, int(_digest(work)[:8], 16) - 2**31


def _digest(work: str) -> str:
    return hashlib.sha256(work.encode("utf-8", "surrogatepass")).hexdigest()[:16]
