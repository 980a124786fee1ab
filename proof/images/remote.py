"""Images that a worker on another machine reads: where it finds what lies in the image folders here."""

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
from proof.model.notices import NoticeCode

SCHEMES = ("s3", "https", "http", "file")
"""What images are fetched by, where the settings say so."""

EXTRAS = {"s3": "s3", "https": "cluster", "http": "cluster"}
"""The extra of this package that brings what a scheme is fetched with."""

CONNECT_TIMEOUT_S = 20.0

STALL_TIMEOUT_S = 30.0
"""Between two pieces of a file."""

FILE_TIMEOUT_S = 600.0

TRIES = 3
"""How often a file is asked for that a network did not give."""

FIRST_PAUSE_S = 0.5
"""Before the second time; twice as long before the next."""

KEPT = 16
"""Files that a worker keeps of those that it fetched: a plate serves four pages that follow each other."""

_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+]*)://")


@dataclass(frozen=True, slots=True)
class ImageLocations:
    """For each image folder here, where the workers find what lies in it: a folder, or an address to fetch from."""

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, folders: Sequence[Path], named: str) -> ImageLocations:
        """As `cluster.images` names them, with spaces between. Raises UsageError."""
        places = named.split()
        if not places:
            return cls()
        if len(places) != len(folders):
            raise UsageError(
                f"cluster.images names {len(places)} places for the {len(folders)} folders of project.images: "
                "give one for each, in their order, with spaces between"
            )
        for place in places:
            scheme = scheme_of(place)
            if scheme and scheme not in SCHEMES:
                known = ", ".join(f"{one}://" for one in SCHEMES)
                raise UsageError(f"cluster.images: {place}: images are fetched by {known} or seen in a folder")
            if not scheme and not Path(place).is_absolute():
                raise UsageError(f"cluster.images: {place}: give the whole path of the folder, as the workers see it")
        return cls(tuple(zip(map(str, folders), places, strict=True)))

    def place_of(self, path: Path) -> str:
        """Where a worker finds the image that lies at `path` here."""
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
    """Images as files of this machine; what has to be fetched is kept while few others were fetched since, in the
    folder `inside`, whose maker removes it, or in a temporary one of this process."""

    def __init__(self, inside: Path | None = None) -> None:
        self._inside = inside
        self._own: tempfile.TemporaryDirectory[str] | None = None
        self._held: OrderedDict[str, Path] = OrderedDict()
        self._lock = Lock()
        self._count = 0

    def file(self, path: Path, locations: ImageLocations) -> Path:
        """The file of this machine that has the image that lies at `path` where the check began; of a page of a PDF
        that page of the PDF's copy. Raises ImageError."""
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
        """Where the files lie. It is made where there is something to fetch: most workers see the images as they are,
        and one that is killed removes nothing."""
        if self._inside is not None:
            self._inside.mkdir(parents=True, exist_ok=True)
            return self._inside
        self._own = tempfile.TemporaryDirectory(prefix="proof-images-")
        return Path(self._own.name)

    def _fetch(self, place: str) -> Path:
        while len(self._held) >= KEPT:
            _, gone = self._held.popitem(last=False)
            gone.unlink(missing_ok=True)
        self._count += 1
        here = self.folder / f"{self._count}{PurePath(place).suffix}"
        for left in reversed(range(TRIES)):
            try:
                _get(place, here)
                return here
            except FileNotFoundError:
                raise ImageError(place, NoticeCode.FILE_MISSING) from None
            except ImportError as error:
                extra = EXTRAS.get(scheme_of(place), "cluster")
                raise ClusterError(
                    f"{place}: a worker lacks what it would fetch this with ({error}): "
                    f"pip install 'hanproof[{extra}]' on every worker"
                ) from error
            except Exception as error:  # each file system of fsspec has errors of its own
                here.unlink(missing_ok=True)
                if not left or _is_final(error):
                    why = f"{type(error).__name__}: {error}"
                    raise ImageError(place, NoticeCode.FILE_UNREADABLE, error=why) from error
                time.sleep(FIRST_PAUSE_S * (TRIES - left))
        raise AssertionError("unreachable")


def _get(place: str, here: Path) -> None:
    """Copy what lies at an address into a file. Raises ImportError where a package is missing for it, and whatever its
    file system raises."""
    import fsspec  # noqa: PLC0415 - of the extra; only what is fetched needs it

    files, name = fsspec.url_to_fs(place, **_patience(scheme_of(place)))
    files.get_file(name, str(here))


def _patience(scheme: str) -> dict[str, Any]:
    """How long a file system of fsspec waits; their own limits are five minutes for a file however large it is, or
    none."""
    if scheme in ("http", "https"):
        from aiohttp import ClientTimeout  # noqa: PLC0415 - as fsspec

        limits = ClientTimeout(total=FILE_TIMEOUT_S, sock_connect=CONNECT_TIMEOUT_S, sock_read=STALL_TIMEOUT_S)
        return {"client_kwargs": {"timeout": limits}}
    if scheme == "s3":
        return {"config_kwargs": {"connect_timeout": CONNECT_TIMEOUT_S, "read_timeout": STALL_TIMEOUT_S}}
    return {}


def _is_final(error: Exception) -> bool:
    """Whether asking again would bring the same answer: who asks may not, or the server is not who it says."""
    status = getattr(error, "status", None)
    refused = isinstance(status, int) and 400 <= status < 500 and status not in (408, 429)
    return refused or isinstance(error, PermissionError | ssl.CertificateError)
