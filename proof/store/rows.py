"""Runs, places of pages and stored flags; these and page results as rows of the tables, and back.

Numpy's numbers are made plain ones on the way in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import proof
from proof.model.flags import Evidence, Flag, Kind, LanguageReading, WitnessReading
from proof.model.geometry import Box
from proof.model.notices import Notice
from proof.model.result import CheckedColumn, PageResult, Status
from proof.ocr.engine import EngineIdentity
from proof.store import codec
from proof.store.models import ColumnRow, FlagRow, PageRow, RunRow


@dataclass(frozen=True, slots=True)
class TextInfo:
    """A transcription file of a run: path, hash of its content, format and script. `content` is stored apart from the
    run."""

    path: str
    sha: str
    format: str = ""
    script: str = ""
    content: str | None = None


@dataclass(frozen=True, slots=True)
class RunInfo:
    """The work, texts, engine and settings (as JSON) of a run."""

    work: str
    title: str
    texts: tuple[TextInfo, ...]
    engine: EngineIdentity
    settings: Mapping[str, Any] = field(default_factory=dict)
    version: str = proof.__version__


@dataclass(frozen=True, slots=True)
class StoredRunInfo:
    """A stored run. `finished` is None while it goes on, or where it was interrupted.

    `findings` are notices about the run as a whole (gaps and jumps in the sequence of pages); `reused` is the number of
    pages taken unchanged from an earlier run.
    """

    id: int
    info: RunInfo
    started: datetime
    finished: datetime | None = None
    findings: tuple[Notice, ...] = ()
    reused: int = 0

    @property
    def seconds(self) -> float | None:
        """Wall-clock seconds from start to finish."""
        return (self.finished - self.started).total_seconds() if self.finished else None


@dataclass(frozen=True, slots=True)
class PagePlace:
    """The place of a page in its work: `position` counts the pages of the run from 0, `text` is the path of the
    transcription file as in `RunInfo.texts`, `folio` is written as on the page (`12b`). `copies` are the other texts of
    the run that have a page of the same id. `lines` are the code points of the file at which its columns begin, by
    their numbers, `sha` the hash of the content of the file."""

    position: int
    text: str = ""
    juan: str = ""
    folio: str = ""
    copies: frozenset[str] = frozenset()
    lines: Mapping[int, int] = field(default_factory=dict)
    sha: str = ""


@dataclass(frozen=True, slots=True)
class KeptPage:
    """The identity of a page's result: its key, and the hash of its image."""

    key: str
    image_sha: str


def place_values(place: PagePlace) -> dict[str, Any]:
    """Where the page stands in its work, as columns of `pages`."""
    return {"position": int(place.position), "text": place.text, "juan": place.juan, "folio": place.folio}


def page_values(result: PageResult) -> dict[str, Any]:
    """What checking the page gave, as columns of `pages`."""
    return {
        "ref": result.ref,
        "status": result.status.value,
        "notice": result.message and result.message.as_json(),
        "image": None if result.image is None else str(result.image),
        "image_sha": result.image_sha,
        "width": int(result.image_size[0]),
        "height": int(result.image_size[1]),
        "box": None if result.image_box is None else _edges(result.image_box),
        "skew": float(result.skew),
        "characters_checked": int(result.characters_checked),
        "notices": [notice.as_json() for notice in result.notices],
        "seconds": float(result.seconds),
    }


def column_values(page_id: int, columns: Iterable[CheckedColumn], place: PagePlace) -> list[dict[str, Any]]:
    """The columns of a page as rows."""
    first = min(place.lines.values(), default=0)
    return [
        {
            "page_id": page_id,
            "ordinal": ordinal,
            "number": int(column.number),
            **dict(zip("xywh", _edges(column.box), strict=True)),
            "source": column.source,
            "begins": place.lines[column.number] - first if column.number in place.lines else None,
        }
        for ordinal, column in enumerate(columns)
    ]


def flag_values(flag: Flag) -> dict[str, Any]:
    """A flag as columns of `flags`, without the page, the work and the runs it belongs to."""
    evidence = flag.evidence
    details: dict[str, Any] = {
        "p_text": None if evidence.p_text is None else float(evidence.p_text),
        "p_best": None if evidence.p_best is None else float(evidence.p_best),
        "alternatives": [[text, float(p)] for text, p in evidence.alternatives],
        "ink": evidence.ink and evidence.ink.as_json(),
        "note": evidence.note,
        "notice": evidence.notice and evidence.notice.as_json(),
        "base": None if evidence.base is None else float(evidence.base),
        "witnesses": [witness.as_dict() for witness in evidence.witnesses],
        "moved": flag.moved,
        "language": evidence.language.as_dict() if evidence.language else None,
    }
    return {
        "uid": flag.id,
        "ref": flag.ref,
        "line": int(flag.line),
        "offset": int(flag.offset),
        "length": int(flag.length),
        "kind": flag.kind.value,
        "transcribed": flag.transcribed,
        "suggested": flag.suggested,
        "score": float(flag.score),
        "raised": bool(flag.raised),
        **dict(zip("xywh", _edges(flag.bbox) if flag.bbox else [None] * 4, strict=True)),
        "context": flag.context,
        "reason": evidence.reason,
        "rule": evidence.rule,
        "evidence": {name: value for name, value in details.items() if value not in ("", None, [])},
    }


def judgement_values(flag: Flag) -> dict[str, Any]:
    """What of a flag may change after its page was checked: what is suggested, its score, whether it is raised, why."""
    values = flag_values(flag)
    return {name: values[name] for name in ("suggested", "score", "raised", "reason", "rule", "evidence")}


def result_of(
    page: PageRow, columns: Sequence[ColumnRow], characters: bytes | None, flags: Sequence[FlagRow]
) -> PageResult:
    """The page result that these rows hold; `columns` and `flags` in their order."""
    return PageResult(
        page=page.page,
        ref=page.ref,
        status=Status(page.status),
        message=_notice_of(page.notice),
        image=None if page.image is None else Path(page.image),
        image_sha=page.image_sha,
        image_size=(page.width, page.height),
        image_box=None if page.box is None else Box(*page.box),
        skew=page.skew,
        characters_checked=page.characters_checked,
        columns=tuple(CheckedColumn(row.number, Box(row.x, row.y, row.w, row.h), row.source) for row in columns),
        characters=codec.unpack(characters) if characters is not None else (),
        flags=tuple(flag_of(page.page, row) for row in flags),
        notices=tuple(map(Notice.of_json, page.notices)),
        seconds=page.seconds,
    )


def flag_of(page: str, row: FlagRow) -> Flag:
    """The flag that a row holds."""
    box = None
    if row.x is not None and row.y is not None and row.w is not None and row.h is not None:
        box = Box(row.x, row.y, row.w, row.h)
    details = row.evidence
    evidence = Evidence(
        reason=row.reason,
        rule=row.rule,
        p_text=details.get("p_text"),
        p_best=details.get("p_best"),
        alternatives=tuple((text, p) for text, p in details.get("alternatives", [])),
        ink=_notice_of(details.get("ink")),
        note=details.get("note", ""),
        notice=_notice_of(details.get("notice")),
        base=details.get("base"),
        witnesses=tuple(WitnessReading(**reading) for reading in details.get("witnesses", [])),
        language=LanguageReading.of(details["language"]) if "language" in details else None,
    )
    return Flag(
        page=page,
        ref=row.ref,
        line=row.line,
        offset=row.offset,
        length=row.length,
        kind=Kind(row.kind),
        transcribed=row.transcribed,
        suggested=row.suggested,
        score=row.score,
        raised=row.raised,
        bbox=box,
        evidence=evidence,
        context=row.context,
        id=row.uid,
        moved=details.get("moved", ""),
    )


def run_values(info: RunInfo) -> dict[str, Any]:
    """What a run checks and with what, as columns of `runs`."""
    return {
        "engine_name": info.engine.name,
        "engine_version": info.engine.version,
        "engine_model": info.engine.model,
        "engine_checksum": info.engine.checksum,
        "settings": dict(info.settings),
        "texts": [{name: value for name, value in asdict(text).items() if name != "content"} for text in info.texts],
        "version": info.version,
    }


def run_of(row: RunRow, work: str, title: str, reused: int) -> StoredRunInfo:
    """The run that a row holds."""
    engine = EngineIdentity(row.engine_name, row.engine_version, row.engine_model, row.engine_checksum)
    settings: Mapping[str, Any] = row.settings
    return StoredRunInfo(
        id=row.id,
        info=RunInfo(work, title, tuple(TextInfo(**text) for text in row.texts), engine, settings, row.version),
        started=row.started,
        finished=row.finished,
        findings=tuple(map(Notice.of_json, row.findings)),
        reused=reused,
    )


def _notice_of(parts: Mapping[str, Any] | None) -> Notice | None:
    return Notice.of_json(parts) if parts else None


def _edges(box: Box) -> list[float]:
    return [float(box.x), float(box.y), float(box.w), float(box.h)]
