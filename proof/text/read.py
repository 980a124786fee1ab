"""Reading a transcription from a file in any of the formats."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from proof.errors import TextError
from proof.locale.marking import Sentence, _
from proof.text import critical, inline, mirror, plain, zhushu
from proof.text.encoding import Decoded
from proof.text.formats import decoded_file
from proof.text.kanripo import has_page_mark
from proof.text.model import Script
from proof.text.page_marked import parse_page_marked
from proof.text.transcription import PAGED, Format, Transcription

PAGE_MARK_EXAMPLES = Sentence(
    _("a page begins with a line such as <pb:KR1d0030_WYG_010-1a> or 卷十 第 1a 页 WYG0103-0192c.png")
)

_HEAD = re.compile(r"^#\+PROPERTY:[ \t]*(?:ID|JUAN|LASTPB)[ \t]", re.MULTILINE)
"""A property in the head of a file of the Kanseki Repository."""

_CONFLICT = re.compile(r"^<{7} .*?^={7}[\r\n].*?^>{7} ", re.MULTILINE | re.DOTALL)
"""What git writes into a file where a merge needs a decision."""


def read_transcription(path: Path | str, encoding: str | None = None) -> Transcription:
    """Read the transcription at `path`. Its format is recognised by its marks.

    The encoding is UTF-8 unless `encoding` names another. Damaged markup is read as far as possible and reported in
    `remarks`, with file and line. Raises TextError if the file cannot be read, is empty, is in another encoding or in
    none of the formats.
    """
    return parse_transcription(decoded_file(path, encoding), Path(path))


def parse_transcription(decoded: Decoded, path: Path, form: Format | None = None) -> Transcription:
    """Parse a decoded file in the format `form`, or in the one that is recognised. Messages name it by `path`. Raises
    TextError."""
    if conflict := _CONFLICT.search(decoded.text):
        line = decoded.text.count("\n", 0, conflict.start()) + 1
        raise TextError(path, line, _("a merge in git ended in a conflict here: resolve it first"))
    form = form or detect_format(decoded.text)
    if form in PAGED:
        return parse_page_marked(decoded, path, form)
    if "\r" in decoded.text and "\n" not in decoded.text:
        raise TextError(path, None, _("its lines end in CR alone: save it with LF or CR LF"))
    match form:
        case Format.INLINE:
            return inline.parse_inline(decoded, path)
        case Format.ZHUSHU:
            return zhushu.parse_zhushu(decoded, path)
        case Format.CRITICAL:
            return critical.parse_critical(decoded, path)
        case Format.PLAIN:
            return plain.parse_plain(decoded, path)
    if advice := plain.foreign(decoded.text):
        raise TextError(path, 1, advice)
    raise TextError(
        path,
        None,
        _("its format is not recognised, and it is not Chinese text: %(examples)s"),
        examples=PAGE_MARK_EXAMPLES,
    )


def detect_format(text: str) -> Format | None:
    """The format of a text by its marks: page marks decide, else the most frequent marks. A Chinese text without marks
    is plain. None if no format is recognised."""
    for line in text.splitlines():
        if has_page_mark(line):
            return Format.KANRIPO
        if mirror.MARK.match(line):
            return Format.MIRROR
    if _HEAD.search(text):
        return Format.KANRIPO
    counts = {
        Format.INLINE: len(inline.MARK.findall(text)),
        Format.ZHUSHU: len(re.findall(r"^\[疏\]", text, re.MULTILINE)),
        Format.CRITICAL: len(critical.MARK.findall(text)) + critical.has_front_matter(text),
    }
    best = max(counts, key=lambda form: counts[form])
    if counts[best]:
        return None if plain.foreign(text, marked=True) else best
    return Format.PLAIN if plain.is_plain(text) else None


def in_script(transcription: Transcription, named: str) -> Transcription:
    """The transcription with the script `named`; unchanged if that is `auto` or empty."""
    return replace(transcription, script=Script(named)) if named in set(Script) else transcription
