"""Collating a base with a witness: aligned parts, differences, systematic pairs and the notes of the apparatus."""

from __future__ import annotations

from collections import defaultdict
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
from proof.collation.note_layout import NoteLayout, set_otherwise, with_notes
from proof.collation.quality import WitnessQuality, quality_by_juan
from proof.collation.readings import as_readings, recurring
from proof.collation.tokens import Keys, WitnessTokens, sequence_of, shared_layers
from proof.errors import UsageError
from proof.locale.marking import _
from proof.text.layers import Layer
from proof.text.model import Script
from proof.text.transcription import Transcription
from proof.text.variants import policy_of

SAID_AGAIN = "said-again"
"""The rule of a passage found in one text only that repeats a passage which both texts have elsewhere."""

_PLACE = attrgetter("a0", "a1", "b0")
"""The key by which differences are in the order of the base."""

MIN_PLACED_SHARE = 0.5
"""Minimum share of a paragraph's characters that the witness must have for the paragraph to be placed."""

FAULTS = frozenset(
    {"訛作", "誤作", "原作", "改作", "訛脫", "原脫", "誤脫", "訛衍", "原衍", "誤衍", "當作", "補", "改", "刪"}
)
"""The verbs by which apparatus notes mark a reading as an error."""


@dataclass(frozen=True, slots=True)
class ParallelPlace:
    """The place of a paragraph or column of the base in the witness.

    `block` is its number in the base and `start` where it begins there, `witness_start` where it begins in the witness
    (None: nowhere), both in code points of the files. `share` is the share of its characters that the witness has at
    that place, `again` the share that only matches witness text already aligned with another part of the base.
    """

    block: int
    start: int
    share: float
    witness_start: int | None
    again: float = 0.0

    @property
    def placed(self) -> bool:
        return self.share >= MIN_PLACED_SHARE

    @property
    def said_again(self) -> bool:
        """Whether the base repeats here a passage that the witness has only once."""
        return not self.placed and self.share + self.again >= MIN_PLACED_SHARE


@dataclass(frozen=True, slots=True)
class Passage:
    """A part that one of the two texts lacks: `start` and `end` in code points of the file that has it, `length` in
    characters. `again` characters repeat a passage that both texts have elsewhere."""

    start: int
    end: int
    length: int
    text: str
    again: int = 0


@dataclass(frozen=True, slots=True)
class Collation:
    """A base collated with one witness. `only_base` and `only_witness` are passages that the other text lacks; `again`
    are passages that the base repeats and the witness has once (`proof.collation.blocks.repeated`)."""

    base: WitnessTokens
    witness: WitnessTokens
    blocks: tuple[AlignedPart, ...]
    differences: tuple[Difference, ...]
    systematic: tuple[SystematicPair, ...]
    placements: tuple[ParallelPlace, ...]
    only_base: tuple[Passage, ...]
    only_witness: tuple[Passage, ...]
    again: tuple[AlignedPart, ...]
    notes: tuple[NoteLayout, ...]
    """Words set as main text in one of the two and as a note in the other."""
    left_out: tuple[Layer, ...]
    """Layers that were not compared, since only one of the two texts has them."""
    quality: tuple[WitnessQuality, ...]
    """The quality of the witness in each juan of the base."""

    def of(self, *categories: Class) -> list[Difference]:
        """The differences of these classes, in the order of the base."""
        return [difference for difference in self.differences if difference.category in categories]


def collate(base: Transcription, witness: Transcription, pairs: Path | None = None) -> Collation:
    """Collate `base` with `witness`. `pairs` is the project's own file of character variants.

    Raises UsageError if one of the two has no text.
    """
    mine, theirs = shared_layers(base, witness)
    policies = {script: policy_of(script, pairs) for script in (base.script, witness.script, Script.SIMPLIFIED)}
    keys = Keys(policies[Script.SIMPLIFIED].fold)
    a, b = sequence_of(base, keys, mine), sequence_of(witness, keys, theirs)
    for edition, tokens in ((base, a), (witness, b)):
        if not len(tokens):
            raise UsageError(_("%(path)s has no text to collate"), path=edition.path)
    blocks = align(a.keys, b.keys)
    classifier = DifferenceClassifier(a, b, CharacterClassifier(base.script, witness.script, policies))
    differences = [*within_blocks(a, b, blocks, classifier), *between_blocks(a, b, blocks)]
    differences.sort(key=_PLACE)
    differences, pairs_all_over = systematic(a, b, blocks, with_notes(a, b, differences, keys.key))
    differences, more_all_over = recurring(a, b, differences)
    differences = [*as_readings(a, b, differences), *moved_blocks(a, b, blocks)]
    differences.sort(key=_PLACE)
    repeats = repeated(a.keys, b.keys, blocks)
    repeats_there = repeated(b.keys, a.keys, [block.turned() for block in blocks])
    in_repeats, in_repeats_there = _covered(repeats), _covered(repeats_there)
    differences = _annotated(a, b, _with_repetitions(differences, in_repeats, in_repeats_there))
    return Collation(
        base=a,
        witness=b,
        blocks=tuple(blocks),
        differences=tuple(differences),
        systematic=(*pairs_all_over, *more_all_over),
        placements=tuple(_placements(a, b, blocks, repeats)),
        only_base=tuple(_passages(a, [(block.a0, block.a1) for block in blocks], in_repeats)),
        only_witness=tuple(_passages(b, [(block.b0, block.b1) for block in blocks], in_repeats_there)),
        again=tuple(repeats),
        notes=tuple(set_otherwise(a, b, blocks)),
        left_out=tuple(sorted((base.layers - mine) | (witness.layers - theirs))),
        quality=tuple(quality_by_juan(a, b, *aligned_pairs(blocks))),
    )


def _covered(parts: Sequence[AlignedPart]) -> frozenset[int]:
    """The indices of the first sequence's characters in these parts."""
    return frozenset(at for part in parts for at in range(part.a0, part.a1))


def _with_repetitions(
    differences: Sequence[Difference], in_repeats: frozenset[int], in_repeats_there: frozenset[int]
) -> list[Difference]:
    """The differences; passages of which at least half is repeated elsewhere get the rule SAID_AGAIN."""
    done = []
    for difference in differences:
        here, there = range(difference.a0, difference.a1), range(difference.b0, difference.b1)
        repeated_count = sum(at in in_repeats for at in here) + sum(at in in_repeats_there for at in there)
        again = difference.category is Class.PASSAGE and 2 * repeated_count >= len(here) + len(there)
        done.append(replace(difference, rule=SAID_AGAIN) if again else difference)
    return done


def _placements(
    a: WitnessTokens, b: WitnessTokens, blocks: Sequence[AlignedPart], again: Sequence[AlignedPart]
) -> list[ParallelPlace]:
    """The place in the witness of every paragraph of the base that has text."""
    of_block = np.asarray(a.blocks)
    total = np.bincount(of_block)
    mine, theirs = aligned_pairs(blocks, equal=True)
    equal = np.bincount(of_block[mine], minlength=len(total))
    answered, first_at = np.unique(of_block[mine], return_index=True)
    first = {
        number: b.edition.blocks[b.blocks[to]].start
        for number, to in zip(answered.tolist(), theirs[first_at].tolist(), strict=True)
    }
    repeats: dict[int, int] = defaultdict(int)
    for at in sorted(_covered(again)):
        repeats[a.blocks[at]] += 1
    for part in again:
        first.setdefault(a.blocks[part.a0], b.edition.blocks[b.blocks[part.b0]].start)
    return [
        ParallelPlace(
            number,
            a.edition.blocks[number].start,
            float(equal[number] / length),
            first.get(number),
            repeats[number] / length,
        )
        for number, length in enumerate(total.tolist())
        if length
    ]


def _passages(tokens: WitnessTokens, spans: list[tuple[int, int]], in_repeats: frozenset[int]) -> list[Passage]:
    passages = []
    for start, end in gaps(spans, len(tokens)):
        again = sum(at in in_repeats for at in range(start, end))
        text = tokens.shown(start, end)
        passages.append(Passage(tokens.starts[start], tokens.ends[end - 1], end - start, text, again))
    return passages


def _annotated(a: WitnessTokens, b: WitnessTokens, differences: list[Difference]) -> list[Difference]:
    """The differences with the notes of both apparatuses on their places."""
    mine, theirs = noted(a), noted(b)
    done = []
    for difference in differences:
        if difference.category in (Class.PASSAGE, Class.UNLIKE, Class.MOVED):
            done.append(difference)
            continue
        here = range(difference.a0, max(difference.a1, difference.a0 + 1))
        there = range(difference.b0, max(difference.b1, difference.b0 + 1))
        notes = [note for at in here for note in mine.get(at, ())] + [
            note for at in there for note in theirs.get(at, ())
        ]
        annotated = replace(difference, notes=tuple(dict.fromkeys(notes)))
        if difference.category in WORD_CLASSES and any(_is_called_error(note, difference) for note in notes):
            annotated = replace(annotated, category=Class.ERROR, rule="apparatus")
        done.append(annotated)
    return done


def _is_called_error(note: ApparatusNote, difference: Difference) -> bool:
    """Whether a note says that one of the two readings is an error that was corrected."""
    return note.verb in FAULTS and bool({difference.base, difference.witness} & {note.lemma, note.reading} - {""})


def noted(of: WitnessTokens) -> dict[int, list[ApparatusNote]]:
    """The notes of the apparatus by the indices of the characters that they annotate."""
    places: dict[int, list[ApparatusNote]] = defaultdict(list)
    for note in apparatus_of(of.edition):
        last = of.index_before(note.anchor)
        for at in range(max(0, last - max(1, len(note.lemma)) + 1), last + 1):
            places[at].append(note)
        if not note.lemma:
            places[last + 1].append(note)
    return places
