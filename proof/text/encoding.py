"""Decoding and encoding text files without changing a byte.

The encoding is UTF-8 unless the user names another. Error messages say which encoding the bytes look like. A decoded
text is accepted only if encoding it gives the same bytes.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

from proof.errors import TextError, reason_of
from proof.locale.marking import Sentence, _
from proof.text.edit import Edit
from proof.text.extraction import Extraction

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    ("\ufeff".encode("gb18030"), "gb18030"),
)
"""Byte-order marks and their codecs, longer marks before their beginnings."""

_WITHOUT_BOM = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
"""Codecs that read and write a byte-order mark themselves, each with the codec that does not do so."""

_NO_TEXT_FILES = (
    (b"%PDF", Sentence(_("is a PDF: name it among the images (--images), and give its text beside it"))),
    (b"PK\x03\x04", Sentence(_("is an archive, and neither DOCX nor EPUB: unpack it, and name the texts in it"))),
    (b"{\\rtf", Sentence(_("is RTF: save it as DOCX or as plain text in UTF-8"))),
    (
        b"\xd0\xcf\x11\xe0",
        Sentence(_("is a document of an old version of Word: save it as DOCX or as plain text in UTF-8")),
    ),
    (b"\x1f\x8b", Sentence(_("is compressed (gzip): unpack it first"))),
    (b"SQLite format 3", Sentence(_("is a database: give a text"))),
    (b"\x89PNG", Sentence(_("is an image: name it with --images, and give a text"))),
    (b"\xff\xd8\xff", Sentence(_("is an image: name it with --images, and give a text"))),
)
"""The first bytes of files that are no text, with advice on each."""

_GUESSED = ("utf-8", "gb18030", "big5hkscs", "utf-16-le", "utf-16-be")
_NAMES = {"gb18030": "GB18030", "big5hkscs": "Big5", "utf-16-le": "UTF-16 LE", "utf-16-be": "UTF-16 BE"}
_COMMON = frozenset("之也不者以而其曰人於于為为有子云注案卷第")
"""Characters that are frequent in classical Chinese of either script and rare in wrongly decoded text."""

MIN_COMMON_SHARE = 0.02
"""Share of `_COMMON` characters among the non-ASCII ones above which a text is taken to be decoded correctly."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file as text. `encoding` is a codec that writes no byte-order mark; `bom`: the file has one. If the text was
    extracted from another format, `container` is the name of that format, and `extraction` maps it to the file's
    bytes."""

    text: str
    encoding: str
    bom: bool
    container: str = ""
    extraction: Extraction | None = None

    def holds(self, edit: Edit) -> bool:
        """Whether the file has a place for an edit of the text: all have, but where a reader added marks."""
        return self.extraction is None or self.extraction.holds(edit)


def decode(path: Path, data: bytes, encoding: str | None = None) -> Decoded:
    """The text of `data`, as UTF-8 or in the named encoding. Raises TextError if the file is empty, damaged, in another
    encoding (which the message guesses), or cannot be encoded to the same bytes."""
    if not data:
        raise TextError(path, None, _("the file is empty: give a transcription with page marks"))
    if advice := next((advice for magic, advice in _NO_TEXT_FILES if data.startswith(magic)), ""):
        raise TextError(path, None, advice)
    mark, codec_of_mark = next(((mark, name) for mark, name in _BOMS if data.startswith(mark)), (b"", ""))
    codec = _codec(path, encoding, codec_of_mark)
    bom = bool(mark) and codec == codec_of_mark
    if mark and not bom and encoding is None:
        raise TextError(path, None, _advice(codec_of_mark))
    has_many_zeros = data.count(0) * 100 > len(data)  # UTF-16 or a binary file
    if encoding is None and has_many_zeros:
        raise TextError(path, None, _advice(_guess(data)))
    try:
        text = data[len(mark) if bom else 0 :].decode(codec)
    except UnicodeDecodeError as error:
        raise _undecodable(path, data, codec, error, named=encoding is not None) from error
    if encode(path, text, codec, bom) != data:
        message = Sentence(
            _("reading it as %(codec)s and writing it again would change bytes: convert the file to UTF-8 first"),
            codec=codec,
        )
        raise TextError(path, None, message)
    return Decoded(text, codec, bom)


def utf8_text(path: Path, what: str, fault: type[TextError] = TextError) -> str:
    """The text of a file that must be UTF-8, without its byte-order mark. Messages call the file `what`. Raises
    `fault`."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        message = _("the %(what)s cannot be read (%(reason)s): check its name and permissions")
        raise fault(path, None, message, what=Sentence(what), reason=reason_of(error)) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise fault(path, line, _("this is not UTF-8: save the %(what)s as UTF-8"), what=Sentence(what)) from error


def encode(path: Path, text: str, encoding: str, bom: bool) -> bytes:
    """The bytes of `text` in the file's encoding, with its byte-order mark. Raises TextError if a character cannot be
    encoded."""
    try:
        body = text.encode(encoding)
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        character = f"{text[error.start]!r} (U+{ord(text[error.start]):04X})"
        message = Sentence(
            _("%(character)s cannot be written in %(encoding)s: convert the file to UTF-8 first"),
            character=character,
            encoding=encoding,
        )
        raise TextError(path, line, message) from error
    return next(mark for mark, name in _BOMS if name == encoding) + body if bom else body


def _codec(path: Path, encoding: str | None, codec_of_mark: str) -> str:
    """The codec of the named encoding, with the byte order of the file's byte-order mark."""
    if encoding is None:
        return "utf-8"
    try:
        info = codecs.lookup(encoding)
        "".encode(encoding)
    except LookupError as error:
        raise TextError(
            path,
            None,
            _("%(encoding)s is not a text encoding: name one such as utf-8, gb18030, big5 or utf-16"),
            encoding=repr(encoding),
        ) from error
    codec = _WITHOUT_BOM.get(info.name)
    if codec is None:
        return info.name
    is_same_encoding = codec_of_mark[:6] == codec[:6]
    return codec_of_mark if is_same_encoding else codec


def _undecodable(path: Path, data: bytes, codec: str, error: UnicodeDecodeError, *, named: bool) -> TextError:
    line = data.count(b"\n", 0, error.start) + 1
    value = f"{data[error.start] if error.start < len(data) else 0:02X}"
    if named:
        message = _("byte 0x%(value)s is not %(codec)s: name the encoding of the file")
        return TextError(path, line, message, value=value, codec=codec)
    guess = _guess(data)
    if guess == "utf-8":
        message = _("byte 0x%(value)s is damaged, the rest is UTF-8: correct or delete its character")
        return TextError(path, line, message, value=value)
    return TextError(path, line, _advice(guess))


def _advice(guess: str) -> str:
    if not guess:
        return Sentence(_("not UTF-8 text, nor in any other known encoding: convert it to UTF-8"))
    name = _NAMES.get(guess, guess.upper())
    return Sentence(_("not UTF-8; it looks like %(name)s: convert it to UTF-8"), name=name)


def _guess(data: bytes) -> str:
    """The encoding in which the bytes look most like classical Chinese; empty if they do not in any."""
    sample = data[: 1 << 16]
    scores = {codec: _likeness(sample.decode(codec, "replace")) for codec in _GUESSED}
    best = max(_GUESSED, key=lambda codec: scores[codec])
    return best if scores[best] > MIN_COMMON_SHARE else ""


def _likeness(text: str) -> float:
    """The share of `_COMMON` characters among the non-ASCII ones."""
    characters = [char for char in text if char > "\x7f" or char == "\x00"]
    return sum(char in _COMMON for char in characters) / len(characters) if characters else 0.0
