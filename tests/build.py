"""Builders for tests: texts, flags, pages, runs and decisions."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from proof.model.flags import Evidence, Flag, Kind, context_of, flag_id
from proof.model.geometry import Box
from proof.model.result import CheckedColumn, PageResult, Status
from proof.ocr.engine import EngineIdentity
from proof.store import CheckedResult, PagePlace, RunInfo, Store, TextInfo
from proof.store.decision_records import Decision, DecisionRequest, Verdict
from proof.store.queue_records import Order, QueuedFlag, QueueFilter
from proof.store.texts import sha_of
from proof.text.encoding import Decoded
from proof.text.positions import Span
from proof.text.read import parse_transcription
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
    """Decide a flag in its present version."""
    [now] = store.queue.flags(work, [flag])
    return store.decisions.decide(demand(flag, verdict, now.version, person, work=work, **more))


def queued(store: Store, work: str = WORK, **wanted: Any) -> list[QueuedFlag]:
    """The flags of a work in page order, as the desk shows them."""
    numbers, _ = store.queue.find(work, QueueFilter(**wanted), Order.PAGE, limit=100_000)
    return store.queue.flags(work, numbers)


def transcription(text: str, name: str = "text.txt", form: Format | None = None) -> Transcription:
    """The transcription of a file with this `text`, in its own format or in `form`."""
    return parse_transcription(Decoded(text, "utf-8", False), Path(name), form)
