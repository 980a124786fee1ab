"""How often somebody may try a password: counted for who tries one account, for the account, and for the address."""

from __future__ import annotations

import hashlib
import time

from flask import Flask, request
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from limits import RateLimitItem, RateLimitItemPerMinute

from proof.errors import ToldError
from proof.store.accounts import handle
from proof.web.messages import PEOPLE

MINUTES = 15
MORE = 5
"""So many times as often an account can be tried from all addresses, and all accounts from one address."""


class TooManyAttemptsError(ToldError):
    """Passwords were tried too often: `wait` is after how many seconds the next may be tried."""

    http_status = 429

    def __init__(self, wait: int) -> None:
        super().__init__(PEOPLE["wait"], num=max(wait // 60, 1))
        self.wait = wait


class Attempts:
    """The attempts of the last quarter of an hour, kept in memory. An attempt counts when it begins, so that many
    at once are no way round; one that succeeds is forgotten again."""

    def __init__(self, app: Flask, most: int) -> None:
        self._counter = Limiter(get_remote_address, app=app, storage_uri="memory://", strategy="moving-window").limiter
        self._one = RateLimitItemPerMinute(most, MINUTES)
        self._all = RateLimitItemPerMinute(most * MORE, MINUTES)

    def begin(self, name: str) -> None:
        """Note that a password of the account `name` is tried. Raises TooManyAttemptsError."""
        for limit, keys in self._limits(name):
            if not self._counter.hit(limit, *keys):
                reset = self._counter.get_window_stats(limit, *keys).reset_time
                raise TooManyAttemptsError(max(round(reset - time.time()), 1))

    def succeeded(self, name: str) -> None:
        """Forget what was tried from here on the account `name`: its owner has come."""
        limit, keys = self._limits(name)[0]
        self._counter.clear(limit, *keys)

    def _limits(self, name: str) -> list[tuple[RateLimitItem, tuple[str, ...]]]:
        who = hashlib.blake2b(handle(name).encode("utf-8", "replace"), digest_size=16).hexdigest()
        where = request.remote_addr or ""
        return [(self._one, ("pair", who, where)), (self._all, ("account", who)), (self._all, ("address", where))]
