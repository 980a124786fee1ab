"""The access log: a line for each answer, in the Combined Log Format of Apache and nginx, with the duration in seconds
at the end."""

from __future__ import annotations

import logging
import sys
import time
from logging.handlers import WatchedFileHandler
from pathlib import Path

from flask import Flask, Response, g, request

from proof.errors import OutputError, os_errors_as
from proof.locale.marking import _
from proof.web.people import current_account


def write_access_log(app: Flask, path: Path) -> None:
    """Log the answers of `app` in the file `path`, or on standard output (`-`). If the file is moved away, a new one is
    opened, so that logrotate needs no signal. Raises OutputError."""
    logger = logging.getLogger("proof.access")
    with os_errors_as(
        OutputError, _("%(path)s: cannot be written (%(reason)s); name another file for --log"), path=path
    ):
        handler = logging.StreamHandler(sys.stdout) if path == Path("-") else WatchedFileHandler(path, encoding="utf-8")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False

    def start_timer() -> None:
        g.began = time.perf_counter()

    def log_answer(response: Response) -> Response:
        logger.info(_line(response, time.perf_counter() - g.began))
        return response

    # before the checks of requests, whose refusals are logged as well
    app.before_request_funcs.setdefault(None, []).insert(0, start_timer)
    app.after_request(log_answer)


def _line(response: Response, seconds: float) -> str:
    account = current_account()
    name = _quoted(account.name).replace(" ", "\\x20") if account else "-"
    now = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime())
    request_line = _quoted(
        f"{request.method} {request.full_path.rstrip('?')} {request.environ.get('SERVER_PROTOCOL', '')}"
    )
    referrer, agent = _quoted(request.referrer or "-"), _quoted(request.user_agent.string or "-")
    length = response.content_length if response.content_length is not None else "-"
    return (
        f'{request.remote_addr or "-"} - {name} [{now}] "{request_line}" {response.status_code} {length} '
        f'"{referrer}" "{agent}" {seconds:.3f}'
    )


def _quoted(text: str) -> str:
    """A field of the log; quotes, backslashes and what does not print are escaped."""
    return "".join(char if char.isprintable() and char not in '"\\' else f"\\x{ord(char):02x}" for char in text)
