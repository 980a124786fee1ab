"""Checks which addresses may be requested, and which names a fetched file may have.

Manifests and redirections come from strangers. An address in them could lead to a machine behind the user's firewall
(server-side request forgery), a name to a place outside the image folder.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from pathlib import Path

import httpx

from proof.errors import AddressError, SourceError
from proof.locale.marking import _

MAX_NAME_CHARACTERS = 60
"""Maximum number of characters of a name made from a label; at four bytes each they fit into `_MAX_NAME_BYTES`."""

_MAX_NAME_BYTES = 240
"""Maximum number of bytes of a file name: file systems allow 255, and an unfinished file has a longer name."""

_MAX_SHOWN_CHARACTERS = 200
"""Maximum number of characters of a faulty address that a message shows."""

_NOT_IN_NAMES = re.compile(r'[\\/:*?"<>|\s]+')
_WINDOWS_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_NAT64 = IPv6Network("64:ff9b::/96")
"""IPv6 addresses that embed an IPv4 address in their last 32 bits."""


def web_address(text: str) -> httpx.URL:
    """The address `text` without its fragment. Raises AddressError if it is not an http or https address, has a user
    name or password, or names port 0."""
    shown = text if len(text) <= _MAX_SHOWN_CHARACTERS else f"{text[:_MAX_SHOWN_CHARACTERS]}..."
    try:
        url = httpx.URL(text).copy_with(fragment=None)
        url.host.encode("ascii" if url.host.isascii() else "idna")
        port = url.port
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise AddressError(ascii(shown)[1:-1], _("is not a web address (%(error)s)"), error=error) from error
    if url.scheme not in ("http", "https") or not url.host:
        raise AddressError(ascii(shown)[1:-1], _("is not a web address: it must begin with http:// or https://"))
    if url.userinfo:
        raise AddressError(str(url.copy_with(userinfo=b"")), _("contains a name or password, which are never sent"))
    if port == 0:
        raise AddressError(str(url), _("has port 0, which cannot be requested"))
    return url


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether `address` is on the public Internet: not private, loopback, link-local, multicast or reserved, nor an
    IPv6 address that embeds an IPv4 address of these kinds."""
    if isinstance(address, IPv6Address):
        embedded = address.ipv4_mapped or address.sixtofour
        if address.teredo:
            _server, embedded = address.teredo
        elif address in _NAT64:
            embedded = IPv4Address(int(address) & 0xFFFFFFFF)
        if embedded is not None:
            return is_public(embedded)
        if address.is_site_local:
            return False
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_loopback or address.is_link_local
    )


def require_public(host: str, addresses: Sequence[str]) -> None:
    """Raises AddressError if one of the `addresses` of `host` is not public, or if there are none."""
    private = [address for address in addresses if not is_public(ip_address(address))]
    if addresses and not private:
        return
    host_is_address = private == [host]
    raise AddressError(
        f"{host} ({private[0]})" if private and not host_is_address else host,
        _(
            "is not a public address: it is not requested; to allow it, as in a museum's own network, add "
            "--allow-private"
        ),
    )


def file_name(text: str) -> str:
    """`text` as a name that any file system accepts; empty if no character of it is allowed."""
    printable = "".join(char for char in unicodedata.normalize("NFC", text) if unicodedata.category(char)[0] != "C")
    name = _NOT_IN_NAMES.sub("_", printable).strip("._ ")[:MAX_NAME_CHARACTERS].strip("._ ")
    return f"_{name}" if _WINDOWS_DEVICES.fullmatch(name) else name


def path_inside(folder: Path, name: str) -> Path:
    """The path of the file `name` (with forward slashes) in `folder`.

    Raises SourceError if the name is too long, if it leads out of the folder (also by a link), or if it is hidden, as
    the index of the folder and unfinished files are.
    """
    parts = name.split("/")
    if any(part.startswith(".") or not part or set("\\:\0") & set(part) for part in parts):
        raise SourceError(ascii(name)[1:-1], _("is not a file name inside the image folder"))
    if any(len(part.encode("utf-8", "replace")) > _MAX_NAME_BYTES for part in parts):
        raise SourceError(f"{name[:MAX_NAME_CHARACTERS]}...", _("is too long for a file name"))
    path = folder.joinpath(*parts)
    if not path.parent.resolve().is_relative_to(folder.resolve()):
        raise SourceError(path, _("is behind a link that leads out of the image folder: name that folder with --to"))
    return path
