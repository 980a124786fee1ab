"""The reliability of a witness in each juan, measured by the share of characters at which it differs from the base.

If a witness differs from the base at a share `r` of the characters, its agreement with a reading is worth -ln r nats.
Two editions of one text differ at about `USUAL_SHARE` and have full weight. A bad copy, or a juan of another recension,
has less weight by the same formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from proof.collation.tokens import WitnessTokens
from proof.text.positions import code_points
from proof.text.transcription import Transcription

Numbers = NDArray[np.int64]

USUAL_SHARE = 0.03
"""Share of characters at which two editions of one text differ; a witness with a higher share has less weight."""

PRIOR_CHARACTERS = 300
"""Weight, in characters, of the prior share of differences, since short texts are uncertain. The prior of a juan is the
share of the whole witness, that of the whole witness is `PRIOR_SHARE`."""

PRIOR_SHARE = 0.02
"""Share of differences of an unknown witness."""

MAX_SLIP_CHARACTERS = 8
"""Additional characters of one of the two, at most, that count as a difference; longer ones are passages."""


@dataclass(frozen=True, slots=True)
class WitnessQuality:
    """A witness in one juan of the base (empty if the base has none): the number of aligned `characters`, that of
    `differing` places, and the witness's `weight`, a share of the full one."""

    juan: str
    characters: int
    differing: int
    weight: float


def quality_by_juan(
    base: WitnessTokens, witness: WitnessTokens, mine: Numbers, theirs: Numbers
) -> list[WitnessQuality]:
    """The quality of a witness in each juan of the base, in their order. `mine` are the numbers of the aligned
    characters of the base, `theirs` those of the corresponding characters of the witness."""
    names = juan_of_blocks(base.edition)
    order = np.argsort(mine, kind="stable")
    mine, theirs = mine[order], theirs[order]
    if not len(mine):
        return []
    unequal = code_points(base.keys)[mine] != code_points(witness.keys)[theirs]
    slips = np.zeros(len(mine), dtype=np.int64)
    for numbers in (mine, theirs):
        more = np.diff(numbers, append=numbers[-1] + 1) - 1
        slips += (more > 0) & (more <= MAX_SLIP_CHARACTERS)
    juans = list(dict.fromkeys(names))
    number_of = {juan: number for number, juan in enumerate(juans)}
    of_juan = np.array([number_of[name] for name in names])[np.asarray(base.blocks)[mine]]
    characters = np.bincount(of_juan, minlength=len(juans))
    differing = np.bincount(of_juan, weights=unequal + slips, minlength=len(juans))
    whole = (differing.sum() + PRIOR_CHARACTERS * PRIOR_SHARE) / (characters.sum() + PRIOR_CHARACTERS)
    shares = (differing + PRIOR_CHARACTERS * whole) / (characters + PRIOR_CHARACTERS)
    return [
        WitnessQuality(juan, int(n), int(d), weight_of(float(share)))
        for juan, n, d, share in zip(juans, characters, differing, shares, strict=True)
        if n
    ]


def quality_by_block(edition: Transcription, qualities: Sequence[WitnessQuality]) -> list[float]:
    """The weight of a witness in each block of the base; 1 where nothing is known."""
    weight_in = {quality.juan: quality.weight for quality in qualities}
    return [weight_in.get(juan, 1.0) for juan in juan_of_blocks(edition)]


def weight_of(share: float) -> float:
    """The weight of a witness that differs from the base at a `share` of the characters."""
    return round(min(1.0, log(max(min(share, 1.0), 1e-6)) / log(USUAL_SHARE)), 3)


def juan_of_blocks(edition: Transcription) -> Sequence[str]:
    """The juan of each block of an edition: that of its page, or its file if the edition consists of several."""
    juan_of_page = {page.id: page.juan for page in edition.pages}
    if juan_of_page:
        return [juan_of_page.get(block.page, "") for block in edition.blocks]
    return [part.path.stem for part in edition.parts for _ in part.blocks] or [""] * len(edition.blocks)
