"""How often somebody may try a password, after OWASP's Authentication and Credential Stuffing cheat sheets and its
"Slow Down Online Guessing Attacks with Device Cookies".

Wrong passwords are counted for who tries one account from one address, for the account from all addresses, and for
the address over all accounts. Who succeeds is not counted anywhere, however many log in from one address.

Counts alone would let anybody shut somebody out, by trying wrong passwords on their account, or from their network.
So a browser in which the owner of an account has logged in keeps a signed cookie that says so; what is tried there on
that account has a count of its own, and none of the others stops it or is raised by it. The cookie lets nobody in:
the password is asked for all the same. Once its own count is full it is worth nothing until the quarter of an hour is
over, so that a stolen one buys no more guesses than one address has. What remains is that the owner of an account
under attack must wait in a browser in which they have never logged in.

An address of IPv6 counts by its first 64 bits: the others anybody chooses.
"""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
import time
from dataclasses import dataclass

from flask import Flask, Response, after_this_request, current_app, request
from itsdangerous import BadData, URLSafeTimedSerializer
from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from proof.errors import ToldError
from proof.store.accounts import handle
from proof.web.messages import PEOPLE

MINUTES = 15
MORE = 5
"""So many times as often an account can be tried from all addresses, and all accounts from one address."""
KNOWN_FOR = 400 * 24 * 3600
"""Seconds that a browser stays known; browsers keep no cookie longer."""


class TooManyAttemptsError(ToldError):
    """Passwords were tried too often: `wait` is after how many seconds the next may be tried."""

    http_status = 429

    def __init__(self, wait: int) -> None:
        super().__init__(PEOPLE["wait"], num=max(wait // 60, 1))
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Count:
    """A count by its key, and how far it goes."""

    limit: RateLimitItem
    key: tuple[str, str, str]
    forgotten: bool = False
    """Whether success forgets all that was counted, not just itself."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A password being tried on the account whose handle hashes to `who`, and where it was counted."""

    who: str
    counts: tuple[Count, ...]


class Attempts:
    """The wrong passwords of a quarter of an hour, kept in memory. An attempt counts when it begins, so that many at
    once are no way round; one that succeeds is taken out again."""

    def __init__(self, app: Flask, most: int) -> None:
        self._storage = MemoryStorage()
        self._counter = FixedWindowRateLimiter(self._storage)
        self._one = RateLimitItemPerMinute(most, MINUTES)
        self._all = RateLimitItemPerMinute(most * MORE, MINUTES)
        sha256 = {"digest_method": hashlib.sha256}
        self._signer = URLSafeTimedSerializer(app.config["SECRET_KEY"], salt="known browser", signer_kwargs=sha256)

    def begin(self, name: str) -> Attempt:
        """Note that a password of the account `name` is tried. Raises TooManyAttemptsError."""
        who = hashlib.blake2b(handle(name).encode("utf-8", "replace"), digest_size=16).hexdigest()
        device = self._device(who)
        if device:
            own = Count(self._one, ("device", who, device), forgotten=True)
            if self._counter.hit(own.limit, *own.key):
                return Attempt(who, (own,))
        where = network_of(request.remote_addr or "")
        counts = (
            Count(self._one, ("pair", who, where), forgotten=True),
            Count(self._all, ("account", who, "")),
            Count(self._all, ("address", "", where)),
        )
        for number, count in enumerate(counts):
            if not self._counter.hit(count.limit, *count.key):
                self._take_out(counts[: number + 1])
                reset = self._counter.get_window_stats(count.limit, *count.key).reset_time
                raise TooManyAttemptsError(max(round(reset - time.time()), 1))
        return Attempt(who, counts)

    def succeeded(self, attempt: Attempt) -> None:
        """Its owner has come: forget the attempt, and what was tried from here on this account; know the browser."""
        for count in attempt.counts:
            if count.forgotten:
                self._counter.clear(count.limit, *count.key)
        self._take_out(attempt.counts)
        value = self._signer.dumps([attempt.who, self._device(attempt.who) or secrets.token_hex(16)])

        @after_this_request
        def know(response: Response) -> Response:
            secure = current_app.config["SESSION_COOKIE_SECURE"]
            cookie = self._cookie(attempt.who)
            response.set_cookie(cookie, value, KNOWN_FOR, secure=secure, httponly=True, samesite="Lax")
            return response

    def _take_out(self, counts: tuple[Count, ...]) -> None:
        for count in counts:
            self._storage.decr(count.limit.key_for(*count.key))

    def _device(self, who: str) -> str:
        """What the browser of the request is known by, to the account; '' where it is not known."""
        try:
            owner, device = self._signer.loads(request.cookies.get(self._cookie(who), ""), max_age=KNOWN_FOR)
        except (BadData, ValueError, TypeError):
            return ""
        return str(device) if owner == who else ""

    def _cookie(self, who: str) -> str:
        """One for each account: several people may use one browser."""
        return f"{current_app.config['SESSION_COOKIE_NAME']}-known-{who[:8]}"


def network_of(address: str) -> str:
    """What of an address its owner cannot choose at will."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 6 and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed.ipv4_mapped if parsed.version == 6 else parsed)
