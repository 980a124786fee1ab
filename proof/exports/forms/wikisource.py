"""Wikisource: a file a page for the extension ProofreadPage, with the level that the page has reached; a text without
pages is one page of the main space. Notes are `{{*|…}}`.

A page is proofread (level 3) once every flag on it is decided, else not proofread (level 1); validated (4) is what a
second person makes it there.
"""

from __future__ import annotations

import re
from pathlib import Path

from proof.exports.files import Material, open_pages, safe_name, write_file
from proof.exports.forms import ExportForm
from proof.text.encoding import Decoded
from proof.text.layers import NOTES, BlockKind
from proof.text.model import Column
from proof.text.read import parse_transcription
from proof.text.transcription import Transcription

# Page levels of the ProofreadPage extension.
PROOFREAD = 3
NOT_PROOFREAD = 1

_CHARACTER = re.compile(r"&SK([23]?)-([0-9A-Z]+);")


def proofread_page(columns: tuple[Column, ...], level: int) -> str:
    """A page with its columns, as the extension keeps it."""
    body = "\n".join(_column(column) for column in columns)
    return f'<noinclude><pagequality level="{level}" user="" /></noinclude>{body}<noinclude></noinclude>'


def _column(column: Column) -> str:
    written = ""
    for run in column.runs:
        text = "".join(cell.text for cell in run.cells)
        written += f"{{{{*|{_safe(text)}}}}}" if run.note else _safe(text)
    return written


def running_page(edition: Transcription) -> str:
    """A text without pages."""
    title = edition.title or edition.path.stem
    lines = [f"{{{{header|title={_safe(title)}}}}}"]
    for block in edition.blocks:
        text = "".join(
            f"{{{{*|{_safe(part.source)}}}}}" if part.layer in NOTES else _safe(part.source) for part in block.stretches
        )
        level = "=" * min(max(block.level, 2), 6)
        lines.append(f"{level} {text.strip()} {level}" if block.kind is BlockKind.HEADING else text)
    return "\n\n".join(lines) + "\n"


def _safe(text: str) -> str:
    """Text without what would be markup; characters without code point are their template again."""
    text = re.sub(r"\{\{|\}\}|\[\[|\]\]|'{2,}|[<|]", lambda markup: f"<nowiki>{markup[0]}</nowiki>", text)
    return _CHARACTER.sub(r"{{SKchar\1|\2}}", text)


def _write(material: Material, folder: Path) -> list[Path]:
    edition = material.corrected.edition
    read = Decoded(material.corrected.text, "utf-8", False)
    if not edition.paged:
        text = running_page(parse_transcription(read, edition.path, edition.format))
        return [write_file(folder / f"{edition.path.stem}.wiki", text.encode())]
    checked, undecided = {page.page for page in material.pages}, open_pages(material)
    written = []
    for page in parse_transcription(read, edition.path).pages:
        level = PROOFREAD if page.id in checked - undecided else NOT_PROOFREAD
        path = folder / "wikisource" / f"{safe_name(page.id)}.wiki"
        written.append(write_file(path, proofread_page(page.columns, level).encode()))
    return written


FORM = ExportForm("wikisource", _write, takes_pages=True)
