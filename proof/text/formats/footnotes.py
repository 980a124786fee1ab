"""A text with page marks, inline commentary or subcommentary that also has footnotes of Markdown: `[^1]` in the text,
and lines `[^1]: …`. The footnotes are the notes of its apparatus; the rest is parsed in its own format. Markdown files
themselves are parsed by `proof.text.critical`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from proof.text import critical
from proof.text.extraction import Draft, Extraction, as_it_is
from proof.text.formats import TextFormat
from proof.text.formats.text_file import TextFile
from proof.text.read import detect_format
from proof.text.remarks import RemarkCode
from proof.text.transcription import PAGED, Format

_DEFINED = re.compile(rb"^\[\^[^\]\n]+\]:", re.MULTILINE)
_NOTE = re.compile(
    r"(?:(?<=\n)[ \t]*\r?\n)?^\[\^(?P<defined>[^\]\n]+)\]:[ \t]*(?P<words>[^\r\n]*)(?:\r?\n|\Z)|"
    r"\[\^(?P<label>[^\]\n]+)\]",
    re.MULTILINE,
)
"""A note, with the empty line before it, or a reference to one."""


def _recognises(data: bytes, path: Path) -> bool:
    if _DEFINED.search(data) is None:
        return False
    rest = _NOTE.sub("", data.decode("utf-8", "replace"))
    form = detect_format(rest)
    is_markdown = critical.MARK.search(rest) or critical.has_front_matter(rest)
    return form in PAGED or (form in (Format.INLINE, Format.ZHUSHU) and not is_markdown)


def _extract(data: bytes, path: Path) -> Extraction:
    file = TextFile(data, path)
    draft = Draft(data, as_it_is, {})
    matches = list(_NOTE.finditer(file.text))
    notes = {match["defined"]: match["words"] for match in matches if match["defined"]}
    unused = set(notes)
    at = 0
    for match in matches:
        draft.add(file.run(at, match.start()))
        at = match.end()
        label = match["label"]
        if label in unused:
            unused.remove(label)
            draft.note(draft.length, notes[label])
        elif label:
            draft.remark(RemarkCode.FOOTNOTE_TWICE if label in notes else RemarkCode.FOOTNOTE_MISSING, label=label)
    draft.add(file.run(at, len(file.text)))
    for label in sorted(unused):
        draft.remark(RemarkCode.FOOTNOTE_UNUSED, label=label)
    return replace(draft.done(), own_marks=True)


FORMAT = TextFormat("footnotes", frozenset({".txt"}), _recognises, _extract)
