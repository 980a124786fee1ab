"""Adding, deleting, splitting and joining columns of the transcription. Each such change is a flag of its own.

An export then adds or deletes a line with its ending, or only a line ending: the places of the characters in other
columns do not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.model.flags import LINE_BREAK, Evidence, Flag, Kind, flag_id
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, box_at
from proof.store.decision_records import RefusedDecisionError, State
from proof.store.models import ColumnRow, FlagRow, PageRow, TextVersionRow
from proof.store.texts import columns_of_pages, content_of, pages_with_columns_of
from proof.store.typed_text import LONGEST_COLUMN, check_meant, check_reading
from proof.text.column import faults_of, parse_column
from proof.text.contexts import context_of
from proof.text.lines import LINE_ENDING, lines
from proof.text.pages import LineKind

EDGE_RATIO = 0.1
"""Width of the box that marks the edge of a column on the image, relative to the width of the column."""


class ColumnChange(StrEnum):
    """A change of a column as a whole. `add before` and `add after` add a new column beside it."""

    ADD_BEFORE = "add before"
    ADD_AFTER = "add after"
    DELETE = "delete"
    SPLIT = "split"
    JOIN = "join"


TORN = _("a note or a mark of the text would be torn apart: change it in the text itself")

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
    """Raise RefusedDecisionError if `text` cannot be the added column (or is given for another change), and
    UnconfirmedReadingError if it looks like a slip and is not confirmed."""
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
    RefusedDecisionError if the change is impossible, would break notes or marks, or overlaps an earlier decision."""
    source = column.source
    columns = columns_of_pages(session, [page])[page.id]
    ending = _ending(session, page, column)
    _check_possible(page, column, change, offset, ending)
    _check_structure(columns, column, change, offset, text)
    _check_decided(session, page, column, change, offset)
    at, transcribed, suggested = {
        ColumnChange.ADD_BEFORE: (0, "", text),
        ColumnChange.ADD_AFTER: (len(source), "", text),
        ColumnChange.DELETE: (0, source, ""),
        ColumnChange.SPLIT: (offset, "", LINE_BREAK),
        ColumnChange.JOIN: (len(source), LINE_BREAK, ""),
    }[change]
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
        bbox=_box_of_change(column, change, box_at(characters, column.number, offset, 1)),
        evidence=Evidence(reason),
        context=context_of(source, at, len(transcribed) if change is ColumnChange.DELETE else 0),
    )
    return replace(flag, id="hand-" + flag_id(flag.page, flag.line, flag.kind, f"{reason}{flag.context}{at}", 0))


def _check_possible(page: PageRow, column: ColumnRow, change: ColumnChange, offset: int, ending: str) -> None:
    """Raise RefusedDecisionError for a change that this column does not allow. `ending` is its line ending."""
    source = column.source
    if change is ColumnChange.DELETE and not source:
        raise RefusedDecisionError(_("nothing stands there that could be deleted"))
    if change is ColumnChange.ADD_AFTER and not source:
        raise RefusedDecisionError(_("this column is empty: type the text into it, or add one before the next"))
    if change is ColumnChange.SPLIT and not 0 < offset < len(source):
        raise RefusedDecisionError(_("a column is split between two of its characters"))
    if change is ColumnChange.JOIN:
        span, following = page.spans[column.number], page.spans.get(column.number + 1)
        is_adjacent = following is not None and following.start == span.end + len(ending)
        if not ending or not is_adjacent:
            raise RefusedDecisionError(_("the column that follows is not on this page, or something stands between"))


def _ending(session: Session, page: PageRow, column: ColumnRow) -> str:
    """The line ending of a column in its file, '' at the end of the file. Raises RefusedDecisionError if the place of
    the column in the file is unknown."""
    span = page.spans.get(column.number)
    if span is None or page.version_id is None:
        raise RefusedDecisionError(_("where this column stands in its file is not known: check the page again"))
    content = content_of(session.get_one(TextVersionRow, page.version_id))
    end = LINE_ENDING.match(content, span.end)
    return end[0] if end is not None else ""


def _check_structure(
    columns: Mapping[int, str], column: ColumnRow, change: ColumnChange, offset: int, text: str
) -> None:
    """Raise RefusedDecisionError if a split or a join would change the cells of the text, or if the change would leave
    a line that is not read as a column. That no note is torn is checked when the change is made."""
    source, changed = column.source, [text] if text else []
    if change in (ColumnChange.SPLIT, ColumnChange.JOIN):
        parts = [source[:offset], source[offset:]]
        if change is ColumnChange.JOIN:
            parts = [source, columns.get(column.number + 1, "")]
        whole = ["".join(parts)]
        note_open = False
        for number in sorted(number for number in columns if number < column.number):
            _problems, note_open = faults_of(columns[number], note_open)
        is_torn = change is ColumnChange.SPLIT and _is_in_half_rows(source, offset)
        if is_torn or _cells(parts, note_open) != _cells(whole, note_open):
            raise RefusedDecisionError(TORN)
        changed = parts if change is ColumnChange.SPLIT else whole
    if not all(_is_column(line) for line in changed):
        raise RefusedDecisionError(_("such a line would be no column of the text"))


def _cells(sources: Iterable[str], note_open: bool) -> list[tuple[str, str]]:
    """The cells of consecutive columns, as row and text, in a fixed order; `note_open`: a note is open at their
    beginning."""
    cells: list[tuple[str, str]] = []
    for source in sources:
        parsed = parse_column(source, note_open)
        cells += [(cell.row.value, cell.text) for run in parsed.runs for cell in run.cells]
        note_open = parsed.left_open
    return sorted(cells)


def _is_in_half_rows(source: str, offset: int) -> bool:
    """Whether an offset is within a note in two half-rows, where a split would cut both rows."""
    notes = [run.cells for run in parse_column(source).runs if run.right and run.left]
    return any(cells[0].offset <= offset <= cells[-1].offset + cells[-1].length for cells in notes)


def _is_column(source: str) -> bool:
    """Whether a line with this source, on a page, is read as exactly one column."""
    kinds = [line.kind for line in lines(f"<pb:X_Y_001-1a>¶\n{source}¶\n")]
    return kinds.count(LineKind.COLUMN) == 1 and not set(kinds) - {LineKind.MARK, LineKind.COLUMN, LineKind.EMPTY}


def _check_decided(session: Session, page: PageRow, column: ColumnRow, change: ColumnChange, offset: int) -> None:
    """Raise RefusedDecisionError if there is a decision on the same characters or the same line ending."""
    pages = [each.id for each in pages_with_columns_of(session, [page])]
    query = select(FlagRow).where(FlagRow.page_id.in_(pages), FlagRow.stale.is_(False))
    decided = session.scalars(query.where(FlagRow.state == State.CORRECTED.value)).all()
    in_column = [row for row in decided if row.line == column.number]
    column_changes = [row for row in decided if row.kind == Kind.LAYOUT.value]
    # a change at offset 0 adds a column before its line or deletes it; a later one adds one after it, splits or joins
    added_before = [row for row in column_changes if not row.offset and not row.length]
    added_after_or_joined = [row for row in column_changes if row.offset and row.suggested != LINE_BREAK]
    deleted_lines = {row.line for row in column_changes if not row.offset and row.length}

    def is_ending_decided(number: int) -> bool:
        """Whether there is a decision on the line ending between column `number` and the next."""
        is_decided_here = any(row.line == number for row in added_after_or_joined)
        return is_decided_here or any(row.line == number + 1 for row in added_before)

    if change is ColumnChange.DELETE:
        is_joined = any((row.line, row.reason) == (column.number - 1, JOINED) for row in added_after_or_joined)
        is_decided = is_joined or any(row not in added_before for row in in_column)
    elif change is ColumnChange.SPLIT:
        is_decided = any(_covers(row, offset) for row in in_column)
    elif change is ColumnChange.ADD_BEFORE:
        is_decided = is_ending_decided(column.number - 1)
    else:
        is_decided = is_ending_decided(column.number) or column.number in deleted_lines
        if change is ColumnChange.JOIN:
            is_decided = is_decided or column.number + 1 in deleted_lines
    if is_decided:
        raise RefusedDecisionError(_("something else is decided of this place: take that back first"))


def _covers(row: FlagRow, offset: int) -> bool:
    """Whether a flag covers the characters on both sides of an offset, or inserts text there."""
    end = row.offset + row.length
    return row.offset < offset < end or row.offset == offset == end


def _box_of_change(column: ColumnRow, change: ColumnChange, character: Box | None) -> Box:
    """The box on the image where a column is changed; `character` is the box of the first character after a split."""
    box = Box(column.x, column.y, column.w, column.h)
    edge = max(EDGE_RATIO * box.w, 1.0)
    if change is ColumnChange.SPLIT and character is not None:
        return Box(box.x, character.y - edge / 2, box.w, edge)
    if change is ColumnChange.ADD_BEFORE:
        return Box(box.right - edge / 2, box.y, edge, box.h)
    if change in (ColumnChange.ADD_AFTER, ColumnChange.JOIN):
        return Box(max(box.x - edge / 2, 0.0), box.y, edge, box.h)
    return box
