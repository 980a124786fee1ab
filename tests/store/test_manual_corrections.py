"""Corrections by hand at any place: made once, by one person, and undone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult
from proof.store import RunInfo, Store
from proof.store.column_changes import ColumnChange
from proof.store.decision_records import (
    ConflictError,
    DecisionRequest,
    MissingFlagError,
    RefusedDecisionError,
    State,
    Verdict,
)
from proof.store.lookup import NoPlaceError
from proof.store.manual_corrections import ManualCorrection
from proof.store.page_states import PageState
from proof.store.queue_records import QueueFilter
from proof.text.model import Row
from proof.text.positions import Span
from tests import build
from tests.build import check, decision_log, standing_decisions
from tests.store.conftest import on_both

WORK = "KR1d0030"


def corrected(offset: int, length: int, reading: str, key: str = "") -> ManualCorrection:
    verdict = Verdict.TYPED if reading else Verdict.DELETE
    return ManualCorrection(WORK, 1, 1, offset, length, reading, "甲", key or uuid4().hex, verdict)


@on_both
def test_any_place_is_corrected_and_a_missing_character_inserted(filled: Store) -> None:
    for offset, length, reading, kind, was in (
        (1, 1, "入", "substitution", "人"),
        (0, 1, "", "insertion", "射"),
        (2, 0, "某", "omission", ""),
    ):
        decision = filled.manual_corrections.correct(corrected(offset, length, reading))
        assert (decision.kind, decision.transcribed, decision.was, decision.reading) == (kind, was, was, reading)
        assert (decision.state, decision.verdict) == (State.CORRECTED, Verdict.TYPED if reading else Verdict.DELETE)
        [flag] = filled.queue.flags(WORK, [decision.flag])
        assert flag.flag.bbox is not None
        assert decision in standing_decisions(filled, WORK)


@pytest.mark.parametrize(("offset", "length"), [(2, 1), (8, 1), (0, 3)])
def test_a_note_is_not_torn_apart_by_deleting_a_part_of_its_mark(filled: Store, offset: int, length: int) -> None:
    """The column 射人(告具/于公) lost a parenthesis, and was exported so."""
    with pytest.raises(RefusedDecisionError, match="torn apart"):
        filled.manual_corrections.correct(corrected(offset, length, ""))
    assert standing_decisions(filled, WORK) == []


def test_a_whole_note_or_its_marks_alone_are_deleted_in_one_act(filled: Store) -> None:
    assert len(filled.manual_corrections.correct_glyphs([corrected(offset, 1, "") for offset in (2, 5, 8)])) == 3
    confirmed = replace(corrected(0, 1, "⿰金"), confirmed=True)
    assert filled.manual_corrections.correct(confirmed).reading == "⿰金"


@pytest.mark.parametrize("text", ["甲(乙", "甲)乙", "(甲/乙/丙)"])
def test_a_column_is_added_as_confirmed_but_tears_no_note(filled: Store, text: str) -> None:
    added = replace(corrected(0, 0, "⿰金"), change=ColumnChange.ADD_BEFORE, confirmed=True)
    with pytest.raises(RefusedDecisionError, match="torn apart"):
        filled.manual_corrections.correct(replace(added, reading=text))
    assert filled.manual_corrections.correct(added).reading == "⿰金"


def test_a_repeated_correction_is_made_once_and_the_second_of_two_is_a_conflict(filled: Store) -> None:
    first = filled.manual_corrections.correct(corrected(1, 1, "入", "request-0001"))
    assert filled.manual_corrections.correct(corrected(1, 1, "入", "request-0001")) == replace(first, repeated=True)
    with pytest.raises(RefusedDecisionError, match="key"):
        filled.manual_corrections.correct(corrected(0, 1, "入", "request-0001"))
    for second in (corrected(1, 1, "八"), corrected(1, 1, ""), corrected(0, 2, "八八")):
        with pytest.raises(ConflictError) as conflict:
            filled.manual_corrections.correct(second)
        assert conflict.value.decisions == (first,)
    assert standing_decisions(filled, WORK) == [first]


def test_a_place_is_corrected_only_in_the_column_that_the_person_saw(
    filled: Store, info: RunInfo, page_result: PageResult
) -> None:
    """A page that was loaded before a check may have another character at the place."""
    source = page_result.columns[0].source
    seen = [
        replace(correction, source=source)
        for correction in (corrected(1, 1, "入", "request-0001"), corrected(2, 0, "某"))
    ]
    decision = filled.manual_corrections.correct(seen[0])
    columns = (CheckedColumn(1, page_result.columns[0].box, f"又{source}"), *page_result.columns[1:])
    check(filled, replace(page_result, columns=columns), info=info)
    for correction in (seen[1], replace(seen[0], key="request-0002")):
        with pytest.raises(NoPlaceError, match="no longer reads so"):
            filled.manual_corrections.correct(correction)
    assert filled.manual_corrections.correct(seen[0]) == replace(decision, repeated=True), "it had its answer before"


def test_corrections_without_a_meaning_or_at_unknown_places_are_refused(filled: Store) -> None:
    here = corrected(0, 1, "入")
    senseless = [
        replace(corrected(1, 1, ""), verdict=Verdict.TYPED),
        replace(corrected(2, 0, ""), verdict=Verdict.TYPED),
        corrected(2, 0, ""),
        replace(corrected(1, 1, "入"), verdict=Verdict.DELETE),
    ]
    nowhere = [corrected(99, 1, "入"), corrected(9, 2, "入"), replace(here, line=7), replace(here, page=9)]
    for wrong, error in [
        *((correction, RefusedDecisionError) for correction in senseless),
        *((correction, NoPlaceError) for correction in nowhere),
    ]:
        with pytest.raises(error):
            filled.manual_corrections.correct(wrong)
    assert decision_log(filled, WORK) == []


@on_both
def test_an_undone_correction_is_shown_only_in_the_history(filled: Store) -> None:
    before, count = filled.queue.facets(WORK, QueueFilter(raised=None)), filled.queue.pages(WORK)
    decision = filled.manual_corrections.correct(corrected(1, 1, "入"))
    assert filled.queue.facets(WORK, QueueFilter(raised=None)).total == before.total + 1
    filled.decisions.decide(DecisionRequest(WORK, decision.flag, Verdict.UNDO, 1, "甲", "request-back"))
    for fresh in (False, True):
        if fresh:  # columns made anew, not caught up
            filled.rules.set(WORK, "某", "甲", True, "甲")
        assert filled.queue.facets(WORK, QueueFilter(raised=None)).total == before.total
        assert filled.queue.pages(WORK) == count
        with pytest.raises(MissingFlagError):
            filled.queue.flags(WORK, [decision.flag])
    assert len(filled.decisions.history(decision.flag)) == 2
    assert standing_decisions(filled, WORK) == []


def test_what_is_said_of_a_correction_is_said_of_its_decision(filled: Store) -> None:
    correction = replace(corrected(1, 1, "A"), note="斷版", batch="batch-0001", authority="毛", confirmed=True)
    decision = filled.manual_corrections.correct(replace(correction, origin={"page": "其頁"}))
    assert (decision.note, decision.batch, decision.authority) == ("斷版", "batch-0001", "毛")
    assert decision.evidence["carried"] == {"page": "其頁"}


@on_both
def test_a_place_is_corrected_again_after_an_undo(filled: Store) -> None:
    decision = filled.manual_corrections.correct(corrected(1, 1, "入"))
    filled.decisions.decide(DecisionRequest(WORK, decision.flag, Verdict.UNDO, 1, "甲", "request-back"))
    second_decision = filled.manual_corrections.correct(corrected(1, 1, "八", "request-anew"))
    assert (second_decision.version, second_decision.suggested, second_decision.reading) == (3, "八", "八")
    assert filled.manual_corrections.correct(corrected(1, 1, "八", "request-anew")) == replace(
        second_decision, repeated=True
    )
    assert [decision.reading for decision in standing_decisions(filled, WORK)] == ["八"]


def test_a_note_that_no_export_can_carry_is_refused_everywhere(filled: Store) -> None:
    for note in ("\x01", "\x7f", "\ud800", "\uffff"):
        with pytest.raises(RefusedDecisionError, match="U\\+"):
            filled.manual_corrections.correct(replace(corrected(1, 1, "入"), note=note))
        with pytest.raises(RefusedDecisionError, match="U\\+"):
            filled.page_states.set(WORK, 1, PageState.PROBLEM, 0, "甲", "key-0001", note)
        with pytest.raises(RefusedDecisionError, match="U\\+"):
            filled.decisions.decide(DecisionRequest(WORK, 1, Verdict.KEEP, 0, "甲", "key-0001", note=note))
        with pytest.raises(RefusedDecisionError):
            filled.rules.set(WORK, f"告{note}", "吿", True, "甲")


@on_both
def test_a_correction_is_kept_by_a_new_check_and_listed_as_lost_if_its_place_is_gone(
    filled: Store, info: RunInfo, page_result: PageResult
) -> None:
    decision = filled.manual_corrections.correct(corrected(1, 1, "入"))
    check(filled, page_result, info=info)
    assert filled.decisions.displaced(WORK) == []
    assert [flag.stale for flag in filled.queue.flags(WORK, [decision.flag])] == [False]
    edited = replace(page_result, columns=(CheckedColumn(1, page_result.columns[0].box, "射(告具/于公)"),))
    check(filled, edited, info=info)
    assert filled.decisions.displaced(WORK) == [decision]
    [lost] = filled.queue.flags(WORK, [decision.flag])
    assert (lost.stale, lost.flag.line, lost.flag.offset) == (True, 1, 1), "it stays where it was seen last"


def test_a_correction_is_kept_on_a_page_without_a_place_in_its_file(store: Store) -> None:
    shown = build.page("甲乙丙")
    build.check_at(store, "", [(build.PLACE, shown)])
    decision = store.manual_corrections.correct(ManualCorrection(build.WORK, 1, 1, 1, 1, "丁", "甲", "request-0001"))
    build.check_at(store, "", [(build.PLACE, shown)])
    assert [flag.stale for flag in store.queue.flags(build.WORK, [decision.flag])] == [False]


@pytest.mark.parametrize(
    ("line", "offset", "flagged"),
    [(1, 1, True), (1, 2, True), (1, 0, False), (1, 3, False), (2, 1, False), (2, 4, False)],
    ids=["the second", "the first", "before", "after, hidden", "in another column", "no longer found"],
)
def test_several_characters_are_corrected_at_once_if_none_of_them_is_flagged(
    store: Store, line: int, offset: int, flagged: bool
) -> None:
    lines = ("甲乙丙丁戊己", "甲乙丙丁戊己")
    raised, hidden = build.flag(1, 2, "丙", "某"), build.flag(1, 4, "戊", "某", raised=False)
    check(store, build.page(*lines, flags=(raised, hidden, build.flag(2, 4, "戊", "某"))))
    next_page = build.page(*lines, flags=((1, 0, "甲", "某"),), name="p2")
    check(store, build.page(*lines, flags=(raised, hidden)), next_page)
    correction = ManualCorrection(build.WORK, 1, line, offset, 2, "庚辛", "甲", "request-0001")
    if flagged:
        with pytest.raises(RefusedDecisionError, match="one of these characters is flagged"):
            store.manual_corrections.correct(correction)
    else:
        assert store.manual_corrections.correct(correction).reading == "庚辛"


def test_in_a_line_on_two_pages_a_place_is_corrected_on_the_page_that_shows_it(tmp_path: Path) -> None:
    line = "射人告具于公"
    characters = [CheckedCharacter(1, n, 1, Row.MAIN, text, Box(0, n, 1, 1), text, 1.0) for n, text in enumerate(line)]
    shown = {"p1": characters[:3], "p2": characters[3:]}
    with Store.open(tmp_path / "proof.sqlite") as store:
        of_page = [replace(build.page(line, name=name), characters=tuple(own)) for name, own in shown.items()]
        place = replace(build.PLACE, lines={1: Span(0, len(line))})
        build.check_at(store, f"{line}\n", [(replace(place, position=n), result) for n, result in enumerate(of_page)])
        assert build.by_hand(store, 1, 4, "乎", page="p1").page == "p2"
        assert build.by_hand(store, 1, 0, "", page="p2").page == "p1"
        assert build.by_hand(store, 1, 6, "升", length=0, page="p1").page == "p2"
