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
