"""Flags and pages for the API, with their places on the image, the text around them and the reasons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from proof.locale.notices import in_words
from proof.model.flags import Flag, Kind, is_about_moved_text
from proof.model.geometry import Box
from proof.model.result import CheckedColumn, PageResult, Status
from proof.report.reasons import what_of, why
from proof.report.upright import lean_of, upright, upright_flag
from proof.report.view import View, ordinal, view_of
from proof.store import Store
from proof.store.authorities import shows_copy
from proof.store.comments import Comment
from proof.store.decision_chains import REQUESTER
from proof.store.decision_records import State
from proof.store.decisions import may_take
from proof.store.double_readings import BlindReading
from proof.store.queue_records import ListedPage, QueuedFlag
from proof.store.work_text import TextColumn
from proof.text.column import is_character
from proof.text.edit import Edit, edited
from proof.text.variants import VariantPolicy
from proof.web.answers import (
    AlternativeOut,
    CharacterOut,
    ColumnOut,
    EditOut,
    FlagDetailOut,
    FlagOut,
    OtherPlaceOut,
    PageDetailOut,
    PageOut,
    ViewOut,
)
from proof.web.glyph_tiles import flag_tile_uri
from proof.web.images import name_of
from proof.web.language import say

ROWS_AROUND = 10
"""Characters above and below a flag that the desk shows, enough for a whole column of 21."""

COLUMNS_BESIDE = 1.06
"""Width of the strip on either side that the desk shows, in widths of the column."""

CONTEXT_CHARACTERS = 12
"""Characters of text before and after a flag."""

MAX_ALTERNATIVES = 6
"""Maximum number of listed alternative readings."""

MIN_ALTERNATIVE_PROBABILITY = 0.0005
"""Probability below which an alternative reading is not listed."""


def page_of(page: ListedPage) -> PageOut:
    """A page for lists."""
    values = {name: getattr(page, name) for name in PageOut.model_fields if name != "image"}
    return PageOut(image=page.image_sha, **values)


def flag_of(queued: QueuedFlag) -> FlagOut:
    """A flag for lists."""
    flag, moved = queued.flag, _moved_with(queued)
    return FlagOut(
        page=page_of(queued.page),
        other=_other_half(moved) if moved else None,
        what=what_of(flag, say) if flag.kind is Kind.LAYOUT else "",
        can_copy=shows_copy(flag.evidence.reason, has_image=bool(queued.page.image_sha)),
        **{name: getattr(queued, name) for name in ("number", "state", "reading", "version", "stale")},
        **{name: getattr(flag, name) for name in ("id", "length", "score", "raised", "context", "moved")},
        **_shared_fields(flag),
    )


def _shared_fields(flag: Flag) -> dict[str, Any]:
    """Fields of both FlagOut and OtherPlaceOut."""
    fields = {name: getattr(flag, name) for name in ("kind", "line", "offset", "transcribed", "suggested")}
    return fields | {"bbox": _rectangle(flag.bbox) if flag.bbox else None}


def _moved_with(queued: QueuedFlag) -> QueuedFlag | None:
    """The flag at the other place of a character that moved; None for other flags, such as a run in two parts."""
    return queued.other if queued.other and is_about_moved_text(queued.flag, queued.other.flag) else None


def _other_half(other: QueuedFlag, ordinal: int | None = None) -> OtherPlaceOut:
    return OtherPlaceOut(number=other.number, ordinal=ordinal, **_shared_fields(other.flag))


def listed(store: Store, work: str, flags: Sequence[QueuedFlag], *, detail: bool) -> Sequence[FlagOut]:
    """Flags of a work for lists, or in `detail` for the desk."""
    return details(store, work, flags) if detail else [flag_of(queued) for queued in flags]


def details(store: Store, work: str, flags: Sequence[QueuedFlag]) -> list[FlagDetailOut]:
    """Flags of a work in detail for the desk."""
    numbers = sorted({queued.page.number for queued in flags})
    results, policies = store.queue.results(numbers), store.queue.policies(numbers)
    columns = store.queue.columns(work, numbers)
    comments = store.comments.of_flags(number for queued in flags for number in _with_other_half(queued))
    compared = store.double_readings.of_flags([queued.number for queued in flags]) if REQUESTER.get().arbitrates else {}
    return [
        _detail(
            store,
            queued,
            results[queued.page.number],
            columns.get((queued.page.number, queued.flag.line)),
            policies[queued.page.number],
            [comment for number in _with_other_half(queued) for comment in comments[number]],
            compared[queued.number].readings if queued.number in compared else (),
        )
        for queued in flags
    ]


def _with_other_half(queued: QueuedFlag) -> list[int]:
    """The number of a flag; for a character that moved, those of both halves."""
    return [half.number for half in (queued, queued.other) if half is not None]


def _detail(
    store: Store,
    queued: QueuedFlag,
    result: PageResult,
    column: TextColumn | None,
    policy: VariantPolicy,
    comments: Sequence[Comment],
    readings: Sequence[BlindReading],
) -> FlagDetailOut:
    """A flag in detail. `column` is the text of its column; `comments` and `readings` are those on the flag."""
    flag, evidence = queued.flag, queued.flag.evidence
    other, moved = queued.other, _moved_with(queued)
    view = _view_of(result, flag, moved.flag if moved else None) if queued.page.image_sha else None
    other_half = None
    if moved:
        other_half = _other_half(replace(moved, flag=upright_flag(moved.flag, result)), ordinal(result, moved.flag))
    history = store.decisions.history(queued.number) if queued.version else []
    edits = column.edits if column else ()
    before, after = _text_around(queued, _checked_source(flag, result, column), edits)
    return FlagDetailOut(
        **flag_of(queued).model_dump(exclude={"other"}),
        other=other_half,
        why=why(flag, say, other.flag if other else None),
        reason=evidence.reason,
        rule=evidence.rule,
        p_text=evidence.p_text,
        p_best=evidence.p_best,
        can_take=may_take(flag),
        image_text=evidence.note if flag.kind is Kind.LAYOUT else "",
        alternatives=_alternatives(flag, policy),
        spellings=list(evidence.spellings),
        witnesses=list(evidence.witnesses),
        ordinal=ordinal(result, flag),
        before=before,
        after=after,
        edits=[EditOut(offset=edit.start, length=edit.length, reading=edit.replacement) for edit in edits],
        view=_view_out(queued.page.image_sha, result, flag, view) if view else None,
        tile=flag_tile_uri(queued.page.image_sha, result, flag) if view else None,
        last=history[-1] if history and queued.state is not State.OPEN else None,
        comments=sorted(comments, key=lambda comment: (comment.at, comment.id)),
        readings=list(readings),
    )


def _checked_source(flag: Flag, result: PageResult, column: TextColumn | None) -> str:
    """The source of a flag's column as it was checked; empty if it is unknown."""
    checked = result.column_of(flag) if result.status is Status.CHECKED else None
    if checked:
        return checked.source
    return column.checked if column else ""


def _text_around(queued: QueuedFlag, source: str, edits: Sequence[Edit]) -> tuple[str, str]:
    """The present text of a column before and after a flag. The column was checked as `source` and has the corrections
    `edits`."""
    flag = queued.flag
    other_edits = [edit for edit in edits if (edit.start, edit.length) != (flag.offset, flag.length)]
    end = flag.offset + flag.length
    before = edited(source[: flag.offset], [edit for edit in other_edits if edit.end <= flag.offset])
    after = edited(source, [edit for edit in other_edits if edit.start >= end])
    return before[-CONTEXT_CHARACTERS:], after[end : end + CONTEXT_CHARACTERS]


def _alternatives(flag: Flag, policy: VariantPolicy) -> list[AlternativeOut]:
    """The alternative readings of the recogniser, without figures, Latin letters and markup, in the script of the
    text."""
    probabilities: defaultdict[str, float] = defaultdict(float)
    for text, p in flag.evidence.alternatives:
        if p >= MIN_ALTERNATIVE_PROBABILITY and not text.isascii() and is_character(text):
            written = policy.to_source_script(text, flag.transcribed)
            probabilities[policy.written_forms(written)[0]] += p
    ranked = sorted(probabilities.items(), key=lambda item: -item[1])
    return [AlternativeOut(text=text, p=min(max(p, 0.0), 1.0)) for text, p in ranked[:MAX_ALTERNATIVES]]


def _view_of(result: PageResult, flag: Flag, moved: Flag | None) -> View | None:
    """The view of a flag on the image. It includes the place of `moved`, the flag that is decided together with it; for
    a flag about a column or page without a place it is the whole half-folio."""
    view = view_of(result, flag, ROWS_AROUND, COLUMNS_BESIDE)
    if view is None and flag.kind is Kind.LAYOUT and min(result.image_size) > 0:
        page = _half_folio(upright(result))
        return View(page, page, page, page.h / ROWS_AROUND, (), None)
    if view is None or moved is None or moved.bbox is None:
        return view
    other = view_of(result, moved, 0, COLUMNS_BESIDE)
    return replace(view, area=view.area.union(other.area)) if other else view


def _view_out(sha: str, result: PageResult, flag: Flag, view: View) -> ViewOut:
    upright_result = upright(result)
    column = upright_result.column_of(replace(flag, bbox=view.focus)) if flag.kind is not Kind.LAYOUT else None
    return ViewOut(
        image=name_of(sha, result.skew),
        area=_rectangle(view.area.in_whole_pixels(upright_result.image_size)),
        column=_rectangle(column.box if column else view.focus),
        focus=_rectangle(view.focus),
        pitch=view.pitch,
        skew=upright_result.skew,
        characters=list(view.characters),
        gap=_rectangle(view.gap) if view.gap else None,
        page=_rectangle(_half_folio(upright_result)),
    )


def page_detail(
    listed: ListedPage,
    result: PageResult,
    columns: list[ColumnOut],
    flags: Sequence[QueuedFlag],
    comments: Sequence[Comment],
    state_by: str,
) -> PageDetailOut:
    """A page with its columns, characters, flags and comments; `state_by` is the person who set its state."""
    return PageDetailOut(
        state_by=state_by,
        **page_of(listed).model_dump(),
        box=_rectangle(_half_folio(result)),
        columns=columns,
        characters_found=[
            CharacterOut(
                row=character.row.value,
                box=_rectangle(character.box),
                **{name: getattr(character, name) for name in ("line", "offset", "length", "text", "read", "p_text")},
            )
            for character in result.characters
        ],
        flags_found=[flag_of(queued) for queued in flags],
        notices=[in_words(notice, say) for notice in (*result.notices, result.message) if notice],
        skew=lean_of(result.skew),
        comments=list(comments),
    )


def columns_of(store: Store, work: str, page: int, result: PageResult) -> list[ColumnOut]:
    """The columns of a page, with their source as checked and at present: those of the image, and between them those
    that the text alone has."""
    of_text = {number: column for (_page, number), column in store.queue.columns(work, [page]).items()}
    shown = list(result.columns)
    numbers = {column.number for column in shown}
    shown += [
        CheckedColumn(number, _beside(number, result.columns), column.checked)
        for number, column in of_text.items()
        if number not in numbers
    ]
    edits = {number: column.edits for number, column in of_text.items()}
    return [
        ColumnOut(
            number=column.number,
            box=_rectangle(column.box),
            source=column.source,
            now=edited(column.source, edits.get(column.number, ())),
        )
        for column in sorted(shown, key=attrgetter("number"))
    ]


def _beside(number: int, columns: Sequence[CheckedColumn]) -> Box:
    """Where a column would stand that the image lacks: the edge of the column before it, or else of that after it."""
    before = next((column.box for column in reversed(columns) if column.number < number), None)
    after = next((column.box for column in columns if column.number > number), None)
    if before is not None:
        return Box(before.x, before.y, 0, before.h)
    return Box(after.right, after.y, 0, after.h) if after is not None else Box(0, 0, 0, 0)


def _half_folio(result: PageResult) -> Box:
    """The part of the image that is the page, in whole pixels."""
    return (result.image_box or Box(0, 0, *result.image_size)).in_whole_pixels(result.image_size)


def _rectangle(box: Box) -> list[float]:
    return [round(float(length), 2) for length in (box.x, box.y, box.w, box.h)]
