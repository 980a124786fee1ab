"""Editing a column of a page as a whole: the typed text becomes corrections of single places; a column can also be
added, deleted, split, or joined with the next one.

Markup, indents and marks of the text cannot be changed that way: markup that the column does not have is refused as in
any reading.
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
from proof.store.typed_text import LONGEST_NOTE
from proof.text.column import parse_column
from proof.text.edit import Edit, edited
from proof.web import answers, schemas
from proof.web.api import answer, api_blueprint
from proof.web.people import person
from proof.web.project import project

column_edits = api_blueprint("column edits", "pages")


class ColumnPath(schemas.PagePath):
    line: int = Field(ge=1, le=2**31 - 1)


class ColumnBody(schemas.Closed):
    """The new text of a column, or of a column that is added beside it. All corrections are one act."""

    change: ColumnChange | None = Field(None, description="What becomes of the column as a whole; else it is edited")
    at: int = Field(0, ge=0, le=2**31 - 1, description="Before which code point of the column as it stands it is split")
    seen: schemas.Seen = Field(description="The column as it stood; 404 where it reads otherwise now")
    text: schemas.Seen = ""
    confirmed: bool = schemas.CONFIRMED
    authority: str = schemas.AUTHORITY
    note: str = Field("", max_length=LONGEST_NOTE)
    key: str = Field(
        pattern=r"^[A-Za-z0-9_.:-]{8,56}$",
        description="Of this request: sent again with it, the request has no further effect",
    )


class ColumnOutcome(BaseModel):
    """The number of corrected places, and the last decision of others at each of the other places."""

    corrected: int
    conflicts: list[answers.DecisionOut]


@column_edits.post(
    "/works/<string:work>/pages/<int:page>/columns/<int:line>",
    responses={200: ColumnOutcome, 428: answers.UnconfirmedOut},
    summary="Edit a column as a whole: what differs is corrected place by place, in one act",
)
def edit(path: ColumnPath, body: ColumnBody) -> Response:
    store = project().store
    place, result = store.queue.page(path.work, path.page)
    source = next((column.source for column in result.columns if column.number == path.line), None)
    column = store.queue.columns(path.work, [path.page]).get((path.page, path.line))
    edits = column.edits if column else ()
    if source is None or edited(source, edits) != body.seen:
        message = _("%(page)s: column %(column)s no longer reads so; load the page anew")
        raise NoPlaceError(message, page=place.page, column=path.line)
    if body.change is not None:
        store.manual_corrections.correct(_change(path, body, body.change, source, edits))
        return answer(ColumnOutcome(corrected=1, conflicts=[]))
    decided = {
        (queued.flag.offset, queued.flag.length): queued
        for queued in store.queue.on_page(path.work, place.position)
        if queued.version and queued.flag.line == path.line
    }
    corrections, decisions = [], []
    for n, correction in enumerate(corrections_of(source, edits, body.text)):
        queued = decided.get((correction.offset, correction.length)) if correction.edit else None
        if queued is None:
            corrections.append(_correction(path, body, source, correction, f"{body.key}-{n}"))
        else:
            decisions.append(_decision(path, body, queued, correction.reading, f"{body.key}-{n}"))
    outcomes: list[Decision | ConflictError] = [
        *(store.manual_corrections.correct_glyphs(corrections) if corrections else ()),
        *(store.decisions.decide_all(decisions) if decisions else ()),
    ]
    conflicts = [outcome for outcome in outcomes if isinstance(outcome, ConflictError)]
    last_decisions = [answers.DecisionOut(last) for conflict in conflicts for last in conflict.decisions[-1:]]
    return answer(ColumnOutcome(corrected=len(outcomes) - len(conflicts), conflicts=last_decisions))


def _change(
    path: ColumnPath, body: ColumnBody, change: ColumnChange, source: str, edits: Sequence[Edit]
) -> ManualCorrection:
    """The correction that adds, deletes, splits or joins a column. Raises RefusedDecisionError for a split within a
    place that was decided as one."""
    offsets: dict[int, int] = {}  # those in the column as it was checked, by those in the column as it stands
    reached = 0
    for unit in (*_units(source, edits), _Unit((), len(source), 0)):
        offsets.setdefault(reached, unit.offset)
        reached += len("".join(unit.now))
    if change is ColumnChange.SPLIT and body.at not in offsets:
        raise RefusedDecisionError(_("a column is split between two of its characters"))
    correction = PlaceCorrection(offsets.get(body.at, 0), 0, body.text)
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
    keeps = reading == queued.flag.transcribed
    if queued.flag.kind is Kind.LAYOUT and LINE_BREAK in reading:  # the place of a layout flag includes the line break
        reading = reading.strip(LINE_BREAK)
        if queued.flag.suggested == LINE_BREAK:
            raise RefusedDecisionError(_("something else is decided of this place: take that back first"))
    verdict = Verdict.KEEP if keeps else Verdict.TYPED if reading else Verdict.DELETE
    return DecisionRequest(
        path.work,
        queued.number,
        verdict,
        queued.version,
        person(),
        key,
        reading="" if verdict is Verdict.KEEP else reading,
        note=body.note,
        batch=body.key,
        authority=body.authority,
        confirmed=body.confirmed,
    )


@dataclass(frozen=True, slots=True)
class _Unit:
    """A part of a column that is corrected as one. `now` are the cells of its present text, which stands for `length`
    code points from `offset` of the column as it was checked; `edit` is its earlier correction, if any."""

    now: tuple[str, ...]
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


def corrections_of(source: str, edits: Sequence[Edit], wanted: str) -> list[PlaceCorrection]:
    """The corrections, one per character, that turn a column into `wanted`. The column was checked as `source` and has
    the corrections `edits`; an earlier correction is replaced as a whole."""
    units = list(_units(source, edits))
    cells = [(cell, n) for n, unit in enumerate(units) for cell in unit.now]
    typed = _cells(wanted)
    readings = [""] * len(units)
    inserted: list[PlaceCorrection] = []
    for step in Levenshtein.opcodes([cell for cell, _unit in cells], typed):
        new = typed[step.dest_start : step.dest_end]
        if step.tag == "insert":
            left = cells[step.src_start - 1][1] if step.src_start else -1
            right = cells[step.src_start][1] if step.src_start < len(cells) else len(units)
            unit_of_insertion = _decided_between(units, left, right)
            if unit_of_insertion is not None:
                readings[unit_of_insertion] += "".join(new)
            else:
                offset = units[right].offset if right < len(units) else len(source)
                inserted.append(PlaceCorrection(offset, 0, "".join(new)))
        else:
            for at in range(step.src_start, step.src_end):
                readings[cells[at][1]] += new[at - step.src_start] if new else ""
    changed = [
        PlaceCorrection(unit.offset, unit.length, reading, unit.edit)
        for unit, reading in zip(units, readings, strict=True)
        if "".join(unit.now) != reading
    ]
    return sorted([*inserted, *changed], key=lambda place: (place.offset, place.length))


def _decided_between(units: Sequence[_Unit], left: int, right: int) -> int | None:
    """The unit that an insertion between the cells of units `left` and `right` belongs to: that unit if both are the
    same, or an earlier insertion or deletion between them; None if there is none."""
    if left == right:
        return left
    near = [n for n in range(max(left, 0), min(right, len(units) - 1) + 1) if units[n].edit]
    return next((n for n in near if not units[n].length or not units[n].now), None)


def _units(source: str, edits: Sequence[Edit]) -> Iterator[_Unit]:
    """The units of a column: each cell, and each earlier correction as a whole."""
    reached = 0
    for edit in (*sorted(edits, key=attrgetter("place")), None):
        end = edit.start if edit else len(source)
        at = reached
        for cell in _cells(source[reached:end]):
            yield _Unit((cell,), at, len(cell))
            at += len(cell)
        if edit:
            yield _Unit(tuple(_cells(edit.replacement)), edit.start, edit.length, edit)
            reached = edit.end


def _cells(text: str) -> list[str]:
    """A piece of source text divided into cells; each code point of markup is one by itself."""
    cells: list[str] = []
    reached = 0
    for cell in parse_column(text).cells:
        cells += (*text[reached : cell.offset], text[cell.offset : cell.offset + cell.length])
        reached = cell.offset + cell.length
    return [*cells, *text[reached:]]
