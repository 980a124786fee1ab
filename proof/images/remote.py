"""Images for workers on other machines: where they find the files of the image folders here."""

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
"""The extra of this package that a scheme needs."""

CONNECT_TIMEOUT_SECONDS = 20.0

STALL_TIMEOUT_SECONDS = 30.0
"""Longest time between two pieces of a file."""

FILE_TIMEOUT_SECONDS = 600.0

MAX_TRIES = 3
"""How often fetching a file is tried."""

FIRST_PAUSE_SECONDS = 0.5
"""Pause before the second try; twice as long before the next."""

MAX_KEPT_FILES = 16
"""Fetched files that a worker keeps: a plate shows four consecutive pages."""

_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+]*)://")


@dataclass(frozen=True, slots=True)
class ImageLocations:
    """For each image folder the place where workers find its files: a folder, or an address to fetch from."""

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, folders: Sequence[Path], named: str) -> ImageLocations:
        """From `cluster.images`, where the places are separated by spaces. Raises UsageError."""
        places = named.split()
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
                known = ", ".join(f"{known_scheme}://" for known_scheme in SCHEMES)
                raise UsageError(
                    _("cluster.images: %(place)s: images are fetched by %(known)s or seen in a folder"),
                    place=place,
                    known=known,
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
                inside = path.relative_to(folder).as_posix()
                web = scheme_of(place) in ("http", "https")
                return f"{place.rstrip('/')}/{quote(inside) if web else inside}"
        return str(path)


def scheme_of(place: str) -> str:
    """`s3` of `s3://bucket/scans`; empty for a path."""
    match = _ADDRESS.match(place)
    return match["scheme"] if match else ""


class FetchedImages:
    """Images as files of this machine. The last fetched ones are kept in the folder `inside`, which its maker removes,
    or in a temporary folder of this process."""

    def __init__(self, inside: Path | None = None) -> None:
        self._inside = inside
        self._own: tempfile.TemporaryDirectory[str] | None = None
        self._held: OrderedDict[str, Path] = OrderedDict()
        self._lock = Lock()
        self._count = 0

    def file(self, path: Path, locations: ImageLocations) -> Path:
        """The file on this machine for the image `path` of the machine that started the check; for a page of a PDF,
        that page of the copied PDF. Raises ImageError."""
        page = PdfPage.match(path)
        place = locations.place_of(page.file if page else path)
        if scheme_of(place):
            with self._lock:
                here = self._held.get(place) or self._fetch(place)
                self._held[place] = here
                self._held.move_to_end(place)
        else:
            here = Path(place)
        return PdfPage(here, page.number).path if page else here

    @cached_property
    def folder(self) -> Path:
        """The folder of the fetched files. It is made only when something is fetched, since most workers have access to
        the original files, and a killed worker does not remove its folder."""
        if self._inside is not None:
            self._inside.mkdir(parents=True, exist_ok=True)
            return self._inside
        self._own = tempfile.TemporaryDirectory(prefix="proof-images-")
        return Path(self._own.name)

    def _fetch(self, place: str) -> Path:
        while len(self._held) >= MAX_KEPT_FILES:
            gone = self._held.popitem(last=False)[1]
            gone.unlink(missing_ok=True)
        self._count += 1
        here = self.folder / f"{self._count}{PurePath(place).suffix}"
        for left in reversed(range(MAX_TRIES)):
            try:
                _get(place, here)
                return here
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
                here.unlink(missing_ok=True)
                if not left or _is_final(error):
                    why = f"{type(error).__name__}: {error}"
                    raise ImageError(place, NoticeCode.FILE_UNREADABLE, error=why) from error
                time.sleep(FIRST_PAUSE_SECONDS * (MAX_TRIES - left))
        raise AssertionError("unreachable")


def _get(place: str, here: Path) -> None:
    """Copy the content of an address into a file. Raises ImportError if a package is missing, and the errors of its
    file system."""
    import fsspec  # noqa: PLC0415 - of the extra; only what is fetched needs it

    files, name = fsspec.url_to_fs(place, **_time_limits(scheme_of(place)))
    files.get_file(name, str(here))


def _time_limits(scheme: str) -> dict[str, Any]:
    """Time limits for a file system of fsspec, whose defaults are five minutes for a file of any size, or none."""
    if scheme in ("http", "https"):
        from aiohttp import ClientTimeout  # noqa: PLC0415 - as fsspec

        limits = ClientTimeout(
            total=FILE_TIMEOUT_SECONDS, sock_connect=CONNECT_TIMEOUT_SECONDS, sock_read=STALL_TIMEOUT_SECONDS
        )
        return {"client_kwargs": {"timeout": limits}}
    if scheme == "s3":
        return {"config_kwargs": {"connect_timeout": CONNECT_TIMEOUT_SECONDS, "read_timeout": STALL_TIMEOUT_SECONDS}}
    return {}


def _is_final(error: Exception) -> bool:
    """Whether another try would fail as well: access is denied, or the server's certificate is not valid."""
    status = getattr(error, "status", None)
    refused = isinstance(status, int) and 400 <= status < 500 and status not in (408, 429)
    return refused or isinstance(error, PermissionError | ssl.CertificateError)
