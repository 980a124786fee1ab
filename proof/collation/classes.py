"""The class of a difference of two witnesses, and the evidence for it.

For two characters that are aligned the first of these rules that applies decides; the name of the evidence becomes the
difference's `rule`:

1. the project's own pairs, then the lists of forms, of taboo characters and of both scripts (`proof.text.variants`);
2. characters that a hand or a block does not keep apart (`one-shape`: 己已巳);
3. two words that are written for one another: dictionaries list them together (`listed-moe-taiwan` ...),
   as a borrowing (`borrowing`), simplification merged them (`opencc-one-to-many`), or they sound alike
   (`homophones`): orthography, 通假;
4. similar characters are an error, 形近而訛, if one of them occurs elsewhere in the two texts between these neighbours
   and the other does not (`look-alike`); if one is on no list of standard characters, or occurs only here in long texts
   (`look-alike-rare`); or if they are so similar that one is an evident slip (`look-alike-shape`), unless both occur
   between these neighbours elsewhere;
5. what a note of either edition calls an error (訛作, 誤作, 原作 ...) is one (`apparatus`);
6. anything else is another reading, 異文: both make words, and no list says which is right.

Characters that only one of the two has: repeated ones are an error (`doubled`, 衍), particles are readings
(`particle`), and so is a phrase for a phrase; others are an error of omission or insertion (脫, 衍). A gloss on sounds
is a passage of its own (`gloss`). Parts of a title with the number of a juan are layout (`title`), and so are a heading
that the other lacks (`heading`) and the words that announce commentary (`label`: 鄭注, 疏, 釋曰)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise, product

import numpy as np

from proof.collation.resemblance import homophones, near_in_shape, share_part
from proof.collation.tokens import PairCounts, WitnessTokens
from proof.text.alike import look_alikes, run_together
from proof.text.authorities import authorities
from proof.text.layers import Layer
from proof.text.model import Script
from proof.text.variants import Relation, VariantPolicy, VariantVerdict, unified

PARTICLES = frozenset("之也者而以其於于乎焉矣哉耳夫則乃亦故即曰云第")
"""Words that editions have or lack without being in error; 第 of numbers among them."""

MIN_CHARACTERS_FOR_RARITY = 60_000
"""Minimum number of characters of both texts together for it to be evidence that a character occurs only once."""

MIN_OTHER_PLACES = 2
"""Minimum number of other places of a character that is not rare in these texts."""

_TITLE = re.compile(r"卷[之第]?[一二三四五六七八九十百上中下]+")
_NUMBER = re.compile(r"第[一二三四五六七八九十百]+[上中下]?")
"""The number behind the title of a part: 五帝本紀第一."""
_SERIES = re.compile(r"[欽钦]定四[庫库]全[書书]")
"""The name of the series above the title of a juan."""
MAX_TITLE_CHARACTERS = 24
"""Maximum length of a title with the number of a juan."""

MAX_AUTHOR_CHARACTERS = 16
"""Maximum length of a line of authors behind it."""

_LABEL = re.compile(r"[鄭郑]?注曰?|注?[疏䟽]曰?|[疏䟽]?注?[釋释]曰|音[義义]|音[義义]?[疏䟽]注?")
_GLOSS = re.compile(r"(?:音[義义])?(?:.{1,2}[^反切]{2}[反切]|.{1,2}音.|.{1,2}如字)+(?:[下注][皆並]?同)?")
"""How a character is read: 朝直遥反, 與音預, 斯如字, 竒居宜反下同."""
_AUTHOR = re.compile(r"[撰著注註編輯]$|^[漢晉唐宋元明清魏]")

_LISTED = frozenset({"two-standards", "opencc-one-to-many", "unlisted"})
"""Rules of the policy that leave a pair to be judged here; one sorted by hand is not."""


class Class(StrEnum):
    """What a difference is.

    `ERROR`: 訛, 脫, 衍 or 倒. `READING`: another word (異文). `ORTHOGRAPHY`: another form of the word (異體) or a
    borrowing (通假). `SCRIPT`: simplified for traditional. `TABOO`: a taboo form (避諱). `LAYOUT`: a title, or words
    that are a note in one of them and text in the other. `UNENCODED`: a character composed of parts, which an old
    encoding lacked, or two characters without code points. `SYSTEMATIC`: wherever the one has this character, the other
    has that one. `PASSAGE`: one of the two has a passage that the other lacks here. `MOVED`: a part of both is
    elsewhere in the witness. `UNLIKE`: the two are not parallel here. `PARALLEL`: a difference in a part where the two
    are similar, but not the same text.
    """

    ERROR = "error"
    READING = "reading"
    ORTHOGRAPHY = "orthography"
    SCRIPT = "script"
    TABOO = "taboo"
    LAYOUT = "layout"
    UNENCODED = "unencoded"
    SYSTEMATIC = "systematic"
    PASSAGE = "passage"
    MOVED = "moved"
    PARALLEL = "parallel"
    UNLIKE = "not parallel"


RANK = (
    Class.SCRIPT,
    Class.UNENCODED,
    Class.ORTHOGRAPHY,
    Class.TABOO,
    Class.LAYOUT,
    Class.UNLIKE,
    Class.PARALLEL,
    Class.PASSAGE,
    Class.MOVED,
    Class.SYSTEMATIC,
    Class.READING,
    Class.ERROR,
)
"""The classes from the lightest: where witnesses differ from the base in several ways, or one does at one place, the
heaviest is the place's."""


def borrowed(rule: str) -> bool:
    """Whether the evidence of orthography is that one word is written for another, not that both are its forms."""
    return rule in ("one-shape", "borrowing", "opencc-one-to-many", "homophones") or rule.startswith("listed-")


NO_CODE_POINT = "no-code-point"
"""The evidence where one of the two is an entity."""

ClassAndRule = tuple[Class, str]
"""A class and the evidence for it."""


@dataclass(frozen=True, slots=True)
class CharacterClassifier:
    """Classifies pairs of characters. `policies` are those of both scripts and of simplified texts."""

    base: Script
    other: Script
    policies: Mapping[Script, VariantPolicy]

    def relation(self, base: str, other: str) -> VariantVerdict:
        """The verdict, asked from the side of the simplified one of the two where they differ in script, else from
        both: a form of 1956 is an error in either of two traditional texts, in simplified ones any tie is one."""
        if self.base is not self.other:
            first, second = (base, other) if self.base is Script.SIMPLIFIED else (other, base)
            return self.policies[Script.SIMPLIFIED].relation(first, second)
        policy = self.policies[self.base]
        first, second = sorted((base, other))
        verdicts = policy.relation(first, second), policy.relation(second, first)
        distinct = [verdict for verdict in verdicts if verdict.relation is Relation.DISTINCT]
        if self.base is Script.TRADITIONAL and distinct:
            return distinct[0]
        return next((verdict for verdict in verdicts if verdict.relation is not Relation.DISTINCT), verdicts[0])


class DifferenceClassifier:
    """Classifies the differences of two texts, `a` and `b`."""

    def __init__(self, a: WitnessTokens, b: WitnessTokens, characters: CharacterClassifier) -> None:
        self._a, self._b = a, b
        self._characters = characters

    def pair(self, at: int, to: int) -> ClassAndRule:
        """Two characters that answer one another and are not the same."""
        mine, theirs = self._a.character(at), self._b.character(to)
        if mine.startswith("&") or theirs.startswith("&"):
            return Class.UNENCODED, NO_CODE_POINT
        if len(unified(mine)) > 1 or len(unified(theirs)) > 1:
            return Class.UNENCODED, "composed"
        verdict = self._characters.relation(mine, theirs)
        match verdict.relation:
            case Relation.SCRIPT:
                return Class.SCRIPT, verdict.rule
            case Relation.TABOO:
                return Class.TABOO, verdict.rule
            case Relation.DISTINCT:
                return self._two_words(at, to, verdict.rule)
            case _:
                return Class.ORTHOGRAPHY, verdict.rule

    def alone(self, of: WitnessTokens, start: int, end: int, gap: int) -> ClassAndRule:
        """Characters that only one of the two has; `gap` is the character before which the other lacks them."""
        text, length = of.keys[start:end], end - start
        other = self._b if of is self._a else self._a
        numbered = _ends_line(of, end) and _ends_line(other, gap) and _NUMBER.fullmatch(of.text(start, end))
        tests = (
            (all(layer is Layer.HEADING for layer in of.layers[start:end]), Class.LAYOUT, "heading"),
            (bool(numbered) or self._titled(of, start), Class.LAYOUT, "title"),
            (text in (of.keys[start - length : start], of.keys[end : end + length]), Class.ERROR, "doubled"),
            (is_label(of, start, end), Class.LAYOUT, "label"),
            (_GLOSS.fullmatch(of.text(start, end)) is not None, Class.PASSAGE, "gloss"),
            (length == 1 and of.character(start) in PARTICLES, Class.READING, "particle"),
        )
        return next(((category, rule) for holds, category, rule in tests if holds), (Class.ERROR, ""))

    def phrase(self, at: int, to: int) -> ClassAndRule:
        """Some characters for others, not as many."""
        if self._titled(self._a, at) or self._titled(self._b, to):
            return Class.LAYOUT, "title"
        return Class.READING, "phrase"

    def _two_words(self, at: int, to: int, rule: str) -> ClassAndRule:
        pairs = list(product(self._possible_words(self._a, at), self._possible_words(self._b, to)))
        if rule in _LISTED:
            for tie in TIES:
                evidence = next((evidence for mine, theirs in pairs if (evidence := tie(mine, theirs))), "")
                if evidence:
                    return Class.ORTHOGRAPHY, evidence
        elif rule == "simplified-in-traditional":
            return Class.SCRIPT, rule
        evident = any(near_in_shape(mine, theirs) or theirs in look_alikes(mine) for mine, theirs in pairs)
        if evident or any(share_part(mine, theirs) for mine, theirs in pairs):
            evidence = self._out_of_place(at, to)
            if evidence:
                return Class.ERROR, evidence
        if evident and not (all(self._usual_neighbours(self._a, at)) and all(self._usual_neighbours(self._b, to))):
            return Class.ERROR, "look-alike-shape"
        return Class.READING, rule

    def _possible_words(self, of: WitnessTokens, at: int) -> tuple[str, ...]:
        """What a character may stand for: in a simplified text all traditional ones that became it."""
        script = self._characters.base if of is self._a else self._characters.other
        character = unified(of.character(at))
        if script is Script.TRADITIONAL:
            return (character,)
        return tuple(dict.fromkeys((*authorities().conversions.traditional.get(character, ()), character)))

    def _out_of_place(self, at: int, to: int) -> str:
        """Evidence that one of two characters does not belong where it stands: the two texts have only the other of
        them in this company elsewhere, or one of them nowhere else at all."""
        mine, theirs = self._usual_neighbours(self._a, at), self._usual_neighbours(self._b, to)
        if (all(mine) and not any(theirs)) or (all(theirs) and not any(mine)):
            return "look-alike"
        here, there = self._elsewhere[self._a.keys[at]] - 1, self._elsewhere[self._b.keys[to]] - 1
        if (
            len(self._a) + len(self._b) >= MIN_CHARACTERS_FOR_RARITY
            and min(here, there) <= 0
            and max(here, there) >= MIN_OTHER_PLACES
        ):
            return "look-alike-rare"
        usual = [unified(of.character(place)) in authorities().standard for of, place in ((self._a, at), (self._b, to))]
        traditional = self._characters.base is self._characters.other is Script.TRADITIONAL
        return "look-alike-rare" if traditional and usual[0] is not usual[1] else ""

    def _usual_neighbours(self, of: WitnessTokens, at: int) -> tuple[bool, bool]:
        """Whether the character is met elsewhere behind the one that stands before it here, and before the next."""
        keys = of.keys
        return (
            at > 0 and self._together[keys[at - 1 : at + 1]] > 1,
            at + 2 <= len(keys) and self._together[keys[at : at + 2]] > 1,
        )

    @cached_property
    def _elsewhere(self) -> Counter[str]:
        return Counter(self._a.keys) + Counter(self._b.keys)

    @cached_property
    def _together(self) -> PairCounts:
        return PairCounts(self._a.keys, self._b.keys)

    def _titled(self, of: WitnessTokens, at: int) -> bool:
        return of.blocks[min(at, len(of) - 1)] in self._titles[of is self._b]

    @cached_property
    def _titles(self) -> tuple[frozenset[int], frozenset[int]]:
        return titles(self._a), titles(self._b)


def _ends_line(of: WitnessTokens, end: int) -> bool:
    """Whether a line ends before a character."""
    return end == len(of) or (end > 0 and of.blocks[end] != of.blocks[end - 1])


def is_label(of: WitnessTokens, start: int, end: int) -> bool:
    """Whether characters announce commentary, or are a part of words that do: 鄭 of 鄭注, 釋 of 釋曰, 音 and 義 in two
    columns."""
    if start >= end or _LABEL.fullmatch(of.text(start, end)):
        return start < end
    longer = of.text(start, end + 1)
    if longer[-1] in "注曰" and _LABEL.fullmatch(longer):
        return True
    cut_behind = end < len(of) and of.blocks[end] != of.blocks[end - 1] and _LABEL.fullmatch(longer)
    cut_before = start and of.blocks[start] != of.blocks[start - 1] and _LABEL.fullmatch(of.text(start - 1, end))
    return bool(cut_behind or cut_before)


def titles(of: WitnessTokens) -> frozenset[int]:
    """The numbers of the lines that are a title with the number of a juan, or that of the series over it, and of those
    of its authors behind."""
    begins = [0, *(np.flatnonzero(np.diff(np.asarray(of.blocks))) + 1).tolist(), len(of)] if len(of) else []
    lines = {
        of.blocks[start]: of.text(start, min(end, start + MAX_TITLE_CHARACTERS + 1)) for start, end in pairwise(begins)
    }
    covered, last = set(), -2
    for number, line in lines.items():
        author = number - last <= 2 and len(line) <= MAX_AUTHOR_CHARACTERS and _AUTHOR.search(line)
        if author or _SERIES.fullmatch(line) or (len(line) <= MAX_TITLE_CHARACTERS and _TITLE.search(line)):
            covered.add(number)
            last = number
    return frozenset(covered)


def _listed(first: str, second: str) -> str:
    testimony = authorities().about(first, second)
    return f"listed-{testimony.name}" if testimony.name else "borrowing" if "b" in testimony.against else ""


def _homophones(first: str, second: str) -> bool:
    return any(homophones(mine, theirs) for mine in _forms(first) for theirs in _forms(second))


TIES: Sequence[Callable[[str, str], str]] = (
    lambda first, second: "one-shape" * run_together(first, second),
    _listed,
    lambda first, second: "opencc-one-to-many" * authorities().conversions.one_to_many(first, second),
    lambda first, second: "homophones" * _homophones(first, second),
)
"""What may tie two words that are written for one another: each gives the name of the evidence, empty for none."""


def _forms(character: str) -> tuple[str, ...]:
    """A character and those that several lists take for forms of it: few forms have a spelling of their own."""
    lists = authorities()
    return (character, *(form for form in lists.partners(character) if lists.about(character, form).believed))
