"""Delays that reveal tests which depend on timing: late answers of the server, out of order; a slow browser; slow user
actions.

    ANSWERS_LATE=0.3 BROWSER_SLOWED=4 HANDS_LATE=0.1 .venv/bin/python -m pytest tests/web

`ANSWERS_LATE` is the maximum random delay of an answer in seconds, `BROWSER_SLOWED` the factor by which the browser
computes more slowly, `HANDS_LATE` the pause between two actions in seconds. None is set by default.
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
"""Maximum time in seconds that a test waits for something, long enough for any busy machine."""

ANSWERS_LATE = float(os.environ.get("ANSWERS_LATE", "0"))
BROWSER_SLOWED = float(os.environ.get("BROWSER_SLOWED", "1"))
HANDS_LATE = float(os.environ.get("HANDS_LATE", "0"))


def answer_late() -> None:
    """Delay all further answers of this process."""
    if not ANSWERS_LATE:
        return
    real = Flask.wsgi_app

    def late(self: Flask, environ: Any, start_response: Any) -> Iterable[bytes]:
        time.sleep(random.uniform(0, ANSWERS_LATE))  # noqa: S311
        return real(self, environ, start_response)

    Flask.wsgi_app = late  # type: ignore[method-assign]


def slow(browser: Browser) -> None:
    """Slow all further pages of the browser down."""
    if BROWSER_SLOWED == 1:
        return

    from playwright.sync_api import Error  # noqa: PLC0415 - who only waits needs no browser

    def slow_page(page: Page) -> None:
        with suppress(Error):  # it was closed at once
            page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": BROWSER_SLOWED})

    browser.on("context", lambda context: context.on("page", slow_page))
