"""All that a store holds, copied into another one: between files and servers of any kind."""

from __future__ import annotations

from sqlalchemy import Connection, Integer, func, insert, select, text

from proof.errors import UsageError
from proof.store import database
from proof.store.models import Base, CacheRow
from proof.store.store import Store

AT_ONCE = 500


def copy_store(source: Store, target: Store, *, cache: bool = False) -> int:
    """Copy every row of `source` into `target`, which must be empty, as of one moment; gives how many. What can be made
    again is copied with `cache` alone.

    All or nothing: what goes wrong half-way leaves the target empty. Raises UsageError where it is not empty.
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


def count_rows(store: Store) -> int:
    """How many rows a store holds. Raises OutputError where it cannot be read."""
    with database.explained(store.engine.url), store.engine.connect() as connection:
        tables = Base.metadata.sorted_tables
        return sum(connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables)


def _number_on(connection: Connection) -> None:
    """PostgreSQL numbers new rows by itself from 1 on, whatever was put in by number."""
    if connection.dialect.name != "postgresql":
        return
    for table in Base.metadata.sorted_tables:
        column = table.c.get("id")
        if column is not None and isinstance(column.type, Integer):
            last = connection.scalar(select(func.max(column))) or 0
            sequence = func.pg_get_serial_sequence(table.name, "id")
            connection.execute(select(func.setval(sequence, max(last, 1), text("true" if last else "false"))))
