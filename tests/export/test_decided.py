"""What was decided in the store reaches the text, and nothing that was not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from proof.export.collation_notes import house_list
from proof.export.decided import decided_corrections
from proof.export.source import correct
from proof.model.flags import Evidence, Flag, Kind
from proof.model.result import PageResult
from proof.ocr.engine import EngineIdentity
from proof.store import PagePlace, RunInfo, Store
from proof.store.decisions import Demand, Verdict
from proof.store.models import FlagRow
from proof.store.records import TextInfo
from proof.text.edition import read_edition
from proof.text.witness import Edition

PAGE = "KR1_WYG_010-1a"
TEXT = f"<pb:{PAGE}>¶\n　大夫之西北耦(案比今注/訛作北據)¶\n¶\n命上射&KR0058;曰告¶\n"


def flag(uid: str, line: int, offset: int, text: str, suggested: str, context: str) -> Flag:
    kind = Kind.SUBSTITUTION if text and suggested else Kind.INSERTION
    evidence = Evidence("posterior")
    return Flag(PAGE, "r", line, offset, len(text), kind, text, suggested, 5.0, True, None, evidence, context, uid)


@pytest.fixture
def edition(tmp_path: Path) -> Edition:
    path = tmp_path / "KR1_010.txt"
    path.write_text(TEXT, encoding="utf-8")
    return read_edition(path)


@pytest.fixture
def store(tmp_path: Path, checked: PageResult, edition: Edition) -> Iterator[Store]:
    flags = (
        flag("f-north", 1, 5, "北", "比", "夫之西[北]耦(案"),
        flag("f-say", 3, 11, "曰", "", "58;[曰]告"),
        flag("f-order", 3, 0, "命", "令", "[命]上射&"),
        flag("f-shoot", 3, 2, "射", "身", "命上[射]&KR"),
    )
    with Store.open(tmp_path / "proof.sqlite") as opened:
        texts = (TextInfo(str(edition.path), "sha", "kanripo", "traditional"),)
        run = opened.begin_run(RunInfo("KR1", "書", texts, EngineIdentity("none", "1", "none", "0")))
        opened.save_page(run, PagePlace(0, str(edition.path)), "", replace(checked, flags=flags))
        yield opened


def test_only_what_was_decided_is_corrected(store: Store, edition: Edition) -> None:
    decisions = {"f-north": (Verdict.TAKE, ""), "f-say": (Verdict.TYPED, "白"), "f-shoot": (Verdict.COPY, "")}
    for uid, (verdict, reading) in decisions.items():
        found = _flag_number(store, uid)
        store.decisions.decide(Demand("KR1", found, verdict, 0, "甲", f"request-{uid}", reading))
    corrected = correct(edition, decided_corrections(store, edition))
    assert corrected.text == TEXT.replace("西北", "西比").replace("曰告", "白告")
    assert house_list(corrected).splitlines() == [
        f"{PAGE}，第1行　比：原作北，據影像改。",
        f"{PAGE}，第3行　射：原文如此。",
        f"{PAGE}，第3行　白：原作曰，據影像改。",
    ]


def test_what_was_taken_back_or_left_unsure_stays_out(store: Store, edition: Edition) -> None:
    north, say = _flag_number(store, "f-north"), _flag_number(store, "f-say")
    store.decisions.decide(Demand("KR1", north, Verdict.TAKE, 0, "甲", "request-1"))
    store.decisions.decide(Demand("KR1", north, Verdict.UNDO, 1, "乙", "request-2"))
    store.decisions.decide(Demand("KR1", say, Verdict.UNSURE, 0, "甲", "request-3"))
    assert decided_corrections(store, edition) == []


def test_a_second_export_finds_its_corrections_in_the_text(store: Store, edition: Edition) -> None:
    store.decisions.decide(Demand("KR1", _flag_number(store, "f-north"), Verdict.TAKE, 0, "甲", "request-1"))
    corrected = correct(edition, decided_corrections(store, edition))
    edition.path.write_bytes(corrected.data)
    again = read_edition(edition.path)
    second = correct(again, decided_corrections(store, again))
    assert second.data == corrected.data
    assert (second.placed, len(second.applied)) == ((), 1)


def _flag_number(store: Store, uid: str) -> int:
    """The number under which the store knows a flag."""
    with store._reading() as session:
        found = session.scalar(select(FlagRow.id).where(FlagRow.uid == uid))
    assert found is not None
    return found
