"""The same words set as text in one of two witnesses and as a note, in double rows or small characters, in the other.

If the notes of both are compared, the layers of aligned characters differ (`set_otherwise`). If only one has notes,
these are not compared, and the words that the other sets as text seem to be missing: they are looked for in the notes
at the same place (`with_notes`)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

from proof.collation.blocks import AlignedPart
from proof.collation.classes import Class
from proof.collation.differences import (
    MIN_ONE_TEXT_SHARE,
    MIN_PASSAGE_CHARACTERS,
    Difference,
    Numbers,
    Side,
    aligned_pairs,
)
from proof.collation.tokens import WitnessTokens
from proof.text.layers import SET_SMALL, Layer, WitnessCell

NOTE = "note"
"""The evidence: the other has these words at this place, as a note where this one has text, or the other way round."""

MIN_STRETCH_CHARACTERS = 2
"""Minimum length of a stretch that is given: a single character may belong to either side of a bracket."""


@dataclass(frozen=True, slots=True)
class NoteLayout:
    """Characters `a0:a1` of the base and `b0:b1` of the witness, the same words; `note` is whose they are a note.
    `start` is the code point in the base's file."""

    note: Side
    a0: int
    a1: int
    b0: int
    b1: int
    start: int


def set_otherwise(a: WitnessTokens, b: WitnessTokens, blocks: Sequence[AlignedPart]) -> list[NoteLayout]:
    """The stretches of the same words that are text in one and a note in the other, in the order of the base; one that
    goes over a column or a paragraph of either is two."""
    mine, theirs = aligned_pairs(blocks)
    if not len(mine):
        return []
    (text, note), (text_there, note_there) = _set_as(a, mine), _set_as(b, theirs)
    sides = np.where(note & text_there, 1, np.where(text & note_there, 2, 0))
    block_of = np.searchsorted([block.a0 for block in blocks], mine, "right")
    where = np.stack([sides, block_of, np.asarray(a.blocks)[mine], np.asarray(b.blocks)[theirs]])
    starts = np.concatenate(([0], np.flatnonzero(np.diff(where).any(axis=0)) + 1))
    ends = np.append(starts[1:], len(mine))
    given = (sides[starts] > 0) & (ends - starts >= MIN_STRETCH_CHARACTERS)
    first, last = starts[given], ends[given] - 1
    spans = (sides[first], mine[first], mine[last] + 1, theirs[first], theirs[last] + 1)
    return [
        NoteLayout((Side.BASE, Side.WITNESS)[side - 1], a0, a1, b0, b1, a.starts[a0])
        for side, a0, a1, b0, b1 in np.stack(spans, axis=1).tolist()
    ]


def _set_as(tokens: WitnessTokens, characters: Numbers) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which of the characters are set as text, and which as notes."""
    text = np.fromiter((layer is Layer.CANON for layer in tokens.layers), dtype=np.bool_, count=len(tokens))
    note = np.fromiter((layer in SET_SMALL for layer in tokens.layers), dtype=np.bool_, count=len(tokens))
    return text[characters], note[characters]


def with_notes(
    a: WitnessTokens, b: WitnessTokens, differences: Sequence[Difference], key: Callable[[str], str]
) -> list[Difference]:
    """The differences, with the category layout for words that one text has as text and the other in a note that was
    not compared. `key` gives the key of a character."""
    notes_of_a, notes_of_b = _LeftOut(a, key), _LeftOut(b, key)
    done = []
    for difference in differences:
        a0, a1, b0, b1 = difference.a0, difference.a1, difference.b0, difference.b1
        in_note = False
        if difference.category in (Class.ERROR, Class.READING, Class.PASSAGE):
            if b0 == b1 and a.layers[a0] is Layer.CANON:
                in_note = notes_of_b.stand_before(b0, a.keys[a0:a1])
            elif a0 == a1 and b.layers[b0] is Layer.CANON:
                in_note = notes_of_a.stand_before(a0, b.keys[b0:b1])
        done.append(replace(difference, category=Class.LAYOUT, rule=NOTE) if in_note else difference)
    return done


class _LeftOut:
    """The notes of a witness that were not compared, by their place among the characters that were."""

    def __init__(self, of: WitnessTokens, key: Callable[[str], str]) -> None:
        compared = frozenset(of.layers)
        stretches = [stretch for stretch in of.edition.stretches() if stretch.layer in SET_SMALL - compared]
        self._cells: list[WitnessCell] = [cell for stretch in stretches for cell in stretch.cells()]
        self._starts = [cell.start for cell in self._cells]
        self._of = of
        self._key = key

    def stand_before(self, at: int, words: str) -> bool:
        """Whether the notes right before character `at` of the witness have these words, given as keys: a few of them
        side by side, of a passage most."""
        starts = self._of.starts
        begin = bisect_left(self._starts, starts[at - 1] if at else 0)
        end = bisect_left(self._starts, starts[at]) if at < len(starts) else len(self._starts)
        note = "".join(self._key(cell.text) for cell in self._cells[begin:end])
        if len(words) < MIN_PASSAGE_CHARACTERS:
            return len(words) >= MIN_STRETCH_CHARACTERS and words in note
        return LCSseq.similarity(words, note) >= MIN_ONE_TEXT_SHARE * len(words)
