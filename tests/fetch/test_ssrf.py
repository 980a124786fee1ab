"""What others wrote cannot make us ask a machine of the user's own network, nor write outside the image folder."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from pathlib import Path

import httpcore
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import AddressError, ServerError, SourceError
from proof.fetch.ssrf import file_name, is_public, path_inside, web_address
from proof.fetch.transport import CheckedNetwork

PRIVATE = (
    "127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 240.0.0.1 255.255.255.255 "
    "192.0.2.1 ::1 :: fe80::1 fc00::1 fec0::1 ff02::1 2001:db8::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 "
    "2002:7f00:1::"
)
INNER_HOSTS = "127.0.0.1 localhost 127.1 2130706433 0x7f.1 ::1 169.254.169.254"
OUTWARD = "../a.png a/../../b.png /etc/passwd a//b . a\\b.png C:a a\0b .a.png .b/a.png"
PUBLIC = "8.8.8.8 133.3.253.1 2001:4860:4860::8888 64:ff9b::808:808"


def test_addresses_of_the_internet_are_told_from_those_of_inner_networks() -> None:
    assert {address: is_public(ip_address(address)) for address in PRIVATE.split()} == dict.fromkeys(
        PRIVATE.split(), False
    )
    assert all(is_public(ip_address(address)) for address in PUBLIC.split())


@pytest.mark.parametrize("host", INNER_HOSTS.split())
def test_no_spelling_of_an_inner_host_is_connected_to(host: str) -> None:
    with pytest.raises(AddressError, match="--allow-private"):
        CheckedNetwork().connect_tcp(host, 80, timeout=1)


def test_what_was_checked_is_what_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that means something public at first and this machine a moment later (DNS rebinding)."""
    answers = iter(["93.184.216.34", "127.0.0.1", "127.0.0.1"])
    connected: list[str] = []

    def resolve(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    def connect(address: tuple[str, int], *_: object, **__: object) -> socket.socket:
        connected.append(address[0])
        raise OSError("nothing is really connected to here")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(httpcore.ConnectError):
        CheckedNetwork().connect_tcp("rebinding.example", 80)
    assert connected == ["93.184.216.34"]


def test_one_inner_address_among_public_ones_is_enough_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, 80)) for each in ("93.184.216.34", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers)
    with pytest.raises(AddressError, match=r"mixed\.example \(10\.0\.0\.1\)"):
        CheckedNetwork().connect_tcp("mixed.example", 80)


def test_a_host_that_is_not_known_is_named() -> None:
    with pytest.raises(ServerError, match=r"nowhere\.invalid: there is no server with this name"):
        CheckedNetwork().connect_tcp("nowhere.invalid", 80)


@pytest.mark.parametrize(
    "text",
    ["file:///etc/passwd", "ftp://example.org/a", "//example.org/a", "a.png", "http://", "https:///x", "javascript:1"],
)
def test_only_web_addresses_are_asked(text: str) -> None:
    with pytest.raises(AddressError, match="http"):
        web_address(text)


def test_passwords_in_an_address_are_refused_and_not_repeated() -> None:
    with pytest.raises(AddressError) as refused:
        web_address("http://me:secret@example.org/a.png")
    assert "secret" not in str(refused.value)


@given(st.text() | st.text().map("http://{}".format) | st.binary().map(lambda data: data.decode("latin-1")))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        assert web_address(text).scheme in ("http", "https")
    except AddressError as error:
        str(error).encode()


@given(st.text(max_size=300))
def test_a_name_made_from_any_label_stays_in_the_folder(label: str) -> None:
    name = file_name(label)
    assert name == "" or path_inside(Path("/images"), name) == Path("/images") / name
    assert len(name.encode()) <= 250
    assert not name.startswith((".", " "))


@pytest.mark.parametrize("name", OUTWARD.split())
def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match="inside the image folder"):
        path_inside(tmp_path, name)


def test_a_link_out_of_the_folder_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "images" / "WYG0103").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SourceError, match="behind a link"):
        path_inside(tmp_path / "images", "WYG0103/WYG0103-0192c.png")


def test_a_name_that_is_empty_or_too_long_for_a_file_is_refused(tmp_path: Path) -> None:
    for name, message in (("", "inside the image folder"), ("葉" * 90, "too long")):
        with pytest.raises(SourceError, match=message):
            path_inside(tmp_path, name)
