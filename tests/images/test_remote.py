"""Images that a worker fetches: from real servers on this machine, quick, slow, and cutting."""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from proof.errors import ClusterError, ImageError
from proof.images import remote
from proof.images.remote import MAX_TRIES, FetchedImages, ImageLocations

pytest.importorskip("fsspec", reason="hanproof[cluster] is not installed")
pytest.importorskip("aiohttp", reason="hanproof[cluster] is not installed")

HERE = Path("/scans")
IMAGE = bytes(range(256)) * 400
STATUS = {"/missing.png": 404, "/forbidden.png": 403}
PAUSE = {"/slow.png": 0.05, "/stalled.png": 2.0}
"""Seconds between the pieces of an image."""


class Scans(BaseHTTPRequestHandler):
    """Serves `IMAGE` in pieces; the name of a file says what goes wrong with it."""

    asked: ClassVar[list[str]] = []

    def do_HEAD(self) -> None:
        self.send_response(STATUS.get(self.path, 200))
        self.send_header("Content-Length", "0" if self.path in STATUS else str(len(IMAGE)))
        self.end_headers()

    def do_GET(self) -> None:
        Scans.asked.append(self.path)
        self.do_HEAD()
        if self.path in STATUS:
            return
        if self.path == "/always-cut.png" or (self.path == "/cut-twice.png" and len(Scans.asked) <= 2):
            self.wfile.write(IMAGE[: len(IMAGE) // 2])
            self.close_connection = True
            self.connection.close()
            return
        try:
            for start in range(0, len(IMAGE), len(IMAGE) // 5):
                self.wfile.write(IMAGE[start : start + len(IMAGE) // 5])
                self.wfile.flush()
                time.sleep(PAUSE.get(self.path, 0.0))
        except OSError:  # who asked has had enough
            self.close_connection = True

    def log_message(self, format: str, *values: object) -> None:
        """Nothing is printed."""


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[int]:
    """The server while it runs, by its port."""
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Scans)) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(autouse=True)
def _anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was asked for yet, and between two tries nobody sleeps."""
    Scans.asked.clear()
    monkeypatch.setattr(remote, "FIRST_PAUSE_SECONDS", 0.0)


def fetched(place: str, name: str) -> bytes:
    """What a worker reads for `name` of a folder that lies at `place`."""
    images = FetchedImages()  # whose folder goes when it does
    return images.file(HERE / name, ImageLocations(((str(HERE), place),))).read_bytes()


def test_a_file_is_fetched_from_a_shared_disk(tmp_path: Path) -> None:
    (tmp_path / "1a 圖.png").write_bytes(IMAGE)
    assert fetched(f"file://{tmp_path}", "1a 圖.png") == IMAGE


@pytest.mark.parametrize(("name", "asked"), [("quick.png", 1), ("slow.png", 1), ("cut-twice.png", 3)])
def test_a_file_is_fetched_by_http_however_slowly_and_asked_for_again_where_the_network_cut_it(
    web: str, name: str, asked: int
) -> None:
    assert fetched(web, name) == IMAGE
    assert len(Scans.asked) == asked


@pytest.mark.parametrize(("name", "asked"), [("always-cut.png", MAX_TRIES), ("missing.png", 1), ("forbidden.png", 1)])
def test_what_cannot_be_fetched_costs_its_page_and_names_the_address(web: str, name: str, asked: int) -> None:
    images = FetchedImages()
    with pytest.raises(ImageError, match=name):
        images.file(HERE / name, ImageLocations(((str(HERE), web),)))
    assert len(Scans.asked) == asked
    assert not list(images.folder.iterdir())


def test_a_server_that_falls_silent_is_not_waited_for(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "STALL_TIMEOUT_SECONDS", 0.2)
    with pytest.raises(ImageError, match="stalled"):
        fetched(web, "stalled.png")


ONE = """
import sys
from pathlib import Path
from proof.errors import ProofError
from proof.images.remote import FetchedImages, ImageLocations
try:
    images, there = FetchedImages(), ImageLocations((("/scans", sys.argv[1]),))
    sys.stdout.write(str(len(images.file(Path("/scans/1a.png"), there).read_bytes())))
except ProofError as error:
    sys.stdout.write(f"{type(error).__name__} {error}")
"""


def worker(place: str, **environment: str) -> str:
    """What a worker of its own says, in an environment."""
    line = [sys.executable, "-c", ONE, place]
    return subprocess.run(line, capture_output=True, text=True, check=True, env=os.environ | environment).stdout  # noqa: S603


@pytest.mark.slow
def test_https_is_trusted_by_the_certificates_of_the_machine(tmp_path: Path) -> None:
    trustme = pytest.importorskip("trustme", reason="trustme makes the certificate")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scans)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with serving(server) as port:
        place = f"https://127.0.0.1:{port}"
        assert worker(place, SSL_CERT_FILE=str(tmp_path / "authority.pem")) == str(len(IMAGE))
        refused = worker(place)
    assert refused.startswith("ImageError")
    assert "certificate" in refused.lower()


@pytest.mark.slow
def test_an_object_is_fetched_from_s3(monkeypatch: pytest.MonkeyPatch) -> None:
    s3fs = pytest.importorskip("s3fs", reason="hanproof[s3] is not installed")
    moto = pytest.importorskip("moto.server", reason="moto is the S3 of this test")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "reader")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of scans")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        files = s3fs.S3FileSystem()
        files.mkdir("scans")
        files.pipe_file("scans/juan 1/1a.png", IMAGE)
        assert fetched("s3://scans/juan 1", "1a.png") == IMAGE
        with pytest.raises(ImageError, match="1b"):
            fetched("s3://scans/juan 1", "1b.png")
    finally:
        server.stop()


@pytest.mark.parametrize(("scheme", "package", "extra"), [("s3", "s3fs", "s3"), ("https", "aiohttp", "cluster")])
def test_a_missing_package_is_named_with_the_extra_that_brings_it(
    scheme: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stops the check: with it every page would fail."""
    for name in [name for name in sys.modules if name.split(".")[0] in (package, "fsspec")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ClusterError, match=rf"{package}.*proof\[{extra}\]"):
        fetched(f"{scheme}://scans", "1a.png")
