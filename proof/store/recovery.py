"""Recovery: puts the acts that the journal holds and the store lacks into the store, after a fresh check or from an old
backup.

The journal names works, pages, texts and acts by name and key, never by row number. About each subject it holds a chain
of acts, numbered by `version`; a line replaces the line of the same version and all after it, as when an older store
was restored and worked on. Comments and blind readings replace nothing: all of them are recovered.

The place of an act is carried through all later changes of its text (`journal_replay`). If a check found a flag at
this place, the act is put on that flag, else on a new one. Idempotent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import inspect, select
from sqlalchemy.orm import Session

from proof.model.flags import Kind, Origin
from proof.store.flag_matching import mark_answered_stale
from proof.store.journal import (
    COMMENT,
    DECISION,
    READING,
    ROW_NUMBERS,
    RULE,
    JournalLines,
    Line,
    Subjects,
    all_lines,
    chains_of,
    identity,
)
from proof.store.journal_replay import ReplayedPlace, flag_of_line, present_paths, replay_places
from proof.store.lookup import work_id_subquery
from proof.store.models import (
    ActRow,
    CommentRow,
    DecisionRow,
    FlagRow,
    PageRow,
    ReadingRow,
    RuleRow,
    TextRow,
    TextVersionRow,
    WorkRow,
)
from proof.store.texts import content_of, insert_earlier_version, set_place, sha_of

ACT_TABLES = {mapper.polymorphic_identity: mapper.class_ for mapper in inspect(ActRow).polymorphic_iterator()}
"""The class of each kind of act."""

UID_CHARACTERS = 40
"""Characters of a flag's id that are kept when a hash is appended to make it unique on its page."""


@dataclass(frozen=True, slots=True)
class Unplaced:
    """An act that could not be put into the store, and why."""

    line: Line
    why: str

    def __str__(self) -> str:
        line = self.line
        where = f"{line['work']}, page {line['page']}" if "page" in line else line["work"]
        if "line" in line:
            where += f": line {line['line']}"
        what = f"({line.get('verdict') or line.get('state') or line['act']}, {line['person']}, {line['at']})"
        if "transcribed" in line:
            what = f"{line['transcribed']} -> {line.get('reading', line.get('suggested', ''))} {what}"
        return f"{where}: {what}: {self.why}"


@dataclass(slots=True)
class Recovered:
    """The result of a recovery.

    `rebuilt` counts the acts put into the store by kind, `present` those that it had, `superseded` those that later
    lines of the journal replace. `damaged` are the numbers of unreadable lines, `cut_off` that of a last line which a
    crash cut off (0: none). `works` are the numbers of the works that got acts.
    """

    superseded: int
    damaged: tuple[int, ...]
    cut_off: int
    rebuilt: Counter[str] = field(default_factory=Counter)
    present: int = 0
    unplaced: tuple[Unplaced, ...] = ()
    works: set[int] = field(default_factory=set)


def recover(session: Session, journal: JournalLines) -> Recovered:
    """Put the acts into the store that the journal holds and the store lacks."""
    texts = select(TextRow.path, TextVersionRow).join(TextVersionRow, TextVersionRow.id == TextRow.version_id)
    contents = {path: content_of(version) for path, version in session.execute(texts)}
    lines = _with_present_names(session, journal.lines, contents)
    chains, superseded = chains_of(lines)
    stored_chains = _stored_chains(session)
    stored_flags = _decided_flags(session)
    recovered = Recovered(superseded, journal.damaged, journal.cut_off)
    last_of: dict[int, int] = {}
    to_place: dict[int, Sequence[tuple[int, Line]]] = {}
    for chain in chains.values():
        (_, first), last = chain[0], chain[-1][0]
        missing = _missing(recovered, chain, stored_chains.get(_subject(first), []))
        last_of |= {number: last for number, _ in missing}
        if missing or first.get("first") in stored_flags:
            to_place[last] = chain
    recovery = _Recovery(session, recovered, replay_places(lines, contents, to_place))
    for last in to_place:
        flag = stored_flags.get(lines[last].get("first", ""))
        if flag is not None:
            recovery.correct_place(flag, lines[last], last)
    for number, last in sorted(last_of.items()):
        recovery.put(lines[number], last)
    recovery.finish()
    return recovered


def _with_present_names(session: Session, lines: Sequence[Line], contents: Mapping[str, str]) -> list[Line]:
    """The lines with the present names of texts that were renamed, and of works named after them; `contents` are those
    of the store's texts, by path."""
    paths = present_paths(lines, contents)
    lines = [line | {"file": paths.get(line["file"], line["file"])} if line.get("file") else line for line in lines]
    parts = select(PageRow.text, WorkRow.name).join(WorkRow, WorkRow.id == PageRow.work_id).distinct()
    work_of_text = dict(session.execute(parts).all())
    stored_works = set(session.scalars(select(WorkRow.name)))
    renamed_works: dict[str, str] = {}
    for line in lines:
        if "work" in line and line["work"] not in stored_works and line.get("file") in work_of_text:
            renamed_works[line["work"]] = work_of_text[line["file"]]
    return [
        line | {"work": renamed_works[line["work"]]} if line.get("work") in renamed_works else line for line in lines
    ]


def _stored_chains(session: Session) -> dict[tuple[str, ...], list[Line]]:
    """The acts in the store, by subject."""
    chains: dict[tuple[str, ...], list[Line]] = {}
    for line in all_lines(session):
        chains.setdefault(_subject(line), []).append(line)
    return chains


def _subject(line: Line) -> tuple[str, ...]:
    """The subject of an act; that of a decision is the key of the first decision on its flag."""
    return (DECISION, line["first"]) if line["act"] == DECISION else Subjects().of(line)


def _decided_flags(session: Session) -> dict[str, FlagRow]:
    """The decided flags in the store, by the keys of their first decisions."""
    first = select(DecisionRow.key, FlagRow).join(FlagRow, FlagRow.id == DecisionRow.flag_id)
    return dict(session.execute(first.where(DecisionRow.version == 1)).all())


def _missing(recovered: Recovered, chain: Sequence[tuple[int, Line]], stored: Sequence[Line]) -> list[tuple[int, Line]]:
    """The lines of a chain that the store lacks, with their numbers. If the store has other acts on the subject, those
    hold, and the lacking lines are unplaced."""
    stored_ids, act = [identity(line) for line in stored], chain[0][1]["act"]
    lacking = [(number, line) for number, line in chain if identity(line) not in stored_ids]
    recovered.present += len(chain) - len(lacking)
    if act in (COMMENT, READING):  # these replace no other act
        return lacking
    if act == RULE:
        newest = max((line["at"] for line in stored), default="")
        refused, why = [line for _, line in lacking if line["at"] <= newest], "the rule was set otherwise since"
    else:
        agrees = all(known == identity(line) for known, (_, line) in zip(stored_ids, chain, strict=False))
        refused, why = [] if agrees else [line for _, line in lacking], "its place was decided otherwise since"
    recovered.unplaced += tuple(Unplaced(line, why) for line in refused)
    return [(number, line) for number, line in lacking if line not in refused]


class _Recovery:
    """A recovery in progress: what was recovered so far, the places of acts by the number of the last line of their
    chains, and the flags that acts were put on."""

    def __init__(self, session: Session, recovered: Recovered, places: Mapping[int, ReplayedPlace]) -> None:
        self._session, self._recovered, self._places = session, recovered, places
        self._versions = _versions_of_lost(session, places.values())
        self._flags: dict[str, FlagRow] = {}

    def correct_place(self, flag: FlagRow, line: Line, last: int) -> None:
        """Give a stored flag the place to which the journal carries it, if it has lost its own or the text reads
        otherwise there: an older store does not know what exports have written since. `line` is the last one of its
        chain."""
        replayed = self._places.get(last)
        if replayed is None or replayed.lost:
            return
        text = self._session.get(TextRow, flag.text_id)
        is_lost = text is None or flag.version_id != text.version_id
        if is_lost or flag.reads != replayed.place.reads:
            self._place(flag, replayed)
            page = self._page_with(flag, line)
            if page is not None and page.id == flag.page_id:
                _set_column(flag, page)
            flag.stale = _is_stale(flag)

    def put(self, line: Line, last: int) -> None:
        """Put an act into the store, or note why it is unplaced. `last` is the number of the last line of its chain."""
        why = self._put(line, last)
        if why:
            self._recovered.unplaced += (Unplaced(line, why),)
        else:
            self._recovered.rebuilt[line["act"]] += 1

    def finish(self) -> None:
        """Make flags stale that the recovered decisions answer. To be called after the last `put`."""
        self._session.flush()
        mark_answered_stale(self._session, self._flags.values())

    def _put(self, line: Line, last: int) -> str:
        """Put an act into the store; returns why it cannot be, else ''."""
        session = self._session
        if session.scalar(select(ActRow.id).where(ActRow.key == line["key"])) is not None:
            return "its key is another act's"
        about = session.scalar(select(ActRow.id).where(ActRow.key == line["about"])) if line.get("about") else None
        table = ACT_TABLES[line["act"]]
        values = _act_values(table, line) | {"about": about}
        if table is RuleRow:
            return self._put_rule(line, values)
        flag, page = None, None
        if table is DecisionRow or line.get("uid"):
            flag = self._flag(line, last)
            page = session.get(PageRow, flag.page_id) if flag is not None else None
        else:
            page = self._page(line)
        if page is None:
            return "the store has no such page; check the text that it stands in, and recover again"
        self._recovered.works.add(page.work_id)
        if table is CommentRow:
            session.add(CommentRow(work_id=page.work_id, page_id=page.id, flag_id=flag.id if flag else None, **values))
        elif flag is None:
            session.add(table(work_id=page.work_id, page_id=page.id, **values))
        elif table is ReadingRow:
            session.add(ReadingRow(work_id=page.work_id, flag_id=flag.id, **values | {"kind": flag.kind}))
        elif flag.version + 1 != line["version"]:
            return "its place was decided otherwise since, or what was decided before it is not in the store"
        else:
            session.add(DecisionRow(work_id=page.work_id, flag_id=flag.id, **values))
            flag.state, flag.reading, flag.version = line["state"], line["reading"], line["version"]
        session.flush()
        return ""

    def _put_rule(self, line: Line, values: Mapping[str, Any]) -> str:
        work_id = self._session.scalar(select(WorkRow.id).where(WorkRow.name == line["work"]))
        if work_id is None:
            return "the store has no such work; check its texts, and recover again"
        self._session.add(RuleRow(work_id=work_id, **values))
        self._recovered.works.add(work_id)
        return ""

    def _page(self, line: Line) -> PageRow | None:
        """The page that an act names."""
        query = select(PageRow).where(PageRow.work_id == work_id_subquery(line["work"]))
        return self._session.scalar(query.where(PageRow.page == line["page"], PageRow.repeat == line["repeat"]))

    def _flag(self, line: Line, last: int) -> FlagRow | None:
        """The flag to put an act on, which is added if the store has none; None if the store has no page for it."""
        key = line.get("first") or f"{line['work']}\x1f{line['page']}\x1f{line['repeat']}\x1f{line['uid']}"
        if key not in self._flags:
            if line["act"] == DECISION and line["version"] > 1:
                flag_id = self._session.scalar(select(DecisionRow.flag_id).where(DecisionRow.key == line["first"]))
                flag = self._session.get(FlagRow, flag_id) if flag_id is not None else None
            else:
                flag = self._flag_at_place(line, last)
            if flag is None:
                return None
            self._flags[key] = flag
        return self._flags[key]

    def _flag_at_place(self, line: Line, last: int) -> FlagRow | None:
        """The flag of a check at the place of an act, else a new flag; None if the store has no page for it."""
        flag, replayed = flag_of_line(line), self._places.get(last)
        is_in_text = replayed is not None and self._place(flag, replayed)
        page_now = self._page_with(flag, line) if is_in_text else None
        page = page_now or self._page(line)
        if page is None:
            return None
        used_ids = set(self._session.scalars(select(FlagRow.uid).where(FlagRow.page_id == page.id)))
        checked_flag = self._checked_flag(page, flag, line, is_in_text=is_in_text)
        if checked_flag is not None:
            if line["uid"] not in used_ids:
                checked_flag.uid = line["uid"]
            return checked_flag
        if flag.uid in used_ids:
            flag.uid = flag.uid[:UID_CHARACTERS] + sha_of(line["key"])[:20]  # request keys may begin alike
        is_lost = not is_in_text and bool(line.get("sha"))
        flag.stale = is_lost or _is_stale(flag)
        flag.work_id, flag.page_id, flag.last_run_id = page.work_id, page.id, page.result_run_id
        if page_now is not None:
            _set_column(flag, page_now)
        self._session.add(flag)
        self._session.flush()
        return flag

    def _place(self, flag: FlagRow, replayed: ReplayedPlace) -> bool:
        """Set the place of a flag; returns whether it is in the present text."""
        text = self._session.scalar(select(TextRow).where(TextRow.path == replayed.path))
        if text is None:
            return False
        place = replayed.place
        set_place(flag, place)
        flag.text_id = text.id
        flag.version_id = self._versions[replayed.path, place.version] if replayed.lost else text.version_id
        return not replayed.lost

    def _page_with(self, flag: FlagRow, line: Line) -> PageRow | None:
        """The page of the work in which the place of a flag is now."""
        of_work = PageRow.work_id == work_id_subquery(line["work"])
        pages = select(PageRow).where(of_work, PageRow.version_id == flag.version_id, PageRow.absent.is_(False))
        return self._session.scalar(pages.where(PageRow.start <= flag.start).order_by(PageRow.start.desc()).limit(1))

    def _checked_flag(self, page: PageRow, flag: FlagRow, line: Line, *, is_in_text: bool) -> FlagRow | None:
        """The stored flag at the place of `flag`, or with its id on the page if the place is not in the present text.
        If there are several, preferably the one with its id, then one of its kind."""
        query = select(FlagRow).where(FlagRow.work_id == page.work_id)
        if is_in_text:
            same_place = (FlagRow.version_id == flag.version_id, FlagRow.start == flag.start)
            same_characters = (FlagRow.reads == flag.reads, FlagRow.transcribed == flag.transcribed)
            query = query.where(*same_place, FlagRow.extent == flag.extent, *same_characters)
        else:
            query = query.where(FlagRow.page_id == page.id, FlagRow.uid == line["uid"])
            if line.get("sha"):
                query = query.where(FlagRow.version_id == flag.version_id, FlagRow.start == flag.start)
        stored = self._session.scalars(query.order_by(FlagRow.id))
        same_source = [candidate for candidate in stored if _source(candidate) == _source(flag)]
        return min(
            same_source,
            key=lambda candidate: (candidate.uid != line["uid"], candidate.kind != line.get("kind")),
            default=None,
        )


def _versions_of_lost(session: Session, places: Iterable[ReplayedPlace]) -> dict[tuple[str, int], int]:
    """The numbers of the stored versions that had lost places last, by path and by version in the replay. Versions that
    the store lacks are inserted before the present one."""
    numbers: dict[tuple[str, int], int] = {}
    contents = {(lost.path, lost.place.version): lost.place.content for lost in places if lost.lost}
    for (path, version), content in sorted(contents.items()):
        text = session.scalars(select(TextRow).where(TextRow.path == path)).one()
        earlier = select(TextVersionRow.id).where(
            TextVersionRow.text_id == text.id,
            TextVersionRow.id != text.version_id,
            TextVersionRow.sha == sha_of(content),
        )
        last = session.scalar(earlier.order_by(TextVersionRow.id.desc()).limit(1))
        numbers[path, version] = last or insert_earlier_version(session, text, content).id
    return numbers


def _is_stale(flag: FlagRow) -> bool:
    """Whether a recovered flag is not asked: that of a check until a check finds it again, that of a person once an
    export has written it."""
    return flag.origin != Origin.PERSON.value or flag.reads != flag.transcribed


def _set_column(flag: FlagRow, page: PageRow) -> None:
    """Set the column of a flag, its offset and its length by its place in the text."""
    start = flag.start or 0
    columns = [(span.start, number) for number, span in page.spans.items() if span.start <= start]
    if columns:
        begin, flag.line = max(columns)
        flag.offset, flag.length = start - begin, flag.extent


def _source(flag: FlagRow) -> tuple[str, bool]:
    """Who raised a flag (a person, seeding, or else a check or a collation), and whether it is about layout. Only flags
    that agree in both can be the same."""
    origin = flag.origin if flag.origin in (Origin.SEEDED.value, Origin.PERSON.value) else ""
    return origin, flag.kind == Kind.LAYOUT.value


def _act_values(table: type[ActRow], line: Line) -> dict[str, Any]:
    """The columns of an act that its line gives."""
    names = {column.key for column in inspect(table).column_attrs} - ROW_NUMBERS - {"act"}
    return {name: line[name] for name in names} | {"at": datetime.fromisoformat(line["at"])}
