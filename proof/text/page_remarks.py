"""Remarks about the pages of a transcription as a whole: oddities that a person should look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from proof.model.refs import Folio
from proof.text.model import Page
from proof.text.remarks import Remark, RemarkCode

MAX_USUAL_COLUMNS = 40
"""Maximum number of columns of a half-folio; with more, the mark of the next page was probably lost."""

MIN_PASSAGES = 3
"""Minimum number of pages that are taken to be passages, not half-folios, if all are of side a."""

LINES_PER_BARE_LINE = 20
"""Lines without a pilcrow get remarks if they are at most one in so many. Some texts divide long lines without one."""


def page_remarks(path: Path, pages: Sequence[Page], text: str, *, pilcrows: bool) -> list[Remark]:
    """Remarks on pages without columns or with too many, on pages out of sequence, and, if columns end with `pilcrows`,
    on the few that do not. `text` is that of the whole file."""
    remarks: list[Remark] = []
    are_half_folios = _are_half_folios(pages)
    for page in pages:
        number = len(page.columns)
        if not number:
            remarks.append(Remark.of(path, page.file_line, RemarkCode.NO_COLUMN, page=page.id))
        elif are_half_folios and number > MAX_USUAL_COLUMNS:
            remarks.append(Remark.of(path, page.file_line, RemarkCode.MANY_COLUMNS, page=page.id, number=number))
    remarks += _out_of_sequence(path, pages)
    return remarks + (_without_pilcrow(path, pages, text) if pilcrows else [])


def _are_half_folios(pages: Sequence[Page]) -> bool:
    """Whether the pages can be half-folios. Editions that are divided into passages have only `1a`, `2a`, `3a` ..."""
    return len(pages) < MIN_PASSAGES or any(page.folio is None or page.folio.side == "b" for page in pages)


def _out_of_sequence(path: Path, pages: Sequence[Page]) -> Iterator[Remark]:
    """Remarks on pages of a juan that are out of sequence."""
    step = 1 if _are_half_folios(pages) else 2  # passages have only a side a
    for page, following in pairwise(pages):
        if page.folio is None or following.folio is None or _begins_juan(page, following):
            continue
        distance = page.folio.distance(following.folio)
        if distance > step:
            missing = distance // step - 1
            yield Remark.of(
                path, following.file_line, RemarkCode.PAGES_MISSING, page=following.id, before=page.id, number=missing
            )
        elif distance <= 0:
            yield Remark.of(path, following.file_line, RemarkCode.PAGES_BACK, page=following.id, before=page.id)


def _begins_juan(page: Page, following: Page) -> bool:
    if page.folio is None or following.folio is None or following.folio == Folio(1, "a"):
        return True
    is_renamed = following.ref is None and following.id.rpartition("-")[0] != page.id.rpartition("-")[0]
    return is_renamed or (following.juan != page.juan and following.folio <= page.folio)


def _without_pilcrow(path: Path, pages: Sequence[Page], text: str) -> list[Remark]:
    columns = [column for page in pages for column in page.columns]
    bare_columns = [column for column in columns if not text.startswith("¶", column.start + len(column.source))]
    if len(bare_columns) * LINES_PER_BARE_LINE > len(columns):
        return []
    return [Remark.of(path, column.file_line, RemarkCode.NO_PILCROW) for column in bare_columns]
