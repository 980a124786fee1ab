"""The proofreader's queue: the flags of a work filtered, counted and ordered.

Filters and counts use arrays in memory with a few bytes for each flag (`FlagArrays`), so that 100,000 flags are counted
for every filter in a few milliseconds on any database. New decisions update the arrays; a check rebuilds them.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select

from proof.locale.marking import _
from proof.model.flags import Kind, Origin
from proof.model.result import PageResult
from proof.store import rows
from proof.store.cache import Bounded
from proof.store.comments import count_problems
from proof.store.decision_chains import REQUESTER, Requester
from proof.store.decision_records import SETTLED, MissingFlagError, State
from proof.store.double_readings import own_states
from proof.store.exported_flags import PAGE, exported_flags
from proof.store.flag_arrays import KINDS, PAIRED, STATES, FlagArrays, Mask
from proof.store.lookup import (
    NO_PAGE,
    NoPlaceError,
    Sessions,
    StoredWork,
    StorePart,
    find_work,
    find_works,
    newest_act_id,
    work_id_subquery,
)
from proof.store.models import FlagRow, PageRow, RunRow
from proof.store.page_states import PageState, page_states
from proof.store.queue_records import (
    CursorError,
    Facets,
    JuanCount,
    JuanFlags,
    ListedPage,
    Order,
    PairCount,
    QueuedFlag,
    QueueFilter,
    RemainingWork,
    WorkSummary,
    listed_page,
)
from proof.store.seeded_errors import BY_HAND, SeededPlaces, seeded_places, shown_context, with_seeded_errors
from proof.store.texts import columns_of_pages, pages_with_columns_of
from proof.store.work_text import ColumnKey, TextColumn, columns_of
from proof.text.contexts import MAX_CONTEXT_CHARACTERS, before, behind
from proof.text.model import script_shown
from proof.text.variants import VariantPolicy

KEPT_WORKS = 32
"""Maximum number of works whose flags are kept in memory; the most recently used stay."""

MOST_ON_PAGE = 10_000
"""Maximum number of flags read for one page; a page of 2,000 characters has fewer."""

BINS = 24
"""Number of bins of the score histogram."""


class Queue(StorePart):
    """The queue of flags of every work, as `Store.queue`."""

    def __init__(self, reading: Sessions, writing: Sessions) -> None:
        super().__init__(reading, writing)
        self._kept = Bounded[tuple[int, Requester], FlagArrays](KEPT_WORKS)
        self._lock = threading.Lock()

    def works(self) -> list[WorkSummary]:
        """The summaries of all works, by name."""
        with self._reading() as session:
            works = find_works(session)
        return [self._summary(work) for work in works]

    def work(self, name: str) -> WorkSummary:
        """The summary of a work. Raises NoPlaceError."""
        with self._reading() as session:
            work = find_work(session, name)
        return self._summary(work)

    def pages(self, work: str, first: int = 1, limit: int | None = None) -> list[ListedPage]:
        """At most `limit` pages of a work in page order from position `first` (counted from 1), with the counts of
        their raised and their open flags. Raises NoPlaceError."""
        arrays = self._fresh(work)
        return self._counted(arrays, arrays.pages[first - 1 :][:limit])

    def uncounted_pages(self, work: str) -> Sequence[ListedPage]:
        """All pages of a work in page order, without counts. Raises NoPlaceError."""
        return self._fresh(work).pages

    def has(self, work: str, flag: int) -> bool:
        """Whether the work has this flag at present. Raises NoPlaceError."""
        arrays = self._fresh(work)
        return flag in arrays.at and bool(arrays.present[arrays.at[flag]])

    def remaining(self, work: str) -> RemainingWork:
        """The counts of flags, pages and problems left to do in a work. Raises NoPlaceError."""
        arrays = self._fresh(work)
        flags = _by_state(arrays)
        with_image = [page.number for page in arrays.pages if page.image_sha]
        with self._reading() as session:
            pages = Counter(standing.state for standing in page_states(session, with_image).values())
            problems = count_problems(session, work)
        return RemainingWork(
            open=flags[State.OPEN],
            unsure=flags[State.UNSURE],
            skipped=flags[State.SKIPPED],
            to_mark=pages[PageState.NOT_PROOFREAD],
            to_validate=pages[PageState.PROOFREAD],
            problems=problems,
        )

    def open_beside_images(self, work: str) -> int:
        """The number of open raised flags on pages that have an image. Raises NoPlaceError."""
        arrays = self._fresh(work)
        has_image = np.array([False, *(bool(page.image_sha) for page in arrays.pages)], dtype=np.bool_)
        is_open = arrays.raised & arrays.is_in({State.OPEN})
        return int(has_image[arrays.position[is_open]].sum())

    def in_state(self, work: str, state: PageState) -> list[ListedPage]:
        """The pages of a work in this state. A page without an image is included only once its state was set."""
        of_work = self.pages(work)
        return [page for page in of_work if page.state is state and (page.image_sha or page.version)]

    def listed(self, work: str, numbers: Sequence[int]) -> dict[int, ListedPage]:
        """The pages with these numbers that are in the work, by number."""
        arrays = self._fresh(work)
        return {number: arrays.page_of[number] for number in numbers if number in arrays.page_of}

    def _counted(self, arrays: FlagArrays, pages: Sequence[ListedPage]) -> list[ListedPage]:
        """These pages with their states, and the counts of their raised and their open flags."""
        size = len(arrays.pages) + 1
        raised = np.bincount(arrays.position[arrays.raised], minlength=size)
        is_open = arrays.raised & arrays.is_in({State.OPEN})
        open_flags = np.bincount(arrays.position[is_open], minlength=size)
        with self._reading() as session:
            standings = page_states(session, [page.number for page in pages])
        counted = []
        for page in pages:
            standing = standings[page.number]
            counted.append(
                replace(
                    page,
                    flags=int(raised[page.position]),
                    open=int(open_flags[page.position]),
                    state=standing.state,
                    version=standing.version,
                    changed=standing.changed,
                )
            )
        return counted

    def find(
        self, work: str, queue_filter: QueueFilter, order: Order, *, after: int | None = None, limit: int = 50
    ) -> tuple[list[int], bool]:
        """The numbers of the next `limit` flags that match the filter, after the flag `after`; and whether there are
        more. Raises CursorError if the work no longer has `after`."""
        arrays = self._fresh(work)
        mask = arrays.chosen(queue_filter)
        ordered = arrays.by_score if order is Order.SCORE else np.arange(len(arrays.number))
        if after is not None:
            if after not in arrays.at:
                raise CursorError(_("the list was made anew by another check: begin at its start"))
            index = arrays.at[after]
            ordered = ordered[(arrays.rank[index] if order is Order.SCORE else index) + 1 :]
        hits = ordered[mask[ordered]][: limit + 1]
        return [int(number) for number in arrays.number[hits[:limit]]], len(hits) > limit

    def facets(self, work: str, queue_filter: QueueFilter, *, pairs: int = 40) -> Facets:
        """The counts of flags for every value of every filter; of the pairs only the `pairs` most frequent."""
        arrays = self._fresh(work)
        masks = arrays.masks(queue_filter)

        def without(name: str) -> Mask:
            """The flags that match all filters but this one."""
            return arrays.questions(np.logical_and.reduce([mask for other, mask in masks.items() if other != name]))

        by_kind = np.bincount(arrays.kind[without("kinds")], minlength=len(KINDS))
        by_state = np.bincount(arrays.state[without("states")], minlength=len(STATES))
        by_juan = np.bincount(arrays.juan[without("juan")], minlength=len(arrays.juans))
        scores = arrays.score[masks["raised"]]
        low, high = (float(scores.min()), float(scores.max())) if scores.size else (0.0, 1.0)
        histogram, edges = np.histogram(arrays.score[without("scores")], bins=BINS, range=(low, max(high, low + 1)))
        return Facets(
            total=int(arrays.chosen(queue_filter).sum()),
            kinds=dict(zip(KINDS, map(int, by_kind), strict=True)),
            states=dict(zip(STATES, map(int, by_state), strict=True)),
            pairs=_pairs(arrays, without("pair"), pairs),
            juans=list(map(JuanFlags, arrays.juans, map(int, by_juan))),
            scores=list(map(int, histogram)),
            edges=list(map(float, edges)),
        )

    def pairs(self, work: str, queue_filter: QueueFilter) -> list[PairCount]:
        """The pairs of transcribed and suggested text of the flags that match the filter, most frequent first."""
        arrays = self._fresh(work)
        mask = arrays.chosen(queue_filter)
        return _pairs(arrays, mask & np.isin(arrays.kind, [KINDS.index(kind) for kind in PAIRED]))

    def scores(self, work: str, queue_filter: QueueFilter) -> tuple[NDArray[np.float64], NDArray[np.int8], Mask]:
        """The scores, in descending order, of the flags other than samples that match the filter; their states (indices
        in `STATES`); and whether each is not a seeded error."""
        arrays = self._fresh(work)
        mask = arrays.chosen(queue_filter)
        mask &= arrays.kind != KINDS.index(Kind.AUDIT)
        hits = arrays.by_score[mask[arrays.by_score]]
        return arrays.score[hits], arrays.state[hits], ~arrays.seeded[hits]

    def juans(self, work: str) -> list[JuanCount]:
        """The progress of each juan in text order. Samples are counted apart, seeded errors are not counted."""
        arrays = self._fresh(work)
        is_sample = arrays.kind == KINDS.index(Kind.AUDIT)
        settled = arrays.is_in(SETTLED)
        wrong = arrays.state == STATES.index(State.CORRECTED)
        counted = ~is_sample & ~arrays.seeded
        flagged = arrays.flagged & counted & ~arrays.by_hand
        masks = {
            "flagged": flagged,
            "settled": flagged & settled,
            "upheld": flagged & wrong,
            "confirmed": arrays.questions(wrong & counted),
            "samples": is_sample & settled,
            "missed": is_sample & wrong,
        }
        size = len(arrays.pages) + 1
        by_position = {name: np.bincount(arrays.position[mask], minlength=size) for name, mask in masks.items()}
        counts_of: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        with self._reading() as session:
            exported = exported_flags(session, PAGE, FlagRow.work_id == work_id_subquery(work))
        for page in arrays.pages:
            counts = counts_of[page.text, page.juan_name]
            upheld, by_hand = exported[page.number, False], exported[page.number, True]
            counts.update(pages=1, characters=page.characters, exported=upheld, confirmed=upheld + by_hand)
            counts.update({name: int(of_position[page.position]) for name, of_position in by_position.items()})
        return [JuanCount(juan, **counts) for (_, juan), counts in counts_of.items()]

    def flags(self, work: str, numbers: Sequence[int], *, taken_back: bool = False) -> list[QueuedFlag]:
        """The flags with these numbers as proofreaders are shown them, in the given order. Undone corrections by hand
        are included only with `taken_back`. Raises MissingFlagError, NoPlaceError."""
        arrays = self._fresh(work)
        halves = {number: arrays.other_half(number) for number in numbers}
        both_halves = {*numbers, *(other for other in halves.values() if other is not None)}
        with self._reading() as session:
            query = select(FlagRow, PageRow).join(PageRow, FlagRow.page_id == PageRow.id)
            query = query.where(FlagRow.id.in_(both_halves), FlagRow.work_id == work_id_subquery(work))
            if not taken_back:
                present = [
                    number for number in both_halves if number in arrays.at and arrays.present[arrays.at[number]]
                ]
                is_undone = BY_HAND & (FlagRow.state == State.OPEN.value)
                query = query.where(~is_undone | FlagRow.id.in_(present))
            flag_pages = list(session.execute(query))
            seeded = seeded_places(session, sorted({page.id for _, page in flag_pages}))
            shown_between = (page for flag, page in flag_pages if page.id in seeded or _is_whole_column(flag.context))
            sources = columns_of_pages(session, shown_between)
            queued = {
                flag.id: _queued(flag, page, arrays.page_of, seeded.get(page.id), sources.get(page.id, {}))
                for flag, page in flag_pages
            }
            for number, own in own_states(session, FlagRow.id.in_(both_halves)).items():
                if number in queued:
                    queued[number] = replace(queued[number], **own._asdict())
        missing = [number for number in numbers if number not in queued]
        if missing:
            raise MissingFlagError(_("%(work)s: there is no flag %(flag)s"), work=work, flag=missing[0])
        return [replace(queued[number], other=queued.get(halves[number] or 0)) for number in numbers]

    def on_page(self, work: str, position: int) -> list[QueuedFlag]:
        """All flags of the page at a position of a work in page order, including hidden flags and both halves of moved
        characters. Raises NoPlaceError."""
        of_page = QueueFilter(first_page=position, last_page=position, raised=None, halves=True)
        numbers, _has_more = self.find(work, of_page, Order.PAGE, limit=MOST_ON_PAGE)
        return self.flags(work, numbers)

    def of_column(self, work: str, page: int, line: int) -> list[QueuedFlag]:
        """All flags of a column, as `on_page` gives them, also those on other pages that have the column."""
        arrays = self._fresh(work)
        with self._reading() as session:
            pages = [row.id for row in pages_with_columns_of(session, rows.pages_of(session, [page]))]
        positions = sorted(arrays.page_of[number].position for number in pages if number in arrays.page_of)
        of_pages = chain.from_iterable(self.on_page(work, position) for position in positions)
        return [queued for queued in of_pages if queued.flag.line == line]

    def page(self, work: str, number: int) -> tuple[ListedPage, PageResult]:
        """A page of a work with its counts, and its result as proofreaders are shown it. Raises NoPlaceError."""
        arrays = self._fresh(work)
        page = arrays.page_of.get(number)
        if page is None:
            raise NoPlaceError(NO_PAGE, work=work, page=number)
        return self._counted(arrays, [page])[0], self.results([number])[number]

    def results(self, numbers: Sequence[int]) -> dict[int, PageResult]:
        """The results of these pages as proofreaders are shown them, by page number."""
        with self._reading() as session:
            pages = list(session.scalars(select(PageRow).where(PageRow.id.in_(numbers))))
            places = seeded_places(session, [page.id for page in pages])
            results = rows.results(session, pages)
            return {
                page.id: with_seeded_errors(result, places.get(page.id))
                for page, result in zip(pages, results, strict=True)
            }

    def policies(self, numbers: Sequence[int]) -> dict[int, VariantPolicy]:
        """The variant policy of the script of each of these pages' texts, by page number."""
        with self._reading() as session:
            return rows.policies_of(session, session.scalars(select(PageRow).where(PageRow.id.in_(numbers))).all())

    def columns(self, work: str, pages: Collection[int]) -> dict[ColumnKey, TextColumn]:
        """The columns of pages after decisions, by page and column number. Raises NoPlaceError."""
        with self._reading() as session:
            columns = chain.from_iterable(columns_of(session, find_work(session, work).id, pages, personal=True))
            return {(column.page, column.number): column for column in columns}

    def sources(self, numbers: Sequence[int]) -> dict[int, dict[int, str]]:
        """The sources of the columns of these pages when the pages were checked, by page and column number."""
        with self._reading() as session:
            return columns_of_pages(session, session.scalars(select(PageRow).where(PageRow.id.in_(numbers))))

    def image(self, sha: str) -> tuple[str, int, int] | None:
        """The path in the last check and the width and height, in pixels, of the image with this hash; None if
        unknown."""
        query = select(PageRow.image, PageRow.width, PageRow.height)
        with self._reading() as session:
            row = session.execute(query.where(PageRow.image_sha == sha, PageRow.image.is_not(None)).limit(1)).first()
        return (str(row[0]), row[1], row[2]) if row else None

    def _summary(self, work: StoredWork) -> WorkSummary:
        arrays = self._fresh(work.name)
        with self._reading() as session:
            last = select(func.max(RunRow.id)).where(RunRow.work_id == work.id).scalar_subquery()
            texts = session.scalars(select(RunRow.texts).where(RunRow.id == last)).one()
        script = script_shown(text["script"] for text in texts)
        characters = sum(page.characters for page in arrays.pages)
        return WorkSummary(work.name, work.title, script, len(arrays.pages), characters, _by_state(arrays))

    def _fresh(self, work: str) -> FlagArrays:
        """The arrays of a work, brought up to date with the store. Raises NoPlaceError."""
        with self._lock, self._reading() as session:
            now, act = find_work(session, work), newest_act_id(session)
            key = now.id, REQUESTER.get()
            arrays = self._kept.get(key)
            if arrays is None or arrays.revision != now.revision or not arrays.catch_up(session, act):
                arrays = self._kept.put(key, FlagArrays(session, now, act))
            return arrays


def _by_state(arrays: FlagArrays) -> dict[State, int]:
    """The number of raised flags in each state."""
    counts = np.bincount(arrays.state[arrays.raised], minlength=len(STATES))
    return dict(zip(STATES, map(int, counts), strict=True))


def _pairs(arrays: FlagArrays, mask: Mask, limit: int | None = None) -> list[PairCount]:
    """The pairs of the flags of `mask`, at most `limit`, most frequent first."""
    counts = np.bincount(arrays.pair[mask], minlength=len(arrays.pairs))
    open_counts = np.bincount(arrays.pair[mask & arrays.is_in({State.OPEN})], minlength=len(arrays.pairs))
    by_count: list[int] = np.argsort(-counts, kind="stable").tolist()
    frequent = [pair for pair in by_count if counts[pair]][:limit]
    return [PairCount(*arrays.pairs[pair], int(counts[pair]), int(open_counts[pair])) for pair in frequent]


def _queued(
    flag: FlagRow, page: PageRow, pages: dict[int, ListedPage], seeded: SeededPlaces | None, sources: dict[int, str]
) -> QueuedFlag:
    """The flag as proofreaders are shown it; `sources` are those of the columns of its page, by number."""
    shown = rows.flag_of(page.page, flag)
    if seeded and flag.origin != Origin.SEEDED.value:
        place, source = (shown.line, shown.offset, shown.length), sources.get(shown.line, "")
        shown = replace(shown, context=shown_context(shown.context, source, *place, seeded))
    if _is_whole_column(shown.context):
        shown = replace(shown, context=_between_columns(shown.context, shown.line, sources))
    return QueuedFlag(
        number=flag.id,
        flag=shown,
        page=pages.get(page.id) or listed_page(page, 0),
        state=State(flag.state),
        reading=flag.reading if flag.version else flag.transcribed,
        version=flag.version,
        stale=flag.stale or page.absent,
    )


def _is_whole_column(context: str) -> bool:
    """Whether the context of a flag consists of its place alone, which is in brackets."""
    return context.startswith("[") and context.endswith("]")


def _between_columns(context: str, line: int, sources: dict[int, str]) -> str:
    """The context of a whole column, extended by the end of the previous column and the beginning of the next."""
    previous = next((source for number, source in reversed(sources.items()) if number < line and source), "")
    following = next((source for number, source in sources.items() if number > line and source), "")
    head, tail = before(previous, len(previous), MAX_CONTEXT_CHARACTERS), behind(following, 0, MAX_CONTEXT_CHARACTERS)
    return f"{head}{context}{tail}"
