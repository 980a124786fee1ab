"""The queue of a work while other processes decide and check."""

from __future__ import annotations

from dataclasses import replace

from proof.model.result import PageResult
from proof.store import PagePlace, RunInfo, Store
from proof.store.decision_records import DecisionRequest, State, Verdict
from proof.store.queue_records import QueueFilter
from proof.store.saving import CheckedResult
from tests import build
from tests.build import check, page
from tests.store.conftest import on_both

WORK = "KR1d0030"


@on_both
def test_the_queue_is_updated_by_decisions_and_checks_of_another_process(
    filled: Store, info: RunInfo, page_result: PageResult
) -> None:
    assert filled.queue.facets(WORK, QueueFilter()).states[State.OPEN] == 2
    with Store.open(filled._engine.url) as other:
        other.decisions.decide(DecisionRequest(WORK, 1, Verdict.KEEP, 0, "乙", "other-program"))
        assert filled.queue.facets(WORK, QueueFilter()).states[State.KEPT] == 1
        run = other.begin_run(info)
        page = replace(page_result, flags=page_result.flags[:1])
        other.save_pages(run, [CheckedResult(PagePlace(0, "KR1d0030_010.txt", "010", "1a"), "", page)])
        other.finish_run(run)
    assert filled.queue.facets(WORK, QueueFilter()).total == 1


def test_a_missing_or_surplus_column_is_shown_between_its_neighbours(store: Store) -> None:
    missing = replace(build.flag(2, 0, "", "與"), context="[]")
    check(store, page("射人告具于公", "", "公升即位于席", "三", flags=[missing, (4, 0, "三", "")]))
    shown = store.queue.flags(build.WORK, [1, 2])
    assert [queued.flag.context for queued in shown] == ["具于公[]公升即", "位于席[三]"]
