"""Each person takes back what they did last, on whatever view; exactly, or not at all, and the history keeps it all."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from sqlalchemy import select

from proof.store import Store
from proof.store.acts import ChangedError, NothingLeftError, What
from proof.store.decision_records import (
    ConflictError,
    NotYoursError,
    RefusedDecisionError,
    State,
    Verdict,
)
from proof.store.lookup import PageConflictError
from proof.store.manual_corrections import ManualCorrection
from proof.store.models import DecisionRow, LayoutOverrideRow, PageEventRow, RuleRow
from proof.store.page_states import PageState
from proof.store.queue_records import Order, QueueFilter
from tests.build import check, decide, demand, flag, key, page
from tests.standing import standing_decisions
from tests.store.conftest import on_both
from tests.wide import examples

WORK, SOURCE, FLAGS, PAGES = "KR1", "甲乙丙丁戊己庚辛壬癸", 4, 2


def fill(store: Store) -> None:
    """Two pages of one column with a flag at each of its first four characters, all of one pair."""
    pages = [
        (name, [flag(1, n, SOURCE[n], "字", name=name, id=f"f{n}") for n in range(FLAGS)]) for name in ("p0", "p1")
    ]
    check(store, *(page(SOURCE, name=name, flags=flags) for name, flags in pages))


@pytest.fixture
def filled(store: Store) -> Store:
    fill(store)
    return store


def seen(store: Store) -> dict[str, Any]:
    """All that anybody can see of where a work stands: flags, pages and rules."""
    numbers, _ = store.queue.find(WORK, QueueFilter(raised=None), Order.PAGE, limit=10_000)
    return {
        "flags": [(one.number, one.state, one.reading) for one in store.queue.flags(WORK, numbers)],
        "pages": [(one.number, one.state, one.flags, one.open) for one in store.queue.pages(WORK)],
        "rules": {(one.transcribed, one.suggested) for one in store.rules.of_work(WORK)},
        "standing": sorted((one.flag, one.state, one.reading) for one in standing_decisions(store, WORK)),
        "layouts": {
            place: (one.layout, one.image, one.quadrant) for place, one in store.layout_overrides.of_work(WORK).items()
        },
    }


def events(store: Store) -> set[tuple[Any, ...]]:
    """All that was ever said, with who said it."""
    tables: list[Any] = [DecisionRow, RuleRow, PageEventRow, LayoutOverrideRow]
    with store._reading() as session:
        return {
            (table.__tablename__, row.id, row.person, row.about)
            for table in tables
            for row in session.scalars(select(table))
        }


def lay_out(store: Store, page: int, image: str, person: str = "甲") -> None:
    """Have a page read from an image, or, with none, as it is found."""
    version = len(store.layout_overrides.history(WORK, page))
    store.layout_overrides.set(WORK, page, None, image, "", version=version, person=person, key=key())


@on_both
def test_what_one_did_last_is_taken_back_whatever_it_was(filled: Store) -> None:
    """After a rule, its setter's undo lifts the rule and leaves the decisions."""
    states = [seen(filled)]

    def did(what: object) -> None:
        assert what is not None
        states.append(seen(filled))

    did(decide(filled, 1, Verdict.TAKE))
    did(filled.decisions.decide_all([demand(n, Verdict.KEEP, batch="stroke-0001") for n in (2, 3, 4)]))
    did(filled.manual_corrections.correct(ManualCorrection(WORK, 1, 1, 6, 1, "", "甲", key(), Verdict.DELETE)))
    did(filled.page_states.set(WORK, 1, PageState.PROOFREAD, 0, "甲", key()))
    filled.rules.set(WORK, "甲", "字", True, "甲")
    did("a rule")
    lay_out(filled, 1, "other.png")
    did("an image")
    lay_out(filled, 1, "third.png")
    did("another image")
    filled.decisions.decide(demand(7, Verdict.COPY, person="乙"))

    back = []
    for state in states[-2::-1]:
        back.append(filled.acts.undo(WORK, "甲", key()))
        now = seen(filled)
        assert now["rules"] == state["rules"]
        assert [one for one in now["standing"] if one[0] != 7] == state["standing"]
        assert [one[:2] for one in now["pages"]] == [one[:2] for one in state["pages"]]
        assert now["layouts"] == state["layouts"]
    assert [one.what for one in back] == [*[What.LAYOUT] * 2, What.RULE, What.PAGE, *[What.DECISIONS] * 3]
    assert [len(one.decisions) for one in back] == [0, 0, 0, 0, 1, 3, 1]
    assert [one.laid_out for one in back[:3]] == [1, 1, None]
    with pytest.raises(NothingLeftError):
        filled.acts.undo(WORK, "甲", key())
    assert filled.acts.undo(WORK, "乙", key()).decisions[0].flag == 7
    assert seen(filled) == states[0]


def test_what_was_taken_back_is_done_again_until_something_new_is_done(filled: Store) -> None:
    decide(filled, 1, Verdict.TAKE)
    for act in (filled.acts.undo, filled.acts.redo, filled.acts.undo, filled.acts.redo):
        act(WORK, "甲", key())
    history = filled.decisions.history(1)
    verdicts = [one.verdict for one in history]
    assert verdicts == [Verdict.TAKE, Verdict.UNDO, Verdict.REDO, Verdict.UNDO, Verdict.REDO]
    assert history[-1].reading == "字"
    for new in (False, True):
        if new:
            filled.acts.undo(WORK, "甲", key())
            decide(filled, 2, Verdict.KEEP)
        with pytest.raises(NothingLeftError):
            filled.acts.redo(WORK, "甲", key())


@on_both
def test_what_another_changed_meanwhile_is_not_taken_back_and_they_are_named(filled: Store) -> None:
    decide(filled, 2, Verdict.KEEP)
    filled.decisions.decide_all([demand(n, Verdict.KEEP, batch="stroke-0001") for n in (1, 3)])
    decide(filled, 1, Verdict.COPY, "王")
    before, said = seen(filled), events(filled)
    with pytest.raises(ChangedError, match="changed by 王 in the meantime"):
        filled.acts.undo(WORK, "甲", key())
    assert (seen(filled), events(filled)) == (before, said)
    left = [filled.acts.undo(WORK, "甲", key(), leave=True) for _ in range(2)]
    assert [[one.flag for one in undone.decisions] for undone in left] == [[3], [2]]
    assert [one.verdict for one in filled.decisions.history(1)] == [Verdict.KEEP, Verdict.COPY]


def test_what_another_changed_and_took_back_is_no_hindrance(filled: Store) -> None:
    for number in (1, 2):
        decide(filled, number, Verdict.TAKE)
        decide(filled, number, Verdict.COPY, "王")
        filled.acts.undo(WORK, "王", key())
    decide(filled, 2, Verdict.KEEP, "乙")
    with pytest.raises(ChangedError) as refused:
        filled.acts.undo(WORK, "甲", key())
    assert refused.value.people == ("乙",)
    filled.acts.undo(WORK, "乙", key())
    undone = [filled.acts.undo(WORK, "甲", key()).decisions[0] for _ in range(2)]
    assert [(one.flag, one.state) for one in undone] == [(2, State.OPEN), (1, State.OPEN)]


@on_both
def test_a_rule_a_page_and_a_layout_that_others_changed_since_are_theirs(filled: Store) -> None:
    say = filled.page_states.set
    changes: dict[str, Callable[[int, str], object]] = {
        "rule": lambda n, person: filled.rules.set(WORK, "甲", "字", not n, person),
        "page": lambda n, person: say(WORK, 1, (PageState.PROOFREAD, PageState.VALIDATED)[n], n, person, key()),
        "layout": lambda n, person: lay_out(filled, 1, f"{n}.png", person),
    }
    for change in changes.values():
        untouched = seen(filled)
        change(0, "甲")
        once = seen(filled)
        change(1, "王")
        with pytest.raises(ChangedError, match="王"):
            filled.acts.undo(WORK, "甲", key())
        filled.acts.undo(WORK, "王", key())
        assert seen(filled) == once
        filled.acts.undo(WORK, "甲", key())
        assert seen(filled) == untouched
        assert filled.acts.redo(WORK, "甲", key()).again
        assert seen(filled) == once


def test_a_validation_taken_back_leaves_the_page_proofread_by_who_proofread_it(filled: Store) -> None:
    say = filled.page_states.set
    say(WORK, 1, PageState.PROOFREAD, 0, "甲", key())
    say(WORK, 1, PageState.VALIDATED, 1, "乙", key())
    filled.acts.undo(WORK, "乙", key())
    with pytest.raises(RefusedDecisionError, match="someone else must validate"):
        say(WORK, 1, PageState.VALIDATED, 3, "甲", key())
    say(WORK, 1, PageState.VALIDATED, 3, "乙", key())


def test_an_administrator_takes_back_that_they_took_anothers_decision_back(filled: Store) -> None:
    decide(filled, 1, Verdict.TAKE)
    decide(filled, 1, Verdict.UNDO, "王")
    with pytest.raises(ChangedError, match="王"):
        filled.acts.undo(WORK, "甲", key())
    filled.acts.undo(WORK, "王", key())
    assert filled.decisions.history(1)[-1].reading == "字"
    filled.acts.redo(WORK, "王", key())
    assert [one.verdict for one in filled.decisions.history(1)][1:] == [Verdict.UNDO, Verdict.REDO, Verdict.UNDO]


def test_who_may_not_set_rules_takes_none_back(filled: Store) -> None:
    filled.rules.set(WORK, "甲", "字", True, "甲")
    with pytest.raises(NotYoursError, match="right to set rules"):
        filled.acts.undo(WORK, "甲", key(), rules=False)
    assert len(filled.rules.of_work(WORK)) == 1


@on_both
def test_a_request_sent_again_takes_back_nothing_more(filled: Store) -> None:
    """Of all kinds of acts but comments, which are answered and not undone."""
    decide(filled, 2, Verdict.KEEP)
    does: dict[What, Callable[[], object]] = {
        What.DECISIONS: lambda: filled.decisions.decide_all(
            [demand(n, Verdict.KEEP, batch="stroke-0001") for n in (1, 3)]
        ),
        What.RULE: lambda: filled.rules.set(WORK, "甲", "字", True, "甲"),
        What.LAYOUT: lambda: lay_out(filled, 1, "other.png"),
        What.PAGE: lambda: filled.page_states.set(WORK, 1, PageState.PROOFREAD, 0, "甲", key()),
    }
    assert does.keys() == set(What) - {What.COMMENT}
    for what, do in does.items():
        do()
        first = filled.acts.undo(WORK, "甲", f"request-{what}")
        said = events(filled)
        again = filled.acts.undo(WORK, "甲", f"request-{what}")
        assert (again.what, again.repeated, events(filled)) == (what, True, said)
        assert [one.id for one in again.decisions] == [one.id for one in first.decisions]
        with pytest.raises(RefusedDecisionError, match="this key"):
            filled.acts.undo(WORK, "乙", f"request-{what}")


@on_both
def test_a_key_is_one_requests_whatever_it_asked_for(filled: Store) -> None:
    """What is asked for under the key of another act is refused, and changes nothing."""
    asks: dict[str, Callable[[str], object]] = {
        "decide": lambda key: filled.decisions.decide(demand(1, Verdict.TAKE, key=key)),
        "page": lambda key: filled.page_states.set(WORK, 1, PageState.PROOFREAD, 0, "甲", key),
        "layout": lambda key: filled.layout_overrides.set(WORK, 1, None, "", "", version=0, person="甲", key=key),
        "undo": lambda key: filled.acts.undo(WORK, "甲", key),
        "redo": lambda key: filled.acts.redo(WORK, "甲", key),
    }
    used = {name: f"{name}-0001" for name in asks}
    for name, ask in asks.items():
        ask(used[name])
    asks["many"] = lambda key: filled.decisions.decide_all([demand(2, Verdict.TAKE, key=key)])
    asks["correct"] = lambda key: filled.manual_corrections.correct(ManualCorrection(WORK, 2, 1, 7, 1, "某", "甲", key))
    before = events(filled)
    for name, ask in asks.items():
        for of, key_of_other in used.items():
            if name != of:
                with pytest.raises(RefusedDecisionError, match="used for something else"):
                    ask(key_of_other)
    assert events(filled) == before


PEOPLE = st.sampled_from(["甲", "乙", "丙"])
VERDICTS = [Verdict.KEEP, Verdict.TAKE, Verdict.TYPED, Verdict.DELETE, Verdict.COPY, Verdict.UNSURE, Verdict.SKIP]
NUMBERS = st.integers(1, FLAGS * PAGES)


class People(RuleBasedStateMachine):
    """Several people decide, rule, correct, say where pages stand and take back, in any order.

    `acts` are the last ones that nobody undid, each with who did it and how all stood before and after; `now` is how
    all stands, `said` all that was ever said.
    """

    template: Path

    def __init__(self) -> None:
        super().__init__()
        self.folder = self.template.parent / uuid.uuid4().hex
        self.folder.mkdir()
        shutil.copy(self.template, self.folder / "proof.sqlite")
        self.store = Store.open(self.folder / "proof.sqlite")
        self.said, self.now = events(self.store), seen(self.store)
        self.acts: list[tuple[str, dict[str, Any], dict[str, Any]]] = []

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    def there_and_back(self, person: str) -> None:
        """What `person` did last is taken back and done again: all is as it was."""
        self.store.acts.undo(WORK, person, key())
        self.store.acts.redo(WORK, person, key())
        assert seen(self.store) == self.now

    def act(self, person: str, does: Any) -> None:
        try:
            does()
        except (ConflictError, PageConflictError, RefusedDecisionError):
            assert (seen(self.store), events(self.store)) == (self.now, self.said)
            return
        if events(self.store) != self.said:
            before, self.now = self.now, seen(self.store)
            self.acts.append((person, before, self.now))
            self.there_and_back(person)

    def version(self, flag: int) -> int:
        return len(self.store.decisions.history(flag))

    @rule(person=PEOPLE, flag=NUMBERS, verdict=st.sampled_from(VERDICTS))
    def decide(self, person: str, flag: int, verdict: Verdict) -> None:
        reading = "吿" if verdict is Verdict.TYPED else ""
        one = demand(flag, verdict, self.version(flag), person, reading=reading)
        self.act(person, lambda: self.store.decisions.decide(one))

    @rule(person=PEOPLE, flags=st.sets(NUMBERS, min_size=1), verdict=st.sampled_from(VERDICTS[:2]))
    def stroke(self, person: str, flags: set[int], verdict: Verdict) -> None:
        batch = key()
        all_of_them = [demand(flag, verdict, self.version(flag), person, batch=batch) for flag in sorted(flags)]
        self.act(person, lambda: self.store.decisions.decide_all(all_of_them))

    @rule(person=PEOPLE, page=st.integers(1, PAGES), offset=st.integers(FLAGS, 9), reading=st.sampled_from(["", "龍"]))
    def correct(self, person: str, page: int, offset: int, reading: str) -> None:
        mark = ManualCorrection(
            WORK, page, 1, offset, 1, reading, person, key(), verdict=Verdict.TYPED if reading else Verdict.DELETE
        )
        self.act(person, lambda: self.store.manual_corrections.correct(mark))

    @rule(person=PEOPLE, text=st.sampled_from(SOURCE[:2]), holds=st.booleans())
    def ruled(self, person: str, text: str, holds: bool) -> None:
        self.act(person, lambda: self.store.rules.set(WORK, text, "字", holds, person))

    @rule(person=PEOPLE, page=st.integers(1, PAGES), state=st.sampled_from(PageState))
    def said_of_page(self, person: str, page: int, state: PageState) -> None:
        version = len(self.store.page_states.history(WORK, page))
        self.act(person, lambda: self.store.page_states.set(WORK, page, state, version, person, key()))

    @rule(person=PEOPLE, page=st.integers(1, PAGES), image=st.sampled_from(["", "1.png", "2.png"]))
    def laid_out(self, person: str, page: int, image: str) -> None:
        self.act(person, lambda: lay_out(self.store, page, image, person))

    def takes_back(self, person: str, act: Any, **options: bool) -> bool:
        """Whether `act` wrote anything: then rows of that person alone, about their own; else nothing was changed."""
        said = events(self.store)
        try:
            act(WORK, person, key(), **options)
        except ChangedError as refused:
            assert person not in refused.people  # noqa: PT017
            assert set(refused.people) <= {one[2] for one in said}  # noqa: PT017
        except NothingLeftError:
            pass
        before, self.now = self.now, seen(self.store)
        fresh = events(self.store) - said
        if not fresh:
            assert self.now == before
            return False
        about = {(table, number) for table, _, _, number in fresh}
        assert {who for _, _, who, _ in fresh} == {person}
        assert {who for table, number, who, _ in said if (table, number) in about} == {person}
        return True

    @rule(person=PEOPLE, leave=st.booleans())
    def undo(self, person: str, leave: bool) -> None:
        before = self.now
        if not self.takes_back(person, self.store.acts.undo, leave=leave):
            return
        now = self.now
        who, was, then = self.acts.pop() if self.acts else ("", {}, {})
        if (who, then) == (person, before):
            assert now == was
        else:
            self.acts.clear()
        assert self.takes_back(person, self.store.acts.redo)
        assert self.now == before
        assert self.takes_back(person, self.store.acts.undo, leave=leave)
        assert self.now == now

    @rule(person=PEOPLE)
    def redo(self, person: str) -> None:
        if self.takes_back(person, self.store.acts.redo):
            self.acts.clear()
            self.there_and_back(person)

    @invariant()
    def nothing_said_is_ever_lost(self) -> None:
        now = events(self.store)
        assert self.said <= now
        self.said = now


@pytest.mark.slow
def test_undo_is_exact_whatever_several_people_do(tmp_path: Path) -> None:
    with Store.open(tmp_path / "proof.sqlite") as store:
        fill(store)

    class Here(People):
        template = tmp_path / "proof.sqlite"

    case = Here.TestCase
    case.settings = settings(max_examples=examples(7), stateful_step_count=16, deadline=None)
    case().runTest()
