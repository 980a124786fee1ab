"""`proof serve` in a process of its own, and pages in a browser."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from tests.delays import PATIENCE
from tests.forked_commands import ForkedCommand
from tests.web.drawn import csrf_token

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]


class ServerProcess:
    """Serves the project in `folder` from `start` to `kill`. It can be started again at its port, which is reserved
    by a socket that does not listen."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.options = folder, options
        self.address = ""
        self._held = socket.socket()
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._held.bind(("127.0.0.1", 0))

    def start(self) -> None:
        port = self._held.getsockname()[1]
        words = ["serve", "--config", str(self.folder), "--port", str(port), *self.options]
        self._process = ForkedCommand(ROOT, *words)
        said = next((line for line in self._process.said if line.startswith("proofread at ")), "")
        assert said, "`proof serve` ended before it listened"
        self.address = said.split()[-1].rstrip("/")

    def stop(self) -> None:
        self._process.stop()
        self._held.close()

    def kill(self) -> None:
        """Kill the server, whatever it is doing."""
        self._process.kill()


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[str]:
    """Serve the project in `folder`; yields its address."""
    server = ServerProcess(folder, *options)
    server.start()
    try:
        yield server.address
    finally:
        server.stop()


@contextmanager
def serving_process(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Serve the project in `folder` in a process started as users start it; yields the process and the address."""
    command = [sys.executable, "-m", "proof", "serve", "--config", str(folder), "--port", "0", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)  # noqa: S603
    assert server.stdout is not None
    try:
        line = server.stdout.readline()
        assert line, f"`proof serve` ended with status {server.wait()} before it listened"
        yield server, line.split()[-1].rstrip("/")
    finally:
        server.terminate()
        server.wait(PATIENCE)


class DeskClient(httpx.Client):
    """A client of a server, with a session and its token against forged requests."""

    def __init__(self, address: str, **options: Any) -> None:
        super().__init__(base_url=address, timeout=PATIENCE, **options)
        self.headers["X-CSRFToken"] = csrf_token(self.get("/search").text)


@contextmanager
def watched_page(browser: Browser, **context: Any) -> Iterator[Page]:
    """Yield a page in a new context of the browser; at the end, fails if one of its scripts raised an error."""
    opened = browser.new_context(**context)
    page, errors = opened.new_page(), list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    opened.close()
    assert errors == []
