"""Connects to public hosts only, directly or through the proxy that the environment names.

The environment's HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY are observed. A proxy resolves host names itself. This
module resolves and checks them too, if possible, but the proxy may resolve them to other addresses.
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
from proof.locale.marking import _

_PRIVATE_SUFFIXES = (".localhost", ".local", ".internal", ".home.arpa")
_LIMITS = httpx.Limits(max_connections=1)
_PACKED_BYTES = 512
"""Bytes of a compressed body that are decompressed at once. One layer of gzip expands them at most 1,032 times."""


class CheckedTransport(httpx.BaseTransport):
    """Sends requests to public hosts, to others only with `allow_private`; httpx sends redirected requests here too.

    A response body that takes longer than `longest` seconds raises httpx.ReadTimeout.
    """

    def __init__(self, *, allow_private: bool, longest: float) -> None:
        self._allow_private = allow_private
        self._longest = longest
        self._direct = httpx.HTTPTransport(limits=_LIMITS)
        # httpx has no public way to set the network backend of its connection pool
        self._direct._pool._network_backend = CheckedNetwork(allow_private=allow_private)
        self._proxies: dict[httpx.URL, httpx.HTTPTransport] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The response. Raises AddressError and ServerError, and httpx's transport errors."""
        response = self._transport(web_address(str(request.url))).handle_request(request)
        if response.has_redirect_location:  # httpx would read the whole body
            response.close()
            return httpx.Response(response.status_code, headers={"Location": response.headers["Location"]})
        if "," in response.headers.get("content-encoding", ""):  # each layer multiplies the size of a piece
            response.close()
            raise ServerError(str(request.url), _("the answer is compressed more than once"))
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
    """Connects to public addresses only, unless `allow_private`.

    A host name is resolved once, and the connection goes to one of the checked addresses, even if the name resolves to
    another address a moment later (DNS rebinding). TLS still verifies the name.
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
        """A connection to the first address of `host` that accepts one. Raises AddressError for a host of a private
        network, ServerError if no host has that name, httpcore.ConnectError or ConnectTimeout if none is reached."""
        failure: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in self._addresses(host, port):
            try:
                return super().connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    def _addresses(self, host: str, port: int) -> list[str]:
        try:
            addresses = _resolved(host, port)
        except (OSError, UnicodeError) as error:
            if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
                raise httpcore.ConnectError(f"the name {host} is not known just now") from error
            raise ServerError(
                host, _("there is no server with this name; check the address and the network")
            ) from error
        if not self._allow_private:
            require_public(host, addresses)
        return addresses


class _BodyInTime(httpx.SyncByteStream):
    """A body that raises httpx.ReadTimeout if a chunk comes later than `longest` seconds after the first read. A
    `packed` (compressed) body comes in pieces of `_PACKED_BYTES`."""

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
    """Whether the body is compressed, although the client did not ask for that."""
    return answer.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity")


def _proxy_for(address: httpx.URL) -> httpx.URL | None:
    """The proxy that the environment names for `address`; None if requests go there directly.

    Raises AddressError if the named proxy is no usable http or https address.
    """
    proxies = getproxies()
    given = proxies.get(address.scheme) or proxies.get("all")
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
            _(
                "cannot be requested: the proxy in the environment (%(scheme)s_PROXY or ALL_PROXY) cannot be "
                "used; write http://HOST:PORT, or name the host in NO_PROXY"
            ),
            scheme=address.scheme.upper(),
        )
    return proxy


def _check_through_proxy(address: httpx.URL) -> None:
    """Raises AddressError for a host of a private network, judged by its name and by the addresses that this machine
    resolves it to."""
    host = address.host.rstrip(".").lower()
    try:
        private = not is_public(ip_address(host))
    except ValueError:
        private = "." not in host or host.endswith(_PRIVATE_SUFFIXES)
    if private:
        require_public(host, [])  # always raises
    try:
        addresses = _resolved(host, address.port or 0)
    except (OSError, UnicodeError):
        return  # behind some proxies only the proxy can resolve names
    require_public(host, addresses)


def _resolved(host: str, port: int) -> list[str]:
    """The IP addresses of `host`, each once. Raises OSError and UnicodeError."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in entries))
