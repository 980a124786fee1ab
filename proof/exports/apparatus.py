"""The text beside its witnesses, character by character, so that each of them can be put together again from it.

Parallel segmentation, after TEI P5 chapter 12: a *place* is a part of the base at which some witness reads otherwise,
or which is corrected, with what every witness reads there. Everywhere else a witness reads what the base has, as long
as it is there: a *turn* says from where on that is so, and with which of its own characters it goes on, since a
witness can lack parts, have others, and have them in another order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter

from proof.collation.blocks import Op, gaps
from proof.collation.classes import RANK, Class
from proof.collation.collation import Collation
from proof.collation.seeds import Span
from proof.exports.corrections import PlacedCorrection
from proof.text.layers import WitnessCell
from proof.text.transcription import Transcription

AGREES = "same"
"""The class of a place at which no witness differs from the base: it is there for the correction alone."""


@dataclass(frozen=True, slots=True)
class ApparatusPlace:
    """The place from code point `start` to `end` of the base's file; where these are equal, the gap before `start`.

    `base` is what the base has there, without markup. `readings` are the numbers of the witnesses that are there, each
    with what it reads. `category` is the class of the difference, as collation has it: how the readings differ, not
    which of them is wrong. `placed` is the correction, if there is one."""

    start: int
    end: int
    base: str
    readings: tuple[tuple[int, str], ...]
    category: str
    placed: PlacedCorrection | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """At code point `start` of the base's file, the witness numbered `witness` (from 0) goes on with its character
    `number` (from 1; 0: it lacks what follows); `moved` says that the witness has this part elsewhere in its order."""

    start: int
    witness: int
    number: int
    moved: bool = False


def apparatus(
    edition: Transcription, placed: Sequence[PlacedCorrection], collations: Sequence[Collation]
) -> list[ApparatusPlace | Turn]:
    """The apparatus of an edition: its corrections, and the readings of the witnesses that were collated with it, in
    the order of the base; a turn that applies to a place comes before it."""
    cells = [cell for stretch in edition.stretches() for cell in stretch.cells()]
    cells.sort(key=lambda cell: cell.start)
    walk = _Walk(cells, [_Answers.of(collation, cells) for collation in collations])
    walk.write(sorted(placed, key=attrgetter("edit.place")))
    return walk.items


@dataclass(slots=True)
class _Answers:
    """A witness beside the base. `at` are its characters that answer each character of the base, `before` those that
    stand in the gap before one, by the number of the base's character; `classes` are those of the differences at each
    character of the base, and at each gap (an empty span), the heaviest where there are several. While the base is
    walked through, `expected` is the character with which the witness goes on, and `there` whether it has the part of
    the base that is reached."""

    texts: Sequence[str]
    at: dict[int, Span]
    before: dict[int, list[Span]]
    classes: dict[Span, Class]
    moved: frozenset[int]
    expected: int = 0
    there: bool = False

    @classmethod
    def of(cls, collation: Collation, cells: Sequence[WitnessCell]) -> _Answers:
        starts = [cell.start for cell in cells]
        number_of = [bisect_left(starts, start) for start in collation.base.starts]
        count = len(collation.witness)
        taken = bytearray(count)
        at: dict[int, Span] = {}
        answered: dict[int, int] = {}  # the base's character that each character of the witness answers
        whole = _whole_readings(collation)
        for block in sorted(collation.blocks, key=lambda block: block.a0 - block.a1):
            if 2 * sum(taken[block.b0 : block.b1]) > block.b1 - block.b0:
                continue  # a passage that the base has twice and the witness once is where it fits best
            for op in block.ops:
                for a, span in _answered(op, whole):
                    if number_of[a] not in at and not any(taken[span[0] : span[1]]):
                        at[number_of[a]] = span
                        for b in range(*span):
                            taken[b], answered[b] = 1, number_of[a]
        before: dict[int, list[Span]] = defaultdict(list)
        for begin, end in gaps([(b, b + 1) for b in answered], count):
            before[answered[begin - 1] + 1 if begin else 0].append((begin, end))
        classes: dict[Span, Class] = {}
        for difference in sorted(collation.differences, key=lambda difference: RANK.index(difference.category)):
            if difference.category is not Class.MOVED:
                numbers = [number_of[a] for a in range(difference.a0, difference.a1)]
                gap = number_of[difference.a0] if difference.a0 < len(number_of) else len(cells)
                classes |= dict.fromkeys([(at, at + 1) for at in numbers] or [(gap, gap)], difference.category)
                classes.setdefault((gap, gap), difference.category)
        moved = frozenset(difference.b0 for difference in collation.of(Class.MOVED))
        return cls(collation.witness.texts(0, count), at, before, classes, moved)

    def text(self, spans: Iterable[Span]) -> str:
        return "".join("".join(self.texts[begin:end]) for begin, end in spans)


def _whole_readings(collation: Collation) -> dict[int, Span]:
    """Where several characters of the base or of the witness are one reading: the whole reading of the witness answers
    the first of the base's characters, and nothing answers the others."""
    answers: dict[int, Span] = {}
    for difference in collation.differences:
        if difference.category is not Class.MOVED and difference.a1 > difference.a0 and difference.size > 1:
            answers |= {
                at: (difference.b0 if at == difference.a0 else difference.b1, difference.b1)
                for at in range(difference.a0, difference.a1)
            }
    return answers


def _answered(op: Op, whole: Mapping[int, Span]) -> Iterable[tuple[int, Span]]:
    """Each character of the base in an operation, with what answers it; `whole` is what `_whole_readings` gives."""
    for k in range(op.a1 - op.a0):
        b = min(op.b0 + k, op.b1)
        yield op.a0 + k, whole.get(op.a0 + k, (b, min(b + 1, op.b1)))


@dataclass(slots=True)
class _Walk:
    """Goes through the base and writes down places and turns."""

    cells: Sequence[WitnessCell]
    witnesses: list[_Answers]
    items: list[ApparatusPlace | Turn] = field(default_factory=list)

    def write(self, placed: Sequence[PlacedCorrection]) -> None:
        waiting = list(placed)
        at = 0
        while at < len(self.cells) or waiting:
            start = self.cells[at].start if at < len(self.cells) else None
            if waiting and (start is None or waiting[0].edit.start < self.cells[at].end):
                at = self._corrected(waiting.pop(0), at)
                continue
            self._inserted(at)
            at = self._plain(at, waiting[0].edit.start if waiting else None)
        self._inserted(len(self.cells))

    def _corrected(self, placed: PlacedCorrection, at: int) -> int:
        """Write the place of a correction; gives the number of the base's character that comes next."""
        edit = placed.edit
        end = at
        while end < len(self.cells) and self.cells[end].start < edit.end:
            end += 1
        inserting = end == at  # what witnesses have in the gap answers what is inserted there
        if not inserting:
            self._inserted(at)
        spans: dict[int, list[Span]] = {}
        for number, witness in enumerate(self.witnesses):
            answers = witness.before.pop(at, []) if inserting else []
            for cell in range(at, end):
                answers += witness.before.pop(cell, []) if cell > at else []
                answers += [witness.at[cell]] if cell in witness.at else []
            if answers:
                parts = [span for span in answers if span[0] < span[1]] or answers
                self._turn(number, edit.start, parts[0])
                if any(before[1] != after[0] for before, after in pairwise(parts)):
                    witness.expected = -1  # its parts are one reading here, whatever lies between: a turn must follow
                else:
                    witness.expected = parts[-1][1] if parts[-1][0] < parts[-1][1] else witness.expected
            elif not inserting:
                self._leave(number, edit.start)
            if witness.there:
                spans[number] = answers
        self._place(edit.start, edit.end, at, spans, placed)
        return end

    def _inserted(self, at: int) -> None:
        """Write the places of what witnesses have in the gap before the base's character `at`, one after the other."""
        start = self.cells[at - 1].end if at else self.cells[0].start
        while any(witness.before.get(at) for witness in self.witnesses):
            spans: dict[int, list[Span]] = {}
            for number, witness in enumerate(self.witnesses):
                inserted = [witness.before[at].pop(0)] if witness.before.get(at) else []
                if inserted:
                    self._turn(number, start, inserted[0])
                if witness.there:
                    spans[number] = inserted
            self._place(start, start, at, spans, None)

    def _plain(self, at: int, limit: int | None) -> int:
        """Write a character of the base, or the place of several neighbours that differ alike; gives the number of the
        character that comes next. The place ends before `limit`, where a correction begins."""
        start = self.cells[at].start
        classes = self._differing(at)
        end = at
        spans: dict[int, list[Span]] = defaultdict(list)
        while True:
            for number, witness in enumerate(self.witnesses):
                span = witness.at.get(end)
                if span is None:
                    self._leave(number, start)
                else:
                    self._turn(number, start, span)
                    spans[number].append(span)
            end += 1
            if not classes or not self._joins(end, classes, limit):
                break
        if classes:
            self._place(start, self.cells[end - 1].end, at, dict(spans), None)
        return end

    def _joins(self, at: int, classes: tuple[str, ...], limit: int | None) -> bool:
        """Whether the base's character `at` belongs to the place of the character before it."""
        if at >= len(self.cells) or self._differing(at) != classes:
            return False
        before, cell = self.cells[at - 1], self.cells[at]
        if cell.start != before.end or (limit is not None and limit < cell.end):
            return False
        return all(
            not witness.before.get(at)
            and (at in witness.at) == witness.there
            and (at not in witness.at or witness.at[at][0] == witness.expected)
            for witness in self.witnesses
        )

    def _differing(self, at: int) -> tuple[str, ...]:
        """The class of each witness's difference from the base at a character; empty where all that are there agree."""
        cell = self.cells[at]
        categories = tuple(
            AGREES
            if at not in witness.at or witness.text([witness.at[at]]) == cell.text
            else witness.classes.get((at, at + 1), "other")
            for witness in self.witnesses
        )
        return categories if any(category != AGREES for category in categories) else ()

    def _turn(self, number: int, start: int, span: Span) -> None:
        """Write a turn where a witness goes on with `span` and was not expected to."""
        witness = self.witnesses[number]
        if span[0] == span[1] and witness.there:
            return  # it lacks the character, wherever it goes on
        if not witness.there or span[0] != witness.expected:
            self.items.append(Turn(start, number, span[0] + 1, moved=span[0] in witness.moved))
        witness.there, witness.expected = True, span[1]

    def _leave(self, number: int, start: int) -> None:
        """Write a turn where a witness begins to lack what the base has."""
        witness = self.witnesses[number]
        if witness.there:
            self.items.append(Turn(start, number, 0))
            witness.there = False

    def _place(
        self, start: int, end: int, at: int, spans: dict[int, list[Span]], placed: PlacedCorrection | None
    ) -> None:
        readings = tuple((number, self.witnesses[number].text(answers)) for number, answers in spans.items())
        last = bisect_left(self.cells, end, at, key=lambda cell: cell.start)
        characters = [(number, number + 1) for number in range(at, last)] or [(at, at)]
        classes = (self.witnesses[number].classes for number in spans)
        categories = [of_witness[span] for of_witness in classes for span in characters if span in of_witness]
        if categories:
            category = max(categories, key=RANK.index).value
        else:
            category = AGREES if placed else "passage" if start == end else "equivalent"
        base = "".join(cell.text for cell in self.cells[at:last])
        self.items.append(ApparatusPlace(start, end, base, readings, category, placed))
