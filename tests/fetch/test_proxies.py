"""Images come through a proxy as without one, and no internal address is requested through it."""

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
"""A host that only the proxy can resolve."""
INTERNAL_HOSTS = (
    "127.0.0.1 127.1 2130706433 [::1] 192.168.1.1 169.254.169.254 localhost intranet printer.local LOCALHOST."
)


@dataclass
class Proxy:
    """A proxy that sends all requests to the museum's server, or refuses them with `status` if that is not 0. `asked`
    are its requests: method, target, and the `Proxy-Authorization` header."""

    museum: str
    address: str = ""
    status: int = 0
    asked: list[tuple[str, str, str]] = field(default_factory=list)


class ProxyServer(ThreadingHTTPServer):
    daemon_threads = True
    proxy: Proxy


class ProxyRequestHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ProxyServer

    def do_GET(self) -> None:
        if self.is_accepted():
            path = "/" + self.path.split("/", 3)[3]
            with build_opener(ProxyHandler({})).open(Request(self.server.proxy.museum + path)) as answer:  # noqa: S310
                data = answer.read()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def do_CONNECT(self) -> None:
        if self.is_accepted():
            self.send_response(200)
            self.end_headers()
            with socket.create_connection(("127.0.0.1", int(self.path.rpartition(":")[2]))) as far:
                back = Thread(target=copy_bytes, args=(far, self.connection), daemon=True)
                back.start()
                copy_bytes(self.connection, far)
                back.join()
            self.close_connection = True

    def is_accepted(self) -> bool:
        """Record the request, and refuse it if the proxy does."""
        proxy = self.server.proxy
        proxy.asked.append((self.command, self.path, self.headers.get("Proxy-Authorization", "")))
        if proxy.status:
            self.send_response(proxy.status)
            self.send_header("Content-Length", "0")
            self.end_headers()
        return not proxy.status

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: tests look at `Proxy.asked`."""


def copy_bytes(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return


@pytest.fixture
def proxy(museum: Museum, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    with running(server := ProxyServer(("127.0.0.1", 0), ProxyRequestHandler)) as address:
        server.proxy = Proxy(museum.address, f"http://{address}")
        for name in ("HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, server.proxy.address)
        yield server.proxy


@pytest.fixture
def strict_client(waits: Waits) -> Iterator[Client]:
    """A client that requests public addresses only."""
    with Client(RetryPolicy(pause=0, tries=2), wait=waits) as client:
        yield client


def body(answer: httpx.Response) -> bytes:
    return b"".join(answer.iter_bytes())


@pytest.mark.parametrize(("user", "given"), [("", ""), ("me:secret@", "Basic bWU6c2VjcmV0")])
def test_an_image_comes_through_the_proxy_and_only_the_proxy_gets_its_password(
    museum: Museum, proxy: Proxy, strict_client: Client, monkeypatch: pytest.MonkeyPatch, user: str, given: str
) -> None:
    museum.files["/1.png"] = page()
    monkeypatch.setenv("HTTP_PROXY", proxy.address.replace("//", f"//{user}"))
    assert strict_client.get(f"{OUTSIDE}/1.png", dict, body) == page()
    assert proxy.asked == [("GET", f"{OUTSIDE}/1.png", given)]
    assert museum.paths() == ["/1.png"]
    assert "proxy-authorization" not in museum.asked[0][1]


def test_with_allow_private_the_proxy_gets_all_requests_except_for_hosts_in_no_proxy(
    museum: Museum, proxy: Proxy, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    museum.files["/1.png"] = page()
    monkeypatch.setenv("NO_PROXY", "example.org,127.0.0.1")
    assert client.get(museum.url("/1.png"), dict, body) == page()
    assert proxy.asked == []
    assert client.get("http://intranet/1.png", dict, body) == page()
    assert [target for _, target, _ in proxy.asked] == ["http://intranet/1.png"]


@pytest.mark.parametrize("host", INTERNAL_HOSTS.split())
def test_an_internal_address_is_not_requested_through_the_proxy(proxy: Proxy, strict_client: Client, host: str) -> None:
    for scheme in ("http", "https"):
        with pytest.raises(AddressError, match="--allow-private"):
            strict_client.get(f"{scheme}://{host}/1.png", dict, body)
    assert proxy.asked == []


@pytest.mark.parametrize(("scheme", "status"), [("http", 407), ("https", 407), ("https", 403)])
def test_a_proxy_that_refuses_is_named_and_asked_once(
    proxy: Proxy, strict_client: Client, scheme: str, status: int
) -> None:
    proxy.status = status
    with pytest.raises(ServerError, match="the proxy"):
        strict_client.get(OUTSIDE.replace("http", scheme) + "/1.png", dict, body)
    assert len(proxy.asked) == 1


def test_a_proxy_of_another_kind_is_named(proxy: Proxy, strict_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "socks5://me:secret@127.0.0.1:1080")
    with pytest.raises(AddressError, match="cannot be requested: the proxy in the environment") as error:
        strict_client.get(f"{OUTSIDE}/1.png", dict, body)
    assert "secret" not in str(error.value)
    assert proxy.asked == []
