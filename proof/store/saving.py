"""Results of pages into the tables: their columns and characters, their flags beside those that were there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from proof.model.flags import REACH, Kind
from proof.model.result import PageResult
from proof.store import codec, rows
from proof.store.layout_overrides import LayoutOverride
from proof.store.models import Base, CharactersRow, ColumnRow, FlagRow, PageRow
from proof.store.records import PagePlace


@dataclass(frozen=True, slots=True)
class CheckedResult:
    """The result of a page at its place, read as `mend` says, with the `key` of all that it depends on (at most 128
    letters, the page's id among it): where the page is there with the same key only its place is noted, and which
    samples and planted errors are mixed in now, since these are no part of what was found. An empty key is never found
    again. `packed` are the characters as they are kept (`codec.pack`), where somebody else packed them."""

    place: PagePlace
    key: str
    result: PageResult
    mend: LayoutOverride | None = None
    packed: bytes | None = None

    @property
    def characters(self) -> bytes | None:
        """The characters as they are kept; None where there are none."""
        if self.packed is None and self.result.characters:
            return codec.pack(self.result.characters)
        return self.packed


def check_flags(result: PageResult) -> None:
    """Decisions hang on a flag's id: two flags of a page may not share one."""
    ids = [flag.id for flag in result.flags]
    if len(set(ids)) != len(ids) or "" in ids:
        raise ValueError(f"{result.page}: flags without an id of their own: {sorted(ids)}")
    if any(flag.page != result.page for flag in result.flags):
        raise ValueError(f"{result.page}: holds a flag of another page")


def set_values(row: PageRow, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(row, name, value)


def save_result(session: Session, page: PageRow, one: CheckedResult) -> None:
    """What was found on a page, as a result of the run that it is in."""
    if page.key == one.key != "":
        page.image = None if one.result.image is None else str(one.result.image)
        save_mixed_in(session, page, one.result)
        return
    page.result_run_id, page.key = page.run_id, one.key
    set_values(page, rows.page_values(one.result))
    session.flush()
    _save_parts(session, page, one)
    _save_flags(session, page, one.result)


def _save_parts(session: Session, page: PageRow, one: CheckedResult) -> None:
    session.execute(delete(ColumnRow).where(ColumnRow.page_id == page.id))
    session.execute(delete(CharactersRow).where(CharactersRow.page_id == page.id))
    if one.result.columns:
        session.execute(insert(ColumnRow), rows.column_values(page.id, one.result.columns))
    characters = one.characters
    if characters is not None:
        session.execute(insert(CharactersRow), [{"page_id": page.id, "data": characters}])


def _save_flags(session: Session, page: PageRow, result: PageResult) -> None:
    there = select(FlagRow.uid, FlagRow.id).where(FlagRow.page_id == page.id, FlagRow.ordinal != rows.BY_HAND)
    known = {row.uid: row.id for row in session.execute(there)}
    fresh, again = [], []
    for ordinal, flag in enumerate(result.flags):
        values = rows.flag_values(ordinal, flag) | {"last_run_id": page.run_id, "stale": False}
        if flag.id in known:
            again.append(values | {"id": known.pop(flag.id)})
        else:
            fresh.append(values)
    gone = [{"id": key, "stale": True, "ordinal": rows.GONE} for key in known.values()]
    _put_flags(session, page, fresh, gone, again)


def _put_flags(session: Session, page: PageRow, fresh: list[dict[str, Any]], *changes: list[dict[str, Any]]) -> None:
    """Insert new flags of a page and make `changes`, each a list of rows with the same columns."""
    for changed in changes:
        if changed:
            session.execute(update(FlagRow), changed)
    owner = {"work_id": page.work_id, "page_id": page.id, "first_run_id": page.run_id}
    added = [values | owner for values in _away_from_corrected(session, page, fresh)]
    if added:
        session.execute(insert(FlagRow), added)


def _away_from_corrected(session: Session, page: PageRow, fresh: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """New flags without those that would be planted where a person has corrected the text by hand."""
    if all(values["kind"] != rows.PLANTED for values in fresh):
        return fresh
    by_hand = select(FlagRow.line, FlagRow.offset).where(FlagRow.page_id == page.id, FlagRow.ordinal == rows.BY_HAND)
    corrected = list(session.execute(by_hand))
    return [
        values
        for values in fresh
        if values["kind"] != rows.PLANTED
        or all(line != values["line"] or abs(offset - values["offset"]) > 2 * REACH for line, offset in corrected)
    ]


def save_mixed_in(session: Session, page: PageRow, result: PageResult) -> None:
    """Bring samples and planted errors of a page that is otherwise as it was to what is wanted now."""
    there = select(FlagRow.uid, FlagRow.id, FlagRow.stale).where(FlagRow.page_id == page.id)
    there = there.where(FlagRow.ordinal != rows.BY_HAND, FlagRow.kind.in_([Kind.AUDIT.value, rows.PLANTED]))
    known = {row.uid: row for row in session.execute(there)}
    changes, fresh = [], []
    for ordinal, flag in enumerate(result.flags):
        if flag.kind is not Kind.AUDIT and not flag.planted:
            continue
        row = known.pop(flag.id, None)
        if row is None:
            fresh.append(rows.flag_values(ordinal, flag) | {"last_run_id": page.run_id, "stale": False})
        elif row.stale:
            changes.append({"id": row.id, "stale": False, "ordinal": ordinal})
    changes += [{"id": row.id, "stale": True, "ordinal": rows.GONE} for row in known.values() if not row.stale]
    _put_flags(session, page, fresh, changes)


class Bearers:
    """The rows of a work's pages by the ids that they bear."""

    def __init__(self, session: Session, work_id: int, ids: Sequence[str]) -> None:
        self._work_id = work_id
        self._rows: defaultdict[str, list[PageRow]] = defaultdict(list)
        there = select(PageRow).where(PageRow.work_id == work_id, PageRow.page.in_(set(ids)))
        for row in session.scalars(there.order_by(PageRow.repeat)):
            self._rows[row.page].append(row)

    def of(self, run_id: int, place: PagePlace, page: str) -> PageRow | None:
        """The row to take for a page: of those that bear its id, the first that this run has not used yet; the text's
        own before another text's, which may be no part of this run."""
        for row in sorted(self._rows[page], key=lambda row: row.text != place.text):
            if row.run_id != run_id or (row.text, row.position) == (place.text, place.position):
                return row
        return None

    def add(self, run_id: int, place: PagePlace, page: str) -> PageRow:
        """A row for another page of that id, which is written by `save_new`."""
        bearers = self._rows[page]
        row = PageRow(work_id=self._work_id, run_id=run_id, page=page, repeat=len(bearers))
        set_values(row, rows.place_values(place))
        bearers.append(row)
        return row


def save_again(session: Session, page: PageRow, run_id: int, one: CheckedResult) -> None:
    """A page that is there, as this run found it."""
    there = page.key == one.key != ""
    was_absent, page.absent = page.absent, False
    page.run_id = run_id
    set_values(page, rows.place_values(one.place))
    if there and was_absent:
        again = update(FlagRow).where(FlagRow.page_id == page.id, FlagRow.ordinal >= rows.CURRENT)
        session.execute(again.values(stale=False), execution_options={"synchronize_session": False})
    save_result(session, page, one)


def save_new(session: Session, run_id: int, pages: Sequence[tuple[PageRow, CheckedResult]]) -> None:
    """Pages that were not there, in as few statements as one page would take."""
    for row, one in pages:
        row.result_run_id, row.key, row.absent = run_id, one.key, False
        set_values(row, rows.page_values(one.result))
    session.add_all([row for row, _ in pages])  # not before they are whole: a query would write them
    session.flush()
    columns = [values for row, one in pages for values in rows.column_values(row.id, one.result.columns)]
    packed = [(row.id, one.characters) for row, one in pages]
    characters = [{"page_id": number, "data": data} for number, data in packed if data is not None]
    flags = [
        rows.flag_values(ordinal, flag)
        | {"last_run_id": run_id, "stale": False, "work_id": row.work_id, "page_id": row.id, "first_run_id": run_id}
        for row, one in pages
        for ordinal, flag in enumerate(one.result.flags)
    ]
    tables: tuple[tuple[type[Base], list[dict[str, Any]]], ...] = (
        (ColumnRow, columns),
        (CharactersRow, characters),
        (FlagRow, flags),
    )
    for table, values in tables:
        if values:
            session.execute(insert(table.__table__), values)  # type: ignore[arg-type]
