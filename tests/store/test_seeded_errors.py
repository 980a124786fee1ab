"""What people are shown of a page with planted errors, and what is learned from their answers."""

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
from tests.build import decide, key, queued
from tests.ground import COLUMNS, FLAGS, WORK, check_again, seeded_ids, store_in
from tests.standing import standing_decisions


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_in(tmp_path, 600) as opened:
        yield opened


def false_ones(store: Store) -> list[QueuedFlag]:
    seeded = seeded_ids(store)
    return [one for one in queued(store, WORK) if one.flag.id in seeded]


def say(store: Store, one: QueuedFlag, verdict: Verdict, person: str = "甲", reading: str = "") -> Decision:
    return decide(store, one.number, verdict, person, work=WORK, reading=reading)


def mark(store: Store, line: int, offset: int, length: int, reading: str) -> Decision:
    page = store.queue.pages(WORK)[0].number
    return store.manual_corrections.correct(ManualCorrection(WORK, page, line, offset, length, reading, "甲", key()))


def test_the_queue_shows_them_among_the_others(store: Store) -> None:
    made = false_ones(store)
    assert len(made) >= 4
    assert {one.flag.kind for one in made} == {Kind.SUBSTITUTION}
    summary = store.queue.work(WORK)
    assert sum(summary.states.values()) == len(FLAGS) + len(made)
    numbers = [one.number for one in queued(store, WORK)]
    assert numbers == sorted(numbers)  # not even the numbers tell which were planted


def test_wherever_the_page_is_shown_it_reads_as_the_flag_says(store: Store) -> None:
    _, page = store.queue.page(WORK, store.queue.pages(WORK)[0].number)
    changed = 0
    for one in false_ones(store):
        flag = one.flag
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


def test_whoever_asks_for_findings_meets_none(store: Store) -> None:
    result = next(iter(store.results(work=WORK)))
    assert [column.source for column in result.columns] == list(COLUMNS)
    assert {flag.id for flag in result.flags} == {flag.id for flag in FLAGS}
    assert {one.id for one in store.flags(WORK)} == {flag.id for flag in FLAGS}
    assert [one.counts.flagged for one in store.library.works()] == [len(FLAGS)]
    assert store.queue.juans(WORK)[0].flagged == len(FLAGS)


def test_answers_are_counted_by_person_and_in_the_end(store: Store) -> None:
    first, second, third, fourth = false_ones(store)[:4]
    say(store, first, Verdict.TAKE)
    say(store, second, Verdict.KEEP)
    say(store, second, Verdict.TAKE, "乙")  # who comes second catches it
    say(store, third, Verdict.UNSURE)
    say(store, fourth, Verdict.SKIP)  # looked at later
    progress = progress_of(store, WORK)
    assert (progress.planted.answered, progress.planted.caught) == (3, 2)
    assert progress.planted.low < 2 / 3 < progress.planted.high
    assert [(one.name, one.answered, one.caught) for one in progress.planted_by] == [("甲", 3, 1), ("乙", 1, 1)]
    assert (progress.people, progress.total.settled, progress.waiting) == ((), 0, None)


def test_an_error_is_caught_by_who_puts_the_text_right(store: Store) -> None:
    typed, other, wrong, copy = false_ones(store)[:4]
    for one, verdict, reading, caught in (
        (typed, Verdict.TYPED, typed.flag.suggested, 1),
        (other, Verdict.OTHER, other.flag.suggested, 2),
        (wrong, Verdict.TYPED, "龜", 2),
        (copy, Verdict.COPY, "", 2),
    ):
        say(store, one, verdict, reading=reading)
        assert progress_of(store, WORK).planted.caught == caught


def test_what_was_taken_back_is_no_answer(store: Store) -> None:
    one = false_ones(store)[0]
    say(store, one, Verdict.KEEP)
    say(store, one, Verdict.UNDO)
    assert progress_of(store, WORK).planted.answered == 0
    say(store, one, Verdict.TAKE)
    assert progress_of(store, WORK).planted.caught == 1


def test_a_correction_beside_one_is_kept_as_the_text_is_and_shown_as_the_page_reads(store: Store) -> None:
    flag = next(one.flag for one in false_ones(store) if one.flag.offset < len(COLUMNS[one.flag.line - 1]) - 2)
    made = mark(store, flag.line, flag.offset + 1, 1, "龜")
    assert flag.transcribed in made.context
    [history] = store.decisions.history(made.flag)
    assert history.context == made.context == store.queue.flags(WORK, [made.flag])[0].flag.context
    [kept] = standing_decisions(store, WORK)
    assert flag.transcribed not in kept.context
    assert flag.suggested in kept.context


def test_without_planting_they_leave_the_queue_and_what_was_answered_stays_counted(store: Store) -> None:
    made = false_ones(store)
    say(store, made[0], Verdict.TAKE)
    check_again(store, 0.0)
    assert false_ones(store) == []
    _, page = store.queue.page(WORK, store.queue.pages(WORK)[0].number)
    assert [column.source for column in page.columns] == list(COLUMNS)
    assert progress_of(store, WORK).planted.caught == 1
    assert store.decisions.displaced(WORK) == []
    check_again(store, 600)
    assert [one.flag.id for one in false_ones(store)] == [one.flag.id for one in made]
    assert false_ones(store)[0].state == "corrected"


@pytest.mark.slow
def test_none_is_planted_where_somebody_corrected_the_text(tmp_path: Path) -> None:
    with store_in(tmp_path / "without", 0.0) as store, store_in(tmp_path / "with", 600) as other:
        flag = false_ones(other)[0].flag
        mark(store, flag.line, flag.offset, 1, "龜")
        check_again(store, 600)
        assert (flag.line, flag.offset) not in {(one.flag.line, one.flag.offset) for one in false_ones(store)}
        assert len(false_ones(store)) >= len(false_ones(other)) - 2


def test_a_rule_made_of_planted_errors_alone_hides_nothing_else(store: Store) -> None:
    one = false_ones(store)[0].flag
    pair = (one.transcribed, one.suggested)
    store.rules.set(WORK, *pair, True, "甲")
    assert store.rules.of_work(WORK)[0].hides >= 1
    assert one.id not in {other.flag.id for other in queued(store, WORK)}
    true = replace(FLAGS[0], transcribed=pair[0], suggested=pair[1])
    check_again(store, 600, (true, *FLAGS[1:]), "edited")
    assert true.id in {other.flag.id for other in queued(store, WORK)}


@pytest.mark.slow
def test_an_answer_that_comes_back_from_the_journal_is_no_decision_about_the_text(tmp_path: Path) -> None:
    with store_in(tmp_path / "lost", 600) as lost, store_in(tmp_path / "new", 0.0) as new:
        one = false_ones(lost)[0]
        say(lost, one, Verdict.TAKE)
        by_hand = false_ones(lost)[1].flag
        mark(lost, by_hand.line, by_hand.offset, 1, by_hand.suggested)
        assert lost.journal is not None
        assert new.recover(lost.journal.path).rebuilt == {"decision": 2}
        assert standing_decisions(new, WORK) == []
        assert progress_of(new, WORK).planted.answered == 2
        check_again(new, 600)
        assert [(again.state, again.reading) for again in queued(new, WORK) if again.flag.id == one.flag.id] == [
            ("corrected", one.flag.suggested)
        ]


def test_what_a_check_finds_where_an_error_was_seeded_is_a_finding_and_the_answer_none_about_it(store: Store) -> None:
    one = false_ones(store)[0]
    say(store, one, Verdict.KEEP)
    check_again(store, 0.0, (*FLAGS, one.flag), "the text has that very error now")
    place = (one.flag.line, one.flag.offset, one.flag.transcribed)
    found = {(flag.line, flag.offset, flag.transcribed) for flag in store.flags(WORK)}
    assert place in found
    assert standing_decisions(store, WORK) == []
