"""The format of plain text: it has no marks, and each line is a paragraph."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from proof.errors import TextError
from proof.locale.marking import Sentence, _
from proof.text.encoding import Decoded
from proof.text.layers import BlockKind, Layer, LayerStretch, TextBlock, numbered_lines
from proof.text.model import is_han
from proof.text.remarks import Remarks
from proof.text.transcription import Format, Transcription

MIN_HAN_SHARE = 0.5
"""Minimum share of Han characters among the letters of a Chinese text."""

_FOREIGN_FORMATS = (
    (
        re.compile(r"\s*(?:<!doctype html|<html)", re.IGNORECASE),
        _("is HTML: save its text as plain text, or as EPUB"),
    ),
    (re.compile(r"\s*[\[{]\s*[\"\[{\]}]"), _("is JSON: give the text itself, or what the program exported as text")),
    (
        re.compile(r"(?:\s*#.*\n)*\s*\[(?:project|page|engine|store|serve)\]\s*\n"),
        _("is a settings file: name the folder of a project, or its settings, with --config"),
    ),
    (re.compile(r"\s*\\(?:documentclass|begin|usepackage)"), _("is LaTeX: save its text as plain text in UTF-8")),
    (
        re.compile(r"#\+TITLE:(?:.*\n)*? *[-+] \[\[file:", re.IGNORECASE),
        _("is a table of contents: name the files of the text, one for each juan, or their folder"),
    ),
)
"""The beginnings of files in other text formats, with advice on each."""

_XML = re.compile(r"\s*<(?:\?xml|[A-Za-z][\w:.-]*[\s>/])")
"""The beginning of XML. A text with marks may begin like this too, with a tag such as `<small>`."""

MIN_TABLE_ROWS = 3
"""Minimum number of lines of a table."""


def is_plain(text: str) -> bool:
    """Whether a text without marks is running Chinese text."""
    letters = [char for char in text if char.isalpha() or is_han(char)]
    return bool(letters) and not foreign(text) and sum(map(is_han, letters)) >= MIN_HAN_SHARE * len(letters)


def foreign(text: str, *, marked: bool = False) -> str:
    """Advice on a text in a known format that is not read; empty for other texts. `marked`: the text has marks of a
    format that is read."""
    for pattern, advice in _FOREIGN_FORMATS:
        if pattern.match(text):
            return Sentence(advice)
    if not marked and _XML.match(text):
        return Sentence(_("is XML of another kind: PAGE, ALTO and TEI can be read"))
    lines = text.splitlines()
    if any(_is_table(lines, separator) for separator in "\t,;"):
        return Sentence(_("is a table (CSV, TSV): save only its column of text, as plain text"))
    return ""


def _is_table(lines: Sequence[str], separator: str) -> bool:
    """Whether the lines are a table: each has as many fields as the first.

    Since each line of a verse may have a comma, the first line must also name all columns (in ASCII, unless tabs divide
    them), or each of the others must have a field in ASCII, such as a number."""
    rows = (row for row in csv.reader(lines, delimiter=separator) if any(row))
    others: list[list[str]] = []
    try:
        head = next(rows, [])
        if len(head) < 2:
            return False
        for row in rows:
            if len(row) != len(head):
                return False
            others.append(row)
    except csv.Error:
        return False
    if 1 + len(others) < MIN_TABLE_ROWS:
        return False
    has_names = all(head) and (separator == "\t" or "".join(head).isascii())
    return has_names or all(any(field and field.isascii() for field in row) for row in others)


def parse_plain(decoded: Decoded, path: Path) -> Transcription:
    """Parse a decoded file. Raises TextError if it is in another format."""
    if advice := foreign(decoded.text):
        raise TextError(path, 1, advice)
    blocks = []
    for number, start, line in numbered_lines(decoded.text):
        if line.strip():
            stretches = tuple(
                LayerStretch(Layer.CANON, start + part.start(), part[0]) for part in re.finditer(r"[^\u3000]+", line)
            )
            blocks.append(TextBlock(BlockKind.PARAGRAPH, start, start + len(line), number, stretches))
    return Transcription.of_blocks(decoded, Format.PLAIN, blocks, Remarks(path))
