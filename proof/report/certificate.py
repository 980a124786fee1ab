"""The certificate of a work: its text versions, how much was checked against images, who proofread and validated it,
and how many errors are expected to be left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import proof
from proof.model.result import Status
from proof.report.progress import progress_of
from proof.store import Store
from proof.store.work_text import columns_in_files
from proof.text.column import parse_column

PER = 10_000
"""Characters to which error rates refer."""


@dataclass(frozen=True, slots=True)
class TextVersion:
    """The file name of a text, and the SHA-256 of its checked version."""

    name: str
    sha: str


@dataclass(frozen=True, slots=True)
class ErrorsLeft:
    """The expected number of errors that are left, with 95 percent intervals: among undecided flags, and, estimated
    from samples, in text without flags."""

    expected: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Certificate:
    """The present state of a work. `with_ink` of the `characters` were compared with their glyphs on an image; `left`
    is None if no sample of text without flags was decided. `proofread` and `validated` count pages by person."""

    work: str
    title: str
    at: datetime
    program: str
    texts: tuple[TextVersion, ...]
    pages: int
    pages_checked: int
    characters: int
    with_ink: int
    flagged: int
    decided: int
    confirmed: int
    samples: int
    left: ErrorsLeft | None
    proofread: Mapping[str, int]
    validated: Mapping[str, int]

    @property
    def share(self) -> float:
        """The share of characters with ink evidence, from 0 to 1."""
        return self.with_ink / self.characters if self.characters else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The certificate as a dictionary for JSON."""
        return asdict(self) | {"at": self.at.isoformat(timespec="seconds"), "share_with_ink": round(self.share, 4)}


def certificate_of(store: Store, work: str) -> Certificate:
    """The certificate of a work as it stands now. Raises NoPlaceError."""
    summary = store.queue.work(work)
    progress, pages = progress_of(store, work), store.queue.places(work)
    total, run = progress.total, store.latest_run(work)
    unchecked = [page for page in pages if page.status != Status.CHECKED.value]
    unseen = sum(_characters(column) for columns in columns_in_files(unchecked).values() for column in columns)
    waiting, missed = progress.waiting, progress.missed
    left = None
    if missed.samples:
        rest = total.characters / PER
        among = (waiting.errors, waiting.low, waiting.high) if waiting else (0.0, 0.0, 0.0)
        left = ErrorsLeft(
            *(flag + rate * rest for flag, rate in zip(among, (missed.rate, missed.low, missed.high), strict=True))
        )
    proofread, validated = store.page_states.by_person(work)
    return Certificate(
        work=work,
        title=summary.title,
        at=datetime.now(UTC),
        program=proof.__version__,
        texts=tuple(TextVersion(Path(text.path).name, text.sha) for text in run.info.texts) if run else (),
        pages=len(pages),
        pages_checked=len(pages) - len(unchecked),
        characters=total.characters + unseen,
        with_ink=total.characters,
        flagged=total.flagged,
        decided=total.settled,
        confirmed=total.confirmed,
        samples=missed.samples,
        left=left,
        proofread=proofread,
        validated=validated,
    )


def _characters(source: str) -> int:
    return sum(cell.glyph for run in parse_column(source).runs for cell in run.cells)
