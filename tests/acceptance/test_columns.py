"""A column that is missing, moved or parted is put right with what is asked of it accepted, and stays
so."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.history import MARK, History, sample_project
from tests.conftest import MadeOnce
from tests.sampling import cross_section

pytestmark = pytest.mark.slow

Columns = list[str]


def missing_with_notes(columns: Columns) -> Columns:
    noted = next(number for number, column in enumerate(columns) if column.startswith("("))
    return [*columns[:noted], *columns[noted + 1 :]]


DAMAGES: dict[str, Callable[[Columns], Columns]] = {
    "missing": lambda c: [*c[:1], *c[2:]],
    "two missing": lambda c: [*c[:1], *c[3:]],
    "missing with notes": missing_with_notes,
    "moved": lambda c: [c[0], *c[2:5], c[1], *c[5:]],
    "two moved": lambda c: [*c[:5], *c[6:8], c[5], *c[8:]],
    "two moved with an error": lambda c: [c[0], *c[3:5], *c[1:3], *c[5:]],
    "reversed": lambda c: [c[0], *c[3:0:-1], *c[4:]],
    "parted": lambda c: [c[0], c[1][:8], c[1][8:], *c[2:]],
    "joined": lambda c: [c[0], c[1] + c[2], *c[3:]],
    "joined, another moved": lambda c: [c[1] + c[2], c[0], *c[3:]],
    "joined, another doubled": lambda c: [c[0], c[1] + c[2], c[3], *c[3:]],
    "doubled": lambda c: [*c[:2], *c[1:]],
    "missing and doubled": lambda c: [c[0], *c[2:5], *c[4:]],
}


def test_an_error_in_a_column_that_moved_is_written_at_its_new_place(tmp_path: Path, made_once: MadeOnce) -> None:
    history = History(tmp_path, 0, made_once("acceptance sample", sample_project), threshold=3.0)
    text = history.path.read_text(encoding="utf-8")
    column, before = " 郑注士虽为上射其辞犹尊大夫\n", "命众耦如命三耦之辞诸公卿皆未降\n"
    assert column + before in text
    history.path.write_text(text.replace(column + before, before + column.replace("尊", "雷尊")), encoding="utf-8")
    history.proof("check", "-q", "--threshold", "3")
    history.take_all()
    history.proof("export", "--in-place", "--form", "text")
    history.proof("check", "-q", "--threshold", "3")
    assert not history.open_flags()
    history.proof("export", "--in-place", "--form", "text")
    assert history.path.read_text(encoding="utf-8") == text.replace("西北耦", "西比耦")
    history.stop()


# for every second damage the export that lays the text aside comes first, so that a short run has both
ALL_WAYS = [(name, bool(number % 2) != other) for number, name in enumerate(DAMAGES) for other in (False, True)]
WAYS = cross_section(ALL_WAYS, 1, kind=lambda way: way[0])


@pytest.mark.parametrize(("damage", "aside"), WAYS)
def test_a_column_is_put_right_and_stays_so(tmp_path: Path, made_once: MadeOnce, damage: str, aside: bool) -> None:
    """Whether the export writes the file, or what it wrote elsewhere is put in its place."""
    history = History(tmp_path, 0, made_once("acceptance sample", sample_project), threshold=3.0)
    rows = history.path.read_text(encoding="utf-8").split("\n")
    first, end = [n for n, row in enumerate(rows) if row.startswith(MARK)][1:3]
    sound = rows[first + 1 : end]
    rows[first + 1 : end] = DAMAGES[damage](sound)
    history.path.write_text("\n".join(rows), encoding="utf-8")
    history.proof("check", "-q", "--threshold", "3")
    history.take_all()
    for _ in range(3):
        history.proof("export", *([] if aside else ["--in-place"]), "--form", "text")
        if aside:
            shutil.copy(history.folder / "out" / history.name, history.path)
        exported = history.path.read_text(encoding="utf-8").split("\n")
        begin, end = [n for n, row in enumerate(exported) if row.startswith(MARK)][1:3]
        assert [row.replace("西比耦", "西北耦") for row in exported[begin + 1 : end]] == sound
        history.proof("check", "-q", "--threshold", "3")
        assert [flag["line"] for flag in history.open_flags(layout=True) if flag["kind"] == "layout"] == []
    history.stop()
