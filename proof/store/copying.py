"""All that a store holds, copied into another one: between files and servers of any kind, or from file to file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Integer, func, insert, select, text

from proof.errors import UsageError
from proof.store import database
from proof.store.models import Base, CacheRow
from proof.store.store import Store

AT_ONCE = 500


def copy_store(source: Store, target: Store, *, cache: bool = False) -> int:
    """Copy every row of `source`, as of one moment, into `target`, which must be empty; gives the number of rows. The
    cache is copied only with `cache`.

    All or nothing: an error leaves the target empty. Raises UsageError where it is not empty.
    """
    copied = 0
    reading = source.engine.execution_options(isolation_level="SERIALIZABLE")
    writing = target.engine.execution_options(writes=True)
    with (
        database.explained(target.engine.url),
        reading.connect() as there,
        there.begin(),
        writing.begin() as here,
    ):
        for table in Base.metadata.sorted_tables:
            if here.scalar(select(func.count()).select_from(table)):
                raise UsageError(
                    f"{target.name}: holds something already; restore into a folder or database of its own"
                )
            if table is CacheRow.__table__ and not cache:
                continue
            rows = there.execution_options(yield_per=AT_ONCE).execute(select(table))
            for part in rows.mappings().partitions(AT_ONCE):
                here.execute(insert(table), [dict(row) for row in part])
                copied += len(part)
        _number_on(here)
    return copied


def copy_file(file: Path, copy: Path, *, cache: bool = False) -> int:
    """Copy the SQLite store in `file`, as of one moment, into the new file `copy`, readable by its owner alone; gives
    the number of rows. The cache is copied only with `cache`. Other programs may write to the store meanwhile.

    SQLite copies each table whole, a hundredth of the time of copying rows; indices are made after their table. The
    copy is not synced to the disk. Raises OutputError.
    """
    with (
        database.explained(database.store_url(file)),
        closing(sqlite3.connect(database.make_empty(copy), uri=True, isolation_level=None)) as target,
    ):
        for pragma in ("journal_mode = OFF", "synchronous = OFF"):  # what is begun anew need not be taken back
            target.execute(f"PRAGMA {pragma}").close()
        target.execute("ATTACH ? AS source", (f"{file.absolute().as_uri()}?mode=ro",))
        target.execute("BEGIN")
        made = target.execute(_MADE).fetchall()
        left = () if cache else (CacheRow.__tablename__,)
        copied = 0
        for kind, name, statement in sorted(made, key=lambda one: _ORDER.index(one[0])):
            target.execute(statement)
            if kind == "table" and name not in left:
                rows = target.execute(f'INSERT INTO main."{name}" SELECT * FROM source."{name}"').rowcount  # noqa: S608
                copied += rows if name in Base.metadata.tables else 0
        target.execute("COMMIT")
    return copied


_MADE = "SELECT type, name, sql FROM source.sqlite_master WHERE sql NOT NULL AND substr(name, 1, 7) <> 'sqlite_'"
"""All that a database is made of, but for what SQLite makes by itself."""

_ORDER = ("table", "index", "view", "trigger")
"""The order in which it is made."""


def count_rows(store: Store) -> int:
    """How many rows a store holds. Raises OutputError where it cannot be read."""
    with database.explained(store.engine.url), store.engine.connect() as connection:
        tables = Base.metadata.sorted_tables
        return sum(connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables)


def _number_on(connection: Connection) -> None:
    """Set the sequences of PostgreSQL, which number new rows, behind the last row."""
    if connection.dialect.name != "postgresql":
        return
    for table in Base.metadata.sorted_tables:
        column = table.c.get("id")
        if column is not None and isinstance(column.type, Integer):
            last = connection.scalar(select(func.max(column))) or 0
            sequence = func.pg_get_serial_sequence(table.name, "id")
            connection.execute(select(func.setval(sequence, max(last, 1), text("true" if last else "false"))))
