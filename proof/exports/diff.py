"""Unified diffs for `git apply`: of bytes, whose lines end in line feeds only."""

from __future__ import annotations

import difflib
import re
from pathlib import PurePosixPath

_NO_NEWLINE = b"\n\\ No newline at end of file\n"
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def unified_diff(before: bytes, after: bytes, name: str) -> bytes:
    """The patch that turns `before` into `after`, for the file `name` (relative to the repository, with slashes); empty
    if nothing changed."""
    if before == after:
        return b""
    path = PurePosixPath(name).as_posix()
    old, new = (_labelled(f"{side}/{path}").encode() for side in "ab")
    changed = difflib.diff_bytes(difflib.unified_diff, _lines(before), _lines(after), old, new)
    head = f"diff --git {_quoted('a/' + path)} {_quoted('b/' + path)}\n".encode()
    return head + b"".join(line if line.endswith(b"\n") else line + _NO_NEWLINE for line in changed)


def _lines(data: bytes) -> list[bytes]:
    return re.findall(rb"[^\n]*\n|[^\n]+\Z", data)


def _quoted(path: str) -> str:
    """A path as git writes it: quoted if it has a quote, a backslash or a control character."""
    if not re.search(r'["\\\x00-\x1f\x7f]', path):
        return path
    return '"' + "".join(_ESCAPES.get(char, char) for char in path) + '"'


def _labelled(path: str) -> str:
    """A path in a header line: a tab follows an unquoted path with a space."""
    quoted = _quoted(path)
    return quoted + "\t" if " " in quoted and not quoted.startswith('"') else quoted
