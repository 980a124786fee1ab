"""Several witnesses of one base: a numbering of its characters that all share, their names, and what each covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.collation.collation import Collation
from proof.collation.differences import aligned_pairs
from proof.collation.sigla import names_of
from proof.collation.tokens import CharacterTable, WitnessTokens, tokens_of
from proof.text.layers import Layer


@dataclass(frozen=True, slots=True)
class CommonBase:
    """The base with the characters of all layers that any of its collations compares. Each collation compares only the
    layers that its witness has too, and numbers only their characters: `numbers[n][i]` is the index in `tokens` of
    character `i` of collation `n`."""

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
            tokens = tokens_of(bases[0].edition, CharacterTable(bases[0].table.key), union)
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


def witness_names(collations: Sequence[Collation]) -> list[str]:
    """A different name for the witness of each collation."""
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
    """For each code point of the base's file and for its end, whether it is the start or the end of a character that is
    aligned with one of the witness."""
    base = collation.base
    aligned, _ = aligned_pairs(collation.blocks)
    covers = np.zeros(len(base.edition.text) + 1, dtype=np.bool_)
    covers[np.asarray(base.starts)[aligned]] = covers[np.asarray(base.ends)[aligned]] = True
    return covers
