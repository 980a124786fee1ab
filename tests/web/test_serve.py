"""The server under what browsers and ill-behaved clients do with connections."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from proof.store import Store
from proof.web.app import MAX_BODY_BYTES
from proof.web.serve import SILENT_SECONDS, listen
from tests.conftest import PATIENCE
from tests.web.drawn import Served, settings_in
from tests.web.served import serving_process

pytestmark = pytest.mark.slow

HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Never: "


@contextmanager
def listening(served: Served, silent: int = SILENT_SECONDS) -> Iterator[tuple[str, int]]:
    """Host and port at which the application is served meanwhile."""
    server, address = listen(served.app, "127.0.0.1", 0, silent=silent)
    thread = threading.Thread(target=run_until_closed, args=(server,))
    thread.start()
    parts = urlsplit(address)
    assert parts.hostname
    assert parts.port
    try:
        yield parts.hostname, parts.port
    finally:
        server.asyncore.close_all(server._map)  # the loop ends when nothing is left to look at
        server.pull_trigger = lambda: None
        server.task_dispatcher.shutdown()
        thread.join(PATIENCE)


def run_until_closed(server: Any) -> None:
    with suppress(OSError, ValueError):
        server.run()


def status(place: tuple[str, int], method: str = "GET", path: str = "/healthz", **more: object) -> int:
    connection = http.client.HTTPConnection(*place, timeout=PATIENCE)
    try:
        connection.request(method, path, **more)  # type: ignore[arg-type]
        return connection.getresponse().status
    finally:
        connection.close()


def test_connections_that_are_held_keep_nobody_waiting(unchanged: Served) -> None:
    with listening(unchanged, silent=int(10 * PATIENCE)) as place:  # nobody's time runs out meanwhile
        idle = [http.client.HTTPConnection(*place, timeout=PATIENCE) for _ in range(180)]
        half = [socket.create_connection(place) for _ in range(200)]
        for connection in idle:
            connection.request("GET", "/healthz")
            assert connection.getresponse().read()
        for peer in half:
            peer.sendall(HALF)
        assert status(place) == 200
        for connection in idle:
            connection.close()
        for peer in half:
            peer.close()


def test_a_header_that_never_ends_is_not_waited_for(unchanged: Served) -> None:
    with listening(unchanged, silent=1) as place, socket.create_connection(place) as peer:
        peer.sendall(HALF)
        peer.settimeout(0.1)
        end = time.monotonic() + PATIENCE
        while is_open(peer):
            assert time.monotonic() < end


def is_open(peer: socket.socket) -> bool:
    """Whether the other side goes on listening to a byte a time."""
    try:
        peer.sendall(b"a")
        return bool(peer.recv(1024))
    except TimeoutError:
        return True
    except OSError:
        return False


@pytest.mark.parametrize(("size", "chunked"), [(MAX_BODY_BYTES + 1, False), (32 * MAX_BODY_BYTES, True)])
def test_a_body_that_is_too_large_is_answered_so(unchanged: Served, size: int, chunked: bool) -> None:
    part = b"x" * (1 << 16)
    body = (part for _ in range(size // len(part) + 1))
    headers = {"Content-Type": "application/json"}
    if not chunked:
        headers["Content-Length"] = str((size // len(part) + 1) * len(part))
    with listening(unchanged) as place:
        answer = status(place, "POST", "/api/v1/works", body=body, headers=headers, encode_chunked=chunked)
        assert answer in (405, 413) if size == MAX_BODY_BYTES + 1 else answer == 413
        assert status(place) == 200


def test_it_can_be_reached_where_it_says(tmp_path: Path) -> None:
    Store.open(settings_in(tmp_path).store_address).close()
    with serving_process(tmp_path, "--host", "::1") as (_, address):
        parts = urlsplit(address)
        assert status((parts.hostname or "", parts.port or 0)) == 200
