"""Texts by version, and how the places of flags follow them from one version to the next.

A text is a file. Each content of it that was checked or written is a version, identified by its hash. The place of a
flag is `extent` code points from `start` in a version of its text; `reads` are the characters there, as transcribed or,
after an export, as decided. When a text arrives in a new version, each place is carried to it (`PositionMap`):

- if its characters are unchanged, the place is theirs;
- if they were replaced by the decided reading, the place is that of the reading;
- otherwise the place is lost and stays in the last version that had it. A later version that has it again brings it
  back, unless the version before that one had it too: after a line was doubled, nothing tells which of the two was
  meant, however one of them changes later. Nor does a place return if characters that may be the same were decided
  since.

No place is guessed or dropped.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from math import inf

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.orm import Session

from proof.model.flags import Kind, Origin
from proof.store.decision_records import State
from proof.store.models import FlagRow, PageRow, TextRow, TextVersionRow
from proof.text.edit import Edit
from proof.text.model import Script
from proof.text.positions import PositionMap, Span, line_end
from proof.text.variants import VariantPolicy, policy_of


@dataclass(frozen=True, slots=True)
class ExportEdits:
    """The edits that an export made to a text; `of_flags` are those that wrote the decision on a flag, by its
    number."""

    edits: tuple[Edit, ...]
    of_flags: Mapping[int, Edit] = field(default_factory=dict)


def policy_of_script(script: str) -> VariantPolicy:
    """The variant policy of a stored script; that of traditional script for an unknown one."""
    return policy_of(Script(script) if script in set(Script) else Script.TRADITIONAL)


def sha_of(content: str) -> str:
    """The hash that identifies a version: SHA-256 of its content."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def content_of(version: TextVersionRow) -> str:
    """The content of the file in that version."""
    return _unpacked(version.content)


@lru_cache(maxsize=4)
def _unpacked(packed: bytes) -> str:
    return zlib.decompress(packed).decode("utf-8", "surrogatepass")


def record_content(
    session: Session, path: str, content: str, script: str = "", *, written: ExportEdits | None = None
) -> TextVersionRow:
    """Make `content` the present version of the text at `path` and carry all places to it; returns the version.
    `script` determines in which variant forms a reading may be written; `written` are the edits of the export that made
    the change, if one did."""
    text = next(iter(lock_texts(session, [path])), None)
    if text is None:
        text = TextRow(path=path)
        session.add(text)
        session.flush()
    before = session.get(TextVersionRow, text.version_id) if text.version_id is not None else None
    if before is not None and before.sha == sha_of(content):
        return before
    version = new_version(session, text, content)
    arrival = TextChange(content_of(before) if before is not None else None, content, text.version_id, script, written)
    flags = session.scalars(select(FlagRow).where(FlagRow.text_id == text.id)).all()
    _carry(session, flags, version, arrival)
    if any(flag.version for flag in flags):
        text_changes_of(session).append((path, arrival))
    same = select(TextVersionRow.id).where(TextVersionRow.text_id == text.id, TextVersionRow.sha == version.sha)
    session.execute(update(PageRow).where(PageRow.version_id.in_(same)).values(version_id=version.id))
    text.version_id = version.id
    session.flush()
    _forget_unused(session, text)
    return version


def text_changes_of(session: Session) -> list[tuple[str, TextChange]]:
    """The arrivals of texts in a session that carried decided places, each with the path of its file."""
    arrivals: list[tuple[str, TextChange]] = session.info.setdefault("arrivals", [])
    return arrivals


def pieces_of(content: str, spans: Mapping[int, Span]) -> dict[int, str]:
    """The characters of a text at each of these spans, by the same numbers."""
    return {number: content[span.start : span.end] for number, span in spans.items()}


def columns_of_pages(session: Session, pages: Iterable[PageRow]) -> dict[int, dict[int, str]]:
    """The sources of the columns of pages, by the number of the page and that of the column, as they were when the
    pages were checked."""
    content = cache(lambda version: stored_content(session, version) or "")
    return {page.id: pieces_of(content(page.version_id), page.spans) for page in pages}


def stored_content(session: Session, version: int | None) -> str | None:
    return content_of(session.get_one(TextVersionRow, version)) if version is not None else None


def lock_texts(session: Session, paths: Iterable[str]) -> Sequence[TextRow]:
    """The texts at these paths, locked against new versions until the transaction ends; unknown paths are left out."""
    texts = select(TextRow).where(TextRow.path.in_(list(paths))).order_by(TextRow.id)
    return session.scalars(texts.with_for_update()).all()


def find_version(session: Session, path: str, sha: str) -> TextVersionRow | None:
    """The last version of the text at `path` with this hash, None if there is none."""
    known = select(TextVersionRow).join(TextRow, TextRow.id == TextVersionRow.text_id)
    known = known.where(TextRow.path == path, TextVersionRow.sha == sha).order_by(TextVersionRow.id.desc())
    return session.scalars(known.limit(1)).first()


def new_version(session: Session, text: TextRow, content: str) -> TextVersionRow:
    """Add a version of a text with this content."""
    packed = zlib.compress(content.encode("utf-8", "surrogatepass"))
    version = TextVersionRow(text_id=text.id, sha=sha_of(content), content=packed)
    session.add(version)
    session.flush()
    return version


def insert_earlier_version(session: Session, text: TextRow, content: str) -> TextVersionRow:
    """Add a version with `content` that precedes the present version. As later versions have larger numbers, the
    present one gets a new number."""
    earlier = new_version(session, text, content)
    present = text.version_id
    if present is not None:
        text.version_id = new_version(session, text, content_of(session.get_one(TextVersionRow, present))).id
        for table in (FlagRow, PageRow):
            session.execute(update(table).where(table.version_id == present).values(version_id=text.version_id))
    return earlier


def carry_to_present(session: Session, flags: Iterable[FlagRow]) -> None:
    """Carry the places of these flags to the present versions of their texts."""
    by_text: defaultdict[int, list[FlagRow]] = defaultdict(list)
    for flag in flags:
        if flag.text_id is not None:
            by_text[flag.text_id].append(flag)
    for number, of_text in by_text.items():
        present = session.get_one(TextRow, number).version_id
        if present is not None:
            carry_to_version(session, of_text, session.get_one(TextVersionRow, present))


def carry_to_version(session: Session, flags: Sequence[FlagRow], version: TextVersionRow) -> None:
    """Carry the places of these flags to a version of their own or another text."""
    present = session.get_one(TextRow, version.text_id).version_id
    before = stored_content(session, present) if present != version.id else None
    _carry(session, flags, version, TextChange(before, content_of(version), present))


def _carry(session: Session, flags: Sequence[FlagRow], version: TextVersionRow, arrival: TextChange) -> None:
    contents = {
        number: stored_content(session, number) or "" for number in {flag.version_id for flag in flags} - {None}
    }
    standing = [
        VersionedPlace(place_of(flag), contents[flag.version_id], flag.version_id)
        for flag in flags
        if flag.version_id not in (None, version.id)
    ]
    carried_places = arrival.carried(standing)
    for flag in flags:
        if flag.id in carried_places:  # a lost place stays in its last version
            (flag.start, flag.extent), flag.reads = carried_places[flag.id]
            flag.text_id, flag.version_id = version.text_id, version.id


def place_of(flag: FlagRow) -> Place:
    """The place of a flag in the last version of its text that has the place."""
    seeded = flag.origin == Origin.SEEDED.value
    whole = seeded or flag.kind == Kind.LAYOUT.value
    wanted = flag.reads if seeded else decided_reading(flag)
    decided = flag.state != State.OPEN.value or flag.reads != wanted
    column = (flag.evidence or {}).get("column") or 0
    return Place(
        flag=flag.id or 0,
        start=flag.start or 0,
        extent=flag.extent,
        reads=flag.reads,
        transcribed=flag.transcribed,
        wanted=wanted,
        whole=whole,
        decided=decided,
        column=column,
    )


def is_displaced() -> ColumnElement[bool]:
    """The condition that the place of a queried flag is lost."""
    present = select(TextRow.version_id).where(TextRow.id == FlagRow.text_id).scalar_subquery()
    return FlagRow.text_id.is_not(None) & (FlagRow.version_id != present)


def decided_reading(flag: FlagRow) -> str:
    """The reading that belongs at the place of a flag: the decided one if it is corrected, else the transcribed one."""
    return flag.reading if flag.state == State.CORRECTED.value else flag.transcribed


@dataclass(frozen=True, slots=True)
class Place:
    """The place of the flag number `flag` in a version of a text: `extent` code points from `start`, which are `reads`.

    `transcribed` are the characters at the time of the check, `wanted` those that belong there after decisions. A
    `whole` place (of a seeded error, a column or a page) is lost if its characters change, even to another of its
    readings. `decided`: somebody decided its reading. `column`: the number on the image of a whole column, 0 for any
    other place.
    """

    flag: int
    start: int
    extent: int
    reads: str
    transcribed: str
    wanted: str
    whole: bool = False
    decided: bool = False
    column: int = 0


@dataclass(frozen=True, slots=True)
class VersionedPlace:
    """A place, and the content and the number of the last version of its text that has it. Later versions have larger
    numbers."""

    place: Place
    content: str
    version: int


def is_deleted_with_its_line(place: Place, content: str) -> bool:
    """Whether a lost place is that of an exported deletion which left only marks on its line. `content` is the last
    version that had the place. The line was then removed since, and the text reads as decided."""
    line, _ = _in_line(content, Span(place.start, place.extent))
    return bool(place.transcribed) and not place.reads and not place.wanted and not any(map(str.isalnum, line))


@dataclass(frozen=True, slots=True)
class _Corrected:
    """The `span` of a place in the new text, assuming that somebody wrote the pending decisions into the old one. Its
    line with these decisions is the corrected line.

    `distance` is that of the corrected line from the new text (`PositionMap.distance`). `line_stands`: the new text has
    the corrected line; `line_is_new`: the old text lacked it. `pending`: the decision on this place was not yet
    written."""

    span: Span
    distance: int
    line_stands: bool
    line_is_new: bool
    pending: bool


@dataclass(frozen=True, slots=True)
class TextChange:
    """A change of a text from `before`, the content of the version number `version` (both None if unknown), to
    `content`. `written` are the edits of the export that made the change, if one did; `script` determines in which
    variant forms a reading may be written."""

    before: str | None
    content: str
    version: int | None = None
    script: str = ""
    written: ExportEdits | None = None

    def carried(self, standing: Iterable[VersionedPlace]) -> dict[int, tuple[Span, str]]:
        """The span of each place in `content` and the reading found there, by flag number, without lost places. An edit
        from outside may bring back what was lost before; an export brings nothing back."""
        of_version: defaultdict[tuple[int, str], list[VersionedPlace]] = defaultdict(list)
        for known_place in standing:
            of_version[known_place.version, known_place.content].append(known_place)
        carried: dict[int, tuple[Span, str]] = {}
        decided_spans: defaultdict[tuple[str, bool], list[tuple[int, Span]]] = defaultdict(list)
        for (version, content), of_same_version in sorted(of_version.items(), reverse=True):
            is_previous = version == self.version
            if self.written is not None and not is_previous:
                continue
            places = [known_place.place for known_place in of_same_version]
            step = _Step(content, self, places, None if is_previous else self.before)
            found = {place.flag: in_new for place in places if (in_new := step.in_new(place)) is not None}
            for place in places:
                in_new = found.get(place.flag)
                line, span = (
                    _in_line(self.content, in_new[0]) if in_new else _in_line(content, Span(place.start, place.extent))
                )
                decided = decided_spans[line, place.whole]
                returns = in_new is not None and not is_previous
                # characters that may be the same were decided since
                if returns and any(later > version and _meet(span, other) for later, other in decided):
                    del found[place.flag]
                elif place.decided:
                    decided.append((version, span))
            carried |= found
        return carried


def _in_line(text: str, span: Span) -> tuple[str, Span]:
    """The line in which a span begins, and the span relative to the line."""
    begin = text.rfind("\n", 0, span.start) + 1
    return text[begin : line_end(text, span.start)], Span(span.start - begin, span.length)


def _meet(span: Span, other: Span) -> bool:
    """Whether two spans share a character or are equal."""
    return span == other or (span.start < other.end and other.start < span.end)


class _Step:
    """Carries places from the content `old` to an arriving version. `lost_in` is the content of the version before the
    arriving one if that version had lost the places: characters that it had are not those of a lost place."""

    def __init__(self, old: str, arrival: TextChange, places: Sequence[Place], lost_in: str | None) -> None:
        new, script, written = arrival.content, arrival.script, arrival.written
        self._new = new
        self._written = written
        self._policy = policy_of_script(script)
        if written is not None:
            self._direct = PositionMap.of_edits(old, written.edits)
        else:
            self._direct = PositionMap.of_comparison(old, new)
        self._inserted_at = self._inserted(places)
        self._corrected = {} if written is not None or old == new else self._as_corrected(old, places)
        self._to_lost = PositionMap.of_comparison(new, lost_in) if lost_in is not None else None

    def in_new(self, place: Place) -> tuple[Span, str] | None:
        """The span of a place in the new version and the reading found there; None if the place is lost."""
        carried = self._carried(place)
        was_there = self._to_lost is not None and carried is not None and self._to_lost.where(*carried[0]) is not None
        return None if was_there else carried

    def _carried(self, place: Place) -> tuple[Span, str] | None:
        if self._written is not None and place.flag in self._written.of_flags:
            replacement = self._direct.written(self._written.of_flags[place.flag])
            return (replacement, place.wanted) if replacement is not None else None
        unchanged = self._beside_inserted(place) or self._direct.where(place.start, place.extent)
        line_stands = self._direct.line_stands(place.start)
        corrected = self._corrected.get(place.flag)
        if corrected is not None and corrected.line_stands:
            if not line_stands and (corrected.pending or unchanged is None):
                return corrected.span, place.wanted if corrected.pending else place.reads
            if line_stands and corrected.pending and (corrected.line_is_new or unchanged is None):
                return None  # the line was doubled and one copy corrected
        elif corrected is not None and corrected.pending and not line_stands:
            nearer = self._direct.distance(place.start) - corrected.distance
            if nearer > 0 or (nearer == 0 and unchanged is None):
                return corrected.span, place.wanted
        if unchanged is not None:
            return unchanged, place.reads
        return None if place.whole else self._put_in_place(place)

    def _inserted(self, places: Iterable[Place]) -> dict[int, list[tuple[float, Span]]]:
        """By its start in the old content, what the export inserted there: the span of each insertion, and its rank in
        the order of the image. The rank of a column is its number; characters rank after all columns at the beginning
        of a line, and before them at its end."""
        inserted: defaultdict[int, list[tuple[float, Span]]] = defaultdict(list)
        for place in places:
            edit = self._written.of_flags.get(place.flag) if self._written is not None else None
            span = self._direct.written(edit) if edit is not None and not edit.length else None
            if span is not None:
                rank_of_characters = inf if self._direct.begins_line(place.start) else 0
                inserted[place.start].append((place.column or rank_of_characters, span))
        return inserted

    def _beside_inserted(self, place: Place) -> Span | None:
        """The place of a missing column, as an empty span between the columns or characters that the export inserted at
        the same place; None if it inserted nothing there."""
        inserted = self._inserted_at.get(place.start, ()) if place.column and not place.extent else ()
        after = [span.start for rank, span in inserted if rank > place.column]
        before = [span.end for rank, span in inserted if rank < place.column]
        return Span(min(after) if after else max(before), 0) if after or before else None

    def _put_in_place(self, place: Place) -> tuple[Span, str] | None:
        """The span of a replacement that equals the decided reading, or the transcribed one, in any variant form, and
        that reading; None for any other replacement."""
        span = self._direct.instead(place.start, place.extent)
        if span is None:
            return None
        replacement = self._new[span.start : span.end]
        for wanted in (place.wanted, place.transcribed):
            if wanted != place.reads and re.fullmatch(self._policy.pattern(wanted), replacement) is not None:
                return span, wanted
        return None

    def _as_corrected(self, old: str, places: Iterable[Place]) -> dict[int, _Corrected]:
        """The places in the new version, by flag number, assuming that all pending decisions were written into `old`,
        as in a text that somebody corrected by hand in the same way."""
        pending: dict[Span, Place] = {}
        reached = 0
        waiting = [place for place in places if place.reads != place.wanted and not place.whole]
        for place in sorted(waiting, key=lambda place: (place.start, place.extent)):
            span = Span(place.start, place.extent)
            if span.start >= reached and span not in pending:
                pending[span] = place
                reached = span.end
        if not pending:
            return {}
        correction = PositionMap.of_edits(old, [Edit(*span, place.wanted) for span, place in pending.items()])
        arrival = PositionMap.of_comparison(correction.new, self._new)
        lines_before = set(old.split("\n"))
        corrected_of = {}
        for place in places:
            span = Span(place.start, place.extent)
            is_pending = pending.get(span) is place
            inside = correction.instead(*span) if is_pending else correction.where(*span)
            arrived = arrival.where(*inside) if inside is not None else None
            if inside is not None and arrived is not None:
                at = inside.start
                corrected_of[place.flag] = _Corrected(
                    span=arrived,
                    distance=arrival.distance(at),
                    line_stands=arrival.line_stands(at),
                    line_is_new=arrival.line(at) not in lines_before,
                    pending=is_pending,
                )
        return corrected_of


def _forget_unused(session: Session, text: TextRow) -> None:
    """Delete the versions of a text that no flag or page refers to."""
    used = {
        text.version_id,
        *session.scalars(select(FlagRow.version_id).where(FlagRow.text_id == text.id).distinct()),
        *session.scalars(select(PageRow.version_id).where(PageRow.text_id == text.id).distinct()),
    }
    kept = [number for number in used if number is not None]
    gone = delete(TextVersionRow).where(TextVersionRow.text_id == text.id, TextVersionRow.id.not_in(kept))
    session.execute(gone, execution_options={"synchronize_session": False})
