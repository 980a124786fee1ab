"""Options come from the settings' own declarations."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.commands.check import command
from proof.commands.options import CHECKING, existing_store, must_be_checkable, settings_of, spelling
from proof.errors import UsageError
from proof.settings.config import SETTINGS


def test_every_setting_of_a_check_is_an_option_of_its_own() -> None:
    options = {option for parameter in command.params for option in parameter.opts}
    spelled = [spelling(SETTINGS[name]) for name in CHECKING]
    assert len(set(spelled)) == len(spelled)
    assert set(spelled) <= options


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of two texts, which is the working folder; a third text lies beside them."""
    for name in ("one.txt", "two.txt", "other.md"):
        (tmp_path / name).touch()
    (tmp_path / "config.toml").write_text(
        '[project]\ntitle = "儀禮"\ntexts = ["*.txt"]\nimages = ["img"]\n[page]\ncolumns = 9\n', encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("url", ["", "sqlite:///none.sqlite", "sqlite:////none/none.sqlite"])
def test_a_store_that_is_not_there_is_named_and_not_made(project: Path, url: str) -> None:
    settings = settings_of(None, given={"store.url": url} if url else {})
    with pytest.raises(UsageError, match=r"\.sqlite: there is no store"):
        existing_store(settings)
    assert not list(project.glob("*.sqlite"))


def test_where_a_store_is_missing_the_projects_around_are_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")
    with pytest.raises(UsageError, match=rf"there is a project in {project}: name it with --config {project}"):
        existing_store(settings_of(None))
    with pytest.raises(UsageError, match=r"nothing to check: .*there is a project in"):
        must_be_checkable(settings_of(None))
