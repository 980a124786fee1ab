"""What a check meets twice is said."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.sample import lay_out

Run = Callable[..., subprocess.CompletedProcess[str]]
NULL = ("--engine", "null")


def test_a_page_that_stands_in_two_texts_is_said(run: Run, tmp_path: Path) -> None:
    lay_out(tmp_path, 2)
    shutil.copy(tmp_path / "text.txt", tmp_path / "copy.txt")
    said = run("check", "text.txt", "copy.txt", "--images", "images", *NULL).stderr
    one, other = tmp_path / "text.txt", tmp_path / "copy.txt"
    assert f"2 pages stand in several texts, such as WYG0103-0192c in {one} and in {other}" in said
    assert "stand in several texts" not in run("check", "text.txt", *NULL).stderr


def test_images_of_one_name_in_two_folders_are_said(run: Run, tmp_path: Path) -> None:
    lay_out(tmp_path, 2)
    (tmp_path / "other").mkdir()
    shutil.copy(tmp_path / "images" / "WYG0103-0192d.png", tmp_path / "other")
    said = run("check", "text.txt", "--images", "images", "--images", "other", *NULL).stderr
    first, second = (tmp_path / folder / "WYG0103-0192d.png" for folder in ("images", "other"))
    assert f"for one page several images would do: {first} is used, not {second}" in said
