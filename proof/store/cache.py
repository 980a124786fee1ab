"""Caches, in the store and in memory, of results that are costly to compute: readings of an image, the alignment of a
text with a witness, pieces of images for reports. They can all be computed again, so the store prunes them, and a
backup omits them by default."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Generic, TypeVar

from sqlalchemy import delete, func, insert, select, update

from proof.store.lookup import Sessions, StorePart, batches
from proof.store.models import CacheRow

K = TypeVar("K")
V = TypeVar("V")


class Cache(StorePart):
    """A cache of bytes in the store, as `Store.cache`; their meaning is up to its users."""

    def __init__(self, reading: Sessions, writing: Sessions) -> None:
        super().__init__(reading, writing)
        self._used: set[str] = set()
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        """The data under `key`, or None."""
        with self._reading() as session:
            data = session.scalar(select(CacheRow.data).where(CacheRow.key == key))
        if data is not None:
            with self._lock:
                self._used.add(key)
        return data

    def put(self, key: str, data: bytes) -> None:
        """Keep `data` under `key` (at most 128 characters), in place of earlier data."""
        self.put_many({key: data})

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """Keep all of `entries`, in one transaction."""
        if not entries:
            return
        with self._writing() as session:
            stored_keys: set[str] = set()
            for keys in batches(sorted(entries)):
                stored_keys.update(session.scalars(select(CacheRow.key).where(CacheRow.key.in_(keys))))
            now = datetime.now(UTC)
            rows = [{"key": key, "data": data, "size": len(data), "used": now} for key, data in entries.items()]
            if new_rows := [row for row in rows if row["key"] not in stored_keys]:
                session.execute(insert(CacheRow), new_rows)
            if changed_rows := [row for row in rows if row["key"] in stored_keys]:
                session.execute(update(CacheRow), changed_rows)

    def size(self) -> int:
        """The size of all entries, in bytes."""
        with self._reading() as session:
            return session.scalar(select(func.sum(CacheRow.size))) or 0

    def prune(self, keep: int) -> int:
        """Delete the least recently used entries until at most `keep` bytes are left; returns the number of deleted
        entries."""
        self.note_use()
        if self.size() <= keep:
            return 0
        with self._writing() as session:
            kept, deleted = 0, []
            newest_first = select(CacheRow.key, CacheRow.size).order_by(CacheRow.used.desc(), CacheRow.key)
            for key, size in session.execute(newest_first):
                kept += size
                if kept > keep:
                    deleted.append(key)
            for keys in batches(deleted):
                session.execute(delete(CacheRow).where(CacheRow.key.in_(keys)))
        return len(deleted)

    def note_use(self) -> None:
        """Record in the store which entries `get` has returned since the last call, as `get` itself must not write."""
        with self._lock:
            used, self._used = sorted(self._used), set()
        if not used:
            return
        with self._writing() as session:
            for keys in batches(used):
                session.execute(
                    update(CacheRow).where(CacheRow.key.in_(keys)).values(used=datetime.now(UTC)),
                    execution_options={"synchronize_session": False},
                )


class Bounded(Generic[K, V]):
    """A cache in memory of the most recently used values, up to a total `size` of `limit`; the last value is kept even
    if it is larger. Thread-safe."""

    def __init__(self, limit: int, size: Callable[[V], int] = lambda _: 1) -> None:
        self._limit, self._size = limit, size
        self._values: OrderedDict[K, V] = OrderedDict()
        self._total = 0
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """The value under `key`, or None."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: K, value: V) -> V:
        """Keep `value` under `key`, in place of an earlier one; returns it."""
        with self._lock:
            if key in self._values:
                self._total -= self._size(self._values.pop(key))
            self._values[key] = value
            self._total += self._size(value)
            while self._total > self._limit and len(self._values) > 1:
                _, oldest = self._values.popitem(last=False)
                self._total -= self._size(oldest)
        return value
