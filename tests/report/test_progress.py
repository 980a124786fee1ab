"""The state of a work: what was decided by juan and by person, and how many errors are left by what samples tell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from proof.model.flags import Evidence, Flag, Kind, flag_id
from proof.model.quality import QualityFlags
from proof.ocr.engine import EngineIdentity
from proof.quality.sampling import REASON
from proof.report import StoredRun, write_reports
from proof.report.certificate import certificate_of
from proof.report.progress import progress_of
from proof.store import PagePlace, RunInfo, Store, TextInfo
from proof.store.decision_records import Verdict
from proof.store.queue_records import Order, QueueFilter
from proof.store.saving import CheckedResult
from proof.web.threshold_curve import dial
from tests.build import by_hand, say
from tests.web.drawn import WORK, checked, draw_page, wrong

Filled = tuple[Store, int]


def sample(page: str, offset: int) -> Flag:
    unflagged = wrong(page, 3, offset, "", 4.0)
    return replace(
        unflagged, kind=Kind.AUDIT, suggested=unflagged.transcribed, raised=False, evidence=Evidence(REASON),
        id=flag_id(page, 3, Kind.AUDIT, unflagged.context, 0),
    )  # fmt: skip


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    """The store and the run of two juan of a page each: three flags and two samples on either."""
    folder = tmp_path
    sha = draw_page(folder / "page.png")
    store = Store.open(folder / "proof.sqlite")
    texts = (TextInfo("text.txt", "5eed", "mirror", "traditional"),)
    run = store.begin_run(RunInfo(WORK, "大射儀", texts, EngineIdentity("null", "1", "", "")))
    for number, juan in enumerate(("010", "011")):
        page = f"{juan}-1a"
        flags = (wrong(page, 1, 2, "吿", 9.0), wrong(page, 1, 4, "吉", 8.0), wrong(page, 2, 1, "古", 7.0))
        result = replace(checked(page, folder / "page.png", sha, flags), characters_checked=500)
        quality = QualityFlags((sample(page, 1), sample(page, 5)))
        store.save_pages(run, [CheckedResult(PagePlace(number, "text.txt", juan), "", result, quality=quality)])
    store.finish_run(run, whole=True)
    yield store, run
    store.close()


def progress_and_report(store: Store, run: int, folder: Path, language: str = "en") -> tuple[dict[str, Any], str]:
    """What is written of the progress: the data and the page of the report."""
    written = write_reports(StoredRun(store, run), folder, language=language)
    record: dict[str, Any] = json.loads((folder / "progress.json").read_text(encoding="utf-8"))
    return record, written.page.read_text(encoding="utf-8")


def decide(store: Store, kind: Kind, verdict: Verdict, person: str, count: int, reading: str = "") -> None:
    numbers, _ = store.queue.find(WORK, QueueFilter(kinds=(kind,)), Order.PAGE)
    waiting = [flag for flag in store.queue.flags(WORK, numbers) if flag.version == 0][:count]
    for flag in waiting:
        say(store, flag.number, verdict, reading, person, work=WORK)


def test_errors_found_by_hand_say_nothing_of_the_flags_that_wait(filled: Filled) -> None:
    store, _ = filled
    decide(store, Kind.SUBSTITUTION, Verdict.KEEP, "甲", 1)
    for offset in (3, 5):
        by_hand(store, 2, offset, "牛", work=WORK)
    progress = progress_of(store, WORK)
    assert (progress.total.settled, progress.total.upheld, progress.total.confirmed) == (1, 0, 2)
    assert progress.waiting is not None
    assert progress.waiting.errors == 0
    [work] = store.library.works()
    assert (work.counts.upheld, work.counts.confirmed, work.counts.left) == (0, 2, 0)


def test_the_progress_has_its_own_time_since_the_check_was_before(filled: Filled, tmp_path: Path) -> None:
    store, run = filled
    decide(store, Kind.SUBSTITUTION, Verdict.TAKE, "甲", 1)
    before = datetime.now(UTC).replace(microsecond=0)
    progress, page = progress_and_report(store, run, tmp_path)
    at = datetime.fromisoformat(progress["at"])
    assert before <= at <= datetime.now(UTC)
    heading = page.partition('id="progress-title"')[2].partition("</h2>")[0]
    assert f"{at:%Y-%m-%d %H:%M} UTC" in heading


def test_samples_tell_what_was_missed(filled: Filled, tmp_path: Path) -> None:
    store, run = filled
    decide(store, Kind.AUDIT, Verdict.KEEP, "甲", 2)
    decide(store, Kind.AUDIT, Verdict.TAKE, "甲", 1)  # what is suggested is what the text has: it is kept
    decide(store, Kind.AUDIT, Verdict.TYPED, "乙", 1, "牛")
    missed = progress_of(store, WORK).missed
    assert (missed.samples, missed.wrong, missed.rate) == (4, 1, 2500)
    assert missed.low < 2500 < missed.high
    progress, page = progress_and_report(store, run, tmp_path / "out", "zh-Hant")
    assert progress["missed_per_10000"]["samples"] == 4
    assert progress["people"][0]["name"] == "甲"
    assert "每萬字漏校" in page
    assert "2500.0" in page


def with_one_planted(store: Store, run: int, score: float) -> None:
    """The first page again, with an error planted."""
    page = next(iter(store.results(run=run)))
    false = replace(wrong(page.page, 3, 3, "入", score), transcribed="人", id="planted-1")
    quality = QualityFlags((sample(page.page, 1), sample(page.page, 5)), (false,))
    store.save_pages(run, [CheckedResult(PagePlace(0, "text.txt", "010"), "", page, quality=quality)])


def test_planted_errors_are_told_by_person_and_all_together(filled: Filled, tmp_path: Path) -> None:
    store, run = filled
    with_one_planted(store, run, 8.0)
    say(store, "planted-1", Verdict.TAKE, work=WORK)
    progress, page = progress_and_report(store, run, tmp_path / "out")
    assert progress["planted"]["caught"] == progress["planted"]["answered"] == 1
    assert [person["name"] for person in progress["planted"]["people"]] == ["甲"]
    assert progress["people"] == []
    assert "caught 1 of 1" in page
    assert "planted-1" not in page
    assert "planted-1" not in (tmp_path / "out" / "flags.jsonl").read_text(encoding="utf-8")


def test_the_dial_has_planted_errors_among_the_places_and_not_among_the_errors(filled: Filled) -> None:
    store, run = filled
    before = dial(*store.queue.scores(WORK, QueueFilter()), 3.0)
    with_one_planted(store, run, 9.5)
    after = dial(*store.queue.scores(WORK, QueueFilter()), 3.0)
    assert after[0].places == before[0].places + 1
    assert after[-1].left == pytest.approx(before[-1].left, abs=0.05)


def test_nothing_is_expected_to_be_left_where_no_flag_was_decided_of_those_there_are(filled: Filled) -> None:
    store, _ = filled
    decide(store, Kind.AUDIT, Verdict.KEEP, "甲", 4)
    assert certificate_of(store, WORK).left is None
    assert [work.counts.left for work in store.library.works()] == [None]
