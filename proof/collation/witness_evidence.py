"""The evidence of other witnesses on the flags of a text.

A witness that has the suggested reading raises a flag's score, one that has the transcribed reading lowers it. It
lowers it by less, since the transcription is of this copy: where that differs from other witnesses the image is right.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import floor

from proof.collation.apparatus import ApparatusNote
from proof.collation.blocks import AlignedPart, Op, align, repeated
from proof.collation.collation import Collation, noted
from proof.collation.differences import aligned_in, aligned_pairs
from proof.collation.quality import quality_by_block, quality_by_juan
from proof.collation.sigla import names_of
from proof.collation.tokens import Keys, WitnessTokens, sequence_of, shared_layers
from proof.model.flags import READER, Flag, Kind, WitnessReading, is_raised
from proof.text.addresses import Address, Addresses
from proof.text.model import Script
from proof.text.transcription import Transcription
from proof.text.variants import Relation, VariantPolicy, policy_of

TEXT = "text"
IMAGE = "image"


@dataclass(frozen=True, slots=True)
class WitnessWeights:
    """The weights of a witness, in nats: `image` is added to the score if it has the suggested reading, `text`
    subtracted if it has the transcribed one. `attested` is the factor for `image` if the witness's own apparatus
    attests the transcribed reading."""

    image: float
    text: float
    attested: float = 0.5


WEIGHTS = WitnessWeights(image=4.5, text=2.4)
"""Fitted on drawn pages: logistic regression of whether a flag is an error on its score
and on what a witness reads, over 1,395 flags (929 errors planted in four texts), heard beside another edition and
beside eight kinds of copies, which share 0 to 30 in 100 of the errors. Two plantings instead of three give 4.1 and 1.9;
measured again, with texts aligned as they are now, 4.4 and 2.5.

On four other texts (1,263 planted errors, 72 half-folios three times) 1,252 errors and 49 false flags are raised alone.
With a copy that shares none of the errors these become 1,254 and 27, the average precision 0.994 for 0.990; with one
that shares all, 15 errors are lost; with two such, 24; another edition spares none of 40 false flags here, 3 of 23 on
the texts fitted on. Under the weights that were argued before (4.0, 2.5, nothing
held) it was the same but for two such copies, which lost 36; log loss over all conditions fitted 0.0358, now 0.0356."""

# The image clearly shows an error if both of these hold. They do for 3 of the 56 flags of that bench with scores from 3
# to 5.5, and all 3 are errors; of the others 18 of 53 are.
MAX_TEXT_PROBABILITY = 0.005
"""Greatest probability of the transcribed reading."""

MIN_SUGGESTED_PROBABILITY = 0.9
"""Least probability of the suggested reading."""

CERTAIN_IMAGE_SCORE = 7.0
"""Score from which on the image clearly shows an error of any kind."""

MAX_ADDITIONAL_CHARACTERS = 5
"""Characters by which the reading of a witness may be longer than the transcribed and the suggested ones."""


@dataclass(frozen=True, slots=True)
class Parallel:
    """A text and one witness: their characters, and the alignment from those of the text to those of the witness.
    `quality` is the weight of the witness in each block of the text, a share of the full one."""

    base: WitnessTokens
    witness: WitnessTokens
    aligned: dict[int, int]
    notes: dict[int, list[ApparatusNote]]
    quality: Sequence[float]

    @classmethod
    def of(cls, collation: Collation) -> Parallel:
        """From a finished collation."""
        aligned = aligned_in([*collation.again, *collation.blocks])
        quality = quality_by_block(collation.base.edition, collation.quality)
        return cls(collation.base, collation.witness, aligned, noted(collation.witness), quality)


ALIGNED = "7"
"""Version of kept alignments; one of another version is made again."""


def beside(base: Transcription, witness: Transcription, known: bytes | None = None) -> tuple[Parallel, bytes]:
    """A text and a witness aligned. The returned bytes are the alignment, to be passed as `known` while neither
    changes."""
    mine, theirs = shared_layers(base, witness)
    keys = Keys(policy_of(Script.SIMPLIFIED).fold)
    a, b = sequence_of(base, keys, mine), sequence_of(witness, keys, theirs)
    if known is None:
        blocks = align(a.keys, b.keys)
        blocks = [*repeated(a.keys, b.keys, blocks), *blocks]
        ops = [[(int(op.equal), op.a0, op.a1, op.b0, op.b1) for op in block.ops] for block in blocks]
        known = json.dumps(ops, separators=(",", ":")).encode()
    blocks = [_block([Op(bool(equal), *rest) for equal, *rest in ops]) for ops in json.loads(known) if ops]
    quality = quality_by_block(base, quality_by_juan(a, b, *aligned_pairs(blocks)))
    return Parallel(a, b, aligned_in(blocks), noted(b), quality), known


def _block(ops: Sequence[Op]) -> AlignedPart:
    return AlignedPart(ops[0].a0, ops[-1].a1, ops[0].b0, ops[-1].b1, tuple(ops))


def without_witnesses(flag: Flag) -> Flag:
    """The flag with its score before witnesses were weighed."""
    if not flag.evidence.witnesses:
        return flag
    score = round(flag.score - sum(reading.weight for reading in flag.evidence.witnesses), 6)
    return replace(flag, score=score, evidence=replace(flag.evidence, witnesses=()))


@dataclass(frozen=True, slots=True)
class WitnessEvidence:
    """The witnesses of a checked text, which is the base of every parallel, or begins at its code point `at`.

    The second witness for a reading has half of the weight of the first, the third a third, since witnesses copy one
    another. Another reader of the images is shown but has no weight, since it may make the same errors. Variants and
    findings about columns and pages do not depend on witnesses. Earlier weights are replaced, not added to.
    """

    addresses: Addresses
    parallels: tuple[Parallel, ...]
    policy: VariantPolicy
    threshold: float
    weights: WitnessWeights = WEIGHTS
    at: int = 0

    def with_witnesses(self, given: Flag, *, seeded: bool = False) -> Flag:
        """The flag with the readings of the witnesses at its place and the new score; `raised` does not change. The
        transcribed reading of a `seeded` error is in the flag, not in the text. Raises UsageError if the flag belongs
        to another text."""
        flag = without_witnesses(given)
        if flag.kind is Kind.LAYOUT:
            return flag
        start = self.at + self.addresses.start(Address(flag.page, flag.line, flag.offset), flag.length)
        count: Counter[str] = Counter()
        readings: list[WitnessReading] = []
        names = names_of([parallel.witness.edition for parallel in self.parallels])
        for parallel, name in zip(self.parallels, names, strict=True):
            reading = _testimony(parallel, name, start, flag, self.policy, self.weights, seeded)
            if reading is not None and name.startswith(READER):
                readings.append(replace(reading, weight=0.0))
            elif reading is not None:
                count[reading.side] += 1
                readings.append(replace(reading, weight=round(reading.weight / count[reading.side], 2)))
        if not readings:
            return flag
        readings = self._kept_raised(flag, readings)
        score = round(flag.score + sum(reading.weight for reading in readings), 6)
        return replace(flag, score=score, evidence=replace(flag.evidence, witnesses=tuple(readings)))

    def _kept_raised(self, flag: Flag, readings: list[WitnessReading]) -> list[WitnessReading]:
        """The readings, with weights against an error that the image clearly shows reduced so that the flag stays
        raised: a witness may have the error from the same source."""
        against = -sum(reading.weight for reading in readings if reading.weight < 0)
        room = flag.score - self.threshold + sum(reading.weight for reading in readings if reading.weight > 0)
        if not _is_clear_error(flag) or not 0 <= room < against:
            return readings
        kept = room / against
        weights = [reading.weight for reading in readings]
        weights = [weight if weight >= 0 else -floor(-weight * kept * 100) / 100 for weight in weights]
        return [replace(reading, weight=weight) for reading, weight in zip(readings, weights, strict=True)]


def _is_clear_error(flag: Flag) -> bool:
    """Whether the image alone clearly shows an error."""
    p_text, p_best = flag.evidence.p_text, flag.evidence.p_best
    if flag.score >= CERTAIN_IMAGE_SCORE:
        return True
    return (
        p_text is not None
        and p_best is not None
        and p_text <= MAX_TEXT_PROBABILITY
        and p_best >= MIN_SUGGESTED_PROBABILITY
    )


def weigh_witnesses(
    flags: Iterable[Flag],
    edition: Transcription,
    parallels: Sequence[Parallel],
    policy: VariantPolicy,
    threshold: float,
    *,
    at: int = 0,
    seeded: bool = False,
) -> list[Flag]:
    """The flags of a text, or its `seeded` errors, weighed with its witnesses; it begins at the code point `at` of the
    base of the parallels. Raises UsageError if a flag belongs to another text."""
    evidence = WitnessEvidence(Addresses(edition), tuple(parallels), policy, threshold, at=at)
    weighed = [(flag, evidence.with_witnesses(flag, seeded=seeded)) for flag in flags]
    return [
        now if now is flag else replace(now, raised=is_raised(now.kind, now.score, threshold)) for flag, now in weighed
    ]


def _testimony(
    parallel: Parallel,
    siglum: str,
    start: int,
    flag: Flag,
    policy: VariantPolicy,
    weights: WitnessWeights,
    seeded: bool,
) -> WitnessReading | None:
    span = _span_of(parallel, start, flag, seeded)
    place = _place_in_witness(parallel, span)
    if place is None:
        return None
    read = parallel.witness.text(*place)
    side = _side(read, span, policy)
    notes = {note: None for at in range(place[0], max(place[1], place[0] + 1)) for note in parallel.notes.get(at, ())}
    block = parallel.base.blocks[min(span.first, len(parallel.base) - 1)]
    weight = {IMAGE: weights.image, TEXT: -weights.text}.get(side, 0.0) * parallel.quality[block]
    if side == IMAGE and any(note.reading == flag.transcribed for note in notes if note.reading):
        weight *= weights.attested
    if flag.kind is Kind.VARIANT:
        weight = 0.0
    note_text = "；".join(note.text for note in notes)
    return WitnessReading(siglum, span.alone(read), side, note_text, weight, parallel.witness.edition.full_name)


@dataclass(frozen=True, slots=True)
class _Span:
    """The tokens `first` to `end` of the base around a flag, with their transcribed and their suggested text; `before`
    and `after` are the parts of these beside the flag."""

    first: int
    end: int
    transcribed: str
    suggested: str
    before: str
    after: str

    def alone(self, read: str) -> str:
        """What a witness reads at the flag alone, if it has the parts beside it; else all that it reads."""
        beside = len(self.before) + len(self.after)
        has_both = len(read) >= beside and read.startswith(self.before) and read.endswith(self.after)
        return read[len(self.before) : len(read) - len(self.after)] if has_both else read


def _span_of(collation: Parallel, start: int, flag: Flag, seeded: bool) -> _Span:
    """The characters of a flag, and, if an insertion or omission could as well be at a neighbouring place, as among
    equal characters, all characters between these places."""
    base = collation.base
    first = base.index_before(start) + 1
    end = first
    while end < len(base) and base.starts[end] < start + flag.length:
        end += 1
    left, right = first, end
    repeated = flag.transcribed if flag.kind is Kind.INSERTION else flag.suggested
    if flag.kind in (Kind.INSERTION, Kind.OMISSION) and repeated:
        while left > 0 and base.character(left - 1) == repeated[(left - first - 1) % len(repeated)]:
            left -= 1
        while right < len(base) and base.character(right) == repeated[(right - end) % len(repeated)]:
            right += 1
    before, after = base.text(left, first), base.text(end, right)
    transcribed = flag.transcribed if seeded else base.text(left, right)
    return _Span(left, right, transcribed, before + flag.suggested + after, before, after)


def _side(read: str, span: _Span, policy: VariantPolicy) -> str:
    """The side of a witness: `text` if it has the transcribed reading, `image` if the suggested one, else empty."""
    if _same(read, span.transcribed, policy):
        return TEXT
    return IMAGE if span.suggested != span.transcribed and _same(read, span.suggested, policy) else ""


def _place_in_witness(collation: Parallel, span: _Span) -> tuple[int, int] | None:
    """Start and end of the characters that the witness has in place of those of the base, if they are at most
    `MAX_ADDITIONAL_CHARACTERS` more than those or the suggested ones; None if the witness does not have the place."""
    aligned, first, end = collation.aligned, span.first, span.end
    before, after = aligned.get(first - 1), aligned.get(end)
    if before is None and first in aligned and end > first:
        before = aligned[first] - 1
    if after is None and end > first and end - 1 in aligned:
        after = aligned[end - 1] + 1
    if before is None and first == 0 and first in aligned:
        before = aligned[first] - 1
    most = max(end - first, len(span.suggested)) + MAX_ADDITIONAL_CHARACTERS
    if before is None or after is None or not before < after <= before + 1 + most:
        return None
    return before + 1, after


def _same(first: str, second: str, policy: VariantPolicy) -> bool:
    """Whether two readings are the same words."""
    if len(first) != len(second):
        return False
    return all(policy.relation(b, a).relation is not Relation.DISTINCT for a, b in zip(first, second, strict=True))
