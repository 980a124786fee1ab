"""Unified diffs that `git apply` takes: of bytes, in lines that end in a line feed and nothing else."""

from __future__ import annotations

import difflib
import re
from pathlib import PurePosixPath

_NO_NEWLINE = b"\n\\ No newline at end of file\n"
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def unified_diff(before: bytes, after: bytes, name: str) -> bytes:
    """What turns `before` into `after` as a patch for the file `name` (relative to the repository, with slashes).

    Empty where nothing changed.
    """
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
    """A path as git writes it: quoted where it has a quote, a backslash or a control character."""
    if not re.search(r'["\\\x00-\x1f\x7f]', path):
        return path
    return '"' + "".join(_ESCAPES.get(char, char) for char in path) + '"'


def _labelled(path: str) -> str:
    """The path in a header: a tab ends one that has a space."""
    quoted = _quoted(path)
    return quoted + "\t" if " " in quoted and not quoted.startswith('"') else quoted
