"""A run to report on whose pages are in no store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from proof.model.result import PageResult
from proof.report.crops import PieceCache
from proof.report.density import Places
from proof.report.progress import WorkProgress
from proof.report.source import StoredRun
from proof.store import PagePlace, Store, StoredRunInfo
from proof.store.comments import Comment
from proof.store.saving import CheckedResult


@dataclass(frozen=True, slots=True)
class HeldRun(StoredRun):
    """Pages held in memory; it has no store."""

    store: Store = field(init=False, repr=False, compare=False)
    run_id: int = field(init=False, repr=False, compare=False)
    whole: bool = field(init=False, repr=False, compare=False)
    run: StoredRunInfo = field()  # or the property of the base would be its default
    pages: Sequence[PageResult]
    piece_cache: PieceCache | None = None
    progress: WorkProgress | None = None
    comments: Sequence[Comment] = ()
    places: Places = field(default_factory=dict)

    def results(self, *, outline: bool = False, raised: bool = False) -> Iterator[PageResult]:
        return (page for page in self.pages if not raised or any(flag.raised for flag in page.flags))


def save_run(store: Store, held: HeldRun, *, finished: bool = True) -> int:
    """Put a run into the store as a check does; gives its number."""
    run = store.begin_run(held.run.info)
    for position, page in enumerate(held.pages):
        store.save_pages(run, [CheckedResult(PagePlace(position), page.page, page)])
    if finished:
        store.finish_run(run, findings=held.run.findings, whole=True)
    return run
