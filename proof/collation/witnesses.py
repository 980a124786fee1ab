"""Several witnesses on one place: what each of them reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.collation.collation import Collation, answering
from proof.collation.sigla import names_of
from proof.collation.tokens import Keys, WitnessTokens, sequence_of


@dataclass(frozen=True, slots=True)
class WitnessVariant:
    """What a witness, by its siglum, reads at a place of the base, and what that is to the base's own reading (`same`
    where they agree)."""

    witness: str
    text: str
    category: str


@dataclass(frozen=True, slots=True)
class VariantPlace:
    """A place of the base at which some witness reads otherwise: `length` code points from `start` in its file."""

    start: int
    length: int
    base: str
    readings: tuple[WitnessVariant, ...]


@dataclass(frozen=True, slots=True)
class CommonBase:
    """The base as all its collations together have it: each compares the layers that its witness has too, so a
    character has another number in each. `numbers[n][i]` is the number here of character `i` of collation `n`."""

    tokens: WitnessTokens
    numbers: tuple[Sequence[int], ...]

    @classmethod
    def of(cls, collations: Sequence[Collation]) -> CommonBase:
        """All collations have the same base."""
        bases = [collation.base for collation in collations]
        keys = Keys(bases[0].cells.keys.key)
        tokens = sequence_of(bases[0].edition, keys, frozenset(layer for base in bases for layer in base.layers))
        return cls(tokens, tuple(np.searchsorted(tokens.starts, base.starts).tolist() for base in bases))

    def span(self, collation: int, a0: int, a1: int) -> tuple[int, int]:
        """Characters `a0:a1` of a collation, here; where it has nothing, the place before character `a0`."""
        numbers = self.numbers[collation]
        if a1 > a0:
            return numbers[a0], numbers[a1 - 1] + 1
        at = numbers[a0] if a0 < len(numbers) else len(self.tokens)
        return at, at


def places(collations: Sequence[Collation]) -> list[VariantPlace]:
    """The places where any witness differs from the base, each with the reading of every witness that has it.

    All collations have the same base. Where a witness lacks the whole passage it has no reading.
    """
    differing: dict[tuple[int, int], dict[str, WitnessVariant]] = defaultdict(dict)
    base_text: dict[tuple[int, int], str] = {}
    names = witness_names(collations)
    for collation, name in zip(collations, names, strict=True):
        for difference in collation.differences:
            key = (difference.start, difference.length)
            known = differing[key].get(name)
            text = (known.text if known and not difference.length else "") + difference.witness
            differing[key][name] = WitnessVariant(name, text, difference.category.value)
            base_text[key] = difference.base
    starts_of = {name: covered(collation) for name, collation in zip(names, collations, strict=True)}
    variants = []
    for (start, length), readings in sorted(differing.items()):
        base = base_text[start, length]
        shown = (
            readings.get(name, WitnessVariant(name, base, "same"))
            for name, starts in starts_of.items()
            if name in readings or starts[start]
        )
        variants.append(VariantPlace(start, length, base, tuple(shown)))
    return variants


def witness_names(collations: Sequence[Collation]) -> list[str]:
    """What the witness of each collation is called among them."""
    return names_of([collation.witness.edition for collation in collations], ending=True)


def covered(collation: Collation) -> NDArray[np.bool_]:
    """Whether each code point of the base's file, and the place behind its end, begins a character that the witness
    has, or stands right behind one."""
    base = collation.base
    answered, _ = answering(collation.blocks)
    starts = np.asarray(base.cells.starts)[answered]
    covers = np.zeros(len(base.edition.text) + 1, dtype=np.bool_)
    covers[starts] = covers[starts + np.asarray(base.cells.lengths)[answered]] = True
    return covers
