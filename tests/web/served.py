"""`proof serve` in a process of its own, as people start it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[str]:
    """The address at which the project in `folder` is served meanwhile."""
    with serving_process(folder, *options) as (_, address):
        yield address


@contextmanager
def serving_process(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process that serves the project in `folder` meanwhile, and its address."""
    command = [sys.executable, "-m", "proof", "serve", "--config", str(folder), "--port", "0", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)  # noqa: S603
    assert server.stdout is not None
    try:
        said = server.stdout.readline()
        assert said, f"`proof serve` ended with status {server.wait()} before it listened"
        yield server, said.split()[-1].rstrip("/")
    finally:
        server.kill()
        server.wait()
