"""The result of a page into the tables: its columns and characters, its flags beside those that were there."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.orm import Session

from proof.model.flags import REACH
from proof.model.quality import QualityFlags
from proof.model.result import PageResult
from proof.store import codec, rows
from proof.store.models import CharactersRow, ColumnRow, FlagRow, PageRow
from proof.store.quality import is_finding, note_sorts
from proof.store.records import PagePlace


def check_flags(result: PageResult, quality: QualityFlags) -> None:
    """Decisions hang on a flag's id: two flags of a page may not share one."""
    flags = quality.among(result.flags)
    ids = [flag.id for flag in flags]
    if len(set(ids)) != len(ids) or "" in ids:
        raise ValueError(f"{result.page}: flags without an id of their own: {sorted(ids)}")
    if any(flag.page != result.page for flag in flags):
        raise ValueError(f"{result.page}: holds a flag of another page")


def set_values(row: PageRow, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(row, name, value)


def save_result(session: Session, page: PageRow, key: str, result: PageResult, quality: QualityFlags) -> None:
    """What was found on a page, as a result of the run that it is in, and what proofreaders meet beside it."""
    if page.key == key != "":
        page.image = None if result.image is None else str(result.image)
        _save_overlay(session, page, result, quality)
        note_sorts(session, page.id, quality)
        return
    page.result_run_id, page.key = page.run_id, key
    set_values(page, rows.page_values(result))
    session.flush()
    _save_parts(session, page, result)
    _save_flags(session, page, result, quality)
    note_sorts(session, page.id, quality)


def _save_parts(session: Session, page: PageRow, result: PageResult) -> None:
    session.execute(delete(ColumnRow).where(ColumnRow.page_id == page.id))
    session.execute(delete(CharactersRow).where(CharactersRow.page_id == page.id))
    if result.columns:
        session.execute(insert(ColumnRow), rows.column_values(page.id, result.columns))
    if result.characters:
        session.execute(insert(CharactersRow), [{"page_id": page.id, "data": codec.pack(result.characters)}])


def _save_flags(session: Session, page: PageRow, result: PageResult, quality: QualityFlags) -> None:
    there = select(FlagRow.uid, FlagRow.id).where(FlagRow.page_id == page.id, FlagRow.ordinal != rows.BY_HAND)
    known = {row.uid: row.id for row in session.execute(there)}
    fresh, again = [], []
    for ordinal, flag in enumerate(quality.among(result.flags)):
        values = rows.flag_values(ordinal, flag) | {"last_run_id": page.run_id, "stale": False}
        if flag.id in known:
            again.append(values | {"id": known.pop(flag.id)})
        else:
            fresh.append(values)
    gone = [{"id": key, "stale": True, "ordinal": rows.GONE} for key in known.values()]
    _put_flags(session, page, quality, fresh, gone, again)


def _put_flags(
    session: Session, page: PageRow, quality: QualityFlags, fresh: list[dict[str, Any]], *changes: list[dict[str, Any]]
) -> None:
    """Insert new flags of a page and make `changes`, each a list of rows with the same columns."""
    for changed in changes:
        if changed:
            session.execute(update(FlagRow), changed)
    owner = {"work_id": page.work_id, "page_id": page.id, "first_run_id": page.run_id}
    added = [values | owner for values in _away_from_corrected(session, page, quality, fresh)]
    if added:
        session.execute(insert(FlagRow), added)


def _away_from_corrected(
    session: Session, page: PageRow, quality: QualityFlags, fresh: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """New flags without the errors that would be seeded where a person has corrected the text by hand."""
    seeded = {flag.id for flag in quality.seeded}
    if all(values["uid"] not in seeded for values in fresh):
        return fresh
    by_hand = select(FlagRow.line, FlagRow.offset).where(FlagRow.page_id == page.id, FlagRow.ordinal == rows.BY_HAND)
    corrected = list(session.execute(by_hand))
    return [
        values
        for values in fresh
        if values["uid"] not in seeded
        or all(line != values["line"] or abs(offset - values["offset"]) > 2 * REACH for line, offset in corrected)
    ]


def _save_overlay(session: Session, page: PageRow, result: PageResult, quality: QualityFlags) -> None:
    """Bring samples and seeded errors of a page that is otherwise as it was to what is wanted now."""
    there = select(FlagRow.uid, FlagRow.id, FlagRow.stale).where(FlagRow.page_id == page.id)
    there = there.where(FlagRow.ordinal != rows.BY_HAND, ~is_finding())
    known = {row.uid: row for row in session.execute(there)}
    changes, fresh, sorts = [], [], quality.sorts
    for ordinal, flag in enumerate(quality.among(result.flags)):
        if flag.id not in sorts:
            continue
        row = known.pop(flag.id, None)
        if row is None:
            fresh.append(rows.flag_values(ordinal, flag) | {"last_run_id": page.run_id, "stale": False})
        elif row.stale:
            changes.append({"id": row.id, "stale": False, "ordinal": ordinal})
    changes += [{"id": row.id, "stale": True, "ordinal": rows.GONE} for row in known.values() if not row.stale]
    _put_flags(session, page, quality, fresh, changes)


def page_row(session: Session, work_id: int, run_id: int, place: PagePlace, page: str) -> PageRow | None:
    """The row to take for a page: of those that bear its id, the first that this run has not used yet; the text's
    own before another text's, which may be no part of this run."""
    bearers = select(PageRow).where(PageRow.work_id == work_id, PageRow.page == page).order_by(PageRow.repeat)
    for row in sorted(session.scalars(bearers), key=lambda row: row.text != place.text):
        if row.run_id != run_id or (row.text, row.position) == (place.text, place.position):
            return row
    return None


def repeats(session: Session, work_id: int, page: str) -> int:
    return session.scalar(select(func.count()).where(PageRow.work_id == work_id, PageRow.page == page)) or 0
