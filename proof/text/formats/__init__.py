"""File formats from which texts are extracted, each in a module of its own.

A format recognises its files by their bytes and extracts their text in a notation that `proof.text.read` parses: with
page marks as in the Kanseki Repository if the file has pages and lines, else as Markdown with `<small>` for commentary.
The extraction maps each character to its bytes (`proof.text.extraction`), so that corrections are written into the file
itself.

Other distributions can add formats by entry points of the group `hanproof.text_formats`, each a `TextFormat`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

from proof.errors import TextError, os_errors_as
from proof.locale.marking import _
from proof.text.encoding import Decoded, decode
from proof.text.extraction import Extraction

ENTRY_POINTS = "hanproof.text_formats"

OWN = ("pagexml", "alto", "tei", "wikitext", "docx", "epub", "cbeta", "page_lines", "footnotes")
"""The modules of this package that each define a format, in the order in which they are tried."""


@dataclass(frozen=True, slots=True)
class TextFormat:
    """A format of files. `recognises` takes the bytes of a file and its path; it must be quick and certain. `extract`
    gives the text and raises TextError with file and line. Files with one of the `suffixes`, in lower case, are the
    texts of a folder."""

    name: str
    suffixes: frozenset[str]
    recognises: Callable[[bytes, Path], bool]
    extract: Callable[[bytes, Path], Extraction]


@cache
def text_formats() -> tuple[TextFormat, ...]:
    """All formats: the program's own, then those of other distributions, by name."""
    own = tuple(import_module(f"{__name__}.{name}").FORMAT for name in OWN)
    installed = sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name)
    return own + tuple(entry.load() for entry in installed)


def text_suffixes() -> frozenset[str]:
    """The suffixes of files that are texts."""
    return frozenset({".txt", ".md", ".org"}).union(*(form.suffixes for form in text_formats()))


def decoded_file(path: Path | str, encoding: str | None = None) -> Decoded:
    """The text of the file at `path`: extracted if a format recognises it, else decoded. Raises TextError, also if the
    file cannot be read."""
    path = Path(path)
    if path.is_dir():
        raise TextError(path, None, _("is a folder: name one transcription file in it"))
    with os_errors_as(TextError, path, None, _("cannot be read (%(reason)s): check its name and permissions")):
        data = path.read_bytes()
    return decoded(path, data, encoding)


def decoded(path: Path, data: bytes, encoding: str | None = None) -> Decoded:
    """The text of `data`: extracted if a format recognises it, else decoded. A named `encoding` is for plain text only.
    Raises TextError."""
    for form in text_formats() if encoding is None else ():
        if form.recognises(data, path):
            extraction = form.extract(data, path)
            return Decoded(extraction.text, "utf-8", False, form.name, extraction)
    return decode(path, data, encoding)
