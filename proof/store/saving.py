"""Results of pages into the tables: their columns and characters, their flags beside those that were there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.orm import Session

from proof.errors import GonePageError, OutputError, UsageError
from proof.model.flags import REACH
from proof.model.quality import NO_QUALITY, QualityFlags
from proof.model.result import PageResult
from proof.store import codec, rows
from proof.store.glyphs import Shapes, glyph_values, save_glyphs
from proof.store.layout_overrides import LayoutOverride, ReadOtherwiseError, held_in
from proof.store.models import Base, CharactersRow, ColumnRow, FlagRow, GlyphRow, PageRow, RunRow
from proof.store.quality import is_finding, note_sorts
from proof.store.records import PagePlace


@dataclass(frozen=True, slots=True)
class CheckedResult:
    """The result of a page at its place, read as `override` says, with the `key` of all that it depends on (at most 128
    letters, the page's id among it): where the page is there with the same key only its place is noted, and which
    samples and seeded errors are wanted now (`quality`), since these are no part of what was found. An empty key is
    never found again. `shapes` are those of its characters' glyphs, None where they are kept already."""

    place: PagePlace
    key: str
    result: PageResult
    override: LayoutOverride | None = None
    shapes: Shapes | None = None
    quality: QualityFlags = NO_QUALITY


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


def save_result(
    session: Session,
    page: PageRow,
    key: str,
    result: PageResult,
    quality: QualityFlags,
    shapes: Shapes | None = None,
) -> None:
    """What was found on a page, as a result of the run that it is in, and what proofreaders meet beside it. `shapes`
    are what the glyphs of its characters look like, where the image was read; else they are taken over from before."""
    if page.key == key != "":
        page.image = None if result.image is None else str(result.image)
        _save_overlay(session, page, result, quality)
        note_sorts(session, page.id, quality)
        return
    page.result_run_id, page.key = page.run_id, key
    set_values(page, rows.page_values(result))
    session.flush()
    _save_parts(session, page, result)
    save_glyphs(session, page, result.characters, shapes)
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
        """A row for another page of that id, which `save_new` puts into the store once it holds what it must."""
        bearers = self._rows[page]
        row = PageRow(work_id=self._work_id, run_id=run_id, page=page, repeat=len(bearers), key="")
        set_values(row, rows.place_values(place))
        bearers.append(row)
        return row


def save_all(session: Session, run: RunRow, pages: Sequence[CheckedResult]) -> None:
    """The pages as this run found them. Raises ReadOtherwiseError, OutputError where another run began."""
    there = Bearers(session, run.work_id, [one.result.page for one in pages])
    fresh = []
    for one in pages:
        page = there.of(run.id, one.place, one.result.page)
        if page is None:
            fresh.append((there.add(run.id, one.place, one.result.page), one))
            continue
        if page.run_id > run.id:
            must_be_newest(session, run)
        else:
            must_be_read_as(held_in(session, page.id), one.override)
        save_again(session, page, run.id, one)
    save_new(session, run.id, fresh)


def run_row(session: Session, run_id: int) -> RunRow:
    """The run of that number. Raises UsageError."""
    run = session.get(RunRow, run_id)
    if run is None:
        raise UsageError(f"run {run_id} is not in the store")
    return run


def page_there(session: Session, number: int) -> PageRow:
    """The page of that number, held until the end of the transaction. Raises GonePageError."""
    page = session.get(PageRow, number, with_for_update=True)
    if page is None or page.absent:
        raise GonePageError(f"page {number} is no longer in its text; look at the list of pages again")
    return page


def save_again(session: Session, page: PageRow, run_id: int, one: CheckedResult) -> None:
    """A page that is there, as this run found it."""
    there = page.key == one.key != ""
    was_absent, page.absent = page.absent, False
    page.run_id = run_id
    set_values(page, rows.place_values(one.place))
    if there and was_absent:
        again = update(FlagRow).where(FlagRow.page_id == page.id, FlagRow.ordinal >= rows.CURRENT)
        session.execute(again.values(stale=False), execution_options={"synchronize_session": False})
    save_result(session, page, one.key, one.result, one.quality, one.shapes)


def save_new(session: Session, run_id: int, pages: Sequence[tuple[PageRow, CheckedResult]]) -> None:
    """Pages that were not there, in as few statements as one page would take."""
    for row, one in pages:
        row.result_run_id, row.key, row.absent = run_id, one.key, False
        set_values(row, rows.page_values(one.result))
        session.add(row)
    session.flush()
    columns = [values for row, one in pages for values in rows.column_values(row.id, one.result.columns)]
    characters = [
        {"page_id": row.id, "data": codec.pack(one.result.characters)} for row, one in pages if one.result.characters
    ]
    glyphs = [
        values
        for row, one in pages
        if one.shapes is not None
        for values in glyph_values(row, one.result.characters, one.shapes)
    ]
    flags = [
        rows.flag_values(ordinal, flag)
        | {"last_run_id": run_id, "stale": False, "work_id": row.work_id, "page_id": row.id, "first_run_id": run_id}
        for row, one in pages
        for ordinal, flag in enumerate(one.quality.among(one.result.flags))
    ]
    tables: tuple[tuple[type[Base], list[dict[str, Any]]], ...] = (
        (ColumnRow, columns),
        (CharactersRow, characters),
        (GlyphRow, glyphs),
        (FlagRow, flags),
    )
    for table, values in tables:
        if values:
            session.execute(insert(table.__table__), values)  # type: ignore[arg-type]
    for row, one in pages:
        if one.quality.sorts:
            note_sorts(session, row.id, one.quality)


def must_be_newest(session: Session, run: RunRow) -> None:
    """Raises OutputError where another check of the work began after this one."""
    newest = session.scalar(select(func.max(RunRow.id)).where(RunRow.work_id == run.work_id))
    if newest != run.id:
        raise OutputError(f"run {run.id}: another check of this work began meanwhile; run it again when that is done")


def must_be_read_as(held: LayoutOverride | None, override: LayoutOverride | None) -> None:
    """Raises ReadOtherwiseError where the two do not say the same, whoever said it and when."""
    said = [(one.layout, one.image, one.quadrant) if one else None for one in (held, override)]
    if said[0] != said[1]:
        raise ReadOtherwiseError(held)
