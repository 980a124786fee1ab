"""Caches, for a whole test run, of what is expensive to compute and always the same: the tables of a new store, the
network of the recogniser, the checksum and the training of its model, its readings of strips, the layout of images,
compiled templates and statements, URL builders; and what tests need not wait for: the disk, the work of a password.

The program itself computes each of them at the first use. Tests of these very things use the fixture `from_scratch`,
which switches the caches off; processes that a test starts as users start them have no caches either.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from threading import Lock, get_ident
from typing import Any, TypeVar

import pytest
from argon2 import PasswordHasher
from flask import Flask
from jinja2 import FileSystemBytecodeCache
from numpy.typing import NDArray
from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache
from werkzeug.routing import Rule

from proof.layout import photograph
from proof.layout.half_folio import Layout
from proof.ocr import ppocr
from proof.ocr.engine import Pixels, Reading
from proof.ocr.models import ModelTask, find_packaged
from proof.ocr.network import Network
from proof.ocr.ppocr import PPOCR
from proof.ocr.trained_characters import TrainedCharacters
from proof.store import Store, database

T = TypeVar("T")

COMPUTED = "PROOF_TESTS_COMPUTED"
"""The environment variable with the folder in which the processes of a run share computed values."""

COMPILED = LRUCache[Any, Any](4000)
"""The compiled statements of stores."""

ANEW: list[str] = []
"""The running tests that use no caches."""


def compiled_templates() -> FileSystemBytecodeCache:
    """The cache of compiled templates, by name and text, for all processes of all runs."""
    folder = Path(__file__).resolve().parents[1] / "build" / "templates"
    folder.mkdir(parents=True, exist_ok=True)
    return FileSystemBytecodeCache(str(folder))


def _with_copied_tables(real: Callable[[Engine], None], template: Path) -> Callable[[Engine], None]:
    """`real`, which migrates the tables of a store; in a file without tables they are copied from a template first."""
    lock = Lock()

    def migrate(engine: Engine) -> None:
        file = None if ANEW else database.file_of(engine.url)
        if file is not None:
            with lock, closing(sqlite3.connect(file)) as new:
                new.execute("PRAGMA synchronous=OFF")
                if not new.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    with closing(sqlite3.connect(template)) as made:
                        made.backup(new)
        real(engine)

    return migrate


def computed_once(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Cache in `folder`, for all processes, what is computed from pixels, and the training of the recogniser."""
    read, columns, packaged = PPOCR._read, photograph.page_columns, find_packaged(ModelTask.RECOGNITION)
    load, measure, packed = PPOCR._loaded, PPOCR._measure_training, TrainedCharacters.packed
    sum_anew, sum_once = ppocr._checksum_of, cache(ppocr._checksum_of)
    loaded: dict[Any, Network] = {}

    def once(data: bytes, compute: Callable[[], T]) -> T:
        if ANEW:
            return compute()
        file = folder / hashlib.blake2b(data, digest_size=16).hexdigest()
        if not file.exists():
            part = folder / f"{os.getpid()}-{get_ident()}"
            part.write_bytes(pickle.dumps(compute()))
            part.replace(file)
        computed: T = pickle.loads(file.read_bytes())  # noqa: S301 - written by this function
        return computed

    def of_pixels(pixels: Pixels, key: object, compute: Callable[[], T]) -> T:
        return once(f"{key!r} {pixels.shape} {pixels.dtype}".encode() + pixels.tobytes(), compute)

    def read_once(self: PPOCR, strip: Pixels, sought: NDArray[Any]) -> Reading:
        return of_pixels(strip, (self.identity, sought.tolist()), lambda: read(self, strip, sought))

    def laid_out_once(pixels: Pixels, *given: Any) -> Layout:
        return of_pixels(pixels, given, lambda: columns(pixels, *given))

    def measured_once(self: PPOCR) -> TrainedCharacters:
        return once(f"trained {self.identity}".encode(), lambda: measure(self))

    def packed_once(self: TrainedCharacters) -> bytes:
        return once(f"packed {self.characters}".encode() + self.is_trained.tobytes(), lambda: packed(self))

    def loaded_once(self: PPOCR) -> Network:
        key = (self.identity, self._open.args)
        if ANEW or key not in loaded:
            loaded[key] = load(self)
        return loaded[key]

    patch.setattr(ppocr, "_checksum_of", lambda model: (sum_once if model == packaged else sum_anew)(model))
    patch.setattr(PPOCR, "_loaded", loaded_once)
    patch.setattr(PPOCR, "_measure_training", measured_once)
    patch.setattr(PPOCR, "_read", read_once)
    patch.setattr(TrainedCharacters, "packed", packed_once)
    patch.setattr("proof.verify.page.page_columns", laid_out_once)


def prepare_fork() -> None:
    """Install the caches in a forked process, but for those that it inherits; scripts have none."""
    if folder := os.environ.get(COMPUTED):
        patch = pytest.MonkeyPatch()  # never undone: the process ends
        computed_once(patch, Path(folder))
        not_waiting_for_the_disk(patch)
        passwords_hashed_cheaply(patch)


def statements_compiled_once(patch: pytest.MonkeyPatch) -> None:
    """Share compiled statements between the engines of all stores: SQLAlchemy compiles them for each engine."""
    real = create_engine

    def made(url: URL, **given: Any) -> Engine:
        engine = real(url, **given)
        engine.update_execution_options(compiled_cache=COMPILED)
        return engine

    patch.setattr("proof.store.database.create_engine", made)
    patch.setattr(DefaultDialect, "__eq__", lambda dialect, other: type(dialect) is type(other))
    patch.setattr(DefaultDialect, "__hash__", lambda dialect: hash(type(dialect)))


def addresses_built_alike(patch: pytest.MonkeyPatch) -> None:
    """Share URL builders between applications: Werkzeug compiles one for each rule of an application, which takes half
    of the time of making it."""
    real, built = Rule._compile_builder, dict[Any, Callable[..., tuple[str, str]]]()

    def once(self: Rule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        key = (self.rule, tuple(self._trace), repr(self.defaults), append_unknown)
        if key not in built:
            built[key] = real(self, append_unknown)
        return built[key]

    patch.setattr(Rule, "_compile_builder", once)


def passwords_hashed_cheaply(patch: pytest.MonkeyPatch) -> None:
    """Hash passwords with little work: as the program does it, each takes a fifth of a second."""
    cheap = partial(PasswordHasher, time_cost=1, memory_cost=64, parallelism=1)
    patch.setattr("proof.store.accounts.PasswordHasher", cheap)


def not_waiting_for_the_disk(patch: pytest.MonkeyPatch) -> None:
    """Do not wait for writes to reach the disk: no test simulates a power failure."""
    real = database._prepare_sqlite

    def prepare(engine: Engine, wait: float) -> None:
        real(engine, wait)
        event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF").close())

    patch.setattr(database, "_prepare_sqlite", prepare)
    patch.setattr(os, "fsync", lambda file: None)


@pytest.fixture(scope="session", autouse=True)
def made_but_once(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Iterator[None]:
    """Install the caches for the whole run."""
    template = made_once("new-store", _make_store) / "proof.sqlite"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "migrate", _with_copied_tables(database.migrate, template))
        patch.setattr(Flask, "jinja_options", {"bytecode_cache": compiled_templates()})
        statements_compiled_once(patch)
        addresses_built_alike(patch)
        not_waiting_for_the_disk(patch)
        passwords_hashed_cheaply(patch)
        computed_once(patch, Path(os.environ[COMPUTED]))
        yield


def _make_store(folder: Path) -> None:
    folder.mkdir()
    Store.open(folder / "proof.sqlite").close()


@pytest.fixture
def from_scratch(request: pytest.FixtureRequest) -> Iterator[None]:
    """Use no caches in this test."""
    ANEW.append(request.node.nodeid)
    yield
    ANEW.remove(request.node.nodeid)
