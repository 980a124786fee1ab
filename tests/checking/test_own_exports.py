"""A file that was replaced by what an export wrote elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from proof.checking.own_exports import note_own_export
from proof.settings.config import Settings
from proof.store import Store
from proof.store.decision_records import Verdict
from tests.exports.conftest import TEXT
from tests.exports.test_decided_corrections import NORTH, SAY, Project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A text of one page that was checked once; one of its two flags is accepted."""
    with Store.open(tmp_path / "proof.sqlite") as store:
        project = Project(store, tmp_path / "KR1_010.txt")
        project.write(TEXT)
        project.check(NORTH, SAY)
        project.say("f-north", Verdict.TAKE)
        yield project


def test_what_an_export_would_write_is_noted_as_written(project: Project) -> None:
    project.write(TEXT.replace("西北", "西比"))
    note_own_export(project.store, project.edition, Settings())
    assert project.store.texts.content(str(project.path)) == project.edition.text
    assert [correction.flag for correction in project.decided.applied] == ["f-north"]


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("西北", "西比").replace("曰告", "白告"), "西北\n"])
def test_any_other_text_waits_for_its_check(project: Project, text: str) -> None:
    project.write(text)
    note_own_export(project.store, project.edition, Settings())
    assert project.store.texts.content(str(project.path)) == TEXT
