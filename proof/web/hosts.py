"""The check of the host name of requests, against DNS rebinding. Werkzeug's own check handles neither IPv6 addresses
nor capital letters."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urlsplit

from flask import Flask, request
from werkzeug.exceptions import SecurityError


def refuse_other_hosts(app: Flask, names: Iterable[str]) -> None:
    """Refuse, with 400, every request for a host that is not in `names`; `.example.org` allows all hosts below
    this domain."""
    allowed = {_plain(name) for name in names}

    @app.before_request
    def check() -> None:
        host = _plain(request.host)
        domains = {host[index:] for index, char in enumerate(host) if char == "."}
        if host not in allowed and not domains & allowed:
            raise SecurityError(f"this server is not called {request.host}")


def _plain(host: str) -> str:
    """A host name or address, normalised for comparison, without port and brackets."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
    with suppress(ValueError):
        return str(ipaddress.ip_address(name))
    with suppress(UnicodeError):
        return "." * name.startswith(".") + name.lstrip(".").encode("idna").decode("ascii")
    return name
