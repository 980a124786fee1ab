"""What other witnesses of a text say at the places of its flags: for the image, or for the transcription.

A witness that reads what the image seems to show raises a flag's score, one that reads what is transcribed lowers it.
It lowers it by less than it would raise it: what is to be transcribed is this copy, and where the copy differs from
other witnesses the image is right.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import floor

from proof.collation.apparatus import ApparatusNote
from proof.collation.blocks import AlignedPart, Op, align, repeated
from proof.collation.collation import Collation, aligned_in, answering, noted
from proof.collation.quality import quality_by_block, quality_by_juan
from proof.collation.sigla import names_of
from proof.collation.tokens import Keys, WitnessTokens, sequence_of, shared_layers
from proof.model.flags import READER, Flag, Kind, WitnessReading, is_raised
from proof.text.addresses import Address, Addresses
from proof.text.model import Script
from proof.text.transcription import Transcription
from proof.text.variants import Relation, VariantPolicy, policy_of

TEXT, IMAGE = "text", "image"


@dataclass(frozen=True, slots=True)
class WitnessWeights:
    """What a witness adds to the score where it reads what is suggested (`image`), what it takes from it where it
    reads what is transcribed (`text`), and how much of the former remains (`attested`, a share) where its own
    apparatus says that a copy reads what is transcribed."""

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

UNLIKELY, LIKELY = 0.005, 0.9
"""What is transcribed has at most the one probability and what is suggested at least the other where the image
clearly shows an error. Of the 56 flags of that bench with scores from 3 to 5.5 three are so, and all three are errors;
of the others 18 of 53."""

BEYOND_DOUBT = 7.0
"""A score from which the image clearly shows an error of whatever kind."""

LONGER = 5
"""Characters by which what a witness has at a place may exceed what the text has or would have there."""


@dataclass(frozen=True, slots=True)
class Parallel:
    """A text beside one witness: both as characters, and which of the witness answers each of the text. `quality` is
    what share of its weight the witness has in each block of the text."""

    base: WitnessTokens
    witness: WitnessTokens
    aligned: dict[int, int]
    notes: dict[int, list[ApparatusNote]]
    quality: Sequence[float]

    @classmethod
    def of(cls, collation: Collation) -> Parallel:
        """The same of a collation that was made already."""
        aligned = aligned_in([*collation.again, *collation.blocks])
        quality = quality_by_block(collation.base.edition, collation.quality)
        return cls(collation.base, collation.witness, aligned, noted(collation.witness), quality)


ALIGNED = "6"
"""Version of kept alignments; one of another version is made again."""


def beside(base: Transcription, witness: Transcription, known: bytes | None = None) -> tuple[Parallel, bytes]:
    """A text beside a witness; the bytes are the alignment, which serve as `known` while neither changes."""
    mine, theirs = shared_layers(base, witness)
    keys = Keys(policy_of(Script.SIMPLIFIED).fold)
    a, b = sequence_of(base, keys, mine), sequence_of(witness, keys, theirs)
    if known is None:
        blocks = align(a.keys, b.keys)
        blocks = [*repeated(a.keys, b.keys, blocks), *blocks]
        ops = [[(int(op.equal), op.a0, op.a1, op.b0, op.b1) for op in block.ops] for block in blocks]
        known = json.dumps(ops, separators=(",", ":")).encode()
    blocks = [_block([Op(bool(equal), *rest) for equal, *rest in ops]) for ops in json.loads(known) if ops]
    quality = quality_by_block(base, quality_by_juan(a, b, *answering(blocks)))
    return Parallel(a, b, aligned_in(blocks), noted(b), quality), known


def _block(ops: Sequence[Op]) -> AlignedPart:
    return AlignedPart(ops[0].a0, ops[-1].a1, ops[0].b0, ops[-1].b1, tuple(ops))


def without_witnesses(flag: Flag) -> Flag:
    """The flag with the score that it had before witnesses were weighed."""
    if not flag.evidence.witnesses:
        return flag
    score = round(flag.score - sum(reading.weight for reading in flag.evidence.witnesses), 6)
    return replace(flag, score=score, evidence=replace(flag.evidence, witnesses=()))


@dataclass(frozen=True, slots=True)
class WitnessEvidence:
    """A checked text with the witnesses beside it, its base in every parallel.

    The second witness on a side weighs half of the first, the third a third: witnesses copy one another. Another reader
    of the images is shown and weighs nothing: it may err as the first one does. Whether a
    variant is shown does not hang on witnesses; findings about columns and pages stay as they are. What was weighed
    before is not weighed twice.
    """

    addresses: Addresses
    parallels: tuple[Parallel, ...]
    policy: VariantPolicy
    threshold: float
    weights: WitnessWeights = WEIGHTS

    def with_witnesses(self, given: Flag, *, seeded: bool = False) -> Flag:
        """The flag with what the witnesses read at its place, and the score that it has in that light; whether it is
        raised is decided after. Of a `seeded` error what is transcribed stands in the flag and not in the text. Raises
        UsageError where it is of another text."""
        flag = without_witnesses(given)
        if flag.kind is Kind.LAYOUT:
            return flag
        start = self.addresses.start(Address(flag.page, flag.line, flag.offset), flag.length)
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
        readings = self._held(flag, readings)
        score = round(flag.score + sum(reading.weight for reading in readings), 6)
        return replace(flag, score=score, evidence=replace(flag.evidence, witnesses=tuple(readings)))

    def _held(self, flag: Flag, readings: list[WitnessReading]) -> list[WitnessReading]:
        """The readings, with weights against an error that the image clearly shows reduced so that the flag stays
        raised: a witness may have the error from the same source."""
        against = -sum(reading.weight for reading in readings if reading.weight < 0)
        room = flag.score - self.threshold + sum(reading.weight for reading in readings if reading.weight > 0)
        if not _clear(flag) or not 0 <= room < against:
            return readings
        kept = room / against
        weights = [reading.weight for reading in readings]
        weights = [weight if weight >= 0 else -floor(-weight * kept * 100) / 100 for weight in weights]
        return [replace(reading, weight=weight) for reading, weight in zip(readings, weights, strict=True)]


def _clear(flag: Flag) -> bool:
    """Whether the image by itself clearly shows an error."""
    p_text, p_best = flag.evidence.p_text, flag.evidence.p_best
    if flag.score >= BEYOND_DOUBT:
        return True
    return p_text is not None and p_best is not None and p_text <= UNLIKELY and p_best >= LIKELY


def weigh_witnesses(
    flags: Iterable[Flag],
    edition: Transcription,
    parallels: Sequence[Parallel],
    policy: VariantPolicy,
    threshold: float,
    *,
    seeded: bool = False,
) -> list[Flag]:
    """The flags of a text, or its `seeded` errors, in the light of its witnesses. Raises UsageError where one is of
    another text."""
    evidence = WitnessEvidence(Addresses(edition), tuple(parallels), policy, threshold)
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
    span = _run(parallel, start, flag, seeded)
    place = _read(parallel, span)
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
    return WitnessReading(siglum, read, side, "；".join(note.text for note in notes), weight)


@dataclass(frozen=True, slots=True)
class _Span:
    """WitnessTokens `first` to `end` of the base around a flag, what they say and what they would say corrected."""

    first: int
    end: int
    transcribed: str
    suggested: str


def _run(collation: Parallel, start: int, flag: Flag, seeded: bool) -> _Span:
    """The characters that a flag is about, and where what is too much or too little could as well begin farther up or
    down, as one among equal ones can, all of those."""
    base = collation.base
    first = base.index_before(start) + 1
    end = first
    while end < len(base) and base.cells[end].start < start + flag.length:
        end += 1
    left, right = first, end
    repeated = flag.transcribed if flag.kind is Kind.INSERTION else flag.suggested
    if flag.kind in (Kind.INSERTION, Kind.OMISSION) and repeated:
        while left > 0 and base.cells[left - 1].text == repeated[(left - first - 1) % len(repeated)]:
            left -= 1
        while right < len(base) and base.cells[right].text == repeated[(right - end) % len(repeated)]:
            right += 1
    before, after = base.text(left, first), base.text(end, right)
    transcribed = flag.transcribed if seeded else base.text(left, right)
    return _Span(left, right, transcribed, before + flag.suggested + after)


def _side(read: str, span: _Span, policy: VariantPolicy) -> str:
    """Whether a witness reads what is transcribed (`text`), what is suggested (`image`), or neither."""
    if _same(read, span.transcribed, policy):
        return TEXT
    return IMAGE if span.suggested != span.transcribed and _same(read, span.suggested, policy) else ""


def _read(collation: Parallel, span: _Span) -> tuple[int, int] | None:
    """Which characters the witness has in place of those of the base, at most `LONGER` more than it or what is
    suggested has; None where it does not have the place."""
    aligned, first, end = collation.aligned, span.first, span.end
    before, after = aligned.get(first - 1), aligned.get(end)
    if before is None and first in aligned and end > first:
        before = aligned[first] - 1
    if after is None and end > first and end - 1 in aligned:
        after = aligned[end - 1] + 1
    if before is None and first == 0 and first in aligned:
        before = aligned[first] - 1
    most = max(end - first, len(span.suggested)) + LONGER
    if before is None or after is None or not before < after <= before + 1 + most:
        return None
    return before + 1, after


def _same(first: str, second: str, policy: VariantPolicy) -> bool:
    """Whether two readings are the same words."""
    if len(first) != len(second):
        return False
    return all(policy.relation(b, a).relation is not Relation.DISTINCT for a, b in zip(first, second, strict=True))
