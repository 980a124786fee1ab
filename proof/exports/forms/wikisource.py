"""Wikisource: a file for each page, for the extension ProofreadPage, with the level that the page has reached; a text
without pages is one page of the main namespace. Notes are `{{*|…}}`.

The level of a page is the state that people gave it at the desk; a page without one is not proofread.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from pathlib import Path

from proof.exports.files import Material, safe_name, write_file
from proof.exports.forms import ExportForm
from proof.store.page_states import PageState
from proof.text.encoding import Decoded
from proof.text.layers import NOTES, BlockKind
from proof.text.model import Column
from proof.text.read import parse_transcription
from proof.text.transcription import Footnote, Transcription

LEVELS = {PageState.NOT_PROOFREAD: 1, PageState.PROBLEM: 2, PageState.PROOFREAD: 3, PageState.VALIDATED: 4}
"""The levels of pages in the extension ProofreadPage."""

_LINE_MARKUP = re.compile(r"^[*#:;= ]")
"""What begins a list, a heading or a preformatted box at the start of a line."""

_ENTITY = re.compile(r"&SK([23]?)-([0-9A-Z]+);")


def proofread_page(columns: tuple[Column, ...], level: int, footnotes: deque[Footnote]) -> str:
    """The wikitext of a page with its columns, as the extension keeps it, and with the `footnotes` in them, which are
    then done."""
    body = "\n".join(_column(column, footnotes) for column in columns)
    return f'<noinclude><pagequality level="{level}" user="" /></noinclude>{body}<noinclude></noinclude>'


def _column(column: Column, footnotes: deque[Footnote]) -> str:
    text = ""
    for run in column.runs:
        cells = ((column.start + cell.offset, cell.text) for cell in run.cells)
        text += _referenced(cells, footnotes, note=run.is_note)
    return _line(text + _references(footnotes, column.start + len(column.source)))


def _line(text: str) -> str:
    """A line in which nothing at its start is markup."""
    return _LINE_MARKUP.sub(lambda sign: "&#32;" if sign[0] == " " else f"<nowiki>{sign[0]}</nowiki>", text)


def running_page(edition: Transcription, apparatus: Iterable[Footnote] = ()) -> str:
    """The wikitext of a text without pages, with the footnotes that it has itself, in the text or as an `apparatus`
    outside it."""
    title = edition.title or edition.path.stem
    lines = [f"{{{{header|title={_safe(title)}}}}}"]
    anchored = (note for note in (*edition.footnotes, *apparatus) if note.anchor is not None)
    footnotes = deque(sorted(anchored, key=_anchor))
    for block in edition.blocks:
        text = ""
        for stretch in block.stretches:
            characters = enumerate(stretch.source, stretch.start)
            text += _referenced(characters, footnotes, note=stretch.layer in NOTES)
        text += _references(footnotes, block.end)
        level = "=" * min(max(block.level, 2), 6)
        lines.append(f"{level} {text.strip()} {level}" if block.kind is BlockKind.HEADING else _line(text))
    return "\n\n".join(lines) + "\n"


def _anchor(footnote: Footnote) -> int:
    return footnote.anchor or 0


def _referenced(characters: Iterable[tuple[int, str]], footnotes: deque[Footnote], *, note: bool) -> str:
    """The wikitext of a stretch of text, its characters with their code points, and of the footnotes in it."""
    text = words = ""
    for start, character in characters:
        if references := _references(footnotes, start):
            text += _noted(words, note=note) + references
            words = ""
        words += character
    return text + _noted(words, note=note)


def _references(footnotes: deque[Footnote], end: int) -> str:
    """The wikitext of the footnotes up to a code point, which are then done."""
    text = ""
    while footnotes and _anchor(footnotes[0]) <= end:
        text += f"<ref>{_safe(footnotes.popleft().text)}</ref>"
    return text


def _noted(text: str, *, note: bool) -> str:
    """The wikitext of a stretch of text, in the template of notes if it is one."""
    return f"{{{{*|{_safe(text)}}}}}" if note and text else _safe(text)


def _safe(text: str) -> str:
    """Text in which nothing is markup; an entity of a character without code point is the template SKchar again."""
    text = re.sub(r"\{\{|\}\}|\[\[|\]\]|'{2,}|[<|]", lambda markup: f"<nowiki>{markup[0]}</nowiki>", text)
    return _ENTITY.sub(r"{{SKchar\1|\2}}", text)


def _write(material: Material, folder: Path) -> list[Path]:
    edition = material.corrected.edition
    corrected, apparatus = Decoded(material.corrected.text, "utf-8", False), material.corrected.apparatus()
    if not edition.paged:
        text = running_page(parse_transcription(corrected, edition.path, edition.format), apparatus)
        return [write_file(folder / f"{material.stem}.wiki", text.encode())]
    written, footnotes = [], deque(sorted(apparatus, key=_anchor))
    for page in parse_transcription(corrected, edition.path).pages:
        level = LEVELS[material.states.get(page.id, PageState.NOT_PROOFREAD)]
        path = folder / "wikisource" / f"{safe_name(page.id)}.wiki"
        written.append(write_file(path, proofread_page(page.columns, level, footnotes).encode()))
    return written


FORM = ExportForm("wikisource", _write, takes_pages=True)
