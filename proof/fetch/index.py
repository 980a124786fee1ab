"""The index of the files that were fetched into a folder, stored beside them.

It has the address of each file, and the validators (ETag, Last-Modified) by which a server tells whether the file has
changed. A complete file is not fetched again; an incomplete one is continued only if the file on the server has not
changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

import httpx
from filelock import FileLock, Timeout
from pydantic import BaseModel, PrivateAttr, ValidationError

from proof.atomic import ensure_writable, whole_file
from proof.errors import OutputError, SourceError, UsageError, reason_of
from proof.locale.marking import Sentence, _

INDEX = ".proof-fetched.json"
"""Name of the file of the index."""

_LOCK = ".proof-fetching.lock"


@dataclass(frozen=True, slots=True)
class FileRecord:
    """The source of a file, and for an image the time when it was `fetched`. `size` is that of the whole file in bytes,
    even for a part; -1 if unknown."""

    address: str
    size: int
    etag: str = ""
    modified: str = ""
    fetched: str = ""

    @property
    def validator(self) -> str:
        """The value of If-Range: a strong ETag, else the date; empty if the server gave neither."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.modified

    @property
    def conditions(self) -> dict[str, str]:
        """The headers of a request that asks for the file only if it has changed."""
        conditions = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {header: value for header, value in conditions.items() if value}

    def differs(self, other: FileRecord) -> bool:
        """Whether a validator that both have says that these are different files."""
        validators = ((self.etag, other.etag), (self.modified, other.modified))
        return any(own and others and own != others for own, others in validators)

    @classmethod
    def of(cls, address: str, answer: httpx.Response, size: int) -> Self:
        """The record of the file at `address`, with the validators of an answer."""
        etag, modified = (answer.headers.get(name, "") for name in ("etag", "last-modified"))
        return cls(address, size, etag, modified)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Create `folder` if it is missing, and lock it within the block: two fetches would overwrite each other's index.

    Raises UsageError if another fetch has locked it, OutputError if it cannot be written or locked.
    """
    ensure_writable(folder)
    lock = FileLock(folder / _LOCK, blocking=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise UsageError(
            _("%(folder)s: another `proof fetch` is running in this folder; wait for it, or stop it"), folder=folder
        ) from error
    except OSError as error:
        reason = reason_of(error)
        raise OutputError(
            _("%(folder)s: cannot be locked (%(reason)s); name another folder with --to"), folder=folder, reason=reason
        ) from error
    try:
        yield
    finally:
        lock.release()


class FetchIndex(BaseModel):
    """The index of one folder: `files` that are whole and `parts` of files, by their names."""

    version: Literal[1]
    files: dict[str, FileRecord]
    parts: dict[str, FileRecord]
    _path: Path = PrivateAttr()

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The index of `folder`; an empty one if it has none. Raises SourceError if it is damaged."""
        path = folder / INDEX
        try:
            text = path.read_text(encoding="utf-8")
            json.loads(text)  # its errors name the line; those of pydantic do not
            index = cls.model_validate_json(text, strict=True)
        except FileNotFoundError:
            index = cls(version=1, files={}, parts={})
        except ValidationError as error:
            message = Sentence(_("is not an index of this version of the program; delete it: the images are kept"))
            raise SourceError(path, message) from error
        except (OSError, ValueError, RecursionError) as error:
            line = getattr(error, "lineno", None)
            message = Sentence(
                _("the index of fetched files cannot be read (%(error)s); delete it: the images are kept"),
                error=error,
            )
            raise SourceError(path, message, line) from error
        index._path = path
        return index

    def write(self) -> None:
        """Write the index beside the files. Raises OutputError."""
        with whole_file(self._path) as file:
            file.write(self.model_dump_json(indent=1) + "\n")
