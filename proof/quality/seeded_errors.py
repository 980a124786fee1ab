"""Seeded errors: places where the desk shows a false transcription, to learn how many errors each person catches.

The text is right and stays as it is; what is false stands in the flag alone. Such a flag says what any other would say
had the transcriber erred here: the recogniser's belief in what the image shows is its own, what it would give the
false character is drawn from what it gives to true errors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log

from proof.model.flags import REACH, Evidence, Flag, Kind, context_of
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, PageResult
from proof.text.alike import look_alikes, run_together
from proof.text.conversions import conversions
from proof.text.model import Script, is_han
from proof.text.variants import Relation, VariantPolicy
from proof.verify.page_findings import numbered
from proof.verify.scores import substitution_score

SURE = 0.9
"""Probability from which what is transcribed counts as read, so that a false character would have been flagged."""

CLEAR = 1.0
"""How far above the threshold the score lies at least, in nats: what witnesses and the whole text add or take."""

LEAST, MOST = 1e-5, 2e-3
"""What a recogniser gives a wrong character where it is sure of another."""

OTHERS = 3
"""Alternatives beside the two, at most."""


@dataclass(frozen=True, slots=True)
class ErrorPolicy:
    """By what errors are judged: whether two characters are different words, and how well the recogniser was taught
    a character (0 to 1)."""

    policy: VariantPolicy
    familiarity: Callable[[str], float]
    threshold: float


def seeded_errors_of(
    result: PageResult, rate: float, judge: ErrorPolicy, samples: Sequence[Flag] = ()
) -> tuple[Flag, ...]:
    """Seeded errors of a page, in its order: of 10,000 characters without a flag about `rate`.

    Chance decides, and always in the same way: the same page in the same text has the same ones. They stand beside
    no flag and no sample, nor beside each other.
    """
    if rate <= 0:
        return ()
    there = (*result.flags, *samples)
    sources = {column.number: column.source for column in result.columns}
    free = [one for one in result.characters if is_han(one.text) and not _near(there, one.line, one.offset)]
    bearing = [(one, found) for one in free if (found := _false_for(one, sources.get(one.line, ""), judge))]
    if not bearing:
        return ()
    chance = rate / 10_000 * len(free) / len(bearing)  # those that nothing is confused with leave theirs to others
    made: list[Flag] = []
    for one, candidates in bearing:
        dice = _Dice(f"{result.page}\x1f{one.line}\x1f{one.offset}\x1f{one.text}")
        if dice.roll() < chance and not _near(made, one.line, one.offset):
            flag = _seeded(result, one, candidates, sources[one.line], judge, dice)
            if flag.score >= judge.threshold + CLEAR:
                made.append(flag)
    known = {flag.id for flag in there}
    return tuple(one for one in numbered(made) if one.id not in known)


def _near(flags: Sequence[Flag], line: int, offset: int) -> bool:
    """Whether a place lies so near a flag that what either shows of its surroundings would hold the other."""
    reach = 2 * REACH
    return any(
        flag.line == line and flag.offset - reach <= offset < flag.offset + max(flag.length, 1) + reach
        for flag in flags
        if flag.line
    )


def _false_for(one: CheckedCharacter, source: str, judge: ErrorPolicy) -> list[str]:
    """What could stand in the place of a character by mistake; nothing where its image is not surely read."""
    sure = one.p_text is not None and one.p_text >= SURE
    if not sure or one.length != 1 or source[one.offset : one.offset + 1] != one.text:
        return []
    relation = judge.policy.relation
    if one.read != one.text and relation(one.text, one.read).relation is not Relation.SCRIPT:
        return []
    merged = conversions()
    siblings = {false for short in merged.simplified.get(one.text, ()) for false in merged.traditional.get(short, ())}
    return [
        false
        for false in sorted({*look_alikes(one.text), *siblings})
        if is_han(false)
        and _written_in(judge.policy.script, false)
        and relation(false, one.text).relation is Relation.DISTINCT
        and relation(false, one.read).relation is Relation.DISTINCT
        and not run_together(false, one.text)
        and judge.familiarity(false) > 0
    ]


def _written_in(script: Script, character: str) -> bool:
    """Whether a text in that script has the character."""
    lists = conversions()
    other = lists.simplified if script is Script.SIMPLIFIED else lists.traditional
    return character in other.get(character, (character,))


def _seeded(
    result: PageResult, one: CheckedCharacter, candidates: Sequence[str], source: str, judge: ErrorPolicy, dice: _Dice
) -> Flag:
    false = candidates[int(dice.roll() * len(candidates))]
    assert one.p_text is not None, "only what is read bears an error"
    # what is kept of a character is rounded, what is kept of a flag is not
    best = min(max(one.p_text + (dice.roll() - 0.5) * 1e-5, 0.5), 1.0 - 1e-6 * (1 + dice.roll()))
    own = min(exp(log(LEAST) + dice.roll() * log(MOST / LEAST)), (1.0 - best) * (0.3 + 0.6 * dice.roll()))
    own = max(own, LEAST * (1 + 0.1 * dice.roll()))
    box = Box(*(edge + 0.1 * (dice.roll() - 0.5) for edge in (one.box.x, one.box.y, one.box.w, one.box.h)))
    shown = source[: one.offset] + false + source[one.offset + 1 :]
    return Flag(
        page=result.page,
        ref=result.ref,
        line=one.line,
        offset=one.offset,
        length=1,
        kind=Kind.SUBSTITUTION,
        transcribed=false,
        suggested=one.text,
        score=substitution_score(log(own), log(best), 0.0, judge.familiarity(false)),
        raised=True,
        bbox=box,
        evidence=Evidence(
            "posterior", p_text=own, p_best=best, alternatives=_alternatives(one, false, own, best, dice)
        ),
        context=context_of(shown, one.offset, 1),
    )


def _alternatives(
    one: CheckedCharacter, false: str, own: float, best: float, dice: _Dice
) -> tuple[tuple[str, float], ...]:
    """What the recogniser would name: what it reads, the false character as an image has it, and a few others that
    share what is left."""
    left = max(1.0 - best - own, 0.0)
    found = [(one.read, best), (_as_printed(false), own)]
    for other in sorted({*look_alikes(false), *look_alikes(one.read)} - {false, one.read, one.text})[:OTHERS]:
        share = left * dice.roll() * 0.7
        left -= share
        if share > LEAST:
            found.append((other, share))
    return tuple((text, round(p, 5)) for text, p in sorted(found, key=lambda pair: -pair[1]))


def _as_printed(character: str) -> str:
    """A character of a simplified text as the old books have it."""
    forms = conversions().traditional.get(character, ())
    return forms[0] if len(forms) == 1 else character


class _Dice:
    """Numbers from 0 to 1 that hang on a place alone."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._count = 0

    def roll(self) -> float:
        """The next number."""
        self._count += 1
        digest = hashlib.blake2b(f"planted\x1f{self._count}\x1f{self._seed}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64
