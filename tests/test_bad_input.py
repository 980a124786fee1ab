"""What bad input gets: a message that names file and line; it costs its own page, and what was done stays.

Everything goes through the command line, with the real recogniser, on the sample's pages.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Material, Run

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[1]
CHECK = ("check", "text.txt", "--images", "images", "--out", "out")


def summary_of(out: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    return read


def flags_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "flags.jsonl").read_text(encoding="utf-8").splitlines()]


def test_broken_markup_and_an_empty_page_are_told_with_their_lines_and_cost_themselves(
    material: Material, run: Run
) -> None:
    folder = material(4)
    path = folder / "text.txt"
    text = path.read_text(encoding="utf-8").replace("讹作北据)", "讹作北据", 1)
    mark = text.index("卷十 第 2a")
    after = text.index("\n", mark) + 1
    path.write_text(text[:after] + text[text.index("卷十 第 2b") :], encoding="utf-8")
    ran = run(*CHECK)
    assert ran.returncode == 0
    broken, empty = (text.count("\n", 0, place) + 1 for place in (text.index("讹作北据"), mark))
    assert re.search(rf"{path}:{broken}: page WYG0103-0192d, .*column 5: a note is not closed", ran.stderr)
    assert f"{path}:{empty}: page WYG0103-0193a has no column" in ran.stderr
    pages = summary_of(folder / "out")["pages"]
    assert len(pages) == 4
    assert {state for page, state in pages.items() if page != "WYG0103-0193a"} == {"checked"}
    flags = flags_of(folder / "out")
    assert {flag["kind"] for flag in flags if flag["page"] == "WYG0103-0193a"} <= {"layout"}
    raised = [flag for flag in flags if flag["page"] == "WYG0103-0192d" and flag["raised"]]
    assert (5, 9, "北", "比") in [
        (flag["line"], flag["offset"], flag["transcribed"], flag["suggested"]) for flag in raised
    ]


def test_an_image_list_that_leaves_the_folder_costs_the_page_of_that_line(material: Material, run: Run) -> None:
    way_out = "../secret.png"
    folder = material(2)
    shutil.copy(folder / "images" / "WYG0103-0192d.png", folder / "secret.png")
    lines = ["010-1a00\tWYG 010-1a\tWYG0103-0192c.png", f"010-1b00\tWYG 010-1b\t{way_out}"]
    (folder / "list.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ran = run(*CHECK, "--imglist", "list.txt")
    assert ran.returncode == 1
    pages = summary_of(folder / "out")["pages"]
    assert pages["WYG0103-0192c"] == "checked"
    assert pages["WYG0103-0192d"].startswith(f"failed: {folder / 'list.txt'}:2: {way_out} is outside the image folders")
    assert f"WYG0103-0192d: failed: {folder / 'list.txt'}:2: " in ran.stderr


def test_a_folder_that_cannot_be_written_is_named_before_anything_is_read(material: Material, run: Run) -> None:
    folder = material(1)
    (folder / "file").write_text("not a folder")
    (folder / "config.toml").write_text(
        '[project]\ntexts = ["text.txt"]\nimages = ["images"]\nout = "file/out"\n', encoding="utf-8"
    )
    ran = run("check")
    assert ran.returncode == 2
    assert f"{folder / 'file' / 'out'}: cannot be written to" in ran.stderr
    assert not (folder / "proof.sqlite").exists()
    assert (folder / "file").read_text() == "not a folder"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with little room: for the store and some five of eight pages."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("only the superuser can make a small disk")
    made = subprocess.run(  # noqa: S603
        [mount, "-t", "tmpfs", "-o", "size=900k", "tmpfs", place], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"no small disk can be made here: {made.stderr.strip()}")
    yield place
    subprocess.run(["umount", place], check=True)  # noqa: S603, S607


def test_a_full_disk_is_named_and_what_was_done_is_kept(
    material: Material, run: Run, small_disk: Path, tmp_path: Path
) -> None:
    material(8)
    line = ("check", small_disk / "text.txt", "--images", "images", "--workers", "1")
    shutil.copy(tmp_path / "text.txt", small_disk)
    ran = run(*line)
    assert ran.returncode == 2
    assert f"{small_disk}" in ran.stderr
    assert "make room" in ran.stderr
    assert not list(small_disk.rglob("*.part"))
    subprocess.run(["mount", "-o", "remount,size=50m", small_disk], check=True)  # noqa: S603, S607
    ran = run(*line)
    assert ran.returncode == 0
    reused = re.search(r"(\d+) reused", ran.stderr)
    assert reused is not None
    assert int(reused[1]) > 0
    assert set(summary_of(small_disk / "out")["pages"].values()) == {"checked"}


def test_a_file_that_may_not_grow_is_named_and_the_reports_before_it_stay(material: Material, run: Run) -> None:
    folder = material(2)
    assert run(*CHECK).returncode == 0
    before = {path.name: path.read_bytes() for path in (folder / "out").glob("[fsr]*.*")}
    (folder / "text.txt").write_text("changed since", encoding="utf-8")
    limited = f"ulimit -f 16; exec {sys.executable} -m proof report"
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(  # noqa: S603
        ["/bin/sh", "-c", limited], cwd=folder, env=surroundings, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert f"{folder}/" in ran.stderr
    assert {path.name: path.read_bytes() for path in (folder / "out").glob("[fsr]*.*")} == before
    assert list((folder / "out").glob(".*")) == [], "nothing is left lying about"
