"""Counts of what may happen only so often."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from proof.web.rate_limit import RateLimiter


def test_hits_beyond_the_limit_are_refused_for_their_key_alone() -> None:
    limiter = RateLimiter(60)
    assert [limiter.hit("one", 2) for _ in range(4)] == [True, True, False, False]
    assert limiter.hit("another", 2)
    limiter.take_out("one")
    assert not limiter.hit("one", 2), "refused hits count as well"
    limiter.clear("one")
    limiter.take_out("one")
    assert limiter.hit("one", 1)


def test_a_window_begins_with_its_first_hit_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    limiter = RateLimiter(60)
    assert limiter.seconds_left("") == 0
    assert limiter.hit("", 1)
    now += 50
    assert limiter.hit("later", 1)
    assert not limiter.hit("", 1)
    assert limiter.seconds_left("") == 10
    now += 10
    assert limiter.hit("", 1)
    assert not limiter.hit("later", 1)


def test_threads_share_a_count() -> None:
    limiter = RateLimiter(60)
    with ThreadPoolExecutor(8) as pool:
        allowed = list(pool.map(lambda _: limiter.hit("key", 100), range(400)))
    assert sum(allowed) == 100
