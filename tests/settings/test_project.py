"""The project of a command: the named one, that of the texts, or that of the working folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.errors import ConfigError, UsageError
from proof.paths import sample_dir
from proof.settings.project import names_all, project_settings, projects_near


def project(folder: Path, *texts: str, config: str = "") -> Path:
    """Create a project with these texts in its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for text in texts:
        (folder / text).parent.mkdir(parents=True, exist_ok=True)
        (folder / text).touch()
    listed = ", ".join(f'"{text}"' for text in texts)
    (folder / "config.toml").write_text(f"[project]\ntexts = [{listed}]\n{config}", encoding="utf-8")
    return folder


def folder_of(*texts: Path) -> Path | None:
    """The folder of the project of these texts if none is named."""
    return project_settings(None, texts).folder


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, which is no project."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_the_project_is_the_named_one_or_the_working_folder(elsewhere: Path, tmp_path: Path) -> None:
    named = project(tmp_path / "named", "a.txt")
    other = project(tmp_path / "other", "b.txt")
    assert project_settings(named).folder == project_settings(named, [other / "b.txt"]).folder == named
    settings = project_settings(None)
    assert settings.folder == elsewhere
    assert settings.store_address == elsewhere / "proof.sqlite"
    assert settings.project.out == elsewhere / "out"


def test_a_text_belongs_to_the_project_around_it_or_that_names_it(elsewhere: Path, tmp_path: Path) -> None:
    folder = project(tmp_path / "book", "a.txt", "juan/1.txt")
    for text in ("a.txt", "juan/1.txt", "not_named.txt"):
        assert folder_of(folder / text) == folder_of(Path("..") / "book" / text) == folder
    (tmp_path / "outside.txt").touch()
    project(elsewhere, "../outside.txt")
    assert folder_of(tmp_path / "outside.txt") == elsewhere


def test_a_text_in_no_project_belongs_to_its_folder(elsewhere: Path, tmp_path: Path) -> None:
    project(elsewhere, "a.txt", config="[page]\ncolumns = 9\n")
    (tmp_path / "config.toml").write_text("[build]\njobs = 4\n", encoding="utf-8")  # of another program
    own = tmp_path / "own"
    own.mkdir()
    lone = project_settings(None, [own / "b.txt"])
    assert (lone.folder, lone.page.columns) == (own, 8)
    assert list(own.iterdir()) == []
    decided = lone.replace({"project.out": "found"}).store_address
    project(own, "b.txt", config='out = "results"\n')
    assert project_settings(None, [own / "b.txt"]).store_address == decided, "once the folder has settings"


def test_a_text_that_two_projects_name_is_refused(elsewhere: Path, tmp_path: Path) -> None:
    folder = project(tmp_path / "book", "a.txt")
    project(elsewhere, "../book/a.txt")
    with pytest.raises(UsageError, match=r"is named by two projects, .*: say with --config which one is meant"):
        folder_of(folder / "a.txt")
    assert project_settings(folder, [folder / "a.txt"]).folder == folder


def test_texts_of_two_folders_without_a_project_are_refused_with_advice(elsewhere: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="proof init FOLDER --texts"):
        folder_of(tmp_path / "a" / "1.txt", tmp_path / "b" / "2.txt")


def test_the_sample_project_accepts_no_other_texts(elsewhere: Path) -> None:
    sample = sample_dir()
    assert folder_of(sample / "pages" / "dasheyi.txt") == sample
    assert folder_of(sample / "mine" / "a.txt") == sample / "mine"
    with pytest.raises(UsageError, match="the folder of the sample project, but is not one of its texts"):
        folder_of(sample / "a.txt")


def test_an_error_in_the_settings_of_the_working_folder_is_reported(elsewhere: Path, tmp_path: Path) -> None:
    project(elsewhere, "../own/a.txt", config="[page]\ncolums = 9\n")
    with pytest.raises(ConfigError, match="did you mean columns"):
        folder_of(tmp_path / "own" / "a.txt")


def test_a_pattern_that_matches_nothing_names_nothing(elsewhere: Path) -> None:
    (elsewhere / "config.toml").write_text('[project]\ntexts = ["none/*.txt"]\n', encoding="utf-8")
    assert not names_all(project_settings(None), [Path("a.txt")])


def test_a_library_without_settings_is_a_project_by_its_store(elsewhere: Path, tmp_path: Path) -> None:
    (tmp_path / "proof.sqlite").touch()
    assert projects_near(elsewhere) == f"there is a project in {tmp_path}: name it with --config {tmp_path}"
    assert project_settings(tmp_path).store_address == tmp_path / "proof.sqlite"
    with pytest.raises(ConfigError, match="there is no such file"):
        project_settings(elsewhere)


def test_projects_around_a_folder_are_named(elsewhere: Path, tmp_path: Path) -> None:
    assert projects_near(elsewhere) == ""
    project(elsewhere / "one", "a.txt")
    assert projects_near(elsewhere) == "there is a project in one: name it with --config one"
    project(elsewhere / "shelf" / "two", "b.txt")
    project(tmp_path, "c.txt")
    assert projects_near(elsewhere) == (
        f"there are projects in {tmp_path} and one and shelf/two: name it with --config {tmp_path}"
    )
