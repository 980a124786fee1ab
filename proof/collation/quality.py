"""The reliability of a witness in each juan, measured by the share of characters at which it differs from the base.

If a witness differs from the base at a share `r` of the characters, its agreement with a reading is worth -ln r nats.
Two editions of one text differ at about `USUAL_SHARE` and have the full weight, 1. A bad copy, or a juan of another
recension, has a smaller one by the same formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from proof.collation.tokens import Indices, WitnessTokens
from proof.text.layers import LACUNAE
from proof.text.positions import code_points
from proof.text.transcription import Transcription

USUAL_SHARE = 0.03
"""Share of characters at which two editions of one text usually differ."""

PRIOR_CHARACTERS = 300
"""Weight, in characters, of the prior share of differences, since the shares of short texts are uncertain. The prior of
a juan is the share of the whole witness; that of the whole witness is `PRIOR_SHARE`."""

PRIOR_SHARE = 0.02
"""Share of differences of an unknown witness."""

MAX_SLIP_CHARACTERS = 8
"""Maximum number of additional characters in one text that count as a difference; more are a passage."""


_LACUNA_CODES = sorted(map(ord, LACUNAE))


@dataclass(frozen=True, slots=True)
class WitnessQuality:
    """The quality of a witness in one juan of the base (empty if the base has none): the number of aligned
    `characters`, that of places that differ, and the witness's weight, from 0 to 1."""

    juan: str
    characters: int
    differing: int
    weight: float


def quality_by_juan(
    base: WitnessTokens, witness: WitnessTokens, base_indices: Indices, witness_indices: Indices
) -> list[WitnessQuality]:
    """The quality of a witness in each juan of the base, in their order. `base_indices` and `witness_indices` are the
    indices of aligned characters."""
    if not len(base_indices):
        return []
    order = np.argsort(base_indices, kind="stable")
    base_indices, witness_indices = base_indices[order], witness_indices[order]
    differing = (code_points(base.keys)[base_indices] != code_points(witness.keys)[witness_indices]).astype(np.int64)
    for tokens, indices in ((base, base_indices), (witness, witness_indices)):
        differing[np.isin(tokens.codes[indices], _LACUNA_CODES)] = 0  # it says nothing of what the copy reads
    for indices in (base_indices, witness_indices):
        skipped = np.diff(indices, append=indices[-1] + 1) - 1
        differing += (skipped > 0) & (skipped <= MAX_SLIP_CHARACTERS)
    juan_of_block = _juan_of_blocks(base.edition)
    juans = list(dict.fromkeys(juan_of_block))
    number_of = {juan: number for number, juan in enumerate(juans)}
    juan_numbers = np.array([number_of[juan] for juan in juan_of_block])[np.asarray(base.blocks)[base_indices]]
    characters = np.bincount(juan_numbers, minlength=len(juans))
    differences = np.bincount(juan_numbers, weights=differing, minlength=len(juans))
    whole_share = (differences.sum() + PRIOR_CHARACTERS * PRIOR_SHARE) / (characters.sum() + PRIOR_CHARACTERS)
    shares = (differences + PRIOR_CHARACTERS * whole_share) / (characters + PRIOR_CHARACTERS)
    return [
        WitnessQuality(juan, int(count), int(differing_count), _weight_of(float(share)))
        for juan, count, differing_count, share in zip(juans, characters, differences, shares, strict=True)
        if count
    ]


def quality_by_block(edition: Transcription, qualities: Sequence[WitnessQuality]) -> list[float]:
    """The weight of a witness in each block of the base; 1 if its quality is unknown."""
    weight_in = {quality.juan: quality.weight for quality in qualities}
    return [weight_in.get(juan, 1.0) for juan in _juan_of_blocks(edition)]


def _weight_of(share: float) -> float:
    """The weight of a witness that differs from the base at a `share` of the characters."""
    return round(min(1.0, log(max(min(share, 1.0), 1e-6)) / log(USUAL_SHARE)), 3)


def _juan_of_blocks(edition: Transcription) -> Sequence[str]:
    """The juan of each block of an edition: that of its page, or the name of its file if the edition has several."""
    juan_of_page = {page.id: page.juan for page in edition.pages}
    if juan_of_page:
        return [juan_of_page.get(block.page, "") for block in edition.blocks]
    return [part.path.stem for part in edition.parts for _ in part.blocks] or [""] * len(edition.blocks)
