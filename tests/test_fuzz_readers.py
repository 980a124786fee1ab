"""The fuzzing of the readers: a short run finds nothing, and it would find what there is to find."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).resolve().parent / "soak/fuzz_readers.py"


def test_a_short_run_finds_no_crash_and_no_hang(shared: Path, tmp_path: Path) -> None:
    found = tmp_path / "found"
    asked = [sys.executable, str(SCRIPT), "--inputs", "800", "--found", str(found), "--shared", str(shared)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603 - our own script
    assert done.returncode == 0, done.stdout + done.stderr
    assert not found.exists()


PLANTED = """
import runpy, sys
from pathlib import Path
from proof.errors import TextError

script = runpy.run_path(sys.argv[1], run_name="fuzz_readers")
script["Harness"].run.__globals__["LONGEST"] = 0.2

def reader(data):
    if data == b"refused":
        raise TextError("a.txt", 1, "refused")
    while data == b"hang":
        pass
    if data == b"crash":
        raise IndexError(data)

script["READERS"]["text"] = reader
harness = script["Harness"](Path(sys.argv[2]))
for data in (b"sound", b"refused", b"crash", b"crash", b"hang"):
    harness.run("text", data)
print(harness.inputs["text"], harness.refused["text"], harness.failed["text"])
"""


def test_a_crash_and_a_hang_are_kept_and_a_refusal_is_none(tmp_path: Path) -> None:
    """In a process of its own: the time that a reader takes is told by a signal."""
    asked = [sys.executable, "-c", PLANTED, str(SCRIPT), str(tmp_path / "found")]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)  # noqa: S603 - our own script
    assert done.stdout.splitlines()[-1] == "5 1 3"
    kept = [path for path in (tmp_path / "found").iterdir() if path.suffix != ".log"]
    assert sorted(path.read_bytes() for path in kept) == [b"crash", b"hang"]
