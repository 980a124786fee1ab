"""The source of a report: a run in the store and the results of its pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from proof.model.result import PageResult
from proof.report.crops import PieceCache
from proof.report.density import Places
from proof.report.progress import WorkProgress, progress_of
from proof.store import Store, StoredRunInfo
from proof.store.comments import Comment


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run in the store, whose pages are loaded a few at a time. `whole`: with all pages of the work, also those that
    only other runs checked."""

    store: Store
    run_id: int
    whole: bool = False

    def of_work(self) -> StoredRun:
        """This run with all pages of its work; itself if it has them all."""
        pages = sum(1 for _ in self.results(outline=True))
        return replace(self, whole=True) if len(self.store.queue.uncounted_pages(self.run.info.work)) > pages else self

    @property
    def run(self) -> StoredRunInfo:
        return self.store.run(self.run_id)

    @property
    def piece_cache(self) -> PieceCache | None:
        """The cache of pieces of images."""
        return self.store.cache

    @property
    def progress(self) -> WorkProgress | None:
        """The progress of the work."""
        return progress_of(self.store, self.run.info.work)

    @property
    def comments(self) -> Sequence[Comment]:
        return self.store.comments.of_work(self.run.info.work)

    @property
    def places(self) -> Places:
        """Juan and folio of the pages."""
        return {page.page: (page.juan, page.folio) for page in self.store.queue.uncounted_pages(self.run.info.work)}

    def results(self, *, outline: bool = False, raised: bool = False) -> Iterator[PageResult]:
        """The results in page order; `outline`: without columns and characters; `raised`: only pages with raised
        flags."""
        run, work = (None, self.run.info.work) if self.whole else (self.run_id, None)
        return self.store.results(run=run, work=work, outline=outline, raised=raised)
