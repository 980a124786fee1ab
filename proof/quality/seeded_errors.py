"""Seeded errors: correct places that people are shown with a wrong transcription, to measure how many errors they
catch.

The text does not change, only the flag is wrong. It has the evidence of a true error: the posterior of the image's
character is the recogniser's own, that of the wrong character is drawn from the range of true errors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log

from proof.model.flags import Evidence, Flag, Kind, with_ids
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, PageResult
from proof.text.alike import look_alikes, run_together
from proof.text.contexts import MAX_CONTEXT_CHARACTERS, context_of
from proof.text.conversions import conversions
from proof.text.model import Script, is_han
from proof.text.variants import Relation, VariantPolicy
from proof.verify.scores import substitution_score

MIN_SURE_POSTERIOR = 0.9
"""Minimum posterior of a character that the image confirms, so that a wrong one would have been flagged."""

MIN_ABOVE_THRESHOLD = 1.0
"""Minimum distance of a score above the threshold, in nats: witnesses and the whole text may lower it by as much."""

MIN_WRONG_POSTERIOR = 1e-5
"""Minimum posterior that the recogniser gives a wrong character if it is sure of another."""

MAX_WRONG_POSTERIOR = 2e-3
"""Maximum posterior that the recogniser gives a wrong character if it is sure of another."""

MAX_OTHERS = 3
"""Maximum number of alternatives beside the two characters of a flag."""


@dataclass(frozen=True, slots=True)
class ErrorPolicy:
    """The criteria by which a wrong character can be seeded: `policy` tells different words from variants,
    `knows` whether the recogniser can read a character, and flags with a score of at least `threshold` are raised."""

    policy: VariantPolicy
    knows: Callable[[str], bool]
    threshold: float


def seeded_errors_of(
    result: PageResult, rate: float, error_policy: ErrorPolicy, samples: Sequence[Flag] = ()
) -> tuple[Flag, ...]:
    """Seeded errors of a page in reading order, about `rate` of 10,000 characters without a flag.

    A hash of the place decides, so that the same page of the same text always has the same errors. None is near a flag,
    a sample or another seeded error.
    """
    if rate <= 0:
        return ()
    taken = (*result.flags, *samples)
    sources = {column.number: column.source for column in result.columns}
    free = [char for char in result.characters if is_han(char.text) and not _is_near(taken, char.line, char.offset)]
    candidates = [(char, _wrong_for(char, sources.get(char.line, ""), error_policy)) for char in free]
    eligible = [(char, wrong) for char, wrong in candidates if wrong]
    if not eligible:
        return ()
    chance = rate / 10_000 * len(free) / len(eligible)  # the rate is of all characters, not of the eligible ones
    seeded: list[Flag] = []
    for char, wrong in eligible:
        dice = _Dice(f"{result.page}\x1f{char.line}\x1f{char.offset}\x1f{char.text}")
        if dice.roll() < chance and not _is_near(seeded, char.line, char.offset):
            flag = _seeded(result, char, wrong, sources[char.line], error_policy, dice)
            if flag.score >= error_policy.threshold + MIN_ABOVE_THRESHOLD:
                seeded.append(flag)
    taken_ids = {flag.id for flag in taken}
    return tuple(flag for flag in with_ids(seeded) if flag.id not in taken_ids)


def _is_near(flags: Sequence[Flag], line: int, offset: int) -> bool:
    """Whether a place is so near a flag that the context of either would show the other."""
    reach = 2 * MAX_CONTEXT_CHARACTERS
    return any(
        flag.line == line and flag.offset - reach <= offset < flag.offset + max(flag.length, 1) + reach
        for flag in flags
        if flag.line
    )


def _wrong_for(char: CheckedCharacter, source: str, error_policy: ErrorPolicy) -> list[str]:
    """Characters that a transcriber could have written for `char` by mistake; none if the image does not confirm it."""
    is_sure = char.p_text is not None and char.p_text >= MIN_SURE_POSTERIOR
    if not is_sure or char.length != 1 or source[char.offset : char.offset + 1] != char.text:
        return []
    relation = error_policy.policy.relation
    if char.read != char.text and relation(char.text, char.read).relation is not Relation.SCRIPT:
        return []

    def is_another_word(wrong: str) -> bool:
        relations = (relation(wrong, text).relation for text in (char.text, char.read))
        return all(relation is Relation.DISTINCT for relation in relations) and not run_together(wrong, char.text)

    def is_usual(wrong: str) -> bool:
        return is_han(wrong) and _is_used_in(error_policy.policy.script, wrong)

    lists = conversions()
    same_simplified = {
        traditional
        for simplified in lists.simplified.get(char.text, ())
        for traditional in lists.traditional.get(simplified, ())
    }
    candidates = sorted({*look_alikes(char.text), *same_simplified})
    return [wrong for wrong in candidates if is_usual(wrong) and is_another_word(wrong) and error_policy.knows(wrong)]


def _is_used_in(script: Script, character: str) -> bool:
    """Whether texts in that script use the character."""
    lists = conversions()
    other = lists.simplified if script is Script.SIMPLIFIED else lists.traditional
    return character in other.get(character, (character,))


def _seeded(
    result: PageResult,
    char: CheckedCharacter,
    candidates: Sequence[str],
    source: str,
    error_policy: ErrorPolicy,
    dice: _Dice,
) -> Flag:
    wrong = candidates[int(dice.roll() * len(candidates))]
    assert char.p_text is not None, "only a confirmed character gets an error"
    # The store rounds the posteriors of characters, not those of flags. Rounded digits in a flag would show that it is
    # seeded, so all numbers are varied a little.
    p_best = min(max(char.p_text + (dice.roll() - 0.5) * 1e-5, 0.5), 1.0 - 1e-6 * (1 + dice.roll()))
    spread = log(MAX_WRONG_POSTERIOR / MIN_WRONG_POSTERIOR)
    p_text = min(exp(log(MIN_WRONG_POSTERIOR) + dice.roll() * spread), (1.0 - p_best) * (0.3 + 0.6 * dice.roll()))
    p_text = max(p_text, MIN_WRONG_POSTERIOR * (1 + 0.1 * dice.roll()))
    box = Box(*(edge + 0.1 * (dice.roll() - 0.5) for edge in (char.box.x, char.box.y, char.box.w, char.box.h)))
    shown = source[: char.offset] + wrong + source[char.offset + 1 :]
    alternatives = _alternatives(char, wrong, p_text, p_best, dice)
    return Flag(
        page=result.page,
        ref=result.ref,
        line=char.line,
        offset=char.offset,
        length=1,
        kind=Kind.SUBSTITUTION,
        transcribed=wrong,
        suggested=char.text,
        score=substitution_score(log(p_text), log(p_best), 0.0),
        raised=True,
        bbox=box,
        evidence=Evidence("posterior", p_text=p_text, p_best=p_best, alternatives=alternatives),
        context=context_of(shown, char.offset, 1),
    )


def _alternatives(
    char: CheckedCharacter, wrong: str, p_text: float, p_best: float, dice: _Dice
) -> tuple[tuple[str, float], ...]:
    """Alternatives as the recogniser would give them: its reading, the wrong character in its printed form, and
    look-alikes of both, which share the remaining probability."""
    remaining = max(1.0 - p_best - p_text, 0.0)
    pairs = [(char.read, p_best), (_as_printed(wrong), p_text)]
    similar = sorted({*look_alikes(wrong), *look_alikes(char.read)} - {wrong, char.read, char.text})
    for character in similar[:MAX_OTHERS]:
        share = remaining * dice.roll() * 0.7
        remaining -= share
        if share > MIN_WRONG_POSTERIOR:
            pairs.append((character, share))
    return tuple((text, round(p, 5)) for text, p in sorted(pairs, key=lambda pair: -pair[1]))


def _as_printed(character: str) -> str:
    """The traditional form of a character, if it has exactly one; else the character."""
    forms = conversions().traditional.get(character, ())
    return forms[0] if len(forms) == 1 else character


class _Dice:
    """Numbers from 0 to 1 that depend only on a seed."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._count = 0

    def roll(self) -> float:
        """The next number."""
        self._count += 1
        digest = hashlib.blake2b(f"planted\x1f{self._count}\x1f{self._seed}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64
