"""Limits on attempts to log in, after OWASP's Authentication and Credential Stuffing cheat sheets and its
"Slow Down Online Guessing Attacks with Device Cookies".

Wrong passwords are counted for an account from one address, for an account from all addresses, and for an address over
all accounts. Successful attempts are not counted.

Such counts alone would let anybody lock others out, by trying wrong passwords on their account or from their network.
So a browser in which the owner of an account has logged in gets a signed cookie. Attempts on that account with the
cookie are counted separately and are not affected by the other counts. The cookie does not replace the password, and it
is ignored while its count is full, so that a stolen cookie allows no more guesses than an address. The owner of an
account under attack must wait only in a browser in which they have never logged in.

Of an IPv6 address the first 64 bits are counted, since its owner can choose the others.
"""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
from dataclasses import dataclass

from flask import Response, after_this_request, current_app, request
from itsdangerous import BadData, URLSafeTimedSerializer

from proof.errors import PublicError
from proof.store.accounts import handle
from proof.web.messages import LOGIN_MESSAGES
from proof.web.rate_limit import RateLimiter

PERIOD_MINUTES = 15
"""Period over which attempts are counted."""

WIDE_FACTOR = 5
"""The limit for an account from all addresses, and for an address on all accounts, relative to the limit for one
account from one address."""

COOKIE_SECONDS = 400 * 24 * 3600
"""Life of the cookie, the longest that browsers allow."""


class TooManyAttemptsError(PublicError):
    """Too many passwords were tried; the next attempt is allowed after `wait` seconds."""

    http_status = 429

    def __init__(self, wait: int) -> None:
        super().__init__(LOGIN_MESSAGES["wait"], num=max(wait // 60, 1))
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Count:
    """The key of a counter of attempts, and its `limit`. A successful attempt resets the counter to zero if `resets`,
    else lowers it by one."""

    limit: int
    key: tuple[str, str, str]
    resets: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt on an account, given by the hash of its handle, with the counters that it raised."""

    account: str
    counts: tuple[Count, ...]


class Attempts:
    """The attempts of the last `PERIOD_MINUTES`, in memory. An attempt is counted when it begins, so that concurrent
    ones cannot evade the limit, and is uncounted when it succeeds."""

    def __init__(self, secret: str, limit: int) -> None:
        self._limiter = RateLimiter(PERIOD_MINUTES * 60)
        self._narrow, self._wide = limit, limit * WIDE_FACTOR
        sha256 = {"digest_method": hashlib.sha256}
        self._signer = URLSafeTimedSerializer(secret, salt="known browser", signer_kwargs=sha256)

    def begin(self, name: str) -> Attempt:
        """Count an attempt on the account `name`. Raises TooManyAttemptsError."""
        account = hashlib.blake2b(handle(name).encode("utf-8", "replace"), digest_size=16).hexdigest()
        device = self._device(account)
        if device:
            of_device = Count(self._narrow, ("device", account, device), resets=True)
            if self._limiter.hit(of_device.key, of_device.limit):
                return Attempt(account, (of_device,))
        network = network_of(request.remote_addr or "")
        counts = (
            Count(self._narrow, ("pair", account, network), resets=True),
            Count(self._wide, ("account", account, "")),
            Count(self._wide, ("address", "", network)),
        )
        for index, count in enumerate(counts):
            if not self._limiter.hit(count.key, count.limit):
                self._take_out(counts[: index + 1])
                raise TooManyAttemptsError(max(round(self._limiter.seconds_left(count.key)), 1))
        return Attempt(account, counts)

    def succeeded(self, attempt: Attempt) -> None:
        """Uncount a successful attempt and reset the counters of this account and address; set the browser's cookie."""
        for count in attempt.counts:
            if count.resets:
                self._limiter.clear(count.key)
        self._take_out(attempt.counts)
        value = self._signer.dumps([attempt.account, self._device(attempt.account) or secrets.token_hex(16)])

        @after_this_request
        def set_cookie(response: Response) -> Response:
            secure = current_app.config["SESSION_COOKIE_SECURE"]
            cookie = self._cookie(attempt.account)
            response.set_cookie(cookie, value, COOKIE_SECONDS, secure=secure, httponly=True, samesite="Lax")
            return response

    def _take_out(self, counts: tuple[Count, ...]) -> None:
        for count in counts:
            self._limiter.take_out(count.key)

    def _device(self, account: str) -> str:
        """The identifier of the browser in its cookie for an account; '' without a valid cookie."""
        try:
            owner, device = self._signer.loads(request.cookies.get(self._cookie(account), ""), max_age=COOKIE_SECONDS)
        except (BadData, ValueError, TypeError):
            return ""
        return str(device) if owner == account else ""

    def _cookie(self, account: str) -> str:
        """The name of the cookie, one for each account: several people may use one browser."""
        return f"{current_app.config['SESSION_COOKIE_NAME']}-known-{account[:8]}"


def network_of(address: str) -> str:
    """The part of an address that its owner cannot choose: the /64 network of an IPv6 address, else the whole."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, 64), strict=False))
