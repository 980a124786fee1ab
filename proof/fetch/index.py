"""What is known of the files that were fetched into a folder: a small index beside them.

It holds the address of each file and the marks by which a server knows its state (ETag, Last-Modified), so that
what is there is not asked for again, and a part that was left is gone on with only where the file is still the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, Self

import httpx
from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from proof.atomic import must_be_writable, whole_file
from proof.errors import OutputError, SourceError, UsageError

INDEX = ".proof-fetched.json"

_VERSION: Literal[1] = 1
_LOCK = ".proof-fetching.lock"


@dataclass(frozen=True, slots=True)
class Memory:
    """Where a file came from. `size` in bytes (of a part: of the whole, or -1 where that is not known)."""

    address: str
    size: int
    etag: str = ""
    modified: str = ""
    fetched: str = ""

    @property
    def validator(self) -> str:
        """What If-Range takes: a strong ETag, or the date; '' where a part cannot be told from one of another file."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.modified

    @property
    def conditions(self) -> dict[str, str]:
        """The headers by which a server sends the file only where it changed."""
        conditions = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {header: value for header, value in conditions.items() if value}

    @classmethod
    def of(cls, address: str, answer: httpx.Response, size: int) -> Self:
        """What an answer says of the file at `address`."""
        etag, modified = (answer.headers.get(name, "") for name in ("etag", "last-modified"))
        return cls(address, size, etag, modified)


@dataclass(frozen=True, slots=True)
class _Index:
    """The index as the file has it."""

    version: Literal[1]
    files: dict[str, Memory]
    parts: dict[str, Memory]


_INDEX = TypeAdapter(_Index)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Make `folder` where it is missing, and let nobody else fetch into it meanwhile: two would write one index.

    Raises UsageError where somebody does already, OutputError.
    """
    must_be_writable(folder)
    lock = FileLock(folder / _LOCK, blocking=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise UsageError(
            f"{folder}: another `proof fetch` is at work in this folder; let it end, or stop it"
        ) from error
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"{folder}: cannot be locked ({reason}); name another folder with --to") from error
    try:
        yield
    finally:
        lock.release()


class Remembered:
    """The index of one folder: `files` that are whole and `parts` of files, by their names."""

    def __init__(self, folder: Path, files: Mapping[str, Memory], parts: Mapping[str, Memory]) -> None:
        self.files = dict(files)
        self.parts = dict(parts)
        self._path = folder / INDEX

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The index of `folder`, empty where there is none. Raises SourceError where it is damaged."""
        path = folder / INDEX
        try:
            known = path.read_text(encoding="utf-8")
            json.loads(known)  # its errors name the line
            index = _INDEX.validate_json(known, strict=True)
        except FileNotFoundError:
            return cls(folder, {}, {})
        except ValidationError as error:
            message = "is no index of this version of the program; remove it: the images stay as they are"
            raise SourceError(path, message) from error
        except (OSError, ValueError, RecursionError) as error:
            line = getattr(error, "lineno", None)
            message = f"the index of fetched files cannot be read ({error}); remove it: the images stay as they are"
            raise SourceError(path, message, line) from error
        return cls(folder, index.files, index.parts)

    def write(self) -> None:
        """Raises OutputError."""
        index = _Index(_VERSION, dict(sorted(self.files.items())), dict(sorted(self.parts.items())))
        with whole_file(self._path) as file:
            json.dump(asdict(index), file, ensure_ascii=False, indent=1)
            file.write("\n")
