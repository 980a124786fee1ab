"""Fetches images into a folder: existing files stay, and interrupted downloads are continued.

A file is first written as `.NAME.part` and renamed when it is complete and an image. To continue a part, only the rest
is requested (Range), on condition that the file on the server has not changed (If-Range); a server that does not
support this sends the whole file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import httpx

from proof.atomic import writing
from proof.errors import AddressError, ComeAgainError, OutputError, ProofError, ServerError, SourceError
from proof.fetch.client import Client, TryAgain, length_of, status_of
from proof.fetch.content import image_fault
from proof.fetch.index import FetchIndex, FileRecord
from proof.fetch.model import WantedImage
from proof.fetch.ssrf import path_inside, web_address
from proof.fetch.transport import is_encoded
from proof.locale.marking import Sentence, _
from proof.model.refs import ImageRef

MAX_FILE_BYTES = 300_000_000
"""Size of the largest accepted file: a plate of 100 megapixels in colour, uncompressed."""

MAX_UNANSWERED_IMAGES = 3
"""A run stops after this number of consecutive images for which no server answered, or whose addresses may not be
requested."""

MAX_FAILED_IMAGES = 20
"""A run stops after this number of consecutive failed images: the list is probably wrong."""

_RANGE = re.compile(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18}|\*)")
"""A `Content-Range`: the first byte that is sent, and the size of the whole file, `*` if it is unknown."""


class FetchOutcome(StrEnum):
    """The outcome of an image. EXISTS: the file exists, and the server was not asked. UNCHANGED: the file exists, and
    the server answered that it has not changed."""

    FETCHED = "fetched"
    EXISTS = "there"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    NOT_ASKED = "not asked for"


@dataclass(frozen=True, slots=True)
class ImageResult:
    """The outcome for one image. `why` says what went wrong; `size` is that of the file in bytes."""

    wanted: WantedImage
    outcome: FetchOutcome
    size: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class FetchRun:
    """The results of a run. `stopped` is the reason why the run was stopped early; empty if it was completed."""

    results: tuple[ImageResult, ...] = ()
    stopped: str = ""

    def of(self, outcome: FetchOutcome) -> tuple[ImageResult, ...]:
        """The results with this outcome."""
        return tuple(result for result in self.results if result.outcome is outcome)

    @property
    def complete(self) -> bool:
        return not self.stopped and not self.of(FetchOutcome.FAILED)


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetches images into `folder`. With `refresh`, files that were fetched before are fetched again if they changed on
    the server. A file larger than `most_bytes` fails.

    `kept` are the images that the project already has in other folders, by the image reference in their names."""

    folder: Path
    client: Client
    refresh: bool = False
    most_bytes: int = MAX_FILE_BYTES
    kept: Mapping[ImageRef, Path] = field(default_factory=dict)

    def fetch(self, images: Sequence[WantedImage], report: Callable[[ImageResult], None] = lambda _: None) -> FetchRun:
        """Fetch `images` one after the other; `report` is called with each result.

        An image that fails is skipped; the run is stopped if the server asks for that, or if several consecutive images
        failed. Raises OutputError if the folder cannot be written, SourceError for a damaged index.
        """
        index = FetchIndex.read(self.folder)
        results: list[ImageResult] = []
        stopped, unanswered, failed = "", 0, 0
        for wanted in images:
            if stopped:
                results.append(ImageResult(wanted, FetchOutcome.NOT_ASKED))
                continue
            try:
                result = self._fetched(wanted, index)
                if result.outcome is not FetchOutcome.EXISTS:  # the server answered
                    unanswered = failed = 0
            except OutputError:
                raise
            except ProofError as error:
                result = ImageResult(wanted, FetchOutcome.FAILED, why=Sentence.of(error))
                unanswered = unanswered + 1 if isinstance(error, ServerError | AddressError) else 0
                failed += 1
                if isinstance(error, ComeAgainError):
                    stopped = Sentence.of(error)
                    result = replace(result, why=Sentence(_("the server wants no further requests for now")))
                elif unanswered >= MAX_UNANSWERED_IMAGES or failed >= MAX_FAILED_IMAGES:
                    message = _(
                        "the last %(number)s images could not be fetched; when that is solved, run the same "
                        "command again"
                    )
                    stopped = Sentence(message, number=failed)
            results.append(result)
            report(result)
        return FetchRun(tuple(results), stopped)

    def preview(self, images: Sequence[WantedImage]) -> Iterator[ImageResult]:
        """The outcomes without any request: EXISTS, FAILED for an address or a name that cannot be used, else
        NOT_ASKED."""
        index = FetchIndex.read(self.folder)
        for wanted in images:
            try:
                web_address(wanted.address)
                path = self._existing(wanted, index)
            except SourceError as error:
                yield ImageResult(wanted, FetchOutcome.FAILED, why=Sentence.of(error))
            else:
                yield ImageResult(wanted, FetchOutcome.EXISTS if path else FetchOutcome.NOT_ASKED)

    def _existing(self, wanted: WantedImage, index: FetchIndex) -> Path | None:
        """The existing file of an image, in the folder or among `kept`; None if there is none. Raises SourceError if
        the name leads out of the folder, or if the file came from another address and is not to be refreshed."""
        path = path_inside(self.folder, wanted.name)
        if not path.exists():
            ref = ImageRef.match(wanted.name)
            return self.kept.get(ref) if ref else None
        record = index.files.get(wanted.name)
        if record is not None and record.address != wanted.address and not self.refresh:
            raise SourceError(
                wanted.address,
                _(
                    "%(path)s exists, but was fetched from %(address)s; fetch it again with --refresh, or "
                    "name another folder with --to"
                ),
                path=path,
                address=record.address,
            )
        return path

    def _fetched(self, wanted: WantedImage, index: FetchIndex) -> ImageResult:
        """Fetch one image, unless its file exists. Raises ProofError."""
        existing = self._existing(wanted, index)
        was_fetched = wanted.name in index.files
        # a file that a person put there is never refreshed
        if existing is not None and not (self.refresh and was_fetched):
            return ImageResult(wanted, FetchOutcome.EXISTS, existing.stat().st_size)
        path = path_inside(self.folder, wanted.name)
        download = _Download(wanted, path, index, self.most_bytes)
        size = self.client.get(wanted.address, download.ask, download.take)
        if size is None:
            return ImageResult(wanted, FetchOutcome.UNCHANGED, path.stat().st_size)
        return ImageResult(wanted, FetchOutcome.FETCHED, size)


@dataclass(frozen=True, slots=True)
class _Download:
    """The download of one image to `path`."""

    wanted: WantedImage
    path: Path
    index: FetchIndex
    most_bytes: int

    @property
    def part(self) -> Path:
        return self.path.with_name(f".{self.path.name}.part")

    def ask(self) -> dict[str, str]:
        """The headers of the next request. It asks for the rest of a file of which there is a part; for a file that was
        fetched before only if it has changed; else for the whole file."""
        size = self._resumable_bytes()
        if size:
            return {"Range": f"bytes={size}-", "If-Range": self.index.parts[self.wanted.name].validator}
        record = self.index.files.get(self.wanted.name)
        if record is None or record.address != self.wanted.address or not self._is_as_fetched(record):
            return {}
        return record.conditions

    def take(self, answer: httpx.Response) -> int | None:
        """Write the file that the server sends. Gives its size in bytes; None if the existing file has not changed."""
        if answer.status_code == 304 and self.path.exists():
            return None
        if answer.status_code == 416:
            self._forget_part()
            raise TryAgain(_("the server does not have the rest of the file"))
        if answer.status_code not in (200, 206):
            # a server that blocks a client answers 401 or 403 to all its requests
            error_class = ServerError if answer.status_code in (401, 403) else SourceError
            raise error_class(self.wanted.address, _("the server answers %(status)s"), status=status_of(answer))
        start, whole = self._start_and_size(answer)
        if whole is not None and whole > self.most_bytes:
            raise SourceError(
                self.wanted.address, self._too_large(Sentence(_("of %(whole)s bytes"), whole=f"{whole:,}"))
            )
        self._begin(answer, start, whole)
        size = self._write(answer, start)
        if whole is not None and size != whole:
            raise TryAgain(_("only %(size)s of %(whole)s bytes arrived"), size=f"{size:,}", whole=f"{whole:,}")
        self._finish(size)
        return size

    def _start_and_size(self, answer: httpx.Response) -> tuple[int, int | None]:
        """The byte of the file at which the answer begins, and the size of the whole file, None if it is unknown.
        Raises TryAgain if the answer does not continue the part."""
        if answer.status_code == 200:
            return 0, length_of(answer)
        content_range = _RANGE.fullmatch(answer.headers.get("content-range", "").strip())
        record, size = self.index.parts.get(self.wanted.name), self._resumable_bytes()
        answered = FileRecord.of(self.wanted.address, answer, -1)
        changed = record is not None and record.differs(answered)
        if content_range is None or int(content_range[1]) != size or changed or is_encoded(answer):
            self._forget_part()
            raise TryAgain(_("the server sends another part of the file than was requested"))
        return size, None if content_range[2] == "*" else int(content_range[2])

    def _resumable_bytes(self) -> int:
        """The size in bytes of the part, if the download can be continued from it; else 0, and the part is removed."""
        try:
            size = self.part.stat().st_size
        except OSError:
            return 0
        record = self.index.parts.get(self.wanted.name)
        is_continuable = record is not None and record.address == self.wanted.address and bool(record.validator)
        if is_continuable and 0 < size <= self.most_bytes:
            return size
        self._forget_part()
        return 0

    def _begin(self, answer: httpx.Response, start: int, whole: int | None) -> None:
        """Begin a new part, unless one is continued (`start`). The index records its source before the first byte is
        written, since only a recorded part can be continued."""
        if start:
            return
        record = FileRecord.of(self.wanted.address, answer, -1 if whole is None else whole)
        if is_encoded(answer):
            record = replace(record, etag="", modified="")  # they validate the compressed bytes, which are not kept
        self.index.parts[self.wanted.name] = record
        with writing(self.path):
            self.part.parent.mkdir(parents=True, exist_ok=True)
            self.part.write_bytes(b"")
        self.index.write()

    def _write(self, answer: httpx.Response, start: int) -> int:
        """Append the body to the part, which has `start` bytes; returns its new size. Raises SourceError if it grows
        too large."""
        size = start
        with writing(self.path), self.part.open("ab") as file:
            for chunk in answer.iter_bytes():
                size += len(chunk)
                if size > self.most_bytes:
                    break
                file.write(chunk)
            else:
                file.flush()
                os.fsync(file.fileno())
        if size > self.most_bytes:
            self._forget_part()
            raise SourceError(self.wanted.address, self._too_large(Sentence(_("that does not end"))))
        return size

    def _finish(self, size: int) -> None:
        """Rename the part to the file and record it. Raises SourceError if it is not an image."""
        fault = image_fault(self.part)
        if fault:
            self._forget_part()
            raise SourceError(self.wanted.address, fault)
        with writing(self.path):
            self.part.replace(self.path)
        record = self.index.parts.pop(self.wanted.name)
        fetched = datetime.now(UTC).isoformat(timespec="seconds")
        self.index.files[self.wanted.name] = replace(record, size=size, fetched=fetched)
        self.index.write()

    def _forget_part(self) -> None:
        with writing(self.path):
            self.part.unlink(missing_ok=True)
        if self.index.parts.pop(self.wanted.name, None):
            self.index.write()

    def _is_as_fetched(self, record: FileRecord) -> bool:
        return self.path.exists() and self.path.stat().st_size == record.size

    def _too_large(self, what: str) -> str:
        """The message about a file that is too large. `what` continues the sentence after "a file"."""
        return Sentence(
            _("is a file %(what)s; the limit is %(most)s bytes, raise it with --max-mb"),
            what=what,
            most=f"{self.most_bytes:,}",
        )
