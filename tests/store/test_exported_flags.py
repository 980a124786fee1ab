"""Errors that were confirmed stay counted once their corrections are in the text and no check finds them any more."""

from __future__ import annotations

from dataclasses import replace

from proof.model.result import PageResult
from proof.report.progress import progress_of
from proof.store import Store
from proof.store.decision_records import Verdict
from proof.store.queue_records import JuanCount
from tests.build import WORK, by_hand, check, decide, page, queued
from tests.store.exported import FOUND, LINES, export

MOVED = ((3, 3, "相", ""), (3, 1, "", "相"))
"""相 stands behind 者 and belongs before 進."""


def found() -> PageResult:
    """The page with the findings, of which the last two are one question."""
    result = page(*LINES, flags=(*FOUND, *MOVED))
    *others, out, into = result.flags
    return replace(result, flags=(*others, replace(out, moved=into.id), replace(into, moved=out.id)))


def counts(store: Store) -> JuanCount:
    [juan] = store.queue.juans(WORK)
    [work] = store.library.works()
    of_work = work.counts
    assert (juan.flagged, juan.settled, juan.upheld, juan.exported, juan.confirmed) == (
        of_work.flagged,
        of_work.settled,
        of_work.upheld,
        of_work.exported,
        of_work.confirmed,
    )
    return juan


def test_confirmed_errors_are_counted_before_and_after_their_export(store: Store) -> None:
    """After an export and a check the report said that no error was confirmed."""
    check(store, found())
    for flag in queued(store):
        decide(store, flag.number, Verdict.TAKE)
    by_hand(store, 2, 6, "士")
    before = counts(store)
    assert (before.flagged, before.upheld, before.exported, before.confirmed) == (3, 3, 0, 4)
    lines = export(store).split("\n")[1:4]
    check(store, page(*lines))
    after = counts(store)
    assert (after.flagged, after.upheld, after.exported, after.confirmed) == (0, 0, 3, 4)


def test_the_flags_that_wait_are_estimated_by_all_that_were_settled(store: Store) -> None:
    """The errors among the settled flags went with their export; only what was kept was left to estimate by."""
    check(store, page(*LINES, flags=FOUND))
    taken, kept = queued(store)
    decide(store, taken.number, Verdict.TAKE)
    decide(store, kept.number, Verdict.KEEP)
    lines = export(store).split("\n")[1:4]
    check(store, page(*lines, flags=(FOUND[1], (3, 0, "與", "興"))))
    waiting = progress_of(store, WORK).waiting
    assert waiting is not None
    assert waiting.errors == 0.5
    [work] = store.library.works()
    assert work.counts.left == 0.5
