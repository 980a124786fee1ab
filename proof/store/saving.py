"""Saves page results to the database: columns, characters, glyphs and flags."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from sqlalchemy import Row, delete, func, insert, select
from sqlalchemy.orm import Session

from proof.errors import GonePageError, OutputError, UsageError
from proof.locale.marking import _
from proof.model.flags import Origin
from proof.model.quality import NO_QUALITY, QualityFlags
from proof.model.result import CheckedCharacter, PageResult
from proof.store import codec, rows
from proof.store.flag_matching import OF_CHECK, save_flags
from proof.store.glyphs import GlyphsByCharacter, Shapes, by_character, glyph_values, kept_shapes
from proof.store.layout_overrides import LayoutOverride, OverrideChangedError, overrides_of
from proof.store.models import Base, CharactersRow, ColumnRow, FlagRow, GlyphRow, PageRow, RunRow
from proof.store.page_states import note_changed_texts
from proof.store.places import follow_to_other_texts, place_pages, place_unchanged_pages
from proof.store.rows import PagePlace
from proof.store.seeded_errors import IS_FINDING

PageResults = Sequence[tuple[PageRow, "CheckedResult"]]
"""Pages, each with the result to save."""


@dataclass(frozen=True, slots=True)
class PackedCharacters:
    """The characters of a page, packed by `codec`, and their glyphs; no glyphs if the store already has their shapes.

    Packing takes half of the time of writing a page, so it is done by the process that read the page.
    """

    data: bytes
    glyphs: GlyphsByCharacter | None

    @classmethod
    def of(cls, characters: Sequence[CheckedCharacter], shapes: Shapes | None) -> PackedCharacters:
        return cls(codec.pack(characters), None if shapes is None else by_character(characters, shapes))

    def characters(self) -> tuple[CheckedCharacter, ...]:
        """The characters, bit-identical to those that were packed."""
        return codec.unpack(self.data)


@dataclass(frozen=True, slots=True)
class KeptResult:
    """A stored page result with its characters still `packed`; None if it has none. Unpacking them takes four fifths of
    the time of loading a page, and an unchanged page does not need them."""

    result: PageResult
    packed: PackedCharacters | None

    def whole(self) -> PageResult:
        """The result with its characters."""
        return replace(self.result, characters=self.packed.characters()) if self.packed else self.result


@dataclass(frozen=True, slots=True)
class CheckedResult:
    """A page result to save, with the place of the page and the `override` under which it was read.

    `key` identifies everything that the result depends on, including the id of the page (at most 128 letters). If the
    stored page has this key, only its place and its samples and seeded errors (`quality`) are saved, which the key
    does not cover. An empty key matches no stored page. `shapes` are those of the glyphs; None if the store already
    has them. If `packed` is given, it holds the characters and glyphs, and the result has no characters.
    """

    place: PagePlace
    key: str
    result: PageResult
    override: LayoutOverride | None = None
    shapes: Shapes | None = None
    quality: QualityFlags = NO_QUALITY
    packed: PackedCharacters | None = None

    def packed_characters(self) -> PackedCharacters | None:
        """The packed characters of the result; None if it has no characters."""
        if self.packed is not None:
            return self.packed
        return PackedCharacters.of(self.result.characters, self.shapes) if self.result.characters else None

    def has_key_of(self, page: PageRow) -> bool:
        """Whether the store has this result already: it has the key of the stored page, which is not empty."""
        return page.key == self.key != ""


def kept_result(session: Session, key: str) -> KeptResult | None:
    """The stored result of the page with this key; None if there is none."""
    page = session.scalars(select(PageRow).where(PageRow.key == key).order_by(PageRow.id).limit(1)).first()
    if page is None:
        return None
    (result,) = rows.results(session, [page], characters=False)
    data = rows.packed_characters(session, [page.id]).get(page.id)
    return KeptResult(result, PackedCharacters(data, None) if data is not None else None)


def check_flags(result: PageResult, quality: QualityFlags) -> None:
    """Raise ValueError unless each flag has an id of its own, which decisions refer to, and is on this page."""
    flags = quality.among(result.flags)
    ids = [flag.id for flag in flags]
    if len(set(ids)) != len(ids) or "" in ids:
        raise ValueError(f"{result.page}: flags without an id of their own: {sorted(ids)}")
    if any(flag.page != result.page for flag in flags):
        raise ValueError(f"{result.page}: holds a flag of another page")


def _set_values(row: PageRow, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(row, name, value)


def save_run_pages(session: Session, run: RunRow, pages: Sequence[CheckedResult]) -> None:
    """Save the results of a run. Raises OverrideChangedError; OutputError if another check of the work began."""
    stored_pages = _StoredPages(session, run.work_id, [checked.result.page for checked in pages])
    added: list[tuple[PageRow, CheckedResult]] = []
    updated: list[tuple[PageRow, CheckedResult]] = []
    for checked in pages:
        page = stored_pages.find(run.id, checked.place, checked.result.page)
        if page is None:
            added.append((stored_pages.add(run.id, checked.place, checked.result.page), checked))
            continue
        if page.run_id > run.id:
            check_newest_run(session, run)
        page.run_id = run.id
        updated.append((page, checked))
    if updated:
        update_places(session, updated)
    session.add_all(page for page, _ in added)
    save_results(session, [*updated, *added])


class _StoredPages:
    """The stored pages of a work by their ids, which several pages can share."""

    def __init__(self, session: Session, work_id: int, ids: Sequence[str]) -> None:
        self._work_id = work_id
        self._rows: defaultdict[str, list[PageRow]] = defaultdict(list)
        query = select(PageRow).where(PageRow.work_id == work_id, PageRow.page.in_(set(ids)))
        for row in session.scalars(query.order_by(PageRow.repeat)):
            self._rows[row.page].append(row)

    def find(self, run_id: int, place: PagePlace, page: str) -> PageRow | None:
        """The row of a page: the first with its id that this run has not used yet, preferably of the same text, else of
        a text that no longer has this page or is not part of this run; None if there is none."""
        for row in sorted(self._rows[page], key=lambda row: row.text != place.text):
            if row.text in place.copies:
                continue
            if row.run_id != run_id or (row.text, row.position) == (place.text, place.position):
                return row
        return None

    def add(self, run_id: int, place: PagePlace, page: str) -> PageRow:
        """A new row for a page; the caller adds it to the session once all its columns are set."""
        rows_of_id = self._rows[page]
        row = PageRow(work_id=self._work_id, run_id=run_id, page=page, repeat=len(rows_of_id), key="")
        _set_values(row, rows.place_values(place))
        rows_of_id.append(row)
        return row


def update_places(session: Session, pages: PageResults) -> None:
    """Update the places of stored pages. Raises OverrideChangedError."""
    overrides = overrides_of(session, [page.id for page, _ in pages])
    for page, checked in pages:
        _check_override(overrides.get(page.id), checked.override)
    unchanged = [(page, checked.place) for page, checked in pages if checked.has_key_of(page)]
    place_unchanged_pages(session, unchanged)
    changed = [(page, checked.place) for page, checked in pages if not checked.has_key_of(page)]
    follow_to_other_texts(session, changed)
    for page, checked in pages:
        page.absent = False
        _set_values(page, rows.place_values(checked.place))


def save_results(session: Session, pages: PageResults) -> None:
    """Save results to the rows of their pages, as results of the runs in these rows. A result that is stored already is
    not written again, except its image path, samples and seeded errors."""
    unchanged, changed = [], []
    for page, checked in pages:
        if checked.has_key_of(page):
            page.image = None if checked.result.image is None else str(checked.result.image)
            unchanged.append((page, checked))
        else:
            page.result_run_id, page.key = page.run_id, checked.key
            _set_values(page, rows.page_values(checked.result))
            changed.append((page, checked))
    session.flush()
    if changed:
        places = [(page, checked.place) for page, checked in changed]
        note_changed_texts(session, places)
        place_pages(session, places)
        _save_parts(session, changed)
    if unchanged:
        unchanged = _with_other_quality(session, unchanged)
    _save_flags(session, [*unchanged, *changed])


def _with_other_quality(session: Session, pages: PageResults) -> list[tuple[PageRow, CheckedResult]]:
    """The pages whose samples and seeded errors differ from the stored ones."""
    query = select(FlagRow.page_id, FlagRow.uid).where(FlagRow.page_id.in_([page.id for page, _ in pages]))
    stored: defaultdict[int, set[str]] = defaultdict(set)
    for page_id, uid in session.execute(query.where(~IS_FINDING, FlagRow.stale.is_(False))):
        stored[page_id].add(uid)
    return [(page, checked) for page, checked in pages if stored[page.id] != checked.quality.origins.keys()]


def _save_flags(session: Session, pages: PageResults) -> None:
    flags_of_pages = []
    for page, checked in pages:
        flags = checked.quality.among(checked.result.flags)
        findings = [(flag, checked.quality.origins.get(flag.id, Origin.FINDING)) for flag in flags]
        flags_of_pages.append((page, findings))
    save_flags(session, flags_of_pages, OF_CHECK)


def _save_parts(session: Session, pages: PageResults) -> None:
    """Save the columns, characters and glyphs of pages. Glyphs without new shapes keep the stored ones."""
    numbers = [page.id for page, _ in pages]
    columns = {page.id: rows.column_values(page.id, checked.result.columns) for page, checked in pages}
    _replace_rows(session, ColumnRow, _stored_rows(session, ColumnRow, numbers), columns)
    packed = {page.id: checked.packed_characters() for page, checked in pages}
    stored_characters = _stored_rows(session, CharactersRow, numbers)
    characters: dict[int, list[dict[str, Any]]] = {page: [] for page in numbers}
    for page_id, of_page in packed.items():
        if of_page is not None:
            characters[page_id].append({"page_id": page_id, "data": of_page.data})
    _replace_rows(session, CharactersRow, stored_characters, characters)
    with_glyphs = [
        (page, checked, packed[page.id])
        for page, checked in pages
        if not _has_stored_glyphs(packed[page.id], stored_characters[page.id])
    ]
    _save_glyphs(session, with_glyphs)


def _has_stored_glyphs(packed: PackedCharacters | None, stored: Sequence[Row[Any]]) -> bool:
    """Whether the glyphs of a page stay as they are: it has the `stored` characters, and no new shapes."""
    return packed is not None and packed.glyphs is None and [row.data for row in stored] == [packed.data]


def _save_glyphs(session: Session, pages: Sequence[tuple[PageRow, CheckedResult, PackedCharacters | None]]) -> None:
    stored_glyphs = _stored_rows(session, GlyphRow, [page.id for page, _, _ in pages])
    values = {}
    for page, checked, packed in pages:
        glyphs = packed.glyphs if packed else ()
        if packed is not None and glyphs is None:
            characters = packed.characters() if checked.packed else checked.result.characters
            glyphs = by_character(characters, kept_shapes([row.data for row in stored_glyphs[page.id]], characters))
        values[page.id] = glyph_values(page, glyphs or ())
    _replace_rows(session, GlyphRow, stored_glyphs, values)


Part = type[ColumnRow] | type[CharactersRow] | type[GlyphRow]
"""A table of the parts of page results other than flags."""


def _stored_rows(session: Session, table: Part, pages: Sequence[int]) -> dict[int, list[Row[Any]]]:
    """The rows of each page in a table."""
    of_page: dict[int, list[Row[Any]]] = {page: [] for page in pages}
    for row in session.execute(select(*table.__table__.c).where(table.page_id.in_(pages))):
        of_page[row.page_id].append(row)
    return of_page


def _replace_rows(
    session: Session,
    table: Part,
    stored_rows: Mapping[int, Sequence[Row[Any]]],
    new_values: Mapping[int, Sequence[dict[str, Any]]],
) -> None:
    """Replace the rows of the pages whose stored rows differ from the new values."""
    names = [column.name for column in table.__table__.c]
    changed = []
    for page, values in new_values.items():
        stored = set(map(tuple, stored_rows[page]))
        if not stored or stored != {tuple(row[name] for name in names) for row in values}:
            changed.append(page)
    outdated = [page for page in changed if stored_rows[page]]
    if outdated:
        session.execute(delete(table).where(table.page_id.in_(outdated)))
    _insert(session, table, [row for page in changed for row in new_values[page]])


def _insert(session: Session, table: Part, values: list[dict[str, Any]]) -> None:
    """Insert rows of numbers, text and bytes, which all have the same columns. They are passed to the driver as they
    are: a page has 130 of them, and SQLAlchemy takes three times as long to prepare one as the database to write it."""
    if not values:
        return
    connection = session.connection()
    statement = insert(Base.metadata.tables[table.__tablename__])
    compiled = statement.compile(dialect=connection.dialect, column_keys=list(values[0]))
    in_order = itemgetter(*compiled.positiontup) if compiled.positiontup else dict
    connection.exec_driver_sql(str(compiled), [in_order(row) for row in values])


def run_row(session: Session, run_id: int) -> RunRow:
    """The run with this number. Raises UsageError."""
    run = session.get(RunRow, run_id)
    if run is None:
        raise UsageError(_("run %(run_id)s is not in the store"), run_id=run_id)
    return run


def lock_page(session: Session, number: int) -> PageRow:
    """The page with this number, locked until the end of the transaction. Raises GonePageError."""
    page = session.get(PageRow, number, with_for_update=True)
    if page is None or page.absent:
        raise GonePageError(
            _("page %(number)s is no longer in its text; look at the list of pages again"), number=number
        )
    return page


def check_newest_run(session: Session, run: RunRow) -> None:
    """Raise OutputError if another check of the work began after this run."""
    newest = session.scalar(select(func.max(RunRow.id)).where(RunRow.work_id == run.work_id))
    if newest != run.id:
        raise OutputError(
            _("run %(run)s: another check of this work began meanwhile; run it again when that is done"), run=run.id
        )


def _check_override(stored: LayoutOverride | None, used: LayoutOverride | None) -> None:
    """Raise OverrideChangedError if a page was read with other settings than its stored override has; who set them, and
    when, does not matter."""
    settings = [
        (override.layout, override.image, override.quadrant) if override else None for override in (stored, used)
    ]
    if settings[0] != settings[1]:
        raise OverrideChangedError(stored)
