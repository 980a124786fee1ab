"""The journal: every act of a store as a line of a plain file beside it, from which a lost store is recovered.

An act is appended to the journal after its transaction is committed and before the request is answered. Writers hold a
lock from the commit until the lines are appended, so that the lines have the order of the acts. Before the commit the
lines are put into a file of pending lines. If the program crashes in between, the next writer, or whoever opens the
store next, appends them.

Each line is one JSON object. It refers to works, pages and acts by name and key, never by row number: row numbers
differ from store to store. Accounts are not in the journal.
"""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from filelock import FileLock
from sqlalchemy import event, inspect, select
from sqlalchemy.orm import Session

from proof.atomic import sync_folder
from proof.errors import OutputError
from proof.locale.marking import _
from proof.store.carried_places import TextChange
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
from proof.store.texts import content_of, find_version, sha_of, text_changes_of
from proof.text.edit import Edit, edited, one_edit

ENDING = ".decisions.jsonl"
FORMAT = 1
COMMENT = "comment"
DECISION = "decision"
READING = "reading"
RULE = "rule"
TEXT = "text"
"""The `act` of a line about a text: either its `content` at the time of an act in it, to which the places of acts
refer, or a later change, as `edits` of the content with the hash `before`, along which places are carried."""
ROW_NUMBERS = frozenset({"id", "work_id", "flag_id", "page_id", "about"})
"""Columns with row numbers, which mean something in one store only."""

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class JournalLines:
    """The lines of a journal in their order.

    `damaged` are the numbers (from 1) of lines that cannot be read. `cut_off` is the number of a last line that a crash
    cut off, 0 if there is none: the request for its act was never answered.
    """

    lines: tuple[Line, ...]
    damaged: tuple[int, ...]
    cut_off: int = 0


class Journal:
    """The journal at `path`, to which every process that opens the store appends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = FileLock(path.with_name(f".{path.name}.lock"), mode=0o600)
        self._pending = path.with_name(f".{path.name}.pending")
        self._written_texts: set[tuple[str, str]] | None = None

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the lock of the journal: no other writer of any process commits or appends an act meanwhile. Raises
        OutputError."""
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
        """Collect the lines of the acts that a session adds within the context. At its end they are put into `lines`,
        to be appended after the commit."""
        added: list[ActRow] = []

        def collect(flushed: Session, _context: object) -> None:
            added.extend(row for row in flushed.new if isinstance(row, ActRow))

        event.listen(session, "after_flush", collect)
        try:
            yield
            session.flush()
            lines += [_act_line(session, row) for row in added if row in session]  # without those rolled back since
            lines[:0] = self._missing_texts(session, lines)
            lines[:0] = self._text_changes(session)
        finally:
            event.remove(session, "after_flush", collect)

    def prepare(self, lines: Sequence[Line], reading: Sessions) -> None:
        """Put the lines of acts that are about to be committed into the file of pending lines. What an earlier turn
        left pending is settled first. Raises OutputError."""
        self._settle_pending(reading)
        try:
            with os.fdopen(os.open(self._pending, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(_encoded(lines))
        except OSError as error:
            raise self._unwritable(error) from error

    def append(self, lines: Sequence[Line], reading: Sessions) -> None:
        """Append the lines of acts that were prepared and committed in this turn. Raises OutputError; the lines then
        stay pending until the next acts, or until the store is opened."""
        with reading() as session:
            self._add(session, lines)
        self._remove_pending()

    def _add(self, session: Session, lines: Sequence[Line]) -> None:
        """Append lines to the journal or, if its file was lost, write all acts of the store."""
        if self.path.exists():
            self._write(lines)
        else:
            self.complete(session)

    def _settle_pending(self, reading: Sessions) -> None:
        """Append what an earlier turn left pending, if it was committed and not appended yet. Raises OutputError."""
        if not self._pending.exists():
            return
        pending = read_journal(self._pending)
        lines = pending.lines
        if lines and not pending.damaged and not pending.cut_off:
            with reading() as session:
                if _is_committed(session, lines) and self.read().lines[-len(lines) :] != lines:
                    self._add(session, lines)
        self._remove_pending()

    def _remove_pending(self) -> None:
        """Remove the file of pending lines. If it stays, the next turn finds that the journal has them already."""
        with suppress(OSError):
            self._pending.unlink()

    def catch_up(self, reading: Sessions) -> None:
        """Append what is pending, and all acts that are missing if the newest act is. Raises OutputError."""
        if self._pending.exists():
            with self.turn():
                self._settle_pending(reading)
        with reading() as session:
            newest = session.scalar(select(ActRow.key).order_by(ActRow.id.desc()).limit(1))
        if newest is not None and not self._has_key(newest):
            with self.turn(), reading() as session:
                self.complete(session)

    def _has_key(self, key: str) -> bool:
        """Whether the key of an act is in the file, which is searched from its end. Raises OutputError."""
        try:
            if not self.path.exists() or not self.path.stat().st_size:
                return False
            quoted = json.dumps(key, ensure_ascii=False).encode("utf-8", "surrogatepass")
            with self.path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
                return data.rfind(quoted) >= 0
        except OSError as error:
            raise _unreadable(self.path, error) from error

    def complete(self, session: Session) -> None:
        """Append all acts of the store that the journal lacks. Raises OutputError."""
        journal_ids = {identity(line) for line in standing_lines(self.read().lines)}
        subjects = Subjects()
        rewritten: set[tuple[str, ...]] = set()
        lines = []
        for line in all_lines(session):
            subject = subjects.of(line)
            if identity(line) in journal_ids and subject not in rewritten:
                continue
            if line.get("version"):  # it replaces the lines of its subject from its version on: these are appended too
                rewritten.add(subject)
            lines.append(line)
        if lines:
            self._write([*self._missing_texts(session, lines), *lines])

    def read(self) -> JournalLines:
        """Read the journal. Raises OutputError."""
        return read_journal(self.path)

    def _missing_texts(self, session: Session, lines: Sequence[Line]) -> list[Line]:
        """The lines with the contents of the texts that `lines` refer to, without those already in the journal."""
        texts = dict.fromkeys((line["file"], line["sha"]) for line in lines if line.get("sha"))
        missing = [(file, sha) for file, sha in texts if (file, sha) not in self._texts()]
        versions = [(file, find_version(session, file, sha)) for file, sha in missing]
        return [_text_line(file, content_of(version)) for file, version in versions if version is not None]

    def _text_changes(self, session: Session) -> Iterator[Line]:
        """The lines of the changes of texts in a session, each after the content before, if the journal lacks it."""
        for path, change in text_changes_of(session):
            before = _text_line(path, change.before or "")
            if (path, before["sha"]) not in self._texts():
                yield before
            yield _text_change_line(session, path, change, before["sha"])

    def _texts(self) -> set[tuple[str, str]]:
        """The contents that the journal has, by the paths of their files and their hashes."""
        if self._written_texts is None or not self.path.exists():
            self._written_texts = _named_texts(self.read().lines)
        return self._written_texts

    def _write(self, lines: Sequence[Line]) -> None:
        """Append lines to the file, which is created if missing. Raises OutputError."""
        try:
            is_new = not self.path.exists()
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                _append_whole(file, _encoded(lines))
            finally:
                os.close(file)
            if is_new:
                sync_folder(self.path.parent)
        except OSError as error:
            raise self._unwritable(error) from error
        if self._written_texts is not None:
            self._written_texts |= _named_texts(lines)

    def _unwritable(self, error: OSError) -> OutputError:
        return OutputError(
            _("%(path)s: cannot be written (%(reason)s); make room or allow writing"),
            path=self.path,
            reason=error.strerror or error,
        )


def journal_of(store: Path) -> Path:
    """The path of the journal of a store in a file."""
    return store.with_suffix(ENDING)


def read_journal(path: Path) -> JournalLines:
    """The lines of the journal at `path`, none if there is no such file. Raises OutputError."""
    try:
        data = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise _unreadable(path, error) from error
    lines, damaged, cut_off = [], [], 0
    encoded_lines = data.removeprefix(codecs.BOM_UTF8).split(b"\n")
    for number, encoded in enumerate(encoded_lines, 1):
        if not encoded.strip():
            continue
        try:
            line = json.loads(encoded.decode("utf-8", "surrogatepass"))
            identity(line)
            lines.append(line)
        except (ValueError, TypeError, KeyError):
            if number == len(encoded_lines):
                cut_off = number
            else:
                damaged.append(number)
    return JournalLines(tuple(lines), tuple(damaged), cut_off)


def _unreadable(path: Path, error: OSError) -> OutputError:
    return OutputError(_("%(path)s: cannot be read (%(reason)s)"), path=path, reason=error.strerror or error)


def identity(line: Line) -> str:
    """A string that identifies a line: work and key of its act; for a text, its path and the hashes of its contents."""
    if line["act"] == TEXT:
        return f"{line['file']}\x1f{line['sha']}\x1f{line.get('before', '')}"
    return f"{line['work']}\x1f{line['key']}"


class Subjects:
    """The subjects of acts: rules, pages and flags.

    A decision names the first decision on its flag (`first`), since the flag may have moved to another page, where it
    has another id.
    """

    def __init__(self) -> None:
        self._by_first: dict[str, tuple[str, ...]] = {}

    def of(self, line: Line) -> tuple[str, ...]:
        """The subject of an act. Acts on the same flag must be passed in their order."""
        if line["act"] == RULE:
            return RULE, line["work"], line["transcribed"], line["suggested"]
        subject = (line["act"], line["work"], line["page"], str(line["repeat"]), line.get("uid", ""))
        return self._by_first.setdefault(line["first"], subject) if line["act"] == DECISION else subject


def texts_of(lines: Sequence[Line]) -> dict[tuple[str, str], str]:
    """The contents of texts that a journal has, by the paths of their files and their hashes."""
    contents: dict[tuple[str, str], str] = {}
    for line in lines:
        if line["act"] != TEXT:
            continue
        before = contents.get((line["file"], line.get("before", "")))
        content = line.get("content") if before is None else edited(before, edits_of(line))
        if content is not None:
            contents[line["file"], line["sha"]] = content
    return contents


def _named_texts(lines: Sequence[Line]) -> set[tuple[str, str]]:
    """The contents that these lines have, by the paths of their files and their hashes."""
    return {(line["file"], line["sha"]) for line in lines if line["act"] == TEXT}


def edits_of(line: Line) -> list[Edit]:
    """The edits of a line that changes a text."""
    return [Edit(*edit) for edit in line["edits"]]


def chains_of(lines: Sequence[Line]) -> tuple[dict[tuple[str, ...], list[tuple[int, Line]]], int]:
    """The chain of acts on each subject, each act with the index of its line; and the number of superseded acts.

    A line with a version supersedes the acts of its chain that have the same or a later version.
    """
    chains: dict[tuple[str, ...], list[tuple[int, Line]]] = {}
    superseded: set[str] = set()
    subjects = Subjects()
    for number, line in enumerate(lines):
        if line["act"] == TEXT:
            continue
        chain = chains.setdefault(subjects.of(line), [])
        if line.get("version"):
            earlier = [(index, act) for index, act in chain if act["version"] < line["version"]]
            superseded.update(identity(act) for _, act in chain[len(earlier) :])
            chain[:] = earlier
        elif any(identity(act) == identity(line) for _, act in chain):
            continue
        chain.append((number, line))
    standing = {identity(line) for chain in chains.values() for _, line in chain}
    return chains, len(superseded - standing)


def standing_lines(lines: Sequence[Line]) -> list[Line]:
    """The acts of a journal that are not superseded, and would be recovered from it."""
    return [line for chain in chains_of(lines)[0].values() for _, line in chain]


def all_lines(session: Session) -> Iterator[Line]:
    """The lines of all acts in the store, in their order."""
    for row in session.scalars(select(ActRow).order_by(ActRow.id).execution_options(yield_per=500)):
        yield _act_line(session, row)


def _act_line(session: Session, row: ActRow) -> Line:
    """The line of an act: its place, and the columns of its row without row numbers."""
    names = (column.key for column in inspect(type(row)).column_attrs)
    columns = {name: getattr(row, name) for name in names if name not in ROW_NUMBERS}
    columns["at"] = row.at.isoformat()
    about = session.get(ActRow, row.about) if row.about is not None else None
    return {"format": FORMAT, **_place(session, row), **columns, "about": about.key if about else None}


def _place(session: Session, row: ActRow) -> Line:
    """The fields that say on what an act is: its work, its page, and the place of its flag in the text."""
    work = {"work": session.get_one(WorkRow, row.work_id).name}
    if isinstance(row, RuleRow):
        return work
    at_flag: Line = {}
    if isinstance(row, (DecisionRow, ReadingRow)):
        flag = session.get_one(FlagRow, row.flag_id)
        page = session.get_one(PageRow, flag.page_id)
        at_flag = {"box": [flag.x, flag.y, flag.w, flag.h], **_place_in_text(session, flag)}
        if isinstance(row, DecisionRow):
            first = select(DecisionRow.key).where(DecisionRow.flag_id == flag.id, DecisionRow.version == 1)
            at_flag["first"] = session.scalar(first) or row.key
    else:
        page = session.get_one(PageRow, row.page_id)  # type: ignore[attr-defined]
        if isinstance(row, CommentRow) and row.flag_id is not None:
            at_flag = _place_in_text(session, session.get_one(FlagRow, row.flag_id))
    return {**work, "page": page.page, "repeat": page.repeat, **at_flag}


def _place_in_text(session: Session, flag: FlagRow) -> Line:
    """The origin of a flag, and its place in a version of its text, if known. If the place is `lost`, that version is
    the last one that had it."""
    origin: Line = {"origin": flag.origin}
    version = session.get(TextVersionRow, flag.version_id) if flag.version_id is not None else None
    if version is None or flag.start is None:
        return origin
    text = session.get_one(TextRow, version.text_id)
    lost = {"lost": True} if text.version_id != version.id else {}
    place = {"start": flag.start, "extent": flag.extent, "reads": flag.reads, "former": flag.former}
    return origin | {"file": text.path, "sha": version.sha} | place | lost


def _text_line(path: str, content: str) -> Line:
    return {"format": FORMAT, "act": TEXT, "file": path, "sha": sha_of(content), "content": content}


def _text_change_line(session: Session, path: str, change: TextChange, before: str) -> Line:
    """The line of a change of a text whose content had the hash `before`. If an export made the change, `written` maps
    the keys of first decisions to the indices of the edits that wrote them."""
    written = change.written
    edits = written.edits if written is not None else [one_edit(change.before or "", change.content)]
    line: Line = {"format": FORMAT, "act": TEXT, "file": path, "sha": sha_of(change.content), "before": before}
    line |= {"script": change.script, "edits": [[edit.start, edit.length, edit.replacement] for edit in edits]}
    if written is None:
        return line
    firsts = select(DecisionRow.key, DecisionRow.flag_id).join(FlagRow, FlagRow.id == DecisionRow.flag_id)
    firsts = firsts.join(TextRow, TextRow.id == FlagRow.text_id).where(TextRow.path == path, DecisionRow.version == 1)
    of_flags = written.of_flags
    return line | {"written": {key: of_flags[flag] for key, flag in session.execute(firsts) if flag in of_flags}}


def _is_committed(session: Session, lines: Sequence[Line]) -> bool:
    """Whether the transaction of these lines was committed: the store has its first act or, without acts, its texts."""
    for line in lines:
        if line["act"] != TEXT:
            return session.scalar(select(ActRow.id).where(ActRow.key == line["key"])) is not None
    hashes = {line["file"]: line["sha"] for line in lines}
    current = select(TextRow.path, TextVersionRow.sha).join(TextVersionRow, TextVersionRow.id == TextRow.version_id)
    return dict(session.execute(current.where(TextRow.path.in_(hashes))).all()) == hashes


def _encoded(lines: Sequence[Line]) -> bytes:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode("utf-8", "surrogatepass")


def _append_whole(file: int, data: bytes) -> None:
    """Append `data` to an open file and sync it. A last line that a crash cut off gets its line ending first. If
    writing fails, the file is cut back to its former size."""
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
