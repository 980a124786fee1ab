"""Stores of earlier versions had their notices in English sentences: they are known again as codes."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import update

from proof.locale.notices import in_english
from proof.model.flags import Evidence
from proof.model.notices import Notice, NoticeCode
from proof.model.result import PageResult, Status
from proof.store import PagePlace, RunInfo, Store
from proof.store.database import MIGRATIONS
from proof.store.models import FlagRow
from proof.store.saving import CheckedResult
from tests.remarked import said

SECOND = Notice.of(NoticeCode.CARRIES_LATER, page="2b", number=1)
GAP = Notice.of(
    NoticeCode.SEQUENCE, one="3b", other="5a (WYG0103-0192a)", what=Notice.of(NoticeCode.HALF_FOLIOS_MISSING, number=2)
)

pytestmark = pytest.mark.usefixtures("from_scratch")
TABLE = Notice.of(NoticeCode.READ_BY_PAGE_PIPELINE, why=Notice.of(NoticeCode.LEVEL_LINES, number=1), engine="paddleocr")


def migration() -> ModuleType:
    path = Path(MIGRATIONS) / "versions" / "0011_notices.py"
    spec = importlib.util.spec_from_file_location("notices_migration", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def updated(tmp_path: Path, info: RunInfo, page_result: PageResult) -> Path:
    """A store as version 0010 had it, with every kind of notice."""
    path = tmp_path / "proof.sqlite"
    flags = (
        replace(page_result.flags[0], evidence=Evidence("no glyph", ink=Notice.of(NoticeCode.ROOM, number=0.2))),
        replace(page_result.flags[1], evidence=Evidence("image mismatch", notice=SECOND)),
        *page_result.flags[2:],
    )
    result = replace(
        page_result, status=Status.MISMATCH, message=SECOND, notices=(TABLE, said("of a version 0")), flags=flags
    )
    with Store.open(path) as store:
        run = store.begin_run(info)
        store.save_pages(run, [CheckedResult(PagePlace(0, "KR1d0030_010.txt", "010", "1a"), "key", result)])
        store.finish_run(run, findings=[GAP, said("a.txt:3: cannot be read")])
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        with store.engine.execution_options(writes=True).begin() as connection:
            config.attributes["connection"] = connection
            command.downgrade(config, "0010")
    return path


def test_sentences_of_an_earlier_version_become_codes(updated: Path) -> None:
    with closing(sqlite3.connect(updated)) as connection:
        [(message, notices)] = connection.execute("SELECT message, notices FROM pages").fetchall()
        [(findings,)] = connection.execute("SELECT findings FROM runs").fetchall()
        evidence = [json.loads(one) for (one,) in connection.execute("SELECT evidence FROM flags ORDER BY ordinal")]
    level = "1 level line across the columns (a table or registers); read by the page pipeline of paddleocr"
    assert message == "this image carries 2b, one page on"
    assert json.loads(notices) == [level, "of a version 0"]
    assert json.loads(findings) == [
        "after 3b comes 5a (WYG0103-0192a): 2 half-folios are missing between them",
        "a.txt:3: cannot be read",
    ]
    assert evidence[0]["ink"] == "room for 0.2 characters"
    assert evidence[1]["note"] == message
    with Store.open(updated) as store:
        [result] = store.results(work="KR1d0030")
        assert (result.message, result.notices) == (SECOND, (TABLE, said("of a version 0")))
        assert store.run(1).findings == (GAP, said("a.txt:3: cannot be read"))
        assert result.flags[0].evidence.ink == Notice.of(NoticeCode.ROOM, number=0.2)
        assert (result.flags[1].evidence.note, result.flags[1].evidence.notice) == ("", SECOND)


def test_every_sentence_of_an_earlier_version_is_known_again() -> None:
    old = migration()
    for code, sentence, fixed in old.SENTENCES:
        names = old.PLACE.findall(sentence)
        values = {name: 7 if name in old.FIGURES else "甲" for name in names} | dict(fixed)
        notice = Notice.of_json(old.notice_of(sentence % values))
        assert (notice.code.value, dict(notice.values)) == (code, values)


def test_a_sentence_that_is_not_known_keeps_its_words() -> None:
    words = "images/a.png: is cut short or damaged (broken data stream); fetch or export the file again"
    assert in_english(Notice.of_json(migration().notice_of(words))) == words


def test_the_ink_in_an_earlier_journal_keeps_its_words(store: Store, info: RunInfo, page_result: PageResult) -> None:
    """What a journal brought back is as it was written: no migration has seen it."""
    run = store.begin_run(info)
    store.save_pages(run, [CheckedResult(PagePlace(0, "KR1d0030_010.txt", "010", "1a"), "key", page_result)])
    with store.engine.execution_options(writes=True).begin() as connection:
        connection.execute(update(FlagRow).values(evidence={"ink": "room for 0.2 characters"}))
    [result] = store.results(work="KR1d0030")
    assert {flag.evidence.ink for flag in result.flags} == {said("room for 0.2 characters")}
