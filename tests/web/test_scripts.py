"""The logic of the scripts by itself, run by node's own test runner: each file of `scripts/` holds its tests."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent / "scripts"
NODE = shutil.which("node") or shutil.which("nodejs")
OLDEST = 20
"""Major version of node from which its test runner has all that the tests use."""


@pytest.fixture(scope="module")
def node() -> str:
    """The program; skips where it is missing or too old."""
    if NODE is None:
        pytest.skip("node is not on this machine: the scripts are tested in the browser alone")
    version = _run(NODE, "--version").stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < OLDEST:
        pytest.skip(f"node {version} is too old: {OLDEST} or later runs the tests of the scripts")
    return NODE


@pytest.mark.parametrize("name", sorted(path.name for path in SCRIPTS.glob("*.test.js")))
def test_the_logic_of_the_scripts_holds(node: str, name: str) -> None:
    ran = _run(node, "--test", "--test-reporter=tap", str(SCRIPTS / name))
    assert ran.returncode == 0, ran.stdout
    assert int(re.findall(r"(?m)^# pass (\d+)$", ran.stdout)[0]) > 0, ran.stdout


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
