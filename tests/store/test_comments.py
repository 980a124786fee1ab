"""Comments: threads on flags and pages, and problems that are assigned and resolved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proof.store import Store
from proof.store.acts import ActKind
from proof.store.comments import Comment, CommentConflictError, CommentRequest, CommentState
from proof.store.decision_records import DecisionRequest, MissingFlagError, RefusedDecisionError, Verdict
from proof.store.lookup import NoPlaceError
from proof.store.page_states import PageState
from tests.build import key
from tests.web.drawn import WORK, fill

PROBLEM, RESOLVED = CommentState.PROBLEM, CommentState.RESOLVED


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store.open(tmp_path / "proof.sqlite") as store:
        fill(store, tmp_path)
        yield store


def say(store: Store, text: str, person: str = "甲", *, page: int = 1, flag: int | None = 1, **more: Any) -> Comment:
    more.setdefault("key", key())
    return store.comments.add(CommentRequest(WORK, page, flag, text, person, **more))


def thread(store: Store, page: int = 1, flag: int | None = 1) -> list[tuple[str, str, str, str]]:
    comments = store.comments.of_page(WORK, page)
    return [
        (comment.person, comment.text, comment.state.value, comment.assigned)
        for comment in comments
        if comment.flag == flag
    ]


def test_a_comment_is_answered_and_a_problem_is_assigned_found_and_resolved(store: Store) -> None:
    first = say(store, "這是吿還是告？", state=PROBLEM, assigned="乙")
    assert store.comments.count("乙") == 1
    assert store.comments.count("甲") == 0
    [found] = store.comments.problems(assigned="乙")
    assert (found.flag, found.name, [comment.text for comment in found.comments]) == (1, first.name, ["這是吿還是告？"])
    second = say(store, "我看看", "乙")
    assert store.comments.count("乙") == 1, "an answer alone resolves nothing"
    say(store, "是告", "乙", state=RESOLVED, seen=second.id)
    assert store.comments.count("乙") == 0
    assert store.comments.problems(work=WORK) == []
    assert thread(store) == [
        ("甲", "這是吿還是告？", "problem", "乙"),
        ("乙", "我看看", "problem", "乙"),
        ("乙", "是告", "resolved", ""),
    ]


def test_a_page_with_a_problem_is_one_in_all_lists_and_is_to_be_proofread_when_it_is_resolved(store: Store) -> None:
    comment = say(store, "影像缺半葉", page=2, flag=None, state=PROBLEM, assigned="乙")
    assert store.queue.remaining(WORK).problems == store.comments.count("乙") == 1
    assert store.acts.undo(WORK, "甲", "request-undo").what is ActKind.PAGE
    assert store.comments.problems() == []
    assert thread(store, 2, None) == [("甲", "影像缺半葉", "problem", "乙")], "its words stay"
    store.acts.redo(WORK, "甲", "request-redo")
    say(store, "換了影像", "乙", page=2, flag=None, state=RESOLVED, seen=comment.id)
    assert [listed.state for listed in store.queue.pages(WORK)] == [PageState.NOT_PROOFREAD] * 3
    assert [event.state for event in store.page_states.history(WORK, 2)][-1] is PageState.NOT_PROOFREAD
    assert store.comments.problems() == []


def test_a_page_marked_as_a_problem_without_a_word_is_among_the_problems_and_can_be_assigned(store: Store) -> None:
    store.page_states.set(WORK, 3, PageState.PROBLEM, 0, "甲", "request-0001", note="斷版")
    [found] = store.comments.problems(work=WORK)
    assert (found.page, found.person, found.note, found.comments) == (3, "甲", "斷版", ())
    say(store, "", page=3, flag=None, assigned="乙")
    assert [problem.assigned for problem in store.comments.problems(work=WORK)] == ["乙"]
    assert len(store.page_states.history(WORK, 3)) == 1
    store.page_states.set(WORK, 3, PageState.PROOFREAD, 1, "丙", "request-0002")
    assert store.comments.count("乙") == 0, "whoever says otherwise of the page has seen to it"
    assert store.comments.problems(work=WORK) == []


def test_who_is_to_solve_a_problem_of_a_flag_is_not_given_the_page_that_was_marked_without_a_word(store: Store) -> None:
    say(store, "是告？", page=1, state=PROBLEM, assigned="乙")
    store.page_states.set(WORK, 1, PageState.PROBLEM, 0, "甲", "request-0001", note="斷版")
    assert [found.flag for found in store.comments.problems(assigned="乙")] == [1]
    assert (store.comments.count("乙"), len(store.comments.problems())) == (1, 2)


def test_nobody_resolves_or_assigns_over_words_that_they_did_not_see(store: Store) -> None:
    first = say(store, "？", state=PROBLEM)
    say(store, "還是不對", "乙")
    with pytest.raises(CommentConflictError):
        say(store, "好了", "丙", state=RESOLVED, seen=first.id)
    with pytest.raises(CommentConflictError):
        say(store, "", "丙", assigned="丙", seen=first.id)
    say(store, "只說一句", "丙", seen=first.id)
    assert [text for _, text, _, _ in thread(store)] == ["？", "還是不對", "只說一句"]


def test_what_cannot_be_said_is_refused_and_changes_nothing(store: Store) -> None:
    refused: list[dict[str, Any]] = [
        {"text": ""},
        {"text": " \n"},
        {"text": "\x07"},
        {"text": "x" * 2001},
        {"text": "好了", "state": RESOLVED},
        {"text": "好", "state": CommentState.NOTE},
        {"text": "給你", "assigned": "乙"},
        {"text": "x", "key": "short"},
    ]
    for asked in refused:
        with pytest.raises(RefusedDecisionError):
            say(store, **asked)
    nowhere: list[dict[str, Any]] = [{"flag": 999}, {"page": 2, "flag": 1}]
    for place in nowhere:
        with pytest.raises(MissingFlagError):
            say(store, "x", **place)
    with pytest.raises(NoPlaceError):
        say(store, "x", page=99, flag=None)
    with pytest.raises(NoPlaceError):
        store.comments.of_page(WORK, 99)
    with pytest.raises(NoPlaceError):
        store.comments.problems(work="none")
    assert store.comments.of_work(WORK) == []


def test_a_comment_sent_again_is_not_doubled_and_its_key_serves_nothing_else(store: Store) -> None:
    first = say(store, "一次", key="request-once")
    assert say(store, "一次", key="request-once") == first
    others = (
        {"text": "二"},
        {"text": "一次", "flag": 2},
        {"text": "一次", "person": "乙"},
        {"text": "一次", "assigned": "乙"},
        {"text": "一次", "state": PROBLEM},
    )
    for other in others:
        with pytest.raises(RefusedDecisionError):
            say(store, **{"key": "request-once", **other})  # type: ignore[arg-type]
    with pytest.raises(RefusedDecisionError):
        store.decisions.decide(DecisionRequest(WORK, 2, Verdict.KEEP, 0, "甲", "request-once"))
    assert len(store.comments.of_work(WORK)) == 1
