"""What people did, as lines of a plain file beside the store: should the store be lost, they are not.

Every act is written here, and is on the disk, before the transaction that holds it is committed: what was ever
acknowledged, and whatever the store holds, is in the journal. Where a commit fails, a line after its acts says that
they are void: who sent them saw an error. The journal may still hold an act whose commit never came (a crash in
between): it was acknowledged to nobody, and where its place was then decided anew the later line says so.
Each line is one JSON object with the place in words, not in row numbers, so that it can be read and used without
the store. Accounts are not in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from filelock import FileLock
from sqlalchemy import event, inspect, select
from sqlalchemy.orm import Session

from proof.atomic import sync_folder
from proof.errors import OutputError
from proof.store.models import (
    Base,
    DecisionRow,
    FlagRow,
    MendRow,
    PageEventRow,
    PageRow,
    RuleRow,
    SeededAnswerRow,
    WorkRow,
)
from proof.store.rows import SEEDED

ENDING = ".decisions.jsonl"
FORMAT = 1
ACTS: dict[type[Base], str] = {DecisionRow: "decision", PageEventRow: "page", MendRow: "layout", RuleRow: "rule"}
"""The tables of what people do, and how the journal calls an act of each. Their rows are added through a session."""
VOID = "void"
"""The `act` of a line that says of acts before it, by their identities (`of`), that their commit failed."""
_OWN = frozenset({"id", "work_id", "flag_id", "page_id", "about"})
"""Columns that only mean something in one store."""

Sessions = Callable[[], AbstractContextManager[Session]]
Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Read:
    """The lines of a journal in their order, and the numbers of lines that cannot be read: the last one, where a
    crash cut it off."""

    lines: tuple[Line, ...]
    damaged: tuple[int, ...]


class Journal:
    """The journal at `path`; every process that opens the store appends to it."""

    def __init__(self, path: Path) -> None:
        self.path = path

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

    def void(self, lines: Sequence[Line]) -> None:
        """Note that the commit of these acts failed. Where that cannot be written either, as on a full disk, they stay
        as those of a crash do."""
        with suppress(OutputError):
            self._write([{"format": FORMAT, "act": VOID, "of": [list(identity(line)) for line in lines]}])

    def begin(self, session: Session) -> None:
        """Write down all that a store holds which was begun before it had a journal."""
        if not self.path.exists() and any(session.scalar(select(table.id).limit(1)) for table in ACTS):  # type: ignore[attr-defined]
            self._append(session, [])

    def complete(self, session: Session) -> int:
        """Add what the store holds and the journal lacks, as where the file was lost; gives how many."""
        known = {identity(line) for line in self.read().lines}
        lines = [line for line in all_lines(session) if identity(line) not in known]
        if lines:
            self._write(lines)
        return len(lines)

    def read(self) -> Read:
        """What it holds. Raises OutputError where it cannot be read."""
        return read_journal(self.path)

    def _append(self, session: Session, added: Sequence[Base]) -> list[Line]:
        """Write down these acts, or all where there is no journal yet; gives the lines of these."""
        own = [_line(session, row) for row in added]
        self._write(own if self.path.exists() else list(all_lines(session)))
        return own

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
    lines, damaged = [], []
    for number, text in enumerate(data.split(b"\n"), 1):
        if not text.strip():
            continue
        try:
            line = json.loads(text.decode("utf-8", "surrogatepass"))
            identity(line)
            lines.append(line)
        except (ValueError, TypeError, KeyError):
            damaged.append(number)
    return Read(tuple(lines), tuple(damaged))


def identity(line: Line) -> tuple[str, ...]:
    """What tells an act from every other: the key of its request; what a check or a rule did, by place and time."""
    if line["act"] == VOID:
        return VOID, *("\x1f".join(one) for one in line["of"])
    if line["act"] == "rule":
        return "rule", line["work"], line["transcribed"], line["suggested"], line["at"]
    place = (line["act"], line["work"], line["page"], str(line["repeat"]))
    if line["act"] == "decision" and line["verdict"] == "carried":
        return (*place, line["uid"], str(line["version"]), line["at"])
    return (*place, line["key"])


def all_lines(session: Session) -> Iterator[Line]:
    """Every act in the store, oldest first within its table."""
    for table in ACTS:
        for row in session.scalars(select(table).order_by(table.id)):  # type: ignore[attr-defined]
            yield _line(session, row)


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
        more = {"about": about.key if about else None, "box": [flag.x, flag.y, flag.w, flag.h]}
    elif isinstance(row, PageEventRow | MendRow):
        page = session.get_one(PageRow, row.page_id)
    return {"work": session.get_one(WorkRow, page.work_id).name, "page": page.page, "repeat": page.repeat, **more}


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
