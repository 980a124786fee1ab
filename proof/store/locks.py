"""One check of a work at a time, in whatever process: the operating system or the database server holds the lock and
frees it when its holder ends, however it ends (`kill -9` too), so that none is ever left behind."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import SQLAlchemyError

from proof.errors import OutputError
from proof.store import database

EVERY = 0.1
"""Seconds from one look at a lock that another holds to the next."""
SPACE = 0x70726F6F
"""The first of the two numbers of our advisory locks in a PostgreSQL database: the letters `proo`."""

Waiting = Callable[[], None]


@contextmanager
def check_lock(engine: Engine, work: str, waiting: Waiting) -> Iterator[bool]:
    """Hold the right to check `work` in this store; gives whether it had to be waited for. `waiting` is called once
    where another holds it. Raises OutputError where no lock can be had."""
    name = engine.dialect.name
    file = database.file_of(engine.url)
    if file is not None:
        with _file_lock(file.with_name(f".{file.name}.{_digest(work)}.lock"), waiting) as waited:
            yield waited
    elif name == "postgresql":
        with database.explained(engine.url), engine.connect() as connection:
            waited = _advisory_lock(connection.execution_options(isolation_level="AUTOCOMMIT"), work, waiting)
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
    lock, waited = FileLock(path, mode=0o600, thread_local=False), False
    try:
        while True:
            try:
                lock.acquire(timeout=0)
                break
            except Timeout:
                if not waited:
                    waiting()
                waited = True
                time.sleep(EVERY)
    except OSError as error:
        raise OutputError(f"{path}: cannot be locked ({error.strerror or error}); allow writing there") from error
    try:
        yield waited
    finally:
        lock.release()


def _advisory_lock(connection: Connection, work: str, waiting: Waiting) -> bool:
    waited = False
    while not connection.scalar(select(func.pg_try_advisory_lock(*_lock_of(work)))):
        if not waited:
            waiting()
        waited = True
        time.sleep(EVERY)
    return waited


def _lock_of(work: str) -> tuple[int, int]:
    """The two numbers of the lock of a work."""
    return SPACE, int(_digest(work)[:8], 16) - 2**31


def _digest(work: str) -> str:
    return hashlib.sha256(work.encode("utf-8", "surrogatepass")).hexdigest()[:16]
