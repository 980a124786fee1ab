"""The flags of a work as a proofreader goes through them: filtered, counted, in order.

Filters and counts run over columns of numbers in memory, a few bytes a flag: a hundred thousand flags are
counted on every filter in a few milliseconds, on whatever database. Decisions of others are read in as they
come, and a new check makes the columns anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from proof.errors import ProofError
from proof.model.flags import Flag, Kind
from proof.model.result import PageResult
from proof.store import queries, rows
from proof.store.decisions import SETTLED, MissingFlagError, State
from proof.store.marks import PageState, page_states, rules_of
from proof.store.models import DecisionRow, FlagRow, PageRow, RuleRow, RunRow, WorkRow
from proof.store.seeded_errors import Places, as_shown, planted_places, shown_context

Sessions = Callable[[], AbstractContextManager[Session]]
Mask = NDArray[np.bool_]
Pair = tuple[str, str]

KINDS = list(Kind)
STATES = list(State)
PAIRED = frozenset({Kind.SUBSTITUTION, Kind.VARIANT, Kind.TRANSPOSITION, Kind.INSERTION, Kind.OMISSION})
BINS = 24
"""Steps of the score that the dial has."""


class Order(StrEnum):
    """Most suspicious first, or as the pages and columns run."""

    SCORE = "score"
    PAGE = "page"


class MissingError(ProofError):
    """No such work or page in the store."""

    http_status = 404


class CursorError(ProofError):
    """A cursor that this list did not give, or that a new check made useless: begin at the start."""

    http_status = 400


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """Which flags are wanted. Empty tuples and None mean all; pages are numbers in the order of the work,
    from 1, both ends included; `raised` None takes hidden flags too. A character that moved is one question: of its
    two flags the one that is less suspicious is left out where the other is wanted as well, but for `halves`."""

    kinds: tuple[Kind, ...] = ()
    states: tuple[State, ...] = ()
    pair: Pair | None = None
    first_page: int | None = None
    last_page: int | None = None
    least_score: float | None = None
    most_score: float | None = None
    raised: bool | None = True
    halves: bool = False


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page as a list shows it: `number` is its own for good, `position` counts the pages of the work from 1."""

    number: int
    position: int
    page: str
    repeat: int
    ref: str
    text: str
    juan: str
    folio: str
    status: str
    characters: int
    width: int
    height: int
    image_sha: str
    flags: int = 0
    open: int = 0
    state: PageState = PageState.NOT_PROOFREAD
    version: int = 0


@dataclass(frozen=True, slots=True)
class QueuedFlag:
    """A flag with where it stands, under the `number` that decisions name it by; of a character that moved with the
    `other` half, while the two are one question."""

    number: int
    flag: Flag
    page: ListedPage
    state: State
    reading: str
    version: int
    stale: bool
    other: QueuedFlag | None = None


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts on every filter: what each choice would give, all other filters as they are.

    `scores` are the flags of each step of the score between `edges` (one more than there are steps).
    """

    total: int
    kinds: dict[Kind, int]
    states: dict[State, int]
    pairs: tuple[tuple[Pair, int], ...]
    scores: tuple[int, ...]
    edges: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class JuanCount:
    """A juan in numbers: raised flags and how many of them are settled, errors that people confirmed (found by
    hand as well), samples that were decided and how many of them were wrong."""

    juan: str
    pages: int
    characters: int
    flagged: int
    settled: int
    confirmed: int
    samples: int
    missed: int


@dataclass(frozen=True, slots=True)
class WorkSummary:
    """A work with its counts: pages, characters checked, and raised flags by state."""

    name: str
    title: str
    script: str
    pages: int
    characters: int
    states: dict[State, int]


class Columns:
    """The flags of one work as columns, in page order; `signature` says for which state of the store. What is
    `planted` is met like any other flag, and is left out of what is counted as found."""

    def __init__(self, session: Session, work_id: int, signature: tuple[Any, ...]) -> None:
        self.signature = signature
        self.last_decision = signature[-1]
        self.pages = _places(session, work_id)
        self.page_of = {page.number: page for page in self.pages}
        order_of = {page.number: page.position for page in self.pages}
        query = select(
            FlagRow.id,
            FlagRow.page_id,
            FlagRow.line,
            FlagRow.offset,
            FlagRow.score,
            FlagRow.kind,
            FlagRow.state,
            FlagRow.raised,
            FlagRow.transcribed,
            FlagRow.suggested,
            FlagRow.ordinal,
        ).where(FlagRow.work_id == work_id, FlagRow.stale.is_(False))
        found = [row for row in session.execute(query) if row[1] in order_of]
        fields = zip(*found, strict=True) if found else [()] * 11
        number, page, line, offset, score, kind, state, raised, text, image, ordinal = fields
        position = np.array([order_of[one] for one in page], dtype=np.int32)
        order = np.lexsort((number, offset, line, position))
        state_of = {state.value: n for n, state in enumerate(STATES)}
        pair_of: dict[Pair, int] = {}
        self.number = np.array(number, dtype=np.int64)[order]
        self.position = position[order]
        self.score = np.array(score, dtype=np.float64)[order]
        seen = [KINDS.index(rows.kind_of(*one)) for one in zip(kind, image, strict=True)]
        self.kind = np.array(seen, dtype=np.int8)[order]
        self.planted = np.array([one == rows.PLANTED for one in kind], dtype=np.bool_)[order]
        self.state = np.array([state_of[one] for one in state], dtype=np.int8)[order]
        pairs = [pair_of.setdefault(one, len(pair_of)) for one in zip(text, image, strict=True)]
        self.pair = np.array(pairs, dtype=np.int32)[order]
        rules = {pair_of[pair]: rule for pair, rule in rules_of(session, work_id).items() if pair in pair_of}
        hidden = np.isin(self.pair, [pair for pair, rule in rules.items() if not rule.planted])
        hidden |= np.isin(self.pair, list(rules)) & self.planted
        audit = self.kind == KINDS.index(Kind.AUDIT)
        self._raised = (np.array(raised, dtype=np.bool_)[order] & ~hidden) | audit
        self._by_hand = np.array([one == rows.BY_HAND for one in ordinal], dtype=np.bool_)[order]
        self.pair_of = pair_of
        self.pairs = list(pair_of)
        self.at = {one: n for n, one in enumerate(self.number.tolist())}
        self.by_score = np.argsort(-self.score, kind="stable")
        self.rank = np.empty(len(found), dtype=np.int64)
        self.rank[self.by_score] = np.arange(len(found))
        self.otherwise = np.zeros(len(found), dtype=np.bool_)
        """Which flags were settled by another reading than the suggested one; told of moved characters alone."""
        self._leading, self._following = self._halves(session, work_id)

    def _halves(self, session: Session, work_id: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The flags of characters that moved, half beside half: the more suspicious one, and the one after it."""
        moved = FlagRow.evidence["moved"].as_string()
        query = select(
            FlagRow.id, FlagRow.page_id, FlagRow.uid, moved, FlagRow.state, FlagRow.reading, FlagRow.suggested
        )
        query = query.where(FlagRow.work_id == work_id, FlagRow.stale.is_(False), moved.is_not(None))
        query = query.where(FlagRow.kind.in_([Kind.INSERTION.value, Kind.OMISSION.value]))
        found = [row for row in session.execute(query) if row[0] in self.at]
        at_place = {(page, uid): self.at[number] for number, page, uid, *_ in found}
        leading, following = [], []
        for number, page, _, other, state, reading, suggested in found:
            here, there = self.at[number], at_place.get((page, other))
            self.otherwise[here] = said_otherwise(state, reading, suggested)
            if there is not None and self.rank[here] < self.rank[there]:
                leading.append(here)
                following.append(there)
        return np.array(leading, dtype=np.int64), np.array(following, dtype=np.int64)

    def questions(self, mask: Mask) -> Mask:
        """The same flags without those that are one question with another of them: the second half of a character
        that moved, while the same is said of both."""
        one, other = self._leading, self._following
        same = (self.state[one] == self.state[other]) & ~self.otherwise[one] & ~self.otherwise[other]
        asked = mask.copy()
        asked[other[same & mask[one]]] = False
        return asked

    def one_with(self, number: int) -> int | None:
        """The number of the flag that is one question with that one."""
        here = self.at.get(number, -1)
        for one, other in ((self._leading, self._following), (self._following, self._leading)):
            for there in other[one == here].tolist():
                if self.state[here] == self.state[there] and not (self.otherwise[here] or self.otherwise[there]):
                    return int(self.number[there])
        return None

    def chosen(self, wanted: QueueFilter) -> Mask:
        """Which flags are wanted."""
        mask = np.logical_and.reduce(list(self.masks(wanted).values()))
        return mask if wanted.halves else self.questions(mask)

    def is_in(self, states: Iterable[State]) -> Mask:
        """Which flags are in one of these states. Looked up by number: a decision may change one meanwhile, which
        `numpy.isin` does not bear."""
        table = np.zeros(len(STATES), dtype=np.bool_)
        table[[STATES.index(state) for state in states]] = True
        found: Mask = table[self.state]
        return found

    @property
    def there(self) -> Mask:
        """Which flags there are to see: a correction by hand that was taken back is nothing that anybody found."""
        return np.asarray(~(self._by_hand & (self.state == STATES.index(State.OPEN))))

    @property
    def raised(self) -> Mask:
        """Which flags are shown to the proofreader by default, each a question of its own."""
        return self.questions(np.asarray(self._raised & self.there))

    def masks(self, wanted: QueueFilter) -> dict[str, Mask]:
        """Which flags each filter lets through."""
        everything = self.there
        masks = dict.fromkeys(("there", "raised", "kinds", "states", "pair", "pages", "scores"), everything)
        if wanted.raised is not None:
            masks["raised"] = self._raised == wanted.raised
        if wanted.kinds:
            masks["kinds"] = np.isin(self.kind, [KINDS.index(kind) for kind in wanted.kinds])
        if wanted.states:
            masks["states"] = self.is_in(wanted.states)
        if wanted.pair is not None:
            masks["pair"] = self.pair == self.pair_of.get(wanted.pair, -1)
        if wanted.first_page is not None or wanted.last_page is not None:
            first, last = wanted.first_page or 0, wanted.last_page or np.iinfo(np.int32).max
            masks["pages"] = (self.position >= first) & (self.position <= last)
        if wanted.least_score is not None or wanted.most_score is not None:
            least = -np.inf if wanted.least_score is None else wanted.least_score
            most = np.inf if wanted.most_score is None else wanted.most_score
            masks["scores"] = (self.score >= least) & (self.score <= most)
        return masks


class Queue:
    """The flags of a store for going through; `Store.queue` is one."""

    def __init__(self, reading: Sessions) -> None:
        self._reading = reading
        self._columns: dict[str, Columns] = {}
        self._lock = threading.Lock()

    def works(self) -> list[WorkSummary]:
        """The works of the store, by name."""
        with self._reading() as session:
            names = list(session.execute(select(WorkRow.name, WorkRow.title).order_by(WorkRow.name)))
            scripts = {name: _script(session, name) for name, _ in names}
        return [self._summary(name, title, scripts[name]) for name, title in names]

    def work(self, name: str) -> WorkSummary:
        """One work. Raises MissingError."""
        with self._reading() as session:
            title = session.scalar(select(WorkRow.title).where(WorkRow.name == name))
            script = _script(session, name)
        if title is None:
            raise MissingError(f"there is no work {name} in the store")
        return self._summary(name, title, script)

    def pages(self, work: str, first: int = 1, limit: int | None = None) -> list[ListedPage]:
        """The pages of a work in their order, from the `first` on (from 1), each with its raised flags and
        those still open."""
        columns = self._fresh(work)
        return self._counted(columns, columns.pages[first - 1 :][:limit])

    def _counted(self, columns: Columns, pages: Sequence[ListedPage]) -> list[ListedPage]:
        raised = np.bincount(columns.position[columns.raised], minlength=len(columns.pages) + 1)
        still = columns.raised & (columns.state == STATES.index(State.OPEN))
        waiting = np.bincount(columns.position[still], minlength=len(columns.pages) + 1)
        with self._reading() as session:
            states = page_states(session, [page.number for page in pages])
        return [
            _with_counts(page, int(raised[page.position]), int(waiting[page.position]), *states[page.number])
            for page in pages
        ]

    def find(
        self, work: str, wanted: QueueFilter, order: Order, *, after: int | None = None, limit: int = 50
    ) -> tuple[list[int], bool]:
        """The numbers of the next flags that are wanted, those after the flag `after`, and whether there are more."""
        columns = self._fresh(work)
        mask = columns.chosen(wanted)
        along = columns.by_score if order is Order.SCORE else np.arange(len(columns.number))
        if after is not None:
            if after not in columns.at:
                raise CursorError("the list was made anew by another check: begin at its start")
            at = columns.at[after]
            along = along[(columns.rank[at] if order is Order.SCORE else at) + 1 :]
        hits = along[mask[along]][: limit + 1]
        return [int(number) for number in columns.number[hits[:limit]]], len(hits) > limit

    def facets(self, work: str, wanted: QueueFilter, *, pairs: int = 40) -> Facets:
        """Counts on every filter."""
        columns = self._fresh(work)
        masks = columns.masks(wanted)

        def without(name: str) -> Mask:
            return columns.questions(np.logical_and.reduce([mask for other, mask in masks.items() if other != name]))

        by_kind = np.bincount(columns.kind[without("kinds")], minlength=len(KINDS))
        by_state = np.bincount(columns.state[without("states")], minlength=len(STATES))
        by_pair = np.bincount(columns.pair[without("pair")], minlength=len(columns.pairs))
        most = np.argsort(-by_pair, kind="stable")[:pairs]
        shown = columns.score[masks["raised"]]
        low, high = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 1.0)
        histogram, edges = np.histogram(columns.score[without("scores")], bins=BINS, range=(low, max(high, low + 1)))
        return Facets(
            total=int(columns.chosen(wanted).sum()),
            kinds=dict(zip(KINDS, map(int, by_kind), strict=True)),
            states=dict(zip(STATES, map(int, by_state), strict=True)),
            pairs=tuple((columns.pairs[n], int(by_pair[n])) for n in most if by_pair[n]),
            scores=tuple(map(int, histogram)),
            edges=tuple(map(float, edges)),
        )

    def pairs(self, work: str, wanted: QueueFilter) -> list[tuple[Pair, int, int]]:
        """What the text has against what the image shows, most frequent first: how often, and how often still open."""
        columns = self._fresh(work)
        mask = columns.chosen(wanted)
        mask &= np.isin(columns.kind, [KINDS.index(kind) for kind in PAIRED])
        counts = np.bincount(columns.pair[mask], minlength=len(columns.pairs))
        still = mask & (columns.state == STATES.index(State.OPEN))
        waiting = np.bincount(columns.pair[still], minlength=len(columns.pairs))
        most = np.argsort(-counts, kind="stable")
        return [(columns.pairs[n], int(counts[n]), int(waiting[n])) for n in most if counts[n]]

    def scores(self, work: str, wanted: QueueFilter) -> tuple[NDArray[np.float64], NDArray[np.int8], Mask]:
        """The scores of the wanted flags, where each flag stands (its place in `STATES`) and which a check found,
        highest score first."""
        columns = self._fresh(work)
        mask = columns.chosen(wanted)
        mask &= columns.kind != KINDS.index(Kind.AUDIT)
        hits = columns.by_score[mask[columns.by_score]]
        return columns.score[hits], columns.state[hits], ~columns.planted[hits]

    def juans(self, work: str) -> list[JuanCount]:
        """How far each juan has come, in the order of the text; samples are counted apart, planted errors nowhere."""
        columns = self._fresh(work)
        audit = columns.kind == KINDS.index(Kind.AUDIT)
        settled = columns.is_in(SETTLED)
        wrong = columns.state == STATES.index(State.CORRECTED)
        size = len(columns.pages) + 1
        found_here = ~audit & ~columns.planted
        flagged = columns.raised & found_here
        confirmed = columns.questions(wrong & found_here)
        masks = (flagged, flagged & settled, confirmed, audit & settled, audit & wrong)
        counts = [np.bincount(columns.position[mask], minlength=size) for mask in masks]
        found: dict[tuple[str, str], list[int]] = {}
        for page in columns.pages:
            entry = found.setdefault((page.text, page.juan), [0] * (2 + len(masks)))
            here = (1, page.characters, *(int(count[page.position]) for count in counts))
            entry[:] = [a + b for a, b in zip(entry, here, strict=True)]
        return [JuanCount(juan or Path(text).stem, *entry) for (text, juan), entry in found.items()]

    def flags(self, work: str, numbers: Sequence[int], *, taken_back: bool = False) -> list[QueuedFlag]:
        """These flags as people are shown them, in the order given. Raises MissingFlagError for one that the work
        has not; corrections by hand that were taken back, which nobody found, are among them where it is said."""
        columns = self._fresh(work)
        halves = {number: columns.one_with(number) for number in numbers}
        both_halves = {*numbers, *(other for other in halves.values() if other is not None)}
        with self._reading() as session:
            query = select(FlagRow, PageRow).join(PageRow, FlagRow.page_id == PageRow.id)
            query = query.join(WorkRow, FlagRow.work_id == WorkRow.id)
            query = query.where(FlagRow.id.in_(both_halves), WorkRow.name == work)
            if not taken_back:
                query = query.where((FlagRow.ordinal != rows.BY_HAND) | (FlagRow.state != State.OPEN.value))
            both = list(session.execute(query))
            places = planted_places(session, sorted({page.id for _, page in both}))
            found = {flag.id: _queued(flag, page, columns.page_of, places.get(page.id)) for flag, page in both}
        missing = [number for number in numbers if number not in found]
        if missing:
            raise MissingFlagError(f"{work}: there is no flag {missing[0]}")
        return [replace(found[number], other=found.get(halves[number] or 0)) for number in numbers]

    def page(self, work: str, number: int) -> tuple[ListedPage, PageResult]:
        """A page of a work and what the check found on it, as people are shown it. Raises MissingError."""
        columns = self._fresh(work)
        found = [page for page in columns.pages if page.number == number]
        if not found:
            raise MissingError(f"{work}: there is no page {number}")
        return self._counted(columns, found)[0], self.results([number])[number]

    def results(self, numbers: Sequence[int]) -> dict[int, PageResult]:
        """What the check found on these pages, as people are shown it."""
        with self._reading() as session:
            pages = list(session.scalars(select(PageRow).where(PageRow.id.in_(numbers))))
            places = planted_places(session, [page.id for page in pages])
            results = queries.results(session, pages)
            return {page.id: as_shown(one, places.get(page.id)) for page, one in zip(pages, results, strict=True)}

    def image(self, sha: str) -> tuple[str, int, int] | None:
        """The path, as the check found it, and the size of the image with this hash."""
        query = select(PageRow.image, PageRow.width, PageRow.height)
        with self._reading() as session:
            found = session.execute(query.where(PageRow.image_sha == sha, PageRow.image.is_not(None)).limit(1)).first()
        return (str(found[0]), found[1], found[2]) if found else None

    def _summary(self, name: str, title: str, script: str) -> WorkSummary:
        columns = self._fresh(name)
        by_state = np.bincount(columns.state[columns.raised], minlength=len(STATES))
        states = dict(zip(STATES, map(int, by_state), strict=True))
        characters = sum(page.characters for page in columns.pages)
        return WorkSummary(name, title, script, len(columns.pages), characters, states)

    def _fresh(self, work: str) -> Columns:
        """The columns of a work as the store is now."""
        with self._lock, self._reading() as session:
            work_id = session.scalar(select(WorkRow.id).where(WorkRow.name == work))
            if work_id is None:
                raise MissingError(f"there is no work {work} in the store")
            signature = _signature(session, work_id)
            columns = self._columns.get(work)
            if columns is None or columns.signature[:-1] != signature[:-1]:
                columns = self._columns[work] = Columns(session, work_id, signature)
            elif columns.last_decision != signature[-1]:
                _catch_up(session, work_id, columns, signature)
            return columns


def said_otherwise(state: str, reading: str, suggested: str) -> bool:
    """Whether a place was corrected to something else than was suggested."""
    return state == State.CORRECTED.value and reading != suggested


PLACE = (
    PageRow.id,
    PageRow.page,
    PageRow.repeat,
    PageRow.ref,
    PageRow.text,
    PageRow.juan,
    PageRow.folio,
    PageRow.status,
    PageRow.characters_checked,
    PageRow.width,
    PageRow.height,
    PageRow.image_sha,
    PageRow.image,
)
"""What a place is made of: rows of these alone are read in a fifth of the time of whole ones."""


def _signature(session: Session, work_id: int) -> tuple[Any, ...]:
    """What changes when a check or a decision changes the flags of a work."""
    runs = select(func.max(RunRow.id)).where(RunRow.work_id == work_id)
    revision = select(WorkRow.revision).where(WorkRow.id == work_id)
    flags = select(func.max(FlagRow.id)).where(FlagRow.work_id == work_id)
    rules = select(func.max(RuleRow.id)).where(RuleRow.work_id == work_id)
    decisions = select(func.max(DecisionRow.id)).where(DecisionRow.work_id == work_id)
    now = (session.scalar(runs), session.scalar(revision), session.scalar(flags), session.scalar(rules))
    return (*now, session.scalar(decisions) or 0)


def _catch_up(session: Session, work_id: int, columns: Columns, signature: tuple[Any, ...]) -> None:
    """Read in what was decided since."""
    query = select(DecisionRow.flag_id, DecisionRow.state, DecisionRow.reading, DecisionRow.suggested).where(
        DecisionRow.work_id == work_id, DecisionRow.id > columns.last_decision, DecisionRow.id <= signature[-1]
    )
    for number, state, reading, suggested in session.execute(query.order_by(DecisionRow.id)):
        if number in columns.at:
            columns.state[columns.at[number]] = STATES.index(State(state))
            columns.otherwise[columns.at[number]] = said_otherwise(state, reading, suggested)
    columns.signature, columns.last_decision = signature, signature[-1]


def _places(session: Session, work_id: int) -> list[ListedPage]:
    query = select(*PLACE).where(PageRow.work_id == work_id, PageRow.absent.is_(False))
    query = query.order_by(PageRow.text, PageRow.position, PageRow.id)
    return [_place(row, position) for position, row in enumerate(session.execute(query), 1)]


def _place(row: Any, position: int) -> ListedPage:
    """A page as a place, from its row or from the `PLACE` of it."""
    return ListedPage(
        number=row.id,
        position=position,
        page=row.page,
        repeat=row.repeat,
        ref=row.ref,
        text=row.text,
        juan=row.juan,
        folio=row.folio,
        status=row.status,
        characters=row.characters_checked,
        width=row.width,
        height=row.height,
        image_sha=row.image_sha if row.image else "",
    )


def _with_counts(page: ListedPage, flags: int, still: int, state: PageState, version: int) -> ListedPage:
    return replace(page, flags=flags, open=still, state=state, version=version)


def _queued(flag: FlagRow, page: PageRow, pages: dict[int, ListedPage], places: Places | None) -> QueuedFlag:
    shown = rows.flag_of(page.page, flag)
    if places and not shown.planted:
        shown = replace(shown, context=shown_context(shown.context, shown.line, shown.offset, shown.length, places))
    return QueuedFlag(
        number=flag.id,
        flag=shown,
        page=pages.get(page.id) or _place(page, 0),
        state=State(flag.state),
        reading=flag.reading if flag.version else flag.transcribed,
        version=flag.version,
        stale=flag.stale,
    )


def _script(session: Session, work: str) -> str:
    """The language tag of the transcription: which forms of the characters a browser is to draw."""
    last = select(func.max(RunRow.id)).join(WorkRow, RunRow.work_id == WorkRow.id).where(WorkRow.name == work)
    texts = session.scalar(select(RunRow.texts).where(RunRow.id == last.scalar_subquery())) or []
    scripts = {text.get("script") for text in texts}
    return "zh-Hans" if scripts == {"simplified"} else "zh-Hant"
