"""What people did, as lines of a plain file beside the store: should the store be lost, they are not.

Every act is written here, and is on the disk, before the transaction that holds it is committed: what was ever
acknowledged, and whatever the store holds, is in the journal. Where a commit fails, a line after its acts says that
they are void: who sent them saw an error. The journal may still hold an act whose commit never came (a crash in
between): it was acknowledged to nobody, and where its place was then decided anew the later line says so.
Each line is one JSON object with the place in words, not in row numbers, so that it can be read and used without
the store. Accounts are not in it.
"""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from filelock import FileLock
from sqlalchemy import Select, event, inspect, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from proof.atomic import sync_folder
from proof.errors import OutputError
from proof.store.models import (
    Base,
    CommentRow,
    DecisionRow,
    FlagRow,
    LayoutOverrideRow,
    PageEventRow,
    PageRow,
    RuleRow,
    SeededAnswerRow,
    TextRow,
    TextVersionRow,
    WorkRow,
)
from proof.store.rows import SEEDED
from proof.store.sessions import Sessions
from proof.store.texts import content_of

ENDING = ".decisions.jsonl"
FORMAT = 1
COMMENT = "comment"
DECISION = "decision"
ACTS: dict[type[Base], str] = {
    DecisionRow: DECISION,
    PageEventRow: "page",
    LayoutOverrideRow: "layout",
    RuleRow: "rule",
    CommentRow: COMMENT,
}
"""The tables of what people do, and how the journal calls an act of each. Their rows are added through a session."""
VOID = "void"
"""The `act` of a line that says of acts before it, by their identities (`of`), that their commit failed."""
TEXT = "text"
"""The `act` of a line that holds what a text read when something was decided in it: places are told by it."""
_OWN = frozenset({"id", "work_id", "flag_id", "page_id", "about"})
"""Columns that only mean something in one store."""

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Read:
    """The lines of a journal in their order, the numbers of lines that cannot be read, and that of a last one without
    its ending, 0 where there is none: a crash cut it off before anybody was told that its act is held."""

    lines: tuple[Line, ...]
    damaged: tuple[int, ...]
    cut_off: int = 0


class Journal:
    """The journal at `path`; every process that opens the store appends to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._texts: set[tuple[str, str]] | None = None

    @contextmanager
    def noting(self, session: Session, noted: list[Line] | None = None) -> Iterator[None]:
        """Around the changes of a session that is then committed: the acts among them are on the disk when this
        ends, and in `noted`, where it is given: they are to be made `void` should the commit fail. Raises OutputError
        where they cannot be written; then the session is not to be committed."""
        added: list[Base] = []

        def collect(flushed: Session, _context: object) -> None:
            added.extend(row for row in flushed.new if type(row) in ACTS)

        event.listen(session, "after_flush", collect)
        try:
            yield
            session.flush()
            kept = [row for row in added if row in session]  # what a savepoint took back is not among them
            if kept:
                lines = self._append(session, kept)
                if noted is not None:
                    noted += lines
        finally:
            event.remove(session, "after_flush", collect)

    def void(self, session: Session, lines: Sequence[Line]) -> None:
        """Note that the commit of these acts failed, but for those that the store has all the same: a server may commit
        and lose its answer. Where the store cannot be asked, or the note not be written, as on a full disk, they stay
        as those of a crash do."""
        with suppress(OutputError, SQLAlchemyError):
            gone = [list(identity(line)) for line in lines if not _is_held(session, line)]
            if gone:
                self._write([{"format": FORMAT, "act": VOID, "of": gone}])

    def follow(self, reading: Sessions, writing: Sessions) -> None:
        """Add what the store holds and is not here. Raises OutputError."""
        with reading() as session:
            lacks = self._lacks(session)
        if lacks:
            with writing() as session:
                self._begin(session)

    def _lacks(self, session: Session) -> bool:
        """Whether the store holds something that is not here: it was begun before there was a journal, or somebody did
        something in an earlier version since, which keeps none. It is told by the newest act of each table.
        Raises OutputError."""
        newest = [one for table in ACTS for one in session.scalars(_newest(table))]
        texts = [one.isoformat() if isinstance(one, datetime) else one for one in newest]
        wanted = [json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass") for text in texts]
        try:
            if not wanted or not self.path.exists() or not self.path.stat().st_size:
                return bool(wanted)
            with self.path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as held:
                return any(held.rfind(mark) < 0 for mark in wanted)
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be read ({error.strerror or error})") from error

    def _begin(self, session: Session) -> None:
        """Write down what it lacks of a store."""
        if self.path.exists():
            self.complete(session)
        elif any(session.scalar(_newest(table)) for table in ACTS):
            self._append(session, [])

    def complete(self, session: Session) -> int:
        """Add what the store holds and the journal lacks, as where the file was lost; gives how many."""
        known = {identity(line) for line in standing_lines(self.read().lines)}
        chains = Chains()
        lacking: set[tuple[str, ...]] = set()
        lines = []
        for line in all_lines(session):
            place = chains.of(line)
            if identity(line) in known and place not in lacking:
                continue
            if "version" in line:  # a line replaces what bears its number and all after it: that follows it again
                lacking.add(place)
            lines.append(line)
        if lines:
            self._write(self._with_texts(session, lines))
        return len(lines)

    def read(self) -> Read:
        """What it holds. Raises OutputError where it cannot be read."""
        return read_journal(self.path)

    def _append(self, session: Session, added: Sequence[Base]) -> list[Line]:
        """Write down these acts, or all where there is no journal yet; gives the lines of these."""
        own = [_line(session, row) for row in added]
        self._write(self._with_texts(session, own if self.path.exists() else list(all_lines(session))))
        return own

    def _with_texts(self, session: Session, lines: Sequence[Line]) -> list[Line]:
        """Lines behind what the texts read that they are about, where the journal does not hold that yet."""
        if self._texts is None or not self.path.exists():
            self._texts = set(texts_of(self.read().lines))
        wanted = dict.fromkeys((line["file"], line["sha"]) for line in lines if line.get("sha"))
        new = [text for text in wanted if text not in self._texts]
        self._texts.update(new)
        return [*(_text_line(session, *text) for text in new), *lines]

    def _write(self, lines: Sequence[Line]) -> None:
        data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        try:
            with FileLock(self.path.with_name(f".{self.path.name}.lock"), mode=0o600, thread_local=False):
                new = not self.path.exists()
                file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
                try:
                    _append_whole(file, data.encode("utf-8", "surrogatepass"))
                finally:
                    os.close(file)
                if new:
                    sync_folder(self.path.parent)
        except OSError as error:
            reason = error.strerror or error
            raise OutputError(f"{self.path}: cannot be written ({reason}); make room or allow writing") from error


def journal_of(store: Path) -> Path:
    """Where the journal of a store in a file lies."""
    return store.with_suffix(ENDING)


def read_journal(path: Path) -> Read:
    """The lines of the journal at `path`, none where there is no such file. Raises OutputError."""
    try:
        data = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise OutputError(f"{path}: cannot be read ({error.strerror or error})") from error
    lines, damaged, cut_off = [], [], 0
    rows = data.removeprefix(codecs.BOM_UTF8).split(b"\n")
    for number, text in enumerate(rows, 1):
        if not text.strip():
            continue
        try:
            line = json.loads(text.decode("utf-8", "surrogatepass"))
            identity(line)
            lines.append(line)
        except (ValueError, TypeError, KeyError):
            if number == len(rows):
                cut_off = number
            else:
                damaged.append(number)
    return Read(tuple(lines), tuple(damaged), cut_off)


def identity(line: Line) -> tuple[str, ...]:
    """What tells an act from every other: the key of its request; what a check or a rule did, by place and time."""
    if line["act"] == VOID:
        return VOID, *("\x1f".join(one) for one in line["of"])
    if line["act"] == TEXT:
        return TEXT, line["file"], line["sha"]
    if line["act"] == "rule":
        return "rule", line["work"], line["transcribed"], line["suggested"], line["at"]
    if line["act"] == DECISION:
        return DECISION, line["work"], line["key"]
    return line["act"], line["work"], line["page"], str(line["repeat"]), line["key"]


class Chains:
    """The places that acts are about, each with its own chain of them. A decision names the first one of its flag
    (`first`): a flag may stand on another page by now, under another id."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[str, ...]] = {}

    def of(self, line: Line) -> tuple[str, ...]:
        """The place of an act; those of a chain are asked for in their order."""
        if line["act"] == "rule":
            return "rule", line["work"], line["transcribed"], line["suggested"]
        place = (line["act"], line["work"], line["page"], str(line["repeat"]), line.get("uid", ""))
        return self._places.setdefault(line["first"], place) if line["act"] == DECISION else place


def texts_of(lines: Sequence[Line]) -> dict[tuple[str, str], str]:
    """What texts read by a journal, by their paths and the hashes of that."""
    return {(line["file"], line["sha"]): line["content"] for line in lines if line["act"] == TEXT}


def chains_of(lines: Sequence[Line]) -> tuple[dict[tuple[str, ...], list[tuple[int, Line]]], int]:
    """The acts that hold at each place, each with its number in the journal, and how many others were replaced."""
    chains: dict[tuple[str, ...], list[tuple[int, Line]]] = {}
    dropped: dict[tuple[str, ...], None] = {}
    by_key: dict[str, Line] = {}
    void: set[int] = set()
    places = Chains()
    for number, told in enumerate(lines):
        if told["act"] == TEXT:
            continue
        if told["act"] == VOID:
            last = {identity(line): at for chain in chains.values() for at, line in chain[-1:]}
            void.update(last[tuple(one)] for one in told["of"] if tuple(one) in last)
            continue
        line = told | {"about": by_key.get(told["about"])} if told.get("about") else told
        by_key[line.get("key", "")] = line
        chain = chains.setdefault(places.of(line), [])
        if "version" in line:
            keep = [one for one in chain if one[1]["version"] < line["version"]]
            dropped.update((identity(one[1]), None) for one in chain[len(keep) :])
            chain[:] = keep
        else:
            there = {at for at, one in chain if identity(one) == identity(line)}
            if there - void:
                continue
            chain[:] = [one for one in chain if one[0] not in there]
        chain.append((number, line))
    for chain in chains.values():
        while chain and chain[-1][0] in void:
            chain.pop()
    chains = {key: chain for key, chain in chains.items() if chain}
    held = {identity(line) for chain in chains.values() for _, line in chain}
    return chains, len(dropped.keys() - held)


def standing_lines(lines: Sequence[Line]) -> list[Line]:
    """The acts that hold by a journal, and would come back out of it."""
    return [line for chain in chains_of(lines)[0].values() for _, line in chain]


def all_lines(session: Session) -> Iterator[Line]:
    """Every act in the store, oldest first within its table."""
    for table in ACTS:
        for row in session.scalars(select(table).order_by(table.id)):  # type: ignore[attr-defined]
            yield _line(session, row)


def _newest(table: type[Base]) -> Select[tuple[Any]]:
    """What tells the newest act of a table: its key; of a rule, which may have none, its time."""
    columns = table.__table__.c
    return select(columns.at if table is RuleRow else columns.key).order_by(columns.id.desc()).limit(1)


def _is_held(session: Session, line: Line) -> bool:
    """Whether the store has this act."""
    table = next(table for table, act in ACTS.items() if act == line["act"])
    columns = table.__table__.c
    of_key = columns.at == moment(line["at"]) if table is RuleRow else columns.key == line["key"]
    return any(identity(_line(session, row)) == identity(line) for row in session.scalars(select(table).where(of_key)))


def _line(session: Session, row: Base) -> Line:
    columns = {one.key: getattr(row, one.key) for one in inspect(type(row)).column_attrs if one.key not in _OWN}
    line: Line = {"format": FORMAT, "act": ACTS[type(row)], **_place(session, row), **columns}
    line["at"] = line["at"].isoformat()
    if isinstance(row, DecisionRow) and session.get(SeededAnswerRow, row.id) is not None:
        line["kind"] = SEEDED
    return line


def _place(session: Session, row: Base) -> Line:
    if isinstance(row, RuleRow):
        return {"work": session.get_one(WorkRow, row.work_id).name}
    more: Line = {}
    if isinstance(row, DecisionRow):
        flag = session.get_one(FlagRow, row.flag_id)
        about = session.get(DecisionRow, row.about) if row.about is not None else None
        page = session.get_one(PageRow, flag.page_id)
        of_flag = select(DecisionRow.key).where(DecisionRow.flag_id == flag.id, DecisionRow.version == 1)
        first = row.key if row.version == 1 else session.scalar(of_flag) or row.key
        more = {"about": about.key if about else None, "first": first, "box": [flag.x, flag.y, flag.w, flag.h]}
        more |= _place_in_text(session, flag)
    elif isinstance(row, PageEventRow | LayoutOverrideRow | CommentRow):
        page = session.get_one(PageRow, row.page_id)
        if isinstance(row, CommentRow) and row.flag_id is not None:
            more = _place_in_text(session, session.get_one(FlagRow, row.flag_id))
    return {"work": session.get_one(WorkRow, page.work_id).name, "page": page.page, "repeat": page.repeat, **more}


def _place_in_text(session: Session, flag: FlagRow) -> Line:
    """Where a flag stands in its text, and in which version of that; nothing where that is not known."""
    version = session.get(TextVersionRow, flag.version_id) if flag.version_id is not None else None
    if version is None or flag.start is None:
        return {}
    path = session.get_one(TextRow, version.text_id).path
    return {"file": path, "sha": version.sha, "start": flag.start, "extent": flag.extent, "reads": flag.reads}


def _text_line(session: Session, path: str, sha: str) -> Line:
    known = select(TextVersionRow).join(TextRow, TextRow.id == TextVersionRow.text_id)
    version = session.scalars(known.where(TextRow.path == path, TextVersionRow.sha == sha)).one()
    return {"format": FORMAT, "act": TEXT, "file": path, "sha": sha, "content": content_of(version)}


def _append_whole(file: int, data: bytes) -> None:
    """Append and sync; what a crash cut off before is closed with a line ending, what fails now is taken back."""
    size = os.fstat(file).st_size
    if size and os.pread(file, 1, size - 1) != b"\n":
        data = b"\n" + data
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
    except OSError:
        with suppress(OSError):
            os.ftruncate(file, size)
        raise


def moment(text: str) -> datetime:
    """A point in time as a line has it."""
    return datetime.fromisoformat(text)
