"""Builders for stores of checked files: texts, places of pages, runs, decisions and manual corrections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from uuid import uuid4

from sqlalchemy import select

from proof.model.result import PageResult
from proof.ocr.engine import EngineIdentity
from proof.store import PagePlace, RunInfo, Store, TextInfo
from proof.store.acts import ActKind
from proof.store.decision_records import Decision, DecisionRequest, State, Verdict
from proof.store.history import HistoryFilter
from proof.store.manual_corrections import ManualCorrection
from proof.store.models import FlagRow
from proof.store.saving import CheckedResult
from proof.store.texts import sha_of
from proof.text.positions import Span
from proof.text.read import read_transcription
from proof.text.transcription import Transcription


def standing_decisions(store: Store, work: str) -> list[Decision]:
    """The last decision about each flag of a work that is not open again, oldest first."""
    return [decision for decision in store.decisions.last_of_flags(work) if decision.state is not State.OPEN]


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
    found: Iterable[tuple[Path, PageResult]],
    *,
    work: str = "KR1",
    script: str | Mapping[Path, str] = "traditional",
    key: Callable[[PageResult], str] = lambda _: "",
    copies: bool = False,
) -> int:
    """Save a whole run over files with these results of their pages, each under its `key`; returns its number. `script`
    is that of all files, or of each; `copies`: files with the same pages are saved as copies of one another."""
    pages = list(found)
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
    work: str = "KR1",
    version: int | None = None,
) -> Decision:
    """Decide a flag, given by its id or number, in its present `version` or in an earlier one."""
    number = flag if isinstance(flag, int) else number_of(store, flag)
    with store._reading() as session:
        seen = session.get_one(FlagRow, number).version if version is None else version
    return store.decisions.decide(DecisionRequest(work, number, verdict, seen, person, uuid4().hex, reading))


def page_number(store: Store, work: str = "KR1", page: str = "", text: Path | None = None) -> int:
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
    work: str = "KR1",
    page: str = "",
    text: Path | None = None,
) -> Decision:
    """Correct a place by hand, by default on the first page; without a reading its characters are deleted."""
    number = page_number(store, work, page, text)
    wanted = ManualCorrection(
        work, number, line, offset, length, reading, person, uuid4().hex, Verdict.TYPED if reading else Verdict.DELETE
    )
    return store.manual_corrections.correct(wanted)
