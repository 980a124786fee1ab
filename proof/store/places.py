"""Places of pages in their texts, and of the flags that move along with their pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache, partial
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.store.flag_matching import mark_answered_stale
from proof.store.models import FlagRow, PageRow, TextRow
from proof.store.rows import PagePlace
from proof.store.texts import (
    carry_to_present,
    carry_to_version,
    checked_place,
    contents,
    find_version,
    is_displaced,
    set_place,
)


def place_pages(session: Session, pages: Iterable[tuple[PageRow, PagePlace]]) -> list[tuple[PageRow, int | None]]:
    """Save the places of pages in their texts, if the store has these versions. Returns the saved pages, each with the
    version of its text before."""
    placed = []
    version_of = cache(partial(find_version, session))
    for page, place in pages:
        version = version_of(place.text, place.sha)
        if version is not None:
            before = page.version_id
            start = min((span.start for span in place.lines.values()), default=0)
            page.text_id, page.version_id, page.start = version.text_id, version.id, start
            page.lines = {str(number): [span.start - start, span.length] for number, span in place.lines.items()}
            placed.append((page, before))
    return placed


def place_unchanged_pages(session: Session, pages: Iterable[tuple[PageRow, PagePlace]]) -> None:
    """`place_pages` for pages whose own columns did not change. Flags on them that lost their places since they were
    checked get them back; undecided flags that a decision answers become stale."""
    placed_pages = place_pages(session, pages)
    placed = {page.id: (page, before) for page, before in placed_pages if page.lines and before is not None}
    content = contents(session)
    restored: set[int] = set()
    moved = [page.id for page, before in placed.values() if before != page.version_id]
    may_be_lost = FlagRow.page_id.in_(moved) | is_displaced()
    flags = session.scalars(select(FlagRow).where(FlagRow.page_id.in_(placed), may_be_lost)).all()
    for flag in _left_behind(session, flags):
        page, before = placed[flag.page_id]
        place = checked_place(page, flag, content(page.version_id))
        is_of_check = (flag.version_id or 0) >= before or content(flag.version_id) == content(before)
        if is_of_check and place.reads == flag.reads:
            set_place(flag, place)
            flag.text_id, flag.version_id = page.text_id, page.version_id
            restored.add(page.id)
    if restored:
        decided = select(FlagRow).where(FlagRow.page_id.in_(restored), FlagRow.version > 0)
        mark_answered_stale(session, session.scalars(decided).all())


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
