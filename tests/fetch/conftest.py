"""The museum's server, running, and a client that asks it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from proof.fetch.client import Client, RetryPolicy
from tests.fetch.museum import Handler, Museum, Server, Waits, running


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers of this machine are asked directly, whatever the machine's own settings are."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)


@pytest.fixture
def museum() -> Iterator[Museum]:
    with running(server := Server(("127.0.0.1", 0), Handler)) as address:
        server.museum = Museum(f"http://{address}")
        yield server.museum


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def client(waits: Waits) -> Iterator[Client]:
    """A client that may ask this machine, and does not really wait."""
    with Client(RetryPolicy(pause=0, allow_private=True), wait=waits) as client:
        yield client
