"""Joining single differences to readings as collation notes have them: neighbours that are one variant (垢消 for 穢銷,
山澤 for 澤梁), characters and phrases in another order, and systematic additions (一十三 for 十三)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

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
"""Maximum length of a reading that is joined from several differences."""

ISLAND_CHARACTERS = 1
"""Number of equal characters between the insertion and the omission of one reading (澤 in 山澤 for 澤梁)."""

MAX_CHARACTER_MOVE = 12
"""Maximum distance in characters between the two places of a character that moved."""

MAX_PARTICLE_MOVE = 2
"""The same for a particle: particles are so frequent that two errors are likelier than a move."""

MAX_PHRASE_MOVE = 40
"""The same for two or more characters, and the maximum length of a phrase that moved."""

MIN_RECURRING_PLACES = 5
"""Minimum number of places at which the same additional character beside the same neighbour is systematic."""

_MOVABLE = WORD_CLASSES | {Class.PASSAGE, Class.PARALLEL}
"""Classes of differences that may be words that moved."""


def as_readings(a: WitnessTokens, b: WitnessTokens, differences: Sequence[Difference]) -> list[Difference]:
    """The differences in the same order, with those that are one reading joined, and transpositions marked."""
    joined = _joined_over_islands(a, b, _with_adjacent_joined(a, b, differences))
    return _with_transpositions(a, b, joined)


def _with_adjacent_joined(
    a: WitnessTokens, b: WitnessTokens, differences: Sequence[Difference]
) -> Iterator[Difference]:
    run: list[Difference] = []
    for difference in differences:
        is_adjacent = run and (run[-1].a1, run[-1].b1) == (difference.a0, difference.b0)
        if run and not (is_adjacent and _can_be_joined(difference) and _can_be_joined(run[-1])):
            yield from _joined(a, b, run)
            run = []
        run.append(difference)
    yield from _joined(a, b, run)


def _can_be_joined(difference: Difference) -> bool:
    """Whether a difference may be part of a longer reading: one in the words, or a borrowing."""
    is_borrowing = difference.category is Class.ORTHOGRAPHY and difference.kind is not Kind.VARIANT
    return difference.rule != "doubled" and (difference.category in WORD_CLASSES or is_borrowing)


def _joined(a: WitnessTokens, b: WitnessTokens, run: Sequence[Difference]) -> Sequence[Difference]:
    """Adjacent differences as one reading, or unchanged if they cannot be one."""
    if len(run) < 2 or all(difference.category is Class.ORTHOGRAPHY for difference in run):
        return run
    reading = _reading(a, b, Ranges(run[0].a0, run[-1].a1, run[0].b0, run[-1].b1))
    return run if reading is None else [reading]


def _reading(a: WitnessTokens, b: WitnessTokens, span: Ranges) -> Difference | None:
    """The characters `span` as one reading; None if they are too many, or not in one column of both texts."""
    a0, a1, b0, b1 = span
    if max(a1 - a0, b1 - b0) > MAX_READING_CHARACTERS or not _in_one_line(a, b, span):
        return None
    if a1 - a0 == b1 - b0 > 1 and _are_same_characters(a, b, span):
        return _transposition(a, b, span)
    return difference_of(a, b, span, Class.READING, "phrase")


def _in_one_line(a: WitnessTokens, b: WitnessTokens, span: Ranges) -> bool:
    """Whether the characters are in one column or paragraph of each text: a finding has one address."""
    return a.in_one_line(span.a0, span.a1) and b.in_one_line(span.b0, span.b1)


def _are_same_characters(a: WitnessTokens, b: WitnessTokens, span: Ranges) -> bool:
    """Whether both texts have the same characters, in any order."""
    return sorted(a.keys[span.a0 : span.a1]) == sorted(b.keys[span.b0 : span.b1])


def _transposition(a: WitnessTokens, b: WitnessTokens, span: Ranges) -> Difference:
    return replace(difference_of(a, b, span, Class.ERROR, ""), kind=Kind.TRANSPOSITION)


def _joined_over_islands(a: WitnessTokens, b: WitnessTokens, differences: Iterator[Difference]) -> list[Difference]:
    """The differences, with an insertion and an omission around one equal character as one reading: 山澤 for 澤梁."""
    joined: list[Difference] = []
    for difference in differences:
        reading = _over_island(a, b, joined[-1], difference) if joined else None
        if reading is None:
            joined.append(difference)
        else:
            joined[-1] = reading
    return joined


def _over_island(a: WitnessTokens, b: WitnessTokens, first: Difference, second: Difference) -> Difference | None:
    if {first.kind, second.kind} != {Kind.INSERTION, Kind.OMISSION} or first.size != second.size or first.size > 2:
        return None
    if second.a0 - first.a1 != ISLAND_CHARACTERS or second.b0 - first.b1 != ISLAND_CHARACTERS:
        return None
    pair = (first, second)
    if any(difference.category not in WORD_CLASSES or difference.rule == "doubled" for difference in pair):
        return None
    # with two particles, two errors are likelier than one reading
    if all((difference.base or difference.witness) in PARTICLES for difference in pair):
        return None
    if _one_sided_keys(a, b, first) == _one_sided_keys(a, b, second):
        return None  # a transposition
    return _reading(a, b, Ranges(first.a0, second.a1, first.b0, second.b1))


def _one_sided_keys(a: WitnessTokens, b: WitnessTokens, difference: Difference) -> str:
    """The keys of characters that only one text has."""
    return a.keys[difference.a0 : difference.a1] or b.keys[difference.b0 : difference.b1]


def _with_transpositions(a: WitnessTokens, b: WitnessTokens, differences: Sequence[Difference]) -> list[Difference]:
    """The differences, with words that the witness has at another place as one transposition. Words that moved far,
    across other changes or to another column are two errors with the rule `MOVED`."""
    done: list[Difference] = []
    differences = list(differences)
    index = 0
    while index < len(differences):
        partner = _partner(a, b, differences, index)
        if partner is None:
            last, difference = _swapped_phrases(a, b, differences, index) or (index, differences[index])
            done.append(difference)
            index = last + 1
            continue
        first, second = differences[index], differences[partner]
        span = Ranges(
            min(first.a0, second.a0), max(first.a1, second.a1), min(first.b0, second.b0), max(first.b1, second.b1)
        )
        changes_between = any(other.category in _MOVABLE for other in differences[index + 1 : partner])
        is_near = _distance(first, second) <= MAX_CHARACTER_MOVE and not changes_between
        if is_near and _are_same_characters(a, b, span) and _in_one_line(a, b, span):
            done.append(_transposition(a, b, span))
            index = partner + 1
        else:
            done.append(replace(first, category=Class.ERROR, rule=MOVED))
            differences[partner] = replace(second, category=Class.ERROR, rule=MOVED)
            index += 1
    return done


def _swapped_phrases(
    a: WitnessTokens, b: WitnessTokens, differences: Sequence[Difference], index: int
) -> tuple[int, Difference] | None:
    """Two adjacent phrases that the witness has in the other order, as one transposition that replaces the differences
    from `index` on, and the index of the last of these; None if there are none. Equal characters between the
    differences (不亦 of two sentences) are equal by chance."""
    first = differences[index]
    if first.category is not Class.UNLIKE:
        return None
    swapped = None
    for number in range(index, len(differences)):
        last = differences[number]
        if number > index and not _are_near(differences[number - 1], last):
            break
        keys, witness_keys = a.keys[first.a0 : last.a1], b.keys[first.b0 : last.b1]
        if len(keys) > 2 * MAX_PHRASE_MOVE:
            break
        if len(keys) == len(witness_keys) and _are_swapped(keys, witness_keys):
            swapped = number, _transposition(a, b, Ranges(first.a0, last.a1, first.b0, last.b1))
    return swapped


def _are_near(first: Difference, second: Difference) -> bool:
    return _smaller_distance(first, second) >= 0 and _distance(first, second) <= MAX_PHRASE_CHARACTERS


def _are_swapped(keys: str, witness_keys: str) -> bool:
    """Whether a text is most similar to another of the same length if it is cut and its two parts are exchanged."""
    unchanged, *exchanged = (LCSseq.similarity(keys[at:] + keys[:at], witness_keys) for at in range(len(keys)))
    return max(exchanged, default=0) >= max(unchanged + 1, len(keys) - _max_changed(len(keys)))


def _max_changed(length: int) -> int:
    """Maximum number of characters at which two versions of a phrase of this length differ: about a quarter."""
    return (length + 1) // 4


def _partner(a: WitnessTokens, b: WitnessTokens, differences: Sequence[Difference], index: int) -> int | None:
    """The index of the difference that has the words of difference `index` at another place; None if there is none.
    A single character is not searched beyond another difference in the words."""
    difference = differences[index]
    if difference.category not in _MOVABLE or difference.size > MAX_PHRASE_MOVE or difference.rule == MOVED:
        return None
    for number in range(index + 1, len(differences)):
        other = differences[number]
        overlaps = _smaller_distance(difference, other) < 0
        if overlaps or _distance(difference, other) > MAX_PHRASE_MOVE:
            return None
        if other.category in _MOVABLE and other.rule != MOVED:
            if _are_exchanged(a, b, difference, other) or _are_same_phrase(a, b, difference, other):
                return number
            if difference.size == 1 and other.category in WORD_CLASSES:
                return None
    return None


def _distance(first: Difference, second: Difference) -> int:
    """The number of characters between two differences, in the text that has more there."""
    return max(second.a0 - first.a1, second.b0 - first.b1)


def _smaller_distance(first: Difference, second: Difference) -> int:
    """The same in the text that has fewer there; negative if the two overlap in a text."""
    return min(second.a0 - first.a1, second.b0 - first.b1)


def _are_exchanged(a: WitnessTokens, b: WitnessTokens, first: Difference, second: Difference) -> bool:
    """Whether the witness has the words of one difference at the place of the other, and the other way round. One of
    the two may be no words, as if a character moved."""
    if Class.PARALLEL in (first.category, second.category):
        return False
    keys = a.keys[first.a0 : first.a1], a.keys[second.a0 : second.a1]
    witness_keys = b.keys[first.b0 : first.b1], b.keys[second.b0 : second.b1]
    words = max(keys, key=len)
    if not words or keys != witness_keys[::-1]:
        return False
    if len(words) > 1:
        return _distance(first, second) <= MAX_PHRASE_MOVE
    return _distance(first, second) <= (MAX_PARTICLE_MOVE if words in PARTICLES else MAX_CHARACTER_MOVE)


def _are_same_phrase(a: WitnessTokens, b: WitnessTokens, first: Difference, second: Difference) -> bool:
    """Whether one text has a phrase at the one place, and the other text nearly the same phrase at the other place. In
    parallel texts the phrase must be so long that it is not equal by chance."""
    if {first.kind, second.kind} != {Kind.INSERTION, Kind.OMISSION}:
        return False
    shorter, longer = sorted((first.size, second.size))
    min_length = MAX_PHRASE_CHARACTERS if Class.PARALLEL in (first.category, second.category) else 2
    if shorter < min_length or longer > MAX_PHRASE_MOVE:
        return False
    min_equal = longer - _max_changed(shorter)
    return any(
        LCSseq.similarity(words, other_words) >= min_equal
        for words in _possible_words(a, b, first)
        for other_words in _possible_words(a, b, second)
    )


def _possible_words(a: WitnessTokens, b: WitnessTokens, difference: Difference) -> Iterator[str]:
    """The words that only one text has, for each place at which they may begin: 事父事君 has 事父 or 父事 more than
    事君."""
    in_base = difference.kind is Kind.INSERTION
    keys, start, end = (a.keys, difference.a0, difference.a1) if in_base else (b.keys, difference.b0, difference.b1)
    length = end - start
    left = 0
    while left < min(start, length) and keys[start - left - 1] == keys[end - left - 1]:
        left += 1
    right = 0
    while right < min(len(keys) - end, length) and keys[start + right] == keys[end + right]:
        right += 1
    return (keys[start + shift : end + shift] for shift in range(-left, right + 1))


class _Addition(NamedTuple):
    """An additional character beside another one: the text that has it, the keys of both, and that of the other."""

    side: Side
    longer: str
    shorter: str


def with_systematic_marked(
    a: WitnessTokens, b: WitnessTokens, differences: Sequence[Difference]
) -> tuple[list[Difference], list[SystematicPair]]:
    """The differences, with those marked as systematic where one text regularly has the same additional character
    beside the same one (一十 for 十), and the systematic pairs (一十, 十)."""
    places_of: defaultdict[_Addition, list[int]] = defaultdict(list)
    for number, difference in enumerate(differences):
        is_one_sided = difference.kind in (Kind.INSERTION, Kind.OMISSION)
        if is_one_sided and difference.category in WORD_CLASSES and difference.size == 1:
            for addition in _additions(a, b, difference):
                places_of[addition].append(number)
    if not any(len(numbers) >= MIN_RECURRING_PLACES for numbers in places_of.values()):
        return list(differences), []
    pair_counts = {Side.BASE: PairCounts(a.keys), Side.WITNESS: PairCounts(b.keys)}
    marked = list(differences)
    systematic_pairs: list[SystematicPair] = []
    for addition, all_numbers in sorted(places_of.items(), key=lambda item: (-len(item[1]), item[0])):
        numbers = [number for number in all_numbers if marked[number].category is not Class.SYSTEMATIC]
        other_side = Side.WITNESS if addition.side is Side.BASE else Side.BASE
        if len(numbers) < MIN_RECURRING_PLACES or pair_counts[other_side][addition.longer] >= len(numbers):
            continue
        for number in numbers:
            marked[number] = replace(marked[number], category=Class.SYSTEMATIC)
        systematic_pairs.append(_pair_of(a, b, addition, [differences[number] for number in numbers]))
    return marked, systematic_pairs


def _additions(a: WitnessTokens, b: WitnessTokens, difference: Difference) -> Iterator[_Addition]:
    """A character that only one text has, as an addition to the character after it and to the one before it."""
    in_base = difference.kind is Kind.INSERTION
    side, keys, at = (Side.BASE, a.keys, difference.a0) if in_base else (Side.WITNESS, b.keys, difference.b0)
    if at + 1 < len(keys):
        yield _Addition(side, keys[at : at + 2], keys[at + 1])
    if at:
        yield _Addition(side, keys[at - 1 : at + 1], keys[at - 1])


def _pair_of(
    a: WitnessTokens, b: WitnessTokens, addition: _Addition, differences: Sequence[Difference]
) -> SystematicPair:
    first = differences[0]
    in_base = addition.side is Side.BASE
    tokens, at = (a, first.a0) if in_base else (b, first.b0)
    is_before = tokens.keys[at : at + 2] == addition.longer
    start = at if is_before else at - 1
    longer = tokens.text(start, start + 2)
    shorter = tokens.text(start + 1, start + 2) if is_before else tokens.text(start, start + 1)
    base, witness = (longer, shorter) if in_base else (shorter, longer)
    places = tuple(difference.start for difference in differences)
    witness_places = tuple(b.starts[min(difference.b0, len(b) - 1)] for difference in differences)
    return SystematicPair(base, witness, addition.side, places, witness_places, len(differences))
