"""Variant or error: whether the transcribed character and that on the image are forms of one word.

For a traditional text the first of these rules that applies decides:

1. The project's list of pairs, then the list that comes with the package (`data/house.tsv`).
2. Words that one simplified character of OpenCC stands for are distinct (製/制, 後/后): confusing them is the error
   that converters between scripts make.
3. Two standard characters are distinct, even if dictionaries list one as a borrowing for the other (值/直).
4. The dictionaries' lists of variants count as witnesses (`proof.text.authorities`): two of them make a pair one word.
   A single one does so only without objections, and if the variant belongs to no other standard character.
5. Two forms of one standard character are forms of each other (緫/揔, both of 總).
6. All other pairs are distinct.

**Simplified characters in a traditional text** are the only case in which the order of a pair matters. No old book has
a shape that was made in 1956 (传, 仪). If such a character is *transcribed*, the transcription is wrong; if it is
*read*, the engine gave the simplified character for a traditional glyph, which is no finding. Shapes that are older
than the reform are words of their own (机, 听, 胜: distinct) or old forms (礼, 无, 与, 弃: forms, if the dictionaries
confirm it).

In a **simplified** transcription of a traditional image, all words that simplification merged are one word (后 for 後):
SCRIPT.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice, product
from pathlib import Path

from proof.text.authorities import MIN_WITNESSES, Authorities, Testimony, authorities
from proof.text.model import Script
from proof.text.pairs import Relation, pair_of, read_pairs

__all__ = ["Relation", "VariantPolicy", "VariantVerdict", "policy_of"]

HOUSE = Path(__file__).with_name("data") / "house.tsv"

MIN_WITNESSES_CONVERTED = 3
"""Minimum number of witnesses if the simplified character of the pair stands for several words (沖/冲, not 衝/冲)."""

MIN_WITNESSES_RESTORED = 4
"""Minimum number of witnesses if the table of 2013 restored a variant as a character of names (村/邨)."""

MAX_SPELLINGS = 8
"""Maximum number of `spellings` of one reading."""

ONE_WORD = (Relation.SAME, Relation.FORM)


@lru_cache(maxsize=1024)
def _count(text: str, form: str) -> int:
    """The number of occurrences of a form in a text, which may be that of a whole work."""
    return text.count(form)


@dataclass(frozen=True)
class VariantVerdict:
    """The relation of two characters, and the name of the rule or list that decided."""

    relation: Relation
    rule: str


SAME = VariantVerdict(Relation.SAME, "same")
CANONICAL = VariantVerdict(Relation.SAME, "unicode-equivalent")
NO_CHARACTER = VariantVerdict(Relation.DISTINCT, "not-a-character")
MERGED = VariantVerdict(Relation.DISTINCT, "opencc-one-to-many")
STANDARDS = VariantVerdict(Relation.DISTINCT, "two-standards")
SIMPLIFIED = VariantVerdict(Relation.DISTINCT, "simplified-in-traditional")
UNLISTED = VariantVerdict(Relation.DISTINCT, "unlisted")
COMMON = VariantVerdict(Relation.FORM, "common-standard")
SCRIPT = VariantVerdict(Relation.SCRIPT, "opencc-script")
READ_SIMPLIFIED = VariantVerdict(Relation.SCRIPT, "simplified-reading")


class VariantPolicy:
    """The verdicts for transcriptions of one script. `house` is the project's own file of pairs, `shipped` the file
    that comes with the package; both are read at once, the lists of dictionaries when first needed. Verdicts are
    cached. Raises TextError if a file cannot be read. `policy_of` gives a shared policy."""

    def __init__(self, script: Script, house: Path | None = None, *, shipped: Path = HOUSE) -> None:
        self.script = script
        self.project_file = house
        self._listed = {pair: VariantVerdict(relation, "house") for pair, relation in read_pairs(shipped).items()}
        of_project = read_pairs(house) if house is not None else {}
        self._listed |= {pair: VariantVerdict(relation, "project") for pair, relation in of_project.items()}
        self._of_project = frozenset(character for pair in of_project for character in pair)
        self._without_project = policy_of(script) if house is not None and shipped == HOUSE else None
        self._listed_forms: dict[str, list[str]] = {}
        for first, second in self._listed:
            self._listed_forms.setdefault(first, []).append(second)
            self._listed_forms.setdefault(second, []).append(first)
        self._decided, self._weighed = cache(self._decide), cache(self._weigh)
        self._standard_of, self._modern = cache(self._find_standards), cache(self._is_modern)
        self._forms, self._keys = cache(self._find_forms), cache(self._key)

    @property
    def _lists(self) -> Authorities:
        return authorities()

    def relation(self, transcribed: str, seen: str) -> VariantVerdict:
        """The relation of the character on the image (`seen`) to the transcribed one. The order matters only if the
        transcription is simplified, or if one of the two is a modern simplified character."""
        return self._decided(transcribed, seen)

    def fold(self, character: str) -> str:
        """A key for aligning texts in any scripts and forms: the simplified character of the standard form.

        Words that simplification merged have the same key (後/后), and forms of several standard characters may have
        different ones. Only `relation` says how two characters are related.
        """
        return self._keys(character)

    def _key(self, character: str) -> str:
        word = self.standard_form(character)
        return self._lists.conversions.simplified.get(word, (word,))[0]

    def standard_form(self, character: str) -> str:
        """The standard character of a form (亊: 事, 传: 傳), or the character itself. All standard characters of one
        word have the same one (群/羣). Relations through a third character, and taboo forms, are not followed."""
        standard = self._lists.standard
        plain = unified(character)
        if self._modern(plain):
            plain = self._lists.conversions.traditional[plain][0]
        if plain not in standard:
            plain = next(iter(self._standard_forms(plain)), plain)
        return min([plain, *self._standard_forms(plain)]) if plain in standard else plain

    def forms(self, character: str) -> tuple[str, ...]:
        """The other characters that are the same word as a transcribed one, most likely first.

        These are its forms; in a simplified text also the traditional characters that it stands for and their forms; in
        a traditional text also its modern simplification, which an engine may read."""
        return self._forms(character)

    def _find_forms(self, character: str) -> tuple[str, ...]:
        plain = unified(character)
        if self.script is Script.SIMPLIFIED:
            candidates = _unique(form for source in self._sources(plain) for form in (source, *self._kin(source)))
        else:
            candidates = self._kin(plain)
        return tuple(form for form in candidates if form != character and self._one_word(character, form))

    def to_source_script(self, seen: str, transcribed: str = "") -> str:
        """The suggestion, in the script of the transcription, for the reading `seen`; as it was read if the script has
        several forms of it, among which the text decides (`spellings`).

        For a simplified transcription it is the simplified character, or the `transcribed` one if that stands for
        `seen`. For a traditional one it is `seen`, or its traditional character if the engine read a simplified one.
        """
        if self.script is Script.SIMPLIFIED and transcribed and self._one_word(transcribed, seen):
            return transcribed
        forms = self.written_forms(seen)
        return forms[0] if len(forms) == 1 else seen

    def spellings(self, text: str, seen: str, kept: str = "") -> tuple[str, ...]:
        """The ways to write what was read on the image in a text of this script, the likeliest first. There are several
        if the text uses several forms of a character or none of them; a character is the same throughout a reading.
        Characters that are also in `kept` do not change."""
        forms_of = {char: (char,) if char in kept else self.forms_in(text, char) for char in dict.fromkeys(seen)}
        choices = (dict(zip(forms_of, chosen, strict=True)) for chosen in product(*forms_of.values()))
        return tuple("".join(map(choice.__getitem__, seen)) for choice in islice(choices, MAX_SPELLINGS))

    def pattern(self, text: str) -> str:
        """A regular expression that matches `text` with each character in any form of the script."""
        forms = ({*self.written_forms(char), char} for char in text)
        return "".join(f"(?:{'|'.join(map(re.escape, sorted(alternatives)))})" for alternatives in forms)

    def written_forms(self, character: str, *, kin: bool = True) -> tuple[str, ...]:
        """The characters for `character` in the script of the transcription, most likely first; a character of that
        script does not change.

        There are several if a character has several simplifications (乾 becomes 乾 or 干), or if a modern character
        stands for several traditional ones (发 is 發 or 髮). A variant without a simplification gets that of its
        standard form, unless `kin` is false."""
        conversions = self._lists.conversions
        if self.script is Script.TRADITIONAL:
            return conversions.traditional[character] if self._modern(character) else (character,)
        plain = unified(character)
        if plain in conversions.traditional and plain not in conversions.simplified:
            return (plain,)
        if kin and plain not in conversions.simplified and plain not in self._lists.standard:
            # A scribe's form has no simplification: that of its standard form is meant.
            plain = next((form for form in self._kin(plain) if form in self._lists.standard), plain)
        return conversions.simplified.get(plain, (plain,))

    def forms_in(self, text: str, character: str, *, kin: bool = True) -> tuple[str, ...]:
        """The `written_forms` of a character that a text in this script uses (only 于 for 於), the most frequent first,
        or all if it uses none."""
        forms = self.written_forms(character, kin=kin)
        if len(forms) == 1:
            return forms
        count = {form: _count(text, form) for form in forms}
        return tuple(sorted(filter(count.get, forms), key=count.__getitem__, reverse=True)) or forms

    def _one_word(self, transcribed: str, seen: str) -> bool:
        return self.relation(transcribed, seen).relation is not Relation.DISTINCT

    def _decide(self, transcribed: str, seen: str) -> VariantVerdict:
        if transcribed == seen:
            return SAME
        first, second = unified(transcribed), unified(seen)
        if first == second:
            return CANONICAL
        if len(first) != 1 or len(second) != 1:
            return NO_CHARACTER
        listed = self._listed.get(pair_of(first, second))
        if listed is not None:
            return listed
        decide = self._decide_simplified if self.script is Script.SIMPLIFIED else self._decide_traditional
        return decide(first, second)

    def _decide_traditional(self, transcribed: str, seen: str) -> VariantVerdict:
        if self._modern(seen) and self._stands_for(seen, transcribed):
            return READ_SIMPLIFIED
        if self._modern(transcribed) and self._stands_for(transcribed, seen):
            return SIMPLIFIED
        return self._word(transcribed, seen)

    def _decide_simplified(self, transcribed: str, seen: str) -> VariantVerdict:
        sources = self._sources(transcribed)
        if seen in sources:
            return SCRIPT
        for source in sources:
            verdict = self._word(source, seen)
            if verdict.relation is not Relation.DISTINCT:
                return verdict
        if self._modern(seen) and any(self._stands_for(seen, source) for source in sources):
            return READ_SIMPLIFIED
        return self._word(transcribed, seen)

    def _sources(self, transcribed: str) -> tuple[str, ...]:
        """The characters that a character of a simplified text stands for, including itself."""
        conversions = self._lists.conversions
        sources = (
            *conversions.traditional.get(transcribed, ()),
            transcribed,
            *conversions.becoming.get(transcribed, ()),
        )
        return _unique(sources)

    def _is_modern(self, character: str) -> bool:
        """Whether the shape was made by the reform: the character is only a simplification, in no old dictionary, and
        on no list of forms."""
        sources = self._lists.conversions.traditional.get(character, ())
        if not sources or character in sources or character in self._lists.rimed:
            return False
        return not any(self._word(character, source).relation in ONE_WORD for source in sources)

    def _stands_for(self, short: str, full: str) -> bool:
        sources = self._lists.conversions.traditional.get(short, ())
        return any(source == full or self._word(source, full).relation is Relation.FORM for source in sources)

    def _word(self, first: str, second: str) -> VariantVerdict:
        """The verdict on two characters of a traditional text, in either order. The project's pairs of other characters
        do not change it."""
        if first == second:
            return SAME
        if self._without_project is not None and first not in self._of_project and second not in self._of_project:
            return self._without_project._word(first, second)
        pair = pair_of(first, second)
        return self._listed.get(pair) or self._weighed(*pair)

    def _weigh(self, first: str, second: str) -> VariantVerdict:
        lists = self._lists
        if lists.conversions.one_to_many(first, second):
            return MERGED
        testimony = lists.about(first, second)
        short = lists.conversions.simplification(first, second)
        if short:
            # Unlike the dictionaries, yitizi contains OpenCC's simplifications themselves.
            testimony = testimony.without("Y")
            is_of_one_word = len(lists.conversions.traditional[short]) == 1
            min_witnesses = MIN_WITNESSES if is_of_one_word else MIN_WITNESSES_CONVERTED
            return _form(testimony) if testimony.weight >= min_witnesses else SIMPLIFIED
        if first in lists.standard and second in lists.standard and not self._is_restored(first, second, testimony):
            return STANDARDS if testimony.witnesses else UNLISTED
        if testimony.believed or (testimony.weight >= MIN_WITNESSES and self._share_a_form(first, second)):
            return _form(testimony)
        if testimony.weight > 0 and not testimony.against and self._belongs_to_no_other(first, second):
            return _form(testimony)
        return COMMON if self._have_same_standard(first, second, testimony) else UNLISTED

    def _is_restored(self, first: str, second: str, testimony: Testimony) -> bool:
        """Whether one of two standard characters is a variant that the table of 2013 restored for names, or both have
        one simplification."""
        simplified = self._lists.conversions.simplified
        if simplified.get(first, (first,))[0] == simplified.get(second, (second,))[0]:
            return testimony.weight >= MIN_WITNESSES
        is_for_names = first in self._lists.third or second in self._lists.third
        return is_for_names and "D" in testimony.witnesses and testimony.weight >= MIN_WITNESSES_RESTORED

    def _belongs_to_no_other(self, first: str, second: str) -> bool:
        """Whether one of the two is standard, and the other cannot be a form of another standard character."""
        lists = self._lists
        standard, variant = (first, second) if first in lists.standard else (second, first)
        if standard not in lists.standard or variant in lists.standard:
            return False
        partners = (partner for partner in lists.partners(variant) if partner in lists.standard)
        return all(partner == standard or lists.about(variant, partner).weight <= 0 for partner in partners)

    def _share_a_form(self, first: str, second: str) -> bool:
        """Whether a third character is a well attested form of both (疎 of 疏 and of 踈)."""
        lists = self._lists
        merged = lists.conversions.one_to_many
        return any(
            not merged(first, form)
            and not merged(form, second)
            and min(lists.about(first, form).weight, lists.about(form, second).weight) > MIN_WITNESSES
            for form in set(lists.partners(first)) & set(lists.partners(second))
        )

    def _find_standards(self, character: str) -> tuple[str, ...]:
        """The standard characters that a variant is a well attested form of."""
        lists = self._lists
        if character in lists.standard:
            return ()
        return tuple(
            partner
            for partner in lists.partners(character)
            if partner in lists.standard
            and lists.about(character, partner).weight > MIN_WITNESSES
            and self._word(character, partner).relation is Relation.FORM
        )

    def _have_same_standard(self, first: str, second: str, testimony: Testimony) -> bool:
        standard = self._lists.standard
        if first in standard or second in standard or set(testimony.against) & set("bndq"):
            return False
        first_forms, second_forms = self._standard_forms(first), self._standard_forms(second)
        return bool(first_forms and second_forms) and first_forms[0] == second_forms[0]

    def _kin(self, character: str, among: Set[str] | None = None) -> tuple[str, ...]:
        """All forms of a character in a traditional text, the best attested first, then its modern simplifications;
        only those `among` the given characters, if any."""
        lists = self._lists
        standards = self._standard_of(character)
        partners = [*self._listed_forms.get(character, ()), *lists.partners(character)]
        partners += (partner for standard in standards for partner in lists.partners(standard))
        forms = [
            partner
            for partner in _unique(partners)
            if (among is None or partner in among)
            and self._word(character, partner).relation in (Relation.FORM, Relation.TABOO)
            and not self._modern(partner)
        ]
        forms.sort(key=lambda form: (form not in lists.standard, -lists.about(character, form).weight, form))
        simplifications = [
            short
            for full in (character, *standards)
            for short in lists.conversions.simplified.get(full, ())
            if short != character and (among is None or short in among) and self._modern(short)
        ]
        return _unique([*forms, *simplifications])

    def _standard_forms(self, character: str) -> list[str]:
        """The standard characters among the forms of a character, without taboo forms."""
        kin = self._kin(character, self._lists.standard)
        return [c for c in kin if self._word(character, c).relation is not Relation.TABOO]


def policy_of(script: Script, house: Path | None = None) -> VariantPolicy:
    """The policy for texts of a script, with the project's file of pairs `house`, if any. Without one it is a shared
    object with cached verdicts. Raises TextError."""
    return _shipped(script) if house is None else VariantPolicy(script, house)


@cache
def _shipped(script: Script) -> VariantPolicy:
    return VariantPolicy(script)


def _form(testimony: Testimony) -> VariantVerdict:
    return VariantVerdict(Relation.FORM, testimony.name)


def unified(character: str) -> str:
    """The character without variation selectors; for a compatibility ideograph or a radical the unified ideograph."""
    if len(character) > 1:
        character = "".join(c for c in character if not (0xFE00 <= ord(c) <= 0xFE0F or 0xE0100 <= ord(c) <= 0xE01EF))
    if len(character) == 1 and _is_compatibility_character(ord(character)):
        return unicodedata.normalize("NFKC", character)
    return character


def _is_compatibility_character(code: int) -> bool:
    return 0x2E80 <= code <= 0x2FDF or 0xF900 <= code <= 0xFAFF or 0x2F800 <= code <= 0x2FA1F


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
