"""What only the connection knows: hosts that may not be asked, also behind a redirection, and dates to come again."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

from proof.errors import AddressError, ServerError
from proof.fetch import ssrf
from proof.fetch.client import Client, RetryPolicy, retry_after
from tests.conftest import PATIENCE
from tests.fetch.museum import Handler, Museum, Waits, encrypted_museum, page, says

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


def body(answer: httpx.Response) -> bytes:
    return b"".join(answer.iter_bytes())


def test_a_redirection_into_a_private_network_is_refused(museum: Museum, monkeypatch: pytest.MonkeyPatch) -> None:
    """127.0.0.1 stands for a public server here; what it redirects to, 127.0.0.2, does not."""
    monkeypatch.setattr(ssrf, "is_public", lambda address: str(address) == "127.0.0.1")
    port = museum.address.rpartition(":")[2]
    museum.files["/inner"] = b"secret"
    museum.next["/1.png"].append(says(302, Location=f"http://127.0.0.2:{port}/inner"))
    with Client(wait=Waits()) as client, pytest.raises(AddressError, match=r"127\.0\.0\.2"):
        client.get(museum.url("/1.png"), dict, body)
    assert museum.paths() == ["/1.png"]


def asked_in_vain(address: str, waits: Waits, **policy: Any) -> str:
    """What is said of a server that gives nothing."""
    with (
        Client(RetryPolicy(pause=0, allow_private=True, **policy), wait=waits) as client,
        pytest.raises(ServerError) as error,
    ):
        client.get(address, dict, body)
    return str(error.value)


def test_a_server_that_says_nothing_is_given_up(museum: Museum, waits: Waits) -> None:
    over = Event()

    def silent(_: Handler) -> None:
        over.wait(PATIENCE)

    museum.next["/1.png"].extend([silent] * 2)
    message = asked_in_vain(museum.url("/1.png"), waits, tries=2, silence=0.1)
    assert "does not answer in time; asked 2 times" in message
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
    assert "takes longer than" in asked_in_vain(museum.url("/1.png"), waits, tries=1, longest=0.2)


def test_a_small_body_that_unfolds_to_any_size_comes_in_pieces(museum: Museum, client: Client) -> None:
    packed = gzip.compress(bytes(50_000_000))
    museum.next["/bomb"].append(says(200, packed, Content_Encoding="gzip"))
    largest = client.get(museum.url("/bomb"), dict, lambda answer: max(map(len, answer.iter_bytes())))
    assert largest <= 1 << 20


def test_a_body_that_is_compressed_twice_is_refused(museum: Museum, client: Client) -> None:
    packed = gzip.compress(gzip.compress(bytes(50_000_000)))
    museum.next["/bomb"].append(says(200, packed, Content_Encoding="gzip, gzip"))
    with pytest.raises(ServerError, match="compressed more than once"):
        client.get(museum.url("/bomb"), dict, lambda answer: len(answer.read()))


def test_retry_after_is_seconds_or_a_date() -> None:
    assert [retry_after(text, NOW) for text in ("120", " 0 ", "-5", "soon", "", "1.5")] == [120, 0, *[None] * 4]
    assert retry_after("Sat, 21 Nov 2026 10:02:00 GMT", NOW) == 120
    assert retry_after("Saturday, 21-Nov-26 10:02:00 GMT", NOW) == 120
    assert retry_after("Sat, 21 Nov 2026 09:00:00 GMT", NOW) == 0


@pytest.fixture
def encrypted(tmp_path: Path) -> Iterator[Museum]:
    with encrypted_museum(tmp_path / "authority.pem") as museum:
        yield museum


def test_tls_holds_a_server_to_the_name_that_was_asked_for(
    encrypted: Museum, tmp_path: Path, waits: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection goes to an address; the certificate must be for the name."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    address = encrypted.url("/1.png")
    with Client(RetryPolicy(pause=0, allow_private=True), wait=waits) as client:
        assert client.get(address, dict, body) == page()
    assert "certificate is not valid" in asked_in_vain(address.replace("localhost", "127.0.0.1"), waits)
    assert encrypted.paths() == ["/1.png"]
