"""Serving an application with waitress, until it is interrupted."""

from __future__ import annotations

import socket
from collections.abc import Callable

import waitress
from flask import Flask

from proof.errors import UsageError
from proof.web.app import LARGEST_BODY

THREADS = 12


def serve(app: Flask, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve `app` at host and port (0: any free one); `ready` is called with the address once it answers.

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
        )
    except (OSError, socket.gaierror, ValueError) as error:
        raise UsageError(f"{host}:{port}: cannot be served there ({error}); name another with --port") from error
    bound = getattr(server, "effective_port", port)
    ready(f"http://{host}:{bound}/")
    try:
        server.run()
    finally:
        server.close()
