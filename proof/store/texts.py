"""Versions of texts, and the places of flags in them.

A text is a file. Each content of it that was checked or exported is a version, identified by its hash. The place of a
flag is `extent` code points from `start` in a version of its text; `reads` are the characters there, as transcribed or,
after an export, as decided. When a text gets a new version, each place is carried to it (`carried_places`):

- if its characters are unchanged, to these characters;
- if they were replaced by the decided reading, to this reading;
- otherwise the place is lost: it stays in the last version that had it. It returns with a later version that has it
  again, unless the version before that one had it, too: after a line was doubled, it is unknown which of the two was
  meant, however one of them changes later. Nor does it return if characters that may be the same were decided since.

No place is guessed or dropped.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, replace
from functools import cache, lru_cache, partial, reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, func, select, union, update
from sqlalchemy.orm import Session, load_only

from proof.errors import TextError
from proof.locale.marking import _
from proof.model.flags import LINE_BREAK, Flag, Kind, Origin, rank_on_image
from proof.store.carried_places import (
    DecidedFlag,
    Effects,
    ExportEdits,
    Place,
    TextChange,
    effects_of,
)
from proof.store.decision_records import RefusedDecisionError, State
from proof.store.models import DecisionRow, FlagRow, PageRow, TextRow, TextVersionRow
from proof.text.edit import Edit
from proof.text.encoding import Decoded
from proof.text.formats import decoded_file
from proof.text.lines import LINE_ENDING
from proof.text.positions import Span, composed


def sha_of(content: str) -> str:
    """The hash that identifies a version: SHA-256 of its content."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def content_of(version: TextVersionRow) -> str:
    """The content of a version."""
    return _unpacked(version.content)


@lru_cache(maxsize=4)
def _unpacked(packed: bytes) -> str:
    return zlib.decompress(packed).decode("utf-8", "surrogatepass")


def record_content(
    session: Session, path: str, content: str, script: str = "", *, written: ExportEdits | None = None
) -> None:
    """Make `content` the present version of the text at `path`, which may be new, and carry all places to it. For
    `script` and `written` see `TextChange`."""
    text = next(iter(lock_texts(session, [path])), None)
    before = stored_content(session, text.version_id) if text is not None else None
    if before == content and (written is None or not written.edits):
        return
    if text is None:
        text = TextRow(path=path)
        session.add(text)
        session.flush()
    version = new_version(session, text, content, written)
    change = TextChange(before, content, text.version_id, script, written)
    flags = session.scalars(select(FlagRow).where(FlagRow.text_id == text.id)).all()
    _carry(session, flags, version, change)
    if any(flag.version for flag in flags):
        text_changes_of(session).append((path, change))
    if before != content:  # else an export put back what it deleted, and its decisions are new to the pages
        same = select(TextVersionRow.id).where(TextVersionRow.text_id == text.id, TextVersionRow.sha == version.sha)
        session.execute(update(PageRow).where(PageRow.version_id.in_(same)).values(version_id=version.id))
    text.version_id = version.id
    session.flush()
    _delete_unused_versions(session, text)


def text_changes_of(session: Session) -> list[tuple[str, TextChange]]:
    """The changes of texts with decided flags in a session, each with the path of the text. The journal records
    them."""
    changes: list[tuple[str, TextChange]] = session.info.setdefault("text changes", [])
    return changes


def pieces_of(content: str, spans: Mapping[int, Span]) -> dict[int, str]:
    """The characters of a text in each of these spans, by the same numbers."""
    return {number: content[span.start : span.end] for number, span in spans.items()}


def columns_of_pages(session: Session, pages: Iterable[PageRow]) -> dict[int, dict[int, str]]:
    """The sources of the columns of pages when these were checked, by page number and column number."""
    content = contents(session)
    return {page.id: pieces_of(content(page.version_id), page.spans) for page in pages}


ColumnPlace = tuple[int | None, int]
"""The place of a column: a version of its text, and where it starts there."""


def column_places(page: PageRow) -> dict[int, ColumnPlace]:
    """The places of the columns of a page, by column number."""
    return {number: (page.version_id, span.start) for number, span in page.spans.items()}


def pages_with_columns_of(session: Session, pages: Sequence[PageRow]) -> list[PageRow]:
    """These pages of a work, and those beside them that have one of their columns: in a text without page marks, a line
    may be on several pages."""
    found, added = list(pages), list(pages)
    known = {(page.text, page.position) for page in pages}
    places = {place for page in pages for place in column_places(page).values()}
    while added:
        beside = {(page.text, page.position + step) for page in added for step in (-1, 1)} - known
        near = PageRow.text.in_({text for text, _ in beside}) & PageRow.position.in_({at for _, at in beside})
        query = select(PageRow).where(near, PageRow.work_id == pages[0].work_id, PageRow.absent.is_(False))
        others = [page for page in session.scalars(query) if (page.text, page.position) not in known]
        added = [page for page in others if not places.isdisjoint(column_places(page).values())]
        places.update(place for page in added for place in column_places(page).values())
        known |= {(page.text, page.position) for page in added}
        found += added
    return found


def of_column(pages: Iterable[PageRow], number: int) -> ColumnElement[bool]:
    """The condition in a query of flags that the flag is in this column of one of the pages, which all have it."""
    return FlagRow.page_id.in_([page.id for page in pages]) & (FlagRow.line == number)


def stored_content(session: Session, version: int | None) -> str | None:
    """The content of the version with this number; None for None."""
    return content_of(session.get_one(TextVersionRow, version)) if version is not None else None


def contents(session: Session) -> Callable[[int | None], str]:
    """The contents of versions by their numbers, each read once; empty for None."""
    return cache(lambda version: stored_content(session, version) or "")


def lock_texts(session: Session, paths: Iterable[str]) -> Sequence[TextRow]:
    """The texts at these paths, locked against new versions until the transaction ends; unknown paths are left out."""
    texts = select(TextRow).where(TextRow.path.in_(list(paths))).order_by(TextRow.id)
    return session.scalars(texts.with_for_update()).all()


def find_version(session: Session, path: str, sha: str) -> TextVersionRow | None:
    """The last version of the text at `path` with this hash, None if there is none."""
    query = select(TextVersionRow).join(TextRow, TextRow.id == TextVersionRow.text_id)
    query = query.where(TextRow.path == path, TextVersionRow.sha == sha).order_by(TextVersionRow.id.desc())
    return session.scalars(query.limit(1)).first()


def new_version(session: Session, text: TextRow, content: str, written: ExportEdits | None = None) -> TextVersionRow:
    """Add a version of a text with this content; `written` are the edits if an export made it of the last one."""
    packed = zlib.compress(content.encode("utf-8", "surrogatepass"))
    edits = [astuple(edit) for edit in written.edits] if written is not None else None
    version = TextVersionRow(text_id=text.id, sha=sha_of(content), content=packed, edits=edits)
    session.add(version)
    session.flush()
    return version


def insert_earlier_version(session: Session, text: TextRow, content: str) -> TextVersionRow:
    """Add a version with `content` that precedes the present version. As later versions have larger numbers, the
    present one gets a new number."""
    earlier = new_version(session, text, content)
    present = session.get_one(TextVersionRow, text.version_id)
    text.version_id = new_version(session, text, content_of(present)).id
    for table in (FlagRow, PageRow):
        session.execute(update(table).where(table.version_id == present.id).values(version_id=text.version_id))
    return earlier


def carry_to_present(session: Session, flags: Iterable[FlagRow]) -> None:
    """Carry the places of these flags to the present versions of their texts."""
    by_text: defaultdict[int, list[FlagRow]] = defaultdict(list)
    for flag in flags:
        if flag.text_id is not None:
            by_text[flag.text_id].append(flag)
    for text_id, of_text in by_text.items():
        text = session.get_one(TextRow, text_id)
        carried = _in_present(session, text, _places_of(session, of_text))
        for flag in of_text:
            if flag.id in carried:
                set_place(flag, carried[flag.id])
                flag.version_id = text.version_id


def changes_since(session: Session, text: int, version: int) -> dict[int, TextChange]:
    """The changes of a text since a version, in their order, by the number of the version that each made."""
    later = select(TextVersionRow).where(TextVersionRow.text_id == text, TextVersionRow.id >= version)
    changes = {}
    for before, after in pairwise(session.scalars(later.order_by(TextVersionRow.id)).all()):
        edits = _edits_of(after)
        written = None if edits is None else ExportEdits(tuple(edits))
        changes[after.id] = TextChange(content_of(before), content_of(after), before.id, written=written)
    return changes


def _edits_of(version: TextVersionRow) -> list[Edit] | None:
    """The edits by which exports made a version of the one before; None if no export did."""
    return None if version.edits is None else [Edit(*edit) for edit in version.edits]


def _in_present(session: Session, text: TextRow, places: Iterable[Place]) -> dict[int, Place]:
    """The places in the present version of a text, by flag number: carried by each of its changes since, as if the
    flags had been there. What an export wrote as one of them would have it is at that place. Lost places are left
    out."""
    now = {place.flag: place for place in places}
    oldest = min((place.version for place in now.values()), default=text.version_id)
    for number, change in changes_since(session, text.id, oldest).items():
        earlier = [place for place in now.values() if place.version < number]
        if change.written is not None:
            edits, before = change.written.edits, change.before or ""
            own = {place.flag: place.edit(before, place.decided_reading) for place in earlier if place.is_corrected}
            of_flags = {flag: edits.index(edit) for flag, edit in own.items() if edit in edits}
            carried = replace(change, written=ExportEdits(edits, of_flags)).carried(earlier)
        else:
            carried = change.carried(earlier)
        now |= {flag: replace(place, content=change.content, version=number) for flag, place in carried.items()}
    return {flag: place for flag, place in now.items() if place.version == text.version_id}


def carry_to_version(session: Session, flags: Sequence[FlagRow], version: TextVersionRow) -> None:
    """Carry the places of these flags to a version of another text."""
    _carry(session, flags, version, TextChange(None, content_of(version)))


def _carry(session: Session, flags: Sequence[FlagRow], version: TextVersionRow, change: TextChange) -> None:
    """Carry the places of these flags by a change that made this version. Lost places stay in their versions."""
    carried = change.carried(_places_of(session, [flag for flag in flags if flag.version_id != version.id]))
    for flag in flags:
        if flag.id in carried:
            set_place(flag, carried[flag.id])
            flag.text_id, flag.version_id = version.text_id, version.id


def _places_of(session: Session, flags: Iterable[FlagRow]) -> list[Place]:
    """The places of these flags, each in the last content that has it; flags without a text are left out."""
    content = contents(session)
    return [place_of(flag, content(flag.version_id)) for flag in flags if flag.version_id is not None]


def readings_before_export(session: Session, which: ColumnElement[bool]) -> dict[int, frozenset[str]]:
    """All readings that were ever decided of those of `which` flags whose text was exported since the check, by number
    of the flag."""
    is_exported = FlagRow.version_id != PageRow.version_id
    return _readings_by_flag(session, which, is_exported, DecisionRow.state == State.CORRECTED.value)


def _readings_by_flag(session: Session, *which: ColumnElement[bool]) -> dict[int, frozenset[str]]:
    given: defaultdict[int, set[str]] = defaultdict(set)
    query = select(DecisionRow.flag_id, DecisionRow.reading).join(FlagRow, FlagRow.id == DecisionRow.flag_id)
    query = query.join(PageRow, PageRow.id == FlagRow.page_id)
    for flag, reading in session.execute(query.where(*which)):
        given[flag].add(reading)
    return {flag: frozenset(readings) for flag, readings in given.items()}


def place_of(flag: FlagRow, content: str = "") -> Place:
    """The place of a flag in the last version of its text that has the place; `content` is that of this version."""
    is_seeded = flag.origin == Origin.SEEDED.value
    reading = flag.reads if is_seeded else decided_reading(flag)
    return Place(
        flag=flag.id,
        start=flag.start or 0,
        extent=flag.extent,
        reads=flag.reads,
        transcribed=flag.transcribed,
        decided_reading=reading,
        is_whole=is_seeded or flag.kind == Kind.LAYOUT.value,
        is_decided=flag.state != State.OPEN.value or flag.reads != reading,
        rank=rank_on_image(flag.evidence.get("column") or 0, flag.suggested),
        former=0 if flag.extent else flag.former,
        content=content,
        version=flag.version_id or 0,
    )


def checked_span(columns: Mapping[int, Span], flag: Flag | FlagRow) -> Span:
    """Where a flag is, if its page has these columns: at the end of the page for a column that the text lacks, at its
    beginning for a flag about the whole page (line 0)."""
    column = columns.get(flag.line)
    if column is not None:
        return Span(column.start + flag.offset, flag.length)
    start = max(columns.values()).end if flag.line else min(columns.values()).start
    return Span(start + flag.offset, flag.length)


def checked_place(page: PageRow, flag: FlagRow, content: str) -> Place:
    """The place that a flag had in the text of its page when that was checked, which had this content."""
    span = checked_span(page.spans, flag)
    reads = content[span.start : span.end]
    is_ending = flag.kind == Kind.LAYOUT.value and reads != LINE_ENDING.sub("", reads) == ""
    return place_of(flag).at(Span(min(span.start, len(content)), len(reads)), LINE_BREAK if is_ending else reads)


def set_place(flag: FlagRow, place: Place) -> None:
    """Give a flag this place in a version of its text."""
    flag.start, flag.extent, flag.reads, flag.former = place.start, place.extent, place.reads, place.former


def is_displaced() -> ColumnElement[bool]:
    """The condition in a query of flags that the place of the flag is lost."""
    present = select(TextRow.version_id).where(TextRow.id == FlagRow.text_id).scalar_subquery()
    return FlagRow.text_id.is_not(None) & (FlagRow.version_id != present)


def decision_id(extreme: Callable[..., ColumnElement[int]]) -> ScalarSelect[int]:
    """The id of the first (`func.min`) or the last (`func.max`) decision on a queried flag; null if nothing was
    decided."""
    of_flag = select(extreme(DecisionRow.id)).where(DecisionRow.flag_id == FlagRow.id)
    return of_flag.correlate(FlagRow).scalar_subquery()


def decided_flags(session: Session, text: int) -> list[DecidedFlag]:
    """The flags of a text that were decided, in all works, also those that are open again; without seeded errors."""
    present = session.get_one(TextRow, text).version_id
    query = select(FlagRow, decision_id(func.min), decision_id(func.max))
    query = query.where(FlagRow.text_id == text, FlagRow.version > 0)
    query = query.where(FlagRow.version_id.is_not(None), FlagRow.origin != Origin.SEEDED.value)
    rows = session.execute(query.order_by(FlagRow.work_id, FlagRow.id)).all()
    given = _readings_by_flag(session, FlagRow.text_id == text, FlagRow.extent == 0, FlagRow.transcribed == "")
    decided = []
    for (flag, first, last), place in zip(rows, _places_of(session, [row[0] for row in rows]), strict=True):
        here, of_flag = place if place.version == present else None, given.get(flag.id, frozenset())
        decided.append(DecidedFlag(first, last, State(flag.state), flag.suggested, place, here, of_flag))
    return decided


def effects_in(session: Session, text: int) -> Effects:
    """The effects of the decisions on a text, whose content is the stored one."""
    content = stored_content(session, session.get_one(TextRow, text).version_id)
    return effects_of(decided_flags(session, text), content or "")


def check_place(session: Session, flag: FlagRow, reading: str) -> None:
    """Raise RefusedDecisionError if the file of a flag has no place for `reading`, as within the mark of a heading. A
    file that is gone or was changed is not asked; the export asks it again."""
    text = session.get(TextRow, flag.text_id) if flag.text_id is not None else None
    if text is None or flag.start is None or flag.version_id != text.version_id:
        return
    with suppress(OSError, TextError):
        stat = Path(text.path).stat()
        decoded = _decoded(text.path, stat.st_mtime_ns, stat.st_size)
        edit = place_of(flag).edit(decoded.text, reading)
        if not decoded.holds(edit) and decoded.text == stored_content(session, text.version_id):
            raise RefusedDecisionError(_("the file has no place of its own for it; correct the file itself"))


@lru_cache(maxsize=32)
def _decoded(path: str, _changed: int, _size: int) -> Decoded:
    """The file at `path`, as it was last changed."""
    return decoded_file(path)


def decided_reading(flag: FlagRow) -> str:
    """The reading that belongs at the place of a flag: the corrected one, or else the transcribed one."""
    return flag.reading if flag.state == State.CORRECTED.value else flag.transcribed


def share_place(session: Session, flag: FlagRow) -> None:
    """Give the flag of a correction the place of the same correction in another work, if an export wrote that one after
    the page of the flag was checked: the person did not see it, and the text has what they decided."""
    page = session.get_one(PageRow, flag.page_id)
    text = session.get(TextRow, flag.text_id) if flag.text_id is not None else None
    is_pending = flag.state == State.CORRECTED.value and flag.reads == flag.transcribed != flag.reading
    if text is None or not (is_pending and page.lines) or page.text_id != text.id or page.version_id is None:
        return
    same = select(FlagRow).where(FlagRow.text_id == text.id, FlagRow.version_id == text.version_id)
    same = same.where(FlagRow.transcribed == flag.transcribed, FlagRow.reads == flag.reading)
    written = session.scalars(same.where(FlagRow.origin != Origin.SEEDED.value)).all()
    if all(row.work_id == flag.work_id for row in written):
        return
    content = stored_content(session, page.version_id) or ""
    checked = replace(checked_place(page, flag, content), content=content, version=page.version_id)
    place = _in_present(session, text, [checked]).get(flag.id)
    if place is not None and place.is_written:
        works = {row.work_id for row in written if (row.start, row.former) == (place.start, place.former)}
        if works and flag.work_id not in works:
            set_place(flag, place)
            flag.version_id = text.version_id


def _delete_unused_versions(session: Session, text: TextRow) -> None:
    """Delete the versions of a text before that of its oldest page that no flag or page refers to. The version after
    deleted ones gets the edits by which exports made it of the last one before them, if exports made them all."""
    of_pages = select(PageRow.version_id).where(PageRow.text_id == text.id, PageRow.version_id.is_not(None))
    of_flags = select(FlagRow.version_id).where(FlagRow.text_id == text.id, FlagRow.version_id.is_not(None))
    oldest = session.scalar(select(func.min(of_pages.where(PageRow.absent.is_(False)).subquery().c.version_id)))
    needed = TextVersionRow.id.in_(union(of_pages, of_flags, select(TextRow.version_id)))
    query = select(TextVersionRow, needed | (TextVersionRow.id > (oldest or text.version_id)))
    query = query.where(TextVersionRow.text_id == text.id).order_by(TextVersionRow.id)
    before: TextVersionRow | None = None
    unused: list[TextVersionRow] = []
    for version, is_kept in session.execute(query.options(load_only(TextVersionRow.id))).all():
        if not is_kept:
            unused.append(version)
            continue
        if unused:
            version.edits = _edits_over(before, [*unused, version])
        for deleted in unused:
            session.delete(deleted)
        before, unused = version, []
    session.flush()


def _edits_over(before: TextVersionRow | None, versions: Sequence[TextVersionRow]) -> list[Any] | None:
    """The edits that make the last of consecutive versions of the one `before` them; None if exports did not make them
    all."""
    made = [edits for edits in map(_edits_of, versions) if edits is not None]
    if before is None or len(made) < len(versions):
        return None
    return [astuple(edit) for edit in reduce(partial(composed, content_of(before)), made)]
