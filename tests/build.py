"""Builders for tests: texts, flags, pages, runs and decisions."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.model.flags import Evidence, Flag, Kind, flag_id
from proof.model.geometry import Box
from proof.model.result import CheckedColumn, PageResult, Status
from proof.ocr.engine import EngineIdentity
from proof.store import CheckedResult, PagePlace, RunInfo, Store, TextInfo
from proof.store.acts import ActKind
from proof.store.decision_chains import decision_of
from proof.store.decision_records import Decision, DecisionRequest, State, Verdict
from proof.store.history import HistoryFilter
from proof.store.lookup import work_id_subquery
from proof.store.manual_corrections import ManualCorrection
from proof.store.models import DecisionRow, FlagRow
from proof.store.queue_records import Order, QueuedFlag, QueueFilter
from proof.store.seeded_errors import IS_SEEDED
from proof.store.texts import sha_of
from proof.text.contexts import context_of
from proof.text.encoding import Decoded
from proof.text.positions import Span
from proof.text.read import parse_transcription, read_transcription
from proof.text.transcription import Format, Transcription

WORK = "KR1"
TEXT = "KR1d0030_010.txt"
PLACE = PagePlace(0, TEXT, "010", "1a")


def run_info(work: str = WORK, title: str = "儀禮") -> RunInfo:
    """A run without an engine."""
    return RunInfo(work, title, (), EngineIdentity("null", "", "", ""), {"threshold": 3.0})


def flag(line: int, offset: int, here: str, there: str, *, name: str = "p1", source: str = "", **more: Any) -> Flag:
    """A raised flag with its transcribed and its suggested text, at a place of the column `source`."""
    kind = Kind.OMISSION if not here else Kind.INSERTION if not there else Kind.SUBSTITUTION
    context = context_of(source, offset, len(here)) if source else ""
    uid = flag_id(name, line, kind, context or f"{offset}", 0)
    made = Flag(
        name, name, line, offset, len(here), kind, here, there, 5.0, True, None, Evidence("posterior"), context, uid
    )
    return replace(made, **more)


def page(*lines: str, flags: Iterable[Flag | tuple[int, int, str, str]] = (), name: str = "p1") -> PageResult:
    """A page of these columns, with flags, given as such or by the arguments of `flag`."""
    made = [
        each if isinstance(each, Flag) else flag(*each, name=name, source=lines[each[0] - 1] if lines else "")
        for each in flags
    ]
    columns = tuple(CheckedColumn(n, Box(100 * n, 0, 90, 100), line) for n, line in enumerate(lines, 1))
    return PageResult(name, name, Status.CHECKED, columns=columns, flags=tuple(made))


def check(store: Store, *results: PageResult, info: RunInfo | None = None, text: str = TEXT, key: str = "") -> int:
    """Save a whole run with these results of all pages of a text, which consists of their columns; returns its number.
    Pages are saved under `key` with their id, if it is given."""
    content = ""
    places = []
    for position, result in enumerate(results):
        content += f"<pb:{result.page}>\n"
        lines = {}
        sources = {column.number: column.source for column in result.columns}
        for number in range(1, max(sources, default=0) + 1):
            if number in sources:
                lines[number] = Span(len(content), len(sources[number]))
            content += sources.get(number, "") + "\n"
        places.append(replace(PLACE, position=position, text=text, lines=lines))
    return check_at(store, content, list(zip(places, results, strict=True)), info=info, text=text, key=key)


def check_at(
    store: Store,
    content: str,
    pages: Sequence[tuple[PagePlace, PageResult]],
    *,
    info: RunInfo | None = None,
    text: str = TEXT,
    key: str = "",
    script: str = "traditional",
) -> int:
    """Save a whole run with these results of all pages of a text with this `content`; returns its number."""
    sha = sha_of(content)
    texts = (TextInfo(text, sha, "kanripo", script, content),)
    run = store.begin_run(replace(info or run_info(), texts=texts))
    keyed = [(place, f"{key}{result.page}" if key else "", result) for place, result in pages]
    store.save_pages(run, [CheckedResult(replace(place, sha=sha), own, result) for place, own, result in keyed])
    store.finish_run(run, whole=True)
    return run


def key() -> str:
    """The key of a request."""
    return uuid.uuid4().hex


def demand(
    flag: int, verdict: Verdict, version: int = 0, person: str = "甲", *, work: str = WORK, **more: Any
) -> DecisionRequest:
    """A request for a decision."""
    return DecisionRequest(work, flag, verdict, version, person, more.pop("key", "") or key(), **more)


def decide(store: Store, flag: int, verdict: Verdict, person: str = "甲", *, work: str = WORK, **more: Any) -> Decision:
    """Decide a flag in its present version, unless `version` is given."""
    [now] = store.queue.flags(work, [flag])
    version = more.pop("version", now.version)
    return store.decisions.decide(demand(flag, verdict, version, person, work=work, **more))


def queued(store: Store, work: str = WORK, **wanted: Any) -> list[QueuedFlag]:
    """The flags of a work in page order, as the desk shows them."""
    numbers, _ = store.queue.find(work, QueueFilter(**wanted), Order.PAGE, limit=100_000)
    return store.queue.flags(work, numbers)


def standing_decisions(store: Store, work: str) -> list[Decision]:
    """The last decision about each flag of a work that is not open again, oldest first, without seeded errors."""
    query = select(DecisionRow).join(FlagRow, FlagRow.id == DecisionRow.flag_id).order_by(DecisionRow.id)
    query = query.where(DecisionRow.version == FlagRow.version, FlagRow.state != State.OPEN.value, ~IS_SEEDED)
    with Session(store.engine) as session:
        rows = session.scalars(query.where(DecisionRow.work_id == work_id_subquery(work))).all()
        return [decision_of(row) for row in rows]


def decision_log(store: Store, work: str) -> list[Decision]:
    """All decisions of a work, newest first."""
    entries, _ = store.history.log(work, HistoryFilter(what=ActKind.DECISIONS), limit=1_000_000)
    return [entry.decision for entry in entries if entry.decision is not None]


def text_info(path: Path, script: str = "traditional") -> TextInfo:
    """A file as a text of a run."""
    content = read_transcription(path).text
    return TextInfo(str(path), sha_of(content), "kanripo", script, content)


def page_place(position: int, path: Path, page: str, nth: int = 0, copies: frozenset[str] = frozenset()) -> PagePlace:
    """The place of a page in a file; of several pages with this id the `nth`, counted from 0."""
    text = read_transcription(path)
    assert isinstance(text, Transcription)
    bearers = [candidate for candidate in text.pages if candidate.id == page]
    lines = {column.number: Span(column.start, len(column.source)) for column in bearers[nth].columns}
    return PagePlace(position, str(path), copies=copies, lines=lines, sha=sha_of(text.text))


def check_files(
    store: Store,
    results: Iterable[tuple[Path, PageResult]],
    *,
    work: str = WORK,
    script: str | Mapping[Path, str] = "traditional",
    key: Callable[[PageResult], str] = lambda _: "",
    copies: bool = False,
) -> int:
    """Save a whole run over files with these results of their pages, each under its `key`; returns its number. `script`
    is that of all files, or of each; `copies`: files with the same pages are saved as copies of one another."""
    pages = list(results)
    scripts = {path: script if isinstance(script, str) else script[path] for path, _ in pages}
    texts = tuple(text_info(path, written) for path, written in scripts.items())
    run = store.begin_run(RunInfo(work, "書", texts, EngineIdentity("none", "1", "none", "0")))
    for position, (path, result) in enumerate(pages):
        others = frozenset(str(other) for other, copy in pages if copy.page == result.page and other != path)
        place = page_place(position, path, result.page, copies=others if copies else frozenset())
        store.save_pages(run, [CheckedResult(place, key(result), result)])
    store.finish_run(run, whole=True)
    return run


def number_of(store: Store, uid: str) -> int:
    """The number in the store of the flag with this id."""
    with store._reading() as session:
        return session.scalars(select(FlagRow.id).where(FlagRow.uid == uid)).one()


def say(
    store: Store,
    flag: str | int,
    verdict: Verdict,
    reading: str = "",
    person: str = "甲",
    *,
    work: str = WORK,
    **more: Any,
) -> Decision:
    """Decide a flag, given by its id or number, in its present version unless an earlier one is given."""
    number = flag if isinstance(flag, int) else number_of(store, flag)
    return decide(store, number, verdict, person, work=work, reading=reading, **more)


def page_number(store: Store, work: str = WORK, page: str = "", text: Path | None = None) -> int:
    """The number of a page in the store: by default the first of the work, else that with this id or in this file."""
    pages = store.queue.uncounted_pages(work)
    return next(
        listed.number for listed in pages if page in ("", listed.page) and (text is None or listed.text == str(text))
    )


def by_hand(
    store: Store,
    line: int,
    offset: int,
    reading: str,
    *,
    length: int = 1,
    person: str = "乙",
    work: str = WORK,
    page: str = "",
    text: Path | None = None,
) -> Decision:
    """Correct a place by hand, by default on the first page; without a reading its characters are deleted."""
    number = page_number(store, work, page, text)
    wanted = ManualCorrection(
        work, number, line, offset, length, reading, person, key(), Verdict.TYPED if reading else Verdict.DELETE
    )
    return store.manual_corrections.correct(wanted)


def transcription(text: str, name: str = "text.txt", form: Format | None = None) -> Transcription:
    """The transcription of a file with this `text`, in its own format or in `form`."""
    return parse_transcription(Decoded(text, "utf-8", False), Path(name), form)
