"""The proofreader's queue: the flags of a work filtered, counted and ordered.

Filters and counts run over arrays in memory with a few bytes per flag, so that 100,000 flags are counted for every
filter in a few milliseconds on any database. New decisions update the arrays; a check rebuilds them.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select

from proof.locale.marking import _
from proof.model.flags import MAX_CONTEXT_CHARACTERS, Kind, Origin
from proof.model.result import PageResult
from proof.store import rows
from proof.store.cache import Bounded
from proof.store.chains import LOOKER, Looker
from proof.store.comments import count_problems
from proof.store.decision_records import SETTLED, MissingFlagError, State
from proof.store.flag_columns import KINDS, PAIRED, STATES, Columns, Mask
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
from proof.store.page_states import PageStanding, PageState, page_states
from proof.store.queue_records import (
    CursorError,
    Facets,
    JuanCount,
    ListedPage,
    Order,
    QueuedFlag,
    QueueFilter,
    WorkLeft,
    WorkPair,
    WorkSummary,
    listed_page,
)
from proof.store.readings import own_states
from proof.store.seeded import BY_HAND, SeededPlaces, seeded_places, shown_context, with_seeded_errors
from proof.store.texts import columns_of_pages
from proof.store.work_text import ColumnKey, TextColumn, columns_of
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
        self._columns = Bounded[tuple[int, Looker], Columns](KEPT_WORKS)
        self._lock = threading.Lock()

    def works(self) -> list[WorkSummary]:
        """The works of the store, by name."""
        with self._reading() as session:
            works = find_works(session)
        return [self._summary(work) for work in works]

    def work(self, name: str) -> WorkSummary:
        """The summary of a work. Raises NoPlaceError."""
        with self._reading() as session:
            work = find_work(session, name)
        return self._summary(work)

    def pages(self, work: str, first: int = 1, limit: int | None = None) -> list[ListedPage]:
        """At most `limit` pages of a work in page order, beginning with number `first` (from 1), each with the numbers
        of its raised and its open flags. Raises NoPlaceError."""
        columns = self._fresh(work)
        return self._counted(columns, columns.pages[first - 1 :][:limit])

    def places(self, work: str) -> Sequence[ListedPage]:
        """All pages of a work in page order, without counts. Raises NoPlaceError."""
        return self._fresh(work).pages

    def has(self, work: str, flag: int) -> bool:
        """Whether the work has this flag at present. Raises NoPlaceError."""
        columns = self._fresh(work)
        return flag in columns.at and bool(columns.present[columns.at[flag]])

    def left(self, work: str) -> WorkLeft:
        """The counts of flags, pages and problems left to do in a work. Raises NoPlaceError."""
        columns = self._fresh(work)
        flags = np.bincount(columns.state[columns.raised], minlength=len(STATES))
        shown = [page.number for page in columns.pages if page.image_sha]
        with self._reading() as session:
            states = Counter(page.state for page in page_states(session, shown).values())
            problems = count_problems(session, work)
        unsettled = {state: int(flags[STATES.index(state)]) for state in (State.OPEN, State.UNSURE, State.SKIPPED)}
        return WorkLeft(
            open=unsettled[State.OPEN],
            unsure=unsettled[State.UNSURE],
            skipped=unsettled[State.SKIPPED],
            to_mark=states[PageState.NOT_PROOFREAD],
            to_validate=states[PageState.PROOFREAD],
            problems=problems,
        )

    def open_beside_images(self, work: str) -> int:
        """The number of open raised flags on pages that have an image. Raises NoPlaceError."""
        columns = self._fresh(work)
        shown = np.array([False, *(bool(page.image_sha) for page in columns.pages)], dtype=np.bool_)
        is_open = columns.raised & columns.is_in({State.OPEN})
        return int(shown[columns.position[is_open]].sum())

    def in_state(self, work: str, state: PageState) -> list[ListedPage]:
        """The pages of a work in a state. Pages without an image are included only once their state was set."""
        of_work = self.pages(work)
        return [page for page in of_work if page.state is state and (page.image_sha or page.version)]

    def listed(self, work: str, numbers: Sequence[int]) -> dict[int, ListedPage]:
        """The pages with these numbers that are in the work, by number."""
        columns = self._fresh(work)
        return {number: columns.page_of[number] for number in numbers if number in columns.page_of}

    def _counted(self, columns: Columns, pages: Sequence[ListedPage]) -> list[ListedPage]:
        raised = np.bincount(columns.position[columns.raised], minlength=len(columns.pages) + 1)
        is_open = columns.raised & columns.is_in({State.OPEN})
        waiting = np.bincount(columns.position[is_open], minlength=len(columns.pages) + 1)
        with self._reading() as session:
            states = page_states(session, [page.number for page in pages])
        return [
            _with_counts(page, int(raised[page.position]), int(waiting[page.position]), states[page.number])
            for page in pages
        ]

    def find(
        self, work: str, wanted: QueueFilter, order: Order, *, after: int | None = None, limit: int = 50
    ) -> tuple[list[int], bool]:
        """The numbers of the next `limit` wanted flags after the flag `after`, and whether there are more. Raises
        CursorError if the work no longer has `after`."""
        columns = self._fresh(work)
        mask = columns.chosen(wanted)
        along = columns.by_score if order is Order.SCORE else np.arange(len(columns.number))
        if after is not None:
            if after not in columns.at:
                raise CursorError(_("the list was made anew by another check: begin at its start"))
            at = columns.at[after]
            along = along[(columns.rank[at] if order is Order.SCORE else at) + 1 :]
        hits = along[mask[along]][: limit + 1]
        return [int(number) for number in columns.number[hits[:limit]]], len(hits) > limit

    def facets(self, work: str, wanted: QueueFilter, *, pairs: int = 40) -> Facets:
        """The counts of flags for every value of every filter; of the pairs only the `pairs` most frequent."""
        columns = self._fresh(work)
        masks = columns.masks(wanted)

        def without(name: str) -> Mask:
            return columns.questions(np.logical_and.reduce([mask for other, mask in masks.items() if other != name]))

        by_kind = np.bincount(columns.kind[without("kinds")], minlength=len(KINDS))
        by_state = np.bincount(columns.state[without("states")], minlength=len(STATES))
        by_pair = np.bincount(columns.pair[without("pair")], minlength=len(columns.pairs))
        most = np.argsort(-by_pair, kind="stable")[:pairs]
        by_juan = np.bincount(columns.juan[without("juan")], minlength=len(columns.juans))
        shown = columns.score[masks["raised"]]
        low, high = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 1.0)
        histogram, edges = np.histogram(columns.score[without("scores")], bins=BINS, range=(low, max(high, low + 1)))
        return Facets(
            total=int(columns.chosen(wanted).sum()),
            kinds=dict(zip(KINDS, map(int, by_kind), strict=True)),
            states=dict(zip(STATES, map(int, by_state), strict=True)),
            pairs=tuple((columns.pairs[n], int(by_pair[n])) for n in most if by_pair[n]),
            juans=tuple(zip(columns.juans, map(int, by_juan), strict=True)),
            scores=tuple(map(int, histogram)),
            edges=tuple(map(float, edges)),
        )

    def pairs(self, work: str, wanted: QueueFilter) -> list[WorkPair]:
        """The pairs of transcribed and suggested text of the wanted flags, most frequent first."""
        columns = self._fresh(work)
        mask = columns.chosen(wanted)
        mask &= np.isin(columns.kind, [KINDS.index(kind) for kind in PAIRED])
        counts = np.bincount(columns.pair[mask], minlength=len(columns.pairs))
        is_open = mask & columns.is_in({State.OPEN})
        waiting = np.bincount(columns.pair[is_open], minlength=len(columns.pairs))
        most = np.argsort(-counts, kind="stable")
        counted = ((*columns.pairs[n], int(counts[n]), int(waiting[n])) for n in most if counts[n])
        return [WorkPair(text, image, count, still_open) for text, image, count, still_open in counted]

    def scores(self, work: str, wanted: QueueFilter) -> tuple[NDArray[np.float64], NDArray[np.int8], Mask]:
        """The scores of the wanted flags other than samples in descending order, their states (indices in `STATES`),
        and whether each is not a seeded error."""
        columns = self._fresh(work)
        mask = columns.chosen(wanted)
        mask &= columns.kind != KINDS.index(Kind.AUDIT)
        hits = columns.by_score[mask[columns.by_score]]
        return columns.score[hits], columns.state[hits], ~columns.seeded[hits]

    def juans(self, work: str) -> list[JuanCount]:
        """The progress of each juan in text order. Samples are counted apart, seeded errors are not counted."""
        columns = self._fresh(work)
        audit = columns.kind == KINDS.index(Kind.AUDIT)
        settled = columns.is_in(SETTLED)
        wrong = columns.state == STATES.index(State.CORRECTED)
        size = len(columns.pages) + 1
        counted = ~audit & ~columns.seeded
        flagged = columns.raised & counted & ~columns.by_hand
        confirmed = columns.questions(wrong & counted)
        masks = (flagged, flagged & settled, flagged & wrong, confirmed, audit & settled, audit & wrong)
        counts = [np.bincount(columns.position[mask], minlength=size) for mask in masks]
        counts_of: dict[tuple[str, str], list[int]] = {}
        for page in columns.pages:
            entry = counts_of.setdefault((page.text, page.juan_name), [0] * (2 + len(masks)))
            here = (1, page.characters, *(int(count[page.position]) for count in counts))
            entry[:] = [a + b for a, b in zip(entry, here, strict=True)]
        return [JuanCount(juan, *entry) for (_, juan), entry in counts_of.items()]

    def flags(self, work: str, numbers: Sequence[int], *, taken_back: bool = False) -> list[QueuedFlag]:
        """The flags with these numbers as people see them, in the given order. Withdrawn corrections by hand are
        included only with `taken_back`. Raises MissingFlagError, NoPlaceError."""
        columns = self._fresh(work)
        halves = {number: columns.other_half(number) for number in numbers}
        both_halves = {*numbers, *(other for other in halves.values() if other is not None)}
        with self._reading() as session:
            query = select(FlagRow, PageRow).join(PageRow, FlagRow.page_id == PageRow.id)
            query = query.where(FlagRow.id.in_(both_halves), FlagRow.work_id == work_id_subquery(work))
            if not taken_back:
                present = [half for half in both_halves if half in columns.at and columns.present[columns.at[half]]]
                corrected = ~BY_HAND | (FlagRow.state != State.OPEN.value)
                query = query.where(corrected | FlagRow.id.in_(present))
            both = list(session.execute(query))
            places = seeded_places(session, sorted({page.id for _, page in both}))
            sources = columns_of_pages(session, (page for flag, page in both if _is_whole_column(flag.context)))
            queued = {
                flag.id: _queued(flag, page, columns.page_of, places.get(page.id), sources.get(page.id, {}))
                for flag, page in both
            }
            for number, seen in own_states(session, FlagRow.id.in_(both_halves)).items():
                if number in queued:
                    queued[number] = replace(queued[number], **seen._asdict())
        missing = [number for number in numbers if number not in queued]
        if missing:
            raise MissingFlagError(_("%(work)s: there is no flag %(flag)s"), work=work, flag=missing[0])
        return [replace(queued[number], other=queued.get(halves[number] or 0)) for number in numbers]

    def on_page(self, work: str, position: int) -> list[QueuedFlag]:
        """All flags of the page at a position of a work in page order, including hidden flags and both halves of moved
        characters. Raises NoPlaceError."""
        wanted = QueueFilter(first_page=position, last_page=position, raised=None, halves=True)
        numbers, _more = self.find(work, wanted, Order.PAGE, limit=MOST_ON_PAGE)
        return self.flags(work, numbers)

    def page(self, work: str, number: int) -> tuple[ListedPage, PageResult]:
        """A page of a work with its counts, and its result as people see it. Raises NoPlaceError."""
        columns = self._fresh(work)
        numbered = [page for page in columns.pages if page.number == number]
        if not numbered:
            raise NoPlaceError(NO_PAGE, work=work, page=number)
        return self._counted(columns, numbered)[0], self.results([number])[number]

    def results(self, numbers: Sequence[int]) -> dict[int, PageResult]:
        """The results of these pages as people see them, by page number."""
        with self._reading() as session:
            pages = list(session.scalars(select(PageRow).where(PageRow.id.in_(numbers))))
            places = seeded_places(session, [page.id for page in pages])
            results = rows.results(session, pages)
            return {
                page.id: with_seeded_errors(result, places.get(page.id))
                for page, result in zip(pages, results, strict=True)
            }

    def policies(self, numbers: Sequence[int]) -> dict[int, VariantPolicy]:
        """For each of these pages by its number: which forms of a word count as one in the script of its text."""
        with self._reading() as session:
            return rows.policies_of(session, session.scalars(select(PageRow).where(PageRow.id.in_(numbers))).all())

    def columns(self, work: str, pages: Collection[int]) -> dict[ColumnKey, TextColumn]:
        """The columns of pages with what decisions make of them, by page and column number; those of pages without an
        image as their files have them. Raises NoPlaceError."""
        with self._reading() as session:
            own = own_states(session, FlagRow.page_id.in_(pages))
            columns = chain.from_iterable(columns_of(session, find_work(session, work).id, pages, own))
            return {(column.page, column.number): column for column in columns}

    def sources(self, numbers: Sequence[int]) -> dict[int, dict[int, str]]:
        """The columns of these pages by the numbers of both, as the texts had them when the pages were checked."""
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
        columns = self._fresh(work.name)
        with self._reading() as session:
            last = select(func.max(RunRow.id)).where(RunRow.work_id == work.id).scalar_subquery()
            texts = session.scalar(select(RunRow.texts).where(RunRow.id == last)) or []
        script = script_shown(text.get("script", "") for text in texts)
        by_state = np.bincount(columns.state[columns.raised], minlength=len(STATES))
        states = dict(zip(STATES, map(int, by_state), strict=True))
        characters = sum(page.characters for page in columns.pages)
        return WorkSummary(work.name, work.title, script, len(columns.pages), characters, states)

    def _fresh(self, work: str) -> Columns:
        """The arrays of a work, brought up to date with the store. Raises NoPlaceError."""
        with self._lock, self._reading() as session:
            now, act = find_work(session, work), newest_act_id(session)
            key = now.id, LOOKER.get()
            columns = self._columns.get(key)
            if columns is None or columns.revision != now.revision or not columns.catch_up(session, act):
                columns = self._columns.put(key, Columns(session, now, act))
            return columns


def _with_counts(page: ListedPage, flags: int, waiting: int, standing: PageStanding) -> ListedPage:
    return replace(
        page, flags=flags, open=waiting, state=standing.state, version=standing.version, changed=standing.changed
    )


def _queued(
    flag: FlagRow, page: PageRow, pages: dict[int, ListedPage], places: SeededPlaces | None, sources: dict[int, str]
) -> QueuedFlag:
    shown = rows.flag_of(page.page, flag)
    if places and flag.origin != Origin.SEEDED.value:
        shown = replace(shown, context=shown_context(shown.context, shown.line, shown.offset, shown.length, places))
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
    """Whether a flag's context has no characters outside its place, which is in brackets."""
    return context.startswith("[") and context.endswith("]")


def _between_columns(context: str, line: int, sources: dict[int, str]) -> str:
    """The context of a whole column, extended by the end of the previous column and the beginning of the next."""
    before = [source for number, source in sources.items() if number < line and source]
    after = [source for number, source in sources.items() if number > line and source]
    return f"{''.join(before[-1:])[-MAX_CONTEXT_CHARACTERS:]}{context}{''.join(after[:1])[:MAX_CONTEXT_CHARACTERS]}"
