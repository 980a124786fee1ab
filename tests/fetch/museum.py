"""A web server on this machine that stands for a museum's and can be made to fail, and images for it."""

from __future__ import annotations

import hashlib
import io
import ssl
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import trustme
from PIL import Image

Fault = Callable[["Handler"], None]


@dataclass
class Museum:
    """The state of the server: `files` by path, faults that come before them (`next`, each once), and the requests so
    far (`asked`: path and headers)."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    next: dict[str, deque[Fault]] = field(default_factory=lambda: defaultdict(deque))
    asked: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def url(self, path: str) -> str:
        return self.address + path


class Server(ThreadingHTTPServer):
    daemon_threads = True
    museum: Museum

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that hang up, such as those that do not trust the certificate."""


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[str]:
    """Run the server in a thread within the block; gives its address, HOST:PORT."""
    with server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@contextmanager
def encrypted_museum(authority: Path) -> Iterator[Museum]:
    """A server with a certificate for localhost only. The certificate of its authority is written to `authority`."""
    issuer = trustme.CA()
    issuer.cert_pem.write_to_path(str(authority))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issuer.issue_cert("localhost").configure_cert(context)
    server = Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    with running(server):
        server.museum = Museum(f"https://localhost:{server.server_address[1]}", {"/1.png": page()})
        yield server.museum


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        museum = self.server.museum
        museum.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        faults = museum.next[self.path]
        try:
            if faults:
                faults.popleft()(self)
            else:
                self.serve(museum.files.get(self.path))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def serve(self, data: bytes | None) -> None:
        if data is None:
            self.answer(404, b"<!DOCTYPE html><title>Not here</title>", {"Content-Type": "text/html"})
            return
        etag = etag_of(data)
        if self.headers.get("If-None-Match") == etag:
            self.answer(304, b"", {"ETag": etag})
            return
        wanted = self.headers.get("Range", "")
        if wanted and self.headers.get("If-Range", etag) == etag:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(data):
                self.answer(416, b"", {"Content-Range": f"bytes */{len(data)}"})
                return
            span = f"bytes {start}-{len(data) - 1}/{len(data)}"
            self.answer(206, data[start:], {"ETag": etag, "Content-Range": span})
            return
        self.answer(200, data, {"ETag": etag})

    def answer(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        sent = {"Content-Length": str(len(body)), **(headers or {})}
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        if status != 304:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: tests look at `Museum.asked`."""


def etag_of(data: bytes) -> str:
    return f'"{hashlib.sha256(data).hexdigest()[:12]}"'


def says(status: int, body: bytes = b"", **headers: str) -> Fault:
    """A fault that answers with this status, body and headers (`Retry_After="1"`)."""
    return lambda handler: handler.answer(
        status, body, {name.replace("_", "-"): value for name, value in headers.items()}
    )


def drops_after(count: int, data: bytes, **headers: str) -> Fault:
    """A fault that announces all of `data`, sends `count` bytes of it and hangs up."""

    def fail(handler: Handler) -> None:
        handler.send_response(200)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data[:count])
        handler.wfile.flush()
        handler.close_connection = True

    return fail


@dataclass
class Waits:
    """Records the seconds that a client would wait, and does not wait."""

    seconds: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def page(seed: int = 1, form: str = "PNG") -> bytes:
    """An image of about 30 kB, different for every seed."""
    pixels = np.random.default_rng(seed).integers(0, 256, (180, 170), dtype=np.uint8)
    kept = io.BytesIO()
    Image.fromarray(pixels).save(kept, form)
    return kept.getvalue()
