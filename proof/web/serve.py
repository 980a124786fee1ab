"""Serving an application with waitress, until it is interrupted.

One process: what is counted and queued in memory (attempts to log in, pages being read again) is counted once. A
connection costs no thread; threads are for answers alone, so that neither browsers, which keep six connections each,
nor connections on which nothing comes keep anybody waiting. `tests/soak/browsers.py` measures it.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Callable
from typing import Any

import waitress
from flask import Flask
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.receiver import ChunkedReceiver, FixedStreamReceiver
from waitress.server import BaseWSGIServer
from waitress.utilities import RequestEntityTooLarge

from proof.errors import UsageError
from proof.store.queue import KEPT_WORKS
from proof.web.app import LARGEST_BODY
from proof.web.project import project

try:
    import resource
except ImportError:  # Windows, where nothing limits it
    resource = None  # type: ignore[assignment]

THREADS = 12
CONNECTIONS = 2000
"""Held at once; more wait until one is closed."""
CONNECTIONS_WITHOUT_POLL = 400
"""Where the system has `select` alone, which looks at 512 at most (Windows)."""
OWN_FILES = 200
"""What the process has open besides connections, at most: store, images, models."""
SILENT = 60
"""Seconds after which a connection is closed on which nothing comes, or no whole header."""
FORWARDED = {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"}


def serve(
    app: Flask, host: str, port: int, ready: Callable[[str], None], *, proxy: str = "", https: bool = False
) -> None:
    """Serve `app` at host and port (0: any free one); `ready` is called with the address once it answers.

    `proxy` is the address of one in front, whose word for whom it speaks is taken; `https` says that browsers
    reach it so.

    Raises UsageError where the port is taken.
    """
    server, address = listen(app, host, port, proxy=proxy, https=https)
    with app.app_context():
        # every work is counted, and the flags of a few are put in order, before anybody waits for it
        store = project().store
        if len(store.library.works()) <= KEPT_WORKS:
            store.queue.works()
    ready(address)
    try:
        server.run()
    finally:
        server.close()
        with app.app_context():
            project().downloads.close()
            project().rereading.close()


def listen(app: Flask, host: str, port: int, *, proxy: str = "", https: bool = False, silent: int = SILENT) -> Any:
    """The server, which runs once it is told to, and its address. Raises UsageError where the port is taken."""
    sockets: dict[int, object] = {}
    try:
        server = waitress.create_server(
            app,
            map=sockets,
            host=host.lower(),
            port=port,
            threads=THREADS,
            connection_limit=most_connections(),
            backlog=1024,
            asyncore_use_poll=hasattr(select, "poll"),
            channel_timeout=silent,
            cleanup_interval=min(silent, 30),
            max_request_body_size=4 * LARGEST_BODY,
            ident=None,
            clear_untrusted_proxy_headers=True,
            url_scheme="https" if https else "http",
            **({"trusted_proxy": proxy, "trusted_proxy_headers": FORWARDED} if proxy else {}),
        )
    except (OSError, socket.gaierror, ValueError) as error:
        raise UsageError(f"{host}:{port}: cannot be served there ({error}); name another with --port") from error
    listening = [listener for listener in sockets.values() if isinstance(listener, BaseWSGIServer)]
    for listener in listening:  # `localhost` may be two
        listener.channel_class = Channel
    name = f"[{host}]" if ":" in host else host
    return server, f"http://{name}:{listening[0].effective_port}/"


def most_connections() -> int:
    """How many connections can be held; where the system allows fewer open files than they need, it is asked for
    more."""
    if not hasattr(select, "poll"):
        return CONNECTIONS_WITHOUT_POLL
    if resource is None:
        return CONNECTIONS
    wanted = CONNECTIONS + OWN_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    allowed = wanted if soft == resource.RLIM_INFINITY else soft
    return min(CONNECTIONS, max(allowed - OWN_FILES, 100))


class Nowhere:
    """A buffer that keeps nothing."""

    def append(self, data: bytes) -> None:
        """Forget it."""

    def __len__(self) -> int:
        return 0


class Request(HTTPRequestParser):  # type: ignore[misc]
    """A request as it comes in. Of one that is too large the rest is read and thrown away: were the connection closed
    before, the client would be told that it broke, and never why."""

    def received(self, data: bytes) -> int:
        """Take in what came; gives how much of it belongs to this request."""
        consumed: int = super().received(data)
        if isinstance(self.error, RequestEntityTooLarge):
            receiver = self.body_rcv
            if isinstance(receiver, FixedStreamReceiver | ChunkedReceiver) and not (
                receiver.completed or receiver.error
            ):
                receiver.buf = Nowhere()
                self.completed = False
        return consumed


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection. A header that goes on and on is no activity: it must be whole within `SILENT` seconds."""

    parser_class = Request
    last_activity: float

    def handle_read(self) -> None:
        """Take in what came."""
        begun, last = self._in_header, self.last_activity
        super().handle_read()
        if begun and self._in_header:
            self.last_activity = last

    @property
    def _in_header(self) -> bool:
        return self.request is not None and not self.request.headers_finished
