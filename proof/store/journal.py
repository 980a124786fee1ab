"""What people did, as lines of a plain file beside the store: should the store be lost, they are not.

The journal is the tail of the table of acts: every act is written here as soon as the transaction that holds it is
committed, before whoever asked for it is answered. Commit and line are one turn of everybody who writes, so that the
lines have the order of the acts. The lines are kept in a file of their own until then: what a crash in between left
out is added from it by whoever comes next, or opens the store.
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
from sqlalchemy import event, inspect, select
from sqlalchemy.orm import Session

from proof.atomic import sync_folder
from proof.errors import OutputError
from proof.locale.marking import _
from proof.store.lookup import Sessions
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
from proof.store.text_changes import TextChange
from proof.store.texts import content_of, find_version, sha_of, text_changes_of
from proof.text.edit import Edit, edited, one_edit

ENDING = ".decisions.jsonl"
FORMAT = 1
COMMENT = "comment"
DECISION = "decision"
READING = "reading"
RULE = "rule"
TEXT = "text"
"""The `act` of a line about a text: what it read when something was decided in it (`content`), or that it came to read
otherwise since (`edits` of what it read `before`). Places are told by the one and follow the other."""
OF_ONE_STORE = frozenset({"id", "work_id", "flag_id", "page_id", "about"})
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
        self._lock = FileLock(path.with_name(f".{path.name}.lock"), mode=0o600)
        self._pending = path.with_name(f".{path.name}.pending")
        self._texts: set[tuple[str, str]] | None = None

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Nobody else, in whatever process, commits an act or writes one down meanwhile. Raises OutputError."""
        try:
            self._lock.acquire()
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def collecting(self, session: Session, lines: list[Line]) -> Iterator[None]:
        """Around the changes of a session that is then committed: `lines` are those of the acts among them, to be
        appended after the commit."""
        added: list[ActRow] = []

        def collect(flushed: Session, _context: object) -> None:
            added.extend(row for row in flushed.new if isinstance(row, ActRow))

        event.listen(session, "after_flush", collect)
        try:
            yield
            session.flush()
            kept = [row for row in added if row in session]  # what a savepoint took back is not among them
            lines += [_line(session, row) for row in kept]
            lines[:0] = self._texts_of(session, lines)
            lines[:0] = self._arrivals(session)
        finally:
            event.remove(session, "after_flush", collect)

    def prepare(self, lines: Sequence[Line], reading: Sessions) -> None:
        """Keep the lines of acts that are to be committed in this turn, after those are written down that an earlier
        turn committed and did not. Raises OutputError."""
        self._settle(reading)
        try:
            with os.fdopen(os.open(self._pending, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(_encoded(lines))
        except OSError as error:
            raise self._unwritable(error) from error

    def append(self, lines: Sequence[Line], reading: Sessions) -> None:
        """Write down acts that were prepared and committed in this turn. Raises OutputError where they cannot be: then
        they are with the next ones, or when the store is opened."""
        with reading() as session:
            self._add(session, lines)
        self._pending.unlink()

    def _add(self, session: Session, lines: Sequence[Line]) -> None:
        """Write down the last acts; where the file was lost, all."""
        if self.path.exists():
            self._write(lines)
        else:
            self.complete(session)

    def _settle(self, reading: Sessions) -> None:
        """Write down what was prepared in an earlier turn, if it was committed. Raises OutputError."""
        if not self._pending.exists():
            return
        read = read_journal(self._pending)
        if read.lines and not read.damaged and not read.cut_off:
            with reading() as session:
                if _is_committed(session, read.lines) and not self._ends_with(_encoded(read.lines)):
                    self._add(session, read.lines)
        self._pending.unlink()

    def _ends_with(self, data: bytes) -> bool:
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, self.path.stat().st_size - len(data)))
                return file.read() == data
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._unreadable(error) from error

    def follow(self, reading: Sessions) -> None:
        """Add what the store holds and is not here. Raises OutputError."""
        if self._pending.exists():
            with self.turn():
                self._settle(reading)
        with reading() as session:
            newest = session.scalar(select(ActRow.key).order_by(ActRow.id.desc()).limit(1))
        if newest is not None and not self._has(newest):
            with self.turn(), reading() as session:
                self.complete(session)

    def _has(self, key: str) -> bool:
        try:
            if not self.path.exists() or not self.path.stat().st_size:
                return False
            wanted = json.dumps(key, ensure_ascii=False).encode("utf-8", "surrogatepass")
            with self.path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as held:
                return held.rfind(wanted) >= 0
        except OSError as error:
            raise self._unreadable(error) from error

    def complete(self, session: Session) -> None:
        """Add what the store holds and the journal lacks, as where the file was lost. Raises OutputError."""
        known = {identity(line) for line in standing_lines(self.read().lines)}
        chains = Chains()
        lacking: set[tuple[str, ...]] = set()
        lines = []
        for line in all_lines(session):
            place = chains.of(line)
            if identity(line) in known and place not in lacking:
                continue
            if line.get("version"):  # a line replaces what bears its number and all after it: that follows it again
                lacking.add(place)
            lines.append(line)
        if lines:
            self._write([*self._texts_of(session, lines), *lines])

    def read(self) -> Read:
        """What it holds. Raises OutputError where it cannot be read."""
        return read_journal(self.path)

    def _texts_of(self, session: Session, lines: Sequence[Line]) -> list[Line]:
        """The lines of what the texts read that acts are about, where the journal does not hold them yet."""
        wanted = dict.fromkeys((line["file"], line["sha"]) for line in lines if line.get("sha"))
        versions = [(file, find_version(session, file, sha)) for file, sha in wanted if (file, sha) not in self._held()]
        return [_text_line(file, content_of(version)) for file, version in versions if version is not None]

    def _arrivals(self, session: Session) -> Iterator[Line]:
        """The lines of the texts that came to read otherwise, each after what it read before."""
        for path, arrival in text_changes_of(session):
            before = _text_line(path, arrival.before or "")
            if (path, before["sha"]) not in self._held():
                yield before
            yield _arrival_line(session, path, arrival, before["sha"])

    def _held(self) -> set[tuple[str, str]]:
        """The texts of which the journal holds what they read, by the paths of their files and the hashes of that."""
        if self._texts is None or not self.path.exists():
            self._texts = _named_texts(self.read().lines)
        return self._texts

    def _write(self, lines: Sequence[Line]) -> None:
        try:
            new = not self.path.exists()
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                _append_whole(file, _encoded(lines))
            finally:
                os.close(file)
            if new:
                sync_folder(self.path.parent)
        except OSError as error:
            raise self._unwritable(error) from error
        if self._texts is not None:
            self._texts |= _named_texts(lines)

    def _unreadable(self, error: OSError) -> OutputError:
        return OutputError(_("%(path)s: cannot be read (%(reason)s)"), path=self.path, reason=error.strerror or error)

    def _unwritable(self, error: OSError) -> OutputError:
        return OutputError(
            _("%(path)s: cannot be written (%(reason)s); make room or allow writing"),
            path=self.path,
            reason=error.strerror or error,
        )


def journal_of(store: Path) -> Path:
    """Where the journal of a store in a file lies."""
    return store.with_suffix(ENDING)


def read_journal(path: Path) -> Read:
    """The lines of the journal at `path`, none where there is no such file. Raises OutputError."""
    try:
        data = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise OutputError(
            _("%(path)s: cannot be read (%(reason)s)"), path=path, reason=error.strerror or error
        ) from error
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


def identity(line: Line) -> str:
    """What tells a line from every other: the key of its act; of a text, its file and the hash of what it reads."""
    if line["act"] == TEXT:
        return f"{line['file']}\x1f{line['sha']}\x1f{line.get('before', '')}"
    return f"{line['work']}\x1f{line['key']}"


class Chains:
    """The subjects of acts, each with its own chain of them. A decision names the first one of its flag (`first`): a
    flag may stand on another page by now, under another id."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[str, ...]] = {}

    def of(self, line: Line) -> tuple[str, ...]:
        """The subject of an act; those of a chain are asked for in their order."""
        if line["act"] == RULE:
            return RULE, line["work"], line["transcribed"], line["suggested"]
        place = (line["act"], line["work"], line["page"], str(line["repeat"]), line.get("uid", ""))
        return self._places.setdefault(line["first"], place) if line["act"] == DECISION else place


def texts_of(lines: Sequence[Line]) -> dict[tuple[str, str], str]:
    """What texts read by a journal, by their paths and the hashes of that."""
    contents: dict[tuple[str, str], str] = {}
    for line in lines:
        if line["act"] == TEXT:
            before = contents.get((line["file"], line.get("before", "")))
            content = line.get("content") if before is None else edited(before, edits_of(line))
            if content is not None:
                contents[line["file"], line["sha"]] = content
    return contents


def _named_texts(lines: Sequence[Line]) -> set[tuple[str, str]]:
    return {(line["file"], line["sha"]) for line in lines if line["act"] == TEXT}


def edits_of(line: Line) -> list[Edit]:
    """The edits by which a text came to read otherwise."""
    return [Edit(*edit) for edit in line["edits"]]


def chains_of(lines: Sequence[Line]) -> tuple[dict[tuple[str, ...], list[tuple[int, Line]]], int]:
    """The acts that hold about each subject, each with its number in the journal, and how many others were replaced."""
    chains: dict[tuple[str, ...], list[tuple[int, Line]]] = {}
    dropped: set[str] = set()
    subjects = Chains()
    for number, line in enumerate(lines):
        if line["act"] == TEXT:
            continue
        chain = chains.setdefault(subjects.of(line), [])
        if line.get("version"):
            keep = [entry for entry in chain if entry[1]["version"] < line["version"]]
            dropped.update(identity(entry[1]) for entry in chain[len(keep) :])
            chain[:] = keep
        elif any(identity(entry) == identity(line) for _, entry in chain):
            continue
        chain.append((number, line))
    held = {identity(line) for chain in chains.values() for _, line in chain}
    return chains, len(dropped - held)


def standing_lines(lines: Sequence[Line]) -> list[Line]:
    """The acts that hold by a journal, and would come back out of it."""
    return [line for chain in chains_of(lines)[0].values() for _, line in chain]


def all_lines(session: Session) -> Iterator[Line]:
    """Every act in the store, in their order."""
    for row in session.scalars(select(ActRow).order_by(ActRow.id).execution_options(yield_per=500)):
        yield _line(session, row)


def _line(session: Session, row: ActRow) -> Line:
    names = (column.key for column in inspect(type(row)).column_attrs)
    columns = {name: getattr(row, name) for name in names if name not in OF_ONE_STORE}
    about = session.get(ActRow, row.about) if row.about is not None else None
    line: Line = {"format": FORMAT, **_place(session, row), **columns, "about": about.key if about else None}
    line["at"] = line["at"].isoformat()
    return line


def _place(session: Session, row: ActRow) -> Line:
    work = {"work": session.get_one(WorkRow, row.work_id).name}
    if isinstance(row, RuleRow):
        return work
    more: Line = {}
    if isinstance(row, (DecisionRow, ReadingRow)):
        flag = session.get_one(FlagRow, row.flag_id)
        page = session.get_one(PageRow, flag.page_id)
        more = {"box": [flag.x, flag.y, flag.w, flag.h], **_place_in_text(session, flag)}
        if isinstance(row, DecisionRow):
            of_flag = select(DecisionRow.key).where(DecisionRow.flag_id == flag.id, DecisionRow.version == 1)
            more["first"] = session.scalar(of_flag) or row.key
    else:
        page = session.get_one(PageRow, row.page_id)  # type: ignore[attr-defined]
        if isinstance(row, CommentRow) and row.flag_id is not None:
            more = _place_in_text(session, session.get_one(FlagRow, row.flag_id))
    return {**work, "page": page.page, "repeat": page.repeat, **more}


def _place_in_text(session: Session, flag: FlagRow) -> Line:
    """The origin of a flag, and where it stands in which version of its text, where that is known; or stood last, where
    it is `lost`."""
    origin: Line = {"origin": flag.origin}
    version = session.get(TextVersionRow, flag.version_id) if flag.version_id is not None else None
    if version is None or flag.start is None:
        return origin
    text = session.get_one(TextRow, version.text_id)
    lost = {"lost": True} if text.version_id != version.id else {}
    place = {"start": flag.start, "extent": flag.extent, "reads": flag.reads}
    return origin | {"file": text.path, "sha": version.sha} | place | lost


def _text_line(path: str, content: str) -> Line:
    return {"format": FORMAT, "act": TEXT, "file": path, "sha": sha_of(content), "content": content}


def _arrival_line(session: Session, path: str, arrival: TextChange, before: str) -> Line:
    """The line of a text that came to read otherwise; `written` names decisions by their first acts, each with the
    number of the edit that wrote it."""
    written = arrival.written
    edits = written.edits if written is not None else [one_edit(arrival.before or "", arrival.content)]
    line: Line = {"format": FORMAT, "act": TEXT, "file": path, "sha": sha_of(arrival.content), "before": before}
    line |= {"script": arrival.script, "edits": [[edit.start, edit.length, edit.replacement] for edit in edits]}
    if written is None:
        return line
    number_of = {edit: number for number, edit in reversed([*enumerate(edits)])}
    firsts = select(DecisionRow.key, DecisionRow.flag_id).join(FlagRow, FlagRow.id == DecisionRow.flag_id)
    firsts = firsts.join(TextRow, TextRow.id == FlagRow.text_id).where(TextRow.path == path, DecisionRow.version == 1)
    edit_of = {key: written.of_flags[flag] for key, flag in session.execute(firsts) if flag in written.of_flags}
    return line | {"written": {key: number_of[edit] for key, edit in edit_of.items()}}


def _is_committed(session: Session, lines: Sequence[Line]) -> bool:
    """Whether the store holds what these lines of one transaction tell: its acts, or how its texts came to read."""
    for line in lines:
        if line["act"] != TEXT:
            return session.scalar(select(ActRow.id).where(ActRow.key == line["key"])) is not None
    present = select(TextRow.path, TextVersionRow.sha).join(TextVersionRow, TextVersionRow.id == TextRow.version_id)
    arrived = {line["file"]: line["sha"] for line in lines}
    return dict(session.execute(present.where(TextRow.path.in_(arrived))).all()) == arrived


def _encoded(lines: Sequence[Line]) -> bytes:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode("utf-8", "surrogatepass")


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
    """When an act was done, as a line has it."""
    return datetime.fromisoformat(text)
