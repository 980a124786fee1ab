"""A temporary folder of this process for downloads. One that a killed server left behind is removed when the next
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
LOCK = ".lock"


class ScratchFolder:
    """A folder for temporary files, made when it is first needed.

    The process holds a lock beside it, which the operating system releases however the process ends: a folder without a
    lock was left behind.
    """

    def __init__(self) -> None:
        self._lock: FileLock | None = None
        self._removal: weakref.finalize[..., ScratchFolder] | None = None

    def path(self) -> Path:
        """The folder. Raises OSError if it cannot be made."""
        if self._lock is None:
            name = Path(gettempdir()) / f"{PREFIX}{uuid.uuid4().hex}"
            # locked before the folder is made: a folder without a lock was left behind
            lock = FileLock(_lock_of(name), timeout=0, mode=0o600, thread_local=False)
            lock.acquire()
            name.mkdir(mode=0o700)
            self._lock, self._removal = lock, weakref.finalize(self, _remove, name, lock)
        return Path(self._lock.lock_file).with_suffix("")

    def close(self) -> None:
        """Remove the folder with all that is in it."""
        if self._removal is not None:
            self._removal()
        self._lock = self._removal = None


def remove_abandoned() -> None:
    """Remove the folders of this user's servers that ended without removing them."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        lock_file = _lock_of(folder)
        if folder.suffix or not (_is_own(folder) and _is_own(lock_file)):
            continue
        lock = FileLock(lock_file, timeout=0, mode=0o600, thread_local=False)
        try:
            lock.acquire()
        except (Timeout, OSError):  # in use
            continue
        _remove(folder, lock)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}{LOCK}")


def _is_own(path: Path) -> bool:
    """Whether a path exists, is no link and belongs to this user: the folder for temporary files is shared."""
    try:
        return not path.is_symlink() and path.stat().st_uid == os.getuid()
    except OSError:
        return False


def _remove(folder: Path, lock: FileLock) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.release()
    Path(lock.lock_file).unlink(missing_ok=True)
