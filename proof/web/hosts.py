"""The names that the application answers to, so that a page elsewhere cannot reach it by giving itself another one
(DNS rebinding). Werkzeug's own check knows no addresses of IPv6 and no capital letters."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urlsplit

from flask import Flask, request
from werkzeug.exceptions import SecurityError


def answer_to(app: Flask, names: Iterable[str]) -> None:
    """Refuse, with 400, every request that asks for another host than one of `names`; `.example.org` are all of
    that domain."""
    known = {_plain(name) for name in names}

    @app.before_request
    def check() -> None:
        asked = _plain(request.host)
        parents = {asked[at:] for at, char in enumerate(asked) if char == "."}
        if asked not in known and not parents & known:
            raise SecurityError(f"this server is not called {request.host}")


def _plain(host: str) -> str:
    """A name or address as it is compared: without port and brackets, in one way of writing."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
    with suppress(ValueError):
        return str(ipaddress.ip_address(name))
    with suppress(UnicodeError):
        return "." * name.startswith(".") + name.lstrip(".").encode("idna").decode("ascii")
    return name
