"""Checking pages on the workers of a Dask cluster; the results come back in any order to one writer.

Workers run `proof.checking.worker` and have no access to the store: its data about a page are sent with the page. If
the worker of a page dies, the page is sent again; the last time no other page is in progress, so that the worker can
only have died of this one."""

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
"""Pages in a parcel, at most. One worker checks a parcel as one task: much of the cost of scheduler and worker is per
task."""

MAX_PAGES_PER_THREAD = 2 * MAX_PARCEL_PAGES
"""Pages sent and not yet back for each thread of the workers: enough to keep it busy, few enough to limit memory."""

PARCELS_PER_SHARE = 4
"""Parcels, at least, into which a thread's share of the unsent pages is divided, so that at the end no worker holds
pages that another one could check (guided self-scheduling, after Polychronopoulos and Kuck 1987)."""

MESSAGES_PER_FILLING = 6
"""Messages in which the room for pages in progress is filled: pages are sent when a sixth of it is free. With a message
for each page, messages would be most of the scheduler's work."""

MAX_DEATHS = 3
"""Deaths of workers while they check a page after which the page counts as failed."""

CONNECT_SECONDS = 20.0
"""Seconds to wait for a scheduler to answer."""

WORKERLESS_SECONDS = 120.0
"""Seconds to wait, at the start or later, while there is no worker."""

TICK_SECONDS = 1.0
"""Seconds between two looks at the state of the client while no results come; and that closing it may take."""

RECOUNT_SECONDS = 5.0
"""Seconds from one count of the workers to the next."""

MESSAGE_LOG = {"distributed.admin.low-level-log-length": 20}
"""Dask's setting of how many of its last messages, with the pages in them, it keeps in memory for debugging: by default
a thousand."""


def cluster_results(
    work: CheckPlan, store: Store, settings: Settings, drawn: DrawnReadings | None = None
) -> Generator[CheckedPage, None, None]:
    """Every page with its result, in any order, except that pages with the same id keep theirs, by which the store
    distinguishes them. Raises ClusterError if the scheduler or all workers are lost; results yielded before are valid.
    """
    job = ClusterJob(
        settings,
        work.keys,
        ImageLocations.of(settings.project.images, settings.cluster.images),
        Release.here(),
        drawn.packed() if drawn else b"",
    )
    with connected(settings.cluster.address) as client:
        yield from _in_order_of_id(work.tasks, _Dispatch(client, job, work, store).results())


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
    """Sends pages to the workers, as many as these can take, and collects the results. A page is known by the number
    of its task."""

    def __init__(self, client: Client, job: ClusterJob, work: CheckPlan, store: Store) -> None:
        self._client = client
        self._job = job
        self._store = store
        self._tasks = work.tasks
        self._kept = _kept_pages(work, store)
        self._packed_job = pickle.dumps(job)
        self._run = uuid.uuid4().hex
        self._sendings = 0
        self._unsent = range(len(work.tasks))
        self._again: deque[int] = deque()  # pages to be sent again
        self._suspects: deque[int] = deque()  # pages to be sent once more, each with no other in progress
        self._alone: int | None = None  # the suspect in progress
        self._deaths: Counter[int] = Counter()  # of workers, by page
        self._in_progress: dict[Future, tuple[int, ...]] = {}  # the pages of each parcel
        self._arrived: SimpleQueue[Future] = SimpleQueue()
        self._ready: deque[CheckedPage] = deque()
        self._room = 0  # most pages in progress
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
        self._count_room()
        room = self._room - sum(map(len, self._in_progress.values())) - len(self._ready)
        if room < self._room / MESSAGES_PER_FILLING and (self._in_progress or self._ready):
            return  # there is more room soon, as the writer takes page after page
        again: list[int] = []
        fresh: list[int] = []
        while len(again) + len(fresh) < room and self._alone is None:
            if self._again:
                again.append(self._again.popleft())
            elif self._unsent:
                number, self._unsent = self._unsent[0], self._unsent[1:]
                plain = without_image(self._tasks[number], self._job.settings.flags.threshold)
                if plain is None:
                    fresh.append(number)
                else:
                    self._ready.append(plain)
                    room -= 1
            else:
                break
        if self._suspects and not (again or fresh or self._in_progress or self._ready):
            self._alone = self._suspects.popleft()  # a worker that dies now dies of this page
            again.append(self._alone)
        size = max(
            1,
            min(
                MAX_PARCEL_PAGES,
                (len(fresh) + len(self._unsent)) * MAX_PAGES_PER_THREAD // (PARCELS_PER_SHARE * self._room),
            ),
        )
        parcels = [tuple(fresh[first : first + size]) for first in range(0, len(fresh), size)]
        self._send([*((number,) for number in again), *parcels])

    def _send(self, parcels: Sequence[tuple[int, ...]]) -> None:
        """Send parcels of pages, all in one message: a message for each would take the scheduler twice the time."""
        if not parcels:
            return
        self._sendings += 1
        keys = [(f"proof-page-{self._run}", numbers[0], self._sendings) for numbers in parcels]
        sent = [[self._sent(number) for number in numbers] for numbers in parcels]
        try:
            futures = self._client.map(check_sent, sent, job=self._packed_job, key=keys, pure=False)
        except RuntimeError as error:  # the client was closed
            raise self._lost() from error
        for numbers, future in zip(parcels, futures, strict=True):
            self._in_progress[future] = numbers
            future.add_done_callback(self._arrived.put)

    def _sent(self, number: int) -> SentPage:
        """The page with the store's data about it."""
        task = self._tasks[number]
        sent = SentPage(cut_out(task))
        kept = self._kept.pop(number, None)
        if kept is None or not kept.image_sha or task.image is None:
            return sent
        if kept.key == self._job.keys.key(task, kept.image_sha):
            return replace(sent, key=kept.key)
        key = self._job.keys.readings_key(task.image, kept.image_sha)
        data = self._store.cache.get(key)
        if data is None:
            return sent
        return replace(sent, readings=(key, data), glyphs_known=self._store.glyphs.known_on(kept.image_sha))

    def _collect(self) -> None:
        """Wait a moment for results, and collect them."""
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
            if self._alone in numbers:
                self._alone = None
            self._ready += [page for page in pages if page is not None]

    def _gathered(self, futures: list[Future]) -> dict[Future, list[Answer]]:
        """The answers of finished parcels, without those that were lost with their worker."""
        try:
            return dict(zip(futures, self._client.gather(futures), strict=True)) if futures else {}
        except Exception:  # one is lost: ask for each by itself
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
            self._again.append(number)
            return None
        return CheckedPage.kept(task, task.image, answer.key, result)

    def _without_answer(self, number: int, future: Future, together: int) -> CheckedPage | None:
        """Handle a page without an answer, from a parcel of `together` pages. The page is sent again if its worker died
        or its answer was lost, or if another page of the parcel may have raised the error; then this gives None. Else,
        and after `MAX_DEATHS` workers died, it gives the page as failed. Raises ClusterError."""
        from distributed import KilledWorker  # noqa: PLC0415 - half a second, which other commands need not pay

        task = self._tasks[number]
        error = future.exception() if future.status == "error" else None
        if isinstance(error, ClusterError) or self._client.status != "running":
            raise error if isinstance(error, ClusterError) else self._lost()
        if error is None:
            if future.status == "finished":  # but its answer was lost with the worker
                self._again.append(number)
                return None
            raise self._lost()
        if not isinstance(error, KilledWorker):
            if together > 1:
                self._again.append(number)
                return None
            cause = error if isinstance(error, Exception) else RuntimeError(repr(error))
            return CheckedPage(task, failed_result(task, cause), "")
        self._deaths[number] += error.allowed_failures + 1  # Dask tried the parcel on so many workers
        dead = self._deaths[number]
        if self._alone == number and dead >= MAX_DEATHS:
            return CheckedPage(task, failed(task, Notice.of(NoticeCode.WORKERS_DIED, number=dead)), "")
        (self._suspects if dead >= MAX_DEATHS - 1 else self._again).append(number)
        return None

    def _count_room(self) -> None:
        """Set the number of pages in progress by the number of workers. Raises ClusterError if there are none."""
        now = monotonic()
        if now - self._counted_at < RECOUNT_SECONDS:
            return
        try:
            threads = sum(self._client.nthreads().values())
        except Exception as error:
            raise self._lost() from error
        self._counted_at, self._room = now, max(MAX_PAGES_PER_THREAD * threads, 1)
        if threads:
            self._worker_seen_at = now
        elif now - self._worker_seen_at > WORKERLESS_SECONDS:
            address = self._job.settings.cluster.address
            raise ClusterError(
                _("%(address)s: no worker has been there for %(seconds)s seconds; start one"),
                address=address,
                seconds=f"{WORKERLESS_SECONDS:.0f}",
            )

    def _lost(self) -> ClusterError:
        return ClusterError(
            _(
                "%(address)s: the scheduler is gone; the pages that came back are kept, and the same "
                "command goes on from there"
            ),
            address=self._job.settings.cluster.address,
        )


def must_be_scheduler(address: str) -> None:
    """Raises UsageError where `address` cannot be that of a scheduler; Dask would look for it for a minute."""
    from distributed.comm.addressing import get_address_host_port  # noqa: PLC0415 - of the extra

    try:
        get_address_host_port(address)
    except ValueError as error:
        raise UsageError(
            _("%(address)s: is no address of a scheduler (%(error)s); write it like tcp://127.0.0.1:8786"),
            address=address,
            error=error,
        ) from error


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of the scheduler at `address`. Raises UsageError if Dask is not installed, ClusterError if no scheduler
    answers."""
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


def _kept_pages(work: CheckPlan, store: Store) -> dict[int, KeptPage]:
    """The pages that the store has of a run, by the number of their task."""
    kept = store.kept_pages(work.name)
    return {number: kept[key] for number, key in enumerate(page_keys(work.tasks)) if key in kept}
