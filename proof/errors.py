"""The errors of the program: one class for each kind of failure, with its exit code and HTTP status.

A message names the file, the line if there is one, and what to do. It is marked for translation where the error is
raised, with placeholders for its values. The library raises errors; only the command line and the web turn them into an
exit or a response.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from proof.locale.marking import Sentence, _
from proof.model.notices import Notice, NoticeCode, Value

AT = _("%(where)s: %(what)s")
"""The message of an error in a file: the file with the line, then what is wrong."""


def reason_of(error: OSError) -> str:
    """The reason of an operating system error, without its number and the file name, which messages add."""
    return error.strerror or str(error)


class ProofError(Exception):
    """The base of all errors that a user can cause or mend."""

    exit_code = 2
    http_status = 500

    def __init__(self, message: str, /, **values: object) -> None:
        self.sentence = Sentence(message, **values)
        super().__init__(str(self.sentence))


@contextmanager
def os_errors_as(fault: Callable[..., ProofError], /, *arguments: object, **values: object) -> Iterator[None]:
    """Raise an operating system error of the block as a `fault` with these arguments and values; its message can also
    name the `reason`."""
    try:
        yield
    except OSError as error:
        raise fault(*arguments, **values, reason=reason_of(error)) from error


class PublicError(ProofError):
    """An error whose message the browser shows, in the language of the interface: it names no file of the server."""


class UsageError(ProofError):
    """The arguments or settings are wrong, or contradict each other."""

    http_status = 400


class ConfigError(ProofError):
    """`config.toml` has an unknown key or a value of the wrong type."""


class StoppedError(ProofError):
    """A job was cancelled by the person who started it; nothing of it is kept."""

    http_status = 409


class GonePageError(UsageError):
    """A page in the store is no longer in the text, which has changed since the last check."""


class TextError(ProofError):
    """A text file cannot be read; `line` is a line of the file, from 1."""

    http_status = 422

    def __init__(self, path: Path | str, line: int | None, message: str, /, **values: object) -> None:
        super().__init__(AT, where=f"{path}:{line}" if line else path, what=Sentence(message, **values))
        self.path = Path(path)
        self.line = line


class ImageError(PublicError):
    """An image file cannot be used; `notice` gives the reason. Only the page of this image fails."""

    http_status = 422

    def __init__(self, path: Path | str, code: NoticeCode, **values: Value) -> None:
        self.notice = Notice.of(code, path=str(path), **values)
        super().__init__(self.notice.message, **dict(self.notice.values))
        self.path = Path(path)


class ImageListError(TextError):
    """An image list has a line that cannot be used."""


class EngineError(ProofError):
    """A recogniser is not available, or its model cannot be loaded."""

    http_status = 503


class ClusterError(ProofError):
    """The scheduler or the workers of a cluster cannot be reached, or run another release than this machine."""

    http_status = 503


class FontError(ProofError):
    """No font that can draw the text was found."""


class OutputError(ProofError):
    """The output folder or the store cannot be written."""

    http_status = 507


class SourceError(ProofError):
    """A source of page images cannot be read or reached; `where` is its address or file, `line` a line in the file."""

    http_status = 502

    def __init__(self, where: Path | str, message: str, line: int | None = None, /, **values: object) -> None:
        super().__init__(AT, where=f"{where}:{line}" if line else where, what=Sentence(message, **values))
        self.where = str(where)
        self.line = line


class AddressError(SourceError):
    """An address is not requested: it is not a web address, or it leads into a private network."""


class ServerError(SourceError):
    """A server does not answer, or refuses, or still fails after the last try."""


class ComeAgainError(ServerError):
    """A server asks for a longer pause than a command waits."""
