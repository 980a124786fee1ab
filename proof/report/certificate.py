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
from proof.report.progress import WorkProgress, progress_of
from proof.store import Store
from proof.text.column import parse_column


@dataclass(frozen=True, slots=True)
class TextVersion:
    """The file name of a text, and the SHA-256 of its checked version."""

    name: str
    sha: str


@dataclass(frozen=True, slots=True)
class ErrorsLeft:
    """The errors that are expected to be left: among undecided flags, and, estimated from samples, in text without
    flags. `low` and `high` are the sums of the bounds of the two 95 percent intervals."""

    expected: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Certificate:
    """The state of a work at the time `at`; `program` is the version of this program. `with_ink` of the `characters`
    were compared with their glyphs on an image. `proofread` and `validated` count pages by person. `left` is None if no
    sample was decided, or if there are flags and none of them was decided."""

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
        """The share of characters that were compared with their glyphs, from 0 to 1."""
        return self.with_ink / self.characters if self.characters else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The certificate as a dictionary for JSON."""
        return asdict(self) | {"at": self.at.isoformat(timespec="seconds"), "share_with_ink": round(self.share, 4)}


def certificate_of(store: Store, work: str) -> Certificate:
    """The certificate of a work at present. Raises NoPlaceError for an unknown work."""
    summary = store.queue.work(work)
    progress, run = progress_of(store, work), store.latest_run(work)
    total = progress.total
    pages = store.queue.uncounted_pages(work)
    unchecked = [page.number for page in pages if page.status != Status.CHECKED.value]
    without_ink = sum(
        cell.glyph
        for columns in store.queue.sources(unchecked).values()
        for source in columns.values()
        for cell in parse_column(source).cells
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
        characters=total.characters + without_ink,
        with_ink=total.characters,
        flagged=total.flagged,
        decided=total.settled,
        confirmed=total.confirmed,
        samples=progress.missed.samples,
        left=_errors_left(progress),
        proofread=proofread,
        validated=validated,
    )


def _errors_left(progress: WorkProgress) -> ErrorsLeft | None:
    waiting, missed, total = progress.waiting, progress.missed, progress.total
    are_flags_unknown = waiting is None and total.flagged > total.settled
    if not missed.samples or are_flags_unknown:
        return None
    ten_thousands = total.characters / 10_000  # the rates of `missed` are per 10,000 characters
    return ErrorsLeft(
        expected=(waiting.errors if waiting else 0.0) + missed.rate * ten_thousands,
        low=(waiting.low if waiting else 0.0) + missed.low * ten_thousands,
        high=(waiting.high if waiting else 0.0) + missed.high * ten_thousands,
    )
