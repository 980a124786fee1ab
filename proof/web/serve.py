"""Serving an application with waitress, until it is interrupted.

There is one process, since counters and queues (log-in attempts, pages being read again) are in memory. Idle
connections occupy no thread, since each browser keeps six connections open. `tests/soak/browsers.py` measures that.
"""

from __future__ import annotations

import select
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
from proof.locale.marking import _
from proof.store.queue import KEPT_WORKS
from proof.web.app import MAX_BODY_BYTES
from proof.web.project import project

try:
    import resource
except ImportError:  # Windows, which does not limit the number of open files
    resource = None  # type: ignore[assignment]

THREADS = 12
MAX_CONNECTIONS = 2000
"""Maximum number of open connections; further ones wait."""

MAX_CONNECTIONS_WITHOUT_POLL = 400
"""The same on systems without `poll` (Windows), where `select` handles 512 files."""

MAX_OTHER_FILES = 200
"""Maximum number of open files besides connections: store, images, models."""

SILENT_SECONDS = 60
"""Time after which a connection is closed that is idle or has not sent a complete header."""
FORWARDED = {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"}


def serve(
    app: Flask, host: str, port: int, ready: Callable[[str], None], *, proxy: str = "", https: bool = False
) -> None:
    """Serve `app` at host and port (0: any free one); `ready` is called with the address once it answers.

    `proxy` is the address of a reverse proxy whose forwarding headers are trusted; `https`: browsers use https. Raises
    UsageError if the port is taken.
    """
    server, address = listen(app, host, port, proxy=proxy, https=https)
    with app.app_context():
        # fill the caches of counts and queue orders before the first request
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


def listen(
    app: Flask, host: str, port: int, *, proxy: str = "", https: bool = False, silent: int = SILENT_SECONDS
) -> tuple[Any, str]:
    """The server, which is not running yet, and its address; for `silent` see `SILENT_SECONDS`. Raises UsageError if
    the port is taken."""
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
            max_request_body_size=4 * MAX_BODY_BYTES,
            ident=None,
            clear_untrusted_proxy_headers=True,
            url_scheme="https" if https else "http",
            **({"trusted_proxy": proxy, "trusted_proxy_headers": FORWARDED} if proxy else {}),
        )
    except (OSError, ValueError) as error:
        raise UsageError(
            _("%(host)s:%(port)s: cannot be served there (%(error)s); name another with --port"),
            host=host,
            port=port,
            error=error,
        ) from error
    listening = [listener for listener in sockets.values() if isinstance(listener, BaseWSGIServer)]
    for listener in listening:  # `localhost` may have two addresses
        listener.channel_class = Channel
    name = f"[{host}]" if ":" in host else host
    return server, f"http://{name}:{listening[0].effective_port}/"


def most_connections() -> int:
    """The number of connections that can be open; raises the process's limit of open files if need be."""
    if not hasattr(select, "poll"):
        return MAX_CONNECTIONS_WITHOUT_POLL
    if resource is None:
        return MAX_CONNECTIONS
    needed_files = MAX_CONNECTIONS + MAX_OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed_files:
        soft = needed_files if hard == resource.RLIM_INFINITY else min(needed_files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    allowed = needed_files if soft == resource.RLIM_INFINITY else soft
    return min(MAX_CONNECTIONS, max(allowed - MAX_OTHER_FILES, 100))


class DiscardingBuffer:
    """A buffer that discards its data."""

    def append(self, data: bytes) -> None:
        """Discard the data."""

    def __len__(self) -> int:
        return 0


class Request(HTTPRequestParser):  # type: ignore[misc]
    """An incoming request. If it is too large, its rest is read and discarded: if the connection were closed at once,
    the client would see a broken connection instead of the answer."""

    def received(self, data: bytes) -> int:
        """Process incoming data; returns the number of bytes that belong to this request."""
        consumed: int = super().received(data)
        if isinstance(self.error, RequestEntityTooLarge):
            receiver = self.body_rcv
            if isinstance(receiver, FixedStreamReceiver | ChunkedReceiver) and not (
                receiver.completed or receiver.error
            ):
                receiver.buf = DiscardingBuffer()
                self.completed = False
        return consumed


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection. The whole header must arrive within the `channel_timeout`, even if some bytes keep coming."""

    parser_class = Request
    last_activity: float

    def handle_read(self) -> None:
        """Read incoming data. Data within a header does not count as activity."""
        was_in_header, last_activity = self._in_header, self.last_activity
        super().handle_read()
        if was_in_header and self._in_header:
            self.last_activity = last_activity

    @property
    def _in_header(self) -> bool:
        return self.request is not None and not self.request.headers_finished
