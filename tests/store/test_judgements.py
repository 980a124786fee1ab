"""Judgements of two people on the same places, pages that await a second person, and the pace of deciding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from proof.model.flags import WitnessReading
from proof.report.progress import agreements_of, time_left
from proof.store import Store
from proof.store.decision_records import Verdict
from proof.store.judgements import WitnessRecord
from proof.store.page_states import PageState
from proof.store.queue_records import Order, QueueFilter
from tests import build
from tests.build import key
from tests.web.drawn import WORK, fill


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "proof.sqlite") as store:
        fill(store, tmp_path, pages=12)
        yield store


def decide(store: Store, flag: int, person: str, verdict: Verdict, **more: str) -> None:
    build.decide(store, flag, verdict, person, work=WORK, **more)


def mark(store: Store, page: int, person: str, state: PageState) -> None:
    version = len(store.page_states.history(WORK, page))
    store.page_states.set(WORK, page, state, version, person, key())


def test_who_decides_anew_and_who_validates_judge_what_another_decided(store: Store) -> None:
    """Each page has four flags. On the first, 甲 decides three; 乙 decides one differently and validates the page."""
    decide(store, 1, "甲", Verdict.TAKE)
    decide(store, 2, "甲", Verdict.KEEP)
    decide(store, 3, "甲", Verdict.UNSURE)
    assert store.judgements.judged_twice(WORK) == {}
    decide(store, 2, "乙", Verdict.COPY)
    assert store.judgements.judged_twice(WORK) == {("乙", "甲"): [("copy", "kept", False)]}
    mark(store, 1, "甲", PageState.PROOFREAD)
    mark(store, 1, "乙", PageState.VALIDATED)
    both = store.judgements.judged_twice(WORK)[("乙", "甲")]
    judged = [("as suggested", "as suggested", True), ("copy", "kept", False)]
    assert sorted(both) == judged, "what is unsure is judged by nobody"
    [found] = agreements_of(store, WORK)
    assert (found.places, found.same, found.too_few, found.kappa) == (2, 1, True, None)
    assert found.validated == 1, "the other 乙 decided, before validating"


def test_what_was_taken_back_is_no_judgement_and_what_is_done_again_is_one(store: Store) -> None:
    decide(store, 1, "甲", Verdict.KEEP)
    decide(store, 1, "乙", Verdict.TYPED, reading="某")
    store.acts.undo(WORK, "乙", "request-undo")
    assert store.judgements.judged_twice(WORK) == {}
    store.acts.redo(WORK, "乙", "request-redo")
    assert store.judgements.judged_twice(WORK) == {("乙", "甲"): [("= 某", "kept", False)]}


def test_with_places_enough_there_is_a_kappa_with_its_interval(store: Store) -> None:
    flags = [number for number in range(1, 49) if number % 4]
    for number in flags:
        decide(store, number, "甲", Verdict.KEEP if number % 4 == 1 else Verdict.COPY)
    for page in range(1, 13):
        mark(store, page, "甲", PageState.PROOFREAD)
    decide(store, 1, "乙", Verdict.TAKE)
    for page in range(1, 13):
        mark(store, page, "乙", PageState.VALIDATED)
    [found] = agreements_of(store, WORK)
    assert (found.places, found.same) == (36, 35)
    assert found.kappa is not None
    assert 0.8 < found.kappa.low < found.kappa.value < found.kappa.high <= 1


def test_pages_that_wait_for_a_second_person_are_named_with_who_proofread_them(store: Store) -> None:
    mark(store, 2, "乙", PageState.PROOFREAD)
    mark(store, 1, "甲", PageState.PROOFREAD)
    mark(store, 3, "甲", PageState.PROOFREAD)
    mark(store, 3, "乙", PageState.VALIDATED)
    awaiting, count = store.history.awaiting(WORK)
    assert [(entry.name, entry.person) for entry in awaiting] == [("WYG0103-0193a", "乙"), ("WYG0103-0192a", "甲")]
    assert (store.history.awaiting(WORK, 1), count) == ((awaiting[:1], 2), 2)


def test_the_time_left_is_told_once_enough_was_decided(store: Store) -> None:
    assert time_left(store, WORK) is None
    for number in [number for number in range(1, 40) if number % 4][:22]:
        decide(store, number, "甲", Verdict.KEEP)
    left = time_left(store, WORK)
    assert left is not None
    assert left.flags == 12 * 3 - 22
    assert left.hours == pytest.approx(left.flags * left.seconds / 3600)


def test_a_decision_agrees_with_a_witness_that_reads_what_was_decided(store: Store) -> None:
    """For a flag corrected as suggested, one corrected to another reading, one kept, and one still open."""
    numbers = store.queue.find(WORK, QueueFilter(), Order.SCORE)[0][:4]
    sides = [("image", "吿"), ("", "某"), ("image", "吉"), ("text", "告")]
    for queued, (side, reading) in zip(store.queue.flags(WORK, numbers), sides, strict=True):
        flag = queued.flag
        heard = (WitnessReading("~engine", reading, side), WitnessReading("唐石經", "告", "text"))
        store.rescore(WORK, [replace(flag, evidence=replace(flag.evidence, witnesses=heard))])
    taken, typed, kept, _open = numbers
    decide(store, taken, "甲", Verdict.TAKE)
    decide(store, typed, "甲", Verdict.TYPED, reading="某")
    decide(store, kept, "甲", Verdict.KEEP)
    records = [WitnessRecord("~engine", places=3, agreeing=2), WitnessRecord("唐石經", places=3, agreeing=1)]
    assert store.judgements.witness_records(WORK) == records
