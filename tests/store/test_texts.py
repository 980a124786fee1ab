"""Versions of texts: exported decisions, and content that is outdated."""

from __future__ import annotations

from proof.store import Store
from proof.store.carried_places import ExportEdits
from tests.build import PLACE, check, page
from tests.store.conftest import on_both
from tests.store.exported import LINES, content, export


@on_both
def test_a_decision_is_exported_once_however_often_the_text_is_exported_and_checked(decided: Store) -> None:
    first = export(decided)
    assert "上射揖揖坐" in first
    for _ in range(5):
        check(decided, page("上射揖揖坐", "東面于比耦大夫", LINES[2]))
        assert export(decided) == first
        assert decided.decisions.displaced("KR1") == []


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
