"""Serving an application with waitress, until it is interrupted."""

from __future__ import annotations

import socket
from collections.abc import Callable

import waitress
from flask import Flask

from proof.errors import UsageError
from proof.web.app import LARGEST_BODY
from proof.web.project import project

THREADS = 12
FORWARDED = {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"}


def serve(
    app: Flask, host: str, port: int, ready: Callable[[str], None], *, proxy: str = "", https: bool = False
) -> None:
    """Serve `app` at host and port (0: any free one); `ready` is called with the address once it answers.

    `proxy` is the address of one in front, whose word for whom it speaks is taken; `https` says that browsers
    reach it so.

    Raises UsageError where the port is taken.
    """
    try:
        server = waitress.create_server(
            app,
            host=host,
            port=port,
            threads=THREADS,
            max_request_body_size=4 * LARGEST_BODY,
            ident=None,
            clear_untrusted_proxy_headers=True,
            url_scheme="https" if https else "http",
            **({"trusted_proxy": proxy, "trusted_proxy_headers": FORWARDED} if proxy else {}),
        )
    except (OSError, socket.gaierror, ValueError) as error:
        raise UsageError(f"{host}:{port}: cannot be served there ({error}); name another with --port") from error
    with app.app_context():
        # the flags of every work are put in order once, before anybody waits for it
        project().store.queue.works()
    bound = getattr(server, "effective_port", port)
    ready(f"http://{host}:{bound}/")
    try:
        server.run()
    finally:
        server.close()
        with app.app_context():
            project().rereading.close()
