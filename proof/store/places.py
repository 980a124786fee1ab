"""Places of pages in their texts, and of the flags that move along with their pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.store.carried_places import Place, is_decided_later
from proof.store.flag_matching import mark_answered_stale
from proof.store.models import FlagRow, PageRow, TextRow, TextVersionRow
from proof.store.rows import PagePlace
from proof.store.texts import carry_to_present, carry_to_version, content_of, find_version, is_displaced, place_of
from proof.text.positions import PositionMap, Span, line_end


class _TextPlace(NamedTuple):
    """The place of a page: the version of its text, and the start of its first line there."""

    version: int | None
    start: int


def place_pages(session: Session, pages: Iterable[tuple[PageRow, PagePlace]]) -> list[tuple[PageRow, _TextPlace]]:
    """Save the places of pages in their texts, if the store has these versions. Returns the saved pages, each with its
    place before."""
    placed = []
    versions: dict[tuple[str, str], TextVersionRow | None] = {}
    for page, place in pages:
        key = (place.text, place.sha)
        if key not in versions:
            versions[key] = find_version(session, *key)
        version = versions[key]
        if version is not None:
            before = _TextPlace(page.version_id, page.start)
            start = min((span.start for span in place.lines.values()), default=0)
            page.text_id, page.version_id, page.start = version.text_id, version.id, start
            page.lines = {str(number): [span.start - start, span.length] for number, span in place.lines.items()}
            placed.append((page, before))
    return placed


def place_unchanged_pages(session: Session, pages: Iterable[tuple[PageRow, PagePlace]]) -> None:
    """`place_pages` for pages whose own columns did not change. Flags on them that lost their places when the text
    changed get them back; undecided flags that a decision answers become stale."""
    placed = {page.id: (page, before) for page, before in place_pages(session, pages) if before.version is not None}
    if not placed:
        return
    moved = [page.id for page, before in placed.values() if before.version != page.version_id]
    may_be_lost = FlagRow.page_id.in_(moved) | is_displaced()
    flags = session.scalars(select(FlagRow).where(FlagRow.page_id.in_(placed), may_be_lost)).all()
    lost_flags = _left_behind(session, flags)
    if not lost_flags:
        return
    decided_places = _decided_places(session, {flag.page_id for flag in lost_flags})
    content = cache(lambda number: content_of(session.get_one(TextVersionRow, number)))
    comparison = cache(lambda old, new: PositionMap.of_comparison(content(old), content(new)))
    restored: set[int] = set()
    for flag in lost_flags:
        page, before = placed[flag.page_id]
        page_start = before.start
        if flag.version_id != before.version:  # the flag is in a version that an export wrote and no check read
            span = comparison(before.version, flag.version_id).where(before.start, 1)
            page_start = span.start if span is not None else len(content(flag.version_id))
        if flag.version_id is None or flag.start is None or flag.start < page_start:
            continue
        old = content(flag.version_id)
        # the page up to the end of the flag's column: what follows may be another page
        up_to_flag = old[page_start : line_end(old, flag.start + flag.extent)]
        lost = place_of(flag).at(Span(flag.start + page.start - page_start, flag.extent), flag.reads)
        is_decided_again = lost.is_decided and is_decided_later(lost, decided_places[page.id, page.version_id])
        if content(page.version_id).startswith(up_to_flag, page.start) and not is_decided_again:
            flag.start = lost.start
            flag.text_id, flag.version_id = page.text_id, page.version_id
            restored.add(page.id)
    if restored:
        decided = select(FlagRow).where(FlagRow.page_id.in_(restored), FlagRow.version > 0)
        mark_answered_stale(session, session.scalars(decided).all())


def _decided_places(session: Session, pages: Collection[int]) -> defaultdict[tuple[int, int | None], list[Place]]:
    """The places of the decided flags of these pages, by page and version of the text."""
    places: defaultdict[tuple[int, int | None], list[Place]] = defaultdict(list)
    for flag in session.scalars(select(FlagRow).where(FlagRow.page_id.in_(pages), FlagRow.version > 0)):
        place = place_of(flag)
        if place.is_decided:
            places[flag.page_id, flag.version_id].append(place)
    return places


def follow_to_other_texts(session: Session, pages: Iterable[tuple[PageRow, PagePlace]]) -> None:
    """Carry the flags of pages that move to another file to this file, if their own file is gone or has lost their
    places."""
    moved = {page.id: (page, place) for page, place in pages if page.text != place.text}
    if not moved:
        return
    flags = session.scalars(select(FlagRow).where(FlagRow.page_id.in_(moved))).all()
    flags_of: defaultdict[tuple[str, str], list[FlagRow]] = defaultdict(list)
    for flag in _left_behind(session, flags):
        page, place = moved[flag.page_id]
        if flag.version_id == page.version_id:
            flags_of[place.text, place.sha].append(flag)
    for (text, sha), of_version in flags_of.items():
        version = find_version(session, text, sha)
        if version is not None:
            carry_to_version(session, of_version, version)
            carry_to_present(session, of_version)


def _left_behind(session: Session, flags: Sequence[FlagRow]) -> list[FlagRow]:
    """The flags that have lost their places in their texts, or whose files are gone."""
    text_ids = {flag.text_id for flag in flags if flag.text_id is not None}
    texts = {text.id: text for text in session.scalars(select(TextRow).where(TextRow.id.in_(text_ids)))}
    gone = {number for number, text in texts.items() if not Path(text.path).is_file()}
    return [
        flag
        for flag in flags
        if flag.text_id in texts and (flag.text_id in gone or flag.version_id != texts[flag.text_id].version_id)
    ]
