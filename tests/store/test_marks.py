"""Beside the flags: any place corrected by hand, where pages stand, and rules that hide and can be lifted."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from proof.model.result import CheckedColumn, PageResult
from proof.store import PagePlace, RunInfo, Store
from proof.store.decision_records import (
    ConflictError,
    DecisionRequest,
    MissingFlagError,
    NotYoursError,
    RefusedDecisionError,
    State,
    Verdict,
)
from proof.store.marks import Mark, NoPlaceError, PageConflictError, PageState
from proof.store.queue_records import QueueFilter

WORK = "KR1d0030"
PLACE = PagePlace(0, "KR1d0030_010.txt", "010", "1a")


@pytest.fixture
def filled(store: Store, info: RunInfo, page_result: PageResult) -> Store:
    run = store.begin_run(info)
    store.save_page(run, PLACE, "", page_result)
    store.finish_run(run, whole=True)
    return store


def mark(offset: int, length: int, reading: str, key: str = "") -> Mark:
    return Mark(WORK, 1, 1, offset, length, reading, "甲", key or uuid.uuid4().hex, delete=not reading)


@pytest.mark.parametrize(
    ("offset", "length", "reading", "kind", "was"),
    [(1, 1, "入", "substitution", "人"), (1, 1, "", "insertion", "人"), (2, 0, "某", "omission", "")],
)
def test_any_place_is_corrected_and_a_missed_character_inserted(
    filled: Store, offset: int, length: int, reading: str, kind: str, was: str
) -> None:
    made = filled.marks.correct(mark(offset, length, reading))
    assert (made.kind, made.transcribed, made.was, made.reading) == (kind, was, was, reading)
    assert (made.state, made.verdict) == (State.CORRECTED, Verdict.TYPED if reading else Verdict.DELETE)
    [flag] = filled.queue.flags(WORK, [made.flag])
    assert flag.flag.bbox is not None
    assert made in list(filled.decisions.standing(WORK))


def test_a_correction_by_hand_is_not_doubled_and_the_second_of_two_is_told(filled: Store) -> None:
    first = filled.marks.correct(mark(1, 1, "入", "request-0001"))
    assert filled.marks.correct(mark(1, 1, "入", "request-0001")) == replace(first, repeated=True)
    with pytest.raises(ConflictError):
        filled.marks.correct(mark(1, 1, "八"))


def test_an_empty_box_deletes_no_character(filled: Store) -> None:
    for wrong in (
        replace(mark(1, 1, ""), delete=False),
        replace(mark(2, 0, ""), delete=False),
        mark(2, 0, ""),
        replace(mark(1, 1, "入"), delete=True),
    ):
        with pytest.raises(RefusedDecisionError):
            filled.marks.correct(wrong)
    assert filled.decisions.last() == 0


def test_a_correction_by_hand_that_is_taken_back_is_nowhere_to_be_seen_but_in_the_history(filled: Store) -> None:
    before, count = filled.queue.facets(WORK, QueueFilter(raised=None)), filled.queue.pages(WORK)
    made = filled.marks.correct(mark(1, 1, "入"))
    assert filled.queue.facets(WORK, QueueFilter(raised=None)).total == before.total + 1
    filled.decisions.decide(DecisionRequest(WORK, made.flag, Verdict.UNDO, 1, "甲", "request-back"))
    for fresh in (False, True):
        if fresh:  # columns made anew, not caught up
            filled.marks.set_rule(WORK, "某", "甲", True, "甲")
        assert filled.queue.facets(WORK, QueueFilter(raised=None)).total == before.total
        assert filled.queue.pages(WORK) == count
        with pytest.raises(MissingFlagError):
            filled.queue.flags(WORK, [made.flag])
    assert len(filled.decisions.history(made.flag)) == 2
    assert list(filled.decisions.standing(WORK)) == []


def test_a_place_is_corrected_by_hand_anew_after_that_was_taken_back(filled: Store) -> None:
    made = filled.marks.correct(mark(1, 1, "入"))
    filled.decisions.decide(DecisionRequest(WORK, made.flag, Verdict.UNDO, 1, "甲", "request-back"))
    again = filled.marks.correct(mark(1, 1, "八", "request-anew"))
    assert (again.version, again.suggested, again.reading) == (3, "八", "八")
    assert filled.marks.correct(mark(1, 1, "八", "request-anew")) == replace(again, repeated=True)
    assert [one.reading for one in filled.decisions.standing(WORK)] == ["八"]


@pytest.mark.parametrize("second", [mark(1, 1, ""), mark(0, 2, "八八")])
def test_no_place_is_corrected_by_hand_in_two_ways_at_once(filled: Store, second: Mark) -> None:
    made = filled.marks.correct(mark(1, 1, "入"))
    with pytest.raises(ConflictError) as told:
        filled.marks.correct(second)
    assert told.value.decisions == (made,)
    assert list(filled.decisions.standing(WORK)) == [made]


@pytest.mark.parametrize("note", ["\x01", "\x7f", "\ud800", "\uffff"])
def test_a_note_that_no_export_can_carry_is_refused_everywhere(filled: Store, note: str) -> None:
    with pytest.raises(RefusedDecisionError, match="U\\+"):
        filled.marks.correct(replace(mark(1, 1, "入"), note=note))
    with pytest.raises(RefusedDecisionError, match="U\\+"):
        filled.marks.set_page(WORK, 1, PageState.PROBLEM, 0, "甲", "key-0001", note)
    with pytest.raises(RefusedDecisionError, match="U\\+"):
        filled.decisions.decide(DecisionRequest(WORK, 1, Verdict.KEEP, 0, "甲", "key-0001", note=note))
    with pytest.raises(RefusedDecisionError):
        filled.marks.set_rule(WORK, f"告{note}", "吿", True, "甲")


def test_a_correction_by_hand_outlives_a_new_check_and_is_listed_where_its_place_is_gone(
    filled: Store, info: RunInfo, page_result: PageResult
) -> None:
    made = filled.marks.correct(mark(1, 1, "入"))
    run = filled.begin_run(info)
    filled.save_page(run, PLACE, "", page_result)
    filled.finish_run(run, whole=True)
    assert filled.decisions.displaced(WORK) == []
    assert [flag.stale for flag in filled.queue.flags(WORK, [made.flag])] == [False]
    edited = replace(page_result, columns=(CheckedColumn(1, page_result.columns[0].box, "射(告具/于公)"),))
    run = filled.begin_run(info)
    filled.save_page(run, PLACE, "", edited)
    filled.finish_run(run, whole=True)
    assert [lost.decision for lost in filled.decisions.displaced(WORK)] == [made]


@pytest.mark.parametrize(
    "wrong", [mark(99, 1, "入"), mark(9, 2, "入"), replace(mark(0, 1, "入"), line=7), replace(mark(0, 1, "入"), page=9)]
)
def test_a_place_that_is_not_there_is_refused(filled: Store, wrong: Mark) -> None:
    with pytest.raises(NoPlaceError):
        filled.marks.correct(wrong)
    assert filled.decisions.last() == 0


def test_a_page_is_proofread_by_one_and_validated_by_another(filled: Store) -> None:
    say = filled.marks.set_page
    with pytest.raises(RefusedDecisionError):
        say(WORK, 1, PageState.VALIDATED, 0, "甲", "key-0000")
    say(WORK, 1, PageState.PROOFREAD, 0, "甲", "key-0001")
    with pytest.raises(RefusedDecisionError, match="second person"):
        say(WORK, 1, PageState.VALIDATED, 1, "甲", "key-0002")
    with pytest.raises(PageConflictError, match="甲"):
        say(WORK, 1, PageState.PROBLEM, 0, "乙", "key-0003")
    last = say(WORK, 1, PageState.VALIDATED, 1, "乙", "key-0004")
    assert say(WORK, 1, PageState.VALIDATED, 1, "乙", "key-0004") == last
    assert [(one.state, one.person) for one in filled.marks.page_history(WORK, 1)] == [
        (PageState.PROOFREAD, "甲"),
        (PageState.VALIDATED, "乙"),
    ]
    assert [(page.state, page.version) for page in filled.queue.pages(WORK)] == [(PageState.VALIDATED, 2)]


def test_the_key_of_a_request_is_not_anothers_nor_for_another_state(filled: Store) -> None:
    say = filled.marks.set_page
    say(WORK, 1, PageState.PROOFREAD, 0, "甲", "key-0001")
    for state, person in ((PageState.PROOFREAD, "乙"), (PageState.PROBLEM, "甲")):
        with pytest.raises(RefusedDecisionError, match="this key"):
            say(WORK, 1, state, 0, person, "key-0001")
    assert len(filled.marks.page_history(WORK, 1)) == 1


def test_who_does_not_overrule_others_leaves_their_word_of_a_page_but_may_name_a_problem(filled: Store) -> None:
    say = filled.marks.set_page
    say(WORK, 1, PageState.PROOFREAD, 0, "甲", "key-0001")
    say(WORK, 1, PageState.VALIDATED, 1, "乙", "key-0002", overrules=False)
    for state in (PageState.NOT_PROOFREAD, PageState.PROOFREAD):
        with pytest.raises(NotYoursError, match="乙 said it is validated"):
            say(WORK, 1, state, 2, "甲", "key-0003", overrules=False)
    say(WORK, 1, PageState.PROOFREAD, 2, "乙", "key-0004", overrules=False)
    say(WORK, 1, PageState.PROBLEM, 3, "丙", "key-0005", overrules=False)
    say(WORK, 1, PageState.NOT_PROOFREAD, 4, "甲", "key-0006")


def test_a_rule_hides_what_it_says_counts_it_and_can_be_lifted(filled: Store) -> None:
    filled.marks.set_rule(WORK, "告", "吿", True, "甲")
    assert [(rule.transcribed, rule.suggested, rule.hides) for rule in filled.marks.rules(WORK)] == [("告", "吿", 1)]
    assert filled.queue.facets(WORK, QueueFilter()).total == 1
    filled.marks.set_rule(WORK, "告", "吿", False, "乙")
    assert filled.marks.rules(WORK) == []
    assert filled.queue.facets(WORK, QueueFilter()).total == 2


def test_the_queue_sees_what_another_program_decides_and_checks(
    filled: Store, info: RunInfo, page_result: PageResult
) -> None:
    assert filled.queue.facets(WORK, QueueFilter()).states[State.OPEN] == 2
    with Store.open(filled._engine.url) as other:
        other.decisions.decide(DecisionRequest(WORK, 1, Verdict.KEEP, 0, "乙", "other-program"))
        assert filled.queue.facets(WORK, QueueFilter()).states[State.KEPT] == 1
        run = other.begin_run(info)
        other.save_page(run, PLACE, "", replace(page_result, flags=page_result.flags[:1]))
        other.finish_run(run)
    assert filled.queue.facets(WORK, QueueFilter()).total == 1
