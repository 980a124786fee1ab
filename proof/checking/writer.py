"""The writer of a run. It puts results into the store, several in one transaction if they come in quick succession."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread
from time import monotonic
from types import FrameType, TracebackType
from typing import Self

from proof.checking.executor import CheckedPage, ImageLoader, check_or_fail, quality_flags
from proof.checking.plan import CheckPlan
from proof.checking.spelling import spelled
from proof.errors import ProofError
from proof.model.quality import NO_QUALITY
from proof.settings.config import Settings
from proof.store import CheckedResult, Store
from proof.store.layout_overrides import OverrideChangedError
from proof.text.model import Script
from proof.verify.page import Checker

MAX_BATCH_PAGES = 32
"""Maximum number of pages in one transaction. With more of them the time for each hardly falls."""

MAX_WAIT_SECONDS = 0.25
"""Time since the last transaction after which the next page is written, with all that wait."""

Saved = Callable[[CheckedPage], None]


class PageWriter:
    """Takes the pages of a run as they come and writes them into the store; `saved` is called with each page after its
    transaction. Used in a `with` block: the waiting pages are also written if the block raises."""

    def __init__(
        self,
        run_id: int,
        plan: CheckPlan,
        settings: Settings,
        store: Store,
        checkers: dict[Script, Checker],
        saved: Saved,
    ) -> None:
        self._run_id = run_id
        self._plan = plan
        self._settings = settings
        self._store = store
        self._checkers = checkers
        self._saved = saved
        self._waiting: list[CheckedPage] = []
        self._last_write = monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self._write()
        else:
            with suppress(ProofError):  # of the two errors, the one that ended the block is reported
                self._write()

    def add(self, page: CheckedPage) -> None:
        """Take a page. Raises OutputError if the store cannot be written."""
        self._waiting.append(page)
        if len(self._waiting) >= MAX_BATCH_PAGES or monotonic() - self._last_write >= MAX_WAIT_SECONDS:
            self._write()

    def _write(self) -> None:
        pages, self._waiting = self._waiting, []
        if not pages:
            return
        self._store.cache.put_many(dict(page.readings for page in pages if page.readings is not None))
        results = [self._result(page) for page in pages]
        with interrupted_afterwards():  # every page that was written is also reported as saved
            try:
                self._store.save_pages(self._run_id, results)
            except OverrideChangedError:
                pages = [self._write_rechecked(page) for page in pages]
            self._last_write = monotonic()
            for page in pages:
                self._saved(page)

    def _result(self, page: CheckedPage) -> CheckedResult:
        checker = self._checker(page)
        page, place, override = spelled(page, checker.policy), page.task.in_text, page.task.override
        is_audited = self._settings.audit.rate or self._settings.audit.planted_rate
        quality = quality_flags(page.whole(), self._settings, checker) if is_audited else NO_QUALITY
        return CheckedResult(place, page.key, page.result, override, page.shapes, quality, page.packed)

    def _write_rechecked(self, page: CheckedPage) -> CheckedPage:
        """Write a page. Each time a person has changed its layout override meanwhile, it is checked again first. Gives
        the page as it was written."""
        while True:
            try:
                self._store.save_pages(self._run_id, [self._result(page)])
                return page
            except OverrideChangedError as error:
                task = self._plan.read_as(page.task, error.override)
                loader = ImageLoader(self._plan.max_megapixels)
                page = check_or_fail(task, self._plan.keys, self._store, self._checker(page), loader)
                if page.readings is not None:
                    self._store.cache.put(*page.readings)

    def _checker(self, page: CheckedPage) -> Checker:
        return self._checkers[self._plan.keys.script(page.task.text)]


@contextmanager
def interrupted_afterwards() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block; a second one interrupts at once. Does nothing in threads other than the
    main thread, since Ctrl-C interrupts only that."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is None or current_thread() is not main_thread():
        yield
        return
    interrupted = False

    def delay(_number: int, _frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        signal.signal(signal.SIGINT, handler)

    signal.signal(signal.SIGINT, delay)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if interrupted:
            signal.raise_signal(signal.SIGINT)
