"""Writes files atomically: whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from errno import EACCES
from pathlib import Path
from threading import get_ident
from typing import IO, Any

from proof.errors import OutputError, os_errors_as
from proof.locale.marking import _
from proof.paths import real


@contextmanager
def whole_file(path: Path, *, encoding: str = "utf-8", newline: str = "\n") -> Iterator[IO[str]]:
    """A text file that replaces `path` when the block ends without an error, and is removed otherwise. Raises
    OutputError if it cannot be written."""
    with _in_place_of(path) as part, part.open("w", encoding=encoding, newline=newline) as file:
        yield file
        sync_file(file)


@contextmanager
def whole_binary_file(path: Path) -> Iterator[IO[bytes]]:
    """As `whole_file`, for a file of bytes."""
    with _in_place_of(path) as part, part.open("wb") as file:
        yield file
        sync_file(file)


def writing(path: Path) -> AbstractContextManager[None]:
    """Within the block, raises OutputError if `path` cannot be written."""
    message = _("%(path)s: cannot be written (%(reason)s); make room, allow writing, or name another folder")
    return os_errors_as(OutputError, message, path=path)


def sync_file(file: IO[Any]) -> None:
    """Write an open file through to the disk, so that it survives a crash."""
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def _in_place_of(path: Path) -> Iterator[Path]:
    """A temporary file that replaces `path` when the block ends without an error. If `path` is a link, its target is
    replaced. The new file has the permissions of the old one. A read-only file is not replaced."""
    target = real(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.{get_ident()}.part")
    try:
        with writing(path):
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists() and not os.access(target, os.W_OK):
                raise PermissionError(EACCES, os.strerror(EACCES))
            if target.exists() and not (target.is_file() or target.is_dir()):
                raise OutputError(_("%(path)s: is a device or a pipe, which a file cannot replace"), path=path)
            yield part
            if target.exists():
                shutil.copymode(target, part)
            part.replace(target)
            sync_folder(target.parent)
    finally:
        with suppress(OSError):  # it was renamed already, or its folder is missing or a file
            part.unlink()


def sync_folder(folder: Path) -> None:
    """Write the file names of a folder through to the disk, if the system can do that."""
    with suppress(OSError, AttributeError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def ensure_writable(folder: Path) -> None:
    """Create `folder` if it is missing. Raises OutputError if no file can be written in it. Called before a long check,
    so that the user learns it in time."""
    message = _("%(folder)s: cannot be written to (%(reason)s); allow writing, or name another folder")
    with os_errors_as(OutputError, message, folder=folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
