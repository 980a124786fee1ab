"""Decisions on planted errors change no byte of exports and reports."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proof.exports.decided_corrections import decided_in
from proof.exports.files import FORMS, Material, write_export
from proof.exports.source import correct
from proof.report import StoredRun, write_reports
from proof.report.progress import progress_of
from proof.store import Store
from proof.store.decision_records import Verdict
from proof.store.queue_records import Order, QueuedFlag, QueueFilter
from proof.text.read import read_transcription
from tests.build import by_hand, say
from tests.planted_page import COLUMNS, TEXT, WORK, seeded_ids, store_in
from tests.sampling import examples

pytestmark = pytest.mark.slow

VERDICTS = st.sampled_from([verdict for verdict in Verdict if verdict not in (Verdict.OTHER, Verdict.REDO)])
READING = st.sampled_from(["龜", "龍", "龍龜"])


def flags_of(store: Store) -> list[QueuedFlag]:
    numbers, _ = store.queue.find(WORK, QueueFilter(raised=None), Order.PAGE, limit=1000)
    return store.queue.flags(WORK, numbers)


def decide(store: Store, flag: QueuedFlag, verdict: Verdict, reading: str) -> None:
    [now] = store.queue.flags(WORK, [flag.number])
    if verdict is not Verdict.UNDO or now.version:
        typed = reading if verdict in (Verdict.TYPED, Verdict.RETAIN) else ""
        say(store, flag.number, verdict, typed, work=WORK)


def all_files(store: Store, folder: Path) -> dict[str, bytes]:
    """Everything that a project exports, and the counts of its report."""
    edition = read_transcription(folder / f"{WORK}_010.txt")
    corrected = correct(edition, decided_in(store, edition).corrections)
    pages = list(store.results(work=WORK))
    made = datetime(2026, 1, 1, tzinfo=UTC)
    material = Material(corrected, made, pages, base="https://example.org")
    write_export(material, list(FORMS), folder / "out")
    run = store.latest_run(WORK)
    assert run is not None
    written = write_reports(StoredRun(store, run.id), folder / "out")
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in [*(folder / "out").rglob("*"), folder / f"{WORK}_010.txt"]
        if path.is_file() and path.name not in ("report.html", "progress.json", "summary.json")
    }
    summary: dict[str, Any] = json.loads(written.summary.read_text(encoding="utf-8"))
    del summary["timing"], summary["texts"]
    progress = progress_of(store, WORK).as_dict()
    for name in ("at", "planted"):
        progress.pop(name, None)
    return files | {"summary": json.dumps(summary).encode(), "progress": json.dumps(progress).encode()}


@settings(max_examples=examples(3), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(VERDICTS, READING), min_size=8, max_size=24),
    st.lists(VERDICTS, min_size=3, max_size=3),
    st.data(),
)
def test_no_decision_on_a_planted_error_leaves_a_trace(
    on_planted: list[tuple[Verdict, str]], on_findings: list[Verdict], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with store_in(folder / "plain", 0.0) as plain, store_in(folder / "with", 800) as planted:
            seeded = [flag for flag in flags_of(planted) if flag.flag.id in seeded_ids(planted)]
            assert len(seeded) >= 4
            for store in (plain, planted):
                chosen_flags = [flag for flag in flags_of(store) if flag.flag.id not in seeded_ids(store)]
                for flag, verdict in zip(chosen_flags, on_findings, strict=True):
                    decide(store, flag, verdict, "龜")
            for n, (verdict, reading) in enumerate(on_planted):
                decide(planted, seeded[n % len(seeded)], verdict, reading)
            place = data.draw(st.sampled_from(seeded)).flag
            by_hand(planted, place.line, place.offset, data.draw(READING), work=WORK)
            beside = place.offset + 1 if place.offset + 1 < len(COLUMNS[place.line - 1]) else place.offset - 1
            for store in (plain, planted):
                by_hand(store, place.line, beside, "麟", work=WORK)
            assert all_files(planted, folder / "with") == all_files(plain, folder / "plain")
            assert (folder / "with" / f"{WORK}_010.txt").read_text(encoding="utf-8") == TEXT
