"""Collating a base with a witness: aligned parts, differences, systematic pairs and the notes of the apparatus."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

import numpy as np

from proof.collation.apparatus import ApparatusNote, apparatus_of
from proof.collation.blocks import AlignedPart, align, gaps, repeated
from proof.collation.classes import CharacterClassifier, Class, DifferenceClassifier
from proof.collation.differences import (
    WORD_CLASSES,
    Difference,
    SystematicPair,
    aligned_pairs,
    between_blocks,
    moved_blocks,
    systematic,
    within_blocks,
)
from proof.collation.joined_readings import as_readings, with_systematic_marked
from proof.collation.note_layout import NoteLayout, note_layouts, with_layout_class
from proof.collation.quality import WitnessQuality, quality_by_juan
from proof.collation.tokens import CharacterTable, WitnessTokens, shared_tokens
from proof.errors import UsageError
from proof.locale.marking import _
from proof.text.layers import Layer
from proof.text.model import Script
from proof.text.transcription import Transcription
from proof.text.variants import policy_of

REPETITION = "said-again"
"""The rule of a passage that only one text has and that repeats a passage that both texts have elsewhere."""

_BASE_ORDER = attrgetter("a0", "a1", "b0")
"""The key that sorts differences in the order of the base."""

MIN_PLACED_SHARE = 0.5
"""Minimum share of the characters of a paragraph that a witness must have for the paragraph to be placed."""

FAULTS = frozenset(
    {"訛作", "誤作", "原作", "改作", "訛脫", "原脫", "誤脫", "訛衍", "原衍", "誤衍", "當作", "補", "改", "刪"}
)
"""The verbs by which apparatus notes mark a reading as an error."""


@dataclass(frozen=True, slots=True)
class ParallelPlace:
    """The place in the witness of a paragraph or column of the base.

    `start` is its start in the base's file and `witness_start` that of its place in the witness's file (None if there
    is none), in code points. `share` is the share of its characters that the witness has,
    `repeated_share` the share that only matches text of the witness that is aligned with another part of the base.
    """

    start: int
    share: float
    witness_start: int | None
    repeated_share: float

    @property
    def is_placed(self) -> bool:
        return self.share >= MIN_PLACED_SHARE

    @property
    def is_repetition(self) -> bool:
        """Whether the base repeats here a passage that the witness has only once."""
        return not self.is_placed and self.share + self.repeated_share >= MIN_PLACED_SHARE


@dataclass(frozen=True, slots=True)
class Passage:
    """A part that one of the two texts lacks: `start` and `end` in code points of the file that has it, `length` in
    characters. `repeated_count` of its characters repeat a passage that both texts have elsewhere."""

    start: int
    end: int
    length: int
    text: str
    repeated_count: int


@dataclass(frozen=True, slots=True)
class Collation:
    """A base collated with one witness. `only_base` and `only_witness` are passages that the other text lacks;
    `repetitions` are passages that the base repeats and the witness has once (`proof.collation.blocks.repeated`)."""

    base: WitnessTokens
    witness: WitnessTokens
    blocks: tuple[AlignedPart, ...]
    differences: tuple[Difference, ...]
    systematic: tuple[SystematicPair, ...]
    placements: tuple[ParallelPlace, ...]
    only_base: tuple[Passage, ...]
    only_witness: tuple[Passage, ...]
    repetitions: tuple[AlignedPart, ...]
    note_layouts: tuple[NoteLayout, ...]
    """Words that are main text in one of the two and a note in the other."""
    uncompared_layers: tuple[Layer, ...]
    """Layers that only one of the two texts has."""
    quality: tuple[WitnessQuality, ...]
    """The quality of the witness in each juan of the base."""

    def of(self, *categories: Class) -> list[Difference]:
        """The differences of these classes, in the order of the base."""
        return [difference for difference in self.differences if difference.category in categories]


def collate(base: Transcription, witness: Transcription, pairs: Path | None = None) -> Collation:
    """Collate `base` with `witness`. `pairs` is the project's own file of character variants.

    Raises UsageError if one of the two has no text.
    """
    policies = {script: policy_of(script, pairs) for script in (base.script, witness.script, Script.SIMPLIFIED)}
    table = CharacterTable(policies[Script.SIMPLIFIED].fold)
    a, b = shared_tokens(base, witness, table)
    for tokens in (a, b):
        if not len(tokens):
            raise UsageError(_("%(path)s has no text to collate"), path=tokens.edition.path)
    blocks = align(a.keys, b.keys)
    classifier = DifferenceClassifier(a, b, CharacterClassifier(base.script, witness.script, policies))
    differences, systematic_pairs = _word_differences(a, b, blocks, classifier, table)
    differences = sorted([*differences, *moved_blocks(a, b, blocks)], key=_BASE_ORDER)
    base_repetitions = repeated(a.keys, b.keys, blocks)
    repeated_in_base = _covered(base_repetitions)
    repeated_in_witness = _covered(repeated(b.keys, a.keys, [block.swapped() for block in blocks]))
    differences = _with_repetitions_marked(differences, repeated_in_base, repeated_in_witness)
    return Collation(
        base=a,
        witness=b,
        blocks=tuple(blocks),
        differences=tuple(_with_notes_of_apparatus(a, b, differences)),
        systematic=tuple(systematic_pairs),
        placements=tuple(_placements(a, b, blocks, base_repetitions)),
        only_base=tuple(_passages(a, [(block.a0, block.a1) for block in blocks], repeated_in_base)),
        only_witness=tuple(_passages(b, [(block.b0, block.b1) for block in blocks], repeated_in_witness)),
        repetitions=tuple(base_repetitions),
        note_layouts=tuple(note_layouts(a, b, blocks)),
        uncompared_layers=tuple(sorted((base.layers - set(a.layers)) | (witness.layers - set(b.layers)))),
        quality=tuple(quality_by_juan(a, b, *aligned_pairs(blocks))),
    )


def _word_differences(
    a: WitnessTokens,
    b: WitnessTokens,
    blocks: Sequence[AlignedPart],
    classifier: DifferenceClassifier,
    table: CharacterTable,
) -> tuple[list[Difference], list[SystematicPair]]:
    """All differences but moved blocks, joined to readings, and the systematic ones as pairs."""
    differences = [*within_blocks(a, b, blocks, classifier), *between_blocks(a, b, blocks)]
    differences.sort(key=_BASE_ORDER)
    differences, pairs = systematic(a, b, blocks, with_layout_class(a, b, differences, table.key))
    differences, additions = with_systematic_marked(a, b, differences)
    return as_readings(a, b, differences), [*pairs, *additions]


def _covered(parts: Sequence[AlignedPart]) -> frozenset[int]:
    """The indices of the first sequence's characters in these parts."""
    return frozenset(at for part in parts for at in range(part.a0, part.a1))


def _with_repetitions_marked(
    differences: Sequence[Difference], repeated_in_base: frozenset[int], repeated_in_witness: frozenset[int]
) -> list[Difference]:
    """The differences; passages of which at least half repeats other text get the rule `REPETITION`."""
    marked = []
    for difference in differences:
        in_base, in_witness = range(difference.a0, difference.a1), range(difference.b0, difference.b1)
        repeated_count = sum(at in repeated_in_base for at in in_base)
        repeated_count += sum(at in repeated_in_witness for at in in_witness)
        is_repeated = 2 * repeated_count >= len(in_base) + len(in_witness)
        is_repetition = difference.category is Class.PASSAGE and is_repeated
        marked.append(replace(difference, rule=REPETITION) if is_repetition else difference)
    return marked


def _placements(
    a: WitnessTokens, b: WitnessTokens, blocks: Sequence[AlignedPart], repetitions: Sequence[AlignedPart]
) -> list[ParallelPlace]:
    """The place in the witness of every paragraph of the base that has text."""
    block_of = np.asarray(a.blocks)
    lengths = np.bincount(block_of)
    a_indices, b_indices = aligned_pairs(blocks, equal=True)
    equal = np.bincount(block_of[a_indices], minlength=len(lengths))
    aligned_blocks, first_pairs = np.unique(block_of[a_indices], return_index=True)
    witness_starts = {
        number: _block_start(b, first)
        for number, first in zip(aligned_blocks.tolist(), b_indices[first_pairs].tolist(), strict=True)
    }
    repeated_count = Counter(a.blocks[at] for at in _covered(repetitions))
    for part in repetitions:
        witness_starts.setdefault(a.blocks[part.a0], _block_start(b, part.b0))
    return [
        ParallelPlace(
            start=a.edition.blocks[number].start,
            share=float(equal[number] / length),
            witness_start=witness_starts.get(number),
            repeated_share=repeated_count[number] / length,
        )
        for number, length in enumerate(lengths.tolist())
        if length
    ]


def _block_start(tokens: WitnessTokens, at: int) -> int:
    """The start in the file of the paragraph or column of a character."""
    return tokens.edition.blocks[tokens.blocks[at]].start


def _passages(tokens: WitnessTokens, covered: list[tuple[int, int]], repeated_indices: frozenset[int]) -> list[Passage]:
    """The passages outside the spans `covered`."""
    return [
        Passage(
            start=tokens.starts[start],
            end=tokens.ends[end - 1],
            length=end - start,
            text=tokens.shown(start, end),
            repeated_count=sum(at in repeated_indices for at in range(start, end)),
        )
        for start, end in gaps(covered, len(tokens))
    ]


def _with_notes_of_apparatus(a: WitnessTokens, b: WitnessTokens, differences: list[Difference]) -> list[Difference]:
    """The differences with the notes of both apparatuses on their places."""
    base_notes, witness_notes = notes_by_character(a), notes_by_character(b)
    with_notes = []
    for difference in differences:
        if difference.category in (Class.PASSAGE, Class.UNLIKE, Class.MOVED):
            with_notes.append(difference)
            continue
        in_base = range(difference.a0, max(difference.a1, difference.a0 + 1))
        in_witness = range(difference.b0, max(difference.b1, difference.b0 + 1))
        notes = [note for at in in_base for note in base_notes.get(at, ())]
        notes += [note for at in in_witness for note in witness_notes.get(at, ())]
        annotated = replace(difference, notes=tuple(dict.fromkeys(notes)))
        if difference.category in WORD_CLASSES and any(_is_called_error(note, difference) for note in notes):
            annotated = replace(annotated, category=Class.ERROR, rule="apparatus")
        with_notes.append(annotated)
    return with_notes


def _is_called_error(note: ApparatusNote, difference: Difference) -> bool:
    """Whether a note says that one of the two readings is an error that was corrected."""
    readings = {note.lemma, note.reading} - {""}
    return note.verb in FAULTS and bool({difference.base, difference.witness} & readings)


def notes_by_character(tokens: WitnessTokens) -> dict[int, list[ApparatusNote]]:
    """The notes of the apparatus by the indices of the characters that they annotate."""
    notes: dict[int, list[ApparatusNote]] = defaultdict(list)
    for note in apparatus_of(tokens.edition):
        last = tokens.index_before(note.anchor)
        for at in range(max(0, last - max(1, len(note.lemma)) + 1), last + 1):
            notes[at].append(note)
        if not note.lemma:
            notes[last + 1].append(note)
    return notes
