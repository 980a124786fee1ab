"""Results of pages into the tables: their columns and characters, their flags beside those that were there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from sqlalchemy import Row, Table, delete, func, insert, select
from sqlalchemy.orm import Session

from proof.errors import GonePageError, OutputError, UsageError
from proof.locale.marking import _
from proof.model.flags import Origin
from proof.model.quality import NO_QUALITY, QualityFlags
from proof.model.result import CheckedCharacter, PageResult
from proof.store import codec, rows
from proof.store.glyphs import GlyphsByCharacter, Shapes, by_character, glyph_values, kept_shapes
from proof.store.layout_overrides import LayoutOverride, ReadOtherwiseError, overrides_of
from proof.store.models import Base, CharactersRow, ColumnRow, FlagRow, GlyphRow, PageRow, RunRow
from proof.store.page_states import note_otherwise
from proof.store.places import (
    OF_CHECK,
    follow_to_other_texts,
    place_pages,
    place_unchanged_pages,
    save_flags,
)
from proof.store.rows import PagePlace
from proof.store.seeded import IS_FINDING


@dataclass(frozen=True, slots=True)
class PackedCharacters:
    """The characters of a page as the store keeps them: `data` all of them (`codec`), and their glyphs, None where the
    shapes of these are kept already. Made where the page was read: it takes half of the time of writing a page."""

    data: bytes
    glyphs: GlyphsByCharacter | None

    @classmethod
    def of(cls, characters: Sequence[CheckedCharacter], shapes: Shapes | None) -> PackedCharacters:
        return cls(codec.pack(characters), None if shapes is None else by_character(characters, shapes))

    def characters(self) -> tuple[CheckedCharacter, ...]:
        """They as they were, to the last bit."""
        return codec.unpack(self.data)


@dataclass(frozen=True, slots=True)
class KeptResult:
    """A page result as the store has it: without its characters, which are `packed`, None where there are none. Where
    nothing changed nobody looks at them, and they are four fifths of what a page takes to be made out of its rows."""

    result: PageResult
    packed: PackedCharacters | None

    def whole(self) -> PageResult:
        """The result with its characters."""
        return replace(self.result, characters=self.packed.characters()) if self.packed else self.result


@dataclass(frozen=True, slots=True)
class CheckedResult:
    """The result of a page at its place, read as `override` says, with the `key` of all that it depends on (at most 128
    letters, the page's id among it): where the page is there with the same key only its place is noted, and which
    samples and seeded errors are wanted now (`quality`), since these are no part of what was found. An empty key is
    never found again. `shapes` are those of its characters' glyphs, None where they are kept already. Where there are
    characters that were `packed`, these are its characters and glyphs, and the result has none."""

    place: PagePlace
    key: str
    result: PageResult
    override: LayoutOverride | None = None
    shapes: Shapes | None = None
    quality: QualityFlags = NO_QUALITY
    packed: PackedCharacters | None = None

    def ready(self) -> PackedCharacters | None:
        """Its characters as they are kept; None where it has none."""
        if self.packed is not None:
            return self.packed
        return PackedCharacters.of(self.result.characters, self.shapes) if self.result.characters else None


def kept_result(session: Session, key: str) -> KeptResult | None:
    """The result of the page that has that key, if there is one."""
    page = session.scalars(select(PageRow).where(PageRow.key == key).order_by(PageRow.id).limit(1)).first()
    if page is None:
        return None
    (result,) = rows.results(session, [page], characters=False)
    data = rows.packed_characters(session, [page.id]).get(page.id)
    return KeptResult(result, PackedCharacters(data, None) if data is not None else None)


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


def save_results(session: Session, pages: Sequence[tuple[PageRow, CheckedResult]]) -> None:
    """What was found on pages that are there, as results of the run that each is in, and what proofreaders meet beside
    it. Without shapes of its glyphs a page keeps those that it had. What stands there already is not written again."""
    kept, anew = [], []
    for page, checked in pages:
        if page.key == checked.key != "":
            page.image = None if checked.result.image is None else str(checked.result.image)
            kept.append((page, checked))
        else:
            page.result_run_id, page.key = page.run_id, checked.key
            set_values(page, rows.page_values(checked.result))
            anew.append((page, checked))
    session.flush()
    if anew:
        note_otherwise(session, [(page, checked.place) for page, checked in anew])
        place_pages(session, ((page, checked.place) for page, checked in anew))
        _save_parts(session, anew)
    _save_flags(session, [*(_with_other_quality(session, kept) if kept else ()), *anew])


def _with_other_quality(
    session: Session, pages: Sequence[tuple[PageRow, CheckedResult]]
) -> Iterator[tuple[PageRow, CheckedResult]]:
    """The pages that are to have other samples and seeded errors than they have."""
    there = select(FlagRow.page_id, FlagRow.uid).where(FlagRow.page_id.in_([page.id for page, _ in pages]))
    held: defaultdict[int, set[str]] = defaultdict(set)
    for page_id, uid in session.execute(there.where(~IS_FINDING, FlagRow.stale.is_(False))):
        held[page_id].add(uid)
    yield from ((page, checked) for page, checked in pages if held[page.id] != checked.quality.origins.keys())


def _save_flags(session: Session, pages: Sequence[tuple[PageRow, CheckedResult]]) -> None:
    to_place = []
    for page, checked in pages:
        flags = checked.quality.among(checked.result.flags)
        findings = [(flag, checked.quality.origins.get(flag.id, Origin.FINDING)) for flag in flags]
        to_place.append((page, findings))
    save_flags(session, to_place, OF_CHECK)


def _save_parts(session: Session, pages: Sequence[tuple[PageRow, CheckedResult]]) -> None:
    ids = [page.id for page, _ in pages]
    packed = {page.id: checked.ready() for page, checked in pages}
    columns = {page.id: rows.column_values(page.id, checked.result.columns) for page, checked in pages}
    _bring_to(session, ColumnRow, _rows_of(session, ColumnRow, ids), columns)
    known = _rows_of(session, CharactersRow, ids)
    characters = {page.id: _character_values(page, packed[page.id]) for page, _ in pages}
    _bring_to(session, CharactersRow, known, characters)
    _save_glyphs(
        session,
        [(page, checked, packed[page.id]) for page, checked in pages if not _as_kept(packed[page.id], known[page.id])],
    )


def _as_kept(packed: PackedCharacters | None, rows_of_page: Sequence[Row[Any]]) -> bool:
    """Whether the characters of a page are those that are kept, and no new shapes of their glyphs came with them."""
    return packed is not None and packed.glyphs is None and [row.data for row in rows_of_page] == [packed.data]


def _save_glyphs(session: Session, pages: Sequence[tuple[PageRow, CheckedResult, PackedCharacters | None]]) -> None:
    there = _rows_of(session, GlyphRow, [page.id for page, _, _ in pages])
    wanted = {}
    for page, checked, packed in pages:
        glyphs = packed.glyphs if packed else ()
        if packed is not None and glyphs is None:
            own = packed.characters() if checked.packed else checked.result.characters
            glyphs = by_character(own, kept_shapes([row.data for row in there[page.id]], own))
        wanted[page.id] = glyph_values(page, glyphs or ())
    _bring_to(session, GlyphRow, there, wanted)


def _character_values(page: PageRow, packed: PackedCharacters | None) -> list[dict[str, Any]]:
    return [{"page_id": page.id, "data": packed.data}] if packed else []


Part = type[ColumnRow] | type[CharactersRow] | type[GlyphRow]
"""Tables that hold what was found on pages, but for flags."""


def _rows_of(session: Session, table: Part, pages: Sequence[int]) -> dict[int, list[Row[Any]]]:
    """The rows of each page in a table."""
    of_page: dict[int, list[Row[Any]]] = {page: [] for page in pages}
    for row in session.execute(select(*table.__table__.c).where(table.page_id.in_(pages))):
        of_page[row.page_id].append(row)
    return of_page


def _bring_to(
    session: Session, table: Part, there: dict[int, list[Row[Any]]], wanted: dict[int, list[dict[str, Any]]]
) -> None:
    """Make the rows of pages those that are `wanted`, where others are `there`."""
    names = [column.name for column in table.__table__.c]
    others = [
        page
        for page, values in wanted.items()
        if not there[page] or {tuple(row[name] for name in names) for row in values} != set(map(tuple, there[page]))
    ]
    gone = [page for page in others if there[page]]
    if gone:
        session.execute(delete(table).where(table.page_id.in_(gone)))
    _insert(session, table, [values for page in others for values in wanted[page]])


def _table(row: type[Base]) -> Table:
    """The table itself: rows of it are no objects that a session has to look after."""
    return Base.metadata.tables[row.__tablename__]


def _insert(session: Session, table: Part, values: list[dict[str, Any]]) -> None:
    """Insert rows of numbers, text and bytes, all of the same columns. They go to the driver as they are: a page has
    130 of them, and to prepare one takes SQLAlchemy three times as long as the database takes to write it."""
    if not values:
        return
    connection = session.connection()
    statement = insert(_table(table)).compile(dialect=connection.dialect, column_keys=list(values[0]))
    in_order = itemgetter(*statement.positiontup) if statement.positiontup else dict
    connection.exec_driver_sql(str(statement), [in_order(row) for row in values])


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
        own before that of another text which no longer has this page, or is no part of this run."""
        for row in sorted(self._rows[page], key=lambda row: row.text != place.text):
            if row.text in place.copies:
                continue
            if row.run_id != run_id or (row.text, row.position) == (place.text, place.position):
                return row
        return None

    def add(self, run_id: int, place: PagePlace, page: str) -> PageRow:
        """A row for another page of that id, to be added to the store once it holds what it must."""
        bearers = self._rows[page]
        row = PageRow(work_id=self._work_id, run_id=run_id, page=page, repeat=len(bearers), key="")
        set_values(row, rows.place_values(place))
        bearers.append(row)
        return row


def save_run_pages(session: Session, run: RunRow, pages: Sequence[CheckedResult]) -> None:
    """The pages as this run found them. Raises ReadOtherwiseError, OutputError where another run began."""
    there = Bearers(session, run.work_id, [checked.result.page for checked in pages])
    fresh: list[tuple[PageRow, CheckedResult]] = []
    again: list[tuple[PageRow, CheckedResult]] = []
    for checked in pages:
        page = there.of(run.id, checked.place, checked.result.page)
        if page is None:
            fresh.append((there.add(run.id, checked.place, checked.result.page), checked))
            continue
        if page.run_id > run.id:
            check_newest_run(session, run)
        page.run_id = run.id
        again.append((page, checked))
    if again:
        _place_again(session, again)
    session.add_all(page for page, _ in fresh)
    save_results(session, [*again, *fresh])


def _place_again(session: Session, pages: Sequence[tuple[PageRow, CheckedResult]]) -> None:
    """Note where pages stand now that were there before. Raises ReadOtherwiseError."""
    held = overrides_of(session, [page.id for page, _ in pages])
    for page, checked in pages:
        check_override(held.get(page.id), checked.override)
    place_unchanged_pages(session, [(page, checked.place) for page, checked in pages if page.key == checked.key != ""])
    follow_to_other_texts(
        session, ((page, checked.place) for page, checked in pages if page.key != checked.key or not checked.key)
    )
    for page, checked in pages:
        page.absent = False
        set_values(page, rows.place_values(checked.place))


def run_row(session: Session, run_id: int) -> RunRow:
    """The run of that number. Raises UsageError."""
    run = session.get(RunRow, run_id)
    if run is None:
        raise UsageError(_("run %(run_id)s is not in the store"), run_id=run_id)
    return run


def lock_page(session: Session, number: int) -> PageRow:
    """The page of that number, held until the end of the transaction. Raises GonePageError."""
    page = session.get(PageRow, number, with_for_update=True)
    if page is None or page.absent:
        raise GonePageError(
            _("page %(number)s is no longer in its text; look at the list of pages again"), number=number
        )
    return page


def check_newest_run(session: Session, run: RunRow) -> None:
    """Raises OutputError where another check of the work began after this one."""
    newest = session.scalar(select(func.max(RunRow.id)).where(RunRow.work_id == run.work_id))
    if newest != run.id:
        raise OutputError(
            _("run %(run)s: another check of this work began meanwhile; run it again when that is done"), run=run.id
        )


def check_override(held: LayoutOverride | None, override: LayoutOverride | None) -> None:
    """Raises ReadOtherwiseError where the two do not say the same, whoever said it and when."""
    settings = [(setting.layout, setting.image, setting.quadrant) if setting else None for setting in (held, override)]
    if settings[0] != settings[1]:
        raise ReadOtherwiseError(held)
