"""Decisions are events: never lost, never doubled, never altered; the second of two is told of the first."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import uuid
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

from proof.model.flags import Evidence, Flag, Kind, flag_id
from proof.model.result import CheckedColumn, PageResult
from proof.store import PagePlace, RunInfo, Store
from proof.store.decision_records import (
    SETTLED,
    ConflictError,
    Decision,
    DecisionRequest,
    MissingFlagError,
    NotYoursError,
    RefusedDecisionError,
    State,
    UnconfirmedReadingError,
    Verdict,
)
from proof.store.decisions import may_take
from proof.store.queue_records import Order, QueueFilter
from proof.store.saving import CheckedResult
from proof.store.typed_text import check_note
from tests.build import check, page, run_info
from tests.build import flag as flag_at
from tests.conftest import PATIENCE

PLACE = PagePlace(0, "KR1d0030_010.txt", "010", "1a")
WORK = "KR1d0030"


@pytest.fixture
def filled(store: Store, info: RunInfo, page_result: PageResult) -> Store:
    """A store with the page of three flags: 1 a wrong 告, 2 a hidden variant, 3 a lost column."""
    wrong = replace(page_result.flags[0], context="射人([告]具/于")
    check(store, replace(page_result, flags=(wrong, *page_result.flags[1:])), info=info)
    return store


def demand(
    verdict: Verdict, version: int = 0, flag: int = 1, person: str = "甲", key: str = "", **rest: object
) -> DecisionRequest:
    return DecisionRequest(WORK, flag, verdict, version, person, key or uuid.uuid4().hex, **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verdict", "reading", "state", "reads"),
    [
        (Verdict.KEEP, "", State.KEPT, "告"),
        (Verdict.TAKE, "", State.CORRECTED, "吿"),
        (Verdict.OTHER, "吉", State.CORRECTED, "吉"),
        (Verdict.TYPED, "𠮷", State.CORRECTED, "𠮷"),
        (Verdict.DELETE, "", State.CORRECTED, ""),
        (Verdict.TYPED, "告", State.KEPT, "告"),
        (Verdict.COPY, "", State.COPY, "告"),
        (Verdict.UNSURE, "", State.UNSURE, "告"),
        (Verdict.SKIP, "", State.SKIPPED, "告"),
    ],
)
def test_a_verdict_says_where_the_flag_stands_and_what_is_to_be_read(
    filled: Store, verdict: Verdict, reading: str, state: State, reads: str
) -> None:
    made = filled.decisions.decide(demand(verdict, reading=reading, note="影像清晰"))
    assert (made.was_state, made.was, made.state, made.reading) == (State.OPEN, "告", state, reads)
    assert (made.page, made.line, made.offset, made.version) == ("KR1d0030_WYG_010-1a", 1, 3, 1)
    assert made.evidence["p_best"] == 0.98
    assert made.evidence["alternatives"] == [["吿", 0.98], ["告", 0.001]]
    assert filled.decisions.history(1) == [made]
    assert list(filled.decisions.standing(WORK)) == [made]
    assert made.note == "影像清晰"


def test_an_empty_reading_deletes_nothing_and_a_deletion_says_that_it_is_one(filled: Store) -> None:
    decide = filled.decisions.decide
    for wrong, told in (
        (demand(Verdict.TYPED), "to delete what stands there say `delete`"),
        (demand(Verdict.OTHER), "which alternative"),
        (demand(Verdict.DELETE, reading="吿"), "leaves no reading"),
        (demand(Verdict.DELETE, flag=3), "nothing stands there"),
    ):
        with pytest.raises(RefusedDecisionError, match=told):
            decide(wrong)
        with pytest.raises(RefusedDecisionError, match=told):
            filled.decisions.decide_all([wrong])
    assert filled.decisions.last() == 0


@pytest.mark.parametrize(("kind", "taken"), [(Kind.INSERTION, True), (Kind.SUBSTITUTION, False)])
def test_nothing_is_taken_where_the_finding_does_not_say_that_a_character_is_too_many(
    store: Store, info: RunInfo, page_result: PageResult, kind: Kind, taken: bool
) -> None:
    check(store, replace(page_result, flags=(replace(page_result.flags[0], kind=kind, suggested=""),)), info=info)
    if taken:
        assert store.decisions.decide(demand(Verdict.TAKE)).reading == ""
        return
    with pytest.raises(RefusedDecisionError, match="no reading is suggested"):
        store.decisions.decide(demand(Verdict.TAKE))


def test_a_reading_that_would_break_its_line_is_refused(filled: Store) -> None:
    breaking = ["一\n二", "告\r", "一\x00", "\ud800", "\ufdd0", "\U0010ffff", "一\u2028", "¶", "\u202e告", "告" * 65]
    for reading in breaking:
        with pytest.raises(RefusedDecisionError):
            filled.decisions.decide(demand(Verdict.TYPED, reading=reading))
    for reading in ("告(注", "注)", "甲/乙", "<pb:KR1_001-1a>", "&KR12", "&", "（注"):
        with pytest.raises(RefusedDecisionError, match="markup"):
            filled.decisions.decide(demand(Verdict.TYPED, reading=reading, confirmed=True))
    assert filled.decisions.last() == 0


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


def test_undo_and_redo_go_back_and_forth_without_limit_and_leave_every_step(filled: Store) -> None:
    decide = filled.decisions.decide
    decide(demand(Verdict.TAKE))
    decide(demand(Verdict.TYPED, 1, reading="吉"))
    seen = [decide(demand(Verdict.UNDO, version, person="乙")) for version in range(2, 6)]
    assert [(one.state, one.reading) for one in seen] == [(State.CORRECTED, "吿"), (State.CORRECTED, "吉")] * 2
    assert [one.about for one in seen] == [seen[0].id - 1, seen[0].id, seen[1].id, seen[2].id]
    assert [one.version for one in filled.decisions.history(1)] == [1, 2, 3, 4, 5, 6]


def test_what_is_taken_back_altogether_stands_no_more(filled: Store) -> None:
    filled.decisions.decide(demand(Verdict.TAKE))
    gone = filled.decisions.decide(demand(Verdict.UNDO, 1))
    assert (gone.state, gone.reading) == (State.OPEN, "告")
    assert list(filled.decisions.standing(WORK)) == []
    assert filled.decisions.decide(demand(Verdict.KEEP, 2)).was == "告"


def test_the_second_of_two_is_told_what_happened_and_nothing_is_written(filled: Store) -> None:
    first = filled.decisions.decide(demand(Verdict.TAKE, person="甲"))
    with pytest.raises(ConflictError, match="甲") as told:
        filled.decisions.decide(demand(Verdict.KEEP, person="乙"))
    assert told.value.decisions == (first,)
    assert told.value.version == 1
    assert filled.decisions.history(1) == [first]
    assert filled.decisions.decide(demand(Verdict.KEEP, 1, person="乙")).was == "吿"


def test_what_was_suggested_is_taken_alone_where_it_still_is(
    filled: Store, info: RunInfo, page_result: PageResult
) -> None:
    seen = replace(demand(Verdict.TAKE), suggested=page_result.flags[0].suggested)
    other = replace(page_result.flags[0], suggested="誥")
    check(filled, replace(page_result, flags=(other, *page_result.flags[1:])), info=info)
    with pytest.raises(ConflictError, match="stands otherwise"):
        filled.decisions.decide(seen)
    assert filled.decisions.history(1) == []
    assert filled.decisions.decide(replace(seen, suggested="誥")).reading == "誥"


def test_a_request_sent_again_is_answered_as_before_and_not_doubled(filled: Store) -> None:
    sent = demand(Verdict.TAKE)
    first = filled.decisions.decide(sent)
    filled.decisions.decide(demand(Verdict.COPY, 1))
    again = filled.decisions.decide(sent)
    assert again == replace(first, repeated=True)
    assert len(filled.decisions.history(1)) == 2


def test_a_key_that_was_used_for_another_decision_is_refused(filled: Store) -> None:
    sent = demand(Verdict.TYPED, reading="吉", note="一")
    filled.decisions.decide(sent)
    changes: list[dict[str, Any]] = [{"verdict": Verdict.KEEP}, {"flag": 2}, {"person": "乙"}]
    changes += [{"version": 1}, {"note": "另一"}, {"reading": "告"}]
    for change in changes:
        with pytest.raises(RefusedDecisionError, match="key"):
            filled.decisions.decide(replace(sent, **change))


def test_any_text_that_stays_in_its_line_is_a_reading(filled: Store) -> None:
    readings = ["&KR0058;", "[金*本]", "[(白-日)/七]", "⿰金本", "\U000323b0", "葛\U000e0100", "　", "□"]
    for version, reading in enumerate(readings):
        assert filled.decisions.decide(demand(Verdict.TYPED, version, reading=reading)).reading == reading


def test_a_reading_that_looks_like_a_slip_is_taken_once_it_is_confirmed(filled: Store) -> None:
    for version, (reading, reason) in enumerate(
        [
            ("⿰金", "incomplete description"),
            ("⿳", "incomplete description"),
            ("gao", "latin letters"),
            ("ａ", "latin letters"),
            ("告\ue000", "private use"),
            ("\U000f0000", "private use"),
        ]
    ):
        with pytest.raises(UnconfirmedReadingError) as refused:
            filled.decisions.decide(demand(Verdict.TYPED, version, reading=reading))
        assert (refused.value.reason, refused.value.http_status) == (reason, 428)
        assert len(filled.decisions.history(1)) == version
        made = filled.decisions.decide(demand(Verdict.TYPED, version, reading=reading, confirmed=True))
        assert made.reading == reading


def test_to_keep_the_text_where_the_copy_reads_otherwise_is_a_verdict_of_its_own(filled: Store) -> None:
    with pytest.raises(RefusedDecisionError, match="retain"):
        filled.decisions.decide(demand(Verdict.COPY, reading="吉"))
    stands = "告"
    with pytest.raises(RefusedDecisionError, match="copy"):
        filled.decisions.decide(demand(Verdict.RETAIN, reading=stands))
    made = filled.decisions.decide(demand(Verdict.RETAIN, reading="吉", authority="理校", note="一"))
    assert (made.state, made.reading, made.copy_reads, made.authority) == (State.RETAINED, stands, "吉", "理校")
    undone = filled.decisions.decide(demand(Verdict.UNDO, key="request-2", version=1))
    again = filled.decisions.decide(demand(Verdict.UNDO, key="request-3", version=2))
    assert (undone.state, undone.authority) == (State.OPEN, "")
    assert (again.state, again.copy_reads, again.authority, again.note) == (State.RETAINED, "吉", "理校", "一")


def test_a_decision_rests_on_what_its_flag_came_from_unless_it_says_otherwise(filled: Store) -> None:
    assert filled.decisions.decide(demand(Verdict.TAKE)).authority == "影像"
    assert filled.decisions.decide(demand(Verdict.TAKE, flag=2, key="request-2", authority="嚴本")).authority == "嚴本"
    assert filled.decisions.decide(demand(Verdict.KEEP, flag=3, key="request-3")).authority == ""


def test_what_is_not_there_and_what_makes_no_sense_is_refused(filled: Store) -> None:
    with pytest.raises(MissingFlagError):
        filled.decisions.decide(demand(Verdict.KEEP, flag=99))
    with pytest.raises(MissingFlagError):
        filled.decisions.decide(replace(demand(Verdict.KEEP), work="KR1d0031"))
    for wrong in (demand(Verdict.UNDO), demand(Verdict.OTHER), demand(Verdict.KEEP, key="x")):
        with pytest.raises(RefusedDecisionError):
            filled.decisions.decide(wrong)
    assert filled.decisions.last() == 0


def test_only_the_last_decision_can_be_taken_back(filled: Store) -> None:
    first = filled.decisions.decide(demand(Verdict.TAKE))
    filled.decisions.decide(demand(Verdict.KEEP, 1))
    with pytest.raises(RefusedDecisionError, match="last"):
        filled.decisions.decide(replace(demand(Verdict.UNDO, 2), undoes=first.id))


def test_many_are_decided_in_one_stroke_and_conflicts_stand_in_their_place(filled: Store) -> None:
    filled.decisions.decide(demand(Verdict.COPY, flag=2))
    asked = [demand(Verdict.KEEP, flag=flag, batch="stroke") for flag in (3, 2, 1)]
    outcomes = filled.decisions.decide_all(asked)
    assert [type(outcome) for outcome in outcomes] == [Decision, ConflictError, Decision]
    assert [outcome.flag for outcome in outcomes] == [3, 2, 1]
    assert {one.flag for one in filled.decisions.log(WORK) if one.batch == "stroke"} == {1, 3}
    again = filled.decisions.decide_all(asked)
    assert [isinstance(one, Decision) and one.repeated for one in again] == [True, False, True]


def test_the_log_goes_back_from_the_newest_and_people_are_counted(filled: Store) -> None:
    made = [filled.decisions.decide(demand(Verdict.SKIP, n, person="甲乙"[n % 2])) for n in range(5)]
    newest = filled.decisions.log(WORK, limit=2)
    assert newest == made[:2:-1]
    assert filled.decisions.log(WORK, before=newest[-1].id) == made[2::-1]
    assert filled.decisions.people(WORK) == {"甲": {Verdict.SKIP: 3}, "乙": {Verdict.SKIP: 2}}
    assert filled.decisions.log("KR1d0031") == []


def test_what_was_taken_back_is_not_counted_and_what_was_done_again_is_counted_once(filled: Store) -> None:
    filled.decisions.decide(demand(Verdict.KEEP, 0))
    filled.decisions.decide(demand(Verdict.UNDO, 1))
    assert filled.decisions.people(WORK) == {}
    assert filled.decisions.days(WORK) == {}
    filled.decisions.decide(demand(Verdict.UNDO, 2))
    assert filled.decisions.people(WORK) == {"甲": {Verdict.KEEP: 1}}
    filled.decisions.decide(demand(Verdict.SKIP, 3, person="乙"))
    assert filled.decisions.people(WORK) == {"甲": {Verdict.KEEP: 1}, "乙": {Verdict.SKIP: 1}}
    assert list(filled.decisions.days(WORK).values()) == [2]


def test_the_database_itself_refuses_to_alter_or_delete_a_decision(filled: Store) -> None:
    made = filled.decisions.decide(demand(Verdict.TAKE))
    engine = create_engine(filled._engine.url)
    for deed in ("UPDATE acts SET person = '乙'", "DELETE FROM acts"):
        with pytest.raises(DBAPIError, match="never altered"), engine.begin() as connection:
            connection.execute(text(deed))
    engine.dispose()
    assert filled.decisions.history(1) == [made]


def test_a_decision_is_kept_where_its_place_still_reads_so_though_no_flag_was_raised(
    filled: Store, info: RunInfo, page_result: PageResult
) -> None:
    made = filled.decisions.decide(demand(Verdict.TAKE))
    check(filled, replace(page_result, flags=()), info=info)
    assert list(filled.decisions.standing(WORK)) == [made]
    assert filled.decisions.displaced(WORK) == []


@pytest.mark.parametrize("source", ["射人(某具/于公)", "射人(告告具/于公)", "某", ""])
def test_a_decision_whose_place_was_changed_otherwise_is_listed(
    filled: Store, info: RunInfo, page_result: PageResult, source: str
) -> None:
    made = filled.decisions.decide(demand(Verdict.TAKE))
    columns = (CheckedColumn(1, page_result.columns[0].box, source),)
    check(filled, replace(page_result, flags=(), columns=columns), info=info)
    [lost] = filled.decisions.displaced(WORK)
    assert lost.decision == made
    check(filled, page_result, info=info)
    assert filled.decisions.displaced(WORK) == []
    assert list(filled.decisions.standing(WORK)) == [made]


def on_line(store: Store, info: RunInfo, page_result: PageResult, line: int) -> int:
    """Check the page again, with the place of the first flag on another line; gives the flag's number."""
    context = "射人([告]具/于"
    uid = flag_id(page_result.page, line, Kind.SUBSTITUTION, context, 0)
    here = replace(page_result.flags[0], line=line, context=context, id=uid)
    columns = (CheckedColumn(line, page_result.columns[0].box, page_result.columns[0].source),)
    check(store, replace(page_result, flags=(here,), columns=columns), info=info)
    [number], _ = store.queue.find(WORK, QueueFilter(), Order.PAGE)
    return number


def standing_at(store: Store, flag: int) -> tuple[State, str, int]:
    [here] = store.queue.flags(WORK, [flag])
    return here.state, here.reading, here.version


@pytest.mark.parametrize("lines", [(1, 2, 1), (1, 2, 3, 2)])
@pytest.mark.parametrize(
    ("verdict", "stands"), [(Verdict.KEEP, (State.KEPT, "告")), (Verdict.UNDO, (State.OPEN, "告"))]
)
def test_what_was_said_since_holds_where_a_place_comes_back(
    store: Store,
    info: RunInfo,
    page_result: PageResult,
    lines: tuple[int, ...],
    verdict: Verdict,
    stands: tuple[State, str],
) -> None:
    """A line put in above is taken out again, and in between somebody decided otherwise."""
    *before, last, back = lines
    for n, line in enumerate((*before, last)):
        number = on_line(store, info, page_result, line)
        if n == 0:
            store.decisions.decide(demand(Verdict.TAKE, flag=number))
    store.decisions.decide(demand(verdict, 1, number, person="乙"))
    number = on_line(store, info, page_result, back)
    assert standing_at(store, number) == (*stands, 2)
    store.decisions.decide(demand(Verdict.COPY, 2, number, person="丙"))
    assert standing_at(store, on_line(store, info, page_result, last))[0] is State.COPY
    assert standing_at(store, on_line(store, info, page_result, back)) == (State.COPY, "告", 3)


def test_flags_out_of_the_store_are_the_same_whatever_was_decided(filled: Store) -> None:
    before = list(filled.flags(WORK))
    filled.decisions.decide(demand(Verdict.TAKE))
    assert list(filled.flags(WORK)) == before


def small_store(folder: Path, flags: int) -> Store:
    """A store with one page of so many flags, whose writers wait for each other as long as they must."""
    store = Store.open(folder / "proof.sqlite", wait=PATIENCE)
    made = [flag_at(1, n, "告", "吿", id=f"flag{n}") for n in range(flags)]
    store.save_pages(store.begin_run(run_info(WORK)), [CheckedResult(PLACE, "", page(flags=made))])
    return store


@pytest.mark.slow
def test_many_writers_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    """Each sends each request twice, and all fight for the first flag too."""
    store, people, each = small_store(tmp_path, 41), 8, 5
    seen: list[Decision] = []
    beaten: list[ConflictError] = []

    def work(person: int) -> None:
        for n in range(each):
            mine = demand(Verdict.TAKE, 0, 2 + person * each + n, f"p{person}")
            first, again = store.decisions.decide(mine), store.decisions.decide(mine)
            assert not first.repeated
            assert again.repeated
            seen.append(first)
        for _ in range(2):
            version = len(store.decisions.history(1))
            try:
                seen.append(store.decisions.decide(demand(Verdict.COPY, version, 1, f"p{person}")))
            except ConflictError as conflict:
                beaten.append(conflict)

    writers = [threading.Thread(target=work, args=(person,)) for person in range(people)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(seen) + len(beaten) == people * (each + 2)
    kept = store.decisions.log(WORK, limit=1000)
    assert sorted(one.id for one in kept) == sorted(one.id for one in seen)
    versions = [one.version for one in store.decisions.history(1)]
    assert versions == list(range(1, len(versions) + 1))
    store.close()


KILLED = """
import sys, uuid
from pathlib import Path
from proof.store import Store
from proof.store.decision_records import (DecisionRequest, Verdict)
store = Store.open(Path(sys.argv[1]))
for flag in range(1, 2001):
    made = store.decisions.decide(DecisionRequest("KR1d0030", flag, Verdict.TAKE, 0, "甲", uuid.uuid4().hex))
    print(made.id, flush=True)
"""


@pytest.mark.slow
def test_every_acknowledged_decision_survives_a_kill(tmp_path: Path) -> None:
    small_store(tmp_path, 2000).close()
    command = [sys.executable, "-c", KILLED, str(tmp_path / "proof.sqlite")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:  # noqa: S603
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(40)]
        time.sleep(0.05)
        writer.kill()
        acknowledged += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    with Store.open(tmp_path / "proof.sqlite") as store:
        kept = {one.id for one in store.decisions.log(WORK, limit=5000)}
        assert kept >= set(acknowledged)
        assert len(kept) <= len(acknowledged) + 1


def test_states_that_need_nobody_again_are_named() -> None:
    assert set(State) - SETTLED == {State.OPEN, State.UNSURE, State.SKIPPED}


def test_who_does_not_overrule_others_takes_back_only_what_they_decided(filled: Store) -> None:
    made = filled.decisions.decide(demand(Verdict.TAKE, person="甲"))
    back = replace(demand(Verdict.UNDO, 1, person="乙"), overrules=False)
    with pytest.raises(NotYoursError, match="甲 decided it; they or an administrator"):
        filled.decisions.decide(back)
    with pytest.raises(NotYoursError):
        filled.decisions.decide_all([replace(demand(Verdict.KEEP, flag=2, person="乙"), overrules=False), back])
    assert filled.decisions.log(WORK) == [made]
    anew = filled.decisions.decide(replace(demand(Verdict.KEEP, 1, person="乙"), overrules=False))
    assert filled.decisions.decide(replace(demand(Verdict.UNDO, 2, person="乙"), overrules=False)).about == anew.id
    assert filled.decisions.decide(demand(Verdict.UNDO, 3, person="丙")).person == "丙"


def test_a_moment_of_a_store_stays_as_it_was_while_people_go_on(filled: Store) -> None:
    made = filled.decisions.decide(DecisionRequest("KR1d0030", 1, Verdict.TAKE, 0, "甲", "request-0001"))
    with filled.at_one_moment() as then:
        later = filled.decisions.decide(DecisionRequest("KR1d0030", 2, Verdict.KEEP, 0, "乙", "request-0002"))
        filled.decisions.decide(DecisionRequest("KR1d0030", 1, Verdict.UNDO, 1, "甲", "request-0003"))
        assert list(then.decisions.standing("KR1d0030")) == [made]
        assert then.decisions.log("KR1d0030") == [made]
    assert list(filled.decisions.standing("KR1d0030")) == [later]


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
