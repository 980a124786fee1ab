"""A character that moved, 衍 here and 脫 there, is one question: asked once, decided once, taken back once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from proof.model.flags import Kind
from proof.model.geometry import Box
from proof.model.result import CheckedColumn, PageResult
from proof.store import Store
from proof.store.chains import LOOKER, Looker
from proof.store.decision_records import State, Verdict
from proof.store.manual_corrections import ManualCorrection
from proof.store.queue_records import Order, QueuedFlag, QueueFilter
from tests.build import check, decide, flag, key, page, queued
from tests.store.conftest import on_both

WORK, PAGE = "KR1", "p0"
SOURCES = ("甲乙告丙丁", "戊己庚辛壬")
OUT, INTO, OTHER = 1, 2, 3
"""The numbers of the flags: 告 where it stands, where it belongs, and another finding."""


def moved(above: str = "") -> PageResult:
    """告 stands in the third column and belongs into the fourth; with a line put in above, each has a new id."""
    first = 4 if above else 3
    made = {
        "out": flag(first, 2, "告", "", name=PAGE, source=SOURCES[0], moved=f"{above}in"),
        "in": flag(first + 1, 2, "", "告", name=PAGE, source=SOURCES[1], moved=f"{above}out", score=4.0),
        "own": flag(first + 1, 4, "壬", "字", name=PAGE, source=SOURCES[1], score=3.0),
    }
    flags = tuple(replace(one, id=above + uid) for uid, one in made.items())
    columns = tuple(CheckedColumn(first + n, Box(100 * n, 0, 90, 100), source) for n, source in enumerate(SOURCES))
    return replace(page(name=PAGE), columns=columns, flags=flags)


@pytest.fixture
def filled(store: Store) -> Store:
    check(store, moved())
    return store


@pytest.fixture(params=[False, True], ids=["seen by all", "read blind"])
def looker(request: pytest.FixtureRequest) -> Iterator[None]:
    """甲, whose decisions all see, or who reads blind."""
    token = LOOKER.set(Looker("甲", blind=request.param))
    yield
    LOOKER.reset(token)


def flags(store: Store) -> dict[int, QueuedFlag]:
    return {one.number: one for one in queued(store, raised=None, halves=True)}


def stand(store: Store) -> tuple[tuple[State, str], tuple[State, str]]:
    """Where the two halves stand, and what is to be read there."""
    found = sorted(flags(store).values(), key=lambda one: one.number)
    out, into = [one for one in found if one.flag.moved]
    return (out.state, out.reading), (into.state, into.reading)


def asked(store: Store, *states: State) -> list[int]:
    return store.queue.find(WORK, QueueFilter(states=states), Order.SCORE)[0]


OPEN = ((State.OPEN, "告"), (State.OPEN, ""))
TAKEN = ((State.CORRECTED, ""), (State.CORRECTED, "告"))
KEPT = ((State.KEPT, "告"), (State.KEPT, ""))


@on_both
def test_it_is_one_question_in_the_queue_and_in_every_count(filled: Store) -> None:
    everything = QueueFilter()
    assert asked(filled) == [OUT, OTHER]
    assert filled.queue.facets(WORK, everything).total == 2
    assert filled.queue.facets(WORK, everything).kinds[Kind.INSERTION] == 1
    assert filled.queue.work(WORK).states[State.OPEN] == 2
    assert [(one.flags, one.open) for one in filled.queue.pages(WORK)] == [(2, 2)]
    assert [one.count for one in filled.queue.pairs(WORK, everything)] == [1, 1]
    assert len(filled.queue.scores(WORK, everything)[0]) == 2
    decide(filled, OUT, Verdict.TAKE)
    assert filled.queue.work(WORK).states == dict.fromkeys(State, 0) | {State.OPEN: 1, State.CORRECTED: 1}
    assert [(one.flagged, one.settled, one.confirmed) for one in filled.queue.juans(WORK)] == [(2, 1, 1)]


@on_both
def test_the_second_half_is_shown_where_the_first_is_not_wanted(filled: Store) -> None:
    assert filled.queue.find(WORK, QueueFilter(kinds=(Kind.OMISSION,)), Order.PAGE)[0] == [INTO]
    assert filled.queue.find(WORK, QueueFilter(most_score=4.5), Order.PAGE)[0] == [INTO, OTHER]
    assert sorted(filled.queue.find(WORK, QueueFilter(halves=True), Order.PAGE)[0]) == [OUT, INTO, OTHER]


@on_both
@pytest.mark.usefixtures("looker")
@pytest.mark.parametrize("half", [OUT, INTO])
def test_z_takes_back_both_halves_as_one_act_and_y_does_both_again(filled: Store, half: int) -> None:
    decide(filled, OTHER, Verdict.KEEP)
    decide(filled, half, Verdict.TAKE)
    assert stand(filled) == TAKEN
    for _ in range(2):
        undone = filled.acts.undo(WORK, "甲", key())
        assert sorted(one.flag for one in undone.decisions) == [OUT, INTO]
        assert stand(filled) == OPEN
        done = filled.acts.redo(WORK, "甲", key())
        assert sorted(one.flag for one in done.decisions) == [OUT, INTO]
        assert stand(filled) == TAKEN
    assert flags(filled)[OTHER].state is State.KEPT


@pytest.mark.usefixtures("looker")
@pytest.mark.parametrize(("half", "before"), [(OUT, Verdict.KEEP), (INTO, Verdict.SKIP)])
def test_who_thinks_better_of_it_changes_both_halves(filled: Store, half: int, before: Verdict) -> None:
    decide(filled, OUT, before)
    decide(filled, half, Verdict.TAKE)
    assert stand(filled) == TAKEN
    version = flags(filled)[half].version
    decide(filled, half, Verdict.UNDO)
    assert stand(filled)[0][0] is stand(filled)[1][0] is not State.CORRECTED
    decide(filled, half, Verdict.UNDO, undoes_version=version - 1)
    assert stand(filled) == OPEN


@pytest.mark.parametrize("half", [OUT, INTO])
def test_what_one_typed_at_one_half_is_of_that_place_alone(filled: Store, half: int) -> None:
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
def test_what_was_said_of_both_and_then_of_one_half_is_not_changed_with_the_other(filled: Store, batch: str) -> None:
    """Nor where both were said in one act."""
    decide(filled, OUT, Verdict.KEEP, batch=batch)
    decide(filled, INTO, Verdict.TYPED, reading="誥", batch=batch)
    decide(filled, OUT, Verdict.TAKE)
    assert stand(filled) == ((State.CORRECTED, ""), (State.CORRECTED, "誥"))


def test_a_half_of_which_a_character_was_corrected_by_hand_is_asked_by_itself(store: Store) -> None:
    lines = ("上若有大夫士與為耦", "次行")
    into, out = flag(1, 3, "", "士與", source=lines[0]), flag(1, 5, "士與", "", source=lines[0])
    check(store, page(*lines, flags=(replace(into, moved=out.id), replace(out, moved=into.id))))
    (first, second) = flags(store)
    by_hand = ManualCorrection(WORK, 1, 1, 5, 1, "某", "甲", key())
    store.manual_corrections.correct(by_hand)
    decide(store, first, Verdict.TAKE)
    assert (flags(store)[first].state, flags(store)[second].state) == (State.CORRECTED, State.OPEN)
    assert second in asked(store, State.OPEN)


@on_both
@pytest.mark.parametrize("by_acts", [True, False])
def test_a_check_that_carries_decisions_over_keeps_the_halves_together(filled: Store, by_acts: bool) -> None:
    decide(filled, OUT, Verdict.TAKE)
    check(filled, moved("new-"))
    assert stand(filled) == TAKEN
    assert sorted(one.flag.id for one in flags(filled).values()) == ["in", "out", "own"]
    assert len(asked(filled, State.CORRECTED)) == 1
    if by_acts:
        filled.acts.undo(WORK, "甲", key())
        assert stand(filled) == OPEN
        filled.acts.redo(WORK, "甲", key())
        assert stand(filled) == TAKEN
        return
    decide(filled, min(one for one in flags(filled)), Verdict.KEEP)
    assert stand(filled) == KEPT
    decide(filled, max(one.number for one in flags(filled).values() if one.flag.moved), Verdict.UNDO)
    assert stand(filled) == TAKEN
