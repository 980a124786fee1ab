"""What can go wrong, one class per way to fail; each owns its exit code and HTTP status.

A message names the file, the line where there is one, and what to do. The library raises; only a
front end (the command line, the web) turns an error into an exit or a response.
"""

from __future__ import annotations

from pathlib import Path

from proof.locale.notices import in_english
from proof.model.notices import Notice, NoticeCode, Value


class ProofError(Exception):
    """Base of every error that a user can cause or mend."""

    exit_code = 2
    http_status = 500


class ToldError(ProofError):
    """One that people meet in the browser: `message` is a message of the catalogues, into which `values` go."""

    def __init__(self, message: str, **values: object) -> None:
        super().__init__(message % values if values else message)
        self.message = message
        self.values = values


class UsageError(ProofError):
    """The command, its options or the settings do not make sense together."""

    http_status = 400


class ConfigError(ProofError):
    """`config.toml` has an unknown key or a value of the wrong type."""


class StoppedError(ProofError):
    """Who asked for a page to be read again took that back; nothing of it is kept."""

    http_status = 409


class GonePageError(UsageError):
    """The text no longer has a page that the store knows: it was changed since the last check."""


class TextError(ProofError):
    """A transcription cannot be read; `line` counts from 1 in the file."""

    http_status = 422

    def __init__(self, path: Path | str, line: int | None, message: str) -> None:
        where = f"{path}:{line}" if line else str(path)
        super().__init__(f"{where}: {message}")
        self.path = Path(path)
        self.line = line


class ImageError(ProofError):
    """An image file cannot be used, as `notice` says; costs the page it belongs to and no more."""

    http_status = 422

    def __init__(self, path: Path | str, code: NoticeCode, **values: Value) -> None:
        self.notice = Notice.of(code, path=str(path), **values)
        super().__init__(in_english(self.notice))
        self.path = Path(path)


class ImageListError(TextError):
    """An image list has a line that cannot be used."""


class EngineError(ProofError):
    """A recogniser is not available, or its model cannot be loaded."""

    http_status = 503


class ClusterError(ProofError):
    """The scheduler or the workers of a cluster are not there, or not the same release as this machine."""

    http_status = 503


class FontError(ProofError):
    """No font that can draw the text was found."""


class OutputError(ProofError):
    """The output folder or the store cannot be written."""

    http_status = 507


class SourceError(ProofError):
    """A source of page images cannot be read or reached; `where` is its address or file, `line` counts from 1."""

    http_status = 502

    def __init__(self, where: Path | str, message: str, line: int | None = None) -> None:
        super().__init__(f"{where}:{line}: {message}" if line else f"{where}: {message}")
        self.where = str(where)
        self.line = line


class AddressError(SourceError):
    """An address that is not asked: no web address, or one inside a network that a public source has no business in."""


class ServerError(SourceError):
    """A server that does not answer, or answers that it cannot, however often it was asked."""


class ComeAgainError(ServerError):
    """A server that asks to be left alone for longer than a command waits."""
