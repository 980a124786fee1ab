"""Converts runs, places of pages, page results and flags to rows of the tables, and reads them.

NumPy numbers are converted to Python numbers. Long lists are read as numbers first and then as rows in batches, so that
neither memory nor a transaction grows with the work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

import proof
from proof.model.flags import Evidence, Flag, Kind, Origin
from proof.model.geometry import Box
from proof.model.notices import Notice
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.ocr.engine import EngineIdentity
from proof.store import codec
from proof.store.carried_places import policy_of_script
from proof.store.lookup import filled, work_id_subquery
from proof.store.models import CharactersRow, ColumnRow, FlagRow, PageRow, RunRow
from proof.text.positions import Span
from proof.text.variants import VariantPolicy

PAGES_AT_ONCE = 64
"""Number of pages in one batch."""
FLAGS_AT_ONCE = 2000
"""Number of flags in one batch."""

IS_PRESENT_FINDING = (FlagRow.origin == Origin.FINDING.value, FlagRow.stale.is_(False))
"""The conditions that select the findings of the present results of pages."""


@dataclass(frozen=True, slots=True)
class TextInfo:
    """A transcription file of a run: path, hash of its content, format and script. `content` is stored as a version of
    the text, not with the run."""

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
    """A stored run. `finished` is None while it goes on, or if it was interrupted.

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
    the run that have a page of the same id. `lines` are the places of its columns in the file by column number, `sha`
    is the hash of the content of the file."""

    position: int
    text: str = ""
    juan: str = ""
    folio: str = ""
    copies: frozenset[str] = frozenset()
    lines: Mapping[int, Span] = field(default_factory=dict)
    sha: str = ""


@dataclass(frozen=True, slots=True)
class KeptPage:
    """The identity of a page's result: its key, and the hash of its image."""

    key: str
    image_sha: str


def place_values(place: PagePlace) -> dict[str, Any]:
    """The place of a page as columns of `pages`."""
    return {"position": int(place.position), "text": place.text, "juan": place.juan, "folio": place.folio}


def page_values(result: PageResult) -> dict[str, Any]:
    """A page result as columns of `pages`."""
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


def column_values(page_id: int, columns: Iterable[CheckedColumn]) -> list[dict[str, Any]]:
    """The columns of a page as rows of `columns`."""
    return [
        {
            "page_id": page_id,
            "ordinal": ordinal,
            "number": int(column.number),
            **dict(zip("xywh", _edges(column.box), strict=True)),
            "source": column.source,
        }
        for ordinal, column in enumerate(columns)
    ]


def flag_values(flag: Flag) -> dict[str, Any]:
    """A flag as columns of `flags`, without its page, work and runs."""
    details = flag.evidence.as_dict(exact=True) | ({"moved": flag.moved} if flag.moved else {})
    reason, rule = details.pop("reason", ""), details.pop("rule", "")
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
        "reason": reason,
        "rule": rule,
        "evidence": details,
    }


def judgement_values(flag: Flag) -> dict[str, Any]:
    """The columns of a flag that the whole run may change after its page was checked."""
    values = flag_values(flag)
    return {name: values[name] for name in ("suggested", "score", "raised", "reason", "rule", "evidence")}


def result_of(
    page: PageRow, columns: Sequence[ColumnRow], characters: bytes | None, flags: Sequence[FlagRow]
) -> PageResult:
    """The page result in these rows; `columns` and `flags` are ordered, `characters` packed."""
    return PageResult(
        page=page.page,
        ref=page.ref,
        status=Status(page.status),
        message=Notice.of_json(page.notice) if page.notice else None,
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
    """The flag in a row; `page` is the id of its page."""
    box = None
    if row.x is not None and row.y is not None and row.w is not None and row.h is not None:
        box = Box(row.x, row.y, row.w, row.h)
    evidence = Evidence.from_dict({"reason": row.reason, "rule": row.rule} | row.evidence)
    moved = row.evidence.get("moved", "")
    return filled(Flag, row, page=page, kind=Kind(row.kind), bbox=box, evidence=evidence, id=row.uid, moved=moved)


def run_values(info: RunInfo) -> dict[str, Any]:
    """A run as columns of `runs`."""
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
    """The run in a row; `work` and `title` are those of its work."""
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


def _edges(box: Box) -> list[float]:
    return [float(box.x), float(box.y), float(box.w), float(box.h)]


def pages_in_order(session: Session, run: int | None, work: str | None, raised: bool = False) -> list[int]:
    """The numbers of the pages of a run by position, or of a work by text and position; with `raised` only of pages
    that have raised findings."""
    query = select(PageRow.id)
    if raised:
        query = query.where(exists().where(FlagRow.page_id == PageRow.id, FlagRow.raised, *IS_PRESENT_FINDING))
    if run is not None:
        query = query.where(PageRow.run_id == run).order_by(PageRow.position, PageRow.id)
    else:
        query = query.where(PageRow.work_id == work_id_subquery(work), PageRow.absent.is_(False))
        query = query.order_by(PageRow.text, PageRow.position, PageRow.id)
    return list(session.scalars(query))


def pages_of(session: Session, numbers: Sequence[int]) -> list[PageRow]:
    """The rows of the pages with these numbers, in the given order; unknown numbers are left out."""
    page_of = {page.id: page for page in session.scalars(select(PageRow).where(PageRow.id.in_(numbers)))}
    return [page_of[number] for number in numbers if number in page_of]


def results(
    session: Session, pages: Sequence[PageRow], outline: bool = False, *, characters: bool = True
) -> list[PageResult]:
    """The results of these pages, in the given order: without characters unless `characters` is set, and without
    columns and characters as an `outline`."""
    numbers = [page.id for page in pages]
    flags_of: dict[int, list[FlagRow]] = defaultdict(list)
    findings = select(FlagRow).where(FlagRow.page_id.in_(numbers), *IS_PRESENT_FINDING)
    for flag in session.scalars(findings.order_by(FlagRow.page_id, FlagRow.ordinal)):
        flags_of[flag.page_id].append(flag)
    columns_of: dict[int, list[ColumnRow]] = defaultdict(list)
    if not outline:
        columns = select(ColumnRow).where(ColumnRow.page_id.in_(numbers))
        for column in session.scalars(columns.order_by(ColumnRow.page_id, ColumnRow.ordinal)):
            columns_of[column.page_id].append(column)
    packed = packed_characters(session, numbers) if characters and not outline else {}
    return [result_of(page, columns_of[page.id], packed.get(page.id), flags_of[page.id]) for page in pages]


def page_showing(characters: Mapping[int, Iterable[CheckedCharacter]], line: int, offset: int) -> int | None:
    """Which of several pages that have a line shows a place of it on its image, of the `characters` of each: the page
    that has the character there, or else the one before; None if there is neither."""
    page_at = {each.offset: page for page, of_page in characters.items() for each in of_page if each.line == line}
    return page_at.get(offset, page_at.get(offset - 1))


def page_showing_place(session: Session, pages: Sequence[int], line: int, offset: int) -> int:
    """Which of several stored pages that have a line shows a place of it on its image; the first page if none does."""
    if len(pages) == 1:
        return pages[0]
    packed = packed_characters(session, pages)
    return page_showing({page: codec.unpack(data) for page, data in packed.items()}, line, offset) or pages[0]


def packed_characters(session: Session, pages: Sequence[int]) -> dict[int, bytes]:
    """The characters of pages as packed by `codec`, by page number; pages without characters are left out."""
    query = select(CharactersRow.page_id, CharactersRow.data).where(CharactersRow.page_id.in_(pages))
    return {row.page_id: row.data for row in session.execute(query)}


def policies_of(session: Session, pages: Sequence[PageRow]) -> dict[int, VariantPolicy]:
    """The variant policy of the script of each page's text, by page number."""
    runs = session.execute(select(RunRow.id, RunRow.texts).where(RunRow.id.in_({page.run_id for page in pages})))
    scripts_of = {run: {text["path"]: text["script"] for text in texts} for run, texts in runs}
    return {page.id: policy_of_script(scripts_of[page.run_id].get(page.text, "")) for page in pages}
