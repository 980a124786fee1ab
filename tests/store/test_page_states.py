"""States of pages: proofread by one person, validated by another, taken back by the person who set them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from proof.store import Store
from proof.store.decision_records import NotYoursError, RefusedDecisionError, Verdict
from proof.store.lookup import PageConflictError
from proof.store.page_states import PageState
from proof.text.positions import Span
from tests.build import PLACE, check, check_at, decide, page, queued
from tests.store.conftest import on_both
from tests.store.exported import export

WORK = "KR1d0030"


@on_both
def test_a_page_is_proofread_by_one_and_validated_by_another(filled: Store) -> None:
    say = filled.page_states.set
    with pytest.raises(RefusedDecisionError):
        say(WORK, 1, PageState.VALIDATED, 0, "甲", "key-0000")
    say(WORK, 1, PageState.PROOFREAD, 0, "甲", "key-0001")
    with pytest.raises(RefusedDecisionError, match="someone else must validate"):
        say(WORK, 1, PageState.VALIDATED, 1, "甲", "key-0002")
    with pytest.raises(PageConflictError, match="甲"):
        say(WORK, 1, PageState.PROBLEM, 0, "乙", "key-0003")
    last = say(WORK, 1, PageState.VALIDATED, 1, "乙", "key-0004")
    assert say(WORK, 1, PageState.VALIDATED, 1, "乙", "key-0004") == last
    assert [(event.state, event.person) for event in filled.page_states.history(WORK, 1)] == [
        (PageState.PROOFREAD, "甲"),
        (PageState.VALIDATED, "乙"),
    ]
    (page,) = filled.queue.pages(WORK)
    assert (page.state, page.version) == (PageState.VALIDATED, 2)
    assert filled.page_states.of_work(WORK) == {page.page: PageState.VALIDATED}


def test_a_person_who_may_not_overrule_others_may_still_mark_a_problem(filled: Store) -> None:
    say = filled.page_states.set
    say(WORK, 1, PageState.PROOFREAD, 0, "甲", "key-0001")
    say(WORK, 1, PageState.VALIDATED, 1, "乙", "key-0002", overrules=False)
    for state in (PageState.NOT_PROOFREAD, PageState.PROOFREAD):
        with pytest.raises(NotYoursError, match="乙 said it is validated"):
            say(WORK, 1, state, 2, "甲", "key-0003", overrules=False)
    say(WORK, 1, PageState.PROOFREAD, 2, "乙", "key-0004", overrules=False)
    say(WORK, 1, PageState.PROBLEM, 3, "丙", "key-0005", overrules=False)
    say(WORK, 1, PageState.NOT_PROOFREAD, 4, "甲", "key-0006")


@on_both
def test_a_second_proofreader_validates_the_page_instead(filled: Store) -> None:
    say = filled.page_states.set
    say(WORK, 1, PageState.PROOFREAD, 0, "甲", "key-0001")
    assert filled.page_states.set_by(WORK, 1) == "甲"
    with pytest.raises(RefusedDecisionError, match="甲 proofread it already"):
        say(WORK, 1, PageState.PROOFREAD, 1, "乙", "key-0002")
    assert filled.history.to_validate(WORK, "乙") == {1}
    assert filled.history.to_validate(WORK, "甲") == set()


def test_an_undone_state_counts_for_nobody(filled: Store) -> None:
    say = filled.page_states.set
    say(WORK, 1, PageState.PROOFREAD, 0, "甲", "key-0001")
    say(WORK, 1, PageState.VALIDATED, 1, "乙", "key-0002")
    say(WORK, 1, PageState.PROOFREAD, 2, "丙", "key-0003")
    filled.acts.undo(WORK, "丙", "key-0004")
    assert filled.page_states.by_person(WORK) == ({"甲": 1}, {"乙": 1})
    filled.acts.redo(WORK, "丙", "key-0005")
    assert filled.page_states.by_person(WORK) == ({"丙": 1}, {})


LINES = ("上射揖坐", "東面于北耦大夫", "與進者相左")


@pytest.mark.parametrize(
    "now",
    [LINES[:2], LINES[1:], (*LINES, "命上射曰"), ("命上射曰", *LINES), (*LINES[:2], "與進者相右"), (*LINES, LINES[2])],
    ids=["last dropped", "first dropped", "added at the end", "added before", "another character", "last doubled"],
)
def test_a_proofread_page_with_other_columns_is_changed(store: Store, now: Sequence[str]) -> None:
    check(store, page(*LINES))
    store.page_states.set("KR1", 1, PageState.PROOFREAD, 0, "甲", "key-0001")
    check(store, page(*LINES))
    assert not store.queue.pages("KR1")[0].changed
    check(store, page(*now))
    assert store.queue.pages("KR1")[0].changed


def test_a_decision_that_is_exported_and_taken_back_does_not_change_the_page(store: Store) -> None:
    check(store, page(*LINES, flags=((1, 1, "射", "躬也"),)))
    [flag] = queued(store)
    store.page_states.set("KR1", 1, PageState.PROOFREAD, 0, "甲", "key-0001")
    for verdict in (Verdict.TAKE, Verdict.UNDO):
        decide(store, flag.number, verdict)
        check(store, page(*export(store).split("\n")[1:4]))
        assert not store.queue.pages("KR1")[0].changed


def test_a_column_that_is_newly_found_or_missed_on_the_image_does_not_change_the_page(store: Store) -> None:
    """Even if a line of another page was changed in the file at the same time."""
    content = "<pb:p1>\n" + "\n".join(LINES) + "\n"
    place = replace(PLACE, lines={number: Span(content.index(line), len(line)) for number, line in enumerate(LINES, 1)})
    whole = page(*LINES)
    check_at(store, content, [(place, whole)])
    store.page_states.set("KR1", 1, PageState.PROOFREAD, 0, "甲", "key-0001")
    found = (("", whole.columns[:2]), ("甲", whole.columns[1:2]), ("甲", whole.columns), ("乙", whole.columns[::2]))
    for beside, columns in (*found, ("丙", whole.columns)):
        check_at(store, f"{content}<pb:p2>\n{beside}", [(place, replace(whole, columns=columns))])
        assert not store.queue.pages("KR1")[0].changed
