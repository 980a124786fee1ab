"""What one person decided in a time is taken back as one act, and what stood before holds again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from proof.store import Store
from proof.store.acts import DecisionsOfPerson, Withdrawn
from proof.store.decision_records import RefusedDecisionError, State, Verdict
from tests.build import check, decide, flag, key, page

WORK, SOURCE = "KR1", "甲乙丙丁戊己庚辛壬癸"


@pytest.fixture
def flagged(store: Store) -> Store:
    check(store, page(SOURCE, flags=[flag(1, n, SOURCE[n], "字", id=f"f{n}") for n in range(4)]))
    return store


def states(store: Store) -> list[tuple[State, str]]:
    flags = store.queue.flags(WORK, [1, 2, 3, 4])
    return [(queued.state, queued.reading) for queued in flags]


def withdraw(store: Store, since: datetime, key_of_request: str = "", name: str = "乙") -> Withdrawn:
    made = DecisionsOfPerson(name, since, datetime.now(UTC) + timedelta(minutes=1))
    return store.acts.withdraw(WORK, made, "甲", key_of_request or key())


def test_what_stood_before_the_time_holds_again_and_others_decisions_stay(flagged: Store) -> None:
    decide(flagged, 1, Verdict.UNSURE, "乙")
    decide(flagged, 2, Verdict.KEEP, "丙")
    noon = datetime.now(UTC)
    for verdict in (Verdict.KEEP, Verdict.TAKE):  # one place decided twice that afternoon is one place
        decide(flagged, 1, verdict, "乙")
    for number in (2, 3, 4):
        decide(flagged, number, Verdict.TAKE, "乙")
    decide(flagged, 4, Verdict.KEEP, "丙")
    before = states(flagged)
    assert withdraw(flagged, noon) == Withdrawn(places=3, left=1)
    assert states(flagged) == [(State.UNSURE, "甲"), (State.KEPT, "乙"), (State.OPEN, "丙"), (State.KEPT, "丁")]
    flagged.acts.undo(WORK, "甲", key())
    assert states(flagged) == before


def test_what_was_taken_back_already_and_another_time_are_left_alone(flagged: Store) -> None:
    decide(flagged, 1, Verdict.TAKE, "乙")
    noon = datetime.now(UTC)
    decide(flagged, 2, Verdict.TAKE, "乙")
    flagged.acts.undo(WORK, "乙", key())
    assert withdraw(flagged, noon) == Withdrawn(0, 0)
    assert states(flagged)[:2] == [(State.CORRECTED, "字"), (State.OPEN, "乙")]


def test_a_request_that_is_sent_again_takes_back_nothing_more(flagged: Store) -> None:
    noon = datetime.now(UTC)
    for number in (1, 2):
        decide(flagged, number, Verdict.TAKE, "乙")
    same = key()
    assert withdraw(flagged, noon, same) == Withdrawn(2, 0)
    decide(flagged, 3, Verdict.TAKE, "乙")
    assert withdraw(flagged, noon, same) == Withdrawn(2, 0)
    assert states(flagged)[2] == (State.CORRECTED, "字")
    with pytest.raises(RefusedDecisionError):
        withdraw(flagged, noon, "x" * 100)


def test_the_journal_rebuilds_it(flagged: Store, tmp_path_factory: pytest.TempPathFactory) -> None:
    noon = datetime.now(UTC)
    decide(flagged, 1, Verdict.TAKE, "乙")
    withdraw(flagged, noon)
    journal = flagged.journal
    assert journal is not None
    with Store.open(tmp_path_factory.mktemp("anew") / "proof.sqlite", complete=False) as anew:
        check(anew, page(SOURCE, flags=[flag(1, n, SOURCE[n], "字", id=f"f{n}") for n in range(4)]))
        assert anew.recover(journal.path).unplaced == ()
        assert states(anew) == states(flagged)
