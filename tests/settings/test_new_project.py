"""The config.toml of a new project, and texts that are added to one."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from proof.errors import ConfigError, OutputError
from proof.settings.config import Settings
from proof.settings.new_project import PROJECT_SETTINGS, add_to_project, write_project


def written(folder: Path, **given: Any) -> Settings:
    """A project made with these settings, read again; `page__columns` is `page.columns`."""
    named = {name.replace("__", "."): value for name, value in given.items()}
    settings = Settings.of_folder(folder).replace(named)
    return Settings.load(write_project(settings, named))


def test_it_names_the_texts_and_what_was_given_and_nothing_else(tmp_path: Path) -> None:
    texts, images = [tmp_path / '甲 "1".txt'], [tmp_path / "img", tmp_path.parent / "far"]
    settings = written(
        tmp_path, project__texts=texts, project__images=images, page__columns=9, flags__language_model=False
    )
    assert settings.project.texts == tuple(texts)
    assert settings.project.images == tuple(images)
    assert (settings.page.columns, settings.flags.language_model) == (9, False)
    values = tomllib.loads((tmp_path / "config.toml").read_text(encoding="utf-8"))
    assert values["project"]["images"] == ["img", str(tmp_path.parent / "far")]
    assert {section: list(keys) for section, keys in values.items()} == {
        "project": ["texts", "images"],
        "page": ["columns"],
        "flags": ["language_model"],
    }


def test_every_setting_that_is_kept_comes_back_as_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    values: dict[str, Any] = {
        "project.title": '儀禮 "集釋"\\',
        "project.imglist": tmp_path / "lists",
        "project.witnesses": [f"甲={tmp_path}/w.txt", f"{tmp_path}/repository@WYG"],
        "project.out": tmp_path.parent / "reports",
        "engine.recording": tmp_path / "file",
        "store.url": f"sqlite:///{tmp_path}/other.sqlite",
        "flags.threshold": 2.5,
    }
    assert values.keys() <= set(PROJECT_SETTINGS)
    before = Settings.of_folder(tmp_path).replace({"project.texts": [tmp_path / "a.txt"], **values})
    after = Settings.load(write_project(before, values))
    assert after == before


def test_a_password_in_the_address_of_a_store_is_not_written_down(tmp_path: Path) -> None:
    written(tmp_path, project__texts=["a.txt"], store__url="postgresql+psycopg://proof:se:cret@host/proof")
    content = (tmp_path / "config.toml").read_text(encoding="utf-8")
    assert 'url = "postgresql+psycopg://proof@host/proof"' in content


def test_a_folder_that_cannot_be_written_says_where_to_make_one(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="proof init FOLDER --texts"):
        written(tmp_path / "file", project__texts=["a.txt"])


@pytest.mark.parametrize(
    "config",
    [
        '[project]\ntexts = ["a.txt"]\nimages = ["i"]\n',
        '# ours\n[project]   # ]\ntitle = "x]"\ntexts = ["a.txt", "b[1].txt"]  # [two]\n[page]\ncolumn_length = 20\n',
        '[project]\ntexts = [\n    "a.txt",  # first\n    "b.txt",\n]\n',
        '[project]\ntexts = [\n    "a.txt"\n]\n',
        '[project]\r\ntexts = ["a.txt"]\r\nimages = ["i"]\r\n',
        '[project]\ntitle = "x"\n',
        "[page]\ncolumn_length = 20\n",
        'project.texts = ["a.txt"]\n[page]\ncolumn_length = 20\n',
        '[project]\ntexts = ["a.txt"]\nimages = []\n',
        "",
    ],
)
def test_texts_are_added_and_all_else_stays(tmp_path: Path, config: str) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(config.encode())
    before = tomllib.loads(config)
    add_to_project(file, [tmp_path / "新.txt", tmp_path / "a.txt"], [tmp_path.parent / "far"])
    after = tomllib.loads(file.read_text(encoding="utf-8"))
    texts = before.get("project", {}).get("texts", [])
    known = ["a.txt"] if "a.txt" not in texts else []
    assert after["project"]["texts"] == [*texts, "新.txt", *known]
    assert after["project"]["images"] == [*before.get("project", {}).get("images", []), str(tmp_path.parent / "far")]
    assert {key: value for key, value in after.items() if key != "project"} == {
        key: value for key, value in before.items() if key != "project"
    }
    comments = [line.partition("#")[2] for line in config.splitlines()]
    assert all(comment in file.read_text(encoding="utf-8") for comment in comments)
    Settings.load(file)


def test_a_file_that_a_program_cannot_change_stays_and_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('page.column_length = 20\nproject = {title = "x"}\n', encoding="utf-8")
    before = file.read_bytes()
    with pytest.raises(ConfigError, match=r'config\.toml:\d+: cannot be changed by a program; add "a\.txt" to project'):
        add_to_project(file, [tmp_path / "a.txt"])
    assert file.read_bytes() == before
