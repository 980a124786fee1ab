"""Through a proxy images come as they come without one, and what is not asked without one is not asked through it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.request import ProxyHandler, Request, build_opener

import httpx
import pytest

from proof.errors import AddressError, ServerError
from proof.fetch.client import Client, RetryPolicy
from tests.fetch.museum import Museum, Waits, page, running

OUTSIDE = "http://museum.proof-test.example"
"""A name that only the proxy knows: no lookup of this machine finds it."""
INNER = "127.0.0.1 127.1 2130706433 [::1] 192.168.1.1 169.254.169.254 localhost intranet printer.local LOCALHOST."


@dataclass
class Gate:
    """What the proxy was asked: method, target, and the name and password that came along. It knows every host as
    the museum's server, and refuses with `status` where that is not 0."""

    museum: str
    address: str = ""
    status: int = 0
    asked: list[tuple[str, str, str]] = field(default_factory=list)


class GateServer(ThreadingHTTPServer):
    daemon_threads = True
    gate: Gate


class GateKeeper(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: GateServer

    def do_GET(self) -> None:
        if self.noted():
            path = "/" + self.path.split("/", 3)[3]
            with build_opener(ProxyHandler({})).open(Request(self.server.gate.museum + path)) as answer:  # noqa: S310
                data = answer.read()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def do_CONNECT(self) -> None:
        if self.noted():
            self.send_response(200)
            self.end_headers()
            with socket.create_connection(("127.0.0.1", int(self.path.rpartition(":")[2]))) as far:
                back = Thread(target=pump, args=(far, self.connection), daemon=True)
                back.start()
                pump(self.connection, far)
                back.join()
            self.close_connection = True

    def noted(self) -> bool:
        gate = self.server.gate
        gate.asked.append((self.command, self.path, self.headers.get("Proxy-Authorization", "")))
        if gate.status:
            self.send_response(gate.status)
            self.send_header("Content-Length", "0")
            self.end_headers()
        return not gate.status

    def log_message(self, format: str, *args: object) -> None:
        """The tests look at `Gate.asked`."""


def pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return


@pytest.fixture
def gate(museum: Museum, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    with running(server := GateServer(("127.0.0.1", 0), GateKeeper)) as address:
        server.gate = Gate(museum.address, f"http://{address}")
        for name in ("HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, server.gate.address)
        yield server.gate


@pytest.fixture
def careful(waits: Waits) -> Iterator[Client]:
    """A client that asks the open Internet alone."""
    with Client(RetryPolicy(pause=0, tries=2), wait=waits) as client:
        yield client


def body(answer: httpx.Response) -> bytes:
    return b"".join(answer.iter_bytes())


@pytest.mark.parametrize(("user", "given"), [("", ""), ("me:secret@", "Basic bWU6c2VjcmV0")])
def test_an_image_comes_through_the_proxy_to_which_alone_its_password_goes(
    museum: Museum, gate: Gate, careful: Client, monkeypatch: pytest.MonkeyPatch, user: str, given: str
) -> None:
    museum.files["/1.png"] = page()
    monkeypatch.setenv("HTTP_PROXY", gate.address.replace("//", f"//{user}"))
    assert careful.get(f"{OUTSIDE}/1.png", dict, body) == page()
    assert gate.asked == [("GET", f"{OUTSIDE}/1.png", given)]
    assert museum.paths() == ["/1.png"]
    assert "proxy-authorization" not in museum.asked[0][1]


def test_with_allow_private_the_proxy_is_asked_for_all_but_what_no_proxy_names(
    museum: Museum, gate: Gate, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum.files["/1.png"] = page()
    monkeypatch.setenv("NO_PROXY", "example.org,127.0.0.1")
    assert client.get(museum.url("/1.png"), dict, body) == page()
    assert gate.asked == []
    assert client.get("http://intranet/1.png", dict, body) == page()
    assert [target for _, target, _ in gate.asked] == ["http://intranet/1.png"]


@pytest.mark.parametrize("host", INNER.split())
def test_the_proxy_is_not_asked_for_an_inner_address(gate: Gate, careful: Client, host: str) -> None:
    for scheme in ("http", "https"):
        with pytest.raises(AddressError, match="--allow-private"):
            careful.get(f"{scheme}://{host}/1.png", dict, body)
    assert gate.asked == []


@pytest.mark.parametrize(("scheme", "status"), [("http", 407), ("https", 407), ("https", 403)])
def test_a_proxy_that_refuses_is_told_and_asked_once(gate: Gate, careful: Client, scheme: str, status: int) -> None:
    gate.status = status
    with pytest.raises(ServerError, match="the proxy"):
        careful.get(OUTSIDE.replace("http", scheme) + "/1.png", dict, body)
    assert len(gate.asked) == 1


def test_a_proxy_of_another_kind_is_named(gate: Gate, careful: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "socks5://me:secret@127.0.0.1:1080")
    with pytest.raises(AddressError, match="cannot be requested: the proxy in the environment") as told:
        careful.get(f"{OUTSIDE}/1.png", dict, body)
    assert "secret" not in str(told.value)
    assert gate.asked == []
