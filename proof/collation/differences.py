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
from numpy.typing import NDArray

from proof.collation.apparatus import ApparatusNote
from proof.collation.blocks import AlignedPart, Op, gaps, moved
from proof.collation.classes import NO_CODE_POINT, Class, DifferenceClassifier, borrowed, is_label
from proof.collation.tokens import WitnessTokens
from proof.model.flags import Kind
from proof.text.layers import Layer
from proof.text.transcription import Transcription

Numbers = NDArray[np.int64]

MOVED = "moved"
"""The rule of differences in words that both texts have, at different places."""

MIN_PASSAGE_CHARACTERS = 9
"""Minimum length of a passage that only one text has; shorter differences are single readings or errors."""

MIN_SYSTEMATIC_PLACES = 3
"""Minimum number of places of a systematic pair: at two places it may be the same error made twice."""

MAX_PHRASE_CHARACTERS = 4
"""Maximum length of a phrase that is another reading of a phrase; longer stretches that differ are not parallel."""

MIN_ONE_TEXT_SHARE = 0.75
"""Share of equal characters from which two parts are the same text; with fewer they are only parallels."""

ONE_TEXT_REACH_CHARACTERS = 30
"""Characters on either side of a difference among which that share is counted."""

WORD_CLASSES = frozenset({Class.ERROR, Class.READING})
"""Classes of differences in the words."""

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
    """One difference of the base (`a`) from the witness (`b`).

    `a0:a1` and `b0:b1` are numbers of characters in the two sequences (equal ones: nothing stands there); `start` and
    `length` are code points in the base's file. `rule` names what made it a variant; `notes` are what the apparatus of
    either says about the place.
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
    """A character of one text in whose place the other regularly has another one: a damaged encoding, or usage.

    `side` is the text whose character always has the other one in its place. `places` are the code points in the base's
    file of all occurrences of `base`, in every layer, compared or not, `witness_places` those of `witness` in the
    witness's file; `confirmed` is the number of places at which the two are aligned.
    """

    base: str
    witness: str
    side: Side
    places: tuple[int, ...]
    witness_places: tuple[int, ...]
    confirmed: int


def aligned_pairs(blocks: Sequence[AlignedPart], *, equal: bool = False) -> tuple[Numbers, Numbers]:
    """The indices of aligned characters in the first and in the second sequence, of equal length; with `equal` only
    those of equal characters."""
    ops = [
        op
        for block in blocks
        for op in block.ops
        if op.equal or (not equal and max(op.a1 - op.a0, op.b1 - op.b0) < MIN_PASSAGE_CHARACTERS)
    ]
    lengths = [min(op.a1 - op.a0, op.b1 - op.b0) for op in ops]
    return _runs([op.a0 for op in ops], lengths), _runs([op.b0 for op in ops], lengths)


def _runs(starts: Sequence[int], lengths: Sequence[int]) -> Numbers:
    """The concatenated ranges that begin at `starts` and have these `lengths`."""
    ends = np.cumsum(lengths, dtype=np.int64)
    before = np.repeat(ends - np.asarray(lengths, dtype=np.int64), lengths)
    return np.repeat(np.asarray(starts, dtype=np.int64), lengths) + np.arange(len(before)) - before


def aligned_in(blocks: Sequence[AlignedPart]) -> dict[int, int]:
    """The index in the second sequence of each aligned character, by its index in the first."""
    mine, theirs = aligned_pairs(blocks)
    return dict(zip(mine.tolist(), theirs.tolist(), strict=True))


def within_blocks(
    a: WitnessTokens, b: WitnessTokens, blocks: Iterable[AlignedPart], classifier: DifferenceClassifier
) -> Iterator[Difference]:
    """All differences within the blocks, in the order of the base."""
    for block in blocks:
        for op, one_text in zip(block.ops, _one_text(block), strict=True):
            of_op = _differences_in(a, b, op, classifier)
            yield from of_op if one_text else map(_as_parallel, of_op)


def _as_parallel(difference: Difference) -> Difference:
    return replace(difference, category=Class.PARALLEL) if difference.category in WORD_CLASSES else difference


def _one_text(block: AlignedPart) -> list[bool]:
    """For each operation of a block, whether the two texts are the same text around it and in the whole block."""
    equal, total = [0], [0]
    for op in block.ops:
        size = _size(op)
        equal.append(equal[-1] + (size if op.equal else 0))
        total.append(total[-1] + size)
    if equal[-1] < MIN_ONE_TEXT_SHARE * total[-1]:
        return [False] * len(block.ops)
    verdicts = []
    for number in range(len(block.ops)):
        low = max(0, total[number] - ONE_TEXT_REACH_CHARACTERS)
        high = min(total[-1], total[number + 1] + ONE_TEXT_REACH_CHARACTERS)
        first, last = bisect_right(total, low) - 1, bisect_left(total, high)
        # an operation that goes beyond the reach is counted as far as it is within
        beyond = (low - total[first]) * block.ops[first].equal if first < len(block.ops) else 0
        beyond += (total[last] - high) * block.ops[last - 1].equal if last else 0
        verdicts.append(equal[last] - equal[first] - beyond >= MIN_ONE_TEXT_SHARE * (high - low))
    return verdicts


def _size(op: Op) -> int:
    """The number of characters of an operation, without a passage that only one text has."""
    shorter, longer = sorted((op.a1 - op.a0, op.b1 - op.b0))
    return longer if longer - shorter < MIN_PASSAGE_CHARACTERS else shorter


def _differences_in(
    a: WitnessTokens, b: WitnessTokens, op: Op, classifier: DifferenceClassifier
) -> Iterator[Difference]:
    """The differences of one operation; in an equal one they are characters written in another form."""
    m, n = op.a1 - op.a0, op.b1 - op.b0
    cut = _beside_label(a, b, op) if m and n and not op.equal else None
    if cut is not None:
        yield from _differences_in(a, b, Op(False, op.a0, cut[0], op.b0, cut[1]), classifier)
        yield from _differences_in(a, b, Op(False, cut[0], op.a1, cut[1], op.b1), classifier)
    elif m and n and not op.equal and max(m, n) > MAX_PHRASE_CHARACTERS:
        yield difference_of(a, b, Ranges(op.a0, op.a1, op.b0, op.b1), Class.UNLIKE, "")
    elif m and n and m != n and a.blocks[op.a0] == a.blocks[op.a1 - 1] and b.blocks[op.b0] == b.blocks[op.b1 - 1]:
        yield difference_of(a, b, Ranges(op.a0, op.a1, op.b0, op.b1), *classifier.phrase(op.a0, op.b0))
    else:
        shared = min(m, n)
        mine, theirs = a.codes[op.a0 : op.a0 + shared], b.codes[op.b0 : op.b0 + shared]
        for offset in np.flatnonzero(mine != theirs).tolist():
            at, to = op.a0 + offset, op.b0 + offset
            yield difference_of(a, b, Ranges(at, at + 1, to, to + 1), *classifier.pair(at, to))
        yield from _one_sided(a, b, Ranges(op.a0 + shared, op.a1, op.b1, op.b1), classifier)
        yield from _one_sided(a, b, Ranges(op.a1, op.a1, op.b0 + shared, op.b1), classifier)


def _beside_label(a: WitnessTokens, b: WitnessTokens, op: Op) -> tuple[int, int] | None:
    """Where to cut an operation in both texts, so that words that announce commentary in only one of them (疏曰) stand
    apart; None where neither has such words."""
    labels = is_label(a, op.a0, op.a1), is_label(b, op.b0, op.b1)
    if labels[0] is not labels[1]:  # the commentary follows its announcement
        return (op.a0, op.b1) if labels[0] else (op.a1, op.b0)
    more = (op.a1 - op.a0) - (op.b1 - op.b0)
    in_a, in_b = max(more, 0), max(-more, 0)
    if is_label(a, op.a0, op.a0 + in_a) or is_label(b, op.b0, op.b0 + in_b):
        return op.a0 + in_a, op.b0 + in_b
    if is_label(a, op.a1 - in_a, op.a1) or is_label(b, op.b1 - in_b, op.b1):
        return op.a1 - in_a, op.b1 - in_b
    return None


def _one_sided(
    a: WitnessTokens, b: WitnessTokens, span: Ranges, classifier: DifferenceClassifier
) -> Iterator[Difference]:
    """The differences in characters that only one of the two has; the range of `span` in the other is empty."""
    a0, a1, b0, b1 = span
    of, first, last = (a, a0, a1) if a1 > a0 else (b, b0, b1)
    for start, end, passage in _addressable_parts(of, first, last):
        verdict = (Class.PASSAGE, "") if passage else classifier.alone(of, start, end, b0 if of is a else a0)
        yield difference_of(a, b, Ranges(start, end, b0, b1) if of is a else Ranges(a0, a1, start, end), *verdict)


def between_blocks(a: WitnessTokens, b: WitnessTokens, blocks: Sequence[AlignedPart]) -> list[Difference]:
    """The differences outside the blocks: passages that only one text has, and stretches between the same two blocks
    that are not parallel. None where there is no block."""
    if not blocks:
        return []
    gaps_a = gaps([(block.a0, block.a1) for block in blocks], len(a))
    gaps_b = gaps([(block.b0, block.b1) for block in blocks], len(b))
    ends = {block.b1: block.a1 for block in blocks} | {0: 0}
    begins = {block.a0: block.b0 for block in blocks} | {len(a): len(b)}
    differences = []
    for b0, b1 in gaps_b:
        at = ends[b0]
        facing = next((gap for gap in gaps_a if gap[0] == at and begins.get(gap[1]) == b1), None)
        if facing is not None:
            gaps_a.remove(facing)
        a0, a1 = facing or (at, at)
        differences.append(difference_of(a, b, Ranges(a0, a1, b0, b1), Class.UNLIKE if facing else Class.PASSAGE, ""))
    answered = {block.a1: block.b1 for block in blocks} | {0: 0}
    for a0, a1 in gaps_a:
        differences.append(difference_of(a, b, Ranges(a0, a1, answered[a0], answered[a0]), Class.PASSAGE, ""))
    return differences


def moved_blocks(a: WitnessTokens, b: WitnessTokens, blocks: Sequence[AlignedPart]) -> Iterator[Difference]:
    """The blocks that stand in another order in the witness, each as a whole."""
    for block in moved(a.keys, b.keys, blocks):
        whole = difference_of(a, b, Ranges(block.a0, block.a1, block.b0, block.b1), Class.MOVED, MOVED)
        yield replace(whole, kind=Kind.TRANSPOSITION)


def _addressable_parts(of: WitnessTokens, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """The characters `start` to `end`, which only the text `of` has, in parts: start, end, and whether the part is a
    passage. Headings are apart from text, and parts that are no passage end with their column or paragraph, since a
    finding has one address."""
    for heading, group in groupby(range(start, end), key=lambda at: of.layers[at] is Layer.HEADING):
        numbers = list(group)
        if not heading and len(numbers) >= MIN_PASSAGE_CHARACTERS:
            yield numbers[0], numbers[-1] + 1, True
            continue
        for _, line in groupby(numbers, key=lambda at: of.blocks[at]):
            within = list(line)
            yield within[0], within[-1] + 1, False


def difference_of(a: WitnessTokens, b: WitnessTokens, span: Ranges, category: Class, rule: str) -> Difference:
    """The difference of the characters `span` of the base from those of the witness."""
    a0, a1, b0, b1 = span
    kind = Kind.SUBSTITUTION if a1 > a0 and b1 > b0 else Kind.INSERTION if a1 > a0 else Kind.OMISSION
    if category in (Class.SCRIPT, Class.TABOO) or (category is Class.ORTHOGRAPHY and not borrowed(rule)):
        kind = Kind.VARIANT
    if rule == NO_CODE_POINT and a.text(a0, a1)[:1] != b.text(b0, b1)[:1]:
        # a character without a code point may be a form of the other one; two without are two characters
        kind = Kind.VARIANT
    if a1 > a0:
        start, length = a.starts[a0], a.ends[a1 - 1] - a.starts[a0]
    else:
        start, length = _gap_start(a, a0), 0
    return Difference(kind, category, rule, a0, a1, b0, b1, a.text(a0, a1), b.text(b0, b1), start, length)


def _gap_start(a: WitnessTokens, at: int) -> int:
    """The code point of the base's file at which characters are missing that belong before character `at`: an empty
    column between it and the character before it, or else right behind the latter."""
    if not len(a):
        return 0
    if at == 0:
        return a.starts[0]
    last = a.blocks[at - 1]
    first = a.blocks[at] if at < len(a) else len(a.edition.blocks)
    for block in a.edition.blocks[last + 1 : first]:
        if block.start == block.end:
            return block.start
    same = at < len(a) and last == a.blocks[at] and a.layers[at - 1] is a.layers[at]
    return a.starts[at] if same else a.ends[at - 1]


def systematic(
    a: WitnessTokens, b: WitnessTokens, blocks: Iterable[AlignedPart], differences: list[Difference]
) -> tuple[list[Difference], list[SystematicPair]]:
    """The differences, those of systematic pairs with the class `SYSTEMATIC`, and these pairs, most frequent first."""
    counts = _pair_counts(a, b, blocks)
    of_base = _Counterparts(counts)
    of_witness = _Counterparts({(theirs, mine): number for (mine, theirs), number in counts.items()})
    sides = {
        (mine, theirs): (of_base.is_exclusive(mine, theirs), of_witness.is_exclusive(theirs, mine))
        for mine, theirs in {
            (difference.base, difference.witness)
            for difference in differences
            if difference.category in RECURRING_CLASSES and difference.rule != NO_CODE_POINT
        }
    }
    candidates = [pair for pair, holds in sides.items() if any(holds)]
    here = _all_places(a.edition, {mine for mine, _ in candidates})
    there = _all_places(b.edition, {theirs for _, theirs in candidates})
    pairs: dict[tuple[str, str], SystematicPair] = {}
    for mine, theirs in candidates:
        places = tuple(here.get(mine, ())), tuple(there.get(theirs, ()))
        for side, holds, at in zip((Side.BASE, Side.WITNESS), sides[mine, theirs], places, strict=True):
            if holds and len(at) >= MIN_SYSTEMATIC_PLACES:
                pairs[mine, theirs] = SystematicPair(mine, theirs, side, *places, counts[mine, theirs])
                break
    marked = [
        replace(difference, category=Class.SYSTEMATIC)
        if difference.kind is Kind.SUBSTITUTION and (difference.base, difference.witness) in pairs
        else difference
        for difference in differences
    ]
    return marked, sorted(pairs.values(), key=lambda pair: (-pair.confirmed, *sorted((pair.base, pair.witness))))


class _Counterparts:
    """How often each character of one text is aligned with which of the other."""

    def __init__(self, counts: Mapping[tuple[str, str], int]) -> None:
        self._counts = counts
        self._total: Counter[str] = Counter()
        self._written: Counter[str] = Counter()
        for (mine, theirs), number in counts.items():
            self._total[mine] += number
            self._written[theirs] += number

    def is_exclusive(self, mine: str, theirs: str) -> bool:
        """Whether `mine` is aligned with nothing but `theirs`, and `theirs` mostly with `mine`."""
        number = self._counts.get((mine, theirs), 0)
        return bool(number) and number == self._total[mine] and 2 * number > self._written[theirs]


def _pair_counts(a: WitnessTokens, b: WitnessTokens, blocks: Iterable[AlignedPart]) -> dict[tuple[str, str], int]:
    """How often each pair of characters of the base and the witness is aligned."""
    ops = [op for block in blocks for op in block.ops if op.a1 - op.a0 == op.b1 - op.b0]
    if not ops:
        return {}
    mine = np.concatenate([a.codes[op.a0 : op.a1] for op in ops]).astype(np.int64)
    theirs = np.concatenate([b.codes[op.b0 : op.b1] for op in ops])
    pairs, counts = np.unique(mine << 32 | theirs, return_counts=True)
    text = a.numbers.text
    return {
        (text(pair >> 32), text(pair & 0xFFFFFFFF)): count
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True)
    }


def _all_places(edition: Transcription, wanted: Set[str]) -> dict[str, list[int]]:
    """The places of the wanted characters in the whole file, compared or not."""
    places: dict[str, list[int]] = defaultdict(list)
    single = "".join(map(re.escape, sorted(text for text in wanted if len(text) == 1)))
    characters = re.compile(f"[{single}]" if single else "(?!)")
    for stretch in edition.stretches():
        if stretch.plain:
            for place in characters.finditer(stretch.source):
                places[place[0]].append(stretch.start + place.start())
            continue
        for cell in stretch.cells():
            if cell.text in wanted:
                places[cell.text].append(cell.start)
    return places
