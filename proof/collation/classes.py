"""The class of a difference of two witnesses, and the evidence for it.

The first of these rules that applies to two aligned characters decides. The name of the evidence becomes the
difference's `rule`:

1. the project's own pairs, then the lists of forms, of taboo characters and of both scripts (`proof.text.variants`);
2. characters that handwriting and woodblocks do not distinguish (`one-shape`: 己已巳);
3. two words that are written for one another: dictionaries list them together (`listed-moe-taiwan` ...) or as a
   borrowing (`borrowing`), simplification merged them (`opencc-one-to-many`), or they sound alike (`homophones`):
   orthography, 通假;
4. similar characters are an error, 形近而訛, if one of them occurs elsewhere in the two texts between these neighbours
   and the other does not (`look-alike`); if one is on no list of standard characters, or occurs only here in long texts
   (`look-alike-rare`); or if they are so similar that one is an evident slip (`look-alike-shape`), unless both occur
   between these neighbours elsewhere;
5. what a note of either edition calls an error (訛作, 誤作, 原作 ...) is one (`apparatus`);
6. anything else is another reading, 異文.

Characters that only one of the two texts has are an error of omission or insertion (脫, 衍; `doubled` if they repeat
their neighbours), with these exceptions: a particle is a reading (`particle`), a gloss on sounds is a passage
(`gloss`); parts of a title with the number of a juan (`title`), headings (`heading`) and words that announce commentary
(`label`: 鄭注, 疏, 釋曰) are layout, but not a part of such words (鄭 of 鄭注) if the text that lacks it has them
whole elsewhere. A phrase in place of another phrase is a reading (`phrase`)."""

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
from proof.text.layers import LACUNAE, Layer
from proof.text.model import Script
from proof.text.variants import Relation, VariantPolicy, VariantVerdict, unified

PARTICLES = frozenset("之也者而以其於于乎焉矣哉耳夫則乃亦故即曰云第")
"""Words that an edition may have or lack without an error, and 第 of numbers."""

MIN_CHARACTERS_FOR_RARITY = 60_000
"""Minimum number of characters of both texts together from which on a character that occurs once is evidence."""

MIN_OTHER_PLACES = 2
"""Minimum number of other places of a character that is not rare."""

_TITLE = re.compile(r"卷[之第]?[一二三四五六七八九十百上中下]+")
_NUMBER = re.compile(r"第[一二三四五六七八九十百]+[上中下]?")
"""The number after the title of a part: 五帝本紀第一."""

_SERIES = re.compile(r"[欽钦]定四[庫库]全[書书]")
"""The name of the series above the title of a juan."""

MAX_TITLE_CHARACTERS = 24
"""Maximum length of a title with the number of a juan."""

MAX_AUTHOR_CHARACTERS = 16
"""Maximum length of a line of authors after it."""

_LABEL = re.compile(r"[鄭郑]?注曰?|注?[疏䟽]曰?|[疏䟽]?注?[釋释]曰|音[義义]|音[義义]?[疏䟽]注?")
_GLOSS = re.compile(r"(?:音[義义])?(?:.{1,2}[^反切]{2}[反切]|.{1,2}音.|.{1,2}如字)+(?:[下注][皆並]?同)?")
"""The pronunciation of a character: 朝直遥反, 與音預, 斯如字, 竒居宜反下同."""

_AUTHOR = re.compile(r"[撰著注註編輯]$|^[漢晉唐宋元明清魏]")

_UNDECIDED_RULES = frozenset({"two-standards", "opencc-one-to-many", "unlisted"})
"""Rules of the variant policy after which two distinct words are classified further. Pairs that were classified by hand
are not."""


class Class(StrEnum):
    """The classes of differences.

    `ERROR`: 訛, 脫, 衍 or 倒. `READING`: another word (異文). `ORTHOGRAPHY`: another form of the word (異體) or a
    borrowing (通假). `SCRIPT`: simplified for traditional. `TABOO`: a taboo form (避諱). `LAYOUT`: a title, or words
    that are a note in one text and main text in the other. `UNENCODED`: a character written by its parts because an
    old encoding lacked it, a character without a code point, or a sign for a character that could not be read.
    `SYSTEMATIC`: one text has this character wherever the other has that one. `PASSAGE`: only one text has the passage
    here. `MOVED`: a part that the witness has at another place.
    `UNLIKE`: the two texts are not parallel here. `PARALLEL`: a difference in a part where the two are similar, but not
    the same text.
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
"""The classes from the lightest to the heaviest. A place with differences of several classes has the heaviest one."""


def is_borrowing(rule: str) -> bool:
    """Whether the evidence for orthography is that one word is written for another, not that both are forms of one."""
    return rule in ("one-shape", "borrowing", "opencc-one-to-many", "homophones") or rule.startswith("listed-")


NO_CODE_POINT = "no-code-point"
"""The evidence if one of the two characters is an entity."""

LACUNA = "lacuna"
"""The evidence if one of the two texts has signs for characters that could not be read or typed."""

ClassAndRule = tuple[Class, str]
"""A class and the evidence for it."""


@dataclass(frozen=True, slots=True)
class CharacterClassifier:
    """Compares characters of a text in the script `base` with those of a text in the script `other`. `policies` has the
    policies of both scripts and that of simplified texts."""

    base: Script
    other: Script
    policies: Mapping[Script, VariantPolicy]

    def relation(self, base: str, other: str) -> VariantVerdict:
        """The verdict on two characters.

        If the scripts differ, the simplified character counts as the transcribed one. If both are traditional, the pair
        must be one word in both orders, since a simplified character of 1956 is an error in either text; if both are
        simplified, one order is enough."""
        if self.base is not self.other:
            simplified, traditional = (base, other) if self.base is Script.SIMPLIFIED else (other, base)
            return self.policies[Script.SIMPLIFIED].relation(simplified, traditional)
        policy = self.policies[self.base]
        first, second = sorted((base, other))
        verdicts = policy.relation(first, second), policy.relation(second, first)
        must_be_distinct = self.base is Script.TRADITIONAL
        return next(
            (verdict for verdict in verdicts if (verdict.relation is Relation.DISTINCT) is must_be_distinct),
            verdicts[0],
        )


def _without_code_point(text: str) -> str:
    """The evidence that a character is not encoded as itself; empty if it is."""
    if text in LACUNAE:
        return LACUNA
    if text.startswith("&"):
        return NO_CODE_POINT
    return "composed" if len(unified(text)) > 1 else ""


class DifferenceClassifier:
    """Classifies the differences of two texts, `a` and `b`."""

    def __init__(self, a: WitnessTokens, b: WitnessTokens, characters: CharacterClassifier) -> None:
        self._a, self._b = a, b
        self._characters = characters

    def pair(self, a_index: int, b_index: int) -> ClassAndRule:
        """Classify two aligned characters that are not the same."""
        in_a, in_b = self._a.character(a_index), self._b.character(b_index)
        without_code_point = _without_code_point(in_a) or _without_code_point(in_b)
        if without_code_point:
            return Class.UNENCODED, without_code_point
        verdict = self._characters.relation(in_a, in_b)
        match verdict.relation:
            case Relation.SCRIPT:
                return Class.SCRIPT, verdict.rule
            case Relation.TABOO:
                return Class.TABOO, verdict.rule
            case Relation.DISTINCT:
                return self._distinct_words(a_index, b_index, verdict.rule)
            case _:
                return Class.ORTHOGRAPHY, verdict.rule

    def one_sided(self, tokens: WitnessTokens, start: int, end: int, gap: int) -> ClassAndRule:
        """Classify characters that only one text has; `gap` is the character of the other text before which they are
        missing."""
        length = end - start
        other = self._b if tokens is self._a else self._a
        keys, text = tokens.keys, tokens.text(start, end)
        if all(layer is Layer.HEADING for layer in tokens.layers[start:end]):
            return Class.LAYOUT, "heading"
        ends_title = _ends_line(tokens, end) and _ends_line(other, gap) and _NUMBER.fullmatch(text)
        if ends_title or self._is_in_title(tokens, start):
            return Class.LAYOUT, "title"
        if keys[start:end] in (keys[start - length : start], keys[end : end + length]):
            return Class.ERROR, "doubled"
        if is_label(tokens, start, end) and not self._is_lost_part_of_label(tokens, start, end, other):
            return Class.LAYOUT, "label"
        if _GLOSS.fullmatch(text):
            return Class.PASSAGE, "gloss"
        is_particle = length == 1 and text in PARTICLES
        return (Class.READING, "particle") if is_particle else (Class.ERROR, "")

    def _is_lost_part_of_label(self, tokens: WitnessTokens, start: int, end: int, other: WitnessTokens) -> bool:
        """Whether characters that the `other` text lacks are a part of words that announce commentary, and it has these
        whole elsewhere: announcing it otherwise is then not its convention."""
        around = product(range(max(start - 1, 0), start + 1), range(end, min(end + 1, len(tokens)) + 1))
        first, last = max(
            (span for span in around if _LABEL.fullmatch(tokens.text(*span))),
            key=lambda span: span[1] - span[0],
            default=(start, end),
        )
        is_part = last - first > end - start
        return is_part and other.keys.count(tokens.keys[first:last]) >= MIN_OTHER_PLACES

    def phrase(self, a_index: int, b_index: int) -> ClassAndRule:
        """Classify characters in place of another number of characters, by the first of each."""
        if self._is_in_title(self._a, a_index) or self._is_in_title(self._b, b_index):
            return Class.LAYOUT, "title"
        return Class.READING, "phrase"

    def _distinct_words(self, a_index: int, b_index: int, rule: str) -> ClassAndRule:
        pairs = list(product(self._possible_words(self._a, a_index), self._possible_words(self._b, b_index)))
        if rule == "simplified-in-traditional":
            return Class.SCRIPT, rule
        if rule in _UNDECIDED_RULES:
            for tie in _TIES:
                evidence = next((evidence for in_a, in_b in pairs if (evidence := tie(in_a, in_b))), "")
                if evidence:
                    return Class.ORTHOGRAPHY, evidence
        are_look_alikes = any(near_in_shape(in_a, in_b) or in_b in look_alikes(in_a) for in_a, in_b in pairs)
        if are_look_alikes or any(share_part(in_a, in_b) for in_a, in_b in pairs):
            evidence = self._out_of_place(a_index, b_index)
            if evidence:
                return Class.ERROR, evidence
        if are_look_alikes and not (self._is_usual(self._a, a_index) and self._is_usual(self._b, b_index)):
            return Class.ERROR, "look-alike-shape"
        return Class.READING, rule

    def _possible_words(self, tokens: WitnessTokens, at: int) -> tuple[str, ...]:
        """What a character may stand for: in a simplified text also each traditional character that it replaces."""
        script = self._characters.base if tokens is self._a else self._characters.other
        character = unified(tokens.character(at))
        if script is Script.TRADITIONAL:
            return (character,)
        return tuple(dict.fromkeys((*authorities().conversions.traditional.get(character, ()), character)))

    def _out_of_place(self, a_index: int, b_index: int) -> str:
        """The evidence that one of two characters is wrong at its place; empty if there is none. Either the two texts
        have only the other one between these neighbours elsewhere, or one of the two is rare."""
        in_a, in_b = self._usual_neighbours(self._a, a_index), self._usual_neighbours(self._b, b_index)
        if (all(in_a) and not any(in_b)) or (all(in_b) and not any(in_a)):
            return "look-alike"
        counts = self._character_counts[self._a.keys[a_index]], self._character_counts[self._b.keys[b_index]]
        rarer, other = sorted(count - 1 for count in counts)
        is_long = len(self._a) + len(self._b) >= MIN_CHARACTERS_FOR_RARITY
        if is_long and rarer <= 0 and other >= MIN_OTHER_PLACES:
            return "look-alike-rare"
        if self._characters.base is self._characters.other is Script.TRADITIONAL:
            standard = authorities().standard
            characters = unified(self._a.character(a_index)), unified(self._b.character(b_index))
            if (characters[0] in standard) is not (characters[1] in standard):
                return "look-alike-rare"
        return ""

    def _usual_neighbours(self, tokens: WitnessTokens, at: int) -> tuple[bool, bool]:
        """Whether the character also occurs elsewhere after the one before it here, and before the one after it."""
        keys = tokens.keys
        return (
            at > 0 and self._pair_counts[keys[at - 1 : at + 1]] > 1,
            at + 2 <= len(keys) and self._pair_counts[keys[at : at + 2]] > 1,
        )

    def _is_usual(self, tokens: WitnessTokens, at: int) -> bool:
        return all(self._usual_neighbours(tokens, at))

    @cached_property
    def _character_counts(self) -> Counter[str]:
        return Counter(self._a.keys) + Counter(self._b.keys)

    @cached_property
    def _pair_counts(self) -> PairCounts:
        return PairCounts(self._a.keys, self._b.keys)

    def _is_in_title(self, tokens: WitnessTokens, at: int) -> bool:
        lines_of_a, lines_of_b = self._title_lines
        return tokens.blocks[min(at, len(tokens) - 1)] in (lines_of_b if tokens is self._b else lines_of_a)

    @cached_property
    def _title_lines(self) -> tuple[frozenset[int], frozenset[int]]:
        return _title_lines(self._a), _title_lines(self._b)


def _ends_line(tokens: WitnessTokens, end: int) -> bool:
    """Whether a line ends before character `end`."""
    return end == len(tokens) or (end > 0 and tokens.blocks[end] != tokens.blocks[end - 1])


def is_label(tokens: WitnessTokens, start: int, end: int) -> bool:
    """Whether characters announce commentary, or are a part of words that do: 鄭 of 鄭注, 釋 of 釋曰, 音 and 義 in two
    columns."""
    if start >= end:
        return False
    if _LABEL.fullmatch(tokens.text(start, end)):
        return True
    with_next = tokens.text(start, end + 1)
    if _LABEL.fullmatch(with_next) and (with_next[-1] in "注曰" or (end < len(tokens) and _ends_line(tokens, end))):
        return True
    return bool(start and _ends_line(tokens, start) and _LABEL.fullmatch(tokens.text(start - 1, end)))


def goes_on_as_label(tokens: WitnessTokens, start: int, end: int) -> bool:
    """Whether characters and the next one announce commentary together: 鄭 before 注."""
    return end < len(tokens) and _LABEL.fullmatch(tokens.text(start, end + 1)) is not None


def _title_lines(tokens: WitnessTokens) -> frozenset[int]:
    """The numbers of the lines with the title and number of a juan, with the name of the series above it, or with its
    authors below."""
    if not len(tokens):
        return frozenset()
    starts = [0, *(np.flatnonzero(np.diff(np.asarray(tokens.blocks))) + 1).tolist(), len(tokens)]
    numbers: set[int] = set()
    last = -2
    for start, end in pairwise(starts):
        number, line = tokens.blocks[start], tokens.text(start, min(end, start + MAX_TITLE_CHARACTERS + 1))
        has_authors = number - last <= 2 and len(line) <= MAX_AUTHOR_CHARACTERS and _AUTHOR.search(line)
        has_title = len(line) <= MAX_TITLE_CHARACTERS and _TITLE.search(line)
        if has_authors or has_title or _SERIES.fullmatch(line):
            numbers.add(number)
            last = number
    return frozenset(numbers)


def _listed(first: str, second: str) -> str:
    testimony = authorities().about(first, second)
    if testimony.name:
        return f"listed-{testimony.name}"
    return "borrowing" if "b" in testimony.against else ""


def _are_homophones(first: str, second: str) -> bool:
    return any(homophones(*forms) for forms in product(_forms(first), _forms(second)))


def _forms(character: str) -> tuple[str, ...]:
    """A character and its forms by several lists: few forms have a spelling of their own."""
    lists = authorities()
    return (character, *(form for form in lists.partners(character) if lists.about(character, form).believed))


_TIES: Sequence[Callable[[str, str], str]] = (
    lambda first, second: "one-shape" * run_together(first, second),
    _listed,
    lambda first, second: "opencc-one-to-many" * authorities().conversions.one_to_many(first, second),
    lambda first, second: "homophones" * _are_homophones(first, second),
)
"""Ties between two words that are written for one another. Each function gives the name of the evidence, or an empty
string."""
