"""Remarks about the pages of a transcription as a whole: oddities that a person should look at."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from proof.model.refs import Folio, are_passages
from proof.text.model import Page
from proof.text.remarks import RemarkCode, Remarks

MAX_USUAL_COLUMNS = 40
"""Maximum number of columns of a half-folio; with more, the mark of the next page was probably lost."""

LINES_PER_BARE_LINE = 20
"""Lines without a pilcrow get remarks if they are at most one in so many. Some texts divide long lines without one."""


def add_page_remarks(remarks: Remarks, pages: Sequence[Page], text: str, *, pilcrows: bool) -> None:
    """Add remarks on pages without columns or with too many, on pages out of sequence, and, if columns end with
    `pilcrows`, on the few that do not. `text` is that of the whole file."""
    are_half_folios = not are_passages([page.folio for page in pages])
    for page in pages:
        number = len(page.columns)
        if not number:
            remarks.add(page.file_line, RemarkCode.NO_COLUMN, page=page.id)
        elif are_half_folios and number > MAX_USUAL_COLUMNS:
            remarks.add(page.file_line, RemarkCode.MANY_COLUMNS, page=page.id, number=number)
    _remark_on_sequence(remarks, pages, step=1 if are_half_folios else 2)
    if pilcrows:
        _remark_on_missing_pilcrows(remarks, pages, text)


def _remark_on_sequence(remarks: Remarks, pages: Sequence[Page], step: int) -> None:
    """Add remarks on pages of a juan that are out of sequence; each is `step` half-folios after the one before."""
    for page, following in pairwise(pages):
        if page.folio is None or following.folio is None or _begins_juan(page, following):
            continue
        line, distance = following.file_line, page.folio.distance(following.folio)
        if distance > step:
            missing = distance // step - 1
            remarks.add(line, RemarkCode.PAGES_MISSING, page=following.id, before=page.id, number=missing)
        elif distance <= 0:
            remarks.add(line, RemarkCode.PAGES_BACK, page=following.id, before=page.id)


def _begins_juan(page: Page, following: Page) -> bool:
    if page.folio is None or following.folio is None or following.folio == Folio(1, "a"):
        return True
    is_renamed = following.ref is None and following.id.rpartition("-")[0] != page.id.rpartition("-")[0]
    return is_renamed or (following.juan != page.juan and following.folio <= page.folio)


def _remark_on_missing_pilcrows(remarks: Remarks, pages: Sequence[Page], text: str) -> None:
    columns = [column for page in pages for column in page.columns]
    bare_columns = [column for column in columns if not text.startswith("¶", column.start + len(column.source))]
    if len(bare_columns) * LINES_PER_BARE_LINE <= len(columns):
        for column in bare_columns:
            remarks.add(column.file_line, RemarkCode.NO_PILCROW)
