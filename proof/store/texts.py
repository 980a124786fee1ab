"""Texts by version, and how the places of flags follow them from one version to the next.

A text is a file. Each content of it that was checked or written is a version, known by its hash. A flag stands at a
place: `extent` code points from `start` on in a version of its text, which reads there what was transcribed or, once it
was written, what was decided (`reads`). When a text arrives in another version every place of it is carried there
(`PositionMap`):

- its characters stand: so does the place;
- they gave way to what was decided: the place is where that stands;
- anything else: the place is lost. It stays in the last version that had it, until one arrives that has it again, and
  did not have it meanwhile: of a line that was doubled nobody can say which of the two was meant, however one of them
  is changed later. Nor does it come back where something was decided since of what may be the same characters.

Nothing is guessed, and no place is dropped.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.orm import Session

from proof.model.flags import Kind, Origin
from proof.store.decision_records import State
from proof.store.lookup import StorePart
from proof.store.models import FlagRow, PageRow, TextRow, TextVersionRow
from proof.text.edit import Edit
from proof.text.model import Script
from proof.text.positions import PositionMap, Span, line_end
from proof.text.variants import policy_of


@dataclass(frozen=True, slots=True)
class Writing:
    """What an export wrote into a text: the edits of its content, and which of them wrote what was decided of a flag,
    by the flag's number."""

    edits: tuple[Edit, ...]
    of_flags: Mapping[int, Edit] = field(default_factory=dict)


class Texts(StorePart):
    """The texts of a store; `Store.text_versions` is one."""

    def arrive(self, path: str, content: str, script: str, still: Callable[[], bool]) -> bool:
        """Note that a text that lies at `path` reads `content`. Gives False, and notes nothing, where it lies elsewhere
        by now, or no longer reads so as `still` says, which is asked while nobody else can note another version."""
        with self._writing() as session:
            here = bool(hold(session, [path])) and still()
            if here:
                arrive(session, path, content, script)
        return here

    def paths(self) -> set[str]:
        """Where the texts lie that the store knows, each where it was checked or written last."""
        with self._reading() as session:
            return set(session.scalars(select(TextRow.path)))

    def content(self, path: str) -> str:
        """What the text at `path` read when it was checked or written last; nothing where it never was."""
        with self._reading() as session:
            version = select(TextVersionRow).join(TextRow, TextRow.version_id == TextVersionRow.id)
            newest = session.scalar(version.where(TextRow.path == path))
            return content_of(newest) if newest is not None else ""

    def wrote(
        self, path: str, before: str, after: str, script: str, written: Writing, still: Callable[[], bool]
    ) -> None:
        """Note that an export wrote `written` into the file at `path`, which read `before`, and reads `after` now.
        Notes nothing where it no longer does as `still` says, or a check has noted it already."""
        with self._writing() as session:
            text = hold(session, [path])
            if still() and not any(_content(session, one.version_id) == after for one in text):
                arrive(session, path, before, script)
                arrive(session, path, after, script, written=written)


def sha_of(content: str) -> str:
    """What a version is known by."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def content_of(version: TextVersionRow) -> str:
    """What the file read in that version."""
    return zlib.decompress(version.content).decode("utf-8", "surrogatepass")


def arrive(
    session: Session, path: str, content: str, script: str = "", *, written: Writing | None = None
) -> TextVersionRow:
    """The version of the text at `path` that reads `content`, made the present one: all places are carried there."""
    text = next(iter(hold(session, [path])), None)
    if text is None:
        text = TextRow(path=path)
        session.add(text)
        session.flush()
    before = session.get(TextVersionRow, text.version_id) if text.version_id is not None else None
    if before is not None and before.sha == sha_of(content):
        return before
    version = new_version(session, text, content)
    arrival = Arrival(content_of(before) if before is not None else None, content, text.version_id, script, written)
    flags = session.scalars(select(FlagRow).where(FlagRow.text_id == text.id)).all()
    _carry(session, flags, version, arrival)
    if any(flag.version for flag in flags):
        arrivals_of(session).append((path, arrival))
    same = select(TextVersionRow.id).where(TextVersionRow.text_id == text.id, TextVersionRow.sha == version.sha)
    session.execute(update(PageRow).where(PageRow.version_id.in_(same)).values(version_id=version.id))
    text.version_id = version.id
    session.flush()
    _forget_unused(session, text)
    return version


def arrivals_of(session: Session) -> list[tuple[str, Arrival]]:
    """The arrivals of texts in a session that carried decided places, each with the path of its file."""
    arrivals: list[tuple[str, Arrival]] = session.info.setdefault("arrivals", [])
    return arrivals


def _content(session: Session, version: int | None) -> str | None:
    return content_of(session.get_one(TextVersionRow, version)) if version is not None else None


def hold(session: Session, paths: Iterable[str]) -> Sequence[TextRow]:
    """The texts at these paths that the store knows; until the transaction ends nobody else notes how they read."""
    texts = select(TextRow).where(TextRow.path.in_(list(paths))).order_by(TextRow.id)
    return session.scalars(texts.with_for_update()).all()


def version_read(session: Session, path: str, sha: str) -> TextVersionRow | None:
    """The last version of the text at `path` that has that hash."""
    known = select(TextVersionRow).join(TextRow, TextRow.id == TextVersionRow.text_id)
    known = known.where(TextRow.path == path, TextVersionRow.sha == sha).order_by(TextVersionRow.id.desc())
    return session.scalars(known.limit(1)).first()


def move_text(session: Session, old: str, new: str) -> None:
    """Note that the text at `old` lies at `new` now, where no other is known."""
    known = {text.path: text for text in hold(session, [old, new])}
    if old in known and new not in known:
        known[old].path = new


def new_version(session: Session, text: TextRow, content: str) -> TextVersionRow:
    """A version of a text that reads `content`."""
    packed = zlib.compress(content.encode("utf-8", "surrogatepass"))
    version = TextVersionRow(text_id=text.id, sha=sha_of(content), content=packed, at=datetime.now(UTC))
    session.add(version)
    session.flush()
    return version


def put_before(session: Session, text: TextRow, content: str) -> TextVersionRow:
    """A version of a text that read `content` before it read as it does now."""
    earlier = new_version(session, text, content)
    present = text.version_id
    if present is not None:
        text.version_id = new_version(session, text, content_of(session.get_one(TextVersionRow, present))).id
        for table in (FlagRow, PageRow):
            session.execute(update(table).where(table.version_id == present).values(version_id=text.version_id))
    return earlier


def carry(session: Session, flags: Iterable[FlagRow]) -> None:
    """Carry the places of these flags to the present versions of their texts."""
    by_text: defaultdict[int, list[FlagRow]] = defaultdict(list)
    for flag in flags:
        if flag.text_id is not None:
            by_text[flag.text_id].append(flag)
    for number, of_text in by_text.items():
        present = session.get_one(TextRow, number).version_id
        if present is not None:
            carry_to(session, of_text, session.get_one(TextVersionRow, present))


def carry_to(session: Session, flags: Sequence[FlagRow], version: TextVersionRow) -> None:
    """Carry the places of these flags to a version of their text, or of another."""
    newest = session.get_one(TextRow, version.text_id).version_id
    before = _content(session, newest) if newest != version.id else None
    _carry(session, flags, version, Arrival(before, content_of(version), newest))


def _carry(session: Session, flags: Sequence[FlagRow], version: TextVersionRow, arrival: Arrival) -> None:
    contents = {number: _content(session, number) or "" for number in {flag.version_id for flag in flags} - {None}}
    standing = [
        Standing(place_of(flag), contents[flag.version_id], flag.version_id)
        for flag in flags
        if flag.version_id not in (None, version.id)
    ]
    carried_places = arrival.carried(standing)
    for flag in flags:
        if flag.id in carried_places:  # else it stays where it was last
            (flag.start, flag.extent), flag.reads = carried_places[flag.id]
            flag.text_id, flag.version_id = version.text_id, version.id


def place_of(flag: FlagRow) -> Place:
    """The place of a flag in the last version of its text that has it."""
    seeded = flag.origin == Origin.SEEDED.value
    whole = seeded or flag.kind == Kind.LAYOUT.value
    wanted = flag.reads if seeded else decided_reading(flag)
    decided = flag.state != State.OPEN.value or flag.reads != wanted
    return Place(flag.id or 0, flag.start or 0, flag.extent, flag.reads, flag.transcribed, wanted, whole, decided)


def is_displaced() -> ColumnElement[bool]:
    """Whether the flag of a query has lost its place."""
    present = select(TextRow.version_id).where(TextRow.id == FlagRow.text_id).scalar_subquery()
    return FlagRow.text_id.is_not(None) & (FlagRow.version_id != present)


def decided_reading(flag: FlagRow) -> str:
    """What is to stand at the place of a flag: what was decided, else what was transcribed."""
    return flag.reading if flag.state == State.CORRECTED.value else flag.transcribed


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a version of a text: `extent` code points from `start` on, which read `reads` there; `transcribed` is
    what they read when they were checked, `wanted` what is to stand there. `flag` is the number of its flag. Of a place
    that is `whole` nothing but itself is looked for: it is one of a seeded error, or of a column or a page. `decided`:
    somebody decided what is to stand there."""

    flag: int
    start: int
    extent: int
    reads: str
    transcribed: str
    wanted: str
    whole: bool = False
    decided: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """A place in a version of a text that reads `content`, the last one that has it; later ones have a larger number
    `version`."""

    place: Place
    content: str
    version: int


@dataclass(frozen=True, slots=True)
class DecidedPlace:
    """Where the place of a flag is of which something was decided: in the version `version` of the text at `text`,
    of which `present` is the last one; where the two differ the place is lost."""

    text: str
    version: int
    present: int
    place: Place


@dataclass(frozen=True, slots=True)
class _Corrected:
    """Where a place stands, if somebody wrote what was decided; how far its line as corrected is from what they made of
    it, whether that line stands as a whole, and whether the version before had none like it (`line_is_new`). `pending`:
    what was decided of this place was not written yet, and stands there if it was."""

    span: Span
    distance: int
    line_stands: bool
    line_is_new: bool
    pending: bool


@dataclass(frozen=True, slots=True)
class Arrival:
    """A text that read `before` in its version of the number `version`, None where these are not known, reads `content`
    now. `written` is what an export wrote into it, where that made it so; `script` tells in what forms a reading may be
    written."""

    before: str | None
    content: str
    version: int | None = None
    script: str = ""
    written: Writing | None = None

    def carried(self, standing: Iterable[Standing]) -> dict[int, tuple[Span, str]]:
        """Where places are now, and what of their readings stands there, by the numbers of their flags; without those
        that are lost."""
        of_version: defaultdict[tuple[int, str], list[Standing]] = defaultdict(list)
        for one in standing:
            of_version[one.version, one.content].append(one)
        place_of: dict[int, tuple[Span, str]] = {}
        spans_of: defaultdict[tuple[str, bool], list[tuple[int, Span]]] = defaultdict(list)
        for (version, content), there in sorted(of_version.items(), reverse=True):
            here = version == self.version
            places = [one.place for one in there]
            step = _Step(content, self, places, self.written if here else None, None if here else self.before)
            now = {place.flag: at for place in places if (at := step.now(place)) is not None}
            for place in places:
                at = now.get(place.flag)
                line, span = _in_line(self.content, at[0]) if at else _in_line(content, Span(place.start, place.extent))
                known = spans_of[line, place.whole]
                if at is not None and not here and any(later > version and _meet(span, one) for later, one in known):
                    del now[place.flag]
                elif place.decided:
                    known.append((version, span))
            place_of |= now
        return place_of


def _in_line(text: str, span: Span) -> tuple[str, Span]:
    """The line in which a place begins, and where it is in that."""
    begin = text.rfind("\n", 0, span.start) + 1
    return text[begin : line_end(text, span.start)], Span(span.start - begin, span.length)


def _meet(span: Span, other: Span) -> bool:
    """Whether two places have a character in common, or are the same."""
    return span == other or (span.start < other.end and other.start < span.end)


class _Step:
    """The way from the version `old` of a text to the one that arrives, for the places in the first. `lost_in` is the
    version before the other, where the places were lost in that: what stood there already is none of them."""

    def __init__(
        self, old: str, arrival: Arrival, places: Iterable[Place], written: Writing | None, lost_in: str | None
    ) -> None:
        new, script = arrival.content, arrival.script
        self._new = new
        self._written = written
        self._policy = policy_of(Script(script) if script in set(Script) else Script.TRADITIONAL)
        if written is not None:
            self._direct = PositionMap.of_edits(old, written.edits)
        else:
            self._direct = PositionMap.of_comparison(old, new)
        self._corrected = {} if written is not None or old == new else self._as_corrected(old, places)
        self._back = PositionMap.of_comparison(new, lost_in) if lost_in is not None else None

    def now(self, place: Place) -> tuple[Span, str] | None:
        """Where a place is, and what of its readings stands there; None where it is lost."""
        there = self._carried(place)
        stood = self._back is not None and there is not None and self._back.where(*there[0]) is not None
        return None if stood else there

    def _carried(self, place: Place) -> tuple[Span, str] | None:
        if self._written is not None and place.flag in self._written.of_flags:
            edit = self._written.of_flags[place.flag]
            replacement = self._direct.instead(edit.start, edit.length)
            return (replacement, place.wanted) if replacement is not None else None
        unchanged = self._direct.where(place.start, place.extent)
        line_stands = self._direct.line_stands(place.start)
        corrected = self._corrected.get(place.flag)
        if corrected is not None and corrected.line_stands:
            if not line_stands and (corrected.pending or unchanged is None):
                return corrected.span, place.wanted if corrected.pending else place.reads
            if line_stands and corrected.pending and (corrected.line_is_new or unchanged is None):
                return None  # the line was doubled, and one of the two was corrected
        elif corrected is not None and corrected.pending and not line_stands:
            nearer = self._direct.distance(place.start) - corrected.distance
            if nearer > 0 or (nearer == 0 and unchanged is None):
                return corrected.span, place.wanted
        if unchanged is not None:
            return unchanged, place.reads
        return None if place.whole else self._put_in_place(place)

    def _put_in_place(self, place: Place) -> tuple[Span, str] | None:
        """Where the text has at a place what it may have there: what was decided, in whatever form, or what was
        transcribed."""
        span = self._direct.instead(place.start, place.extent)
        if span is None:
            return None
        there = self._new[span.start : span.end]
        for wanted in (place.wanted, place.transcribed):
            if wanted != place.reads and re.fullmatch(self._policy.pattern(wanted), there) is not None:
                return span, wanted
        return None

    def _as_corrected(self, old: str, places: Iterable[Place]) -> dict[int, _Corrected]:
        """Where places stand, as if what was decided and not written yet had been written: a text that somebody
        corrected with the same corrections is that one."""
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
            there = arrival.where(*inside) if inside is not None else None
            if inside is not None and there is not None:
                at = inside.start
                corrected_of[place.flag] = _Corrected(
                    span=there,
                    distance=arrival.distance(at),
                    line_stands=arrival.line_stands(at),
                    line_is_new=arrival.line(at) not in lines_before,
                    pending=is_pending,
                )
        return corrected_of


def _forget_unused(session: Session, text: TextRow) -> None:
    """Drop the versions of a text in which nothing stands any more."""
    used = {
        text.version_id,
        *session.scalars(select(FlagRow.version_id).where(FlagRow.text_id == text.id).distinct()),
        *session.scalars(select(PageRow.version_id).where(PageRow.text_id == text.id).distinct()),
    }
    kept = [number for number in used if number is not None]
    gone = delete(TextVersionRow).where(TextVersionRow.text_id == text.id, TextVersionRow.id.not_in(kept))
    session.execute(gone, execution_options={"synchronize_session": False})
