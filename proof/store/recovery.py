"""What people did, rebuilt from the journal in a store that does not have it: after a fresh check, or an old backup.

Everything is told by its place in words. Of each place the journal holds a chain of acts numbered by version; a line
with the number of an earlier one replaces that and all after it, as where an older store was put back and worked on.
Comments replace none: all of them come back.
An act whose commit failed is left out, unless something was decided after it: then it was committed all the same, and
only the word of it was lost.
A flag that the check did not find comes back as one that is gone, with its decisions, which are then carried over to
the flag that now says the same. Doing it twice changes nothing.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.model.flags import context_of
from proof.store import rows
from proof.store.carried import last_event, word_of
from proof.store.decision_records import Verdict
from proof.store.decision_rows import carry
from proof.store.journal import ACTS, COMMENT, Line, Read, all_lines, chains_of, identity, moment, place_of
from proof.store.models import Base, ColumnRow, DecisionRow, FlagRow, PageRow, RuleRow, WorkRow
from proof.store.quality import add_decision, note_seeded
from proof.store.threads import go_on, thread_of

TABLES = {name: table for table, name in ACTS.items()}


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
    a crash cut off, and the works (by row) that something was put into: decisions are then to be carried over in them.
    """

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
    flags: dict[tuple[int, str], FlagRow] = field(default_factory=dict)


def recover(session: Session, read: Read) -> Recovered:
    """Put into the store what the journal holds and the store does not."""
    chains, superseded = chains_of(read.lines)
    done, stored = _Work(), _stored(session)
    wanted = [
        (number, line) for key, chain in chains.items() for number, line in _missing(chain, stored.get(key, []), done)
    ]
    for _, line in sorted(wanted, key=lambda one: one[0]):
        why = _rule(session, line, done) if line["act"] == "rule" else _of_page(session, line, done)
        if why:
            done.unplaced.append(Unplaced(line, why))
        else:
            done.rebuilt[line["act"]] += 1
    session.flush()
    found = done.rebuilt, done.present, superseded, tuple(done.unplaced)
    return Recovered(*found, read.damaged, read.cut_off, tuple(sorted(done.works)))


def place_by_hand(session: Session, work_id: int) -> None:
    """Have each correction by hand stand where the text as it was checked reads so: a line that was moved, and is back
    where it was, leaves no act."""
    threads: dict[tuple[int, str], list[FlagRow]] = {}
    by_hand = select(FlagRow).where(FlagRow.work_id == work_id, FlagRow.uid.startswith(rows.HAND))
    for flag in session.scalars(by_hand.where(FlagRow.version > 0).order_by(FlagRow.id)):
        threads.setdefault((flag.page_id, thread_of(flag)), []).append(flag)
    for (page, _), flags in threads.items():
        if len(flags) < 2:
            continue
        last = [one for one in map(partial(last_event, session), flags) if one is not None]
        now = session.get_one(FlagRow, max(last, key=lambda one: one.id).flag_id)
        columns = select(ColumnRow.number, ColumnRow.source).where(ColumnRow.page_id == page)
        lines = {row.number: row.source for row in session.execute(columns)}
        fit = [one for one in flags if context_of(lines.get(one.line, ""), one.offset, one.length) == one.context]
        here = fit[0] if len(fit) == 1 else now
        if word_of(session, here) != word_of(session, now):
            carry(session, now, here, max(last, key=lambda one: one.id))
        _stand(here, *(one for one in flags if one is not here))


def _stored(session: Session) -> dict[tuple[str, ...], list[Line]]:
    found: dict[tuple[str, ...], list[Line]] = {}
    for line in all_lines(session):
        found.setdefault(place_of(line), []).append(line)
    return found


def _missing(chain: list[tuple[int, Line]], stored: list[Line], done: _Work) -> Iterator[tuple[int, Line]]:
    """What of a chain the store lacks. Where the store tells otherwise, it holds, and the chain is listed."""
    here = [identity(line) for line in stored]
    if chain[0][1]["act"] == "rule":
        newest = max((line["at"] for line in stored), default="")
        for number, line in chain:
            if identity(line) in here:
                done.present += 1
            elif line["at"] > newest:
                yield number, line
            else:
                done.unplaced.append(Unplaced(line, "the rule was set otherwise since"))
        return
    if chain[0][1]["act"] == COMMENT:  # one takes the place of no other
        for number, line in chain:
            if identity(line) in here:
                done.present += 1
            else:
                yield number, line
        return
    there = [identity(line) for _, line in chain]
    common = min(len(here), len(there))
    done.present += sum(one in here for one in there)
    if here[:common] != there[:common]:
        told = "its place was decided otherwise since"
        done.unplaced += [Unplaced(line, told) for _, line in chain if identity(line) not in here]
        return
    yield from chain[common:]


def _of_page(session: Session, line: Line, done: _Work) -> str:
    """Put an act into the store; gives why it cannot be."""
    found = select(PageRow).join(WorkRow, WorkRow.id == PageRow.work_id).where(WorkRow.name == line["work"])
    page = session.scalar(found.where(PageRow.page == line["page"], PageRow.repeat == line["repeat"]))
    if page is None:
        return "the store has no such page; check the text that it stands in, and recover again"
    table = TABLES[line["act"]]
    key = _stored_key(line)
    if session.scalars(select(table).where(table.__table__.c.key == key)).first() is not None:
        return "its key is another act's"
    values = _values(table, line) | {"key": key}
    if table is not DecisionRow:
        session.add(table(page_id=page.id, **values))
        done.works.add(page.work_id)
        return ""
    flag = _flag(session, page, line, done)
    if flag.version + 1 != line["version"]:
        return "what was decided before it is not in the store"
    about = _about(session, line["about"]) if line["about"] else None
    values["kind"] = flag.kind
    seeded = line["kind"] == rows.SEEDED
    add_decision(session, DecisionRow(work_id=page.work_id, flag_id=flag.id, about=about, **values), seeded=seeded)
    flag.state, flag.reading, flag.version = line["state"], line["reading"], line["version"]
    before = session.get_one(DecisionRow, about) if about and line["verdict"] == Verdict.CARRIED.value else None
    if before is not None:
        was = session.get_one(FlagRow, before.flag_id)
        go_on(session, was, flag)
        if rows.is_by_hand(was.uid):  # a correction by hand stands at one place
            _stand(flag, was)
    done.works.add(page.work_id)
    return ""


def _stand(here: FlagRow, *elsewhere: FlagRow) -> None:
    """Have a correction by hand stand here, and nowhere else."""
    here.stale, here.ordinal = False, rows.BY_HAND
    for one in elsewhere:
        one.stale, one.ordinal = True, rows.GONE


def _about(session: Session, line: Line) -> int | None:
    """The decision of that line in the store, under the key that it got there."""
    same = (
        DecisionRow.uid == line["uid"],
        DecisionRow.version == line["version"],
        DecisionRow.at == moment(line["at"]),
    )
    keys = DecisionRow.key.in_([line["key"], _stored_key(line)])
    return session.scalar(select(DecisionRow.id).where(keys, *same))


def _flag(session: Session, page: PageRow, line: Line, done: _Work) -> FlagRow:
    """The flag that a decision is about; one that the check did not find, as a flag that is gone."""
    known = done.flags.get((page.id, line["uid"]))
    if known is not None:
        return known
    flag = session.scalar(select(FlagRow).where(FlagRow.page_id == page.id, FlagRow.uid == line["uid"]))
    if flag is None:
        by_hand = rows.is_by_hand(line["uid"])
        same = ("uid", "ref", "line", "offset", "length", "transcribed", "suggested", "context")
        evidence = dict(line["evidence"])
        evidence.pop("run", None)
        flag = FlagRow(
            work_id=page.work_id,
            page_id=page.id,
            first_run_id=page.result_run_id,
            last_run_id=page.result_run_id,
            stale=not by_hand,
            ordinal=rows.BY_HAND if by_hand else rows.GONE,
            raised=True,
            score=evidence.pop("score", 0.0),
            reason=evidence.pop("reason", ""),
            rule=evidence.pop("rule", ""),
            evidence=evidence,
            state="open",
            reading="",
            version=0,
            **dict(zip("xywh", line["box"], strict=True)),
            kind=rows.kind_of(line["kind"], line["suggested"]).value,
            **{name: line[name] for name in same},
        )
        session.add(flag)
        session.flush()
        if line["kind"] == rows.SEEDED:
            note_seeded(session, flag)
    done.flags[page.id, line["uid"]] = flag
    return flag


def _rule(session: Session, line: Line, done: _Work) -> str:
    work = session.scalar(select(WorkRow.id).where(WorkRow.name == line["work"]))
    if work is None:
        return "the store has no such work; check its texts, and recover again"
    session.add(RuleRow(work_id=work, **_values(RuleRow, line)))
    done.works.add(work)
    return ""


def _values(table: type[Base], line: Line) -> dict[str, Any]:
    """The columns of a row that a line gives."""
    own = {"id", "work_id", "flag_id", "page_id", "about", "key"}
    names = [column.name for column in table.__table__.columns]
    return {name: line[name] for name in names if name not in own} | {"at": moment(line["at"])}


def _stored_key(line: Line) -> str:
    """The key of an act as the store gets it. What a check carried over has one made of row numbers, which may be
    another's here."""
    if line.get("verdict") != "carried":
        return str(line["key"])
    return f"carried-{hashlib.sha256(chr(31).join(identity(line)).encode()).hexdigest()[:40]}"
