"""Plain text with lines that name pages (`[12a]`, `第十二頁`, `p. 12`, `===== 12 =====`, the name of an image file), or
with form feeds. A page mark is alone on its line, and the text has at least two of one kind. Every other line that is
not empty is a column."""

from __future__ import annotations

import re
from pathlib import Path

from proof.text.extraction import COLUMN_END, Draft, Extraction
from proof.text.formats import TextFormat
from proof.text.formats.columns import UNSAFE, page_mark
from proof.text.formats.text_file import TextFile
from proof.text.model import HAN

_SPACE = r"[ \u3000]*"
_NUMBER = r"(?:第 *|[pP]\.? *)?(?P<page>[0-9]+[ab]?)(?: *[頁页葉叶])?"
_CHINESE = r"第 *(?P<page>[0-9]+[ab]?|[〇零一二三四五六七八九十百千]+) *[頁页葉叶](?: *[上下左右])?"
_IMAGE = r"[\[<【]?(?P<page>[\w.-]+)\.(?:png|jpe?g|tiff?|jp2|webp)[\]>】]?"
_BRACKETED = rf"[\[【〔(（{{]{_NUMBER}[\]】〕)）}}]"
_RULED = rf"[-=—]{{2,}} *{_NUMBER} *[-=—]*"
_PAGE_LINES = tuple(
    re.compile(_SPACE + kind + _SPACE, re.IGNORECASE)
    for kind in (_BRACKETED, _RULED, r"p\.? *(?P<page>[0-9]+[ab]?)", _CHINESE, _IMAGE)
)
"""Patterns of the kinds of page lines."""

_FORM_FEED = "\f"
_LINE = re.compile(r"(?P<text>[^\n\f]*?)(?:(?P<ending>\r?\n(?:[^\S\n\f]*\n)*)|\r?\f|\r?\Z)")
"""A line, whose ending has the empty lines after it."""


def _page_lines_in(text: str) -> re.Pattern[str] | None:
    """The pattern of the most frequent kind of page lines in a text; None if no kind has two lines."""
    lines = [line.rstrip("\r") for line in re.split("[\n\f]", text)]
    counts = {kind: sum(kind.fullmatch(line) is not None for line in lines) for kind in _PAGE_LINES}
    best = max(counts, key=lambda kind: counts[kind])
    return best if counts[best] >= 2 else None


def _recognises(data: bytes, path: Path) -> bool:
    if data[:1] in b"<{#" or b"<pb:" in data or b"<small>" in data:
        return False
    text = data.decode("utf-8-sig", "replace")
    return re.search(HAN, text) is not None and (_FORM_FEED in text.strip() or _page_lines_in(text) is not None)


def _extract(data: bytes, path: Path) -> Extraction:
    file = TextFile(data, path)
    page_line = _page_lines_in(file.text)
    newline = "\r\n" if "\r\n" in file.text else "\n"
    draft = Draft(data, lambda text: text.replace(COLUMN_END, newline), UNSAFE)
    page_number = 1
    if page_line is None:
        page_mark(draft, f"{path.stem}_1")
    for line in _LINE.finditer(file.text):
        mark = page_line.fullmatch(line["text"]) if page_line else None
        if mark is not None:
            page_mark(draft, mark["page"])
        elif line["text"].strip():
            if not draft.length:
                page_mark(draft, f"{path.stem}_0")
            draft.add(file.run(*line.span("text")))
            if line["ending"]:
                draft.end_column(file.site(*line.span("ending")))
            else:
                draft.mark(COLUMN_END)
        if line[0].endswith(_FORM_FEED) and page_line is None:
            page_number += 1
            page_mark(draft, f"{path.stem}_{page_number}")
    return draft.done()


FORMAT = TextFormat("page-lines", frozenset({".txt"}), _recognises, _extract)
