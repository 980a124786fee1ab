"""What is odd about the pages of a transcription, seen as a whole: it can be read, but deserves a look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proof.text.model import Page

MANY_COLUMNS = 40
"""More columns than any half-folio has: the page mark of a following page was probably lost."""

FEW_IN = 20
"""Lines without pilcrow are odd where they are fewer than one in so many; some texts break long lines so."""


@dataclass(frozen=True, slots=True, order=True)
class Remark:
    """A remark about a line of the file, counted from 1."""

    line: int
    message: str


def blemishes(pages: Sequence[Page], text: str, *, pilcrows: bool) -> list[Remark]:
    """Remarks on pages without columns or with too many, page marks that give no folio, and, where columns end in
    pilcrows, on the few that do not. `text` is that of the whole file."""
    remarks: list[Remark] = []
    for page in pages:
        if not page.columns:
            remarks.append(Remark(page.file_line, f"page {page.id} has no column"))
        elif len(page.columns) > MANY_COLUMNS:
            told = f"page {page.id} has {len(page.columns)} columns, more than a half-folio: is a page mark missing?"
            remarks.append(Remark(page.file_line, told))
    unread = [page for page in pages if page.folio is None]
    if unread:
        told = f"the page mark {unread[0].id} names no half-folio such as 10a; {len(unread)} marks are so"
        remarks.append(Remark(unread[0].file_line, told))
    return remarks + (_without_pilcrow(pages, text) if pilcrows else [])


def _without_pilcrow(pages: Sequence[Page], text: str) -> list[Remark]:
    columns = [column for page in pages for column in page.columns]
    bare = [c for c in columns if not text.startswith("¶", c.start + len(c.source))]
    if not bare or len(bare) * FEW_IN > len(columns):
        return []
    where = ", ".join(str(column.file_line) for column in bare[:5]) + (" ..." if len(bare) > 5 else "")
    told = f"{len(bare)} columns end without the pilcrow that the others have (lines {where}): are they columns?"
    return [Remark(bare[0].file_line, told)]
