"""A moved character, 衍 at one place and 脫 at another, is one question: asked once, decided once, undone once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from proof.model.flags import Kind
from proof.model.geometry import Box
from proof.model.result import CheckedColumn, PageResult
from proof.store import Store
from proof.store.decision_chains import REQUESTER, Requester
from proof.store.decision_records import State, Verdict
from proof.store.manual_corrections import ManualCorrection
from proof.store.queue_records import Order, QueuedFlag, QueueFilter
from tests.build import check, decide, flag, key, page, queued
from tests.store.conftest import on_both

WORK, PAGE = "KR1", "p0"
SOURCES = ("甲乙告丙丁", "戊己庚辛壬")
OUT, INTO, OTHER = 1, 2, 3
"""The numbers of the flags: 告 at its transcribed place, at its place on the image, and another finding."""


def moved(above: str = "") -> PageResult:
    """A page on which 告 is in the third column and belongs into the fourth; with a line inserted `above`, all flags
    have new ids."""
    first = 4 if above else 3
    flags_by_id = {
        "out": flag(first, 2, "告", "", name=PAGE, source=SOURCES[0], moved=f"{above}in"),
        "in": flag(first + 1, 2, "", "告", name=PAGE, source=SOURCES[1], moved=f"{above}out", score=4.0),
        "own": flag(first + 1, 4, "壬", "字", name=PAGE, source=SOURCES[1], score=3.0),
    }
    flags = tuple(replace(flag, id=above + uid) for uid, flag in flags_by_id.items())
    columns = tuple(CheckedColumn(first + n, Box(100 * n, 0, 90, 100), source) for n, source in enumerate(SOURCES))
    return replace(page(name=PAGE), columns=columns, flags=flags)


@pytest.fixture
def filled(store: Store) -> Store:
    check(store, moved())
    return store


@pytest.fixture(params=[False, True], ids=["seen by all", "read blind"])
def requester(request: pytest.FixtureRequest) -> Iterator[None]:
    """The reader 甲, with decisions that everybody sees, or blind."""
    token = REQUESTER.set(Requester("甲", blind=request.param))
    yield
    REQUESTER.reset(token)


def flags(store: Store) -> dict[int, QueuedFlag]:
    return {shown.number: shown for shown in queued(store, raised=None, halves=True)}


def stand(store: Store) -> tuple[tuple[State, str], tuple[State, str]]:
    """The states and readings of the two halves."""
    found = sorted(flags(store).values(), key=lambda shown: shown.number)
    out, into = [match for match in found if match.flag.moved]
    return (out.state, out.reading), (into.state, into.reading)


def asked(store: Store, *states: State) -> list[int]:
    return store.queue.find(WORK, QueueFilter(states=states), Order.SCORE)[0]


OPEN = ((State.OPEN, "告"), (State.OPEN, ""))
TAKEN = ((State.CORRECTED, ""), (State.CORRECTED, "告"))
KEPT = ((State.KEPT, "告"), (State.KEPT, ""))


@on_both
def test_a_moved_character_is_one_question_in_the_queue_and_in_every_count(filled: Store) -> None:
    everything = QueueFilter()
    assert asked(filled) == [OUT, OTHER]
    assert filled.queue.facets(WORK, everything).total == 2
    assert filled.queue.facets(WORK, everything).kinds[Kind.INSERTION] == 1
    assert filled.queue.work(WORK).states[State.OPEN] == 2
    assert [(page.flags, page.open) for page in filled.queue.pages(WORK)] == [(2, 2)]
    assert [pair.count for pair in filled.queue.pairs(WORK, everything)] == [1, 1]
    assert len(filled.queue.scores(WORK, everything)[0]) == 2
    decide(filled, OUT, Verdict.TAKE)
    assert filled.queue.work(WORK).states == dict.fromkeys(State, 0) | {State.OPEN: 1, State.CORRECTED: 1}
    assert [(juan.flagged, juan.settled, juan.confirmed) for juan in filled.queue.juans(WORK)] == [(2, 1, 1)]


@on_both
def test_the_second_half_is_shown_if_the_first_does_not_match_the_filter(filled: Store) -> None:
    assert filled.queue.find(WORK, QueueFilter(kinds=(Kind.OMISSION,)), Order.PAGE)[0] == [INTO]
    assert filled.queue.find(WORK, QueueFilter(most_score=4.5), Order.PAGE)[0] == [INTO, OTHER]
    assert sorted(filled.queue.find(WORK, QueueFilter(halves=True), Order.PAGE)[0]) == [OUT, INTO, OTHER]


@on_both
@pytest.mark.usefixtures("requester")
@pytest.mark.parametrize("half", [OUT, INTO])
def test_undo_and_redo_apply_to_both_halves_as_one_act(filled: Store, half: int) -> None:
    decide(filled, OTHER, Verdict.KEEP)
    decide(filled, half, Verdict.TAKE)
    assert stand(filled) == TAKEN
    for _ in range(2):
        undone = filled.acts.undo(WORK, "甲", key())
        assert sorted(decision.flag for decision in undone.decisions) == [OUT, INTO]
        assert stand(filled) == OPEN
        done = filled.acts.redo(WORK, "甲", key())
        assert sorted(decision.flag for decision in done.decisions) == [OUT, INTO]
        assert stand(filled) == TAKEN
    assert flags(filled)[OTHER].state is State.KEPT


@pytest.mark.usefixtures("requester")
@pytest.mark.parametrize(("half", "before"), [(OUT, Verdict.KEEP), (INTO, Verdict.SKIP)])
def test_a_changed_decision_changes_both_halves(filled: Store, half: int, before: Verdict) -> None:
    decide(filled, OUT, before)
    decide(filled, half, Verdict.TAKE)
    assert stand(filled) == TAKEN
    version = flags(filled)[half].version
    decide(filled, half, Verdict.UNDO)
    assert stand(filled)[0][0] is stand(filled)[1][0] is not State.CORRECTED
    decide(filled, half, Verdict.UNDO, undoes_version=version - 1)
    assert stand(filled) == OPEN


@pytest.mark.parametrize("half", [OUT, INTO])
def test_a_typed_reading_decides_one_half_only(filled: Store, half: int) -> None:
    other = OUT + INTO - half
    decide(filled, half, Verdict.TYPED, reading="誥")
    assert flags(filled)[other].state is State.OPEN
    assert sorted(asked(filled, State.OPEN)) == sorted([other, OTHER])
    decide(filled, other, Verdict.TAKE, person="乙")
    assert flags(filled)[half].reading == "誥"
    assert sorted(asked(filled, State.CORRECTED)) == [OUT, INTO], "two corrections that are not one move are two"
    filled.acts.undo(WORK, "乙", key())
    assert flags(filled)[half].reading == "誥"
    filled.acts.undo(WORK, "甲", key())
    assert stand(filled) == OPEN
    assert asked(filled, State.OPEN) == [OUT, OTHER]


@pytest.mark.parametrize("batch", ["", "one-act"])
def test_a_half_with_a_decision_of_its_own_is_not_changed_with_the_other(filled: Store, batch: str) -> None:
    """Even if both decisions are in one batch."""
    decide(filled, OUT, Verdict.KEEP, batch=batch)
    decide(filled, INTO, Verdict.TYPED, reading="誥", batch=batch)
    decide(filled, OUT, Verdict.TAKE)
    assert stand(filled) == ((State.CORRECTED, ""), (State.CORRECTED, "誥"))


@pytest.mark.parametrize("by_hand", [True, False], ids=["corrected by hand", "kept"])
def test_a_half_with_a_character_that_was_decided_alone_is_asked_separately(store: Store, by_hand: bool) -> None:
    lines = ("上若有大夫士與為耦", "次行")
    into, out = flag(1, 3, "", "士與", source=lines[0]), flag(1, 5, "士與", "", source=lines[0])
    alone = flag(1, 5, "士", "土", source=lines[0])
    check(store, page(*lines, flags=(replace(into, moved=out.id), replace(out, moved=into.id), alone)))
    (first, second, third) = flags(store)
    if by_hand:
        store.manual_corrections.correct(ManualCorrection(WORK, 1, 1, 6, 1, "某", "甲", key()))
    else:
        decide(store, third, Verdict.KEEP)
    decide(store, first, Verdict.TAKE)
    assert (flags(store)[first].state, flags(store)[second].state) == (State.CORRECTED, State.OPEN)
    assert second in asked(store, State.OPEN)


@on_both
@pytest.mark.parametrize("by_acts", [True, False])
def test_a_new_check_keeps_decided_halves_together(filled: Store, by_acts: bool) -> None:
    decide(filled, OUT, Verdict.TAKE)
    check(filled, moved("new-"))
    assert stand(filled) == TAKEN
    assert sorted(shown.flag.id for shown in flags(filled).values()) == ["in", "out", "own"]
    assert len(asked(filled, State.CORRECTED)) == 1
    if by_acts:
        filled.acts.undo(WORK, "甲", key())
        assert stand(filled) == OPEN
        filled.acts.redo(WORK, "甲", key())
        assert stand(filled) == TAKEN
        return
    decide(filled, min(shown for shown in flags(filled)), Verdict.KEEP)
    assert stand(filled) == KEPT
    decide(filled, max(shown.number for shown in flags(filled).values() if shown.flag.moved), Verdict.UNDO)
    assert stand(filled) == TAKEN


def test_what_the_copy_reads_is_said_of_one_half_where_nothing_could_be_read_at_the_other(store: Store) -> None:
    """Two glyphs that the text lacks, one of them unread, around the end of a column."""
    lines = ("甲乙", "丙丁")
    unread = flag(1, 2, "", "", name=PAGE, source=lines[0])
    read = flag(2, 0, "", "一", name=PAGE, source=lines[1], moved=unread.id)
    check(store, page(*lines, name=PAGE, flags=[replace(unread, moved=read.id), read]))
    decide(store, 2, Verdict.RETAIN, reading="玄")
    assert {number: shown.state for number, shown in flags(store).items()} == {1: State.OPEN, 2: State.RETAINED}
