"""The evidence of other witnesses on the flags of a text.

A witness that has the suggested reading raises a flag's score, one that has the transcribed reading lowers it. It
lowers it by less, since the text transcribes this copy: where the copy differs from others, its image is right.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import floor

from proof.collation.apparatus import ApparatusNote
from proof.collation.blocks import AlignedPart, align, repeated
from proof.collation.collation import Collation, notes_by_character
from proof.collation.differences import aligned_in, aligned_pairs
from proof.collation.gap_alignment import Op
from proof.collation.quality import quality_by_block, quality_by_juan
from proof.collation.sigla import names_of
from proof.collation.tokens import CharacterTable, WitnessTokens, shared_tokens
from proof.errors import UsageError
from proof.model.flags import READER_SIGN, Flag, Kind, WitnessReading, is_raised
from proof.text.addresses import Address, Addresses
from proof.text.model import Script
from proof.text.transcription import Transcription
from proof.text.variants import Relation, VariantPolicy, policy_of

TEXT = "text"
"""The side of a witness that has the transcribed reading."""

IMAGE = "image"
"""The side of a witness that has the suggested reading."""


@dataclass(frozen=True, slots=True)
class WitnessWeights:
    """The weights of a witness, in nats: `image` is added to the score if it has the suggested reading, `text` is
    subtracted if it has the transcribed one. `attested` is the factor for `image` if the apparatus of the witness
    attests the transcribed reading."""

    image: float
    text: float
    attested: float = 0.5


WEIGHTS = WitnessWeights(image=4.5, text=2.4)
"""Fitted on drawn pages by logistic regression (is a flag an error, given its score and the reading of a witness?) over
1,395 flags from 929 errors planted in four texts, weighed with another edition and with eight kinds of copies that
share 0 to 30 % of the errors. Two plantings instead of three give 4.1 and 1.9; the present alignment of texts gives
4.4 and 2.5.

On four other texts (1,263 planted errors, 72 half-folios three times) 1,252 errors and 49 false flags are raised
without witnesses. With a copy that shares none of the errors it is 1,254 and 27, and the average precision is 0.994
instead of 0.990. A copy that shares all errors loses 15 of them, two such copies lose 24. Another edition removes none
of 40 false flags, and 3 of 23 on the texts of the fit. The earlier weights, which were not fitted (4.0, 2.5, and
without `_kept_raised`), gave the same but for two such copies, which lost 36; the log loss over all conditions was
0.0358 and is now 0.0356."""

# The image clearly shows an error if both of these hold. They do for 3 of the 56 flags of that bench with scores from 3
# to 5.5, and all 3 are errors; of the other 53 flags 18 are.
MAX_TEXT_PROBABILITY = 0.005
"""Maximum probability of the transcribed reading."""

MIN_SUGGESTED_PROBABILITY = 0.9
"""Minimum probability of the suggested reading."""

CERTAIN_IMAGE_SCORE = 7.0
"""Minimum score at which the image clearly shows an error of any kind."""

MAX_ADDITIONAL_CHARACTERS = 5
"""Maximum number of characters by which the reading of a witness is longer than the transcribed and the suggested
ones."""


@dataclass(frozen=True, slots=True)
class Parallel:
    """A text and one witness. `aligned` maps the indices of characters of the text to those of the witness, `notes` are
    the apparatus notes of the witness by the indices of its characters, `quality` is the weight of the witness in each
    block of the text, from 0 to 1."""

    base: WitnessTokens
    witness: WitnessTokens
    aligned: dict[int, int]
    notes: dict[int, list[ApparatusNote]]
    quality: Sequence[float]

    @classmethod
    def of(cls, collation: Collation) -> Parallel:
        """From a finished collation."""
        aligned = aligned_in([*collation.repetitions, *collation.blocks])
        quality = quality_by_block(collation.base.edition, collation.quality)
        return cls(collation.base, collation.witness, aligned, notes_by_character(collation.witness), quality)


ALIGNMENT_VERSION = "9"
"""Version of the stored alignments; those of another version are not used."""


def beside(base: Transcription, witness: Transcription, stored: bytes | None = None) -> tuple[Parallel, bytes]:
    """Align a text with a witness. The returned bytes are the alignment, which can be passed as `stored` as long as the
    two do not change."""
    table = CharacterTable(policy_of(Script.SIMPLIFIED).fold)
    a, b = shared_tokens(base, witness, table)
    if stored is None:
        blocks = align(a.keys, b.keys)
        blocks = [*repeated(a.keys, b.keys, blocks), *blocks]
        stored = json.dumps([_as_json(block) for block in blocks], separators=(",", ":")).encode()
    blocks = [_from_json(ops) for ops in json.loads(stored) if ops]
    quality = quality_by_block(base, quality_by_juan(a, b, *aligned_pairs(blocks)))
    return Parallel(a, b, aligned_in(blocks), notes_by_character(b), quality), stored


def _as_json(block: AlignedPart) -> list[list[int]]:
    return [[int(op.equal), op.a0, op.a1, op.b0, op.b1] for op in block.ops]


def _from_json(json_ops: Sequence[Sequence[int]]) -> AlignedPart:
    ops = tuple(Op(bool(equal), *place) for equal, *place in json_ops)
    return AlignedPart(ops[0].a0, ops[-1].a1, ops[0].b0, ops[-1].b1, ops)


def without_witnesses(flag: Flag) -> Flag:
    """The flag with its score before witnesses were weighed."""
    if not flag.evidence.witnesses:
        return flag
    score = round(flag.score - sum(reading.weight for reading in flag.evidence.witnesses), 6)
    return replace(flag, score=score, evidence=replace(flag.evidence, witnesses=()))


@dataclass(frozen=True, slots=True)
class WitnessEvidence:
    """The witnesses of a checked text. The text is the base of every parallel, or a part of it that begins at its code
    point `at`.

    The second witness for a reading has half of the weight of the first, the third a third, since witnesses copy one
    another. Another reader of the images is shown without a weight, since it may make the same errors. Variants, and
    flags about columns and pages, do not depend on witnesses. New weights replace earlier ones.
    """

    addresses: Addresses
    parallels: tuple[Parallel, ...]
    policy: VariantPolicy
    threshold: float
    weights: WitnessWeights = WEIGHTS
    at: int = 0

    def with_witnesses(self, given: Flag, *, seeded: bool = False) -> Flag:
        """The flag with the readings of the witnesses at its place and the new score; `raised` does not change. The
        transcribed reading of a `seeded` error is in the flag, not in the text. A flag whose place is not within one
        line of the text gets no readings."""
        flag = without_witnesses(given)
        if flag.kind is Kind.LAYOUT:
            return flag
        try:
            start = self.at + self.addresses.start(Address(flag.page, flag.line, flag.offset), flag.length)
        except UsageError:
            return flag
        count: Counter[str] = Counter()
        readings: list[WitnessReading] = []
        names = names_of([parallel.witness.edition for parallel in self.parallels])
        for parallel, name in zip(self.parallels, names, strict=True):
            reading = self._reading(parallel, name, start, flag, seeded=seeded)
            if reading is None:
                continue
            if name.startswith(READER_SIGN):
                weight = 0.0
            else:
                count[reading.side] += 1
                weight = round(reading.weight / count[reading.side], 2)
            readings.append(replace(reading, weight=weight))
        if not readings:
            return flag
        readings = self._kept_raised(flag, readings)
        score = round(flag.score + sum(reading.weight for reading in readings), 6)
        return replace(flag, score=score, evidence=replace(flag.evidence, witnesses=tuple(readings)))

    def _reading(
        self, parallel: Parallel, siglum: str, start: int, flag: Flag, *, seeded: bool
    ) -> WitnessReading | None:
        """The reading of one witness at a flag that begins at code point `start` of the base, with its full weight;
        None if the witness does not have the place."""
        context = _context_of(parallel.base, start, flag, seeded=seeded)
        place = _place_in_witness(parallel, context)
        if place is None:
            return None
        first, end = place
        text = parallel.witness.text(first, end)
        side = _side(text, context, self.policy)
        notes = {note: None for at in range(first, max(end, first + 1)) for note in parallel.notes.get(at, ())}
        weight = 0.0
        if flag.kind is not Kind.VARIANT:
            block = parallel.base.blocks[min(context.first, len(parallel.base) - 1)]
            weight = {IMAGE: self.weights.image, TEXT: -self.weights.text}.get(side, 0.0) * parallel.quality[block]
            if side == IMAGE and any(note.reading == flag.transcribed for note in notes if note.reading):
                weight *= self.weights.attested
        note_text = "；".join(note.text for note in notes)
        return WitnessReading(
            siglum, context.at_flag_alone(text), side, note_text, weight, parallel.witness.edition.full_name
        )

    def _kept_raised(self, flag: Flag, readings: list[WitnessReading]) -> list[WitnessReading]:
        """The readings, with negative weights reduced as far as an error that the image clearly shows must stay
        raised: a witness may have the error from the same source."""
        against = -sum(reading.weight for reading in readings if reading.weight < 0)
        room = flag.score - self.threshold + sum(reading.weight for reading in readings if reading.weight > 0)
        if not _is_clear_error(flag) or not 0 <= room < against:
            return readings
        kept_share = room / against
        return [
            reading
            if reading.weight >= 0
            else replace(reading, weight=-floor(-reading.weight * kept_share * 100) / 100)
            for reading in readings
        ]


def _is_clear_error(flag: Flag) -> bool:
    """Whether the image alone clearly shows an error."""
    p_text, p_best = flag.evidence.p_text, flag.evidence.p_best
    if flag.score >= CERTAIN_IMAGE_SCORE:
        return True
    if p_text is None or p_best is None:
        return False
    return p_text <= MAX_TEXT_PROBABILITY and p_best >= MIN_SUGGESTED_PROBABILITY


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
    """The flags of a text, or its `seeded` errors, weighed with its witnesses. The text begins at the code point `at`
    of the base of the parallels. Flags whose place is not in the text are returned unchanged."""
    evidence = WitnessEvidence(Addresses(edition), tuple(parallels), policy, threshold, at=at)
    weighed = []
    for flag in flags:
        after = evidence.with_witnesses(flag, seeded=seeded)
        if after is not flag:
            after = replace(after, raised=is_raised(after.kind, after.score, threshold))
        weighed.append(after)
    return weighed


@dataclass(frozen=True, slots=True)
class _FlagContext:
    """The characters `first` to `end` of the base around a flag, with their transcribed and their suggested text;
    `before` and `after` are the parts of these beside the flag."""

    first: int
    end: int
    transcribed: str
    suggested: str
    before: str
    after: str

    def at_flag_alone(self, text: str) -> str:
        """The reading of a witness without the parts beside the flag if it has both; else the whole reading."""
        is_longer = len(text) >= len(self.before) + len(self.after)
        if is_longer and text.startswith(self.before) and text.endswith(self.after):
            return text[len(self.before) : len(text) - len(self.after)]
        return text


def _context_of(base: WitnessTokens, start: int, flag: Flag, *, seeded: bool) -> _FlagContext:
    """The characters of a flag. If an insertion or omission could as well be at a neighbouring place, as among equal
    characters, all characters between these places are included."""
    first = base.index_before(start) + 1
    end = first
    while end < len(base) and base.starts[end] < start + flag.length:
        end += 1
    left, right = first, end
    words = flag.transcribed if flag.kind is Kind.INSERTION else flag.suggested
    if flag.kind in (Kind.INSERTION, Kind.OMISSION) and words:
        while left > 0 and base.character(left - 1) == words[(left - first - 1) % len(words)]:
            left -= 1
        while right < len(base) and base.character(right) == words[(right - end) % len(words)]:
            right += 1
    before, after = base.text(left, first), base.text(end, right)
    transcribed = flag.transcribed if seeded else base.text(left, right)
    return _FlagContext(left, right, transcribed, before + flag.suggested + after, before, after)


def _side(text: str, context: _FlagContext, policy: VariantPolicy) -> str:
    """The side of a witness with the reading `text`: TEXT, IMAGE, or empty for a third reading."""
    if _are_same_words(text, context.transcribed, policy):
        return TEXT
    has_suggestion = context.suggested != context.transcribed and _are_same_words(text, context.suggested, policy)
    return IMAGE if has_suggestion else ""


def _place_in_witness(parallel: Parallel, context: _FlagContext) -> tuple[int, int] | None:
    """First character and end of the text that the witness has in place of that of the base; None if the witness does
    not have the place, or has more than `MAX_ADDITIONAL_CHARACTERS` additional characters there."""
    aligned, first, end = parallel.aligned, context.first, context.end
    before, after = aligned.get(first - 1), aligned.get(end)
    if before is None and first in aligned and (end > first or first == 0):
        before = aligned[first] - 1
    if after is None and end > first and end - 1 in aligned:
        after = aligned[end - 1] + 1
    if before is None or after is None:
        return None
    max_length = max(end - first, len(context.suggested)) + MAX_ADDITIONAL_CHARACTERS
    return (before + 1, after) if 0 <= after - before - 1 <= max_length else None


def _are_same_words(first: str, second: str, policy: VariantPolicy) -> bool:
    if len(first) != len(second):
        return False
    return all(policy.relation(b, a).relation is not Relation.DISTINCT for a, b in zip(first, second, strict=True))
