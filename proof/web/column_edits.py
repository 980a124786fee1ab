"""Editing a column of a page as a whole: the typed text becomes corrections of single places. A column can also be
added, deleted, split, or joined with the next one.

The markup of the text cannot be changed that way: markup that the column does not have is refused, as in any reading.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from flask import Response
from pydantic import BaseModel, Field
from rapidfuzz.distance import Levenshtein

from proof.locale.marking import _
from proof.model.flags import LINE_BREAK, Kind
from proof.store.column_changes import ColumnChange
from proof.store.decision_records import ConflictError, Decision, DecisionRequest, RefusedDecisionError, Verdict
from proof.store.lookup import NoPlaceError
from proof.store.manual_corrections import ManualCorrection
from proof.store.queue_records import QueuedFlag
from proof.text.column import parse_column
from proof.text.edit import Edit, edited
from proof.web import answers, schemas
from proof.web.api import PAGES, answer, api_blueprint
from proof.web.people import person
from proof.web.project import project

column_edits = api_blueprint("column edits", PAGES)


class ColumnPath(schemas.PagePath):
    line: int = Field(ge=1, le=2**31 - 1, description="The number of the column on the page, from 1")


class ColumnBody(schemas.StrictModel):
    """The new text of a column, or a change of the column as a whole. All corrections are one act."""

    change: ColumnChange | None = Field(
        None,
        description="`add before` and `add after` add a column with `text`, `delete` deletes the column, `split` "
        "splits it at `at`, `join` joins it with the next one. If left out, the column is edited to read `text`.",
    )
    at: int = Field(
        0,
        ge=0,
        le=2**31 - 1,
        description="For `split`: the code point of the corrected column that begins the new column",
    )
    seen: schemas.SeenText = Field(
        description="The corrected column as the client saw it; the request is refused with 404 if it has changed"
    )
    text: schemas.SeenText = Field("", description="The new text")
    confirmed: bool = schemas.CONFIRMED
    authority: str = schemas.AUTHORITY
    note: str = schemas.NOTE
    key: str = Field(pattern=r"^[A-Za-z0-9_.:-]{8,56}$", description=schemas.KEY_DESCRIPTION)


class ColumnOutcomeOut(BaseModel):
    """The outcome of editing a column."""

    corrected: int = Field(description="The number of corrected places")
    conflicts: list[Decision] = Field(
        description="For each place that others have decided meanwhile and that was left as it is: their last decision"
    )


@column_edits.post(
    "/works/<string:work>/pages/<int:page>/columns/<int:line>",
    responses={200: ColumnOutcomeOut, 428: answers.UnconfirmedReadingOut},
)
def edit_column(path: ColumnPath, body: ColumnBody) -> Response:
    """Edit, add, delete, split or join a column.

    An edited text becomes one correction for each place where it differs. All of them are one act."""
    store = project().store
    place, result = store.queue.page(path.work, path.page)
    column = store.queue.columns(path.work, [path.page]).get((path.page, path.line))
    unshown = column.checked if column else None
    source = next((shown.source for shown in result.columns if shown.number == path.line), unshown)
    edits = column.edits if column else ()
    if source is None or edited(source, edits) != body.seen:
        message = _("%(page)s: column %(column)s no longer reads so; load the page anew")
        raise NoPlaceError(message, page=place.page, column=path.line)
    if body.change is not None:
        store.manual_corrections.correct(_column_change(path, body, body.change, source, edits))
        return answer(ColumnOutcomeOut(corrected=1, conflicts=[]))
    decided_flags = {
        (queued.flag.offset, queued.flag.length): queued
        for queued in store.queue.of_column(path.work, path.page, path.line)
        if queued.version
    }
    corrections, decisions = [], []
    for index, correction in enumerate(corrections_of(source, edits, body.text)):
        key = f"{body.key}-{index}"
        queued = decided_flags.get((correction.offset, correction.length)) if correction.edit else None
        if queued is None:
            corrections.append(_correction(path, body, source, correction, key))
        else:
            decisions.append(_decision(path, body, queued, correction.reading, key))
    outcomes: list[Decision | ConflictError] = [
        *(store.manual_corrections.correct_glyphs(corrections) if corrections else ()),
        *(store.decisions.decide_all(decisions) if decisions else ()),
    ]
    conflicts = [outcome for outcome in outcomes if isinstance(outcome, ConflictError)]
    last_decisions = [last for conflict in conflicts for last in conflict.decisions[-1:]]
    return answer(ColumnOutcomeOut(corrected=len(outcomes) - len(conflicts), conflicts=last_decisions))


def _column_change(
    path: ColumnPath, body: ColumnBody, change: ColumnChange, source: str, edits: Sequence[Edit]
) -> ManualCorrection:
    """The correction that adds, deletes, splits or joins a column. Raises RefusedDecisionError for a split within an
    earlier correction."""
    checked_offsets: dict[int, int] = {}  # offsets in the column as it was checked, by offset in the present column
    present_offset = 0
    for unit in (*_units(source, edits), _Unit((), len(source), 0)):
        checked_offsets.setdefault(present_offset, unit.offset)
        present_offset += len("".join(unit.cells))
    if change is ColumnChange.SPLIT and body.at not in checked_offsets:
        raise RefusedDecisionError(_("a column is split between two of its characters"))
    correction = PlaceCorrection(checked_offsets.get(body.at, 0), 0, body.text)
    return replace(_correction(path, body, source, correction, body.key), change=change)


def _correction(
    path: ColumnPath, body: ColumnBody, source: str, correction: PlaceCorrection, key: str
) -> ManualCorrection:
    return ManualCorrection(
        work=path.work,
        page=path.page,
        line=path.line,
        offset=correction.offset,
        length=correction.length,
        reading=correction.reading,
        person=person(),
        key=key,
        note=body.note,
        verdict=Verdict.TYPED if correction.reading else Verdict.DELETE,
        batch=body.key,
        transcribed=source[correction.offset : correction.offset + correction.length],
        authority=body.authority,
        confirmed=body.confirmed,
    )


def _decision(path: ColumnPath, body: ColumnBody, queued: QueuedFlag, reading: str, key: str) -> DecisionRequest:
    """A new decision on a flag: the text is kept, deleted, or replaced by the typed reading."""
    is_kept = reading == queued.flag.transcribed
    if queued.flag.kind is Kind.LAYOUT and LINE_BREAK in reading:  # the place of a layout flag includes the line break
        reading = reading.strip(LINE_BREAK)
        if queued.flag.suggested == LINE_BREAK:
            raise RefusedDecisionError(_("something else is decided of this place: take that back first"))
    if is_kept:
        verdict, reading = Verdict.KEEP, ""
    else:
        verdict = Verdict.TYPED if reading else Verdict.DELETE
    return DecisionRequest(
        path.work,
        queued.number,
        verdict,
        queued.version,
        person(),
        key,
        reading=reading,
        note=body.note,
        batch=body.key,
        authority=body.authority,
        confirmed=body.confirmed,
    )


@dataclass(frozen=True, slots=True)
class _Unit:
    """A part of a column that is corrected as one. `cells` are those of its present text, which replaces `length` code
    points from `offset` of the column as it was checked; `edit` is its earlier correction, if any."""

    cells: tuple[str, ...]
    offset: int
    length: int
    edit: Edit | None = None


@dataclass(frozen=True, slots=True)
class PlaceCorrection:
    """`reading` (empty: nothing) replaces `length` code points from `offset` of a column as it was checked. `edit` is
    the earlier correction there, if any."""

    offset: int
    length: int
    reading: str
    edit: Edit | None = None


def corrections_of(source: str, edits: Sequence[Edit], new_text: str) -> list[PlaceCorrection]:
    """The corrections, one per character, that turn a column into `new_text`. The column was checked as `source` and
    has the corrections `edits`; an earlier correction is replaced as a whole."""
    units = list(_units(source, edits))
    cells = [cell for unit in units for cell in unit.cells]
    unit_of_cell = [index for index, unit in enumerate(units) for _cell in unit.cells]
    new_cells = _cells(new_text)
    readings = [""] * len(units)
    insertions: list[PlaceCorrection] = []
    for step in Levenshtein.opcodes(cells, new_cells):
        new = new_cells[step.dest_start : step.dest_end]
        if step.tag != "insert":
            for index in range(step.src_start, step.src_end):
                readings[unit_of_cell[index]] += new[index - step.src_start] if new else ""
            continue
        before = unit_of_cell[step.src_start - 1] if step.src_start else -1
        after = unit_of_cell[step.src_start] if step.src_start < len(cells) else len(units)
        unit_of_insertion = _unit_of_insertion(units, before, after)
        if unit_of_insertion is not None:
            readings[unit_of_insertion] += "".join(new)
        else:
            offset = units[after].offset if after < len(units) else len(source)
            insertions.append(PlaceCorrection(offset, 0, "".join(new)))
    changed = [
        PlaceCorrection(unit.offset, unit.length, reading, unit.edit)
        for unit, reading in zip(units, readings, strict=True)
        if "".join(unit.cells) != reading
    ]
    return sorted([*insertions, *changed], key=lambda place: (place.offset, place.length))


def _unit_of_insertion(units: Sequence[_Unit], before: int, after: int) -> int | None:
    """The index of the unit that an insertion between the cells of units `before` and `after` belongs to: that unit if
    both are the same, else an earlier insertion or deletion between them; None if there is none."""
    if before == after:
        return before
    for index in range(max(before, 0), min(after, len(units) - 1) + 1):
        unit = units[index]
        if unit.edit and not (unit.length and unit.cells):
            return index
    return None


def _units(source: str, edits: Sequence[Edit]) -> Iterator[_Unit]:
    """The units of a column: each cell, and each earlier correction as a whole."""
    offset = 0
    for edit in (*sorted(edits, key=attrgetter("place")), None):
        end = edit.start if edit else len(source)
        for cell in _cells(source[offset:end]):
            yield _Unit((cell,), offset, len(cell))
            offset += len(cell)
        if edit:
            yield _Unit(tuple(_cells(edit.replacement)), edit.start, edit.length, edit)
            offset = edit.end


def _cells(text: str) -> list[str]:
    """A piece of source text divided into cells; each code point of markup is a cell."""
    cells: list[str] = []
    end = 0
    for cell in parse_column(text).cells:
        cells += text[end : cell.offset]  # markup
        end = cell.offset + cell.length
        cells.append(text[cell.offset : end])
    return [*cells, *text[end:]]
