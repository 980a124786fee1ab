"""The apparatus of a text: the readings of its witnesses, from which each witness can be reconstructed completely.

It follows parallel segmentation (TEI P5 chapter 12). An `ApparatusPlace` is a part of the base that is corrected or
where a witness has another reading, with the reading of every witness. Everywhere else a witness has the text of the
base. A witness may lack parts or have them in another order: a `Milestone` says with which of its own characters the
witness continues, or that it has no text until its next milestone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter

from proof.collation.blocks import gaps
from proof.collation.classes import RANK, Class
from proof.collation.collation import Collation
from proof.collation.gap_alignment import Op
from proof.collation.seeds import Span
from proof.exports.corrections import PlacedCorrection
from proof.text.layers import WitnessCell
from proof.text.transcription import Transcription

AGREES = "same"
"""The class of a corrected place where no witness differs from the base."""


@dataclass(frozen=True, slots=True)
class ApparatusPlace:
    """The place from code point `start` to `end` of the base's file; if these are equal, the gap before `start`.

    `base` is the text of the base there, without markup. `readings` are the numbers of the witnesses that have this
    part, each with its reading. `category` is the collation's class of the difference: how the readings differ, not
    which of them is wrong. `placed` is the correction, if there is one."""

    start: int
    end: int
    base: str
    readings: tuple[tuple[int, str], ...]
    category: str
    placed: PlacedCorrection | None = None


@dataclass(frozen=True, slots=True)
class Milestone:
    """From code point `start` of the base's file on, the witness with the number `witness` (from 0) continues with its
    character `number` (from 1; 0: it lacks the text that follows). `moved`: the witness has this part at another place
    in its order."""

    start: int
    witness: int
    number: int
    moved: bool = False


def apparatus(
    edition: Transcription, placed: Sequence[PlacedCorrection], collations: Sequence[Collation]
) -> list[ApparatusPlace | Milestone]:
    """The apparatus of an edition: its corrections, and the readings of the witnesses that were collated with it, in
    the order of the base; a milestone that applies to a place comes before it."""
    cells = [cell for stretch in edition.stretches() for cell in stretch.cells(lacunae=True)]
    cells.sort(key=lambda cell: cell.start)
    builder = _Builder(cells, [_AlignedWitness.of(collation, cells) for collation in collations])
    builder.write(sorted(placed, key=attrgetter("edit.place")))
    return builder.items


@dataclass(slots=True)
class _AlignedWitness:
    """A witness aligned with the base.

    For each character of the base, by its index, `aligned` has the witness's characters in its place, and `insertions`
    those in the gap before it. `classes` has the class of the difference at each character of the base and at each gap
    (an empty span); of several classes, that with the highest rank. `moved` are the characters of the witness at which
    moved passages begin.

    While `_Builder` goes through the base, `expected` is the next character of the witness, and `present` says whether
    the witness has this part."""

    texts: Sequence[str]
    aligned: dict[int, Span]
    insertions: dict[int, list[Span]]
    classes: dict[Span, Class]
    moved: frozenset[int]
    expected: int = 0
    present: bool = False

    @classmethod
    def of(cls, collation: Collation, cells: Sequence[WitnessCell]) -> _AlignedWitness:
        starts = [cell.start for cell in cells]
        number_of = [bisect_left(starts, start) for start in collation.base.starts]
        count = len(collation.witness)
        aligned = _aligned_characters(collation, number_of)
        base_of = {b: a for a, span in aligned.items() for b in range(*span)}
        insertions: dict[int, list[Span]] = defaultdict(list)
        for begin, end in gaps([(b, b + 1) for b in base_of], count):
            gap = base_of[begin - 1] + 1 if begin else 0
            insertions[gap].append((begin, end))
        classes: dict[Span, Class] = {}
        for difference in sorted(collation.differences, key=lambda difference: RANK.index(difference.category)):
            if difference.category is Class.MOVED:
                continue
            for a in range(difference.a0, difference.a1):
                classes[number_of[a], number_of[a] + 1] = difference.category
            gap = number_of[difference.a0] if difference.a0 < len(number_of) else len(cells)
            if difference.a0 == difference.a1:
                classes[gap, gap] = difference.category
            classes.setdefault((gap, gap), difference.category)
        moved = frozenset(difference.b0 for difference in collation.of(Class.MOVED))
        return cls(collation.witness.texts(0, count), aligned, insertions, classes, moved)

    def text(self, spans: Iterable[Span]) -> str:
        return "".join("".join(self.texts[begin:end]) for begin, end in spans)


def _aligned_characters(collation: Collation, number_of: Sequence[int]) -> dict[int, Span]:
    """The witness's characters for each character of the base, which `number_of` gives for those that were collated.
    Of a passage that the base has twice and the witness once, the longest block counts."""
    taken = bytearray(len(collation.witness))
    aligned: dict[int, Span] = {}
    whole = _whole_readings(collation)
    for block in sorted(collation.blocks, key=lambda block: block.a0 - block.a1):
        if 2 * sum(taken[block.b0 : block.b1]) > block.b1 - block.b0:
            continue
        for op in block.ops:
            for a, (begin, end) in _aligned(op, whole):
                if number_of[a] not in aligned and not any(taken[begin:end]):
                    aligned[number_of[a]] = (begin, end)
                    taken[begin:end] = bytes([1]) * (end - begin)
    return aligned


def _whole_readings(collation: Collation) -> dict[int, Span]:
    """The alignment where several characters of the base or of the witness are one reading: the first of the base's
    characters has the whole reading of the witness, the others have empty spans."""
    whole: dict[int, Span] = {}
    for difference in collation.differences:
        if difference.category is not Class.MOVED and difference.a1 > difference.a0 and difference.size > 1:
            whole[difference.a0] = (difference.b0, difference.b1)
            for a in range(difference.a0 + 1, difference.a1):
                whole[a] = (difference.b1, difference.b1)
    return whole


def _aligned(op: Op, whole: Mapping[int, Span]) -> Iterable[tuple[int, Span]]:
    """Each character of the base in an operation, with those of the witness. `whole` are the `_whole_readings`."""
    for a in range(op.a0, op.a1):
        b = min(op.b0 + a - op.a0, op.b1)
        yield a, whole.get(a, (b, min(b + 1, op.b1)))


@dataclass(slots=True)
class _Builder:
    """Goes through the base and lists its places and milestones. `at` is always the index of a character of the base,
    `number` that of a witness."""

    cells: Sequence[WitnessCell]
    witnesses: list[_AlignedWitness]
    items: list[ApparatusPlace | Milestone] = field(default_factory=list)

    def write(self, placed: Sequence[PlacedCorrection]) -> None:
        """List the whole apparatus, with these corrections (in the order of their places)."""
        waiting = list(placed)
        at = 0
        while at < len(self.cells) or waiting:
            start = self.cells[at].start if at < len(self.cells) else None
            if waiting and (start is None or waiting[0].edit.start < self.cells[at].end):
                at = self._add_correction(waiting.pop(0), at)
                continue
            self._add_insertions(at)
            at = self._add_uncorrected(at, waiting[0].edit.start if waiting else None)
        self._add_insertions(len(self.cells))

    def _add_correction(self, placed: PlacedCorrection, at: int) -> int:
        """Add the place of a correction; returns the index of the base's next character."""
        edit = placed.edit
        end = at
        while end < len(self.cells) and self.cells[end].start < edit.end:
            end += 1
        inserting = end == at  # insertions of witnesses in this gap are readings of the correction
        if not inserting:
            self._add_insertions(at)
        readings: dict[int, list[Span]] = {}
        for number, witness in enumerate(self.witnesses):
            spans = witness.insertions.pop(at, []) if inserting else []
            for cell in range(at, end):
                if cell > at:
                    spans += witness.insertions.pop(cell, [])
                if cell in witness.aligned:
                    spans.append(witness.aligned[cell])
            if spans:
                self._read_spans(number, edit.start, spans)
            elif not inserting:
                self._begin_lacuna(number, edit.start)
            if witness.present:
                readings[number] = spans
        self._add_place(edit.start, edit.end, at, readings, placed)
        return end

    def _read_spans(self, number: int, start: int, spans: Sequence[Span]) -> None:
        """Let a witness read `spans` at one place of the base, and expect the character after them next."""
        witness = self.witnesses[number]
        parts = [span for span in spans if span[0] < span[1]] or spans
        self._continue_at(number, start, parts[0])
        if any(before[1] != after[0] for before, after in pairwise(parts)):
            # the parts are one reading, whatever the witness has between them: a milestone must follow
            witness.expected = -1
        elif parts[-1][0] < parts[-1][1]:
            witness.expected = parts[-1][1]

    def _add_insertions(self, at: int) -> None:
        """Add a place for each insertion of witnesses before the base's character `at`."""
        start = self.cells[at - 1].end if at else self.cells[0].start
        while any(witness.insertions.get(at) for witness in self.witnesses):
            readings: dict[int, list[Span]] = {}
            for number, witness in enumerate(self.witnesses):
                inserted = [witness.insertions[at].pop(0)] if witness.insertions.get(at) else []
                if inserted:
                    self._continue_at(number, start, inserted[0])
                if witness.present:
                    readings[number] = inserted
            self._add_place(start, start, at, readings, None)

    def _add_uncorrected(self, at: int, limit: int | None) -> int:
        """Skip a character of the base on which all witnesses agree, or add one place for it and the following
        characters that differ in the same classes. The place ends before `limit`, where a correction begins. Returns
        the index of the next character."""
        start = self.cells[at].start
        classes = self._differing_classes(at)
        end = at
        readings: dict[int, list[Span]] = defaultdict(list)
        while True:
            for number, witness in enumerate(self.witnesses):
                span = witness.aligned.get(end)
                if span is None:
                    self._begin_lacuna(number, start)
                else:
                    self._continue_at(number, start, span)
                    readings[number].append(span)
            end += 1
            if not classes or not self._belongs_to_place(end, classes, limit):
                break
        if classes:
            self._add_place(start, self.cells[end - 1].end, at, readings, None)
        return end

    def _belongs_to_place(self, at: int, classes: tuple[str, ...], limit: int | None) -> bool:
        """Whether the base's character `at` belongs to the place of the character before it."""
        if at >= len(self.cells) or self._differing_classes(at) != classes:
            return False
        before, cell = self.cells[at - 1], self.cells[at]
        if cell.start != before.end or (limit is not None and limit < cell.end):
            return False
        return all(self._continues_unbroken(witness, at) for witness in self.witnesses)

    def _continues_unbroken(self, witness: _AlignedWitness, at: int) -> bool:
        """Whether a witness goes on at the base's character `at` without a milestone and without an insertion."""
        if witness.insertions.get(at):
            return False
        if at not in witness.aligned:
            return not witness.present
        return witness.present and witness.aligned[at][0] == witness.expected

    def _differing_classes(self, at: int) -> tuple[str, ...]:
        """The class of each witness's difference from the base at a character; empty if all witnesses that have it
        agree."""
        categories: list[str] = []
        for witness in self.witnesses:
            if at not in witness.aligned or witness.text([witness.aligned[at]]) == self.cells[at].text:
                categories.append(AGREES)
            else:
                categories.append(witness.classes.get((at, at + 1), "other"))
        return tuple(categories) if any(category != AGREES for category in categories) else ()

    def _continue_at(self, number: int, start: int, span: Span) -> None:
        """Let a witness read `span`. Add a milestone if another character was expected."""
        witness = self.witnesses[number]
        if span[0] == span[1] and witness.present:
            return  # the witness lacks this character, wherever it continues
        if not witness.present or span[0] != witness.expected:
            self.items.append(Milestone(start, number, span[0] + 1, moved=span[0] in witness.moved))
        witness.present, witness.expected = True, span[1]

    def _begin_lacuna(self, number: int, start: int) -> None:
        """Note that a witness lacks the text from here on. Add a milestone if it had the text before."""
        witness = self.witnesses[number]
        if witness.present:
            self.items.append(Milestone(start, number, 0))
            witness.present = False

    def _add_place(
        self, start: int, end: int, at: int, readings: Mapping[int, list[Span]], placed: PlacedCorrection | None
    ) -> None:
        """Add a place; `readings` are the spans that each witness reads there, by the numbers of the witnesses."""
        after = bisect_left(self.cells, end, at, key=lambda cell: cell.start)
        texts = tuple((number, self.witnesses[number].text(spans)) for number, spans in readings.items())
        base = "".join(cell.text for cell in self.cells[at:after])
        base_spans = [(number, number + 1) for number in range(at, after)] or [(at, at)]
        categories = [
            self.witnesses[number].classes[span]
            for number in readings
            for span in base_spans
            if span in self.witnesses[number].classes
        ]
        if categories:
            category = max(categories, key=RANK.index).value
        elif placed:
            category = AGREES
        else:
            category = "passage" if start == end else "equivalent"
        self.items.append(ApparatusPlace(start, end, base, texts, category, placed))
