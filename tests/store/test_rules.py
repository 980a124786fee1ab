"""Rules hide flags of a pair, and can be lifted."""

from __future__ import annotations

from proof.store import Store
from proof.store.queue_records import QueueFilter

WORK = "KR1d0030"


def test_a_rule_hides_what_it_says_counts_it_and_can_be_lifted(filled: Store) -> None:
    filled.rules.set(WORK, "告", "吿", True, "甲")
    assert [(rule.transcribed, rule.suggested, rule.hides) for rule in filled.rules.of_work(WORK)] == [("告", "吿", 1)]
    assert filled.queue.facets(WORK, QueueFilter()).total == 1
    filled.rules.set(WORK, "告", "吿", False, "乙")
    assert filled.rules.of_work(WORK) == []
    assert filled.queue.facets(WORK, QueueFilter()).total == 2
