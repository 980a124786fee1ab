"""The differences of two aligned witnesses, place by place, with their classes."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

import numpy as np

from proof.collation.apparatus import ApparatusNote
from proof.collation.blocks import AlignedPart, gaps, moved
from proof.collation.classes import (
    LACUNA,
    NO_CODE_POINT,
    Class,
    DifferenceClassifier,
    goes_on_as_label,
    is_borrowing,
    is_label,
)
from proof.collation.gap_alignment import Op
from proof.collation.tokens import Indices, WitnessTokens
from proof.model.flags import Kind
from proof.text.layers import Layer
from proof.text.transcription import Transcription

MOVED = "moved"
"""The rule of differences in words that both texts have at different places."""

MIN_PASSAGE_CHARACTERS = 9
"""Minimum length of a passage that only one text has; shorter differences are single readings or errors."""

MIN_SYSTEMATIC_PLACES = 3
"""Minimum number of places of a systematic pair: two places may be the same error made twice."""

MAX_PHRASE_CHARACTERS = 4
"""Maximum length of a phrase that is another reading of a phrase; longer different stretches are not parallel."""

MIN_ONE_TEXT_SHARE = 0.75
"""Minimum share of equal characters of two parts that are the same text; with fewer they are only parallel."""

ONE_TEXT_REACH_CHARACTERS = 30
"""Number of characters on either side of a difference among which that share is counted."""

WORD_CLASSES = frozenset({Class.ERROR, Class.READING})
"""Classes of differences in the words, not only in how they are written or set."""

RECURRING_CLASSES = WORD_CLASSES | {Class.UNENCODED}
"""Classes of differences that may be systematic."""


class Side(StrEnum):
    """One of the two texts of a collation."""

    BASE = "base"
    WITNESS = "witness"


class Ranges(NamedTuple):
    """The characters from `a0` to before `a1` of the base, and from `b0` to before `b1` of the witness."""

    a0: int
    a1: int
    b0: int
    b1: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between characters `a0:a1` of the base and `b0:b1` of the witness; one of the two may be empty.

    `base` and `witness` are their texts. `start` and `length` are code points of the base's file. `rule` names the
    evidence for the class; `notes` are the apparatus notes of both texts on the place.
    """

    kind: Kind
    category: Class
    rule: str
    a0: int
    a1: int
    b0: int
    b1: int
    base: str
    witness: str
    start: int
    length: int
    notes: tuple[ApparatusNote, ...] = ()

    @property
    def size(self) -> int:
        """The characters of the longer side."""
        return max(self.a1 - self.a0, self.b1 - self.b0)


@dataclass(frozen=True, slots=True)
class SystematicPair:
    """A character of one text for which the other always has the same other one: a damaged encoding, or usage.

    `side` is the text whose character is always replaced. `places` are the code points of all occurrences of `base` in
    the base's file, in every layer, compared or not; `witness_places` those of `witness` in the witness's file.
    `confirmed` is the number of places at which the two are aligned.
    """

    base: str
    witness: str
    side: Side
    places: tuple[int, ...]
    witness_places: tuple[int, ...]
    confirmed: int


def aligned_pairs(blocks: Sequence[AlignedPart], *, equal: bool = False) -> tuple[Indices, Indices]:
    """The indices of aligned characters in the first and in the second sequence, of equal length; with `equal` only
    those of equal characters."""
    ops = [
        op
        for block in blocks
        for op in block.ops
        if op.equal or (not equal and max(op.a_length, op.b_length) < MIN_PASSAGE_CHARACTERS)
    ]
    lengths = [min(op.a_length, op.b_length) for op in ops]
    return _ranges([op.a0 for op in ops], lengths), _ranges([op.b0 for op in ops], lengths)


def _ranges(starts: Sequence[int], lengths: Sequence[int]) -> Indices:
    """The concatenated ranges that begin at `starts` and have these `lengths`."""
    ends = np.cumsum(lengths, dtype=np.int64)
    before = np.repeat(ends - np.asarray(lengths, dtype=np.int64), lengths)
    return np.repeat(np.asarray(starts, dtype=np.int64), lengths) + np.arange(len(before)) - before


def aligned_in(blocks: Sequence[AlignedPart]) -> dict[int, int]:
    """The index in the second sequence of each aligned character, by its index in the first."""
    a_indices, b_indices = aligned_pairs(blocks)
    return dict(zip(a_indices.tolist(), b_indices.tolist(), strict=True))


def within_blocks(
    a: WitnessTokens, b: WitnessTokens, blocks: Iterable[AlignedPart], classifier: DifferenceClassifier
) -> Iterator[Difference]:
    """All differences within the blocks, in the order of the base."""
    for block in blocks:
        for op, is_same_text in zip(block.ops, _same_text_ops(block), strict=True):
            differences = _differences_in(a, b, op, classifier)
            yield from differences if is_same_text else map(_as_parallel, differences)


def _as_parallel(difference: Difference) -> Difference:
    return replace(difference, category=Class.PARALLEL) if difference.category in WORD_CLASSES else difference


def _same_text_ops(block: AlignedPart) -> list[bool]:
    """For each operation of a block, whether the two texts are the same text in the whole block and around the
    operation."""
    # the numbers of equal characters and of all characters before each operation
    equal, total = [0], [0]
    for op in block.ops:
        size = _size_without_passage(op)
        equal.append(equal[-1] + (size if op.equal else 0))
        total.append(total[-1] + size)
    if equal[-1] < MIN_ONE_TEXT_SHARE * total[-1]:
        return [False] * len(block.ops)
    verdicts = []
    for number in range(len(block.ops)):
        low = max(0, total[number] - ONE_TEXT_REACH_CHARACTERS)
        high = min(total[-1], total[number + 1] + ONE_TEXT_REACH_CHARACTERS)
        first, end = bisect_right(total, low) - 1, bisect_left(total, high)
        # the parts of the first and the last operation that are out of reach are not counted
        out_of_reach = (low - total[first]) * block.ops[first].equal if first < len(block.ops) else 0
        out_of_reach += (total[end] - high) * block.ops[end - 1].equal if end else 0
        verdicts.append(equal[end] - equal[first] - out_of_reach >= MIN_ONE_TEXT_SHARE * (high - low))
    return verdicts


def _size_without_passage(op: Op) -> int:
    """The number of characters of an operation, without a passage that only one text has."""
    shorter, longer = sorted((op.a_length, op.b_length))
    return longer if longer - shorter < MIN_PASSAGE_CHARACTERS else shorter


def _differences_in(
    a: WitnessTokens, b: WitnessTokens, op: Op, classifier: DifferenceClassifier
) -> Iterator[Difference]:
    """The differences of one operation. In an equal one they are characters in another form."""
    a_length, b_length = op.a_length, op.b_length
    ranges = Ranges(op.a0, op.a1, op.b0, op.b1)
    if a.is_lacuna(op.a0, op.a1) is not b.is_lacuna(op.b0, op.b1):
        yield difference_of(a, b, ranges, Class.UNENCODED, LACUNA)
        return
    if a_length and b_length and not op.equal:
        cut = _cut_at_label(a, b, op)
        if cut is not None:
            a_cut, b_cut = cut
            yield from _differences_in(a, b, Op(False, op.a0, a_cut, op.b0, b_cut), classifier)
            yield from _differences_in(a, b, Op(False, a_cut, op.a1, b_cut, op.b1), classifier)
            return
        if max(a_length, b_length) > MAX_PHRASE_CHARACTERS:
            yield difference_of(a, b, ranges, Class.UNLIKE, "")
            return
        if a_length != b_length and a.in_one_line(op.a0, op.a1) and b.in_one_line(op.b0, op.b1):
            yield difference_of(a, b, ranges, *classifier.phrase(op.a0, op.b0))
            return
    shared = min(a_length, b_length)
    a_shared, b_shared = op.a0 + shared, op.b0 + shared
    for offset in np.flatnonzero(a.codes[op.a0 : a_shared] != b.codes[op.b0 : b_shared]).tolist():
        at, to = op.a0 + offset, op.b0 + offset
        yield difference_of(a, b, Ranges(at, at + 1, to, to + 1), *classifier.pair(at, to))
    yield from _one_sided(a, b, Ranges(a_shared, op.a1, op.b1, op.b1), classifier)
    yield from _one_sided(a, b, Ranges(op.a1, op.a1, b_shared, op.b1), classifier)


def _cut_at_label(a: WitnessTokens, b: WitnessTokens, op: Op) -> tuple[int, int] | None:
    """Where to cut an operation in both texts to separate words that announce commentary in only one of them (疏曰);
    None if neither has such words."""
    is_label_in_a, is_label_in_b = is_label(a, op.a0, op.a1), is_label(b, op.b0, op.b1)
    label, end = (a, op.a1) if is_label_in_a else (b, op.b1)
    if op.a_length == op.b_length and goes_on_as_label(label, end - op.a_length, end):
        return None  # both texts have the label, one of them with another character: 鄧注 for 鄭注
    if is_label_in_a is not is_label_in_b:  # the other text has commentary, which follows the label
        return (op.a0, op.b1) if is_label_in_a else (op.a1, op.b0)
    more_in_a, more_in_b = max(op.a_length - op.b_length, 0), max(op.b_length - op.a_length, 0)
    if is_label(a, op.a0, op.a0 + more_in_a) or is_label(b, op.b0, op.b0 + more_in_b):
        return op.a0 + more_in_a, op.b0 + more_in_b
    if is_label(a, op.a1 - more_in_a, op.a1) or is_label(b, op.b1 - more_in_b, op.b1):
        return op.a1 - more_in_a, op.b1 - more_in_b
    return None


def _one_sided(
    a: WitnessTokens, b: WitnessTokens, span: Ranges, classifier: DifferenceClassifier
) -> Iterator[Difference]:
    """The differences in characters that only one text has; the range of `span` in the other is empty."""
    a0, a1, b0, b1 = span
    in_base = a1 > a0
    tokens, first, end = (a, a0, a1) if in_base else (b, b0, b1)
    gap = b0 if in_base else a0
    for part in _addressable_parts(tokens, first, end):
        ranges = Ranges(part.start, part.end, b0, b1) if in_base else Ranges(a0, a1, part.start, part.end)
        verdict = (Class.PASSAGE, "") if part.is_passage else classifier.one_sided(tokens, part.start, part.end, gap)
        yield difference_of(a, b, ranges, *verdict)


def between_blocks(a: WitnessTokens, b: WitnessTokens, blocks: Sequence[AlignedPart]) -> list[Difference]:
    """The differences outside the blocks: passages that only one text has, and stretches between the same two blocks
    that are not parallel. Empty if there are no blocks."""
    if not blocks:
        return []
    gaps_in_a = gaps([(block.a0, block.a1) for block in blocks], len(a))
    gaps_in_b = gaps([(block.b0, block.b1) for block in blocks], len(b))
    a_end_of = {block.b1: block.a1 for block in blocks} | {0: 0}
    b_end_of = {block.a1: block.b1 for block in blocks} | {0: 0}
    b_start_of = {block.a0: block.b0 for block in blocks} | {len(a): len(b)}
    differences = []
    for b0, b1 in gaps_in_b:
        a0 = a_end_of[b0]
        facing = next((gap for gap in gaps_in_a if gap[0] == a0 and b_start_of.get(gap[1]) == b1), None)
        if facing is None:
            differences.append(difference_of(a, b, Ranges(a0, a0, b0, b1), Class.PASSAGE, ""))
        else:
            gaps_in_a.remove(facing)
            differences.append(difference_of(a, b, Ranges(*facing, b0, b1), Class.UNLIKE, ""))
    for a0, a1 in gaps_in_a:
        differences.append(difference_of(a, b, Ranges(a0, a1, b_end_of[a0], b_end_of[a0]), Class.PASSAGE, ""))
    return differences


def moved_blocks(a: WitnessTokens, b: WitnessTokens, blocks: Sequence[AlignedPart]) -> Iterator[Difference]:
    """The blocks that have another order in the witness, each as one difference."""
    for block in moved(a.keys, b.keys, blocks):
        difference = difference_of(a, b, Ranges(block.a0, block.a1, block.b0, block.b1), Class.MOVED, MOVED)
        yield replace(difference, kind=Kind.TRANSPOSITION)


class _Part(NamedTuple):
    """Characters `start` to `end` of a text that has them alone."""

    start: int
    end: int
    is_passage: bool


def _addressable_parts(tokens: WitnessTokens, start: int, end: int) -> Iterator[_Part]:
    """Characters that only one text has, divided into parts that can be a finding. Headings are parts of their own. A
    part that is no passage ends with its column or paragraph, since a finding has one address."""
    for is_heading, group in groupby(range(start, end), key=lambda at: tokens.layers[at] is Layer.HEADING):
        numbers = list(group)
        if not is_heading and len(numbers) >= MIN_PASSAGE_CHARACTERS:
            yield _Part(numbers[0], numbers[-1] + 1, True)
            continue
        for _, line in groupby(numbers, key=lambda at: tokens.blocks[at]):
            in_line = list(line)
            yield _Part(in_line[0], in_line[-1] + 1, False)


def difference_of(a: WitnessTokens, b: WitnessTokens, span: Ranges, category: Class, rule: str) -> Difference:
    """The difference between the characters `span` of the base and of the witness."""
    a0, a1, b0, b1 = span
    base, witness = a.text(a0, a1), b.text(b0, b1)
    start, length = (a.starts[a0], a.ends[a1 - 1] - a.starts[a0]) if a1 > a0 else (_gap_start(a, a0), 0)
    kind = _kind_of(base, witness, category, rule)
    return Difference(kind, category, rule, a0, a1, b0, b1, base, witness, start, length)


def _kind_of(base: str, witness: str, category: Class, rule: str) -> Kind:
    if category in (Class.SCRIPT, Class.TABOO) or (category is Class.ORTHOGRAPHY and not is_borrowing(rule)):
        return Kind.VARIANT
    if rule == NO_CODE_POINT and base[:1] != witness[:1]:
        # an entity may be a form of the character that the other text has; two entities are two characters
        return Kind.VARIANT
    if base and witness:
        return Kind.SUBSTITUTION
    return Kind.INSERTION if base else Kind.OMISSION


def _gap_start(a: WitnessTokens, at: int) -> int:
    """The code point of the base's file for an insertion before character `at`: an empty column between it and the
    character before, or else right after the latter."""
    if not len(a):
        return 0
    if at == 0:
        return a.starts[0]
    block_before = a.blocks[at - 1]
    block_after = a.blocks[at] if at < len(a) else len(a.edition.blocks)
    for block in a.edition.blocks[block_before + 1 : block_after]:
        if block.start == block.end:
            return block.start
    is_same_stretch = at < len(a) and block_before == block_after and a.layers[at - 1] is a.layers[at]
    return a.starts[at] if is_same_stretch else a.ends[at - 1]


Pair = tuple[str, str]
"""A character of the base and one of the witness."""


def systematic(
    a: WitnessTokens, b: WitnessTokens, blocks: Iterable[AlignedPart], differences: list[Difference]
) -> tuple[list[Difference], list[SystematicPair]]:
    """The differences, those of systematic pairs with the class `SYSTEMATIC`, and these pairs, most frequent first."""
    counts = _pair_counts(a, b, blocks)
    replaced_sides = _replaced_sides(counts, differences)
    a_places = _places_by_character(a.edition, {base for base, _ in replaced_sides})
    b_places = _places_by_character(b.edition, {witness for _, witness in replaced_sides})
    pairs: dict[Pair, SystematicPair] = {}
    for (base, witness), sides in replaced_sides.items():
        places, witness_places = tuple(a_places.get(base, ())), tuple(b_places.get(witness, ()))
        count_of = {Side.BASE: len(places), Side.WITNESS: len(witness_places)}
        side = next((side for side in sides if count_of[side] >= MIN_SYSTEMATIC_PLACES), None)
        if side is not None:
            confirmed = counts[base, witness]
            pairs[base, witness] = SystematicPair(base, witness, side, places, witness_places, confirmed)
    marked = [
        replace(difference, category=Class.SYSTEMATIC)
        if difference.kind is Kind.SUBSTITUTION and (difference.base, difference.witness) in pairs
        else difference
        for difference in differences
    ]
    return marked, sorted(pairs.values(), key=lambda pair: (-pair.confirmed, *sorted((pair.base, pair.witness))))


def _replaced_sides(counts: Mapping[Pair, int], differences: Iterable[Difference]) -> dict[Pair, list[Side]]:
    """The pairs among the differences that may be systematic, with the texts whose character is always replaced by the
    other one. `counts` is how often each pair is aligned."""
    of_base = _Counterparts(counts)
    of_witness = _Counterparts({(witness, base): count for (base, witness), count in counts.items()})
    replaced_sides: dict[Pair, list[Side]] = {}
    for difference in differences:
        if difference.category not in RECURRING_CLASSES or difference.rule == NO_CODE_POINT:
            continue
        base, witness = difference.base, difference.witness
        sides = [Side.BASE] if of_base.is_exclusive(base, witness) else []
        sides += [Side.WITNESS] if of_witness.is_exclusive(witness, base) else []
        if sides:
            replaced_sides[base, witness] = sides
    return replaced_sides


class _Counterparts:
    """How often each character of one text is aligned with which of the other."""

    def __init__(self, counts: Mapping[Pair, int]) -> None:
        self._counts = counts
        self._total: Counter[str] = Counter()
        self._total_of_other: Counter[str] = Counter()
        for (character, other), count in counts.items():
            self._total[character] += count
            self._total_of_other[other] += count

    def is_exclusive(self, character: str, other: str) -> bool:
        """Whether `character` is aligned with nothing but `other`, and `other` mostly with `character`."""
        count = self._counts.get((character, other), 0)
        return bool(count) and count == self._total[character] and 2 * count > self._total_of_other[other]


def _pair_counts(a: WitnessTokens, b: WitnessTokens, blocks: Iterable[AlignedPart]) -> dict[Pair, int]:
    """How often each character of the base is aligned with which character of the witness."""
    ops = [op for block in blocks for op in block.ops if op.a_length == op.b_length]
    if not ops:
        return {}
    a_codes = np.concatenate([a.codes[op.a0 : op.a1] for op in ops]).astype(np.int64)
    b_codes = np.concatenate([b.codes[op.b0 : op.b1] for op in ops])
    pairs, counts = np.unique(a_codes << 32 | b_codes, return_counts=True)
    text = a.table.text
    return {
        (text(pair >> 32), text(pair & 0xFFFFFFFF)): count
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True)
    }


def _places_by_character(edition: Transcription, characters: Set[str]) -> dict[str, list[int]]:
    """The code points of these characters in the whole file, in every layer."""
    places: dict[str, list[int]] = defaultdict(list)
    single = "".join(map(re.escape, sorted(text for text in characters if len(text) == 1)))
    pattern = re.compile(f"[{single}]" if single else "(?!)")
    for stretch in edition.stretches():
        if stretch.plain:
            for place in pattern.finditer(stretch.source):
                places[place[0]].append(stretch.start + place.start())
            continue
        for cell in stretch.cells():
            if cell.text in characters:
                places[cell.text].append(cell.start)
    return places
