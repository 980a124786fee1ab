"""The same words set as main text in one of two witnesses and as a note, in double rows or small characters, in the
other.

If the notes of both are compared, the layers of aligned characters differ (`note_layouts`). If only one has notes,
these are not compared, and the words that the other sets as main text seem to be missing: they are searched in the
notes at the same place (`with_layout_class`)."""

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
    Side,
    aligned_pairs,
)
from proof.collation.tokens import Indices, WitnessTokens
from proof.text.layers import SET_SMALL, Layer, WitnessCell

NOTE = "note"
"""The rule of words that one text has as main text and the other at the same place as a note."""

MIN_STRETCH_CHARACTERS = 2
"""Minimum length of a stretch: a single character may belong to either side of a bracket."""


@dataclass(frozen=True, slots=True)
class NoteLayout:
    """Characters `a0:a1` of the base and `b0:b1` of the witness, the same words; they are a note in the text `note` and
    main text in the other. `start` is their code point in the base's file."""

    note: Side
    a0: int
    a1: int
    b0: int
    b1: int
    start: int


def note_layouts(a: WitnessTokens, b: WitnessTokens, blocks: Sequence[AlignedPart]) -> list[NoteLayout]:
    """The stretches of the same words that are main text in one and a note in the other, in the order of the base.
    Stretches end with the column or paragraph of either text."""
    a_indices, b_indices = aligned_pairs(blocks)
    if not len(a_indices):
        return []
    note_in_base = _is_note(a, a_indices) & _is_main(b, b_indices)
    note_in_witness = _is_main(a, a_indices) & _is_note(b, b_indices)
    block_of = np.searchsorted([block.a0 for block in blocks], a_indices, "right")
    lines = np.asarray(a.blocks)[a_indices], np.asarray(b.blocks)[b_indices]
    properties = np.stack([note_in_base, note_in_witness, block_of, *lines])
    starts = np.concatenate(([0], np.flatnonzero(np.diff(properties).any(axis=0)) + 1))
    ends = np.append(starts[1:], len(a_indices))
    layouts = []
    for first, last in zip(starts.tolist(), (ends - 1).tolist(), strict=True):
        differs = note_in_base[first] or note_in_witness[first]
        if not differs or last - first + 1 < MIN_STRETCH_CHARACTERS:
            continue
        a0, a1 = int(a_indices[first]), int(a_indices[last]) + 1
        b0, b1 = int(b_indices[first]), int(b_indices[last]) + 1
        side = Side.BASE if note_in_base[first] else Side.WITNESS
        layouts.append(NoteLayout(side, a0, a1, b0, b1, a.starts[a0]))
    return layouts


def _is_main(tokens: WitnessTokens, indices: Indices) -> NDArray[np.bool_]:
    """Which of these characters are main text."""
    return np.fromiter((layer is Layer.CANON for layer in tokens.layers), np.bool_, len(tokens))[indices]


def _is_note(tokens: WitnessTokens, indices: Indices) -> NDArray[np.bool_]:
    """Which of these characters are in a note."""
    return np.fromiter((layer in SET_SMALL for layer in tokens.layers), np.bool_, len(tokens))[indices]


def with_layout_class(
    a: WitnessTokens, b: WitnessTokens, differences: Sequence[Difference], key: Callable[[str], str]
) -> list[Difference]:
    """The differences, with the class `LAYOUT` for words that one text has as main text and the other in a note that
    was not compared. `key` gives the key of a character."""
    notes_of_base, notes_of_witness = _UncomparedNotes(a, key), _UncomparedNotes(b, key)
    classified = []
    for difference in differences:
        a0, a1, b0, b1 = difference.a0, difference.a1, difference.b0, difference.b1
        is_in_note = False
        if difference.category in (Class.ERROR, Class.READING, Class.PASSAGE):
            if b0 == b1 and a.layers[a0] is Layer.CANON:
                is_in_note = notes_of_witness.have_words_before(b0, a.keys[a0:a1])
            elif a0 == a1 and b.layers[b0] is Layer.CANON:
                is_in_note = notes_of_base.have_words_before(a0, b.keys[b0:b1])
        classified.append(replace(difference, category=Class.LAYOUT, rule=NOTE) if is_in_note else difference)
    return classified


class _UncomparedNotes:
    """The notes of a witness that were not compared, by their place among the characters that were."""

    def __init__(self, tokens: WitnessTokens, key: Callable[[str], str]) -> None:
        uncompared = SET_SMALL.difference(tokens.layers)
        stretches = [stretch for stretch in tokens.edition.stretches() if stretch.layer in uncompared]
        self._cells: list[WitnessCell] = [cell for stretch in stretches for cell in stretch.cells()]
        self._starts = [cell.start for cell in self._cells]
        self._tokens = tokens
        self._key = key

    def have_words_before(self, at: int, words: str) -> bool:
        """Whether the notes right before character `at` of the witness have these words, given as keys: all of them
        together, or, of a passage, most."""
        starts = self._tokens.starts
        first = bisect_left(self._starts, starts[at - 1] if at else 0)
        end = bisect_left(self._starts, starts[at]) if at < len(starts) else len(self._starts)
        note = "".join(self._key(cell.text) for cell in self._cells[first:end])
        if len(words) < MIN_PASSAGE_CHARACTERS:
            return len(words) >= MIN_STRETCH_CHARACTERS and words in note
        return LCSseq.similarity(words, note) >= MIN_ONE_TEXT_SHARE * len(words)
