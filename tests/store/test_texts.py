"""Versions of texts: exported decisions, and content that is outdated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proof.checking.pagination import without_images
from proof.exports.decided_corrections import decided_in
from proof.exports.source import correct
from proof.model.geometry import Box
from proof.model.result import CheckedColumn, PageResult, Status
from proof.store import Store
from proof.store.carried_places import ExportEdits
from proof.store.column_changes import ColumnChange
from proof.store.decision_records import RefusedDecisionError, Verdict
from proof.store.manual_corrections import ManualCorrection
from proof.text.positions import Span
from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from tests.build import PLACE, check, check_at, key, page, run_info
from tests.sampling import cross_section
from tests.store.conftest import on_both
from tests.store.exported import LINES, content, export
from tests.text.formats.samples import SAMPLES


@on_both
def test_a_decision_is_exported_once_however_often_the_text_is_exported_and_checked(decided: Store) -> None:
    first = export(decided)
    assert "上射揖揖坐" in first
    for _ in range(5):
        check(decided, page("上射揖揖坐", "東面于比耦大夫", LINES[2]))
        assert export(decided) == first
        assert decided.decisions.displaced("KR1") == []


@on_both
@pytest.mark.parametrize(("line", "offset", "length", "reading"), [(1, 3, 0, "揖"), (2, 3, 1, "比"), (3, 1, 1, "")])
def test_a_correction_that_an_export_wrote_for_another_work_is_written(
    store: Store, line: int, offset: int, length: int, reading: str
) -> None:
    """The second work was not checked since, so nobody sees it there."""
    for work in ("KR1", "KR2"):
        check(store, page(*LINES), info=run_info(work))
    written = set()
    for work in ("KR1", "KR2"):
        [of_work] = store.queue.uncounted_pages(work)
        verdict = Verdict.TYPED if reading else Verdict.DELETE
        made = ManualCorrection(work, of_work.number, line, offset, length, reading, "甲", key(), verdict)
        store.manual_corrections.correct(made)
        written.add(export(store))
    assert len(written) == 1
    assert store.decisions.displaced("KR2") == []


@on_both
def test_outdated_content_is_not_recorded_over_newer_content(decided: Store) -> None:
    versions = decided.texts
    before, after = content(decided), export(decided)
    newer = f"{after}又\n"
    assert versions.record_content(PLACE.text, newer, "", lambda: True)
    assert not versions.record_content(PLACE.text, before, "", lambda: False)
    versions.record_export(PLACE.text, before, f"{before}也", "", ExportEdits(()), lambda: False)
    assert versions.content(PLACE.text) == newer
    decided.texts.move("KR1", PLACE.text, "other.txt")
    assert not versions.record_content(PLACE.text, newer + "也", "traditional", lambda: True)
    assert versions.paths() == {"other.txt"}


def check_file(store: Store, folder: Path, sample: str) -> tuple[Transcription, dict[int, str]]:
    """A file that was checked as a text of one page, and the columns of the page."""
    path = folder / SAMPLES[sample].path.name
    path.write_bytes(SAMPLES[sample].data)
    edition = read_transcription(path)
    [first, *_] = (edition if edition.paged else without_images(edition)).pages
    sources = {column.number: column.source for column in first.columns}
    columns = tuple(CheckedColumn(number, Box(100 * number, 0, 90, 100), source) for number, source in sources.items())
    result = PageResult(first.id, first.id, Status.CHECKED, columns=columns)
    lines = {column.number: Span(column.start, len(column.source)) for column in first.columns}
    check_at(store, edition.text, [(replace(PLACE, text=str(path), lines=lines), result)], text=str(path))
    return edition, sources


def is_decided(store: Store, line: int, offset: int, reading: str, change: ColumnChange | None = None) -> bool:
    """Whether a correction by hand, which inserts the reading, is taken."""
    made = ManualCorrection("KR1", 1, line, offset, 0, reading, "甲", key(), Verdict.TYPED, change=change)
    try:
        store.manual_corrections.correct(made)
    except RefusedDecisionError:
        return False
    return True


@pytest.mark.parametrize("sample", ["tei", "wikitext", "docx", "page"])
def test_a_place_that_the_export_would_refuse_is_refused_when_it_is_decided(
    store: Store, tmp_path: Path, sample: str
) -> None:
    """In running text the mark of a heading (`### `) is none of the file, nor are the tags of commentary."""
    edition, sources = check_file(store, tmp_path, sample)
    every = [(line, offset) for line, source in sources.items() for offset in range(len(source) + 1)]
    places = cross_section(every, 30, lambda place: sources[place[0]][place[1] - 1 : place[1] + 1].isascii())
    taken = [is_decided(store, line, offset, "龍") for line, offset in places]
    decided = decided_in(store, edition)
    assert correct(edition, decided.corrections).refused == ()
    assert len(decided.corrections) == sum(taken)
    path = edition.path
    again, others = Store.open(tmp_path / "again.sqlite"), tmp_path / "again"
    others.mkdir()
    with again:
        check_file(again, others, sample)
        (others / path.name).unlink()  # a file that is gone is not asked
        taken_unasked = [is_decided(again, line, offset, "龍") for line, offset in places]
        (others / path.name).write_bytes(SAMPLES[sample].data)
        refused = correct(edition, decided_in(again, read_transcription(others / path.name)).corrections).refused
    assert len(refused) == sum(taken_unasked) - sum(taken) > 0


@pytest.mark.parametrize("change", ColumnChange)
def test_the_columns_of_a_file_whose_lines_are_elements_stay_as_they_are(
    store: Store, tmp_path: Path, change: ColumnChange
) -> None:
    """A column that was added or split was written into the element of its neighbour."""
    check_file(store, tmp_path, "page")
    added = "龍" if change in (ColumnChange.ADD_BEFORE, ColumnChange.ADD_AFTER) else ""
    assert not is_decided(store, 1, 1 if change is ColumnChange.SPLIT else 0, added, change)
