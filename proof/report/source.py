"""Where a report takes its pages from: a run in the store, or results held in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from proof.result import PageResult
from proof.store import Run, Store


class Source(Protocol):
    """A run and its page results in page order; `results` can be gone through more than once."""

    @property
    def run(self) -> Run: ...

    def results(self) -> Iterator[PageResult]: ...


@dataclass(frozen=True, slots=True)
class StoredRun:
    """The pages of one run, out of the store, a few in memory at a time."""

    store: Store
    run_id: int

    @property
    def run(self) -> Run:
        return self.store.run(self.run_id)

    def results(self) -> Iterator[PageResult]:
        return self.store.results(run=self.run_id)


@dataclass(frozen=True, slots=True)
class HeldRun:
    """Pages held in memory."""

    run: Run
    pages: Sequence[PageResult]

    def results(self) -> Iterator[PageResult]:
        return iter(self.pages)
