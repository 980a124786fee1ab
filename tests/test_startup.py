"""What is loaded before the first page: nothing that the command at hand does not need."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import click
import pytest

from proof.cli import COMMANDS, main
from proof.store import Store
from tests.conftest import PATIENCE

ROOT = Path(__file__).resolve().parents[1]

HEAVY = ("alembic", "cv2", "flask", "httpx", "lxml", "numpy", "onnxruntime", "paddleocr", "pydantic", "sqlalchemy")
"""Packages that take a tenth of a second or more to import."""


def loaded_by(*arguments: str, folder: Path) -> set[str]:
    """The packages that a command has imported when it ends."""
    line = f"import sys; from proof.cli import main; main({list(arguments)!r}); print('loaded', *sys.modules)"
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-c", line],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    last = ran.stdout.splitlines()[-1].split()
    assert last[0] == "loaded", ran.stdout
    return {name.partition(".")[0] for name in last[1:]}


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_list_of_commands_needs_none_of_what_the_commands_need(option: str, tmp_path: Path) -> None:
    assert not loaded_by(option, folder=tmp_path) & set(HEAVY)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_of_a_command_what_the_command_says(name: str) -> None:
    command = importlib.import_module(f"proof.commands.{name}").command
    assert isinstance(command, click.Command)
    assert command.get_short_help_str(limit=1000) == COMMANDS[name]


def test_a_command_that_opens_no_image_loads_no_library_for_images(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    Store.open(tmp_path / "proof.sqlite").close()
    loaded = loaded_by("backup", "saved.zip", folder=tmp_path)
    assert "sqlalchemy" in loaded
    assert not loaded & {"cv2", "onnxruntime", "alembic"}


@pytest.mark.slow
def test_a_check_in_which_nothing_changed_loads_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "pages" / "dasheyi.txt").read_text(encoding="utf-8")
    first, second = "卷十 第 1a 页", "卷十 第 1b 页"
    (tmp_path / "one.txt").write_text(text[text.index(first) : text.index(second)], encoding="utf-8")
    line = ("check", "-q", "one.txt", "--images", str(ROOT / "pages"), "--runtime", "onnxruntime")
    monkeypatch.chdir(tmp_path)
    assert main(list(line)) == 0
    again = loaded_by(*line, folder=tmp_path)
    assert "sqlalchemy" in again
    assert not again & {"onnxruntime", "openvino", "alembic", "dulwich"}
