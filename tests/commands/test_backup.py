"""What `proof backup` says is not in the file."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

from tests.sample import lay_out

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_a_folder_of_which_nothing_is_saved_is_named(run: Run, tmp_path: Path) -> None:
    """A check of the restored project would miss it."""
    lay_out(tmp_path, 1)
    (tmp_path / "empty").mkdir()
    assert run("check", "text.txt", "--images", "images", "--images", "empty", "--engine", "null", "-q").returncode < 2
    completed = run("backup", "a.zip")
    assert completed.returncode == 0
    assert f"rows of the store of {tmp_path}" in completed.stdout
    assert completed.stderr == (f"left out, the images of {tmp_path}/empty; put them there after proof restore\n")
    assert f"{tmp_path}/images" in run("backup", "b.zip", "--no-images").stderr


def test_the_command_after_a_restore_can_be_pasted(run: Run, tmp_path: Path) -> None:
    lay_out(tmp_path, 1)
    assert run("check", "text.txt", "--engine", "null", "-q").returncode == 0
    assert run("backup", "a.zip").returncode == 0
    assert run("restore", "a.zip", "my book").stdout.endswith("next: proof serve --config 'my book'\n")


def test_the_works_of_a_library_are_in_its_backup(run: Run, tmp_path: Path) -> None:
    for name in ("one", "two", "broken"):
        lay_out(tmp_path / name, 1)
    (tmp_path / "one" / "config.toml").write_text(
        '[project]\ntexts = ["text.txt"]\nimages = ["images"]\n', encoding="utf-8"
    )
    (tmp_path / "two" / "text.txt").write_text("卷十一 第 1a 页 WYG0103-0200a.png\n十二月己丑\n", encoding="utf-8")
    (tmp_path / "config.toml").write_text('[engine]\nname = "null"\n', encoding="utf-8")
    (tmp_path / "broken" / "config.toml").write_text("[project\n", encoding="utf-8")
    run("check", "--library", ".", "-q")
    saved = run("backup", "all.zip")
    assert saved.returncode == 0
    assert "left out: broken: " in saved.stderr
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        names = set(archive.namelist())
    assert {"config.toml", "one/config.toml", "one/text.txt", "two/text.txt", "proof.sqlite"} <= names
    assert any(name.startswith("one/images/") for name in names)
    assert any(name.startswith("two/images/") for name in names)
    assert run("restore", "all.zip", "there").stdout.endswith("next: proof serve --library there\n")


def test_a_timer_keeps_the_last_backups_and_touches_no_other_file(run: Run, tmp_path: Path) -> None:
    lay_out(tmp_path, 1)
    assert run("check", "text.txt", "--engine", "null", "-q").returncode == 0
    kept = tmp_path / "kept"
    kept.mkdir()
    strangers = [kept / "other-20200101T000000Z.zip", kept / f"{tmp_path.name}.zip"]
    older = [kept / f"{tmp_path.name}-2020010{day}T000000Z.zip" for day in (1, 2, 3)]
    for path in (*strangers, *older):
        path.touch()
    completed = run("backup", "kept", "--keep", "2")
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout.splitlines()[1:] == [f"removed: {path.relative_to(tmp_path)}" for path in older[:2]]
    (new,) = set(kept.iterdir()) - {*strangers, *older}
    assert set(kept.iterdir()) == {*strangers, older[2], new}
    assert run("backup", str(new), "--verify").returncode == 0
