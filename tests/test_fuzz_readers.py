"""The fuzzing of the readers: a short run finds nothing, and it would find what there is to find."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).resolve().parent / "soak/fuzz_readers.py"


def test_a_short_run_finds_no_crash_and_no_hang(shared: Path, tmp_path: Path) -> None:
    findings = tmp_path / "found"
    asked = [sys.executable, str(SCRIPT), "--inputs", "300", "--found", str(findings), "--shared", str(shared)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603 - our own script
    assert done.returncode == 0, done.stdout + done.stderr
    assert not findings.exists()
