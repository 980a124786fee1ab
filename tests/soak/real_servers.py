"""Servers in processes of their own, and somebody who decides at them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0

Flag = tuple[int, int]
"""The number of a flag, and its version."""


class Server:
    """A server over the project in `folder`, begun when this is made."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        command = [sys.executable, "-P", "-m", "proof", "serve", "--config", str(folder), "--port", str(self.port)]
        quiet: dict[str, Any] = {} if os.environ.get("TELL") else {"stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(  # noqa: S603
            command, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, **quiet
        )

    def ready(self) -> bool:
        """Wait until it answers; whether it does."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=PATIENCE).read()
                return True
            except urllib.error.HTTPError:  # it answers, if only that it is not well
                return True
            except OSError:
                time.sleep(0.05)
        return False

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE)


class Desk:
    """Somebody at a server, with a session."""

    def __init__(self, port: int, work: str) -> None:
        self._address, self._work = f"http://127.0.0.1:{port}", work
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        page = self._opener.open(f"{self._address}/works/{work}/history", timeout=PATIENCE).read().decode()
        self._token = page.split('name="csrf" content="')[1].split('"', maxsplit=1)[0]

    def decide(self, flags: list[Flag], page: int, name: str) -> tuple[bool, bool]:
        """Decide flags together, and say that their page is proofread; which of both was acknowledged."""
        asked = [
            {"flag": flag, "version": version, "verdict": "take", "key": f"{name}-{flag:05}"} for flag, version in flags
        ]
        body = {"state": "proofread", "version": 0, "key": f"{name}-page-{page:03}"}
        return self._post("decisions", {"decisions": asked, "batch": f"{name}-batch"}), self._post(
            f"pages/{page}/states", body
        )

    def _post(self, path: str, body: Any) -> bool:
        headers = {"Content-Type": "application/json", "X-CSRFToken": self._token}
        address = f"{self._address}/api/v1/works/{self._work}/{path}"
        asked = urllib.request.Request(address, json.dumps(body).encode(), headers)  # noqa: S310
        try:
            self._opener.open(asked, timeout=PATIENCE).read()
        except urllib.error.HTTPError as error:
            if os.environ.get("TELL"):
                sys.stderr.write(f"{path}: {error.code} {error.read()[:300]!r}\n")
            return False
        return True
