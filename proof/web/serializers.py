"""Flags and pages as the API shows them: with the place on the image, the text beside it and the reason in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from proof.locale.marking import Say
from proof.locale.notices import in_words
from proof.model.flags import Flag, is_moved
from proof.model.geometry import Box
from proof.model.result import PageResult
from proof.report.reasons import why
from proof.report.upright import lean_of, upright, upright_flag
from proof.report.view import View, ordinal, view_of
from proof.store import Store
from proof.store.comments import Comment
from proof.store.decision_records import State
from proof.store.queue_records import ListedPage, QueuedFlag
from proof.web.answers import (
    AlternativeOut,
    CharacterOut,
    ColumnOut,
    DecisionOut,
    FlagDetail,
    FlagOut,
    OtherHalfOut,
    PageDetail,
    PageOut,
    PlacedOut,
    ViewOut,
    WitnessOut,
)
from proof.web.comment_answers import CommentOut
from proof.web.glyph_tiles import address_of_flag
from proof.web.images import name_of

AROUND, BESIDE = 10, 1.06
"""Of a column the desk shows a whole one of 21 characters, and a column on either side."""
REACH = 12
MOST_ALTERNATIVES = 6
LEAST_CHANCE = 0.0005


def page_of(page: ListedPage) -> PageOut:
    """A page as lists show it."""
    values = {name: getattr(page, name) for name in PageOut.model_fields if name != "image"}
    return PageOut(image=page.image_sha, **values)


def flag_of(queued: QueuedFlag) -> FlagOut:
    """A flag as lists show it."""
    flag = queued.flag
    return FlagOut(
        number=queued.number,
        id=flag.id,
        page=page_of(queued.page),
        line=flag.line,
        offset=flag.offset,
        length=flag.length,
        kind=flag.kind,
        transcribed=flag.transcribed,
        suggested=flag.suggested,
        score=flag.score,
        raised=flag.raised,
        context=flag.context,
        bbox=_edges(flag.bbox) if flag.bbox else None,
        state=queued.state,
        reading=queued.reading,
        version=queued.version,
        stale=queued.stale,
        moved=flag.moved,
        other=_other_half(moved) if (moved := _moved_with(queued)) else None,
    )


def _moved_with(queued: QueuedFlag) -> QueuedFlag | None:
    """The other half of a character that moved; None of a run in two parts, which is shown by its first."""
    return queued.other if queued.other and is_moved(queued.flag, queued.other.flag) else None


def _other_half(other: QueuedFlag, number: int | None = None) -> OtherHalfOut:
    flag = other.flag
    return OtherHalfOut(
        number=other.number,
        kind=flag.kind,
        line=flag.line,
        offset=flag.offset,
        transcribed=flag.transcribed,
        suggested=flag.suggested,
        bbox=_edges(flag.bbox) if flag.bbox else None,
        ordinal=number,
    )


def details(store: Store, flags: Sequence[QueuedFlag], say: Say) -> list[FlagDetail]:
    """Flags with all that the desk shows of them."""
    results = store.queue.results(sorted({queued.page.number for queued in flags}))
    said = store.comments.of_flags(place for queued in flags for place in _places(queued))
    return [
        _detail(
            store, queued, results[queued.page.number], say, [one for at in _places(queued) for one in said.get(at, ())]
        )
        for queued in flags
    ]


def _places(queued: QueuedFlag) -> list[tuple[int, str]]:
    """Under what comments on a flag are found; of a character that moved, those on either half."""
    return [(one.page.number, one.flag.id) for one in (queued, queued.other) if one is not None]


def _detail(store: Store, queued: QueuedFlag, result: PageResult, say: Say, comments: Sequence[Comment]) -> FlagDetail:
    flag, evidence = queued.flag, queued.flag.evidence
    column = result.column_of(flag)
    source = column.source if column else ""
    end = flag.offset + flag.length
    view = view_of(result, flag, AROUND, BESIDE) if queued.page.image_sha else None
    history = store.decisions.history(queued.number) if queued.version else []
    other, moved = queued.other, _moved_with(queued)
    return FlagDetail(
        **flag_of(queued).model_dump(exclude={"other"}),
        other=_other_half(replace(moved, flag=upright_flag(moved.flag, result)), ordinal(result, moved.flag))
        if moved
        else None,
        why=why(flag, say, other.flag if other else None),
        reason=evidence.reason,
        rule=evidence.rule,
        p_text=evidence.p_text,
        p_best=evidence.p_best,
        alternatives=[
            AlternativeOut(text=text, p=min(max(p, 0.0), 1.0))
            for text, p in evidence.alternatives[:MOST_ALTERNATIVES]
            if text and p >= LEAST_CHANCE
        ],
        witnesses=[WitnessOut(one) for one in evidence.witnesses],
        ordinal=ordinal(result, flag),
        before=source[max(flag.offset - REACH, 0) : flag.offset],
        after=source[end : end + REACH],
        view=_view(queued.page.image_sha, result, flag, view) if view else None,
        tile=address_of_flag(queued.page.image_sha, result, flag) if view else None,
        last=DecisionOut(history[-1]) if history and queued.state is not State.OPEN else None,
        comments=[CommentOut(one) for one in sorted(comments, key=lambda one: (one.at, one.id))],
    )


def _view(sha: str, result: PageResult, flag: Flag, view: View) -> ViewOut:
    shown = upright(result)
    named = shown.column_of(replace(flag, bbox=view.focus))
    column = named.box if named else view.focus
    return ViewOut(
        image=name_of(sha, result.skew),
        area=_edges(_whole(view.area, shown.image_size)),
        column=_edges(column),
        focus=_edges(view.focus),
        pitch=view.pitch,
        skew=shown.skew,
        characters=[PlacedOut(one) for one in view.characters],
        gap=_edges(view.gap) if view.gap else None,
        page=_edges(_half_folio(shown)),
    )


def page_detail(
    place: ListedPage,
    result: PageResult,
    flags: Sequence[QueuedFlag],
    comments: Sequence[Comment],
    said_by: str,
    say: Say,
) -> PageDetail:
    """A page with its columns, its characters, its flags and what was said of it; who said where it stands."""
    return PageDetail(
        said_by=said_by,
        **page_of(place).model_dump(),
        box=_edges(_half_folio(result)),
        columns=columns_of(result),
        characters_found=[
            CharacterOut(
                line=one.line,
                offset=one.offset,
                length=one.length,
                row=one.row.value,
                text=one.text,
                box=_edges(one.box),
                read=one.read,
                p_text=one.p_text,
            )
            for one in result.characters
        ],
        flags_found=[flag_of(queued) for queued in flags],
        notices=[in_words(remark, say) for remark in (*result.notices, result.message) if remark],
        skew=lean_of(result.skew),
        comments=[CommentOut(one) for one in comments],
    )


def columns_of(result: PageResult) -> list[ColumnOut]:
    """The columns of a page."""
    return [ColumnOut(number=one.number, box=_edges(one.box), source=one.source) for one in result.columns]


def _half_folio(result: PageResult) -> Box:
    """The part of the image that is the page, in whole pixels."""
    return _whole(result.image_box or Box(0, 0, *result.image_size), result.image_size)


def _whole(area: Box, size: tuple[int, int]) -> Box:
    """The area in whole pixels of an image of that size, so that its picture can be asked for."""
    left, top = max(int(area.x), 0), max(int(area.y), 0)
    right, bottom = min(int(area.right + 0.999), size[0]), min(int(area.bottom + 0.999), size[1])
    return Box(left, top, max(right - left, 1), max(bottom - top, 1))


def _edges(box: Box) -> list[float]:
    return [round(float(edge), 2) for edge in (box.x, box.y, box.w, box.h)]
