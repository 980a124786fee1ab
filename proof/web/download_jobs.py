"""Downloads of a work, made in the background by one thread, since the report of a large work takes minutes and its
corrected text one minute. The browser polls for their progress."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import TypeVar

from proof.errors import StoppedError
from proof.locale.marking import _
from proof.web.jobs import Job, Jobs

MAX_KEPT_DOWNLOADS = 6
"""Number of downloads above which the oldest finished ones are removed."""

T = TypeVar("T")


class DownloadKind(StrEnum):
    """The kinds of downloads: the report with its tables, the corrected text with its diff and notes, the notes."""

    REPORT = "report"
    TEXT = "text"
    NOTES = "notes"


class StepCount:
    """Counts the finished steps of a download, `done` of `total`, until it is to `stop`."""

    def __init__(self, total: int, stop: Event) -> None:
        self.total = total
        self.done = 0
        self._stop = stop

    def through(self, steps: Iterable[T]) -> Iterator[T]:
        """Yield the steps and count each after it was processed. Raises StoppedError before the next step."""
        for step in steps:
            if self._stop.is_set():
                raise StoppedError(_("the download was no longer wanted"))
            yield step
            self.done += 1


Make = Callable[[Path, StepCount], None]
"""Writes the files of a download into a folder and counts its steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadJob(Job[Path]):
    """A download: files that are made in a folder and then packed into one archive. Its subject is the work, the kind
    and the language."""

    count: StepCount
    folder: TemporaryDirectory[str]


class DownloadJobs(Jobs[DownloadJob]):
    """The queue of downloads and the last finished ones."""

    def __init__(self) -> None:
        super().__init__("making downloads", MAX_KEPT_DOWNLOADS, missing="no download")

    def begin(self, work: str, kind: DownloadKind, language: str, total: int, make: Make) -> DownloadJob:
        """Queue a download of `total` steps. If an equal one is still waiting, that is returned instead."""
        with self._lock:
            job = self._waiting(work, kind, language)
            if job is None:
                stop = Event()
                count = StepCount(total, stop)
                folder = TemporaryDirectory(prefix="proof-download-", ignore_cleanup_errors=True)
                future = self._submit(_make_archive, make, Path(folder.name), count)
                subject = (work, kind, language)
                job = DownloadJob(subject=subject, stop=stop, future=future, count=count, folder=folder)
                for removed in self._keep(job):
                    removed.folder.cleanup()
            return job

    def close(self) -> None:
        """Stop the download that is being made, and remove the finished ones."""
        with self._lock:
            for job in self._jobs.values():
                job.stop.set()
            super().close()
            for job in self._jobs.values():
                job.folder.cleanup()
            self._jobs.clear()


def _make_archive(make: Make, folder: Path, count: StepCount) -> Path:
    """Make the files of a download and pack them. Gives the path of the archive."""
    path = folder / "files.zip"
    with TemporaryDirectory(dir=folder) as files:  # only the archive is kept
        make(Path(files), count)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(Path(files).rglob("*")):
                if file.is_file():
                    archive.write(file, file.relative_to(files))
    return path
