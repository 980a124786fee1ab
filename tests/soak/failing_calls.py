"""Calls to the file system and the database that fail when they are told to, in the process that sets this up.

Counted is every call of the program (not of SQLite itself, whose makers try these) that opens, writes, syncs, renames,
links, lists or removes something in a folder, and every statement and commit that a database is given. A call of one
number fails in one of four ways: see `Way`.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

READING, WRITING = frozenset("r"), frozenset("wax+")
BY_PATH = ("replace", "rename", "link", "unlink", "remove", "mkdir", "rmdir", "chmod", "scandir", "listdir")
BY_NUMBER = ("write", "fsync", "ftruncate", "pread")
ROOM, BROKEN = errno.ENOSPC, errno.EIO
PROGRAM = f"{os.sep}proof{os.sep}"


class Way(StrEnum):
    """How a call fails: it alone, and nothing was done; it and all after it, as on a full disk; it is done, or half of
    what is to be written is, and said to have failed all the same; the process is killed in front of it."""

    ONCE = "once"
    LASTING = "lasting"
    TORN = "torn"
    KILLED = "killed"


class Calls:
    """Counts calls that touch `folder`, and lets the one of the number `failing` fail (0: none)."""

    def __init__(self, folder: Path, failing: int = 0, way: Way = Way.ONCE) -> None:
        self.folder, self.failing, self.way = str(folder), failing, way
        self.seen, self.lines, self.numbers = 0, set[str](), set[int]()

    def set_up(self) -> None:
        """Put the counting before the calls of this process, for good."""
        opened, closed = os.open, os.close
        for name in BY_PATH:
            setattr(os, name, self._of_path(getattr(os, name), name))
        for name in BY_NUMBER:
            setattr(os, name, self._of_number(getattr(os, name), name))

        def open_(path: Any, *rest: Any, **named: Any) -> int:
            ours = self._ours(path) or "dir_fd" in named
            number = int(self.called("open", lambda: opened(path, *rest, **named)) if ours else opened(path, *rest))
            if ours:
                self.numbers.add(number)
            return number

        def close(fd: int) -> None:
            self.numbers.discard(fd)
            closed(fd)

        os.open, os.close = open_, close
        self._files()
        self._database()

    def called(self, name: str, call: Callable[[], Any], half: Callable[[], Any] | None = None) -> Any:
        """The call, or its failure where it is its turn; `half` does half of it."""
        if not self._due(name):
            return call()
        if self.way is Way.KILLED:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.way is Way.TORN:
            (half or call)()
        if name.isupper():
            raise sqlite3.OperationalError("disk I/O error")
        number = BROKEN if name in ("read", "pread", "scandir", "listdir") else ROOM
        raise OSError(number, os.strerror(number))

    def _due(self, name: str) -> bool:
        self.seen += 1
        frame = sys._getframe(2)
        while frame.f_back and PROGRAM not in frame.f_code.co_filename:
            frame = frame.f_back
        self.lines.add(f"{name} {frame.f_code.co_filename}:{frame.f_lineno}")
        return self.seen == self.failing or (self.way is Way.LASTING and 0 < self.failing < self.seen)

    def _ours(self, path: Any) -> bool:
        return isinstance(path, (str, os.PathLike)) and os.fspath(path).startswith(self.folder)

    def _of_path(self, real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            ours = (given and self._ours(given[0])) or "dir_fd" in named
            return self.called(name, lambda: real(*given, **named)) if ours else real(*given, **named)

        return call

    def _of_number(self, real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(number: int, *given: Any) -> Any:
            if number not in self.numbers:
                return real(number, *given)
            half = (lambda: real(number, given[0][: len(given[0]) // 2])) if name == "write" else None
            return self.called(name, lambda: real(number, *given), half)

        return call

    def _files(self) -> None:
        """Have files of the folder opened as ones whose reading and writing are counted."""
        plain, calls = builtins.open, self

        class Raw(io.FileIO):
            def write(self, data: Any) -> int:
                whole, write = bytes(data), io.FileIO.write
                half = whole[: len(whole) // 2]
                done = calls.called("write", lambda: write(self, whole), lambda: write(self, half))
                return int(done)

            def readinto(self, buffer: Any) -> int | None:
                return calls.called("read", lambda: io.FileIO.readinto(self, buffer))  # type: ignore[no-any-return]

        def open_(file: Any, mode: str = "r", buffering: int = -1, *rest: Any, **named: Any) -> Any:
            ours = self._ours(file) or (isinstance(file, int) and file in self.numbers)
            if not ours or named.get("opener") or buffering == 0:
                return plain(file, mode, buffering, *rest, **named)
            kind = mode.replace("t", "").replace("b", "")
            raw = Raw(file, kind) if isinstance(file, int) else calls.called("open", lambda: Raw(file, kind))
            self.numbers.add(raw.fileno())
            both = io.BufferedRandom if "+" in kind else io.BufferedWriter if WRITING & set(kind) else io.BufferedReader
            buffered = both(raw)
            if "b" in mode:
                return buffered
            text = io.TextIOWrapper(buffered, *rest, **named)
            text.mode = mode  # type: ignore[misc]
            return text

        builtins.open = io.open = open_

    def _database(self) -> None:
        """Have databases opened as ones whose statements and commits are counted."""
        plain, calls = sqlite3.dbapi2.connect, self

        class Cursor(sqlite3.Cursor):
            def execute(self, statement: str, *given: Any) -> Any:
                word = statement.split(maxsplit=1)[0].upper()
                return calls.called(word, lambda: sqlite3.Cursor.execute(self, statement, *given))

            def executemany(self, statement: str, given: Any) -> Any:
                word = statement.split(maxsplit=1)[0].upper()
                return calls.called(word, lambda: sqlite3.Cursor.executemany(self, statement, given))

        class Counted(sqlite3.Connection):
            def cursor(self, factory: Any = Cursor) -> Any:
                return super().cursor(factory)

            def execute(self, statement: str, *given: Any) -> Any:
                return self.cursor().execute(statement, *given)

            def commit(self) -> None:
                calls.called("COMMIT", super().commit)

            def backup(self, target: Any, **named: Any) -> None:
                calls.called("BACKUP", lambda: sqlite3.Connection.backup(self, target, **named))

        def connect(path: Any, *given: Any, **named: Any) -> Any:
            return calls.called("CONNECT_SECONDS", lambda: plain(path, *given, **(named | {"factory": Counted})))

        sqlite3.connect = sqlite3.dbapi2.connect = connect  # type: ignore[assignment]
