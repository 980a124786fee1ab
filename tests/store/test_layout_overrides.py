"""Layout overrides: recorded with person and time, kept by checks, and reversible."""

from __future__ import annotations

import pytest

from proof.layout.overrides import LayoutOverrideShape
from proof.model.result import PageResult
from proof.store import PagePlace, RunInfo, Store
from proof.store.decision_records import RefusedDecisionError
from proof.store.layout_overrides import OverrideChangedError
from proof.store.lookup import NoPlaceError, PageConflictError
from proof.store.saving import CheckedResult
from tests.store.conftest import on_both

WORK = "KR1d0030"
PLACE = PagePlace(0, "KR1d0030_010.txt", "010", "1a")
HINT = LayoutOverrideShape(((10.0, 10.0), (500.0, 10.0), (500.0, 700.0), (10.0, 700.0)), (0.5,))


@on_both
def test_an_override_is_kept_by_a_check_and_its_history_by_its_removal(
    filled: Store, info: RunInfo, page_result: PageResult
) -> None:
    filled.layout_overrides.set(WORK, 1, HINT, "a/b.png", "c", version=0, person="甲", key="request-1")
    run = filled.begin_run(info)
    with pytest.raises(OverrideChangedError):
        filled.save_pages(run, [CheckedResult(PLACE, "", page_result)])
    filled.save_pages(
        run,
        [CheckedResult(PLACE, "", page_result, override=filled.layout_overrides.of_work(WORK)[page_result.page, 0])],
    )
    filled.finish_run(run, whole=True)
    override = filled.layout_overrides.of_work(WORK)[page_result.page, 0]
    assert (override.layout, override.image, override.quadrant, override.person) == (HINT, "a/b.png", "c", "甲")
    filled.layout_overrides.set(WORK, 1, None, "", "", version=1, person="乙", key="request-2")
    assert filled.layout_overrides.of_work(WORK) == {}
    assert [(event.version, event.person, event.layout) for event in filled.layout_overrides.history(WORK, 1)] == [
        (1, "甲", HINT),
        (2, "乙", None),
    ]


def test_the_second_of_two_overrides_is_a_conflict_and_a_repeated_request_sets_one(filled: Store) -> None:
    first = filled.layout_overrides.set(WORK, 1, HINT, "", "", version=0, person="甲", key="request-1")
    assert filled.layout_overrides.set(WORK, 1, HINT, "", "", version=0, person="甲", key="request-1") == first
    with pytest.raises(RefusedDecisionError, match="this key"):
        filled.layout_overrides.set(WORK, 1, None, "", "", version=1, person="甲", key="request-1")
    with pytest.raises(PageConflictError):
        filled.layout_overrides.set(WORK, 1, None, "", "", version=0, person="乙", key="request-2")
    with pytest.raises(NoPlaceError):
        filled.layout_overrides.set(WORK, 9, None, "", "", version=0, person="乙", key="request-3")
