"""`proof export`: what was decided of a project goes into its texts, and what cannot is named before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proof.cli import main
from proof.model.flags import Evidence, Flag, Kind
from proof.model.geometry import Box
from proof.model.result import CheckedColumn, PageResult, Status
from proof.store import Store
from proof.store.column_changes import ColumnChange
from proof.store.decision_records import Decision, RefusedDecisionError, Verdict
from proof.store.manual_corrections import ManualCorrection
from proof.store.page_states import PageState
from proof.store.saving import CheckedResult
from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from tests import build
from tests.build import page_place, text_info

WORK = "KR1d0030"
PAGE = "KR1d0030_WYG_010-1a"
LINES = ("上射揖坐", "東面于北耦大夫", "與進者相左")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one text of one page, in the present folder."""
    (tmp_path / "config.toml").write_text('[project]\ntexts = ["*.txt"]\nimages = ["."]\n', encoding="utf-8")
    (tmp_path / "text.txt").write_text(text_of(LINES), encoding="utf-8", newline="")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def text_of(lines: Sequence[str]) -> str:
    return f"<pb:{PAGE}>¶\n" + "".join(f"{line}¶\n" for line in lines)


def found(line: int, offset: int, here: str, there: str) -> Flag:
    return build.flag(line, offset, here, there, name=PAGE, source=LINES[line - 1])


def of_column(line: int, here: str, there: str, reason: str) -> Flag:
    values: dict[str, Any] = {"kind": Kind.LAYOUT, "evidence": Evidence(reason), "id": f"c-{line}", "context": reason}
    return build.flag(line, 0, here, there, name=PAGE, **values)


def check(project: Path, *flags: Flag) -> None:
    """A check that finds these flags."""
    path = project / "text.txt"
    text = read_transcription(path)
    assert isinstance(text, Transcription)
    columns = tuple(CheckedColumn(column.number, Box(0, 0, 9, 9), column.source) for column in text.pages[0].columns)
    result = PageResult(PAGE, "r", Status.CHECKED, columns=columns, flags=flags)
    with Store.open(project / "proof.sqlite") as store:
        run = store.begin_run(replace(build.run_info(WORK), texts=(text_info(path),)))
        store.save_pages(run, [CheckedResult(page_place(0, path, PAGE), "", result)])
        store.finish_run(run, whole=True)


def take_all(project: Path) -> None:
    with Store.open(project / "proof.sqlite") as store:
        for flag in build.queued(store, WORK):
            build.decide(store, flag.number, Verdict.TAKE, work=WORK)


def proofread(project: Path) -> None:
    with Store.open(project / "proof.sqlite") as store:
        store.page_states.set(WORK, 1, PageState.PROOFREAD, 0, "乙", "proofread-0001")


def reads_as_proofread(project: Path) -> bool:
    with Store.open(project / "proof.sqlite") as store:
        return not store.queue.pages(WORK)[0].changed


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ([(1, "add before", "命上射曰", 0)], ("命上射曰", *LINES)),
        ([(2, "add after", "　命(上/射)曰", 0)], (*LINES[:2], "　命(上/射)曰", LINES[2])),
        ([(3, "add after", "命上射曰", 0)], (*LINES, "命上射曰")),
        ([(1, "delete", "", 0)], LINES[1:]),
        ([(3, "delete", "", 0)], LINES[:2]),
        ([(2, "split", "", 3)], (LINES[0], "東面于", "北耦大夫", LINES[2])),
        ([(1, "join", "", 0)], (LINES[0] + LINES[1], LINES[2])),
        (
            [(2, "split", "", 4), (2, "join", "", 0), (1, "add before", "甲", 0), (1, "delete", "", 0)],
            ("甲", "東面于北", "耦大夫" + LINES[2]),
        ),
    ],
    ids=["before", "between", "at the end", "first", "last", "split", "join", "several"],
)
def test_columns_that_people_add_delete_split_and_join_stand_in_the_text_round_after_round(
    project: Path, changes: Sequence[tuple[int, str, str, int]], lines: Sequence[str]
) -> None:
    """Its lines end as on another system."""

    def text(lines: Sequence[str]) -> bytes:
        return text_of(lines).replace("\n", "\r\n").encode()

    (project / "text.txt").write_bytes(text(LINES))
    check(project, found(2, 0, "東", "西"))
    take_all(project)
    with Store.open(project / "proof.sqlite") as store:
        for n, (line, change, added, offset) in enumerate(changes):
            made = change_column(store, line, change, added, offset, key=f"change-{n}")
            assert change_column(store, line, change, added, offset, key=f"change-{n}").id == made.id
    proofread(project)
    for _ in range(2):
        assert main(["export", "--in-place", "--form", "text"]) == 0
        assert (project / "text.txt").read_bytes() == text([line.replace("東", "西") for line in lines])
        check(project)
        assert reads_as_proofread(project)
    with Store.open(project / "proof.sqlite") as store:
        for n in range(len(changes)):
            store.acts.undo(WORK, "甲", f"undo-{n:06}")
    assert main(["export", "--in-place", "--form", "text"]) == 0
    assert (project / "text.txt").read_bytes() == text([line.replace("東", "西") for line in LINES])


def change_column(store: Store, line: int, change: str, text: str = "", offset: int = 0, *, key: str = "") -> Decision:
    wanted = ManualCorrection(WORK, 1, line, offset, 0, text, "甲", key or build.key())
    return store.manual_corrections.correct(replace(wanted, change=ColumnChange(change)))


@pytest.mark.parametrize(
    ("before", "line", "change", "text", "offset", "reason"),
    [
        ((), 1, "split", "", 0, "between two"),
        ((), 1, "split", "", 2, "torn apart"),
        ((), 1, "split", "", 9, "torn apart"),
        ((), 1, "add after", "(甲", 0, "torn apart"),
        ((), 1, "add after", "# 甲", 0, "no column"),
        ((), 1, "add after", " ", 0, "type the column"),
        ((), 3, "join", "", 0, "not on this page"),
        ((), 2, "delete", "", 0, "something else"),
        ([(2, "split", 2)], 2, "split", "", 2, "something else"),
        ([(3, "delete", 0)], 2, "join", "", 0, "something else"),
        ([(2, "join", 0)], 3, "add before", "甲", 0, "something else"),
        ([(1, "delete", 0)], 1, "add after", "甲", 0, "something else"),
        ([(2, "join", 0)], 3, "delete", "", 0, "something else"),
    ],
)
def test_a_column_is_not_changed_where_the_text_would_lose_its_structure_or_a_decision(
    project: Path,
    before: Sequence[tuple[int, str, int]],
    line: int,
    change: str,
    text: str,
    offset: int,
    reason: str,
) -> None:
    text_file = project / "text.txt"
    text_file.write_text(text_of(("上(射揖/坐)又⿰金本", *LINES[1:])), encoding="utf-8", newline="")
    check(project, found(2, 3, "北", "比"))
    take_all(project)
    with Store.open(project / "proof.sqlite") as store:
        for at, done, place in before:
            change_column(store, at, done, offset=place)
        with pytest.raises(RefusedDecisionError, match=reason):
            change_column(store, line, change, text, offset)


def test_what_cannot_be_written_is_named_and_keeps_nothing_else_back(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check(project, of_column(0, "", "2a", "image mismatch"), found(2, 3, "北", "比"))
    take_all(project)
    before = (project / "text.txt").read_bytes()
    assert main(["export", "--dry-run", "--in-place"]) == 0
    output = capsys.readouterr()
    assert output.out.splitlines() == [f"page {PAGE}, column 2, offset 3: 北 → 比 (甲)"]
    assert "not written, about a whole page" in output.err
    assert (project / "text.txt").read_bytes() == before
    assert not (project / "out").exists()
    assert main(["export", "--in-place"]) == 0
    assert "于比耦" in (project / "text.txt").read_text(encoding="utf-8")


def test_a_form_that_lies_on_images_is_named_where_no_page_has_one(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check(project, found(2, 3, "北", "比"))
    assert main(["export", "--form", "pdf", "--form", "hocr", "--form", "text"]) == 1
    stderr = capsys.readouterr().err
    assert "text.txt: pdf needs images" in stderr
    assert "text.txt: hocr needs images" in stderr
    assert [path.name for path in (project / "out").iterdir()] == ["text.txt"]


def test_a_project_is_exported_whole_and_a_text_that_cannot_be_costs_itself(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check(project, found(2, 3, "北", "比"))
    take_all(project)
    (project / "unchecked.txt").write_text(text_of(LINES), encoding="utf-8")
    assert main(["export", "--dry-run"]) == 1
    output = capsys.readouterr()
    assert output.out.splitlines()[0] == str(project / "text.txt")
    assert "\n1 correction\n" in f"\n{output.err}"
    assert main(["export", "--form", "text"]) == 1
    assert "unchecked.txt was not checked" in capsys.readouterr().err
    assert "于比耦" in (project / "out" / "text.txt").read_text(encoding="utf-8")
