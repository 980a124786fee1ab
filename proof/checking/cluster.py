"""Checking pages on the workers of a Dask cluster; the results come back in any order to one writer.

Workers run `proof.checking.worker` and have no access to the store: its data about a page are sent with the page. If
the worker of a page dies, the page is sent again. The last time no other page is in progress, so that only this page
can be the cause if a worker dies."""

from __future__ import annotations

import logging
import pickle
import uuid
from collections import Counter, defaultdict, deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING

from proof.checking.executor import CheckedPage, failed, failed_result, without_image
from proof.checking.plan import CheckPlan, PageTask, page_keys
from proof.checking.worker import Answer, ClusterJob, Release, SentPage, check_sent, cut_out
from proof.errors import ClusterError, UsageError
from proof.images.remote import ImageLocations
from proof.locale.marking import _
from proof.model.notices import Notice, NoticeCode
from proof.ocr.drawn import DrawnReadings
from proof.settings.config import Settings
from proof.store import KeptPage, Store

if TYPE_CHECKING:
    from distributed import Client, Future

MAX_PARCEL_PAGES = 4
"""Maximum number of pages in a parcel. A worker checks a parcel as one task, since much of the cost of scheduler and
worker is per task."""

MAX_PAGES_PER_THREAD = 2 * MAX_PARCEL_PAGES
"""Maximum number of pages in progress for each thread of the workers: enough to keep it busy, few enough to limit
memory. A page is in progress from sending it until its answer is back."""

PARCELS_PER_SHARE = 4
"""Minimum number of parcels into which a thread's share of the unsent pages is divided, so that at the end no worker
holds pages that another one could check (guided self-scheduling, after Polychronopoulos and Kuck 1987)."""

MIN_FREE_SHARE = 1 / 6
"""Share of the allowed pages in progress that must be free before more pages are sent. With a message for each page,
messages would be most of the scheduler's work."""

MAX_DEATHS = 3
"""Number of workers that died while checking a page after which the page counts as failed."""

CONNECT_SECONDS = 20.0
"""Seconds to wait for a scheduler to answer, also with the answer of one parcel."""

WORKERLESS_SECONDS = 120.0
"""Seconds to wait, at the start or later, while there is no worker."""

TICK_SECONDS = 1.0
"""Seconds after which the state of the client is looked at while no results come; also the limit for closing it."""

RECOUNT_SECONDS = 5.0
"""Seconds from one count of the workers to the next."""

MESSAGE_LOG = {"distributed.admin.low-level-log-length": 20}
"""Dask's setting for the number of last messages, with the pages in them, that it keeps in memory for debugging; a
thousand by default."""


def cluster_results(
    plan: CheckPlan, store: Store, settings: Settings, drawn: DrawnReadings | None = None
) -> Generator[CheckedPage, None, None]:
    """Every page with its result, in any order; only pages with the same id stay in order, since the store
    distinguishes them by it. Raises ClusterError if the scheduler or all workers are lost; results yielded before are
    valid."""
    job = ClusterJob(
        settings,
        plan.keys,
        ImageLocations.of(settings.project.images, settings.cluster.images),
        Release.installed(),
        drawn.packed() if drawn else b"",
    )
    with connected(settings.cluster.address) as client:
        yield from _in_order_of_id(plan.tasks, _Dispatch(client, job, plan, store).results())


def _in_order_of_id(tasks: list[PageTask], pages: Iterator[CheckedPage]) -> Iterator[CheckedPage]:
    """Yield pages as they come, but each after the earlier pages with the same id."""
    count = Counter(task.page.id for task in tasks)
    positions: defaultdict[str, deque[int]] = defaultdict(deque)  # of the pages to come, by an id that several have
    for task in tasks:
        if count[task.page.id] > 1:  # few pages; the positions of all would take much memory
            positions[task.page.id].append(task.place.position)
    del count
    early: dict[int, CheckedPage] = {}
    for page in pages:
        awaited = positions.get(page.task.page.id)
        if awaited is None:
            yield page
            continue
        early[page.task.place.position] = page
        while awaited and awaited[0] in early:
            yield early.pop(awaited.popleft())


class _Dispatch:
    """Sends pages to the workers, as many as these can take, and collects the results. A page is identified by the
    number of its task in the plan."""

    def __init__(self, client: Client, job: ClusterJob, plan: CheckPlan, store: Store) -> None:
        self._client = client
        self._job = job
        self._store = store
        self._tasks = plan.tasks
        self._stored = _stored_pages(plan, store)
        self._packed_job = pickle.dumps(job)
        self._run = uuid.uuid4().hex
        self._messages_sent = 0
        self._unsent = range(len(plan.tasks))
        self._to_resend: deque[int] = deque()  # pages to be sent again
        self._suspects: deque[int] = deque()  # pages to be sent for the last time, each with no other in progress
        self._suspect_in_progress: int | None = None
        self._deaths: Counter[int] = Counter()  # how many workers died while checking each page
        self._in_progress: dict[Future, tuple[int, ...]] = {}  # the pages of each parcel
        self._arrived: SimpleQueue[Future] = SimpleQueue()
        self._ready: deque[CheckedPage] = deque()
        self._max_in_progress = 0  # by the number of workers
        self._counted_at = -RECOUNT_SECONDS
        self._worker_seen_at = monotonic()

    def results(self) -> Iterator[CheckedPage]:
        """Yield every page as it comes back. Workers get new pages before the writer gets the next result."""
        try:
            while True:
                self._send_pages()
                if self._ready:
                    yield self._ready.popleft()
                elif self._in_progress:
                    self._collect()
                else:
                    return
        finally:
            with suppress(Exception):  # the scheduler may be gone
                self._client.cancel(list(self._in_progress), force=True)

    def _send_pages(self) -> None:
        """Send as many pages as there is room for; pages that need no worker are ready at once."""
        self._count_workers()
        room = self._max_in_progress - sum(map(len, self._in_progress.values())) - len(self._ready)
        if room < self._max_in_progress * MIN_FREE_SHARE and (self._in_progress or self._ready):
            return  # there is more room soon, as the writer takes page after page
        resent: list[int] = []
        new: list[int] = []
        while len(resent) + len(new) < room and self._suspect_in_progress is None:
            if self._to_resend:
                resent.append(self._to_resend.popleft())
            elif self._unsent:
                number, self._unsent = self._unsent[0], self._unsent[1:]
                page_without_image = without_image(self._tasks[number], self._job.settings.flags.threshold)
                if page_without_image is None:
                    new.append(number)
                else:
                    self._ready.append(page_without_image)
                    room -= 1
            else:
                break
        if self._suspects and not (resent or new or self._in_progress or self._ready):
            self._suspect_in_progress = self._suspects.popleft()  # if a worker dies now, this page is the cause
            resent.append(self._suspect_in_progress)
        pages_per_thread = MAX_PAGES_PER_THREAD * (len(new) + len(self._unsent)) // self._max_in_progress
        size = max(1, min(MAX_PARCEL_PAGES, pages_per_thread // PARCELS_PER_SHARE))
        parcels = [tuple(new[first : first + size]) for first in range(0, len(new), size)]
        self._send([*((number,) for number in resent), *parcels])

    def _send(self, parcels: Sequence[tuple[int, ...]]) -> None:
        """Send parcels of pages, all in one message: with one message each, the scheduler would take twice the time."""
        if not parcels:
            return
        self._messages_sent += 1
        keys = [(f"proof-page-{self._run}", numbers[0], self._messages_sent) for numbers in parcels]
        sent = [[self._with_store_data(number) for number in numbers] for numbers in parcels]
        try:
            futures = self._client.map(check_sent, sent, job=self._packed_job, key=keys, pure=False)
        except RuntimeError as error:  # the client was closed
            raise self._lost() from error
        for numbers, future in zip(parcels, futures, strict=True):
            self._in_progress[future] = numbers
            future.add_done_callback(self._arrived.put)

    def _with_store_data(self, number: int) -> SentPage:
        """The page with the store's data about it."""
        task = self._tasks[number]
        sent = SentPage(cut_out(task))
        stored = self._stored.pop(number, None)
        if stored is None or not stored.image_sha or task.image is None:
            return sent
        if stored.key == self._job.keys.key(task, stored.image_sha):
            return replace(sent, key=stored.key)
        readings_key = self._job.keys.readings_key(task.image, stored.image_sha)
        record = self._store.cache.get(readings_key)
        if record is None:
            return sent
        glyphs_known = self._store.glyphs.known_on(stored.image_sha)
        return replace(sent, readings=(readings_key, record), glyphs_known=glyphs_known)

    def _collect(self) -> None:
        """Wait at most `TICK_SECONDS` for results, and collect them. Raises ClusterError."""
        try:
            arrived = [self._arrived.get(timeout=TICK_SECONDS)]
        except Empty:
            if self._client.status != "running":
                raise self._lost() from None
            return
        with suppress(Empty):
            while True:
                arrived.append(self._arrived.get_nowait())
        self._worker_seen_at = monotonic()
        answers = self._gathered([future for future in arrived if future.status == "finished"])
        for future in arrived:
            numbers = self._in_progress.pop(future)
            if future in answers:
                pages = list(map(self._page, numbers, answers[future]))
            else:
                pages = [self._without_answer(number, future, len(numbers)) for number in numbers]
            if self._suspect_in_progress in numbers:
                self._suspect_in_progress = None
            self._ready += [page for page in pages if page is not None]

    def _gathered(self, futures: list[Future]) -> dict[Future, list[Answer]]:
        """The answers of finished parcels, without those that were lost with their worker."""
        try:
            return dict(zip(futures, self._client.gather(futures), strict=True)) if futures else {}
        except Exception:  # one is lost: get each by itself
            answers: dict[Future, list[Answer]] = {}
            for future in futures:
                with suppress(Exception):
                    answers[future] = future.result(timeout=CONNECT_SECONDS)
            return answers

    def _page(self, number: int, answer: Answer) -> CheckedPage | None:
        """The page of a worker's answer, from the store if nothing changed. None if the store no longer has it: the
        page is sent again."""
        task = self._tasks[number]
        if answer.result is not None:
            return CheckedPage(task, answer.result, answer.key, readings=answer.readings, packed=answer.packed)
        result = self._store.cached_page(answer.key)
        if result is None or task.image is None:
            self._to_resend.append(number)
            return None
        return CheckedPage.of_stored(task, task.image, answer.key, result)

    def _without_answer(self, number: int, future: Future, parcel_size: int) -> CheckedPage | None:
        """Handle a page without an answer, from a parcel of `parcel_size` pages. None if the page is sent again: if its
        worker died, its answer was lost, or another page of the parcel may have raised the error. Otherwise, and after
        `MAX_DEATHS` workers died, gives the page as failed. Raises ClusterError."""
        from distributed import KilledWorker  # noqa: PLC0415 - half a second, which other commands need not pay

        task = self._tasks[number]
        error = future.exception() if future.status == "error" else None
        if isinstance(error, ClusterError) or self._client.status != "running":
            raise error if isinstance(error, ClusterError) else self._lost()
        if error is None:
            if future.status == "finished":  # but its answer was lost with the worker
                self._to_resend.append(number)
                return None
            raise self._lost()
        if not isinstance(error, KilledWorker):
            if parcel_size > 1:
                self._to_resend.append(number)
                return None
            cause = error if isinstance(error, Exception) else RuntimeError(repr(error))
            return CheckedPage(task, failed_result(task, cause), "")
        self._deaths[number] += error.allowed_failures + 1  # Dask tried the parcel on so many workers
        deaths = self._deaths[number]
        if self._suspect_in_progress == number and deaths >= MAX_DEATHS:
            return CheckedPage(task, failed(task, Notice.of(NoticeCode.WORKERS_DIED, number=deaths)), "")
        (self._suspects if deaths >= MAX_DEATHS - 1 else self._to_resend).append(number)
        return None

    def _count_workers(self) -> None:
        """Limit the pages in progress by the number of the workers' threads. Raises ClusterError if there has been no
        worker for `WORKERLESS_SECONDS`."""
        now = monotonic()
        if now - self._counted_at < RECOUNT_SECONDS:
            return
        try:
            threads = sum(self._client.nthreads().values())
        except Exception as error:
            raise self._lost() from error
        self._counted_at, self._max_in_progress = now, max(MAX_PAGES_PER_THREAD * threads, 1)
        if threads:
            self._worker_seen_at = now
        elif now - self._worker_seen_at > WORKERLESS_SECONDS:
            address = self._job.settings.cluster.address
            raise ClusterError(
                _("%(address)s: there has been no worker for %(seconds)s seconds; start one"),
                address=address,
                seconds=f"{WORKERLESS_SECONDS:.0f}",
            )

    def _lost(self) -> ClusterError:
        return ClusterError(
            _(
                "%(address)s: the scheduler has stopped; the finished pages are kept, and the same command "
                "continues from there"
            ),
            address=self._job.settings.cluster.address,
        )


def must_be_scheduler(address: str) -> None:
    """Raises UsageError if `address` cannot be that of a scheduler; Dask would look for it for a minute."""
    from distributed.comm.addressing import get_address_host_port  # noqa: PLC0415 - of the extra

    try:
        get_address_host_port(address)
    except ValueError as error:
        raise UsageError(
            _("%(address)s: is not the address of a scheduler (%(error)s); write it like tcp://127.0.0.1:8786"),
            address=address,
            error=error,
        ) from error


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of the scheduler at `address`. Raises UsageError if Dask is not installed or the address is none of a
    scheduler, ClusterError if no scheduler answers."""
    try:
        import dask  # noqa: PLC0415 - half a second, which other commands need not pay
        from distributed import Client  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(_("a cluster needs Dask distributed: pip install 'hanproof[cluster]'")) from error
    must_be_scheduler(address)
    for name in ("distributed", "distributed.client", "distributed.core", "distributed.comm"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # this module reports what fails
    try:
        with dask.config.set(MESSAGE_LOG):
            client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False, name="proof-check")
    except (OSError, TypeError) as error:
        raise ClusterError(
            _("%(address)s: no scheduler answers there (%(error)s); start one with `proof cluster`"),
            address=address,
            error=error,
        ) from error
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=TICK_SECONDS)


def _stored_pages(plan: CheckPlan, store: Store) -> dict[int, KeptPage]:
    """The pages of a run that the store has, by the number of their task."""
    stored = store.kept_pages(plan.work)
    return {number: stored[key] for number, key in enumerate(page_keys(plan.tasks)) if key in stored}
