"""Seeded errors as proofreaders are shown them, and the counts of their answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from proof.model.flags import Kind
from proof.report.progress import progress_of
from proof.store import Store
from proof.store.decision_records import Decision, Verdict
from proof.store.manual_corrections import ManualCorrection
from proof.store.queue_records import QueuedFlag
from tests.build import decide, key, queued, standing_decisions
from tests.planted_page import COLUMNS, FLAGS, WORK, check_again, seeded_ids, store_in


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_in(tmp_path, 600) as opened:
        yield opened


def seeded_errors(store: Store) -> list[QueuedFlag]:
    seeded = seeded_ids(store)
    return [shown for shown in queued(store, WORK) if shown.flag.id in seeded]


def decide_error(store: Store, error: QueuedFlag, verdict: Verdict, person: str = "甲", reading: str = "") -> Decision:
    return decide(store, error.number, verdict, person, work=WORK, reading=reading)


def correct(store: Store, line: int, offset: int, length: int, reading: str) -> Decision:
    page = store.queue.pages(WORK)[0].number
    return store.manual_corrections.correct(ManualCorrection(WORK, page, line, offset, length, reading, "甲", key()))


def test_the_queue_shows_seeded_errors_among_the_findings(store: Store) -> None:
    made = seeded_errors(store)
    assert len(made) >= 4
    assert {error.flag.kind for error in made} == {Kind.SUBSTITUTION}
    summary = store.queue.work(WORK)
    assert sum(summary.states.values()) == len(FLAGS) + len(made)
    numbers = [shown.number for shown in queued(store, WORK)]
    assert numbers == sorted(numbers)  # the numbers do not reveal which are seeded


def test_the_page_is_shown_with_the_false_characters_of_the_flags(store: Store) -> None:
    _, page = store.queue.page(WORK, store.queue.pages(WORK)[0].number)
    changed = 0
    for error in seeded_errors(store):
        flag = error.flag
        [column] = [column for column in page.columns if column.number == flag.line]
        [character] = [c for c in page.characters if (c.line, c.offset) == (flag.line, flag.offset)]
        assert column.source[flag.offset] == character.text == flag.transcribed
        assert character.p_text == flag.evidence.p_text
        assert character.read == flag.suggested
        assert flag.context.strip("[]")[:1] in column.source
        changed += 1
    right = "".join(COLUMNS)
    shown = "".join(column.source for column in page.columns)
    assert sum(a != b for a, b in zip(right, shown, strict=True)) == changed


def test_findings_include_no_seeded_errors(store: Store) -> None:
    result = next(iter(store.results(work=WORK)))
    assert [column.source for column in result.columns] == list(COLUMNS)
    assert {flag.id for flag in result.flags} == {flag.id for flag in FLAGS}
    assert {shown.id for shown in store.flags(WORK)} == {flag.id for flag in FLAGS}
    assert [work.counts.flagged for work in store.library.works()] == [len(FLAGS)]
    assert store.queue.juans(WORK)[0].flagged == len(FLAGS)


def test_answers_are_counted_by_person_and_in_total(store: Store) -> None:
    first, second, third, fourth = seeded_errors(store)[:4]
    decide_error(store, first, Verdict.TAKE)
    decide_error(store, second, Verdict.KEEP)
    decide_error(store, second, Verdict.TAKE, "乙")  # who comes second catches it
    decide_error(store, third, Verdict.UNSURE)
    decide_error(store, fourth, Verdict.SKIP)  # looked at later
    progress = progress_of(store, WORK)
    assert (progress.planted.answered, progress.planted.caught) == (3, 2)
    assert progress.planted.low < 2 / 3 < progress.planted.high
    assert [(reader.name, reader.answered, reader.caught) for reader in progress.planted_by] == [
        ("甲", 3, 1),
        ("乙", 1, 1),
    ]
    assert (progress.people, progress.total.settled, progress.waiting) == ((), 0, None)
    assert store.judgements.by_day(WORK) == {}, "the days count what the people do"


def test_an_error_is_caught_by_a_decision_that_corrects_the_text(store: Store) -> None:
    typed, other, wrong, copy = seeded_errors(store)[:4]
    for error, verdict, reading, caught in (
        (typed, Verdict.TYPED, typed.flag.suggested, 1),
        (other, Verdict.OTHER, other.flag.suggested, 2),
        (wrong, Verdict.TYPED, "龜", 2),
        (copy, Verdict.COPY, "", 2),
    ):
        decide_error(store, error, verdict, reading=reading)
        assert progress_of(store, WORK).planted.caught == caught


def test_an_undone_decision_is_not_an_answer(store: Store) -> None:
    error = seeded_errors(store)[0]
    decide_error(store, error, Verdict.KEEP)
    decide_error(store, error, Verdict.UNDO)
    assert progress_of(store, WORK).planted.answered == 0
    decide_error(store, error, Verdict.TAKE)
    assert progress_of(store, WORK).planted.caught == 1


def test_a_correction_beside_a_seeded_error_is_stored_with_the_true_context_and_shown_with_the_false_one(
    store: Store,
) -> None:
    flag = next(
        error.flag for error in seeded_errors(store) if error.flag.offset < len(COLUMNS[error.flag.line - 1]) - 2
    )
    made = correct(store, flag.line, flag.offset + 1, 1, "龜")
    assert flag.transcribed in made.context
    [history] = store.decisions.history(made.flag)
    assert history.context == made.context == store.queue.flags(WORK, [made.flag])[0].flag.context
    [kept] = standing_decisions(store, WORK)
    assert flag.transcribed not in kept.context
    assert flag.suggested in kept.context


def test_without_seeding_errors_leave_the_queue_and_their_answers_stay_counted(store: Store) -> None:
    made = seeded_errors(store)
    decide_error(store, made[0], Verdict.TAKE)
    check_again(store, 0.0)
    assert seeded_errors(store) == []
    _, page = store.queue.page(WORK, store.queue.pages(WORK)[0].number)
    assert [column.source for column in page.columns] == list(COLUMNS)
    assert progress_of(store, WORK).planted.caught == 1
    assert store.decisions.displaced(WORK) == []
    check_again(store, 600)
    assert [error.flag.id for error in seeded_errors(store)] == [error.flag.id for error in made]
    assert seeded_errors(store)[0].state == "corrected"


@pytest.mark.slow
def test_no_error_is_seeded_at_a_correction_by_hand(tmp_path: Path) -> None:
    with store_in(tmp_path / "without", 0.0) as store, store_in(tmp_path / "with", 600) as other:
        flag = seeded_errors(other)[0].flag
        correct(store, flag.line, flag.offset, 1, "龜")
        check_again(store, 600)
        assert (flag.line, flag.offset) not in {(error.flag.line, error.flag.offset) for error in seeded_errors(store)}
        assert len(seeded_errors(store)) >= len(seeded_errors(other)) - 2


def test_a_rule_set_for_seeded_errors_only_hides_no_findings(store: Store) -> None:
    error = seeded_errors(store)[0].flag
    pair = (error.transcribed, error.suggested)
    store.rules.set(WORK, *pair, True, "甲")
    assert store.rules.of_work(WORK)[0].hides >= 1
    assert error.id not in {other.flag.id for other in queued(store, WORK)}
    true = replace(FLAGS[0], transcribed=pair[0], suggested=pair[1])
    check_again(store, 600, (true, *FLAGS[1:]), "edited")
    assert true.id in {other.flag.id for other in queued(store, WORK)}


@pytest.mark.slow
def test_a_recovered_answer_is_not_a_decision_about_the_text(tmp_path: Path) -> None:
    with store_in(tmp_path / "lost", 600) as lost, store_in(tmp_path / "new", 0.0) as new:
        error = seeded_errors(lost)[0]
        decide_error(lost, error, Verdict.TAKE)
        by_hand = seeded_errors(lost)[1].flag
        correct(lost, by_hand.line, by_hand.offset, 1, by_hand.suggested)
        assert lost.journal is not None
        assert new.recover(lost.journal.path).rebuilt == {"decision": 2}
        assert standing_decisions(new, WORK) == []
        assert progress_of(new, WORK).planted.answered == 2
        check_again(new, 600)
        assert [(again.state, again.reading) for again in queued(new, WORK) if again.flag.id == error.flag.id] == [
            ("corrected", error.flag.suggested)
        ]


def test_an_answer_does_not_decide_a_later_finding_at_the_same_place(store: Store) -> None:
    error = seeded_errors(store)[0]
    decide_error(store, error, Verdict.KEEP)
    check_again(store, 0.0, (*FLAGS, error.flag), "the text has that very error now")
    place = (error.flag.line, error.flag.offset, error.flag.transcribed)
    found = {(flag.line, flag.offset, flag.transcribed) for flag in store.flags(WORK)}
    assert place in found
    assert standing_decisions(store, WORK) == []
