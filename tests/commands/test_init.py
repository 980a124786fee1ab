"""`proof init`: a folder with texts and images becomes a project."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from proof.settings.config import Settings
from tests.sample import lay_out

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_it_names_the_texts_and_images_that_lie_there(run: Run, tmp_path: Path) -> None:
    lay_out(tmp_path, 1)
    ran = run("init")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        f"{tmp_path}/config.toml",
        "texts: text.txt",
        "images: images",
        "next: proof check",
    ]
    settings = Settings.load(tmp_path)
    assert settings.project.texts == (tmp_path / "text.txt",)
    assert settings.project.images == (tmp_path / "images",)


def test_it_makes_a_project_of_texts_that_lie_elsewhere(run: Run, tmp_path: Path) -> None:
    lay_out(tmp_path / "disc", 1)
    ran = run("init", "my book", "--texts", "disc/text.txt", "--images", "disc/images", "--columns", "9")
    assert ran.returncode == 0, ran.stderr
    assert "next: proof check --config 'my book'" in ran.stdout
    settings = Settings.load(tmp_path / "my book")
    assert settings.project.texts == (tmp_path / "disc" / "text.txt",)
    assert settings.project.images == (tmp_path / "disc" / "images",)
    assert settings.page.columns == 9
    assert [path.name for path in (tmp_path / "my book").iterdir()] == ["config.toml"]


def test_a_project_that_is_there_is_left_alone(run: Run, tmp_path: Path) -> None:
    lay_out(tmp_path, 1)
    (tmp_path / "config.toml").write_text("# mine\n", encoding="utf-8")
    ran = run("init")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"{tmp_path}/config.toml exists already" in ran.stderr
    assert (tmp_path / "config.toml").read_text(encoding="utf-8") == "# mine\n"


def test_a_file_that_cannot_be_read_is_named_with_the_reason(run: Run, tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes("<pb:KR1d0030_WYG_010-1a>¶\n大射儀¶\n".encode("big5", "ignore"))
    (tmp_path / "book.xml").write_text("<!DOCTYPE TEI [<!ENTITY a '大'>]><TEI/>", encoding="utf-8")
    ran = run("init")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "old.txt:2: not UTF-8 text" in ran.stderr
    assert "book.xml:1: declares an entity (a)" in ran.stderr
    lay_out(tmp_path, 1)
    ran = run("init")
    assert ran.returncode == 0
    assert [line.split(": ")[0] for line in ran.stderr.splitlines() if line] == ["left out", "left out"]
