"""Checking pages on the workers of a Dask cluster; the results come back in any order to one writer.

Workers run `proof.checking.worker` and have no access to the store: its data about a page are sent with the page. A
page whose worker died is tried again, the last time with no other page in progress, so that it is not blamed for
another."""

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

from proof.checking.executor import CheckedPage, failed_result, without_image
from proof.checking.plan import CheckPlan, PageTask
from proof.checking.worker import Answer, ClusterJob, Release, SentPage, check_sent, cut_out
from proof.errors import ClusterError, UsageError
from proof.images.remote import ImageLocations
from proof.model.notices import Notice, NoticeCode
from proof.model.result import PageResult, Status
from proof.ocr.drawn import DrawnReadings
from proof.settings.config import Settings
from proof.store import KeptPage, Store

if TYPE_CHECKING:
    from distributed import Client, Future

TOGETHER = 4
"""Pages that a worker gets together, at most, since much of the work of scheduler and worker is per message."""

AHEAD = 2 * TOGETHER
"""Pages in progress or on their way for each thread of a worker: enough to keep it busy, but limited for memory."""

LAST = 4
"""Pages left for each thread below which pages are sent singly, so that at the end no worker has pages that another one
could check (guided self-scheduling, after Polychronopoulos and Kuck 1987)."""

MESSAGES = 6
"""Messages into which the pages in progress are grouped: one for each page would be most of the scheduler's work."""

DEATHS = 3
"""Workers that may die while checking a page before it counts as failed."""

CONNECT = 20.0
"""Seconds to wait for a scheduler to answer."""

WORKERLESS = 120.0
"""Seconds to wait for a worker if there is none, at the start or later."""

TICK = 1.0
"""Seconds between polls of the scheduler while no results come."""

MESSAGE_LOG = {"distributed.admin.low-level-log-length": 20}
"""Dask keeps its last messages, with the pages in them, for debugging; the default is a thousand."""

RECOUNT = 5.0
"""Seconds from one count of the workers to the next."""


def cluster_results(
    work: CheckPlan, store: Store, settings: Settings, drawn: DrawnReadings | None = None
) -> Generator[CheckedPage, None, None]:
    """Every page with its result, in any order, except that pages with one id keep their order, by which the store
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


def _in_order_of_id(tasks: list[PageTask], pages_found: Iterator[CheckedPage]) -> Iterator[CheckedPage]:
    """Yield pages as they come, but each after the earlier pages with the same id."""
    count = Counter(task.page.id for task in tasks)
    bearers: defaultdict[str, deque[int]] = defaultdict(deque)
    for task in tasks:
        if count[task.page.id] > 1:  # hardly any: of every page it would be most of what is held of it
            bearers[task.page.id].append(task.place.position)
    del count
    early: dict[int, CheckedPage] = {}
    for page in pages_found:
        turn = bearers.get(page.task.page.id)
        if turn is None:
            yield page
            continue
        early[page.task.place.position] = page
        while turn and turn[0] in early:
            yield early.pop(turn.popleft())


class _Dispatch:
    """Sends pages to the workers, as many as these can take, and collects the results."""

    def __init__(self, client: Client, job: ClusterJob, work: CheckPlan, store: Store) -> None:
        self._client = client
        self._job = job
        self._store = store
        self._tasks = work.tasks
        self._known = _known_pages(work, store)
        self._packed_job = pickle.dumps(job)
        self._run = uuid.uuid4().hex
        self._sendings = 0
        self._unsent = range(len(work.tasks))
        self._again: deque[int] = deque()
        self._suspects: deque[int] = deque()
        self._alone: int | None = None
        self._deaths: Counter[int] = Counter()
        self._flying: dict[Future, tuple[int, ...]] = {}
        self._arrived: SimpleQueue[Future] = SimpleQueue()
        self._ready: deque[CheckedPage] = deque()
        self._room = 0
        self._counted = -RECOUNT
        self._heard = monotonic()

    def results(self) -> Iterator[CheckedPage]:
        """Yield every page as it comes back. Workers get new pages before the writer gets the next result."""
        try:
            while True:
                self._send_pages()
                if self._ready:
                    yield self._ready.popleft()
                elif self._flying:
                    self._take_in()
                else:
                    return
        finally:
            with suppress(Exception):  # the scheduler may be gone
                self._client.cancel(list(self._flying), force=True)

    def _send_pages(self) -> None:
        """Send as many pages as there is room for; pages that need no worker are ready at once."""
        self._count_room()
        room = self._room - sum(map(len, self._flying.values())) - len(self._ready)
        if room < self._room / MESSAGES and (self._flying or self._ready):
            return  # as the writer takes page after page there soon is more
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
        if self._suspects and not (again or fresh or self._flying or self._ready):
            self._alone = self._suspects.popleft()  # a worker that dies now dies of this page
            again.append(self._alone)
        size = max(1, min(TOGETHER, (len(fresh) + len(self._unsent)) * AHEAD // (LAST * self._room)))
        parcels = [tuple(fresh[first : first + size]) for first in range(0, len(fresh), size)]
        self._send([*((number,) for number in again), *parcels])

    def _send(self, parcels: Sequence[tuple[int, ...]]) -> None:
        """Send pages in one message, those of a parcel to one worker. Single messages would take the scheduler twice
        the time."""
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
            self._flying[future] = numbers
            future.add_done_callback(self._arrived.put)

    def _sent(self, number: int) -> SentPage:
        """The page with the store's data about it."""
        task = self._tasks[number]
        sent = SentPage(cut_out(task))
        known = self._known.pop(number, None)
        if known is None or not known.image_sha or task.image is None:
            return sent
        if known.key == self._job.keys.key(task, known.image_sha):
            return replace(sent, key=known.key)
        key = self._job.keys.readings_key(task.image, known.image_sha)
        data = self._store.cache.get(key)
        if data is None:
            return sent
        return replace(sent, readings=(key, data), glyphs_known=self._store.glyphs.shown(known.image_sha))

    def _take_in(self) -> None:
        """Wait a moment for results, and collect them."""
        try:
            arrived = [self._arrived.get(timeout=TICK)]
        except Empty:
            if self._client.status != "running":
                raise self._lost() from None
            return
        with suppress(Empty):
            while True:
                arrived.append(self._arrived.get_nowait())
        self._heard = monotonic()
        answers = self._gathered([future for future in arrived if future.status == "finished"])
        for future in arrived:
            numbers = self._flying.pop(future)
            if future in answers:
                pages = list(map(self._page, numbers, answers[future]))
            else:
                pages = [self._broken(number, future, len(numbers)) for number in numbers]
            if self._alone in numbers:
                self._alone = None
            self._ready += [page for page in pages if page is not None]

    def _gathered(self, futures: list[Future]) -> dict[Future, list[Answer]]:
        """The answers, without those that were lost with their worker."""
        try:
            return dict(zip(futures, self._client.gather(futures), strict=True)) if futures else {}
        except Exception:
            answers: dict[Future, list[Answer]] = {}
            for future in futures:
                with suppress(Exception):
                    answers[future] = future.result(timeout=CONNECT)
            return answers

    def _page(self, number: int, answer: Answer) -> CheckedPage | None:
        """The page of a worker's answer, from the store if nothing changed."""
        task = self._tasks[number]
        if answer.result is not None:
            return CheckedPage(task, answer.result, answer.key, readings=answer.readings, packed=answer.packed)
        known = self._store.cached_page(answer.key)
        if known is None or task.image is None:  # gone from the store meanwhile
            self._again.append(number)
            return None
        return CheckedPage.kept(task, task.image, answer.key, known)

    def _broken(self, number: int, future: Future, together: int) -> CheckedPage | None:
        """Handle a page without an answer, one of so many that were sent together. If its worker died it is tried again
        by itself, and fails after three workers; otherwise the result has the error. Raises ClusterError."""
        from distributed import KilledWorker  # noqa: PLC0415 - half a second, which other commands need not pay

        error = future.exception() if future.status == "error" else None
        if isinstance(error, ClusterError) or self._client.status != "running":
            raise error if isinstance(error, ClusterError) else self._lost()
        if error is None:
            if future.status == "finished":  # but its answer was lost on the way
                self._again.append(number)
                return None
            raise self._lost()
        if not isinstance(error, KilledWorker):
            if together > 1:
                self._again.append(number)
                return None
            cause = error if isinstance(error, Exception) else RuntimeError(repr(error))
            return CheckedPage(self._tasks[number], failed_result(self._tasks[number], cause), "")
        self._deaths[number] += error.allowed_failures + 1
        dead = self._deaths[number]
        if self._alone == number and dead >= DEATHS:
            return CheckedPage(self._tasks[number], _killed(self._tasks[number], dead), "")
        (self._suspects if dead >= DEATHS - 1 else self._again).append(number)
        return None

    def _count_room(self) -> None:
        """Set the number of pages in progress by the number of workers. Raises ClusterError if there are none."""
        now = monotonic()
        if now - self._counted < RECOUNT:
            return
        try:
            threads = sum(self._client.nthreads().values())
        except Exception as error:
            raise self._lost() from error
        self._counted, self._room = now, max(AHEAD * threads, 1)
        if threads:
            self._heard = now
        elif now - self._heard > WORKERLESS:
            address = self._job.settings.cluster.address
            raise ClusterError(f"{address}: no worker has been there for {WORKERLESS:.0f} seconds; start one")

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"{self._job.settings.cluster.address}: the scheduler is gone; the pages that came back are kept, and the "
            "same command goes on from there"
        )


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of the scheduler at `address`. Raises UsageError if Dask is not installed, ClusterError if no scheduler
    answers."""
    try:
        import dask  # noqa: PLC0415 - half a second, which other commands need not pay
        from distributed import Client  # noqa: PLC0415
    except ImportError as error:
        raise UsageError("a cluster needs Dask distributed: pip install 'hanproof[cluster]'") from error
    for name in ("distributed", "distributed.client", "distributed.core", "distributed.comm"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what it says is said here, in our words
    try:
        with dask.config.set(MESSAGE_LOG):
            client = Client(address, timeout=CONNECT, set_as_default=False, name="proof-check")
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"{address}: no scheduler answers there ({error}); start one with `proof cluster`"
        ) from error
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=TICK)


def _known_pages(work: CheckPlan, store: Store) -> dict[int, KeptPage]:
    """The store's data about the pages of a run, by number."""
    kept = store.kept_pages(work.name)
    repeats: Counter[str] = Counter()
    known = {}
    for number, task in enumerate(work.tasks):
        here = kept.get((task.page.id, repeats[task.page.id]))
        repeats[task.page.id] += 1
        if here is not None:
            known[number] = here
    return known


def _killed(task: PageTask, dead: int) -> PageResult:
    path = task.image.path if task.image else None
    why = Notice.of(NoticeCode.WORKERS_DIED, number=dead)
    return PageResult(task.page.id, task.ref, Status.FAILED, why, image=path)
