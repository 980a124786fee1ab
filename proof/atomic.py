"""A file is written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES
from pathlib import Path
from threading import get_ident
from typing import IO, Any

from proof.errors import OutputError


@contextmanager
def whole_file(path: Path, *, encoding: str = "utf-8", newline: str = "\n") -> Iterator[IO[str]]:
    """A text file that takes the place of `path` when the block ends well, and leaves no trace else.

    Raises OutputError where it cannot be written.
    """
    with _in_place_of(path) as part, part.open("w", encoding=encoding, newline=newline) as file:
        yield file
        _kept(file)


@contextmanager
def whole_binary_file(path: Path) -> Iterator[IO[bytes]]:
    """The same of a file of bytes."""
    with _in_place_of(path) as part, part.open("wb") as file:
        yield file
        _kept(file)


def _kept(file: IO[Any]) -> None:
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def _in_place_of(path: Path) -> Iterator[Path]:
    """Where to write what is to stand at `path` once it is whole: a link stays one to what is written, and a file keeps
    its rights; one that may only be read is not replaced."""
    target = path.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.{get_ident()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
        yield part
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(
            f"{path}: cannot be written ({reason}); make room, allow writing, or name another folder"
        ) from error
    finally:
        _remove(part)


def sync_folder(folder: Path) -> None:
    """Have names that were given in a folder last through a crash, where the system can be asked for that."""
    with suppress(OSError, AttributeError):
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def must_be_writable(folder: Path) -> None:
    """Make `folder` where it is missing, and raise OutputError where no file can be written in it: better
    before an hour of reading than after."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be written to ({error.strerror or error}); allow writing, or name another folder"
        ) from error


def _remove(part: Path) -> None:
    try:
        part.unlink(missing_ok=True)
    except OSError:
        return  # its folder is a file, or gone: then so is the part
