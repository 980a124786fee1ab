"""What a source may make us do: which addresses may be asked, and which names a file may have.

Manifests and redirections are written by others. An address in them could lead to a machine behind the user's own
firewall, a name out of the image folder.
"""

from __future__ import annotations

import re
import socket
import unicodedata
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from pathlib import Path
from typing import NoReturn

import httpcore
import httpx

from proof.errors import AddressError, ServerError, SourceError

LONGEST_NAME = 60
"""Characters of a name that a label gives; four bytes each still fit into a file name."""

_MOST_BYTES = 240
_NOT_IN_NAMES = re.compile(r'[\\/:*?"<>|\s]+')
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_NAT64 = IPv6Network("64:ff9b::/96")


def web_address(text: str, base: httpx.URL | None = None) -> httpx.URL:
    """The address `text`, seen from `base` where it is relative. Raises AddressError where it is not http or https."""
    shown = text if len(text) <= 200 else f"{text[:200]}..."
    try:
        url = (base.join(text) if base else httpx.URL(text)).copy_with(fragment=None)
        url.host.encode("ascii" if url.host.isascii() else "idna")
        port = url.port
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise AddressError(ascii(shown)[1:-1], f"is no web address ({error})") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise AddressError(ascii(shown)[1:-1], "is no web address: it must begin with http:// or https://")
    if url.userinfo:
        raise AddressError(str(url.copy_with(userinfo=b"")), "holds a name or password, which are not sent anywhere")
    if port == 0:
        raise AddressError(str(url), "names port 0, where nothing can be asked")
    return url


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether `address` is one of the open Internet: not private, loopback, link-local, multicast or reserved, nor
    an IPv6 address that stands for such an IPv4 one."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address.teredo:
            inner = address.teredo[1]
        elif address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address.is_site_local:
            return False
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_loopback or address.is_link_local
    )


def refuse_private(host: str, inner: Sequence[str]) -> NoReturn:
    """Raises AddressError: `host`, or what it resolves to, is none of the open Internet."""
    raise AddressError(
        host if not inner or list(inner) == [host] else f"{host} ({inner[0]})",
        "is an address of a private network, this machine or none at all: it is not asked; if that is "
        "meant, as in a museum's own network, add --allow-private",
    )


class CheckedNetwork(httpcore.NetworkBackend):
    """Connects to public addresses alone, unless `allow_private`.

    A name is resolved once, what it resolves to is checked, and that very address is connected to: a name that
    resolves to something else a moment later (DNS rebinding) gains nothing. TLS still asks for the name.
    """

    def __init__(self, *, allow_private: bool = False) -> None:
        self._allow_private = allow_private
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Raises AddressError for a host of a private network, ServerError where no host has that name,
        httpcore.ConnectError where it is not reached."""
        last: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in self._addresses(host, port):
            try:
                return self._sockets.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last = error
        raise last

    def _addresses(self, host: str, port: int) -> list[str]:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
                raise httpcore.ConnectError(f"the name {host} is not known just now") from error
            raise ServerError(host, "there is no server of this name; check the address and the network") from error
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        inner = [each for each in addresses if not is_public(ip_address(each))]
        if inner and not self._allow_private:
            refuse_private(host, inner)
        return addresses


def file_name(text: str) -> str:
    """`text` as a name that any file system takes, '' where nothing of it can stay."""
    kept = "".join(char for char in unicodedata.normalize("NFC", text) if unicodedata.category(char)[0] != "C")
    name = _NOT_IN_NAMES.sub("_", kept).strip("._ ")[:LONGEST_NAME].strip("._ ")
    return f"_{name}" if _DEVICES.fullmatch(name) else name


def path_inside(folder: Path, name: str) -> Path:
    """The file `name` (forward slashes) in `folder`.

    Raises SourceError where it would lie outside, also by a link, or would be hidden, as the index and the parts are.
    """
    parts = name.split("/")
    if any(part.startswith(".") or not part or set("\\:\0") & set(part) for part in parts):
        raise SourceError(ascii(name)[1:-1], "is no name for a file inside the image folder")
    if any(len(part.encode("utf-8", "replace")) > _MOST_BYTES for part in parts):
        raise SourceError(f"{name[:LONGEST_NAME]}...", "is too long for a file name")
    path = folder.joinpath(*parts)
    if not path.parent.resolve().is_relative_to(folder.resolve()):
        raise SourceError(path, "lies behind a link out of the image folder: name that folder with --to")
    return path
