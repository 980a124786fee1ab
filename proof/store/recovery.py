"""What people did, rebuilt from the journal in a store that does not have it: after a fresh check, or an old backup.

Everything is told by its place in words. Of each place the journal holds a chain of acts numbered by version; a line
with the number of an earlier one replaces that and all after it, as where an older store was put back and worked on.
Comments replace none: all of them come back.
The journal holds what the texts read when something was decided in them, and how they came to read otherwise since. A
place is carried through that to what its text reads now, as it was then; where a check finds a flag there, it is the
flag of the place. Doing it twice changes nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from sqlalchemy import inspect, select
from sqlalchemy.orm import Session

from proof.model.flags import Kind, Origin
from proof.store.journal import (
    COMMENT,
    DECISION,
    OF_ONE_STORE,
    READING,
    RULE,
    TEXT,
    Chains,
    Line,
    Read,
    all_lines,
    chains_of,
    edits_of,
    identity,
    moment,
    texts_of,
)
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
from proof.store.places import mark_answered_stale
from proof.store.texts import (
    ExportEdits,
    Place,
    TextChange,
    VersionedPlace,
    content_of,
    insert_earlier_version,
    place_of,
    sha_of,
)
from proof.text.versions import most_alike

KINDS = {mapper.polymorphic_identity: mapper.class_ for mapper in inspect(ActRow).polymorphic_iterator()}


@dataclass(frozen=True, slots=True)
class Unplaced:
    """An act that could not be put into the store, and why."""

    line: Line
    why: str

    def __str__(self) -> str:
        line = self.line
        where = f"{line['work']}, page {line['page']}" if "page" in line else line["work"]
        what = f"line {line['line']}: " if "line" in line else ""
        says = line.get("verdict") or line.get("state") or line["act"]
        of = (
            f"{line['transcribed']} -> {line.get('reading', line.get('suggested', ''))} "
            if "transcribed" in line
            else ""
        )
        return f"{where}: {what}{of}({says}, {line['person']}, {line['at']}): {self.why}"


@dataclass(frozen=True, slots=True)
class Recovered:
    """What came of it: acts put into the store by what they are, those that were there, those whose place was
    decided anew later, those that could not be placed, the lines of the journal that cannot be read, the last one that
    a crash cut off, and the works (by row) that something was put into."""

    rebuilt: Counter[str]
    present: int
    superseded: int
    unplaced: tuple[Unplaced, ...]
    damaged: tuple[int, ...]
    cut_off: int
    works: tuple[int, ...]


@dataclass(slots=True)
class _Work:
    """What is gathered while acts are put into the store."""

    rebuilt: Counter[str] = field(default_factory=Counter)
    present: int = 0
    unplaced: list[Unplaced] = field(default_factory=list)
    works: set[int] = field(default_factory=set)
    places: Mapping[int, _Reached] = field(default_factory=dict)
    versions: Mapping[tuple[str, int], int] = field(default_factory=dict)
    flags: dict[str, FlagRow] = field(default_factory=dict)


def recover(session: Session, read: Read) -> Recovered:
    """Put into the store what the journal holds and the store does not."""
    texts = select(TextRow.path, TextVersionRow).join(TextVersionRow, TextVersionRow.id == TextRow.version_id)
    present = {path: content_of(version) for path, version in session.execute(texts)}
    lines = _under_present_names(session, read.lines, present)
    chains, superseded = chains_of(lines)
    done, stored = _Work(), _stored(session)
    wanted = [
        (number, line, chain)
        for chain in chains.values()
        for number, line in _missing(chain, stored.get(_subject(chain[0][1]), []), done)
    ]
    done.places = _standing(lines, present, {chain[-1][0]: chain for _, _, chain in wanted})
    done.versions = _versions_of_lost(session, done.places.values())
    for _, line, chain in sorted(wanted, key=lambda entry: entry[0]):
        why = _put(session, line, chain[-1][0], done)
        if why:
            done.unplaced.append(Unplaced(line, why))
        else:
            done.rebuilt[line["act"]] += 1
    session.flush()
    mark_answered_stale(session, done.flags.values())
    counts = done.rebuilt, done.present, superseded, tuple(done.unplaced)
    return Recovered(*counts, read.damaged, read.cut_off, tuple(sorted(done.works)))


def _under_present_names(session: Session, lines: Sequence[Line], here: Mapping[str, str]) -> list[Line]:
    """The lines with texts that were renamed since, and works named after them, called as the store calls them; `here`
    is what its texts read."""
    files = _renamed(lines, here)
    of_text = select(PageRow.text, WorkRow.name).join(WorkRow, WorkRow.id == PageRow.work_id).distinct()
    work_of = dict(session.execute(of_text).all())
    present = [line | {"file": files.get(line["file"], line["file"])} if line.get("file") else line for line in lines]
    names = set(session.scalars(select(WorkRow.name)))
    renamed = {
        line["work"]: work_of[line["file"]]
        for line in present
        if line.get("work", "") not in names and line.get("file") in work_of and "work" in line
    }
    return [line | {"work": renamed[line["work"]]} if line.get("work") in renamed else line for line in present]


def _renamed(lines: Sequence[Line], here: Mapping[str, str]) -> dict[str, str]:
    """The present path of each text that the journal knows under another: of the text that went on from what it read
    last, or the most alike one; its own where there is none."""
    contents = texts_of(lines)
    last: dict[str, str] = {}
    for line in lines:
        if (line.get("file"), line.get("sha")) in contents:
            last.pop(line["file"], None)
            last[line["file"]] = line["sha"]
    files: dict[str, str] = {}
    for path, sha in reversed(last.items()):  # a text is renamed to one that the journal tells of later
        later = next((file for other, file in files.items() if (other, sha) in contents), None)
        alike = most_alike(contents[path, sha], here)
        files[path] = path if path in here else later or alike or path
    return files


def _stored(session: Session) -> dict[tuple[str, ...], list[Line]]:
    """The acts of the store about each subject; decisions by the first one of their flag."""
    chains: dict[tuple[str, ...], list[Line]] = {}
    for line in all_lines(session):
        chains.setdefault(_subject(line), []).append(line)
    return chains


def _subject(line: Line) -> tuple[str, ...]:
    return (DECISION, line["first"]) if line["act"] == DECISION else Chains().of(line)


def _missing(chain: list[tuple[int, Line]], stored: list[Line], done: _Work) -> list[tuple[int, Line]]:
    """What of a chain the store lacks. Where the store tells otherwise, it holds, and the chain is listed."""
    here, act = [identity(line) for line in stored], chain[0][1]["act"]
    lacking = [(number, line) for number, line in chain if identity(line) not in here]
    done.present += len(chain) - len(lacking)
    if act in (COMMENT, READING):  # one takes the place of no other
        return lacking
    if act == RULE:
        newest = max((line["at"] for line in stored), default="")
        refused, reason = [line for _, line in lacking if line["at"] <= newest], "the rule was set otherwise since"
    else:
        agree = all(entry == identity(line) for entry, (_, line) in zip(here, chain, strict=False))
        refused, reason = [] if agree else [line for _, line in lacking], "its place was decided otherwise since"
    done.unplaced += [Unplaced(line, reason) for line in refused]
    return [entry for entry in lacking if entry[1] not in refused]


class _Reached(NamedTuple):
    """Where a place stands in the text at `file`, or stood last where it is `lost`."""

    file: str
    standing: VersionedPlace
    lost: bool


class _TextThen:
    """A text as the journal tells of it, from its beginning on, and the places in it, by the numbers of the lines that
    name them. Versions are numbered as they came."""

    def __init__(self) -> None:
        self.places: dict[int, VersionedPlace] = {}
        self._read: list[str] = []

    def stands(self, number: int, place: Place | None, content: str, *, lost: bool) -> None:
        """Note that the place of that line stood in the text then, which read `content`; or was lost, and had stood in
        a version that did."""
        if not lost:
            self.arrives(content)
        if place is not None:
            before = [n for n, known in enumerate(self._read) if known == content and n < len(self._read) - lost]
            self.places[number] = VersionedPlace(place, content, before[-1] if before else -1)

    def arrives(self, content: str, script: str = "", written: ExportEdits | None = None) -> None:
        """Have places stand where they are once the text came to read `content`."""
        if self._read and self._read[-1] == content:
            return
        before = self._read[-1] if self._read else None
        arrival = TextChange(before, content, len(self._read) - 1, script, written)
        self._read.append(content)
        for number, ((start, extent), reads) in arrival.carried(self.places.values()).items():
            place = replace(self.places[number].place, start=start, extent=extent, reads=reads)
            self.places[number] = VersionedPlace(place, content, len(self._read) - 1)

    def reached(self, file: str) -> dict[int, _Reached]:
        """Where the places are in the end."""
        last = len(self._read) - 1
        return {number: _Reached(file, place, place.version != last) for number, place in self.places.items()}


def _standing(
    lines: Sequence[Line], present: Mapping[str, str], chains: Mapping[int, Sequence[tuple[int, Line]]]
) -> dict[int, _Reached]:
    """Where the places stand that these chains of acts are about, by the numbers of their last ones: carried through
    all that came into their texts since, as it came."""
    contents = texts_of(lines)
    firsts = {chain[0][1]["key"]: number for number, chain in chains.items()}
    texts: defaultdict[str, _TextThen] = defaultdict(_TextThen)
    for number, line in enumerate(lines):
        file = line.get("file", "")
        content = contents.get((file, line.get("sha", "")))
        if content is None or file not in present:
            continue
        if line["act"] != TEXT:
            place = _place_in(line, number) if number in chains else None
            texts[file].stands(number, place, content, lost=line.get("lost", False))
        elif "edits" in line:
            edits = edits_of(line)
            of_flags = {firsts[key]: edits[n] for key, n in line.get("written", {}).items() if key in firsts}
            texts[file].arrives(contents.get((file, line["before"]), content))
            written = ExportEdits(tuple(edits), of_flags) if "written" in line else None
            texts[file].arrives(content, line["script"], written)
    places: dict[int, _Reached] = {}
    for file, text in texts.items():
        text.arrives(present[file])
        places |= text.reached(file)
    return places


def _versions_of_lost(session: Session, places: Iterable[_Reached]) -> dict[tuple[str, int], int]:
    """The versions of the store in which lost places stood last, by their texts and the numbers that they have in the
    journal; those that the store lacks are put before the present one."""
    versions: dict[tuple[str, int], int] = {}
    contents = {(place.file, place.standing.version): place.standing.content for place in places if place.lost}
    for (file, number), content in sorted(contents.items()):
        text = session.scalars(select(TextRow).where(TextRow.path == file)).one()
        same = select(TextVersionRow.id).where(TextVersionRow.text_id == text.id, TextVersionRow.id != text.version_id)
        known = session.scalars(same.where(TextVersionRow.sha == sha_of(content)).order_by(TextVersionRow.id.desc()))
        versions[file, number] = known.first() or insert_earlier_version(session, text, content).id
    return versions


def _place_in(line: Line, number: int) -> Place:
    """The place of a line of the journal, in the version that it names; `number` takes the place of a flag's."""
    flag = _gone(line)
    flag.id, flag.start, flag.extent, flag.reads = number, line["start"], line["extent"], line["reads"]
    if line["act"] == DECISION:
        flag.state, flag.reading = line["state"], line["reading"]
    return place_of(flag)


def _put(session: Session, line: Line, last: int, done: _Work) -> str:
    """Put an act into the store; gives why it cannot be. `last` is the number of the last one of its chain."""
    if session.scalars(select(ActRow).where(ActRow.key == line["key"])).first() is not None:
        return "its key is another act's"
    about = session.scalar(select(ActRow.id).where(ActRow.key == line["about"])) if line.get("about") else None
    table = KINDS[line["act"]]
    values = _values(table, line) | {"about": about}
    if table is RuleRow:
        work = session.scalar(select(WorkRow.id).where(WorkRow.name == line["work"]))
        if work is None:
            return "the store has no such work; check its texts, and recover again"
        session.add(RuleRow(work_id=work, **values))
        done.works.add(work)
        return ""
    flag = _flag(session, line, last, done) if table is DecisionRow or line.get("uid") else None
    page = session.get(PageRow, flag.page_id) if flag is not None else None
    page = page or (_page(session, line) if table is not DecisionRow and not line.get("uid") else None)
    if page is None:
        return "the store has no such page; check the text that it stands in, and recover again"
    done.works.add(page.work_id)
    if table is CommentRow:
        session.add(CommentRow(work_id=page.work_id, page_id=page.id, flag_id=flag.id if flag else None, **values))
    elif table is ReadingRow and flag is not None:
        session.add(ReadingRow(work_id=page.work_id, flag_id=flag.id, **values | {"kind": flag.kind}))
    elif flag is None:
        session.add(table(work_id=page.work_id, page_id=page.id, **values))
    elif flag.version + 1 != line["version"]:
        return "its place was decided otherwise since, or what was decided before it is not in the store"
    else:
        session.add(DecisionRow(work_id=page.work_id, flag_id=flag.id, **values))
        flag.state, flag.reading, flag.version = line["state"], line["reading"], line["version"]
    session.flush()
    return ""


def _page(session: Session, line: Line) -> PageRow | None:
    query = select(PageRow).where(PageRow.work_id == work_id_subquery(line["work"]))
    return session.scalar(query.where(PageRow.page == line["page"], PageRow.repeat == line["repeat"]))


def _flag(session: Session, line: Line, last: int, done: _Work) -> FlagRow | None:
    """The flag that an act is about: the one that was found at its place; where none was, one that is gone. None where
    there is no page that it could be of."""
    key = line.get("first") or f"{line['work']}\x1f{line['page']}\x1f{line['repeat']}\x1f{line['uid']}"
    if key not in done.flags:
        if line["act"] == DECISION and line["version"] > 1:
            flag_id = session.scalar(select(DecisionRow.flag_id).where(DecisionRow.key == line["first"]))
            known = session.get(FlagRow, flag_id) if flag_id is not None else None
        else:
            known = _flag_at(session, line, last, done)
        if known is None:
            return None
        done.flags[key] = known
    return done.flags[key]


def _flag_at(session: Session, line: Line, last: int, done: _Work) -> FlagRow | None:
    reached = done.places.get(last)
    page = _page(session, line)
    path = reached.file if reached is not None else page.text if page is not None else line.get("file")
    text = session.scalar(select(TextRow).where(TextRow.path == path))
    flag = _gone(line)
    stands = text is not None and reached is not None and not reached.lost
    if text is not None and reached is not None:
        place = reached.standing.place
        flag.text_id = text.id
        flag.version_id = done.versions[reached.file, reached.standing.version] if reached.lost else text.version_id
        flag.start, flag.extent, flag.reads = place.start, place.extent, place.reads
    here = _page_at(session, flag, line) if stands else None
    page = here or page
    if page is None:
        return None
    there = _found_there(session, page, flag, line, stands=stands)
    ids = set(session.scalars(select(FlagRow.uid).where(FlagRow.page_id == page.id)))
    if there is not None:
        there.uid = line["uid"] if line["uid"] not in ids else there.uid
        return there
    flag.work_id, flag.page_id = page.work_id, page.id
    flag.last_run_id = page.result_run_id
    if flag.uid in ids:
        flag.uid = flag.uid[:40] + sha_of(line["key"])[:20]  # keys that a program chooses may begin alike
    by_hand = flag.origin == Origin.PERSON.value
    flag.stale = not (by_hand and (stands or not line.get("sha")) and flag.reads == flag.transcribed)
    if here is not None and flag.start is not None:
        _stand_on(here, flag)
    session.add(flag)
    session.flush()
    return flag


def _stand_on(page: PageRow, flag: FlagRow) -> None:
    """Note the column and the offset of a flag that stands on a page."""
    start = flag.start or 0
    before = [(span.start, number) for number, span in page.spans.items() if span.start <= start]
    if before:
        begin, flag.line = max(before)
        flag.offset = start - begin


def _page_at(session: Session, flag: FlagRow, line: Line) -> PageRow | None:
    """The page on which the place of a flag stands."""
    pages = select(PageRow).where(PageRow.work_id == work_id_subquery(line["work"]))
    pages = pages.where(PageRow.version_id == flag.version_id, PageRow.start <= flag.start, PageRow.absent.is_(False))
    return session.scalars(pages.order_by(PageRow.start.desc()).limit(1)).first()


def _found_there(session: Session, page: PageRow, flag: FlagRow, line: Line, *, stands: bool) -> FlagRow | None:
    """The flag that a check found at the place, of which nothing was decided; where the place is not known, the one of
    that id."""
    there = select(FlagRow).where(FlagRow.work_id == page.work_id)
    if stands:
        same = (FlagRow.version_id == flag.version_id, FlagRow.start == flag.start, FlagRow.extent == flag.extent)
        there = there.where(*same, FlagRow.reads == flag.reads, FlagRow.transcribed == flag.transcribed)
    else:
        there = there.where(FlagRow.page_id == page.id, FlagRow.uid == line["uid"])
        if line.get("sha"):
            there = there.where(FlagRow.version_id == flag.version_id, FlagRow.start == flag.start)
    flags = list(session.scalars(there.order_by(FlagRow.id)))
    alike = [candidate for candidate in flags if _asked_by(candidate) == _asked_by(flag)]
    alike.sort(key=lambda candidate: (candidate.uid != line["uid"], candidate.kind != line.get("kind")))
    return alike[0] if alike else None


def _asked_by(flag: FlagRow) -> tuple[str, bool]:
    """What a flag must have in common with another to be the same: a check asks neither what somebody pointed out nor
    what was seeded, and a question about the layout of a place is none about its characters."""
    origin = flag.origin if flag.origin in (Origin.SEEDED.value, Origin.PERSON.value) else ""
    return origin, flag.kind == Kind.LAYOUT.value


def _gone(line: Line) -> FlagRow:
    """The flag of an act as the journal tells of it."""
    evidence = dict(line.get("evidence", {}))
    evidence.pop("run", None)
    same = ("uid", "line", "offset", "transcribed", "suggested", "context")
    transcribed = line["transcribed"]
    return FlagRow(
        raised=True,
        score=evidence.pop("score", 0.0),
        reason=evidence.pop("reason", ""),
        rule=evidence.pop("rule", ""),
        evidence=evidence,
        state="open",
        reading="",
        version=0,
        ref=line.get("ref", ""),
        length=line.get("length", len(transcribed)),
        extent=line.get("length", len(transcribed)),
        reads=transcribed,
        **dict(zip("xywh", line.get("box", (None,) * 4), strict=True)),
        kind=line.get("kind", Kind.SUBSTITUTION.value),
        origin=line["origin"],
        **{name: line[name] for name in same},
    )


def _values(table: type[ActRow], line: Line) -> dict[str, Any]:
    """The columns of an act that a line gives."""
    names = {column.key for column in inspect(table).column_attrs} - OF_ONE_STORE - {"act"}
    return {name: line[name] for name in names} | {"at": moment(line["at"])}
