"""The source of a report: a run in the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypedDict

from proof.model.result import PageResult
from proof.report.crops import Shelf
from proof.report.density import Places
from proof.report.progress import WorkProgress, progress_of
from proof.store import Store, StoredRunInfo
from proof.store.comments import Comment


class RunSource(Protocol):
    """A run and its page results in page order, which can be iterated several times.

    `outlines` are the results without columns and characters, which most of a report does not need; `raised` are the
    complete results of pages with raised findings. `shelf` caches pieces of images, if possible; `progress` and
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

    def results(self) -> Iterator[PageResult]: ...

    def outlines(self) -> Iterator[PageResult]: ...

    def raised(self) -> Iterator[PageResult]: ...


class _Wanted(TypedDict, total=False):
    """Selects the results of a run, or of a work."""

    run: int
    work: str


@dataclass(frozen=True, slots=True)
class StoredRun:
    """The pages of one run from the store, a few in memory at a time; `whole`: all pages of its work, also those of
    other runs."""

    store: Store
    run_id: int
    whole: bool = False

    def of_work(self) -> StoredRun:
        """This run with all pages of its work; itself if it has them all."""
        own = sum(1 for _ in self.outlines())
        return replace(self, whole=True) if len(self.store.queue.places(self.run.info.work)) > own else self

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
        return self.store.results(**self._wanted)

    def outlines(self) -> Iterator[PageResult]:
        return self.store.results(**self._wanted, outline=True)

    def raised(self) -> Iterator[PageResult]:
        return self.store.results(**self._wanted, raised=True)

    @property
    def _wanted(self) -> _Wanted:
        return {"work": self.run.info.work} if self.whole else {"run": self.run_id}
