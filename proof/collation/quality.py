"""How far a witness can be trusted, juan by juan: by how much of the base it reads otherwise.

What a witness says at a place is evidence as far as it seldom reads otherwise by chance. Where it differs from the base
at a share `r` of the characters, that it agrees with one reading is worth -ln r nats; two editions of one text differ
at about `USUAL`, and weigh fully. A bad copy, or a juan that is another recension, weighs less by the same measure.
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

USUAL = 0.03
"""Share of characters at which two editions of one text differ, beyond which a witness weighs less."""

PRIOR_CHARACTERS = 300
"""Characters of a juan whose share of differences is taken from the whole witness, and of the whole witness from
`PRIOR_SHARE`: short texts tell little."""

PRIOR_SHARE = 0.02
"""Share of differences of a witness of which nothing is known."""

LONGEST_SLIP = 8
"""Characters that one of the two has more which count as differences; more is a passage, and no slip."""


@dataclass(frozen=True, slots=True)
class WitnessQuality:
    """A witness in one juan of the base (empty where the base has none): how many characters answer one another, at
    how many places the two differ, and what share of its weight the witness has there."""

    juan: str
    characters: int
    differing: int
    weight: float


def quality_by_juan(
    base: WitnessTokens, witness: WitnessTokens, mine: Numbers, theirs: Numbers
) -> list[WitnessQuality]:
    """The quality of a witness in each juan of the base, in their order; `mine` are the numbers of the characters of
    the base that are answered, `theirs` those of the witness that answer them."""
    names = juan_of_blocks(base.edition)
    order = np.argsort(mine, kind="stable")
    mine, theirs = mine[order], theirs[order]
    if not len(mine):
        return []
    unequal = code_points(base.keys)[mine] != code_points(witness.keys)[theirs]
    slips = np.zeros(len(mine), dtype=np.int64)
    for numbers in (mine, theirs):
        more = np.diff(numbers, append=numbers[-1] + 1) - 1
        slips += (more > 0) & (more <= LONGEST_SLIP)
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
    """What share of its weight a witness has in each block of the base; where nothing is known, all of it."""
    weight_in = {quality.juan: quality.weight for quality in qualities}
    return [weight_in.get(juan, 1.0) for juan in juan_of_blocks(edition)]


def weight_of(share: float) -> float:
    """The share of its weight that a witness has which reads otherwise than the base at a `share` of the characters."""
    return round(min(1.0, log(max(min(share, 1.0), 1e-6)) / log(USUAL)), 3)


def juan_of_blocks(edition: Transcription) -> Sequence[str]:
    """The juan of each block of an edition: its page's, or the file's where the edition is of several."""
    juan_of_page = {page.id: page.juan for page in edition.pages}
    if juan_of_page:
        return [juan_of_page.get(block.page, "") for block in edition.blocks]
    return [part.path.stem for part in edition.parts for _ in part.blocks] or [""] * len(edition.blocks)
