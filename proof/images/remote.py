"""Gives workers on other machines access to the image files of the machine that started the check."""

from __future__ import annotations

import re
import ssl
import tempfile
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from threading import Lock
from typing import Any
from urllib.parse import quote

from proof.errors import ClusterError, ImageError, UsageError
from proof.images.pdf import PdfPage
from proof.locale.marking import _
from proof.model.notices import NoticeCode

SCHEMES = ("s3", "https", "http", "file")
"""Address schemes from which images can be fetched."""

EXTRAS = {"s3": "s3", "https": "cluster", "http": "cluster"}
"""The optional dependencies (extra) of this package that a scheme needs."""

CONNECT_TIMEOUT_SECONDS = 20.0

STALL_TIMEOUT_SECONDS = 30.0
"""Longest time between two pieces of a file that is fetched."""

FILE_TIMEOUT_SECONDS = 600.0

MAX_TRIES = 3
"""Maximum number of attempts to fetch a file."""

FIRST_PAUSE_SECONDS = 0.5
"""Pause before the second attempt; twice as long before the third."""

MAX_KEPT_FILES = 16
"""Number of fetched files that a worker keeps: a plate shows four consecutive pages."""

_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+]*)://")


@dataclass(frozen=True, slots=True)
class ImageLocations:
    """For each image folder the place where workers find its files: a folder, or an address to fetch from. `pairs` are
    the folders with their places."""

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, folders: Sequence[Path], setting: str) -> ImageLocations:
        """From `cluster.images`, where the places are separated by spaces. Raises UsageError."""
        places = setting.split()
        if not places:
            return cls()
        if len(places) != len(folders):
            raise UsageError(
                _(
                    "cluster.images names %(places)s places for the %(number)s folders of "
                    "project.images: give one for each, in their order, with spaces between"
                ),
                places=len(places),
                number=len(folders),
            )
        for place in places:
            scheme = scheme_of(place)
            if scheme and scheme not in SCHEMES:
                raise UsageError(
                    _("cluster.images: %(place)s: images are fetched by %(known)s or seen in a folder"),
                    place=place,
                    known=", ".join(f"{known}://" for known in SCHEMES),
                )
            if not scheme and not Path(place).is_absolute():
                raise UsageError(
                    _("cluster.images: %(place)s: give the whole path of the folder, as the workers see it"),
                    place=place,
                )
        return cls(tuple(zip(map(str, folders), places, strict=True)))

    def place_of(self, path: Path) -> str:
        """The place of the image `path` for a worker."""
        for folder, place in self.pairs:
            if path.is_relative_to(folder):
                relative = path.relative_to(folder).as_posix()
                if scheme_of(place) in ("http", "https"):
                    relative = quote(relative)
                return f"{place.rstrip('/')}/{relative}"
        return str(path)


def scheme_of(place: str) -> str:
    """`s3` of `s3://bucket/scans`; empty for a path."""
    match = _ADDRESS.match(place)
    return match["scheme"] if match else ""


class FetchedImages:
    """Images as files of this machine. The last fetched files are kept in the folder `inside`, which the caller
    removes, or in a temporary folder of this process."""

    def __init__(self, inside: Path | None = None) -> None:
        self._inside = inside
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._kept: OrderedDict[str, Path] = OrderedDict()
        self._lock = Lock()
        self._count = 0

    def file(self, path: Path, locations: ImageLocations) -> Path:
        """The file on this machine for the image `path` of the machine that started the check; for a page of a PDF,
        that page of the copied PDF. Raises ImageError."""
        page = PdfPage.match(path)
        place = locations.place_of(page.file if page else path)
        if scheme_of(place):
            with self._lock:
                file = self._kept.get(place) or self._fetch(place)
                self._kept[place] = file
                self._kept.move_to_end(place)
        else:
            file = Path(place)
        return PdfPage(file, page.number).path if page else file

    @cached_property
    def folder(self) -> Path:
        """The folder of the fetched files. It is created only when a file is fetched, since most workers have access to
        the original files, and a killed worker does not remove its folder."""
        if self._inside is not None:
            self._inside.mkdir(parents=True, exist_ok=True)
            return self._inside
        self._temporary = tempfile.TemporaryDirectory(prefix="proof-images-")
        return Path(self._temporary.name)

    def _fetch(self, place: str) -> Path:
        """Fetch a file, after removing those that were not used for longest. Raises ImageError, ClusterError."""
        while len(self._kept) >= MAX_KEPT_FILES:
            oldest = self._kept.popitem(last=False)[1]
            oldest.unlink(missing_ok=True)
        self._count += 1
        file = self.folder / f"{self._count}{PurePath(place).suffix}"
        for attempt in range(1, MAX_TRIES + 1):
            try:
                _download(place, file)
                return file
            except FileNotFoundError:
                raise ImageError(place, NoticeCode.FILE_MISSING) from None
            except ImportError as error:
                extra = EXTRAS.get(scheme_of(place), "cluster")
                raise ClusterError(
                    _(
                        "%(place)s: a worker lacks what it would fetch this with (%(error)s): pip install "
                        "'hanproof[%(extra)s]' on every worker"
                    ),
                    place=place,
                    error=error,
                    extra=extra,
                ) from error
            except Exception as error:  # each file system of fsspec has errors of its own
                file.unlink(missing_ok=True)
                if attempt == MAX_TRIES or _is_final(error):
                    why = f"{type(error).__name__}: {error}"
                    raise ImageError(place, NoticeCode.FILE_UNREADABLE, error=why) from error
                time.sleep(FIRST_PAUSE_SECONDS * attempt)
        raise AssertionError("unreachable")


def _download(place: str, file: Path) -> None:
    """Copy the content of an address into a file. Raises ImportError if a package is missing, and the errors of the
    address's file system."""
    import fsspec  # noqa: PLC0415 - an optional dependency

    file_system, name = fsspec.url_to_fs(place, **_time_limits(scheme_of(place)))
    file_system.get_file(name, str(file))


def _time_limits(scheme: str) -> dict[str, Any]:
    """The time limits for a file system of fsspec; its defaults are five minutes for a file of any size, or none."""
    if scheme in ("http", "https"):
        from aiohttp import ClientTimeout  # noqa: PLC0415 - an optional dependency

        limits = ClientTimeout(
            total=FILE_TIMEOUT_SECONDS, sock_connect=CONNECT_TIMEOUT_SECONDS, sock_read=STALL_TIMEOUT_SECONDS
        )
        return {"client_kwargs": {"timeout": limits}}
    if scheme == "s3":
        return {"config_kwargs": {"connect_timeout": CONNECT_TIMEOUT_SECONDS, "read_timeout": STALL_TIMEOUT_SECONDS}}
    return {}


def _is_final(error: Exception) -> bool:
    """Whether another attempt would fail as well: access is denied, or the server's certificate is not valid."""
    if isinstance(error, PermissionError | ssl.CertificateError):
        return True
    status = getattr(error, "status", None)
    return isinstance(status, int) and 400 <= status < 500 and status not in (408, 429)
