"""Pairs of characters that somebody sorted by hand, in a plain file.

A line is a pair and its class, with tabs between (`元<TAB>玄<TAB>taboo`); the class is `form`, `distinct` or
`taboo`. What follows a `#` is a comment, empty lines count for nothing, and the order of the pair does not matter.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from proof.errors import TextError


class Relation(StrEnum):
    """What two characters are to each other.

    `FORM`: one word in two shapes (異體). `TABOO`: one word, written otherwise out of reverence (避諱). `SCRIPT`: the
    same in simplified and in traditional characters. `DISTINCT`: two words.
    """

    SAME = "same"
    FORM = "form"
    TABOO = "taboo"
    SCRIPT = "script"
    DISTINCT = "distinct"


CLASSES = {relation.value: relation for relation in (Relation.FORM, Relation.DISTINCT, Relation.TABOO)}

Pair = tuple[str, str]


def pair_of(one: str, other: str) -> Pair:
    """The pair in the order that it is kept in."""
    return (one, other) if one < other else (other, one)


def read_pairs(path: Path) -> dict[Pair, Relation]:
    """The pairs of a file. Raises TextError with the file and the line where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise TextError(path, None, f"the pairs of variants cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        where = error.object.count(b"\n", 0, error.start) + 1
        raise TextError(path, where, "this is not UTF-8; save the pairs of variants as UTF-8") from error
    found: dict[Pair, Relation] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.partition("#")[0].strip()
        if content:
            pair, relation = _parse(path, number, content)
            if found.setdefault(pair, relation) is not relation:
                raise TextError(path, number, f"{pair[0]} and {pair[1]} are {found[pair]} further up; keep one line")
    return found


def _parse(path: Path, number: int, content: str) -> tuple[Pair, Relation]:
    fields = [field.strip() for field in content.split("\t")]
    if len(fields) != 3:
        raise TextError(path, number, "a pair is two characters and a class with tabs between: 元<TAB>玄<TAB>taboo")
    one, other, name = fields
    for character in (one, other):
        if len(character) != 1:
            raise TextError(path, number, f"'{character}' is not one character")
    if one == other:
        raise TextError(path, number, f"{one} is paired with itself")
    if name not in CLASSES:
        raise TextError(path, number, f"'{name}' is no class of pairs; write {', '.join(CLASSES)}")
    return pair_of(one, other), CLASSES[name]
