"""A temporary folder of this process for downloads. Folders that killed servers left behind are removed when the next
server starts."""

from __future__ import annotations

import os
import shutil
import uuid
import weakref
from pathlib import Path
from tempfile import gettempdir

from filelock import FileLock, Timeout

PREFIX = "proof-downloads-"
LOCK_SUFFIX = ".lock"


class ScratchFolder:
    """A folder for temporary files, created when it is first used. The process holds a lock beside it, which the
    operating system releases even if the process is killed: so a folder whose lock is free was left behind."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._removal: weakref.finalize[..., ScratchFolder] | None = None

    def path(self) -> Path:
        """The folder, which is created if need be. Raises OSError."""
        if self._folder is None:
            folder = Path(gettempdir()) / f"{PREFIX}{uuid.uuid4().hex}"
            lock = _lock_of(folder)
            lock.acquire()  # before the folder exists, so that no other process finds it without a lock
            folder.mkdir(mode=0o700)
            self._folder, self._removal = folder, weakref.finalize(self, _remove, folder, lock)
        return self._folder

    def close(self) -> None:
        """Remove the folder with its contents."""
        if self._removal is not None:
            self._removal()
        self._folder = self._removal = None


def remove_abandoned() -> None:
    """Remove the folders that this user's servers left behind."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        lock = _lock_of(folder)
        if folder.suffix or not (_is_own(folder) and _is_own(Path(lock.lock_file))):
            continue
        try:
            lock.acquire()
        except (Timeout, OSError):  # in use
            continue
        _remove(folder, lock)


def _lock_of(folder: Path) -> FileLock:
    """The lock of a folder, in a file beside it; not acquired."""
    file = folder.with_name(f"{folder.name}{LOCK_SUFFIX}")
    return FileLock(file, timeout=0, mode=0o600, thread_local=False)


def _is_own(path: Path) -> bool:
    """Whether a path exists, is not a link and belongs to this user: all users share the folder for temporary files."""
    try:
        return not path.is_symlink() and path.stat().st_uid == os.getuid()
    except OSError:
        return False


def _remove(folder: Path, lock: FileLock) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.release()
    Path(lock.lock_file).unlink(missing_ok=True)
