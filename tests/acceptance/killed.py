"""Histories of a server that is killed at random moments and started again after `proof recover`; a browser sends again
what was not answered. What was answered is there, once: the naive model holds as if nothing had happened."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Timer
from typing import Any

import httpx

from tests.acceptance.history import PEOPLE, History
from tests.conftest import PATIENCE
from tests.web.drawn import csrf_token
from tests.web.served import ServerProcess

KILLED = 0.25
"""Share of the requests during which, or after which, the server is killed."""
LONGEST_S = 0.06
"""Seconds after the beginning of a request within which that happens: most requests take less."""


class KilledHistory(History):
    """A history of one person at a server in a process of its own."""

    def __init__(self, folder: Path, seed: int, base: Path) -> None:
        self.server: ServerProcess | None = None
        self.browser = httpx.Client(timeout=PATIENCE)
        self.answered: list[str] = []
        self.kills = 0
        super().__init__(folder, seed, base)

    def address(self) -> str:
        """The address of the server, which is started where it does not run."""
        if self.server is None:
            self.server = ServerProcess(self.folder)
            self._start()
        return self.server.address

    def _start(self) -> None:
        assert self.server is not None
        self.server.start()
        self.browser.headers["X-CSRFToken"] = csrf_token(self.browser.get(f"{self.server.address}/search").text)

    def ask(self, method: str, path: str, **body: Any) -> tuple[int, Any]:
        """A request that is sent until it is answered, under the same key."""
        while True:
            address = f"{self.address()}/api/v1/works/{self.work}/{path}"
            killing = Timer(self.chance.uniform(0, LONGEST_S), self._kill)
            if self.chance.random() < KILLED:
                killing.start()
            try:
                answer = self.browser.request(method, address, json=body if method == "POST" else None)
            except httpx.TransportError:
                self._again(killing)
                continue
            if killing.ident is not None:
                self._again(killing)
            if method == "POST" and answer.is_success and "key" in body:
                self.answered.append(body["key"])
            return answer.status_code, answer.json()

    def _kill(self) -> None:
        assert self.server is not None
        self.server.kill()

    def _again(self, killing: Timer) -> None:
        """Once the server is dead: take back what the store lacks, and start another."""
        killing.join()
        self.kills += 1
        status, output = self.proof("recover")
        assert status == 0 or "no journal" in output or "proof.decisions.jsonl" in output, output
        self._start()

    def stop(self) -> None:
        if self.server is not None:
            self.server.stop()
        self.server = None
        self.browser.cookies.clear()
        if (self.folder / "proof.sqlite").exists():
            self.check_acts()

    def check_acts(self) -> None:
        """Every act that was answered is in the store, and none twice."""
        with closing(sqlite3.connect(self.folder / "proof.sqlite")) as store:
            keys = [key for (key,) in store.execute("SELECT key FROM acts")]
        assert len(keys) == len(set(keys)), "an act is there twice"
        lacking = [key for key in self.answered if not any(key in there for there in keys)]
        assert not lacking, f"answered, and not there: {lacking}"

    def acts(self) -> list[Callable[[], str]]:
        at_the_desk = [self.decide] * 6 + [self.undo] * 2 + [self.redo, self.by_hand, self.rule, self.comment]
        return [*at_the_desk, self.edit, self.check, self.export]

    def people_at_work(self) -> tuple[str, ...]:
        return PEOPLE[:1]
