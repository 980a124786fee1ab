"""Decisions are events: never lost, doubled or altered; of two at once, the second is refused with the first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unicodedata import category
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from proof.model.flags import Evidence, Flag, Kind
from proof.model.result import PageResult
from proof.store import Store
from proof.store.decision_records import (
    ConflictError,
    Decision,
    MissingFlagError,
    NotYoursError,
    RefusedDecisionError,
    State,
    Verdict,
)
from proof.store.decisions import may_take
from proof.store.typed_text import check_note
from tests.build import WORK, check, decide, decision_log, demand, flag, page, queued, standing_decisions
from tests.store.conftest import on_both

SOURCE = "射人(告具/于公)"
WRONG, VARIANT, PART, DOUBT = 1, 2, 3, 4
"""The numbers of the flags: a wrong 告, a hidden variant, a page seen in part, a character in doubt."""


def found(suggested: str = "吿") -> PageResult:
    """The page with its four flags."""
    read = Evidence("posterior", p_text=0.001, p_best=0.98, alternatives=(("吿", 0.98), ("告", 0.001)))
    flags = (
        flag(1, 3, "告", suggested, source=SOURCE, evidence=read),
        flag(1, 6, "于", "於", source=SOURCE, kind=Kind.VARIANT, raised=False),
        flag(2, 0, "", "", kind=Kind.LAYOUT, evidence=Evidence("page in part")),
        flag(1, 0, "射", "", source=SOURCE, kind=Kind.SUBSTITUTION),
    )
    return replace(page(SOURCE, flags=flags), image=Path("images/p1.png"))


@pytest.fixture
def filled(store: Store) -> Store:
    check(store, found())
    return store


VERDICTS = [
    (Verdict.KEEP, "", State.KEPT, "告"),
    (Verdict.TAKE, "", State.CORRECTED, "吿"),
    (Verdict.OTHER, "吉", State.CORRECTED, "吉"),
    (Verdict.TYPED, "𠮷", State.CORRECTED, "𠮷"),
    (Verdict.DELETE, "", State.CORRECTED, ""),
    (Verdict.TYPED, "告", State.KEPT, "告"),
    (Verdict.COPY, "", State.COPY, "告"),
    (Verdict.UNSURE, "", State.UNSURE, "告"),
    (Verdict.SKIP, "", State.SKIPPED, "告"),
]


@on_both
def test_a_verdict_says_where_the_flag_stands_and_what_is_to_be_read(store: Store) -> None:
    source = "告射" * len(VERDICTS)
    read = Evidence("posterior", p_best=0.98, alternatives=(("吿", 0.98), ("告", 0.001)))
    flags = [flag(1, 2 * n, "告", "吿", source=source, evidence=read, id=f"f{n}") for n in range(len(VERDICTS))]
    check(store, page(source, flags=flags))
    found_before = list(store.flags(WORK))
    decided = []
    for number, (verdict, reading, state, reads) in enumerate(VERDICTS, 1):
        made = store.decisions.decide(demand(number, verdict, reading=reading, note="影像清晰"))
        assert (made.was_state, made.was, made.state, made.reading) == (State.OPEN, "告", state, reads)
        assert (made.page, made.line, made.offset, made.version) == ("p1", 1, 2 * (number - 1), 1)
        assert (made.evidence["p_best"], made.evidence["alternatives"]) == (0.98, [["吿", 0.98], ["告", 0.001]])
        assert made.note == "影像清晰"
        assert store.decisions.history(number) == [made]
        decided.append(made)
    assert sorted(standing_decisions(store, WORK), key=lambda decision: decision.id) == decided
    assert list(store.flags(WORK)) == found_before


def test_what_is_not_there_and_what_makes_no_sense_is_refused(filled: Store) -> None:
    for missing in (demand(99, Verdict.KEEP), demand(WRONG, Verdict.KEEP, work="KR2")):
        with pytest.raises(MissingFlagError):
            filled.decisions.decide(missing)
    senseless = [
        (demand(WRONG, Verdict.TYPED), "to delete what stands there say `delete`"),
        (demand(WRONG, Verdict.OTHER), "which alternative"),
        (demand(WRONG, Verdict.DELETE, reading="吿"), "leaves no reading"),
        (demand(PART, Verdict.DELETE), "nothing stands there"),
        (demand(DOUBT, Verdict.TAKE), "no reading is suggested"),
        (demand(WRONG, Verdict.UNDO), "only its last decision"),
        (demand(WRONG, Verdict.KEEP, key="x"), "8 to 64 letters"),
        (demand(WRONG, Verdict.COPY, reading="吉"), "retain"),
        (demand(WRONG, Verdict.RETAIN, reading="告"), "copy"),
    ]
    for wrong, message in senseless:
        with pytest.raises(RefusedDecisionError, match=message):
            filled.decisions.decide(wrong)
        with pytest.raises(RefusedDecisionError, match=message):
            filled.decisions.decide_all([wrong])
    assert decision_log(filled, WORK) == []


@pytest.mark.parametrize(
    ("kind", "transcribed", "suggested", "reason", "takes"),
    [
        (Kind.SUBSTITUTION, "告", "吿", "posterior", True),
        (Kind.SUBSTITUTION, "告", "", "doubt", False),
        (Kind.INSERTION, "告", "", "no glyph", True),
        (Kind.OMISSION, "", "告", "not transcribed", True),
        (Kind.LAYOUT, "告具", "", "column not on the page", True),
        (Kind.LAYOUT, "告具", "", "note halves exchanged", False),
        (Kind.LAYOUT, "", "", "page in part", False),
    ],
)
def test_something_can_be_taken_where_a_finding_says_what_is_to_stand_there(
    kind: Kind, transcribed: str, suggested: str, reason: str, *, takes: bool
) -> None:
    flag = Flag("p", "r", 1, 0, 1, kind, transcribed, suggested, 5.0, True, None, Evidence(reason))
    assert may_take(flag) is takes


def test_a_reading_that_would_break_its_line_or_the_markup_is_refused(filled: Store) -> None:
    for reading in (
        "一\n二",
        "告\r",
        "一\x00",
        "\ud800",
        "\ufdd0",
        "\U0010ffff",
        "一\u2028",
        "¶",
        "\u202e告",
        "告" * 65,
    ):
        with pytest.raises(RefusedDecisionError):
            filled.decisions.decide(demand(WRONG, Verdict.TYPED, reading=reading))
    for reading in ("告(注", "注)", "甲/乙", "<pb:KR1_001-1a>", "&KR12", "&", "（注"):
        with pytest.raises(RefusedDecisionError, match="markup"):
            filled.decisions.decide(demand(WRONG, Verdict.TYPED, reading=reading, confirmed=True))
    assert decision_log(filled, WORK) == []


def test_a_missing_note_can_be_typed_with_its_markup(store: Store) -> None:
    missing = flag(1, 2, "", "(注曰/某也)", source=SOURCE, kind=Kind.OMISSION)
    check(store, replace(page(SOURCE, flags=(missing,)), image=Path("images/p1.png")))
    with pytest.raises(RefusedDecisionError, match="markup"):
        store.decisions.decide(demand(1, Verdict.TYPED, reading="(注云/某也", confirmed=True))
    assert decide(store, 1, Verdict.TYPED, reading="(注云/某也)").reading == "(注云/某也)"


@on_both
def test_any_text_that_stays_in_its_line_is_a_reading(filled: Store) -> None:
    for reading in ("&KR0058;", "[金*本]", "[(白-日)/七]", "⿰金本", "\U000323b0", "葛\U000e0100", "　", "□"):
        assert decide(filled, WRONG, Verdict.TYPED, reading=reading).reading == reading


@given(st.text(max_size=8))
def test_a_note_that_is_kept_is_read_back_from_xml_as_it_was(note: str) -> None:
    try:
        check_note(note)
    except RefusedDecisionError:
        assert any(ord(char) < 32 or category(char) in ("Cc", "Cs", "Cn") for char in note)
        return
    element = ElementTree.Element("note")
    element.set("text", note)
    assert ElementTree.fromstring(ElementTree.tostring(element, "utf-8")).get("text") == note  # noqa: S314


@on_both
def test_undo_and_redo_go_back_and_forth_without_limit_and_leave_every_step(filled: Store) -> None:
    decide(filled, WRONG, Verdict.TAKE)
    gone = decide(filled, WRONG, Verdict.UNDO)
    assert (gone.state, gone.reading) == (State.OPEN, "告")
    assert standing_decisions(filled, WORK) == []
    assert decide(filled, WRONG, Verdict.TAKE).was == "告"
    first = decide(filled, WRONG, Verdict.TYPED, reading="吉")
    seen = [decide(filled, WRONG, Verdict.UNDO, "乙") for _ in range(4)]
    assert [(decision.state, decision.reading) for decision in seen] == [
        (State.CORRECTED, "吿"),
        (State.CORRECTED, "吉"),
    ] * 2
    assert [decision.about for decision in seen] == [first.id, *(decision.id for decision in seen[:3])]
    assert [decision.version for decision in filled.decisions.history(WRONG)] == list(range(1, 9))
    with pytest.raises(RefusedDecisionError, match="last"):
        decide(filled, WRONG, Verdict.UNDO, undoes=first.id)


@on_both
def test_an_earlier_decision_is_taken_back_only_if_all_later_ones_are(filled: Store) -> None:
    decide(filled, WRONG, Verdict.TAKE)
    decide(filled, WRONG, Verdict.KEEP)
    decide(filled, WRONG, Verdict.UNDO)
    assert decide(filled, WRONG, Verdict.UNDO, undoes_version=1).state is State.OPEN
    for verdict in (Verdict.TAKE, Verdict.KEEP, Verdict.TAKE):
        decide(filled, WRONG, verdict)
    with pytest.raises(RefusedDecisionError, match="last"):
        decide(filled, WRONG, Verdict.UNDO, undoes_version=5)


@on_both
def test_the_second_of_two_is_told_what_happened_and_nothing_is_written(filled: Store) -> None:
    first = filled.decisions.decide(demand(WRONG, Verdict.TAKE, person="甲"))
    with pytest.raises(ConflictError, match="甲") as error:
        filled.decisions.decide(demand(WRONG, Verdict.KEEP, person="乙"))
    assert (error.value.decisions, error.value.version) == ((first,), 1)
    assert filled.decisions.history(WRONG) == [first]
    assert filled.decisions.decide(demand(WRONG, Verdict.KEEP, 1, "乙")).was == "吿"


def test_what_was_suggested_is_taken_alone_where_it_still_is(filled: Store) -> None:
    seen = demand(WRONG, Verdict.TAKE, suggested="吿")
    check(filled, found("誥"))
    with pytest.raises(ConflictError, match="stands otherwise"):
        filled.decisions.decide(seen)
    assert filled.decisions.history(WRONG) == []
    assert filled.decisions.decide(replace(seen, suggested="誥")).reading == "誥"


@on_both
def test_a_request_sent_again_is_answered_as_before_and_its_key_serves_no_other(filled: Store) -> None:
    sent = demand(WRONG, Verdict.TYPED, reading="吉", note="一")
    first = filled.decisions.decide(sent)
    decide(filled, WRONG, Verdict.COPY)
    assert filled.decisions.decide(sent) == replace(first, repeated=True)
    changes: list[dict[str, Any]] = [{"verdict": Verdict.KEEP}, {"flag": VARIANT}, {"person": "乙"}]
    changes += [{"version": 1}, {"note": "另一"}, {"reading": "告"}]
    for change in changes:
        with pytest.raises(RefusedDecisionError, match="key"):
            filled.decisions.decide(replace(sent, **change))
    assert len(filled.decisions.history(WRONG)) == 2


@on_both
def test_to_keep_the_text_where_the_copy_reads_otherwise_is_a_verdict_of_its_own(filled: Store) -> None:
    made = decide(filled, WRONG, Verdict.RETAIN, reading="吉", authority="理校", note="一")
    assert (made.state, made.reading, made.copy_reads, made.authority) == (State.RETAINED, "告", "吉", "理校")
    undone = decide(filled, WRONG, Verdict.UNDO)
    assert (undone.state, undone.authority) == (State.OPEN, "")
    again = decide(filled, WRONG, Verdict.UNDO)
    assert (again.state, again.copy_reads, again.authority, again.note) == (State.RETAINED, "吉", "理校", "一")


def test_a_decision_rests_on_what_its_flag_came_from_unless_it_says_otherwise(filled: Store) -> None:
    assert decide(filled, WRONG, Verdict.TAKE).authority == "影像"
    assert decide(filled, VARIANT, Verdict.TAKE, authority="嚴本").authority == "嚴本"
    assert decide(filled, PART, Verdict.KEEP).authority == ""


@on_both
def test_many_are_decided_in_one_stroke_and_conflicts_stand_in_their_place(filled: Store) -> None:
    decide(filled, VARIANT, Verdict.COPY)
    asked = [demand(number, Verdict.KEEP, batch="stroke") for number in (PART, VARIANT, WRONG)]
    outcomes = filled.decisions.decide_all(asked)
    assert [type(outcome) for outcome in outcomes] == [Decision, ConflictError, Decision]
    assert [outcome.flag for outcome in outcomes] == [PART, VARIANT, WRONG]
    assert {decision.flag for decision in decision_log(filled, WORK) if decision.batch == "stroke"} == {WRONG, PART}
    again = filled.decisions.decide_all(asked)
    assert [isinstance(outcome, Decision) and outcome.repeated for outcome in again] == [True, False, True]


@on_both
def test_the_log_has_all_newest_first_and_people_are_counted_by_what_stands(filled: Store) -> None:
    made = [decide(filled, WRONG, Verdict.KEEP), decide(filled, WRONG, Verdict.UNDO)]
    assert (filled.judgements.by_person(WORK), filled.judgements.by_day(WORK)) == ({}, {})
    made.append(decide(filled, WRONG, Verdict.UNDO))
    assert filled.judgements.by_person(WORK) == {"甲": {Verdict.KEEP: 1}}
    made.append(decide(filled, WRONG, Verdict.SKIP, "乙"))
    assert filled.judgements.by_person(WORK) == {"甲": {Verdict.KEEP: 1}, "乙": {Verdict.SKIP: 1}}
    assert list(filled.judgements.by_day(WORK).values()) == [2]
    assert decision_log(filled, WORK) == made[::-1]


@on_both
def test_the_database_itself_refuses_to_alter_or_delete_a_decision(filled: Store) -> None:
    made = decide(filled, WRONG, Verdict.TAKE)
    engine = create_engine(filled.engine.url)
    for deed in ("UPDATE acts SET person = '乙'", "DELETE FROM acts"):
        with pytest.raises(DBAPIError, match="never altered"), engine.begin() as connection:
            connection.execute(text(deed))
    engine.dispose()
    assert filled.decisions.history(WRONG) == [made]


@on_both
def test_a_decision_stands_where_its_place_reads_so_and_is_listed_where_it_was_changed(filled: Store) -> None:
    made = decide(filled, WRONG, Verdict.TAKE)
    for source in (SOURCE, "射人(某具/于公)", "射人(告告具/于公)", "某", ""):
        check(filled, page(source))  # finds no flag
        lost = [] if source == SOURCE else [made]
        assert filled.decisions.displaced(WORK) == lost
        check(filled, found())
        assert filled.decisions.displaced(WORK) == []
        assert standing_decisions(filled, WORK) == [made]


def on_line(store: Store, line: int) -> int:
    """Check the page again, with the first flag on another line; returns the number of the flag."""
    check(store, page(*[""] * (line - 1), SOURCE, flags=((line, 3, "告", "吿"),)))
    [flag] = queued(store)
    return flag.number


@on_both
@pytest.mark.parametrize(
    ("lines", "verdict", "state"), [((1, 2, 1), Verdict.KEEP, State.KEPT), ((1, 2, 3, 2), Verdict.UNDO, State.OPEN)]
)
def test_what_was_said_since_holds_where_a_place_comes_back(
    store: Store, lines: tuple[int, ...], verdict: Verdict, state: State
) -> None:
    """A line is inserted above and deleted again, and in between somebody decides differently."""

    def standing_at(number: int) -> tuple[State, str, int]:
        [here] = store.queue.flags(WORK, [number])
        return here.state, here.reading, here.version

    first, *between, back = lines
    number = on_line(store, first)
    store.decisions.decide(demand(number, Verdict.TAKE))
    for line in between:
        number = on_line(store, line)
    store.decisions.decide(demand(number, verdict, 1, "乙"))
    number = on_line(store, back)
    assert standing_at(number) == (state, "告", 2)
    store.decisions.decide(demand(number, Verdict.COPY, 2, "丙"))
    assert standing_at(on_line(store, between[-1]))[0] is State.COPY
    assert standing_at(on_line(store, back)) == (State.COPY, "告", 3)


def test_who_does_not_overrule_others_takes_back_only_what_they_decided(filled: Store) -> None:
    made = decide(filled, WRONG, Verdict.TAKE, "甲")
    back = demand(WRONG, Verdict.UNDO, 1, "乙", overrules=False)
    with pytest.raises(NotYoursError, match="甲 decided it; they or an administrator"):
        filled.decisions.decide(back)
    with pytest.raises(NotYoursError):
        filled.decisions.decide_all([demand(VARIANT, Verdict.KEEP, person="乙", overrules=False), back])
    assert decision_log(filled, WORK) == [made]
    anew = decide(filled, WRONG, Verdict.KEEP, "乙", overrules=False)
    assert decide(filled, WRONG, Verdict.UNDO, "乙", overrules=False).about == anew.id
    assert decide(filled, WRONG, Verdict.UNDO, "丙").person == "丙"


@on_both
def test_a_moment_of_a_store_stays_as_it_was_while_people_go_on(filled: Store) -> None:
    made = decide(filled, WRONG, Verdict.TAKE)
    with filled.at_one_moment() as then:
        later = decide(filled, VARIANT, Verdict.KEEP, "乙")
        decide(filled, WRONG, Verdict.UNDO)
        assert decision_log(then, WORK) == [made]
    assert standing_decisions(filled, WORK) == [later]
