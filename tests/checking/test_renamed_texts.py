"""A file that was moved, renamed or copied with its project is a text that the store knows; any other is a new one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from proof.checking.renamed_texts import follow_renamed
from proof.store import Store
from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from tests import build
from tests.build import check_files

FIRST, SECOND = "甲乙丙丁戊己庚辛", "天地玄黃宇宙洪荒"
WORK = "KR1"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The folder of a project."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "config.toml").touch()
    return folder


@pytest.fixture
def store(project: Path) -> Iterator[Store]:
    with Store.open(project / "proof.sqlite") as store:
        yield store


def write(path: Path, line: str, page: str = "p1") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"<pb:{page}>¶\n{line}¶\n", encoding="utf-8")
    return path


def check(store: Store, *lines: tuple[Path, str]) -> None:
    check_files(
        store, [(write(path, line, f"p{n}"), build.page(line, name=f"p{n}")) for n, (path, line) in enumerate(lines)]
    )


def follow(store: Store, base: Path, *paths: Path) -> dict[str, str]:
    """Follow the files to these paths. Gives the path of each page in the store."""
    texts = [text for path in paths if isinstance(text := read_transcription(path), Transcription)]
    follow_renamed(store, WORK, texts, base)
    return {page.page: page.text for page in store.queue.uncounted_pages(WORK)}


def test_texts_of_one_name_that_were_moved_together_are_each_followed_to_its_folder(
    store: Store, project: Path
) -> None:
    check(store, (project / "上/text.txt", FIRST), (project / "下/text.txt", SECOND))
    moved = project.parent / "moved"
    for folder in "上下":
        (moved / folder).mkdir(parents=True)
        (project / folder / "text.txt").rename(moved / folder / "text.txt")
    now = follow(store, moved, moved / "上/text.txt", moved / "下/text.txt")
    assert now == {"p0": str(moved / "上/text.txt"), "p1": str(moved / "下/text.txt")}


def test_a_text_that_could_be_either_of_two_that_are_gone_is_neither(store: Store, project: Path) -> None:
    was = (project / "上/text.txt", FIRST), (project / "下/text.txt", SECOND)
    check(store, *was)
    for path, _ in was:
        path.unlink()
    now = follow(store, project, write(project / "text.txt", FIRST))
    assert now == {"p0": str(was[0][0]), "p1": str(was[1][0])}


def test_a_renamed_text_is_known_by_its_content(store: Store, project: Path) -> None:
    check(store, (project / "a.txt", FIRST), (project / "b.txt", SECOND))
    (project / "a.txt").rename(project / "c.txt")
    now = follow(store, project, project / "b.txt", project / "c.txt")
    assert now == {"p0": str(project / "c.txt"), "p1": str(project / "b.txt")}


def test_a_copy_beside_its_original_is_a_text_of_its_own(store: Store, project: Path) -> None:
    check(store, (project / "text.txt", FIRST))
    now = follow(store, project, write(project / "copy/text.txt", FIRST))
    assert now == {"p0": str(project / "text.txt")}


def test_a_copied_project_has_its_own_texts(store: Store, project: Path) -> None:
    check(store, (project / "上/text.txt", FIRST), (project / "下/text.txt", SECOND))
    copied = project.parent / "copied"
    paths = write(copied / "上/text.txt", FIRST), write(copied / "下/text.txt", SECOND)
    assert follow(store, copied, *paths) == {"p0": str(paths[0]), "p1": str(paths[1])}
