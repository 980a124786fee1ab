"""What costs much and comes out the same is made once in a run: the tables of a new store, the network of the
recogniser, what it reads of a strip, where columns stand on an image, compiled templates and
statements, what builds addresses.

The program itself makes each of them, the first time that it is asked for. Tests of these very things ask for
`from_scratch`, with which all is made anew, as it is in every process that a test starts.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from flask import Flask
from jinja2 import FileSystemBytecodeCache
from numpy.typing import NDArray
from sqlalchemy import URL, Engine, create_engine
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.util import LRUCache
from werkzeug.routing import Rule

from proof.layout import photograph
from proof.layout.half_folio import Layout
from proof.ocr.engine import Pixels, Reading
from proof.ocr.ppocr import PPOCR
from proof.store import Store, database

LAYOUTS = 24
"""Of so many images it is kept where their columns stand: a few megabytes each."""

ANEW: list[str] = []
"""Tests that are under way with everything made anew."""


def compiled_templates() -> FileSystemBytecodeCache:
    """The code of templates, by their name and their text, for every process of every run."""
    folder = Path(__file__).resolve().parents[1] / "build" / "templates"
    folder.mkdir(parents=True, exist_ok=True)
    return FileSystemBytecodeCache(str(folder))


def _with_copied_tables(real: Callable[[Engine], None], template: Path) -> Callable[[Engine], None]:
    """`real`, which brings the tables of a store up to date; where a file has none yet, they are a copy."""
    lock = Lock()

    def migrate(engine: Engine) -> None:
        file = None if ANEW else database.file_of(engine.url)
        if file is not None:
            with lock, closing(sqlite3.connect(file)) as new:
                if not new.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    with closing(sqlite3.connect(template)) as made:
                        made.backup(new)
        real(engine)

    return migrate


def _read_once(patch: pytest.MonkeyPatch) -> None:
    read = PPOCR._read
    made: dict[Any, Any] = {}
    readings: dict[Any, Reading] = {}

    def once(real: Callable[[PPOCR], Any]) -> Callable[[PPOCR], Any]:
        def ask(self: PPOCR) -> Any:
            if ANEW:
                return real(self)
            key = (real.__name__, self.identity, self._open.args)
            if key not in made:
                made[key] = real(self)
            return made[key]

        return ask

    def read_once(self: PPOCR, strip: Pixels, sought: NDArray[Any]) -> Reading:
        if ANEW:
            return read(self, strip, sought)
        pixels = hashlib.blake2b(strip.tobytes()).digest()
        key = (self.identity, strip.shape, strip.dtype.str, pixels, sought.tobytes())
        if key not in readings:
            readings[key] = read(self, strip, sought)
        return readings[key]

    patch.setattr(PPOCR, "_loaded", once(PPOCR._loaded))
    patch.setattr(PPOCR, "_measure_training", once(PPOCR._measure_training))
    patch.setattr(PPOCR, "_read", read_once)


def _laid_out_once(patch: pytest.MonkeyPatch) -> None:
    real, found = photograph.page_columns, OrderedDict[Any, Layout]()

    def once(pixels: Pixels, *given: Any) -> Layout:
        key = (pixels.shape, hashlib.blake2b(pixels.tobytes()).digest(), repr(given))
        layout = None if ANEW else found.get(key)
        if layout is None:
            layout = found[key] = real(pixels, *given)
        while len(found) > LAYOUTS:
            found.popitem(last=False)
        return layout

    patch.setattr("proof.verify.page.page_columns", once)


def statements_compiled_once(patch: pytest.MonkeyPatch) -> None:
    """SQLAlchemy compiles what is asked of a store for each engine anew; for all stores in files it comes out the
    same."""
    real, compiled = create_engine, LRUCache[Any, Any](2000)

    def made(url: URL, **given: Any) -> Engine:
        engine = real(url, **given)
        if isinstance(engine.dialect, SQLiteDialect):
            engine.update_execution_options(compiled_cache=compiled)
        return engine

    patch.setattr("proof.store.database.create_engine", made)
    patch.setattr(SQLiteDialect, "__eq__", lambda one, other: type(one) is type(other))
    patch.setattr(SQLiteDialect, "__hash__", lambda one: hash(type(one)))


def addresses_built_alike(patch: pytest.MonkeyPatch) -> None:
    """Werkzeug compiles a function for each rule of every application, half of what making one takes; it is the same
    for the same rule."""
    real, built = Rule._compile_builder, dict[Any, Callable[..., tuple[str, str]]]()

    def once(self: Rule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        key = (self.rule, tuple(self._trace), repr(self.defaults), append_unknown)
        if key not in built:
            built[key] = real(self, append_unknown)
        return built[key]

    patch.setattr(Rule, "_compile_builder", once)


@pytest.fixture(scope="session", autouse=True)
def made_but_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """For the whole run of a worker."""
    template = tmp_path_factory.mktemp("tables") / "proof.sqlite"
    Store.open(template).close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "migrate", _with_copied_tables(database.migrate, template))
        patch.setattr(Flask, "jinja_options", {"bytecode_cache": compiled_templates()})
        statements_compiled_once(patch)
        addresses_built_alike(patch)
        _read_once(patch)
        _laid_out_once(patch)
        yield


@pytest.fixture
def from_scratch(request: pytest.FixtureRequest) -> Iterator[None]:
    """Nothing is taken from what was made before."""
    ANEW.append(request.node.nodeid)
    yield
    ANEW.remove(request.node.nodeid)
