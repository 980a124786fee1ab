"""From single differences to readings, as a collation note would have them: neighbours that are one variant (垢消 for
穢銷, 山澤 for 澤梁), characters and phrases in another order, and what one text has more of all over (十三, 一十三).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from proof.collation.classes import PARTICLES, Class
from proof.collation.differences import Difference, Side, SystematicPair, made
from proof.collation.tokens import PairCounts, WitnessTokens
from proof.model.flags import Kind

LONGEST_READING = 8
"""Characters of the longest reading that is put together of neighbours."""

ISLAND = 1
"""Equal characters between something that is too much and something missing that belong to one reading (山澤, 澤梁)."""

REACH_OF_CHARACTER = 12
"""Characters at most between where a character stands in the one and where in the other, for it to have moved."""

REACH_OF_PARTICLE = 2
"""The same of a particle: there are so many that two slips are likelier than one that moved."""

REACH_OF_PHRASE = 40
"""The same of two characters and more."""

RECURRING_PLACES = 5
"""Places at least at which one text has the same character more, before or behind the same one, to be systematic."""

_WORDS = frozenset({Class.ERROR, Class.READING})


def as_readings(a: WitnessTokens, b: WitnessTokens, found: Sequence[Difference]) -> list[Difference]:
    """The differences with neighbours that are one reading put together and transpositions told, in the same order."""
    joined = _with_islands(a, b, _with_neighbours(a, b, found))
    return _with_transpositions(a, b, joined)


def _with_neighbours(a: WitnessTokens, b: WitnessTokens, found: Sequence[Difference]) -> Iterator[Difference]:
    run: list[Difference] = []
    for one in found:
        if run and not (_adjacent(run[-1], one) and _joins(one) and _joins(run[-1])):
            yield from _as_one(a, b, run)
            run = []
        run.append(one)
    yield from _as_one(a, b, run)


def _adjacent(one: Difference, other: Difference) -> bool:
    return one.a1 == other.a0 and one.b1 == other.b0


def _joins(one: Difference) -> bool:
    """Whether a difference may be part of a longer reading: one in the words, or in a word written for another."""
    return one.rule != "doubled" and (
        one.category in _WORDS or (one.category is Class.ORTHOGRAPHY and one.kind is not Kind.VARIANT)
    )


def _as_one(a: WitnessTokens, b: WitnessTokens, run: Sequence[Difference]) -> Iterator[Difference]:
    """Neighbours as one reading, where they are in the words, short enough, and within a column of both."""
    if len(run) < 2 or all(one.category is Class.ORTHOGRAPHY for one in run):
        yield from run
        return
    span = (run[0].a0, run[-1].a1, run[0].b0, run[-1].b1)
    merged = _phrase(a, b, span)
    if merged is None:
        yield from run
    else:
        yield merged


def _phrase(a: WitnessTokens, b: WitnessTokens, span: tuple[int, int, int, int]) -> Difference | None:
    a0, a1, b0, b1 = span
    if max(a1 - a0, b1 - b0) > LONGEST_READING or not (_in_line(a, a0, a1) and _in_line(b, b0, b1)):
        return None
    if a1 - a0 == b1 - b0 > 1 and sorted(a.keys[a0:a1]) == sorted(b.keys[b0:b1]):
        return replace(made(a, b, span, Class.ERROR, ""), kind=Kind.TRANSPOSITION)
    return made(a, b, span, Class.READING, "phrase")


def _in_line(of: WitnessTokens, start: int, end: int) -> bool:
    """Whether characters stand in one column or paragraph: a finding has one address."""
    return start == end or of.blocks[start] == of.blocks[end - 1]


def _with_islands(a: WitnessTokens, b: WitnessTokens, found: Iterator[Difference]) -> list[Difference]:
    """What is too much and what is missing beside one equal character as one reading: 山澤 for 澤梁."""
    done: list[Difference] = []
    for one in found:
        last = done[-1] if done else None
        merged = _over_island(a, b, last, one) if last is not None else None
        if merged is None:
            done.append(one)
        else:
            done[-1] = merged
    return done


def _over_island(a: WitnessTokens, b: WitnessTokens, one: Difference, other: Difference) -> Difference | None:
    if {one.kind, other.kind} != {Kind.INSERTION, Kind.OMISSION} or other.a0 - one.a1 != ISLAND:
        return None
    lengths = {max(each.a1 - each.a0, each.b1 - each.b0) for each in (one, other)}
    if other.b0 - one.b1 != ISLAND or len(lengths) > 1 or max(lengths) > 2:
        return None
    plain = [_plain(each) for each in (one, other)]
    if not any(plain) or any(each.category not in _WORDS or each.rule == "doubled" for each in (one, other)):
        return None
    if _key(a, b, one) == _key(a, b, other):
        return None  # a transposition
    return _phrase(a, b, (one.a0, other.a1, one.b0, other.b1))


def _plain(one: Difference) -> bool:
    """Whether what is missing or too much is no particle: of these two slips are likelier than one reading."""
    return (one.base or one.witness) not in PARTICLES


def _key(a: WitnessTokens, b: WitnessTokens, one: Difference) -> str:
    """The keys of what only one of the two has."""
    return a.keys[one.a0 : one.a1] or b.keys[one.b0 : one.b1]


def _with_transpositions(a: WitnessTokens, b: WitnessTokens, found: Sequence[Difference]) -> list[Difference]:
    """The differences with those that are the same words at another place as one, or as two where they stand in two
    columns."""
    done: list[Difference] = []
    index = 0
    while index < len(found):
        partner = _partner(a, b, found, index)
        if partner is None:
            done.append(found[index])
            index += 1
            continue
        one, other = found[index], found[partner]
        span = (min(one.a0, other.a0), max(one.a1, other.a1), min(one.b0, other.b0), max(one.b1, other.b1))
        between = found[index + 1 : partner]
        if _in_line(a, *span[:2]) and _in_line(b, *span[2:]):
            done.append(replace(made(a, b, span, Class.ERROR, ""), kind=Kind.TRANSPOSITION))
        else:
            done += [replace(one, category=Class.ERROR, rule="moved"), *between]
            done.append(replace(other, category=Class.ERROR, rule="moved"))
        index = partner + 1
    return done


def _partner(a: WitnessTokens, b: WitnessTokens, found: Sequence[Difference], index: int) -> int | None:
    """Which of the next differences has the words of this one, and this one its. Only forms of words lie between."""
    one = found[index]
    if one.category not in _WORDS:
        return None
    for number in range(index + 1, len(found)):
        other = found[number]
        if max(other.a0 - one.a1, other.b0 - one.b1) > REACH_OF_PHRASE or other.a0 < one.a1 or other.b0 < one.b1:
            return None
        if other.category in _WORDS:
            return number if _exchanged(a, b, one, other) else None
    return None


def _exchanged(a: WitnessTokens, b: WitnessTokens, one: Difference, other: Difference) -> bool:
    mine = a.keys[one.a0 : one.a1], a.keys[other.a0 : other.a1]
    theirs = b.keys[one.b0 : one.b1], b.keys[other.b0 : other.b1]
    if mine != theirs[::-1] or mine == ("", ""):
        return False
    words = max(mine, key=len)
    apart = other.a0 - one.a1
    if len(words) > 1:
        return apart <= REACH_OF_PHRASE
    return apart <= (REACH_OF_PARTICLE if words in PARTICLES else REACH_OF_CHARACTER)


def recurring(
    a: WitnessTokens, b: WitnessTokens, found: Sequence[Difference]
) -> tuple[list[Difference], list[SystematicPair]]:
    """The differences with those marked as systematic where one text has the same character more before, or behind,
    the same one all over; and these as pairs: 一十 for 十."""
    groups: defaultdict[tuple[Side, str, str], list[int]] = defaultdict(list)
    for number, one in enumerate(found):
        if one.category in _WORDS and one.kind in (Kind.INSERTION, Kind.OMISSION) and len(_key(a, b, one)) == 1:
            for key in _companies(a, b, one):
                groups[key].append(number)
    if not any(len(numbers) >= RECURRING_PLACES for numbers in groups.values()):
        return list(found), []
    pairs = {Side.BASE: PairCounts(a.keys), Side.WITNESS: PairCounts(b.keys)}
    marked = list(found)
    told: list[SystematicPair] = []
    for (side, longer, shorter), every in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        numbers = [number for number in every if marked[number].category is not Class.SYSTEMATIC]
        other = Side.WITNESS if side is Side.BASE else Side.BASE
        if len(numbers) < RECURRING_PLACES or pairs[other][longer] >= len(numbers):
            continue
        for number in numbers:
            marked[number] = replace(marked[number], category=Class.SYSTEMATIC)
        told.append(_told(a, b, side, (longer, shorter), [found[number] for number in numbers]))
    return marked, told


def _companies(a: WitnessTokens, b: WitnessTokens, one: Difference) -> Iterator[tuple[Side, str, str]]:
    """Who has the character more, with the one behind it and the one before it, with it and without."""
    side, of, at = (Side.BASE, a, one.a0) if one.kind is Kind.INSERTION else (Side.WITNESS, b, one.b0)
    if at + 1 < len(of):
        yield side, of.keys[at : at + 2], of.keys[at + 1]
    if at:
        yield side, of.keys[at - 1 : at + 1], of.keys[at - 1]


def _told(
    a: WitnessTokens, b: WitnessTokens, side: Side, keys: tuple[str, str], found: Sequence[Difference]
) -> SystematicPair:
    first = found[0]
    of, at = (a, first.a0) if side is Side.BASE else (b, first.b0)
    start = at if of.keys[at : at + 2] == keys[0] else at - 1
    longer = of.text(start, start + 2)
    shorter = of.text(start + 1, start + 2) if start == at else of.text(start, start + 1)
    words = (longer, shorter) if side is Side.BASE else (shorter, longer)
    places = tuple(one.start for one in found)
    there = tuple(b.starts[min(one.b0, len(b) - 1)] for one in found)
    return SystematicPair(*words, side, places, there, len(found))
