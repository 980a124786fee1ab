"""Whether an address is asked through a proxy, as the environment says: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY.

A proxy looks names up itself, and connects to what it finds. So that it asks nothing of a private network either, a
name is looked up here as well, where that is possible; what a name means to the proxy that it does not mean here, is
not known.
"""

from __future__ import annotations

import socket
from ipaddress import ip_address
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from proof.errors import AddressError
from proof.fetch.ssrf import is_public, refuse_private

_INNER = (".localhost", ".local", ".internal", ".home.arpa")


def proxy_of(address: httpx.URL) -> httpx.URL | None:
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


def pool_through(proxy: httpx.URL) -> httpcore.HTTPProxy:
    """Connections through a proxy, which may stand in a private network: the user named it."""
    port = proxy.port or (443 if proxy.scheme == "https" else 80)
    return httpcore.HTTPProxy(
        httpcore.URL(scheme=proxy.raw_scheme, host=proxy.raw_host, port=port, target=b"/"),
        proxy_auth=(proxy.username, proxy.password) if proxy.userinfo else None,
        ssl_context=httpx.create_ssl_context(),
        max_connections=1,
    )


def check_through_proxy(address: httpx.URL) -> None:
    """Raises AddressError for a host that is one of a private network as far as can be known here."""
    host = address.host.rstrip(".").lower()
    try:
        inner = not is_public(ip_address(host))
    except ValueError:
        inner = "." not in host or host.endswith(_INNER)
    if inner:
        refuse_private(host, [])
    try:
        found = socket.getaddrinfo(host, address.port or 0, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return  # behind some proxies no name is known
    private = [name for each in found if not is_public(ip_address(name := str(each[4][0])))]
    if private:
        refuse_private(host, private)
