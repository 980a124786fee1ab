"""Whether the server can do its work, and how much it did: `/healthz`, for whatever watches over it."""

from __future__ import annotations

import time
from collections import Counter
from threading import Lock

from flask import Flask, Response, jsonify

import proof
from proof.errors import OutputError
from proof.store import Store

EVERY = 2.0
"""Seconds between two attempts to write; whoever asks in between hears what the last one found."""


class Health:
    """Whether decisions can be kept in a store, which is found out by writing to it: a full disk is still read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._trying = Lock()
        self._tried = float("-inf")
        self._writes = True

    @property
    def well(self) -> bool:
        """Whether the store could be written when that was last tried."""
        if time.monotonic() - self._tried > EVERY and self._trying.acquire(blocking=False):
            try:
                self._store.try_writing()
                self._writes = True
            except OutputError:
                self._writes = False
            finally:
                self._tried = time.monotonic()
                self._trying.release()
        return self._writes


def serve(app: Flask, store: Store) -> None:
    """Answer `/healthz`: 200 where the store can be written, 503 where it cannot, with how many answers were given
    since the start. Why not is in no answer: whoever asks has no account."""
    health = Health(store)
    began = time.monotonic()
    answers: Counter[int] = Counter()

    def count(response: Response) -> Response:
        answers[response.status_code // 100] += 1
        return response

    def healthy() -> Response:
        well = health.well
        response = jsonify(
            {
                "status": "ok" if well else "the store cannot be written",
                "version": proof.__version__,
                "uptime_seconds": round(time.monotonic() - began),
                "answers": sum(answers.values()),
                "client_errors": answers[4],
                "server_errors": answers[5],
            }
        )
        response.status_code = 200 if well else 503
        response.headers["Cache-Control"] = "no-store"
        return response

    app.after_request(count)
    app.add_url_rule("/healthz", "health", healthy)
