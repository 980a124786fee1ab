"""OpenCV, as the program loads it, in processes that are forked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PATIENCE

ROOT = Path(__file__).resolve().parents[2]

FORKS = """
import os, signal, sys, time
from pathlib import Path
from proof.cli import main
from proof.images.light import evenly_lit
from proof.images.load import load_image

evenly_lit(load_image(Path(sys.argv[2])).pixels)
time.sleep(0.5)  # a thread of OpenCV's would be asleep by then
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
signal.alarm(int(sys.argv[1]))
os._exit(main(sys.argv[3:]))
"""
"""Looks at an image, then checks a page in a process that is forked from this one, and ended if it waits for ever."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked on this system")
def test_a_process_that_is_forked_from_one_that_looked_at_an_image_checks_pages(tmp_path: Path) -> None:
    image = ROOT / "pages" / "WYG0103-0192c.png"
    (tmp_path / "images").mkdir()
    shutil.copy(image, tmp_path / "images" / "KR9x0001_SIM_001-1a.png")
    (tmp_path / "text.txt").write_text("<pb:KR9x0001_SIM_001-1a>¶\n射人告具于公¶\n", encoding="utf-8")
    command = ["check", "text.txt", "--images", "images", "--engine", "null", "--out", "out", "-q"]
    line = [sys.executable, "-c", FORKS, str(round(PATIENCE / 5)), str(image), *command]
    ended = subprocess.run(  # noqa: S603
        line, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, (tmp_path / "out" / "flags.jsonl").exists()) == (0, True), ended.stderr
