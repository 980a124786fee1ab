"""Reading members of archives of XML (DOCX, EPUB)."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from proof.errors import TextError
from proof.locale.marking import _
from proof.text.extraction import DAMAGED_ARCHIVE
from proof.text.formats.xml_tree import Node, tree

MAX_MEMBER_BYTES = 256 * 1024 * 1024
"""Maximum unpacked size of a member: a small archive can unpack to more than the memory holds."""


def member_names(data: bytes) -> frozenset[str]:
    """The names of the members; empty if the data is no archive."""
    if not data.startswith(b"PK\x03\x04"):
        return frozenset()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return frozenset(archive.namelist())
    except DAMAGED_ARCHIVE:
        return frozenset()


def member(data: bytes, name: str, path: Path) -> bytes:
    """The content of a member. Raises TextError if it is missing, damaged or too large."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            info = archive.getinfo(name)
            if info.file_size > MAX_MEMBER_BYTES:
                raise TextError(
                    path,
                    None,
                    _("%(name)s in it has %(file_size)s bytes, more than can be read"),
                    name=name,
                    file_size=info.file_size,
                )
            return archive.read(info)
    except KeyError:
        raise TextError(path, None, _("has no %(name)s: it is damaged, save it again"), name=name) from None
    except DAMAGED_ARCHIVE as error:
        raise TextError(
            path, None, _("%(name)s in it cannot be read (%(error)s): save it again"), name=name, error=error
        ) from error


def member_tree(data: bytes, name: str, path: Path) -> Node:
    """The root element of a member. Raises TextError."""
    return tree(member(data, name, path), path, name)
