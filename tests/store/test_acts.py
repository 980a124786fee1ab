"""Undo and redo: each person undoes their own last act, exactly or not at all, and no act is deleted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from proof.locale.languages import translations
from proof.store import Store
from proof.store.acts import ActKind, ChangedError, NothingLeftError
from proof.store.decision_records import (
    NotYoursError,
    RefusedDecisionError,
    State,
    Verdict,
)
from proof.store.manual_corrections import ManualCorrection
from proof.store.models import DecisionRow, LayoutOverrideRow, PageEventRow, RuleRow
from proof.store.page_states import PageState
from proof.store.queue_records import Order, QueueFilter
from tests.build import check, decide, demand, flag, key, page, standing_decisions
from tests.store.conftest import on_both

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
    """The present state of the flags, pages and rules of a work."""
    numbers, _ = store.queue.find(WORK, QueueFilter(raised=None), Order.PAGE, limit=10_000)
    return {
        "flags": [(queued.number, queued.state, queued.reading) for queued in store.queue.flags(WORK, numbers)],
        "pages": [(listed.number, listed.state, listed.flags, listed.open) for listed in store.queue.pages(WORK)],
        "rules": {(rule.text, rule.image) for rule in store.rules.of_work(WORK)},
        "standing": sorted(
            (decision.flag, decision.state, decision.reading) for decision in standing_decisions(store, WORK)
        ),
        "layouts": {
            place: (override.layout, override.image, override.quadrant)
            for place, override in store.layout_overrides.of_work(WORK).items()
        },
    }


def events(store: Store) -> set[tuple[Any, ...]]:
    """All acts of a work with their people."""
    tables: list[Any] = [DecisionRow, RuleRow, PageEventRow, LayoutOverrideRow]
    with store._reading() as session:
        return {
            (table.__tablename__, row.id, row.person, row.about)
            for table in tables
            for row in session.scalars(select(table))
        }


def lay_out(store: Store, page: int, image: str, person: str = "甲") -> None:
    """Have a page read from another image or, without one, from its own image again."""
    version = len(store.layout_overrides.history(WORK, page))
    store.layout_overrides.set(WORK, page, None, image, "", version=version, person=person, key=key())


@on_both
def test_what_one_did_last_is_taken_back_whatever_it_was(filled: Store) -> None:
    """The undo of the person who set the rule lifts it and leaves the decisions."""
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
        assert [decision for decision in now["standing"] if decision[0] != 7] == state["standing"]
        assert [listed[:2] for listed in now["pages"]] == [listed[:2] for listed in state["pages"]]
        assert now["layouts"] == state["layouts"]
    assert [undone.what for undone in back] == [
        *[ActKind.LAYOUT] * 2,
        ActKind.RULE,
        ActKind.PAGE,
        *[ActKind.DECISIONS] * 3,
    ]
    assert [len(undone.decisions) for undone in back] == [0, 0, 0, 0, 1, 3, 1]
    assert [undone.page_to_read for undone in back[:3]] == [1, 1, None]
    with pytest.raises(NothingLeftError):
        filled.acts.undo(WORK, "甲", key())
    assert filled.acts.undo(WORK, "乙", key()).decisions[0].flag == 7
    assert seen(filled) == states[0]


@on_both
def test_what_another_changed_meanwhile_is_not_taken_back_and_they_are_named(filled: Store) -> None:
    decide(filled, 2, Verdict.KEEP)
    filled.decisions.decide_all([demand(n, Verdict.KEEP, batch="stroke-0001") for n in (1, 3)])
    decide(filled, 1, Verdict.COPY, "王")
    before, events_before = seen(filled), events(filled)
    with pytest.raises(ChangedError, match="changed by 王 in the meantime") as refused:
        filled.acts.undo(WORK, "甲", key())
    in_chinese = str(refused.value.sentence.in_words(translations("zh-Hant").gettext))
    assert "葉第 1 行：其間 王 已改動" in in_chinese
    assert (seen(filled), events(filled)) == (before, events_before)
    left = [filled.acts.undo(WORK, "甲", key(), leave=True) for _ in range(2)]
    assert [[decision.flag for decision in undone.decisions] for undone in left] == [[3], [2]]
    assert [decision.verdict for decision in filled.decisions.history(1)] == [Verdict.KEEP, Verdict.COPY]


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
    assert [(decision.flag, decision.state) for decision in undone] == [(2, State.OPEN), (1, State.OPEN)]


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
        assert filled.acts.redo(WORK, "甲", key()).is_redo
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
    assert [decision.verdict for decision in filled.decisions.history(1)][1:] == [
        Verdict.UNDO,
        Verdict.REDO,
        Verdict.UNDO,
    ]


def test_who_may_not_set_rules_takes_none_back(filled: Store) -> None:
    filled.rules.set(WORK, "甲", "字", True, "甲")
    with pytest.raises(NotYoursError, match="right to set rules"):
        filled.acts.undo(WORK, "甲", key(), rules=False)
    assert len(filled.rules.of_work(WORK)) == 1


@on_both
def test_a_request_sent_again_takes_back_nothing_more(filled: Store) -> None:
    """For all kinds of acts except comments, which cannot be undone."""
    decide(filled, 2, Verdict.KEEP)
    does: dict[ActKind, Callable[[], object]] = {
        ActKind.DECISIONS: lambda: filled.decisions.decide_all(
            [demand(n, Verdict.KEEP, batch="stroke-0001") for n in (1, 3)]
        ),
        ActKind.RULE: lambda: filled.rules.set(WORK, "甲", "字", True, "甲"),
        ActKind.LAYOUT: lambda: lay_out(filled, 1, "other.png"),
        ActKind.PAGE: lambda: filled.page_states.set(WORK, 1, PageState.PROOFREAD, 0, "甲", key()),
    }
    assert does.keys() == set(ActKind) - {ActKind.COMMENT}
    for what, do in does.items():
        do()
        first = filled.acts.undo(WORK, "甲", f"request-{what}")
        events_before = events(filled)
        again = filled.acts.undo(WORK, "甲", f"request-{what}")
        assert (again.what, again.repeated, events(filled)) == (what, True, events_before)
        assert [decision.id for decision in again.decisions] == [decision.id for decision in first.decisions]
        with pytest.raises(RefusedDecisionError, match="this key"):
            filled.acts.undo(WORK, "乙", f"request-{what}")


@on_both
def test_a_key_is_one_requests_whatever_it_asked_for(filled: Store) -> None:
    """A request with the key of another act is refused and changes nothing."""
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
