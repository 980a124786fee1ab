"""The files of a work are joined, parted, or take each other's pages: each page keeps what was decided of it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from proof.exports.decided_corrections import decided_in
from proof.exports.source import correct
from proof.model.result import PageResult
from proof.store import Store
from proof.store.decision_records import Verdict
from proof.text.read import read_transcription
from tests.build import by_hand, check_files, page, queued, say

LINES = {"KR1_WYG_010-1a": ("甲乙北丙丁", "戊己庚"), "KR1_WYG_010-1b": ("子丑北寅卯", "辰巳午")}
CORRECTED = {"KR1_WYG_010-1a": ("甲乙比丙丁", "戊此庚"), "KR1_WYG_010-1b": ("子丑比寅卯", "辰此午")}
FIRST, SECOND = LINES
Files = Mapping[str, Sequence[str]]


def text_of(pages: Sequence[str], lines: Mapping[str, Sequence[str]]) -> str:
    return "".join(f"<pb:{page}>¶\n" + "".join(f"{line}¶\n" for line in lines[page]) for page in pages)


def result(name: str) -> PageResult:
    """The first line of a page has 北 where its image shows 比."""
    return page(*LINES[name], flags=[(1, 2, "北", "比")], name=name)


def check(store: Store, folder: Path, files: Files, key: str) -> None:
    for name, pages in files.items():
        (folder / name).write_text(text_of(pages, LINES), encoding="utf-8")
    results = [(folder / name, result(page)) for name, pages in files.items() for page in pages]
    check_files(store, results, key=lambda result: f"{key}{result.page}" if key else "", copies=True)


def decide(store: Store) -> None:
    """What is flagged is corrected, and a character by hand on each page."""
    for flag in queued(store):
        say(store, flag.number, Verdict.TAKE)
    for queued_page in store.queue.pages("KR1"):
        by_hand(store, 2, 1, "此", page=queued_page.page)


def exported(store: Store, path: Path) -> tuple[str, int]:
    """The corrected text, and how many decisions about it are left out."""
    decided = decided_in(store, read_transcription(path))
    return correct(decided.edition, decided.corrections).text, len(decided.left_out_here)


@pytest.mark.parametrize(
    ("before", "now", "key"),
    [
        ({"a.txt": [FIRST], "b.txt": [SECOND]}, {"c.txt": [FIRST, SECOND]}, ""),
        ({"a.txt": [FIRST], "b.txt": [SECOND]}, {"a.txt": [FIRST, SECOND]}, "as it was "),
        ({"c.txt": [FIRST, SECOND]}, {"a.txt": [FIRST], "b.txt": [SECOND]}, "as it was "),
        ({"a.txt": [FIRST, SECOND]}, {"a.txt": [FIRST], "b.txt": [SECOND]}, ""),
        ({"a.txt": [FIRST], "b.txt": [SECOND]}, {"a.txt": [SECOND], "b.txt": [FIRST]}, "as it was "),
    ],
    ids=["joined", "joined to the first", "parted", "the second part is a new file", "exchanged"],
)
def test_each_page_keeps_what_was_decided_in_whatever_file_it_is(
    tmp_path: Path, before: Files, now: Files, key: str
) -> None:
    """Also where the project is moved to another folder after that."""
    folder = tmp_path / "here"
    folder.mkdir()
    with Store.open(folder / "proof.sqlite") as store:
        check(store, folder, before, key)
        decide(store)
        for name in before.keys() - now.keys():
            (folder / name).unlink()
        check(store, folder, now, key)
        for name, pages in now.items():
            assert exported(store, folder / name) == (text_of(pages, CORRECTED), 0)
    there = Path(shutil.move(folder, tmp_path / "there"))
    with Store.open(there / "proof.sqlite") as store:
        for name, pages in now.items():
            assert exported(store, there / name) == (text_of(pages, CORRECTED), 0)


@pytest.mark.parametrize(
    ("copy", "key"), [("a.txt", ""), ("c.txt", "as it was ")], ids=["checked before it", "checked after it"]
)
def test_a_copy_put_beside_a_text_takes_nothing_that_was_decided_of_it(tmp_path: Path, copy: str, key: str) -> None:
    with Store.open(tmp_path / "proof.sqlite") as store:
        check(store, tmp_path, {"b.txt": list(LINES)}, key)
        decide(store)
        check(store, tmp_path, {name: list(LINES) for name in sorted(("b.txt", copy))}, key)
        assert exported(store, tmp_path / "b.txt") == (text_of(list(LINES), CORRECTED), 0)
        assert exported(store, tmp_path / copy)[0] == text_of(list(LINES), LINES)
