"""A folder of this process for files that it makes to be taken home, which outlives no server for longer than until the
next one starts."""

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
    """A folder for temporary files, there from when it is first asked for until it is closed.

    The process holds a lock beside it, which the operating system frees however the process ends, so that what a
    server left behind that was killed outright can be told from what one uses.
    """

    def __init__(self) -> None:
        self._lock: FileLock | None = None
        self._removal: weakref.finalize[..., ScratchFolder] | None = None

    def path(self) -> Path:
        """The folder. Raises OSError where it cannot be made."""
        if self._lock is None:
            name = Path(gettempdir()) / f"{PREFIX}{uuid.uuid4().hex}"
            # locked before there is a folder: one that is there and not locked is nobody's
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
    """Whether a path is there, no link, and of this user: others write to the folder for temporary files too."""
    try:
        return not path.is_symlink() and path.stat().st_uid == os.getuid()
    except OSError:
        return False


def _remove(folder: Path, lock: FileLock) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.release()
    Path(lock.lock_file).unlink(missing_ok=True)
