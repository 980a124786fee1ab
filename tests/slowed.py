"""What shakes out a test that hangs on time: answers of the server that come late and out of order, a browser that
computes slowly, a hand that does one thing after the other slowly.

    ANSWERS_LATE=0.3 BROWSER_SLOWED=4 HANDS_LATE=0.1 .venv/bin/python -m pytest tests/web

An answer comes up to so many seconds late, by chance; a browser takes so many times as long for what it computes;
between two acts of a test so many seconds pass. Nothing of it is set unless it is asked for.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from flask import Flask

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PATIENCE = 300.0
"""Seconds that a test waits for what must come, on however busy a machine; nobody waits so long but for a fault."""

ANSWERS_LATE = float(os.environ.get("ANSWERS_LATE", "0"))
BROWSER_SLOWED = float(os.environ.get("BROWSER_SLOWED", "1"))
HANDS_LATE = float(os.environ.get("HANDS_LATE", "0"))


def answer_late() -> None:
    """From here on what this process serves comes late."""
    if not ANSWERS_LATE:
        return
    real = Flask.wsgi_app

    def late(self: Flask, environ: Any, start_response: Any) -> Iterable[bytes]:
        time.sleep(random.uniform(0, ANSWERS_LATE))  # noqa: S311
        return real(self, environ, start_response)

    Flask.wsgi_app = late  # type: ignore[method-assign]


def slow(browser: Browser) -> None:
    """From here on what its pages compute takes long."""
    if BROWSER_SLOWED == 1:
        return

    from playwright.sync_api import Error  # noqa: PLC0415 - who only waits needs no browser

    def slow_page(page: Page) -> None:
        with suppress(Error):  # it was closed at once
            page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": BROWSER_SLOWED})

    browser.on("context", lambda context: context.on("page", slow_page))
