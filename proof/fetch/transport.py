"""Connections to public hosts alone: directly, or through the proxy that the environment names.

The environment's HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY are observed. A proxy resolves names itself, so a
name is also resolved here where that is possible; what it means to the proxy alone is not known.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from proof.errors import AddressError, ServerError
from proof.fetch.ssrf import is_public, require_public, web_address

_INNER_SUFFIXES = (".localhost", ".local", ".internal", ".home.arpa")
_LIMITS = httpx.Limits(max_connections=1)
_PACKED_BYTES = 512
"""Bytes of a compressed body that are unfolded at once: into less than a megabyte, whatever they hold."""


class CheckedTransport(httpx.BaseTransport):
    """Sends requests to public hosts, to others only with `allow_private`; redirections pass through here too.

    A body that takes longer than `longest` seconds raises httpx.ReadTimeout.
    """

    def __init__(self, *, allow_private: bool, longest: float) -> None:
        self._allow_private = allow_private
        self._longest = longest
        self._direct = httpx.HTTPTransport(limits=_LIMITS)
        # httpx offers no way to name the network of its pool
        self._direct._pool._network_backend = CheckedNetwork(allow_private=allow_private)
        self._proxies: dict[httpx.URL, httpx.HTTPTransport] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The response. Raises AddressError and ServerError, and httpx's transport errors."""
        response = self._transport(web_address(str(request.url))).handle_request(request)
        if response.has_redirect_location:  # httpx would read its body, however long that is
            response.close()
            return httpx.Response(response.status_code, headers={"Location": response.headers["Location"]})
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _BodyInTime(response.stream, self._longest, packed=is_encoded(response))
        return response

    def close(self) -> None:
        for transport in (self._direct, *self._proxies.values()):
            transport.close()

    def _transport(self, address: httpx.URL) -> httpx.HTTPTransport:
        proxy = _proxy_for(address)
        if proxy is None:
            return self._direct
        if not self._allow_private:
            _check_through_proxy(address)
        if proxy not in self._proxies:
            self._proxies[proxy] = httpx.HTTPTransport(proxy=httpx.Proxy(proxy), limits=_LIMITS)
        return self._proxies[proxy]


class CheckedNetwork(httpcore.SyncBackend):
    """Connects to public addresses alone, unless `allow_private`.

    A name is resolved once, what it resolves to is checked, and that very address is connected to: a name that
    resolves to something else a moment later (DNS rebinding) gains nothing. TLS still asks for the name.
    """

    def __init__(self, *, allow_private: bool = False) -> None:
        super().__init__()
        self._allow_private = allow_private

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Raises AddressError for a host of a private network, ServerError where no host has that name,
        httpcore.ConnectError where it is not reached."""
        last: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in self._addresses(host, port):
            try:
                return super().connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last = error
        raise last

    def _addresses(self, host: str, port: int) -> list[str]:
        try:
            addresses = _resolved(host, port)
        except (OSError, UnicodeError) as error:
            if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
                raise httpcore.ConnectError(f"the name {host} is not known just now") from error
            raise ServerError(host, "there is no server of this name; check the address and the network") from error
        if not self._allow_private:
            require_public(host, addresses)
        return addresses


class _BodyInTime(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, longest: float, *, packed: bool) -> None:
        self._stream = stream
        self._longest = longest
        self._packed = packed

    def __iter__(self) -> Iterator[bytes]:
        end = time.monotonic() + self._longest
        for chunk in self._stream:
            if time.monotonic() > end:
                raise httpx.ReadTimeout(f"the answer takes longer than {self._longest:.0f} seconds")
            size = _PACKED_BYTES if self._packed else max(1, len(chunk))
            yield from (chunk[start : start + size] for start in range(0, len(chunk), size))

    def close(self) -> None:
        self._stream.close()


def is_encoded(answer: httpx.Response) -> bool:
    """Whether the body comes compressed, though that was not asked for."""
    return answer.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity")


def _proxy_for(address: httpx.URL) -> httpx.URL | None:
    """The proxy that the environment names for `address`, None where it is asked directly.

    Raises AddressError where the proxy is none that can be used.
    """
    named = getproxies()
    given = named.get(address.scheme) or named.get("all")
    if not given or proxy_bypass(address.netloc.decode("ascii")):
        return None
    try:
        proxy = httpx.URL(given if "://" in given else f"http://{given}")
        usable = proxy.scheme in ("http", "https") and bool(proxy.host)
    except httpx.InvalidURL:
        usable = False
    if not usable:
        raise AddressError(
            str(address),
            f"cannot be asked: the environment ({address.scheme.upper()}_PROXY or ALL_PROXY) names no proxy that can "
            "be used; write http://HOST:PORT, or name the host in NO_PROXY",
        )
    return proxy


def _check_through_proxy(address: httpx.URL) -> None:
    """Raises AddressError for a host of a private network, as far as can be known here."""
    host = address.host.rstrip(".").lower()
    try:
        inner = not is_public(ip_address(host))
    except ValueError:
        inner = "." not in host or host.endswith(_INNER_SUFFIXES)
    if inner:
        require_public(host, [])
    try:
        addresses = _resolved(host, address.port or 0)
    except (OSError, UnicodeError):
        return  # behind some proxies no name is known
    require_public(host, addresses)


def _resolved(host: str, port: int) -> list[str]:
    """The addresses of `host`, each once. Raises OSError and UnicodeError."""
    return list(dict.fromkeys(str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))
