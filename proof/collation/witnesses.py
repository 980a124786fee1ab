"""Several witnesses on one place: what each of them reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.collation.classes import RANK, Class
from proof.collation.collation import Collation
from proof.collation.differences import aligned_pairs
from proof.collation.sigla import names_of
from proof.collation.tokens import Keys, WitnessTokens, sequence_of
from proof.text.layers import Layer


@dataclass(frozen=True, slots=True)
class WitnessVariant:
    """The reading `text` of a `witness` (its siglum) at a place of the base; `category` is the kind of its difference
    from the base, or `same`."""

    witness: str
    text: str
    category: str


@dataclass(frozen=True, slots=True)
class VariantPlace:
    """A place of the base where a witness has another reading: `length` code points from `start` in the file of the
    base."""

    start: int
    length: int
    base: str
    readings: tuple[WitnessVariant, ...]


@dataclass(frozen=True, slots=True)
class CommonBase:
    """The base with the characters of all layers that any of its collations compares. A collation compares only the
    layers that its witness has too, so it numbers the characters of the base in its own way: `numbers[n][i]` is the
    number in `tokens` of character `i` of collation `n`."""

    tokens: WitnessTokens
    numbers: tuple[Sequence[int], ...]

    @classmethod
    def of(cls, collations: Sequence[Collation]) -> CommonBase:
        """The common base of `collations`, which must all have the same base."""
        bases = [collation.base for collation in collations]
        compared = [frozenset(base.layers) for base in bases]
        union = frozenset[Layer]().union(*compared)
        tokens = next((base for base, layers in zip(bases, compared, strict=True) if layers == union), None)
        if tokens is None:
            tokens = sequence_of(bases[0].edition, Keys(bases[0].numbers.key), union)
        numbers = (
            range(len(tokens)) if base is tokens else np.searchsorted(tokens.starts, base.starts).tolist()
            for base in bases
        )
        return cls(tokens, tuple(numbers))

    def span(self, collation: int, a0: int, a1: int) -> tuple[int, int]:
        """The span in `tokens` of characters `a0:a1` of a collation. An empty one (an addition of the witness) stands
        before character `a0`."""
        numbers = self.numbers[collation]
        if a1 > a0:
            return numbers[a0], numbers[a1 - 1] + 1
        at = numbers[a0] if a0 < len(numbers) else len(self.tokens)
        return at, at


def places(collations: Sequence[Collation]) -> list[VariantPlace]:
    """The places where any witness differs from the base, or has its words as a note where the base has them as text,
    or the other way round. Each place has the readings of all witnesses but those that lack the whole passage.

    All collations must have the same base.
    """
    differing: dict[tuple[int, int], dict[str, WitnessVariant]] = defaultdict(dict)
    base_text: dict[tuple[int, int], str] = {}
    names = witness_names(collations)
    for collation, name in zip(collations, names, strict=True):
        for difference in collation.differences:
            key = (difference.start, difference.length)
            # additions of a witness at one place of the base are one reading
            earlier = differing[key].get(name)
            text = (earlier.text if earlier and not difference.length else "") + difference.witness
            categories = [Class(earlier.category)] if earlier else []
            category = max([*categories, difference.category], key=RANK.index)
            differing[key][name] = WitnessVariant(name, text, category.value)
            base_text[key] = difference.base
        for layout in collation.notes:
            key = (layout.start, collation.base.ends[layout.a1 - 1] - layout.start)
            words = collation.witness.text(layout.b0, layout.b1)
            differing[key].setdefault(name, WitnessVariant(name, words, Class.LAYOUT.value))
            base_text[key] = collation.base.text(layout.a0, layout.a1)
    coverage = {name: covered(collation) for name, collation in zip(names, collations, strict=True)}
    variants = []
    for (start, length), readings in sorted(differing.items()):
        base = base_text[start, length]
        readings_here = (
            readings.get(name, WitnessVariant(name, base, "same"))
            for name, covers in coverage.items()
            if name in readings or covers[start]
        )
        variants.append(VariantPlace(start, length, base, tuple(readings_here)))
    return variants


def witness_names(collations: Sequence[Collation]) -> list[str]:
    """The name of the witness of each collation, no two alike."""
    return names_of([collation.witness.edition for collation in collations], ending=True)


def full_names(collations: Sequence[Collation]) -> dict[str, str]:
    """The full names of the witnesses that have one, by their names."""
    editions = [collation.witness.edition for collation in collations]
    return {
        name: edition.full_name
        for name, edition in zip(witness_names(collations), editions, strict=True)
        if edition.full_name
    }


def covered(collation: Collation) -> NDArray[np.bool_]:
    """Which code points of the base's file (and the place behind its end) begin a character that is aligned with one of
    the witness, or stand right behind such a character."""
    base = collation.base
    aligned, _ = aligned_pairs(collation.blocks)
    covers = np.zeros(len(base.edition.text) + 1, dtype=np.bool_)
    covers[np.asarray(base.starts)[aligned]] = covers[np.asarray(base.ends)[aligned]] = True
    return covers
