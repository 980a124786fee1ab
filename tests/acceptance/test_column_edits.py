"""Columns that people edit, add, delete, split and join are in the file as they were edited."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.column_edits import COLUMNS, ColumnEdits
from tests.acceptance.history import MADE, base_project
from tests.conftest import MadeOnce

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", [4, 20])
def test_edited_columns_are_in_the_file_after_each_export(tmp_path: Path, made_once: MadeOnce, seed: int) -> None:
    ColumnEdits(tmp_path, seed, made_once("acceptance", base_project)).run(steps=4)


def test_two_columns_are_added_one_after_the_other_behind_the_same_column(tmp_path: Path, made_once: MadeOnce) -> None:
    history = ColumnEdits(tmp_path, 0, made_once("acceptance", base_project))
    [first, *_] = history.ask("GET", "pages?limit=50")[1]["items"]
    at = history.row(first["page"], 1)
    for added in COLUMNS:
        column = history.ask("GET", f"pages/{first['number']}")[1]["columns"][0]
        status, answer = history.send_edit(first["number"], column, change="add after", text=added)
        assert status in MADE, answer
        history.proof("export", history.name, "--in-place", "--form", "text")
        history.proof("check", "-q")
    lines = history.path.read_text(encoding="utf-8").split("\n")
    assert lines[at + 1 : at + 3] == [COLUMNS[1], COLUMNS[0]]
    history.ask("POST", "undo", key=history.key())
    history.proof("export", history.name, "--in-place", "--form", "text")
    lines = history.path.read_text(encoding="utf-8").split("\n")
    assert lines[at + 1 : at + 2] == [COLUMNS[0]]
    assert COLUMNS[1] not in lines
    history.stop()


def test_a_split_that_is_taken_back_and_the_deletion_of_its_second_half_are_not_both_written(
    tmp_path: Path, made_once: MadeOnce
) -> None:
    history = ColumnEdits(tmp_path, 0, made_once("acceptance", base_project))
    [first, *_] = history.ask("GET", "pages?limit=50")[1]["items"]
    for person, number, change in (("甲", 1, {"change": "split", "at": 4}), ("乙", 2, {"change": "delete"})):
        history.person = person
        columns = history.ask("GET", f"pages/{first['number']}")[1]["columns"]
        [column] = [column for column in columns if column["number"] == number]
        status, answer = history.send_edit(first["number"], column, **change)
        assert status in MADE, answer
        if person == "甲":
            history.proof("export", history.name, "--in-place", "--form", "text")
            history.proof("check", "-q")
    split = history.path.read_text(encoding="utf-8")
    history.person = "甲"
    history.ask("POST", "undo", key=history.key())
    _, planned = history.proof("export", history.name, "--dry-run")
    assert "contradicts another decision about the same place; take back one of the two: 2" in planned
    history.proof("export", history.name, "--in-place", "--form", "text")
    assert history.path.read_text(encoding="utf-8") == split
    history.stop()


def test_a_column_that_was_split_is_not_asked_about(tmp_path: Path, made_once: MadeOnce) -> None:
    history = ColumnEdits(tmp_path, 0, made_once("acceptance", base_project))
    page = history.ask("GET", "pages?limit=50")[1]["items"][2]
    column = history.ask("GET", f"pages/{page['number']}")[1]["columns"][0]
    asked = {flag["id"] for flag in history.open_flags(layout=True)}
    assert history.send_edit(page["number"], column, change="split", at=4)[0] in MADE
    history.proof("export", history.name, "--in-place", "--form", "text")
    history.proof("check", "-q")
    assert {flag["id"] for flag in history.open_flags(layout=True)} == asked
    history.stop()


def test_a_typed_column_that_was_edited_is_not_asked_about_when_the_same_is_typed_again_before_it(
    tmp_path: Path, made_once: MadeOnce
) -> None:
    history = ColumnEdits(tmp_path, 0, made_once("acceptance", base_project))
    page = history.ask("GET", "pages?limit=50")[1]["items"][2]
    typed = COLUMNS[0]
    edited = f"{typed[:2]}某{typed[2:]}"
    asked = {flag["id"] for flag in history.open_flags(layout=True)}
    edits = (
        ("", {"change": "add after", "text": typed}),
        (typed, {"text": edited}),
        (edited, {"change": "add before", "text": typed}),
        (typed, {"change": "add before", "text": COLUMNS[1]}),  # after this check nothing is at the version between
    )
    for now, edit in edits:
        columns = history.ask("GET", f"pages/{page['number']}")[1]["columns"]
        column = next((column for column in columns if column["now"] == now), columns[-1])
        status, answer = history.send_edit(page["number"], column, **edit)
        assert status in MADE, answer
        history.proof("export", history.name, "--in-place", "--form", "text")
        history.proof("check", "-q")
    assert f"\n{typed}\n{edited}\n" in history.path.read_text(encoding="utf-8")
    assert {flag["id"] for flag in history.open_flags(layout=True)} == asked
    history.stop()
