"""The source of a report: a run and the results of its pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from proof.model.result import PageResult
from proof.report.crops import Shelf
from proof.report.density import Places
from proof.report.progress import WorkProgress, progress_of
from proof.store import Store, StoredRunInfo
from proof.store.comments import Comment


class RunSource(Protocol):
    """A run and its page results in page order, which can be iterated several times.

    `outlines` are the results without columns and characters, which most of a report does not need; `raised` are the
    complete results of pages with raised flags. `shelf`, if there is one, caches pieces of images; `progress` and
    `comments` are those of the work, if known; `places` are juan and folio of the pages.
    """

    @property
    def run(self) -> StoredRunInfo: ...

    @property
    def shelf(self) -> Shelf | None: ...

    @property
    def progress(self) -> WorkProgress | None: ...

    @property
    def comments(self) -> Sequence[Comment]: ...

    @property
    def places(self) -> Places: ...

    def outlines(self) -> Iterator[PageResult]: ...

    def raised(self) -> Iterator[PageResult]: ...


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run in the store, with a few of its pages in memory at a time; `whole`: with all pages of its work, also those
    that only other runs had."""

    store: Store
    run_id: int
    whole: bool = False

    def of_work(self) -> StoredRun:
        """This run with all pages of its work; itself if it has them all."""
        pages = sum(1 for _ in self.outlines())
        return replace(self, whole=True) if len(self.store.queue.places(self.run.info.work)) > pages else self

    @property
    def run(self) -> StoredRunInfo:
        return self.store.run(self.run_id)

    @property
    def shelf(self) -> Shelf:
        return self.store.cache

    @property
    def progress(self) -> WorkProgress:
        return progress_of(self.store, self.run.info.work)

    @property
    def comments(self) -> Sequence[Comment]:
        return self.store.comments.of_work(self.run.info.work)

    @property
    def places(self) -> Places:
        return {page.page: (page.juan, page.folio) for page in self.store.queue.places(self.run.info.work)}

    def results(self) -> Iterator[PageResult]:
        return self._results()

    def outlines(self) -> Iterator[PageResult]:
        return self._results(outline=True)

    def raised(self) -> Iterator[PageResult]:
        return self._results(raised=True)

    def _results(self, *, outline: bool = False, raised: bool = False) -> Iterator[PageResult]:
        run, work = (None, self.run.info.work) if self.whole else (self.run_id, None)
        return self.store.results(run=run, work=work, outline=outline, raised=raised)
