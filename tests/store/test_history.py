"""The history: all acts of people, newest first, as one list."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.store import Store
from proof.store.acts import ActKind
from proof.store.decision_records import DecisionRequest, Verdict
from proof.store.history import HistoryFilter
from proof.store.page_states import PageState
from tests.store.conftest import on_both
from tests.web.drawn import WORK, fill


@pytest.fixture
def worked(store: Store, tmp_path: Path) -> Store:
    """甲 and 乙 decide, set page states, set and lift a rule, and 甲 undoes an act."""
    fill(store, tmp_path)
    for flag in range(1, 8):
        person, verdict = ("甲", Verdict.TAKE) if flag % 2 else ("乙", Verdict.SKIP)
        store.decisions.decide(DecisionRequest(WORK, flag, verdict, 0, person, f"request-{flag:04}"))
        if flag in (2, 4):
            store.rules.set(WORK, "告", "吿", flag == 2, "甲")
    store.page_states.set(WORK, 1, PageState.PROOFREAD, 0, "甲", "request-page-1", "紙裂")
    store.page_states.set(WORK, 1, PageState.VALIDATED, 1, "乙", "request-page-2")
    store.acts.undo(WORK, "乙", "request-undo")
    return store


@on_both
def test_all_that_was_done_is_listed_newest_first_in_parts_of_any_size(worked: Store) -> None:
    whole, more = worked.history.log(WORK, HistoryFilter(), limit=100)
    assert more is None
    assert len(whole) == 7 + 2 + 3
    assert [entry.at for entry in whole] == sorted((entry.at for entry in whole), reverse=True)
    for size in (1, 3, 5):
        parts, last = [], None
        while True:
            found, last = worked.history.log(WORK, HistoryFilter(), before=last, limit=size)
            parts += found
            if last is None:
                break
        assert parts == whole


@on_both
def test_each_entry_tells_what_stood_before_and_after(worked: Store) -> None:
    [back, validated, proofread, *rest], _ = worked.history.log(WORK, HistoryFilter(), limit=100)
    assert [(entry.was, entry.page.state, entry.back) for entry in (back, validated, proofread) if entry.page] == [
        (PageState.VALIDATED, PageState.PROOFREAD, True),
        (PageState.PROOFREAD, PageState.VALIDATED, False),
        (PageState.NOT_PROOFREAD, PageState.PROOFREAD, False),
    ]
    assert [entry.rule.holds for entry in rest if entry.rule] == [False, True]
    first = rest[-1].decision
    assert first is not None
    assert (first.was_state, first.was, first.state, first.reading) == ("open", "告", "corrected", "吿")


@on_both
def test_it_is_filtered_by_person_juan_verdict_and_kind(worked: Store) -> None:
    filters = [
        (HistoryFilter(person="乙"), 5),
        (HistoryFilter(verdict=Verdict.SKIP), 3),
        (HistoryFilter(person="乙", verdict=Verdict.TAKE), 0),
        (HistoryFilter(what=ActKind.RULE), 2),
        (HistoryFilter(what=ActKind.PAGE, person="甲"), 1),
        (HistoryFilter(what=ActKind.LAYOUT), 0),
        (HistoryFilter(juan="卷十"), 10),
        (HistoryFilter(juan="卷一"), 0),
    ]
    for wanted, count in filters:
        assert len(worked.history.log(WORK, wanted, limit=100)[0]) == count, wanted
    assert worked.history.people(WORK) == ["乙", "甲"]
    assert worked.history.juans(WORK) == ["卷十"]
    assert (worked.history.people("none"), worked.history.log("none", HistoryFilter())) == ([], ([], None))
