"""Rules hide flags of a pair, and can be lifted."""

from __future__ import annotations

import pytest

from proof.store import Store
from proof.store.acts import ChangedError
from proof.store.decision_records import RefusedDecisionError, State, Verdict
from proof.store.queue_records import QueueFilter
from tests.build import decide, queued
from tests.store.conftest import on_both

WORK = "KR1d0030"


@on_both
def test_a_rule_hides_and_counts_its_flags_and_can_be_lifted(filled: Store) -> None:
    filled.rules.set(WORK, "告", "吿", True, "甲")
    assert [(rule.text, rule.image, rule.hides) for rule in filled.rules.of_work(WORK)] == [("告", "吿", 1)]
    assert filled.queue.facets(WORK, QueueFilter()).total == 1
    filled.rules.set(WORK, "告", "吿", False, "乙")
    assert filled.rules.of_work(WORK) == []
    assert filled.queue.facets(WORK, QueueFilter()).total == 2


def test_what_was_decided_of_a_pair_is_listed_and_counted_under_its_rule(filled: Store) -> None:
    """Decisions from before a rule were gone from the queue and the counts, and were exported all the same."""
    [flag] = queued(filled, WORK, pair=("告", "吿"))
    decide(filled, flag.number, Verdict.TAKE, work=WORK)
    [work] = filled.library.works()
    filled.rules.set(WORK, "告", "吿", True, "甲")
    assert [rule.hides for rule in filled.rules.of_work(WORK)] == [0]
    assert [kept.number for kept in queued(filled, WORK, states=(State.CORRECTED,))] == [flag.number]
    assert filled.library.works() == [work]
    decide(filled, flag.number, Verdict.UNDO, work=WORK)
    assert queued(filled, WORK, pair=("告", "吿")) == []


def test_a_rule_that_two_people_set_is_not_undone_by_one(filled: Store) -> None:
    """Nor is it set again by undoing its lifting if another person lifted it, too."""
    for holds in (True, False):
        for person in "甲乙":
            filled.rules.set(WORK, "告", "吿", holds, person)
        with pytest.raises(ChangedError) as refused:
            filled.acts.undo(WORK, "甲", f"request-{holds}")
        assert refused.value.people == ("乙",)
        assert bool(filled.rules.of_work(WORK)) is holds


@pytest.mark.parametrize("pair", [("", "犂"), ("犂", ""), ("犂", "犂"), ("犂", "　")])
def test_a_rule_needs_two_characters(filled: Store, pair: tuple[str, str]) -> None:
    with pytest.raises(RefusedDecisionError, match="two characters"):
        filled.rules.set(WORK, *pair, True, "甲")
    assert filled.rules.of_work(WORK) == []
