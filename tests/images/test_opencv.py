"""OpenCV where a desktop's libraries are missing, as on a bare machine or in a container."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proof.images.opencv import empty_library
from tests.conftest import PATIENCE

ROOT = Path(__file__).resolve().parents[2]

HIDDEN = """
set -e
missing='lib(GL[.]so[.]1|glib-2[.]0[.]so[.]0)$'
for folder in $(ldconfig -p | grep -E "$missing" | sed 's/.*=> //; s,/[^/]*$,,' | xargs -rn1 realpath | sort -u); do
    over=$(mktemp -d -p "$0") && mkdir "$over/upper" "$over/work"
    mount -t overlay overlay -o "lowerdir=$folder,upperdir=$over/upper,workdir=$over/work" "$folder"
    rm -f "$folder"/libGL.so* "$folder"/libgthread-2.0.so* "$folder"/libglib-2.0.so*
done
exec "$@"
"""
"""Runs a command where the libraries of a desktop are not to be seen; the folder for what that takes is `$0`."""


@pytest.fixture
def bare(tmp_path: Path) -> list[str]:
    """What a command line begins with that runs on a machine without a desktop's libraries."""
    (tmp_path / "over").mkdir()
    line = ["unshare", "--mount", "bash", "-c", f'mount -t tmpfs none "$0"\n{HIDDEN}', str(tmp_path / "over")]
    if sys.platform != "linux" or shutil.which("unshare") is None:
        pytest.skip("unshare is missing, which hides the libraries of this machine")
    if run([*line, "true"]).returncode:
        pytest.skip("only root can hide the libraries of this machine, and not everywhere")
    return line


def run(line: list[str]) -> subprocess.CompletedProcess[str]:
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(  # noqa: S603
        line, env=surroundings, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def test_opencv_is_loaded_and_computes_the_same(bare: list[str]) -> None:
    looked = "import ctypes\ntry:\n    ctypes.CDLL('libGL.so.1')\nexcept OSError:\n    print('missing')\n"
    assert run([*bare, sys.executable, "-c", looked]).stdout == "missing\n"
    blurred = (
        "import numpy as np\n"
        "from proof.images.opencv import cv2\n"
        "noise = np.random.default_rng(0).integers(0, 256, (90, 80)).astype(np.uint8)\n"
        "print(cv2.GaussianBlur(noise, (5, 5), 0).tolist() == REFERENCE, cv2.__version__)"
    )
    here = run([sys.executable, "-c", blurred.replace(" == REFERENCE", "")]).stdout
    there = run([*bare, sys.executable, "-c", blurred.replace(" == REFERENCE", "")])
    assert there.stdout == here, there.stderr
    assert here.endswith("4.10.0\n")


@pytest.mark.skipif(sys.platform != "linux", reason="libraries of other systems are made otherwise")
def test_an_empty_library_is_found_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "empty.so"
    path.write_bytes(empty_library("libnobody.so.7", {"x86_64": 62, "aarch64": 183}[os.uname().machine]))
    with pytest.raises(OSError, match="libnobody"):
        ctypes.CDLL("libnobody.so.7")
    held = ctypes.CDLL(str(path))
    assert ctypes.CDLL("libnobody.so.7")._handle == held._handle


def test_every_module_takes_opencv_from_here() -> None:
    straight = re.compile(r"^\s*(import|from) cv2\b", re.MULTILINE)
    found = [path for path in (ROOT / "proof").rglob("*.py") if straight.search(path.read_text(encoding="utf-8"))]
    assert found == [ROOT / "proof" / "images" / "opencv.py"]


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
