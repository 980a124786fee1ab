"""What `proof backup` says is not in the file."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.sample import lay_out

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_a_folder_of_which_nothing_is_saved_is_named(run: Run, tmp_path: Path) -> None:
    """A check of the restored project would miss it."""
    lay_out(tmp_path, 1)
    (tmp_path / "empty").mkdir()
    assert run("check", "text.txt", "--images", "images", "--images", "empty", "--engine", "null", "-q").returncode < 2
    said = run("backup", "a.zip")
    assert said.returncode == 0
    assert f"rows of the store of {tmp_path}" in said.stdout
    assert said.stderr == (
        f"not in it, no image of it is saved: {tmp_path}/empty; after proof restore put its images there\n"
    )
    assert f"{tmp_path}/images" in run("backup", "b.zip", "--no-images").stderr


def test_the_command_after_a_restore_can_be_pasted(run: Run, tmp_path: Path) -> None:
    lay_out(tmp_path, 1)
    assert run("check", "text.txt", "--engine", "null", "-q").returncode == 0
    assert run("backup", "a.zip").returncode == 0
    assert run("restore", "a.zip", "my book").stdout.endswith("go on with: proof serve --config 'my book'\n")


def test_a_timer_keeps_the_last_backups_and_touches_no_other_file(run: Run, tmp_path: Path) -> None:
    lay_out(tmp_path, 1)
    assert run("check", "text.txt", "--engine", "null", "-q").returncode == 0
    kept = tmp_path / "kept"
    kept.mkdir()
    strangers = [kept / "other-20200101T000000Z.zip", kept / f"{tmp_path.name}.zip"]
    older = [kept / f"{tmp_path.name}-2020010{day}T000000Z.zip" for day in (1, 2, 3)]
    for path in (*strangers, *older):
        path.touch()
    said = run("backup", "kept", "--keep", "2")
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines()[1:] == [f"removed: {path.relative_to(tmp_path)}" for path in older[:2]]
    (new,) = set(kept.iterdir()) - {*strangers, *older}
    assert set(kept.iterdir()) == {*strangers, older[2], new}
    assert run("backup", str(new), "--verify").returncode == 0
