"""`proof serve` in a process of its own."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from proof.cli import main

ROOT = Path(__file__).resolve().parents[2]

# What a server needs is imported once for a whole run, by a process that forks one whenever one is asked for.
FORKED = multiprocessing.get_context("forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else None)
if FORKED.get_start_method() == "forkserver":
    FORKED.set_forkserver_preload(["pytest", "proof.commands.serve", "proof.store", "proof.web.serve", __name__])


class ServerProcess:
    """Serves the project in `folder` from `start` to `kill`, started again at the same port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.options = folder, options
        self.port, self.address = 0, ""

    def start(self) -> None:
        words = ["serve", "--config", str(self.folder), "--port", str(self.port), *self.options]
        reading, writing = FORKED.Pipe(duplex=False)
        self._process = FORKED.Process(target=_run, args=(words, writing), daemon=True)
        self._process.start()
        writing.close()
        with open(reading.fileno(), closefd=False) as heard:
            said = heard.readline()
        assert said, f"`proof serve` ended with status {self._process.exitcode} before it listened"
        self.address = said.split()[-1].rstrip("/")
        self.port = int(self.address.rsplit(":", 1)[1])

    def kill(self) -> None:
        self._process.kill()
        self._process.join()


def _run(words: list[str], writing: Connection) -> None:
    sys.stdout = open(writing.fileno(), "w", buffering=1, closefd=False)  # noqa: SIM115 - no path, never closed
    sys.exit(main(words))


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[str]:
    """The address at which the project in `folder` is served meanwhile."""
    server = ServerProcess(folder, *options)
    server.start()
    try:
        yield server.address
    finally:
        server.kill()


@contextmanager
def serving_process(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process that serves the project in `folder` meanwhile, started as people start it, and its address."""
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
