"""Results that are costly to compute: readings of an image by image and engine, the alignment of a text with a witness,
pieces of images for reports. All of them can be made again: they are pruned, and left out of backups unless asked
for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Generic, TypeVar

from sqlalchemy import delete, func, insert, select, update

from proof.store.lookup import Sessions, StorePart
from proof.store.models import CacheRow

K = TypeVar("K")
V = TypeVar("V")

AT_ONCE = 500  # keys a statement, fewer than any database's limit of parameters


class Cache(StorePart):
    """Bytes under a key; only their author knows their meaning."""

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
        """Keep `data` under `key` (at most 128 letters), in place of other data."""
        self.put_many({key: data})

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """Keep all of `entries`, in one transaction."""
        if not entries:
            return
        with self._writing() as session:
            there: set[str] = set()
            for keys in _pieces(sorted(entries)):
                there.update(session.scalars(select(CacheRow.key).where(CacheRow.key.in_(keys))))
            now = datetime.now(UTC)
            values = [{"key": key, "data": data, "size": len(data), "used": now} for key, data in entries.items()]
            for change, rows in (
                (insert, [v for v in values if v["key"] not in there]),
                (update, [v for v in values if v["key"] in there]),
            ):
                if rows:
                    session.execute(change(CacheRow), rows)

    def size(self) -> int:
        """Bytes kept."""
        with self._reading() as session:
            return session.scalar(select(func.sum(CacheRow.size))) or 0

    def prune(self, keep: int) -> int:
        """Drop the entries longest unused until at most `keep` bytes are left; gives the number dropped."""
        self.note_use()
        if self.size() <= keep:
            return 0
        with self._writing() as session:
            kept, gone = 0, []
            newest_first = select(CacheRow.key, CacheRow.size).order_by(CacheRow.used.desc(), CacheRow.key)
            for key, size in session.execute(newest_first):
                kept += size
                if kept > keep:
                    gone.append(key)
            for keys in _pieces(gone):
                session.execute(delete(CacheRow).where(CacheRow.key.in_(keys)))
        return len(gone)

    def note_use(self) -> None:
        """Write down which entries were got since the last time: reading must not write each time."""
        with self._lock:
            used, self._used = sorted(self._used), set()
        if not used:
            return
        with self._writing() as session:
            for keys in _pieces(used):
                session.execute(
                    update(CacheRow).where(CacheRow.key.in_(keys)).values(used=datetime.now(UTC)),
                    execution_options={"synchronize_session": False},
                )


def _pieces(keys: Sequence[str]) -> list[Sequence[str]]:
    return [keys[start : start + AT_ONCE] for start in range(0, len(keys), AT_ONCE)]


class Bounded(Generic[K, V]):
    """Values in memory: those used last, up to a size of all together; the last one stays whatever its size. Any thread
    may use it."""

    def __init__(self, limit: int, size: Callable[[V], int] = lambda _: 1) -> None:
        self._limit, self._size = limit, size
        self._held: OrderedDict[K, V] = OrderedDict()
        self._total = 0
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """The value under `key`, if it is still there."""
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key]

    def put(self, key: K, value: V) -> V:
        """Keep `value` under `key` in place of another; gives it back."""
        with self._lock:
            if key in self._held:
                self._total -= self._size(self._held.pop(key))
            self._held[key] = value
            self._total += self._size(value)
            while self._total > self._limit and len(self._held) > 1:
                _, gone = self._held.popitem(last=False)
                self._total -= self._size(gone)
        return value
