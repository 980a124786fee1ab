"""Joining single differences to readings, as collation notes have them: adjacent ones that are one variant (垢消 for
穢銷, 山澤 for 澤梁), characters and phrases in another order, and systematic additions (一十三 for 十三).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rapidfuzz.distance import LCSseq

from proof.collation.classes import PARTICLES, Class
from proof.collation.differences import (
    MAX_PHRASE_CHARACTERS,
    MOVED,
    WORD_CLASSES,
    Difference,
    Ranges,
    Side,
    SystematicPair,
    difference_of,
)
from proof.collation.tokens import PairCounts, WitnessTokens
from proof.model.flags import Kind

MAX_READING_CHARACTERS = 8
"""Maximum length of a reading that is put together of neighbours."""

ISLAND_CHARACTERS = 1
"""Number of equal characters between the insertion and the omission of one reading (山澤 for 澤梁)."""

MAX_CHARACTER_MOVE = 12
"""Maximum distance in characters between the two places of a character that was moved."""

MAX_PARTICLE_MOVE = 2
"""The same for a particle: they are so frequent that two errors are likelier than one that moved."""

MAX_PHRASE_MOVE = 40
"""The same for two characters and more, and the maximum length of a phrase that was moved."""

MIN_RECURRING_PLACES = 5
"""Number of places from which an additional character beside the same neighbour is systematic."""

_MOVABLE = WORD_CLASSES | {Class.PASSAGE, Class.PARALLEL}
"""Classes of differences that may be words that were moved."""


def as_readings(a: WitnessTokens, b: WitnessTokens, differences: Sequence[Difference]) -> list[Difference]:
    """The differences in the same order, with neighbours that are one reading joined and transpositions marked."""
    joined = _with_islands(a, b, _with_neighbours(a, b, differences))
    return _with_transpositions(a, b, joined)


def _with_neighbours(a: WitnessTokens, b: WitnessTokens, differences: Sequence[Difference]) -> Iterator[Difference]:
    run: list[Difference] = []
    for difference in differences:
        adjacent = run and (run[-1].a1, run[-1].b1) == (difference.a0, difference.b0)
        if run and not (adjacent and _joins(difference) and _joins(run[-1])):
            yield from _as_one(a, b, run)
            run = []
        run.append(difference)
    yield from _as_one(a, b, run)


def _joins(difference: Difference) -> bool:
    """Whether a difference may be part of a longer reading: one in the words, or in a word written for another."""
    return difference.rule != "doubled" and (
        difference.category in WORD_CLASSES
        or (difference.category is Class.ORTHOGRAPHY and difference.kind is not Kind.VARIANT)
    )


def _as_one(a: WitnessTokens, b: WitnessTokens, run: Sequence[Difference]) -> Iterator[Difference]:
    """Neighbours as one reading, where they are in the words, short enough, and within a column of both."""
    if len(run) < 2 or all(difference.category is Class.ORTHOGRAPHY for difference in run):
        yield from run
        return
    span = Ranges(run[0].a0, run[-1].a1, run[0].b0, run[-1].b1)
    merged = _phrase(a, b, span)
    if merged is None:
        yield from run
    else:
        yield merged


def _phrase(a: WitnessTokens, b: WitnessTokens, span: Ranges) -> Difference | None:
    a0, a1, b0, b1 = span
    if max(a1 - a0, b1 - b0) > MAX_READING_CHARACTERS or not (_in_line(a, a0, a1) and _in_line(b, b0, b1)):
        return None
    if a1 - a0 == b1 - b0 > 1 and sorted(a.keys[a0:a1]) == sorted(b.keys[b0:b1]):
        return replace(difference_of(a, b, span, Class.ERROR, ""), kind=Kind.TRANSPOSITION)
    return difference_of(a, b, span, Class.READING, "phrase")


def _in_line(of: WitnessTokens, start: int, end: int) -> bool:
    """Whether characters stand in one column or paragraph: a finding has one address."""
    return start == end or of.blocks[start] == of.blocks[end - 1]


def _with_islands(a: WitnessTokens, b: WitnessTokens, differences: Iterator[Difference]) -> list[Difference]:
    """The differences, with an insertion and an omission around one equal character as one reading: 山澤 for 澤梁."""
    done: list[Difference] = []
    for difference in differences:
        last = done[-1] if done else None
        merged = _over_island(a, b, last, difference) if last is not None else None
        if merged is None:
            done.append(difference)
        else:
            done[-1] = merged
    return done


def _over_island(a: WitnessTokens, b: WitnessTokens, first: Difference, second: Difference) -> Difference | None:
    pair = (first, second)
    if {first.kind, second.kind} != {Kind.INSERTION, Kind.OMISSION}:
        return None
    if (
        second.a0 - first.a1 != ISLAND_CHARACTERS
        or second.b0 - first.b1 != ISLAND_CHARACTERS
        or first.size != second.size
        or first.size > 2
    ):
        return None
    if any(difference.category not in WORD_CLASSES or difference.rule == "doubled" for difference in pair):
        return None
    if not any(map(_plain, pair)):
        return None
    if _one_sided_key(a, b, first) == _one_sided_key(a, b, second):
        return None  # a transposition
    return _phrase(a, b, Ranges(first.a0, second.a1, first.b0, second.b1))


def _plain(difference: Difference) -> bool:
    """Whether the characters are no particle: of particles, two errors are likelier than one reading."""
    return (difference.base or difference.witness) not in PARTICLES


def _one_sided_key(a: WitnessTokens, b: WitnessTokens, difference: Difference) -> str:
    """The keys of the characters that only one of the two has."""
    return a.keys[difference.a0 : difference.a1] or b.keys[difference.b0 : difference.b1]


def _with_transpositions(a: WitnessTokens, b: WitnessTokens, differences: Sequence[Difference]) -> list[Difference]:
    """The differences, with words that stand at another place in the witness as one transposition; where they moved
    far, with other changes, or over a column, as two errors of the rule "moved"."""
    done: list[Difference] = []
    differences = list(differences)
    index = 0
    while index < len(differences):
        partner = _partner(a, b, differences, index)
        if partner is None:
            last, difference = _swapped(a, b, differences, index) or (index, differences[index])
            done.append(difference)
            index = last + 1
            continue
        first, second = differences[index], differences[partner]
        span = Ranges(
            min(first.a0, second.a0), max(first.a1, second.a1), min(first.b0, second.b0), max(first.b1, second.b1)
        )
        between = differences[index + 1 : partner]
        near = _apart(first, second) <= MAX_CHARACTER_MOVE and _MOVABLE.isdisjoint(other.category for other in between)
        same = sorted(a.keys[span.a0 : span.a1]) == sorted(b.keys[span.b0 : span.b1])
        if near and same and _in_line(a, span.a0, span.a1) and _in_line(b, span.b0, span.b1):
            done.append(replace(difference_of(a, b, span, Class.ERROR, ""), kind=Kind.TRANSPOSITION))
            index = partner + 1
        else:
            done.append(replace(first, category=Class.ERROR, rule=MOVED))
            differences[partner] = replace(second, category=Class.ERROR, rule=MOVED)
            index += 1
    return done


def _swapped(
    a: WitnessTokens, b: WitnessTokens, differences: Sequence[Difference], index: int
) -> tuple[int, Difference] | None:
    """Neighbours that stand the other way round in the witness, as one transposition, and the index of the last of the
    differences that it is made of, from difference `index` on; None where they do not. What is alike between these
    (不亦 of two sentences) is chance."""
    first = differences[index]
    if first.category is not Class.UNLIKE:
        return None
    swapped = None
    for number in range(index, len(differences)):
        last = differences[number]
        before = differences[max(index, number - 1)]
        span = Ranges(first.a0, last.a1, first.b0, last.b1)
        mine, theirs = a.keys[first.a0 : last.a1], b.keys[first.b0 : last.b1]
        apart = (last.a0 - before.a1, last.b0 - before.b1)
        near = last is first or 0 <= min(apart) <= max(apart) <= MAX_PHRASE_CHARACTERS
        if not near or len(mine) > 2 * MAX_PHRASE_MOVE:
            break
        if len(mine) == len(theirs):
            as_it_is, *turned = (LCSseq.similarity(mine[at:] + mine[:at], theirs) for at in range(len(mine)))
            if max(turned, default=0) >= max(as_it_is + 1, len(mine) - _max_changed(len(mine))):
                swapped = number, replace(difference_of(a, b, span, Class.ERROR, ""), kind=Kind.TRANSPOSITION)
    return swapped


def _max_changed(length: int) -> int:
    """How many characters of a phrase of this length may be others and it is still the same phrase: about a quarter."""
    return (length + 1) // 4


def _partner(a: WitnessTokens, b: WitnessTokens, differences: Sequence[Difference], index: int) -> int | None:
    """The index of the difference that has the words of difference `index` at another place, None where there is none.
    Over other differences in the words only what is longer than a character is looked for."""
    difference = differences[index]
    if difference.category not in _MOVABLE or difference.size > MAX_PHRASE_MOVE or difference.rule == MOVED:
        return None
    for number in range(index + 1, len(differences)):
        other = differences[number]
        if min(other.a0 - difference.a1, other.b0 - difference.b1) < 0 or _apart(difference, other) > MAX_PHRASE_MOVE:
            return None
        if other.category in _MOVABLE and other.rule != MOVED:
            if _exchanged(a, b, difference, other) or _same_phrase(a, b, difference, other):
                return number
            if difference.size == 1 and other.category in WORD_CLASSES:
                return None
    return None


def _apart(first: Difference, second: Difference) -> int:
    """The characters between two differences, of the text that has more there."""
    return max(second.a0 - first.a1, second.b0 - first.b1)


def _exchanged(a: WitnessTokens, b: WitnessTokens, first: Difference, second: Difference) -> bool:
    mine = a.keys[first.a0 : first.a1], a.keys[second.a0 : second.a1]
    theirs = b.keys[first.b0 : first.b1], b.keys[second.b0 : second.b1]
    if Class.PARALLEL in (first.category, second.category) or mine != theirs[::-1] or mine == ("", ""):
        return False
    words = max(mine, key=len)
    apart = _apart(first, second)
    if len(words) > 1:
        return apart <= MAX_PHRASE_MOVE
    return apart <= (MAX_PARTICLE_MOVE if words in PARTICLES else MAX_CHARACTER_MOVE)


def _same_phrase(a: WitnessTokens, b: WitnessTokens, first: Difference, second: Difference) -> bool:
    """Whether one of the two texts has a phrase at one place, and the other at the other, but for few characters; in
    parallels one that is long enough not to be alike by chance."""
    if {first.kind, second.kind} != {Kind.INSERTION, Kind.OMISSION}:
        return False
    shortest = MAX_PHRASE_CHARACTERS if Class.PARALLEL in (first.category, second.category) else 2
    if not shortest <= min(first.size, second.size) <= max(first.size, second.size) <= MAX_PHRASE_MOVE:
        return False
    least = max(first.size, second.size) - _max_changed(min(first.size, second.size))
    return any(
        LCSseq.similarity(mine, theirs) >= least
        for mine in _wherever(a, b, first)
        for theirs in _wherever(a, b, second)
    )


def _wherever(a: WitnessTokens, b: WitnessTokens, difference: Difference) -> Iterator[str]:
    """The words that only one text has, cut at each place at which they could as well be: in 事父事君 for 事君 父事 is
    missing as well as 事父."""
    inserted = difference.kind is Kind.INSERTION
    keys, start, end = (a.keys, difference.a0, difference.a1) if inserted else (b.keys, difference.b0, difference.b1)
    length = end - start
    left = 0
    while left < min(start, length) and keys[start - left - 1] == keys[end - left - 1]:
        left += 1
    right = 0
    while right < min(len(keys) - end, length) and keys[start + right] == keys[end + right]:
        right += 1
    return (keys[start + by : end + by] for by in range(-left, right + 1))


def recurring(
    a: WitnessTokens, b: WitnessTokens, differences: Sequence[Difference]
) -> tuple[list[Difference], list[SystematicPair]]:
    """The differences with those marked as systematic where one text has the same character more before, or behind,
    the same one all over; and these as pairs: 一十 for 十."""
    groups: defaultdict[tuple[Side, str, str], list[int]] = defaultdict(list)
    for number, difference in enumerate(differences):
        one_sided = difference.kind in (Kind.INSERTION, Kind.OMISSION)
        if one_sided and difference.category in WORD_CLASSES and difference.size == 1:
            for key in _with_neighbour(a, b, difference):
                groups[key].append(number)
    if not any(len(numbers) >= MIN_RECURRING_PLACES for numbers in groups.values()):
        return list(differences), []
    pairs = {Side.BASE: PairCounts(a.keys), Side.WITNESS: PairCounts(b.keys)}
    marked = list(differences)
    systematic_pairs: list[SystematicPair] = []
    for (side, longer, shorter), every in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        numbers = [number for number in every if marked[number].category is not Class.SYSTEMATIC]
        other = Side.WITNESS if side is Side.BASE else Side.BASE
        if len(numbers) < MIN_RECURRING_PLACES or pairs[other][longer] >= len(numbers):
            continue
        for number in numbers:
            marked[number] = replace(marked[number], category=Class.SYSTEMATIC)
        systematic_pairs.append(
            _recurring_pair(a, b, side, (longer, shorter), [differences[number] for number in numbers])
        )
    return marked, systematic_pairs


def _with_neighbour(a: WitnessTokens, b: WitnessTokens, difference: Difference) -> Iterator[tuple[Side, str, str]]:
    """For a character that only one text has: that text, the keys of the character and a neighbour, the neighbour's
    key; once for the neighbour behind it, once for the one before it."""
    inserted = difference.kind is Kind.INSERTION
    side, tokens, at = (Side.BASE, a, difference.a0) if inserted else (Side.WITNESS, b, difference.b0)
    if at + 1 < len(tokens):
        yield side, tokens.keys[at : at + 2], tokens.keys[at + 1]
    if at:
        yield side, tokens.keys[at - 1 : at + 1], tokens.keys[at - 1]


def _recurring_pair(
    a: WitnessTokens, b: WitnessTokens, side: Side, keys: tuple[str, str], differences: Sequence[Difference]
) -> SystematicPair:
    first = differences[0]
    tokens, at = (a, first.a0) if side is Side.BASE else (b, first.b0)
    start = at if tokens.keys[at : at + 2] == keys[0] else at - 1
    longer = tokens.text(start, start + 2)
    shorter = tokens.text(start + 1, start + 2) if start == at else tokens.text(start, start + 1)
    words = (longer, shorter) if side is Side.BASE else (shorter, longer)
    places = tuple(difference.start for difference in differences)
    there = tuple(b.starts[min(difference.b0, len(b) - 1)] for difference in differences)
    return SystematicPair(*words, side, places, there, len(differences))
