"""`proof demo`: the sample becomes a project of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.commands.demo import sample_project
from proof.errors import UsageError
from proof.paths import sample_dir
from proof.settings.config import Settings


def test_in_the_folder_of_the_source_it_is_checked_where_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(sample_dir())
    assert sample_project(None) == sample_dir()


def test_elsewhere_it_is_copied_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for named, folder in ((None, "proof-demo"), (Path("mine"), "mine")):
        assert sample_project(named) == Path(folder)
        settings = Settings.load(tmp_path / folder)
        assert settings.text_files()[0].is_relative_to(tmp_path / folder)
        (tmp_path / folder / "pages" / "dasheyi.txt").write_text("decided", encoding="utf-8")
        assert sample_project(named) == Path(folder)
        assert (tmp_path / folder / "pages" / "dasheyi.txt").read_text(encoding="utf-8") == "decided"


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").touch()
    with pytest.raises(UsageError, match="is not empty"):
        sample_project(tmp_path)
    (tmp_path / "config.toml").write_text("[page]\ncolumn_length = 20\n", encoding="utf-8")
    with pytest.raises(UsageError, match="is another project"):
        sample_project(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.toml", "letter.txt"]
