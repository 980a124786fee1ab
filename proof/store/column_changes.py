"""Columns of the transcription that a person adds, deletes, splits or joins: each is a flag of its own about lines.

What is written is a line with its ending, or a line ending: the characters of other columns keep their places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.model.flags import LINE_BREAK, Evidence, Flag, Kind, context_of, flag_id
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, box_at
from proof.store.decision_records import RefusedDecisionError, State
from proof.store.models import ColumnRow, FlagRow, PageRow, TextVersionRow
from proof.store.texts import columns_of_pages, content_of
from proof.store.typed_text import LONGEST_COLUMN, check_meant, check_reading
from proof.text.column import parse_column
from proof.text.lines import LINE_ENDING, lines
from proof.text.pages import LineKind

EDGE = 0.1
"""Width of the place between two columns, in widths of a column."""


class ColumnChange(StrEnum):
    """What becomes of a column as a whole. `ADD_BEFORE`, `ADD_AFTER`: another column beside it."""

    ADD_BEFORE = "add before"
    ADD_AFTER = "add after"
    DELETE = "delete"
    SPLIT = "split"
    JOIN = "join"


# Reasons of the flags of column changes.
_ADDED = "column added"
DELETED = "column deleted"
_SPLIT = "column split"
JOINED = "columns joined"

_REASONS = {
    ColumnChange.ADD_BEFORE: _ADDED,
    ColumnChange.ADD_AFTER: _ADDED,
    ColumnChange.DELETE: DELETED,
    ColumnChange.SPLIT: _SPLIT,
    ColumnChange.JOIN: JOINED,
}


def check_column(change: ColumnChange, text: str, *, confirmed: bool) -> None:
    """Raises RefusedDecisionError where `text` can be no column that is added, UnconfirmedReadingError where it is
    likely to be a slip."""
    adds = change in (ColumnChange.ADD_BEFORE, ColumnChange.ADD_AFTER)
    if adds != bool(text.strip()):
        raise RefusedDecisionError(_("type the column that is to stand there"))
    check_reading(text, LONGEST_COLUMN)
    if not confirmed:
        check_meant(text)


def flag_of_change(
    session: Session,
    page: PageRow,
    column: ColumnRow,
    change: ColumnChange,
    offset: int,
    text: str,
    characters: Iterable[CheckedCharacter],
) -> Flag:
    """The flag that changes a column: `offset` is where it is split, `text` the column that is added. Raises
    RefusedDecisionError where notes, marks or what was decided before would not stand as they do."""
    source = column.source
    columns = columns_of_pages(session, [page])[page.id]
    ending = _ending(session, page, column)
    at, transcribed, suggested = {
        ColumnChange.ADD_BEFORE: (0, "", text),
        ColumnChange.ADD_AFTER: (len(source), "", text),
        ColumnChange.DELETE: (0, source, ""),
        ColumnChange.SPLIT: (offset, "", LINE_BREAK),
        ColumnChange.JOIN: (len(source), LINE_BREAK, ""),
    }[change]
    if change is ColumnChange.DELETE and not source:
        raise RefusedDecisionError(_("nothing stands there that could be deleted"))
    if change is ColumnChange.ADD_AFTER and not source:
        raise RefusedDecisionError(_("this column is empty: type the text into it, or add one before the next"))
    if change is ColumnChange.SPLIT and not 0 < offset < len(source):
        raise RefusedDecisionError(_("a column is split between two of its characters"))
    following, end = page.spans.get(column.number + 1), page.spans[column.number].end
    joined = following is not None and following.start == end + len(ending)
    if change is ColumnChange.JOIN and not (ending and joined):
        raise RefusedDecisionError(_("the column that follows is not on this page, or something stands between"))
    _check_structure(columns, column, change, offset, text)
    _check_decided(session, page, column, change, offset)
    reason = _REASONS[change]
    flag = Flag(
        page=page.page,
        ref=page.ref,
        line=column.number,
        offset=at,
        length=len(ending) if change is ColumnChange.JOIN else len(transcribed),
        kind=Kind.LAYOUT,
        transcribed=transcribed,
        suggested=suggested,
        score=0.0,
        raised=True,
        bbox=_place(column, change, box_at(characters, column.number, offset, 1)),
        evidence=Evidence(reason),
        context=context_of(source, at, len(transcribed) if change is ColumnChange.DELETE else 0),
    )
    return replace(flag, id="hand-" + flag_id(flag.page, flag.line, flag.kind, f"{reason}{flag.context}{at}", 0))


def _ending(session: Session, page: PageRow, column: ColumnRow) -> str:
    """How the line of a column ends in its file. Raises RefusedDecisionError where its place there is not known."""
    span = page.spans.get(column.number)
    if span is None or page.version_id is None:
        raise RefusedDecisionError(_("where this column stands in its file is not known: check the page again"))
    content = content_of(session.get_one(TextVersionRow, page.version_id))
    end = LINE_ENDING.match(content, span.end)
    return end[0] if end is not None else ""


def _check_structure(
    columns: Mapping[int, str], column: ColumnRow, change: ColumnChange, offset: int, text: str
) -> None:
    """Raises RefusedDecisionError where notes would begin or end elsewhere, a mark would be cut, or a line would be no
    column."""
    source, following = column.source, columns.get(column.number + 1, "")
    before, after = {
        ColumnChange.ADD_BEFORE: ([source], [text, source]),
        ColumnChange.ADD_AFTER: ([source], [source, text]),
        ColumnChange.DELETE: ([source], []),
        ColumnChange.SPLIT: ([source], [source[:offset], source[offset:]]),
        ColumnChange.JOIN: ([source, following], [source + following]),
    }[change]
    open_before = _read([columns[number] for number in sorted(columns) if number < column.number], False)[1]
    was, open_was = _read(before, open_before)
    now, open_now = _read(after, open_before)
    added = _read([text], open_before)[0] if "add" in change.value else []
    torn = change is not ColumnChange.DELETE and sorted(was + added) != sorted(now)
    torn = torn or (change is ColumnChange.SPLIT and _is_in_half_rows(source, offset))
    if torn or open_was != open_now or parse_column(text, open_before).problems:
        raise RefusedDecisionError(_("a note or a mark of the text would be torn apart: change it in the text itself"))
    if not all(_is_column(source) for source in after):
        raise RefusedDecisionError(_("such a line would be no column of the text"))


def _read(sources: Iterable[str], is_open: bool) -> tuple[list[tuple[str, str]], bool]:
    """The cells of columns with their rows, and whether a note is open behind them."""
    cells: list[tuple[str, str]] = []
    for source in sources:
        parsed = parse_column(source, is_open)
        cells += [(cell.row.value, cell.text) for run in parsed.runs for cell in run.cells]
        is_open = parsed.left_open
    return cells, is_open


def _is_in_half_rows(source: str, offset: int) -> bool:
    """Whether an offset is within a note in two half-rows, both of which a new column would go on in."""
    notes = [run.cells for run in parse_column(source).runs if run.right and run.left]
    return any(cells[0].offset <= offset <= cells[-1].offset + cells[-1].length for cells in notes)


def _is_column(source: str) -> bool:
    """Whether a line of a page that reads so is a column, and one alone."""
    kinds = [line.kind for line in lines(f"<pb:X_Y_001-1a>¶\n{source}¶\n")]
    return kinds.count(LineKind.COLUMN) == 1 and not set(kinds) - {LineKind.MARK, LineKind.COLUMN, LineKind.EMPTY}


def _check_decided(session: Session, page: PageRow, column: ColumnRow, change: ColumnChange, offset: int) -> None:
    """Raises RefusedDecisionError where something else is decided of the same characters or the same line ending."""
    decided = select(FlagRow).where(FlagRow.page_id == page.id, FlagRow.stale.is_(False))
    rows = session.scalars(decided.where(FlagRow.state == State.CORRECTED.value)).all()
    own = [row for row in rows if row.line == column.number]
    of_lines = [row for row in rows if row.kind == Kind.LAYOUT.value]
    added_before = [row for row in of_lines if not row.offset and not row.length]
    at_end = [row for row in of_lines if row.offset and row.suggested != LINE_BREAK]
    deleted = {row.line for row in of_lines if not row.offset and row.length}

    def is_ending_decided(number: int) -> bool:
        """Of the line ending between that column and the next."""
        return any(row.line == number for row in at_end) or any(row.line == number + 1 for row in added_before)

    if change is ColumnChange.DELETE:
        joined = any((row.line, row.reason) == (column.number - 1, JOINED) for row in at_end)
        taken = joined or any(row not in added_before for row in own)
    elif change is ColumnChange.SPLIT:
        taken = any(_meets(row, offset) for row in own)
    elif change is ColumnChange.ADD_BEFORE:
        taken = is_ending_decided(column.number - 1)
    else:
        taken = is_ending_decided(column.number) or column.number in deleted
        taken = taken or (change is ColumnChange.JOIN and column.number + 1 in deleted)
    if taken:
        raise RefusedDecisionError(_("something else is decided of this place: take that back first"))


def _meets(row: FlagRow, offset: int) -> bool:
    """Whether what is decided of a flag is about both sides of an offset, or is inserted there."""
    end = row.offset + row.length
    return row.offset < offset < end or row.offset == offset == end


def _place(column: ColumnRow, change: ColumnChange, character: Box | None) -> Box:
    """Where on the image a column is changed."""
    box = Box(column.x, column.y, column.w, column.h)
    edge = max(EDGE * box.w, 1.0)
    if change is ColumnChange.SPLIT and character is not None:
        return Box(box.x, character.y - edge / 2, box.w, edge)
    if change is ColumnChange.ADD_BEFORE:
        return Box(box.right - edge / 2, box.y, edge, box.h)
    if change in (ColumnChange.ADD_AFTER, ColumnChange.JOIN):
        return Box(max(box.x - edge / 2, 0.0), box.y, edge, box.h)
    return box
