"""Unified diffs that `git apply` takes: of bytes, in lines that end in a line feed and nothing else."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

CONTEXT = 3
"""Unchanged lines around a change."""

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}

Block = tuple[int, int, int, int]
"""From where to where a change goes in the lines before, and in those after."""


def unified_diff(before: bytes, after: bytes, name: str) -> bytes:
    """What turns `before` into `after` as a patch for the file `name` (relative to the repository, with slashes).

    Empty where nothing changed. Corrections keep the lines of a file, so lines are compared one by one; where their
    number differs, difflib finds what belongs together.
    """
    if before == after:
        return b""
    old, new = _lines(before), _lines(after)
    path = PurePosixPath(name).as_posix()
    head = f"diff --git {_quoted('a/' + path)} {_quoted('b/' + path)}\n"
    head += f"--- {_labelled('a/' + path)}\n+++ {_labelled('b/' + path)}\n"
    parts = [head.encode()]
    for group in _grouped(list(_changes(old, new)), len(old)):
        parts += _hunk(old, new, group)
    return b"".join(parts)


def _lines(data: bytes) -> list[bytes]:
    return re.findall(rb"[^\n]*\n|[^\n]+\Z", data)


def _changes(old: list[bytes], new: list[bytes]) -> Iterator[Block]:
    if len(old) != len(new):
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        yield from ((i, j, k, m) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal")
        return
    start = -1
    for index in range(len(old) + 1):
        differs = index < len(old) and old[index] != new[index]
        if differs and start < 0:
            start = index
        elif not differs and start >= 0:
            yield start, index, start, index
            start = -1


def _grouped(changes: list[Block], length: int) -> Iterator[list[Block]]:
    """Changes whose contexts touch, in one hunk."""
    group: list[Block] = []
    for change in changes:
        if group and change[0] - group[-1][1] > 2 * CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _hunk(old: list[bytes], new: list[bytes], group: list[Block]) -> list[bytes]:
    before = min(CONTEXT, group[0][0])
    after = min(CONTEXT, len(old) - group[-1][1])
    old_start, old_end = group[0][0] - before, group[-1][1] + after
    new_start, new_end = group[0][2] - before, group[-1][3] + after
    parts = [
        f"@@ -{_range(old_start, old_end)} +{_range(new_start, new_end)} @@\n".encode(),
    ]
    at = old_start
    for i, j, k, m in group:
        parts += [_written(b" ", line) for line in old[at:i]]
        parts += [_written(b"-", line) for line in old[i:j]]
        parts += [_written(b"+", line) for line in new[k:m]]
        at = j
    return parts + [_written(b" ", line) for line in old[at:old_end]]


def _range(start: int, end: int) -> str:
    length = end - start
    return f"{start + 1 if length else start},{length}"


def _written(sign: bytes, line: bytes) -> bytes:
    ending = b"" if line.endswith(b"\n") else b"\n\\ No newline at end of file\n"
    return sign + line + ending


def _quoted(path: str) -> str:
    """A path as git writes it: quoted where it has a quote, a backslash or a control character."""
    if not re.search(r'["\\\x00-\x1f\x7f]', path):
        return path
    return '"' + "".join(_ESCAPES.get(char, char) for char in path) + '"'


def _labelled(path: str) -> str:
    """The path in a header: a tab ends one that has a space."""
    quoted = _quoted(path)
    return quoted + "\t" if " " in quoted and not quoted.startswith('"') else quoted
