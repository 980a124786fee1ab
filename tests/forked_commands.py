"""Runs commands of the program in processes forked from one that has imported everything, which saves the time of the
imports. Tests of the start itself start the program as users do."""

from __future__ import annotations

import gc
import multiprocessing
import os
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

from PIL import Image

from proof.cli import main
from tests.caches import prepare_fork
from tests.delays import PATIENCE, answer_late

# One process imports what the commands need, once in a run, and is forked for each command.
FORKED = multiprocessing.get_context("forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else None)
if FORKED.get_start_method() == "forkserver":
    COMMANDS = [f"proof.commands.{name}" for name in ("check", "recover", "serve")]
    LOADED = [
        "pytest",
        "alembic.command",
        "proof.checking.pipeline",
        "proof.web.serve",
        *COMMANDS,
        __name__,
        "distributed",
    ]
    FORKED.set_forkserver_preload([*LOADED, "tests.preloaded"])
    Image.init()  # the formats that it knows, which it loads when it first writes one


class ForkedCommand:
    """A running command line of the program in `folder`; `said` is its output, standard error included."""

    def __init__(self, folder: Path, *words: str) -> None:
        reading, writing = FORKED.Pipe(duplex=False)
        self._process = FORKED.Process(target=_run, args=(str(folder), words, writing, writing), daemon=True)
        self._process.start()
        writing.close()
        self._reading = reading
        self.said = open(reading.fileno(), encoding="utf-8", closefd=False)  # noqa: SIM115 - closed with the process

    def ended(self) -> tuple[int | None, str]:
        """Wait for the end; returns the exit status and the rest of the output."""
        rest = self.said.read()
        self._process.join(PATIENCE)
        self._close()
        return self._process.exitcode, rest

    def stop(self) -> None:
        """Terminate it, as a system does that shuts down; measured coverage is kept."""
        self._process.terminate()
        self._process.join(PATIENCE)
        self._close()

    def kill(self) -> None:
        """Kill it, as a power failure does."""
        self._process.kill()
        self._process.join()
        self._close()

    def _close(self) -> None:
        self.said.close()
        self._reading.close()


def ran_forked(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command line of the program in `folder` to its end."""
    out, errors = (FORKED.Pipe(duplex=False) for _ in range(2))
    process = FORKED.Process(target=_run, args=(str(folder), words, out[1], errors[1]))
    process.start()
    printed = []
    for reading, writing in (out, errors):
        writing.close()
        with open(reading.fileno(), encoding="utf-8", closefd=False) as file:
            printed.append(file.read())
    process.join(PATIENCE)
    return subprocess.CompletedProcess(words, process.exitcode or 0, *printed)


def _run(project: str, words: tuple[str, ...], out: Connection, errors: Connection) -> None:
    gc.freeze()  # what was loaded stays shared with the other forked processes
    prepare_fork()
    answer_late()
    os.chdir(project)
    os.environ["COLUMNS"] = "80"
    for output, writing in ((1, out), (2, errors)):
        os.dup2(writing.fileno(), output)
    sys.stdout, sys.stderr = (os.fdopen(output, "w", buffering=1, encoding="utf-8") for output in (1, 2))
    sys.exit(main(list(words)))
