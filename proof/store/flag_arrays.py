"""The flags of a work in memory, as one array for each property, to filter and count them without the database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from proof.model.flags import Kind, Origin
from proof.store.decision_chains import REQUESTER
from proof.store.decision_records import State
from proof.store.double_readings import differing, own_states
from proof.store.lookup import StoredWork
from proof.store.models import DecisionRow, FlagRow, ReadingRow, RuleRow
from proof.store.queue_records import Pair, QueueFilter, listed_pages
from proof.store.variant_rules import rules_of

Mask = NDArray[np.bool_]
KINDS = list(Kind)
"""The kinds; `FlagArrays.kind` holds indices into this list."""

STATES = list(State)
"""The states; `FlagArrays.state` holds indices into this list."""

PAIRED = frozenset({Kind.SUBSTITUTION, Kind.VARIANT, Kind.TRANSPOSITION, Kind.INSERTION, Kind.OMISSION})
"""Kinds of flags that are listed as pairs of transcribed and suggested text."""

IN_HALVES = frozenset({Kind.INSERTION, Kind.OMISSION, Kind.LAYOUT})
"""Kinds of flags that may be one half of a moved character or column, so that two flags are one question."""


class FlagArrays:
    """The flags of one work as arrays in page order, at `revision` of the work and after the act of id `act`.

    Seeded errors are shown like other flags, but are not counted as findings. In a work with blind proofreading the
    arrays depend on the person who asks (`REQUESTER`): those of a reader have the states after their own readings,
    those of an arbiter mark the flags on which readers differ.
    """

    def __init__(self, session: Session, work: StoredWork, act: int) -> None:
        self.requester = REQUESTER.get()
        work_id = self._work_id = work.id
        self.revision, self._act = work.revision, act
        self.pages = listed_pages(session, work_id)
        self.page_of = {page.number: page for page in self.pages}
        order_of = {page.number: page.position for page in self.pages}
        rows = [row for row in _flag_rows(session, work_id) if row.page_id in order_of]
        fields = zip(*rows, strict=True) if rows else [()] * 11
        number, page, line, offset, score, kind, state, raised, transcribed, suggested, origin = fields
        position = np.array([order_of[key] for key in page], dtype=np.int32)
        order = np.lexsort((number, offset, line, position))
        pair_of: dict[Pair, int] = {}
        self.number = np.array(number, dtype=np.int64)[order]
        self.position = position[order]
        self.juans = list(dict.fromkeys(page.juan_name for page in self.pages))
        juan_of = {juan: n for n, juan in enumerate(self.juans)}
        juan_at_position = np.array([-1, *(juan_of[page.juan_name] for page in self.pages)], dtype=np.int32)
        self.juan = juan_at_position[self.position]
        self.score = np.array(score, dtype=np.float64)[order]
        self.kind = np.array([KINDS.index(Kind(value)) for value in kind], dtype=np.int8)[order]
        self.seeded = np.array([value == Origin.SEEDED.value for value in origin], dtype=np.bool_)[order]
        self.state = np.array([STATES.index(State(value)) for value in state], dtype=np.int8)[order]
        # numbered in page order, so that pairs of equal count are always listed in the same order
        pairs = [pair_of.setdefault((transcribed[n], suggested[n]), len(pair_of)) for n in order.tolist()]
        self.pair = np.array(pairs, dtype=np.int32)
        self.pair_of = pair_of
        self.pairs = list(pair_of)
        is_sample = self.kind == KINDS.index(Kind.AUDIT)
        self._raised: Mask = np.array(raised, dtype=np.bool_)[order] | is_sample
        self._of_rules = self._flags_of_rules(session, work_id) & ~is_sample
        self.by_hand = np.array([value == Origin.PERSON.value for value in origin], dtype=np.bool_)[order]
        self.at = {number: n for n, number in enumerate(self.number.tolist())}
        self.by_score = np.argsort(-self.score, kind="stable")
        self.rank = np.empty(len(rows), dtype=np.int64)
        self.rank[self.by_score] = np.arange(len(rows))
        self._differ = np.zeros(len(rows), dtype=np.bool_)
        """Which flags readers differ on, including corrections by hand of only one reader; set for an arbiter only."""
        self._apply_own_states(session)
        self._corrected_otherwise = np.zeros(len(rows), dtype=np.bool_)
        """Which flags were corrected to another reading than the suggested one. Only moved characters need it, so it is
        not set for other flags at first."""
        self._leading, self._following = self._halves(session, work_id)

    def _apply_own_states(self, session: Session) -> None:
        """Set the states that the asking reader's own readings gave; for an arbiter, mark where readers differ."""
        for number, own in own_states(session, FlagRow.work_id == self._work_id).items():
            if number in self.at:
                self.state[self.at[number]] = STATES.index(own.state)
        if self.requester.arbitrates:
            self._differ = np.isin(self.number, list(differing(session, FlagRow.work_id == self._work_id)))

    def catch_up(self, session: Session, act: int) -> bool:
        """Apply new decisions up to the act of id `act`. Return False if the arrays must be built again, since a rule
        was set or lifted, or a flag was added by hand."""
        if act == self._act:
            return True
        new_rules = (RuleRow.work_id == self._work_id, RuleRow.id > self._act)
        if session.scalar(select(exists().where(*new_rules))):
            return False
        new_readings = [ReadingRow.work_id == self._work_id, ReadingRow.id > self._act, ReadingRow.id <= act]
        if not self.requester.arbitrates:
            new_readings.append(ReadingRow.person == self.requester.person)
        query = select(DecisionRow.flag_id, DecisionRow.state, DecisionRow.reading, DecisionRow.suggested)
        query = query.where(DecisionRow.work_id == self._work_id, DecisionRow.id > self._act, DecisionRow.id <= act)
        decided = session.execute(query.order_by(DecisionRow.id)).all()
        newly_read = select(ReadingRow.flag_id).where(*new_readings)
        read = set(session.scalars(newly_read))
        if not self.at.keys() >= read | {row.flag_id for row in decided}:
            return False
        if self.requester.arbitrates and read:
            differ = differing(session, FlagRow.id.in_(newly_read))
            for number in read:
                self._differ[self.at[number]] = number in differ
        for number, state, reading, suggested in decided:
            self.state[self.at[number]] = STATES.index(State(state))
            self._corrected_otherwise[self.at[number]] = corrected_otherwise(state, reading, suggested)
        of_decided = query.with_only_columns(DecisionRow.flag_id)
        for number, own in own_states(session, FlagRow.id.in_(newly_read) | FlagRow.id.in_(of_decided)).items():
            self.state[self.at[number]] = STATES.index(own.state)
        self._act = act
        return True

    def _flags_of_rules(self, session: Session, work_id: int) -> Mask:
        """Which flags are of the pair of a rule, which hides them as long as they are open. A rule that was set when
        only seeded errors had its pair is about these alone."""
        rules = {self.pair_of[pair]: rule for pair, rule in rules_of(session, work_id).items() if pair in self.pair_of}
        of_rules = np.isin(self.pair, [pair for pair, rule in rules.items() if not rule.planted])
        seeded_of_rules = np.isin(self.pair, list(rules)) & self.seeded
        return np.asarray(of_rules | seeded_of_rules)

    def _halves(self, session: Session, work_id: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The indices of the two flags of each moved character or column: the flags with the higher scores and, in the
        same order, the others. Also sets `_corrected_otherwise` for these flags."""
        moved = FlagRow.evidence["moved"].as_string()
        query = select(
            FlagRow.id, FlagRow.page_id, FlagRow.uid, moved, FlagRow.state, FlagRow.reading, FlagRow.suggested
        )
        query = query.where(FlagRow.work_id == work_id, FlagRow.stale.is_(False), moved.is_not(None))
        query = query.where(FlagRow.kind.in_([kind.value for kind in IN_HALVES]))
        rows = [row for row in session.execute(query) if row[0] in self.at]
        index_of = {(page, uid): self.at[number] for number, page, uid, *_ in rows}
        leading, following = [], []
        for number, page, _, other_uid, state, reading, suggested in rows:
            index, other = self.at[number], index_of.get((page, other_uid))
            self._corrected_otherwise[index] = corrected_otherwise(state, reading, suggested)
            if other is not None and self.rank[index] < self.rank[other]:
                leading.append(index)
                following.append(other)
        return np.array(leading, dtype=np.int64), np.array(following, dtype=np.int64)

    @property
    def _is_one_question(self) -> Mask:
        """Which moved characters are one question, since both halves have the same decision."""
        leading, following, otherwise = self._leading, self._following, self._corrected_otherwise
        same = self.state[leading] == self.state[following]
        return np.asarray(same & ~otherwise[leading] & ~otherwise[following])

    def questions(self, mask: Mask) -> Mask:
        """The flags of `mask`; where two halves of a moved character are one question, without the half that has the
        lower score."""
        questions = mask.copy()
        questions[self._following[self._is_one_question & mask[self._leading]]] = False
        return questions

    def other_half(self, number: int) -> int | None:
        """The number of the flag of the other half of a moved character; None if there is none, or if each half is a
        question of its own."""
        index, is_one = self.at.get(number, -1), self._is_one_question
        for halves, others in ((self._leading, self._following), (self._following, self._leading)):
            for other in others[(halves == index) & is_one].tolist():
                return int(self.number[other])
        return None

    def chosen(self, queue_filter: QueueFilter) -> Mask:
        """Which flags pass all filters."""
        mask = np.logical_and.reduce(list(self.masks(queue_filter).values()))
        return mask if queue_filter.halves else self.questions(mask)

    def is_in(self, states: Iterable[State]) -> Mask:
        """Which flags are in one of these states. Uses a lookup table, since `numpy.isin` fails if another thread
        changes a state meanwhile."""
        table = np.zeros(len(STATES), dtype=np.bool_)
        table[[STATES.index(state) for state in states]] = True
        return np.asarray(table[self.state])

    @property
    def present(self) -> Mask:
        """Which flags are present: all but corrections by hand that were taken back."""
        return np.asarray(~self.by_hand | self._differ | (self.state != STATES.index(State.OPEN)))

    @property
    def raised(self) -> Mask:
        """Which flags are shown to the proofreader by default, one for each question."""
        return self.questions(np.asarray(self._shown & self.present))

    @property
    def flagged(self) -> Mask:
        """Which flags are raised for the readers, one for each question; to all but an arbiter that is `raised`."""
        return self.questions(np.asarray(self._for_readers & self.present))

    @property
    def _shown(self) -> Mask:
        """Which flags are raised for the asking person; for an arbiter, only those of the readers' that are decided or
        on which readers differ."""
        is_decided = self.state != STATES.index(State.OPEN)
        shown = self._for_readers
        return np.asarray(shown & (self._differ | is_decided) if self.requester.arbitrates else shown)

    @property
    def _for_readers(self) -> Mask:
        """Which flags are samples, or raised and not hidden by a rule, which hides open flags alone."""
        is_decided = self.state != STATES.index(State.OPEN)
        return np.asarray(self._raised & (is_decided | ~self._of_rules))

    def masks(self, queue_filter: QueueFilter) -> dict[str, Mask]:
        """Which flags each filter lets through, by the name of the filter."""
        filters = ("present", "raised", "kinds", "states", "pair", "juan", "pages", "scores")
        masks = dict.fromkeys(filters, self.present)
        if queue_filter.raised is not None:
            masks["raised"] = self._shown == queue_filter.raised
        if queue_filter.kinds:
            masks["kinds"] = np.isin(self.kind, [KINDS.index(kind) for kind in queue_filter.kinds])
        if queue_filter.states:
            masks["states"] = self.is_in(queue_filter.states)
        if queue_filter.pair is not None:
            masks["pair"] = self.pair == self.pair_of.get(queue_filter.pair, -1)
        if queue_filter.juan is not None:
            masks["juan"] = self.juan == (
                self.juans.index(queue_filter.juan) if queue_filter.juan in self.juans else -1
            )
        if queue_filter.first_page is not None or queue_filter.last_page is not None:
            first, last = queue_filter.first_page or 0, queue_filter.last_page or np.iinfo(np.int32).max
            masks["pages"] = (self.position >= first) & (self.position <= last)
        if queue_filter.least_score is not None or queue_filter.most_score is not None:
            least = -np.inf if queue_filter.least_score is None else queue_filter.least_score
            most = np.inf if queue_filter.most_score is None else queue_filter.most_score
            masks["scores"] = (self.score >= least) & (self.score <= most)
        return masks


def _flag_rows(session: Session, work_id: int) -> Iterable[Any]:
    """The flags of a work that are not stale, as rows with the columns that `FlagArrays` needs, in that order."""
    place = (FlagRow.id, FlagRow.page_id, FlagRow.line, FlagRow.offset)
    finding = (FlagRow.score, FlagRow.kind, FlagRow.state, FlagRow.raised, FlagRow.transcribed, FlagRow.suggested)
    query = select(*place, *finding, FlagRow.origin)
    return session.execute(query.where(FlagRow.work_id == work_id, FlagRow.stale.is_(False)))


def corrected_otherwise(state: str, reading: str, suggested: str) -> bool:
    """Whether a flag was corrected to another reading than the suggested one."""
    return state == State.CORRECTED.value and reading != suggested
