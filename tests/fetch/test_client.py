"""What only the connection knows: hosts that may not be asked, also behind a redirection, and dates to come again."""

from __future__ import annotations

import gzip
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import AddressError, ServerError
from proof.fetch import ssrf
from proof.fetch.client import Client, RetryPolicy, retry_after
from tests.conftest import PATIENCE
from tests.fetch.museum import Handler, Museum, Server, Waits, page, says

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


def body(answer: httpx.Response) -> bytes:
    return b"".join(answer.iter_bytes())


def test_this_machine_is_not_asked_unless_that_is_meant(museum: Museum) -> None:
    museum.files["/1.png"] = page()
    with Client() as client, pytest.raises(AddressError, match="--allow-private"):
        client.get(museum.url("/1.png"), dict, body)
    assert museum.asked == []


def test_a_redirection_into_a_private_network_is_refused(museum: Museum, monkeypatch: pytest.MonkeyPatch) -> None:
    """127.0.0.1 stands for a public server here; what it redirects to, 127.0.0.2, does not."""
    monkeypatch.setattr(ssrf, "is_public", lambda address: str(address) == "127.0.0.1")
    port = museum.address.rpartition(":")[2]
    museum.files["/inner"] = b"secret"
    museum.next["/1.png"].append(says(302, Location=f"http://127.0.0.2:{port}/inner"))
    with Client(wait=Waits()) as client, pytest.raises(AddressError, match=r"127\.0\.0\.2"):
        client.get(museum.url("/1.png"), dict, body)
    assert museum.paths() == ["/1.png"]


def test_a_server_that_says_nothing_is_given_up(museum: Museum, waits: Waits) -> None:
    over = Event()

    def silent(_: Handler) -> None:
        over.wait(PATIENCE)

    museum.next["/1.png"].extend([silent] * 2)
    with (
        Client(RetryPolicy(pause=0, tries=2, silence=0.1, allow_private=True), wait=waits) as client,
        pytest.raises(ServerError, match="does not answer in time; asked 2 times"),
    ):
        client.get(museum.url("/1.png"), dict, body)
    over.set()


def test_a_server_that_dribbles_is_given_up(museum: Museum, waits: Waits) -> None:
    def dribble(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        while True:  # until the other side hangs up
            handler.wfile.write(b".")
            time.sleep(0.03)

    museum.next["/1.png"].append(dribble)
    with (
        Client(RetryPolicy(pause=0, tries=1, longest=0.2, allow_private=True), wait=waits) as client,
        pytest.raises(ServerError, match="takes longer than"),
    ):
        client.get(museum.url("/1.png"), dict, body)


def test_a_server_that_is_not_there_is_asked_again_and_named(waits: Waits) -> None:
    with socket.socket() as taken:  # a port that is nobody else's, and where nobody listens
        taken.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{taken.getsockname()[1]}"
        with (
            Client(RetryPolicy(pause=0, tries=3, allow_private=True), wait=waits) as client,
            pytest.raises(
                ServerError, match=rf"{re.escape(host)}/1\.png: the server cannot be reached .*asked 3 times"
            ),
        ):
            client.get(f"http://{host}/1.png", dict, body)


def test_a_small_body_that_unfolds_to_any_size_comes_in_pieces(museum: Museum, client: Client) -> None:
    packed = gzip.compress(bytes(50_000_000))
    museum.next["/bomb"].append(says(200, packed, Content_Encoding="gzip"))
    largest = client.get(museum.url("/bomb"), dict, lambda answer: max(map(len, answer.iter_bytes())))
    assert largest <= 1 << 20


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("Sat, 21 Nov 2026 10:02:00 GMT", 120),
        ("Saturday, 21-Nov-26 10:02:00 GMT", 120),
        ("Sat, 21 Nov 2026 09:00:00 GMT", 0),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("1.5", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(text: str, seconds: float | None) -> None:
    assert retry_after(text, NOW) == seconds


@given(st.text(alphabet=st.characters(max_codepoint=255)))
def test_any_retry_after_is_understood_or_passed_over(text: str) -> None:
    seconds = retry_after(text, NOW)
    assert seconds is None or seconds >= 0


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Key and certificate of a server that is called localhost, and has no other name."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is missing: it makes the certificate of the server")
    path = tmp_path / "localhost.pem"
    line = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    subprocess.run(  # noqa: S603
        [openssl, *line.split(), "-keyout", path, "-out", tmp_path / "cert.pem"], check=True, capture_output=True
    )
    path.write_bytes(path.read_bytes() + (tmp_path / "cert.pem").read_bytes())
    return path


@pytest.fixture
def encrypted(certificate: Path) -> Iterator[Museum]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with Server(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.museum = Museum(f"https://localhost:{server.server_address[1]}", {"/1.png": page()})
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server.museum
        server.shutdown()
        thread.join()


def test_tls_holds_a_server_to_the_name_that_was_asked_for(
    encrypted: Museum, certificate: Path, waits: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection goes to an address; the certificate must be for the name."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with Client(RetryPolicy(pause=0, allow_private=True), wait=waits) as client:
        assert client.get(encrypted.url("/1.png"), dict, body) == page()
        with pytest.raises(ServerError, match="cannot prove who it is"):
            client.get(encrypted.url("/1.png").replace("localhost", "127.0.0.1"), dict, body)
    assert encrypted.paths() == ["/1.png"]


def test_a_certificate_that_nobody_vouches_for_is_refused_at_once(encrypted: Museum, waits: Waits) -> None:
    with (
        Client(RetryPolicy(pause=0, allow_private=True), wait=waits) as client,
        pytest.raises(ServerError, match="cannot prove who it is"),
    ):
        client.get(encrypted.url("/1.png"), dict, body)
    assert encrypted.asked == []
    assert max(waits.seconds) == 0
