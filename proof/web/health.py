"""`/healthz`, for monitoring: whether the store can be written, and the number of answers."""

from __future__ import annotations

import time
from collections import Counter
from threading import Lock

from flask import Flask, Response, jsonify

import proof
from proof.errors import OutputError
from proof.store import Store

PAUSE_SECONDS = 2.0
"""Minimum time between two attempts to write. Requests in between get the last result."""


class Health:
    """Checks whether a store can be written by writing to it, since a full disk can still be read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._trying = Lock()
        self._last_try = float("-inf")
        self._writable = True

    @property
    def writable(self) -> bool:
        """Whether the last attempt to write succeeded; tries again if it was more than `PAUSE_SECONDS` ago."""
        if time.monotonic() - self._last_try > PAUSE_SECONDS and self._trying.acquire(blocking=False):
            try:
                self._store.try_writing()
                self._writable = True
            except OutputError:
                self._writable = False
            finally:
                self._last_try = time.monotonic()
                self._trying.release()
        return self._writable


def serve(app: Flask, store: Store) -> None:
    """Answer `/healthz` with 200 if the store can be written, else 503, and the numbers of answers since the start. The
    answer does not say why the store cannot be written, since the request needs no account."""
    health = Health(store)
    began = time.monotonic()
    answers: Counter[int] = Counter()  # by the first digit of the status

    def count_answer(response: Response) -> Response:
        answers[response.status_code // 100] += 1
        return response

    def report_health() -> Response:
        writable = health.writable
        response = jsonify(
            {
                "status": "ok" if writable else "the store cannot be written",
                "version": proof.__version__,
                "uptime_seconds": round(time.monotonic() - began),
                "answers": sum(answers.values()),
                "client_errors": answers[4],
                "server_errors": answers[5],
            }
        )
        response.status_code = 200 if writable else 503
        response.headers["Cache-Control"] = "no-store"
        return response

    app.after_request(count_answer)
    app.add_url_rule("/healthz", "health", report_health)
