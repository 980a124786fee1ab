"""A library: every work below a folder into one store, a bad one at its own cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proof.checking import library
from proof.checking.library import LibraryRechecker, check_library, library_settings
from proof.checking.pipeline import check
from proof.errors import OutputError
from proof.locale.notices import in_english
from proof.settings.config import Settings
from proof.store import Store
from proof.store.library import FolderState
from tests.sample import lay_out

pytestmark = pytest.mark.slow

KANRIPO = "<pb:{work}_WYG_001-1a>¶\n射人告具于公¶\n<pb:{work}_WYG_001-1b>¶\n小臣師納卿大夫¶\n"


def add(folder: Path, work: str, config: str = "") -> None:
    """A work of two pages without images."""
    folder.mkdir(parents=True)
    (folder / f"{work}_001.txt").write_text(KANRIPO.format(work=work), encoding="utf-8")
    if config:
        (folder / "config.toml").write_text(config, encoding="utf-8")


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """Three works, one of them a project of its own, one further down, and one that cannot be read."""
    own = '[project]\ntitle = "大射"\ntexts = ["*.txt"]\n[store]\nurl = "sqlite:///own.sqlite"\n'
    add(tmp_path / "KR1d0001", "KR1d0001")
    add(tmp_path / "經" / "KR1d0002", "KR1d0002", own)
    add(tmp_path / "KR3a0003", "KR3a0003")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "text.txt").write_bytes(b"\xff\xfe\x00\x01")
    (tmp_path / "config.toml").write_text('[engine]\nname = "null"\n', encoding="utf-8")
    return tmp_path


def checked(folder: Path) -> tuple[list[str], list[library.WorkOutcome]]:
    """The folders in the order in which they were begun, and what became of them."""
    begun: list[str] = []
    settings = library_settings(folder)
    outcomes = check_library(settings, None, lambda name, *_: begun.append(name), lambda _: None)
    return begun, outcomes


def test_a_work_that_cannot_be_read_costs_that_work(shelf: Path) -> None:
    begun, outcomes = checked(shelf)
    assert sorted(begun) == ["KR1d0001", "KR3a0003", "bad", "經/KR1d0002"]
    assert [outcome.folder for outcome in outcomes if outcome.outcome is None] == ["bad"]
    with Store.open(library_settings(shelf).store_address) as store:
        lines = {line.folder: line for line in store.library.works()}
    assert {name: line.state for name, line in lines.items()} == {
        "KR1d0001": FolderState.CHECKED,
        "KR3a0003": FolderState.CHECKED,
        "經/KR1d0002": FolderState.CHECKED,
        "bad": FolderState.FAILED,
    }
    assert lines["bad"].trouble is not None
    assert "UTF" in in_english(lines["bad"].trouble)
    assert (lines["經/KR1d0002"].work, lines["經/KR1d0002"].title) == ("KR1d0002", "大射")
    assert lines["KR1d0001"].counts.pages == {"no image": 2}
    assert not (shelf / "經" / "KR1d0002" / "own.sqlite").exists()
    assert (shelf / "out" / "KR1d0001" / "report.html").is_file()


def test_works_are_checked_as_the_project_ranks_them_and_unfinished_ones_first(shelf: Path) -> None:
    (shelf / "config.toml").write_text('[engine]\nname = "null"\n[library]\nfirst = "KR3* 經/*"\n', encoding="utf-8")
    first, _ = checked(shelf)
    assert first == ["KR3a0003", "經/KR1d0002", "KR1d0001", "bad"]
    add(shelf / "KR9", "KR9z0009")
    second, _ = checked(shelf)
    assert second == ["KR3a0003", "經/KR1d0002", "KR9", "bad", "KR1d0001"]


def test_a_library_that_was_interrupted_goes_on_where_it_was(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, seen = check, []

    def interrupted(settings: Settings, *rest: Any, **given: Any) -> Any:
        seen.append(settings.project.texts[0].stem)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return real(settings, *rest, **given)

    monkeypatch.setattr(library, "check", interrupted)
    with pytest.raises(KeyboardInterrupt):
        checked(shelf)
    begun, outcomes = checked(shelf)
    assert begun[-1] == "KR1d0001"  # the one that was done
    assert sum(outcome.outcome is not None for outcome in outcomes) == 3


def test_two_folders_with_one_work_are_not_mixed(shelf: Path) -> None:
    add(shelf / "again", "KR1d0001")
    _, outcomes = checked(shelf)
    trouble = {outcome.folder: in_english(outcome.trouble) for outcome in outcomes if outcome.trouble}
    assert "has the same work, KR1d0001" in trouble.get("again", "") + trouble.get("KR1d0001", "")


def test_a_store_that_fails_stops_the_library(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OutputError("the disk is full")

    monkeypatch.setattr(library, "check", full)
    with pytest.raises(OutputError, match="the disk is full"):
        checked(shelf)


def test_the_command_checks_all_and_says_which_could_not_be(shelf: Path, run: Callable[..., Any]) -> None:
    completed = run("check", "--library", ".")
    assert completed.returncode == 1
    assert "bad: not checked: " in completed.stderr
    assert "KR1d0001: 2 pages, none seen on images, 2 without an image: 0 places flagged" in completed.stdout
    assert run("check", "text.txt", "--library", ".").returncode == 2


def test_the_reports_of_a_work_are_written_again_where_the_check_wrote_them(
    shelf: Path, run: Callable[..., Any]
) -> None:
    run("check", "--library", ".")
    before = (shelf / "out" / "經" / "KR1d0002" / "report.html").read_bytes()
    assert "report: out/經/KR1d0002/report.html" in run("report", "--work", "KR1d0002", "--lang", "zh-Hant").stdout
    assert (shelf / "out" / "經" / "KR1d0002" / "report.html").read_bytes() != before
    assert not (shelf / "out" / "report.html").exists()


def test_a_page_of_a_library_is_read_again_by_the_settings_of_its_work(tmp_path: Path) -> None:
    """Its images lie in the folder of the work, not in those of the library."""
    lay_out(tmp_path / "書", 1, "text.txt")
    (tmp_path / "config.toml").write_text('[engine]\nname = "null"\n', encoding="utf-8")
    checked(tmp_path)
    settings = library_settings(tmp_path)
    with Store.open(settings.store_address) as store:
        [line] = store.library.works()
        [page] = store.queue.pages(line.work)
        before = store.queue.results([page.number])[page.number]
        reread = LibraryRechecker(settings, store).read(line.work, page.number)
        assert reread.trouble is None or reread.result.status is before.status
        assert reread.result.image == before.image
        assert reread.result.image is not None
