"""Stores in a file and on a server, and a page result to save in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import URL, NullPool, create_engine, text

from proof.model.flags import Evidence, Flag, Kind, flag_id
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.ocr.engine import EngineIdentity
from proof.store import RunInfo, Store, TextInfo
from proof.store.decision_records import Verdict
from proof.text.model import Row
from tests.build import check, decide, page, queued
from tests.conftest import PATIENCE
from tests.store.exported import FOUND, LINES


@pytest.fixture
def info() -> RunInfo:
    """A run over one juan."""
    engine = EngineIdentity("ppocr", "1.31.1", "PP-OCRv6 small", "c0ffee")
    texts = (TextInfo("KR1d0030_010.txt", "5eed", "kanripo", "traditional"),)
    return RunInfo("KR1d0030", "儀禮註疏", texts, engine, {"columns": 8, "threshold": 2.5})


@pytest.fixture(scope="session")
def postgresql() -> Iterator[URL]:
    """A PostgreSQL server for the tests, on a socket; skips if PostgreSQL is not installed."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [Path(shutil.which("initdb") or "")]
    if not programs[-1].is_file():
        pytest.skip("PostgreSQL's initdb is not on this machine")
    user = "postgres" if os.geteuid() == 0 else None  # the server refuses to run as root
    folder = Path(tempfile.mkdtemp(prefix="proof-pg-"))
    if user:
        shutil.chown(folder, user)
    binaries, data = programs[-1].parent, folder / "data"
    run = partial(subprocess.run, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL)
    try:
        run([binaries / "initdb", "-D", data, "-U", "proof", "--auth=trust", "-E", "UTF8", "--no-sync"])
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        wait = ["-w", "-t", f"{PATIENCE:.0f}"]
        run([binaries / "pg_ctl", "-D", data, "-o", options, "-l", folder / "log", *wait, "start"])
    except (subprocess.CalledProcessError, PermissionError, LookupError) as error:
        shutil.rmtree(folder)
        pytest.skip(f"PostgreSQL does not start here: {error}")
    yield URL.create("postgresql+psycopg", username="proof", database="postgres", query={"host": str(folder)})
    run([binaries / "pg_ctl", "-D", data, "-m", "immediate", "stop"])
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def new_database(postgresql: URL) -> Callable[[], URL]:
    """A function that empties the store on the server and returns its address; the tables are created once."""
    address = postgresql.set(database="store")
    maintenance = create_engine(postgresql, isolation_level="AUTOCOMMIT")
    with maintenance.connect() as connection:
        connection.execute(text("CREATE DATABASE store"))
    maintenance.dispose()
    Store.open(address).close()
    emptying = create_engine(address, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with emptying.connect() as connection:
        tables = connection.scalars(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).all()
    emptied = ", ".join(f'"{table}"' for table in tables if table != "alembic_version")

    def make() -> URL:
        with emptying.connect() as connection:
            connection.execute(text(f"TRUNCATE {emptied} RESTART IDENTITY CASCADE"))
        return address

    return make


on_both = pytest.mark.parametrize(
    "store", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True
)
"""Marks tests that run on SQLite and PostgreSQL; all others run on SQLite only."""


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A new store in a file, and for tests marked `on_both` also on a server."""
    on_server = getattr(request, "param", "sqlite") == "postgresql"
    with Store.open(request.getfixturevalue("new_database")() if on_server else tmp_path / "proof.sqlite") as opened:
        yield opened


@pytest.fixture
def page_result() -> PageResult:
    """A page with a wrong character, a hidden variant and a missing column."""
    page = "KR1d0030_WYG_010-1a"
    source = "射人(告具/于公)"
    column = Box(900.0, 150.0, 104.5, 1200.0)
    cells = [
        (0, "射", Row.MAIN, Box(905.5, 160.0, 90.0, 55.0)),
        (1, "人", Row.MAIN, Box(905.5, 215.0, 90.0, 55.0)),
        (3, "告", Row.RIGHT, Box(950.0, 270.0, 45.0, 55.0)),
        (6, "于", Row.LEFT, Box(905.0, 270.0, 45.0, 55.0)),
    ]
    characters = tuple(
        CheckedCharacter(1, offset, 1, row, glyph, box, glyph, 0.9871, ((glyph, 0.9871), ("某", 0.0021)))
        for offset, glyph, row, box in cells
    )
    wrong = Flag(
        page,
        "WYG0103-0192c",
        1,
        3,
        1,
        Kind.SUBSTITUTION,
        "告",
        "吿",
        4.25,
        True,
        cells[2][3],
        Evidence("posterior", p_text=0.001, p_best=0.98, alternatives=(("吿", 0.98), ("告", 0.001))),
        "射人(【告】具/于公)",
    )
    variant = replace(
        wrong, offset=6, kind=Kind.VARIANT, raised=False, evidence=Evidence("posterior", rule="one to one"), bbox=None
    )
    lost = Flag(page, "WYG0103-0192c", 2, 0, 0, Kind.LAYOUT, "", "", 9.0, True, None, Evidence("column missing"))
    flags = tuple(
        replace(flag, id=flag_id(page, flag.line, flag.kind, f"{flag.offset}", 0)) for flag in (wrong, variant, lost)
    )
    return PageResult(
        page=page,
        ref="WYG0103-0192c",
        status=Status.CHECKED,
        image=Path("images/WYG0103-0192c.png"),
        image_sha="ab" * 32,
        image_size=(1160, 1559),
        image_box=Box(0.0, 0.0, 1160.0, 1559.0),
        skew=-0.37,
        characters_checked=4,
        columns=(CheckedColumn(1, column, source), CheckedColumn(3, Box(690.0, 150.0, 104.5, 1200.0))),
        characters=characters,
        flags=flags,
        notices=(
            Notice.of(NoticeCode.READ_BY_PAGE_PIPELINE, why=Notice.of(NoticeCode.LEVEL_LINES, number=2), engine="x"),
        ),
        seconds=0.19,
    )


@pytest.fixture
def filled(store: Store, info: RunInfo, page_result: PageResult) -> Store:
    """A store with a finished run over one page."""
    check(store, page_result, info=info)
    return store


def whole(store: Store, key: str) -> PageResult | None:
    """The stored result with this key, with its characters."""
    kept = store.cached_page(key)
    return kept.whole() if kept is not None else None


@pytest.fixture
def decided(store: Store) -> Store:
    """A store with two accepted suggestions: an insertion, and another character for 北."""
    check(store, page(*LINES, flags=FOUND))
    for flag in queued(store):
        decide(store, flag.number, Verdict.TAKE)
    return store
