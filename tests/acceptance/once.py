"""What is computed from images is computed once a process: thousands of histories look at the same three pages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from typing import Any
from unittest.mock import patch

from sqlalchemy import URL, Dialect, Engine

from proof.checking import pipeline, recheck
from proof.ocr.engine import Engine as Recogniser
from proof.ocr.engine import Pixels, Reading, WrappedEngine
from proof.ocr.registry import EngineSettings, open_engine
from proof.ocr.replay import strip_key
from proof.report.write import write_reports
from proof.store import database
from proof.store.cache import Cache


class _ReadOnce(WrappedEngine):
    """Reads a strip once for the same characters sought."""

    def __init__(self, engine: Recogniser) -> None:
        super().__init__(engine)
        self._readings: dict[bytes, Reading] = {}

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        asked = hashlib.blake2b("\0".join(sought).encode(), digest_size=16).digest()
        keys = [strip_key(strip) + asked for strip in strips]
        lacking = {key: strip for key, strip in zip(keys, strips, strict=True) if key not in self._readings}
        if lacking:
            read = super().read(list(lacking.values()), sought)
            self._readings.update(zip(lacking, read, strict=True))
        return [self._readings[key] for key in keys]


@cache
def _engine(settings: EngineSettings) -> Recogniser:
    return _ReadOnce(open_engine(settings))


def _opened(settings: EngineSettings, *_: object, **__: object) -> Recogniser:
    return _engine(settings)


_KEPT: dict[str, bytes] = {}
"""What was put into the caches of all stores: a key is made of all that its value depends on."""


_DIALECTS: dict[str, Dialect] = {}
_COMPILED: dict[Any, Any] = {}


@contextmanager
def computed_once() -> Iterator[None]:
    """Around histories of one process: one engine, one cache behind that of every store, reports without pictures."""
    get, put_many = Cache.get, Cache.put_many

    def got(store: Cache, key: str) -> bytes | None:
        found = get(store, key)
        return found if found is not None else _KEPT.get(key)

    def put(store: Cache, entries: Mapping[str, bytes]) -> None:
        _KEPT.update(entries)
        put_many(store, entries)

    connect = database.connect

    def connected(url: URL, wait: float) -> Engine:
        engine = connect(url, wait)
        if url.get_backend_name() == "sqlite":  # statements are compiled once, too
            engine.dialect = _DIALECTS.setdefault("sqlite", engine.dialect)
            engine._compiled_cache = _COMPILED
        return engine

    with ExitStack() as stack:
        stack.enter_context(patch.object(database, "connect", connected))
        for module in (pipeline, recheck):
            stack.enter_context(patch.object(module, "open_engine", _opened))
        stack.enter_context(patch.object(Cache, "get", got))
        stack.enter_context(patch.object(Cache, "put_many", put))
        stack.enter_context(patch("proof.checking.pipeline.write_reports", partial(write_reports, pictures=0)))
        yield
