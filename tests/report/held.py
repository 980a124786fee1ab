"""A run to report on whose pages are in no store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from proof.model.result import PageResult
from proof.report.crops import Shelf
from proof.report.density import Places
from proof.report.progress import WorkProgress
from proof.store import StoredRunInfo
from proof.store.comments import Comment


@dataclass(frozen=True, slots=True)
class HeldRun:
    """Pages held in memory."""

    run: StoredRunInfo
    pages: Sequence[PageResult]
    shelf: Shelf | None = None
    progress: WorkProgress | None = None
    comments: Sequence[Comment] = ()
    places: Places = field(default_factory=dict)

    def results(self) -> Iterator[PageResult]:
        return iter(self.pages)

    def outlines(self) -> Iterator[PageResult]:
        return self.results()

    def raised(self) -> Iterator[PageResult]:
        return (page for page in self.pages if any(flag.raised for flag in page.flags))
