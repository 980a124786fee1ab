"""The detail that an image shows of its glyphs, and the weight of evidence from an image with little detail.

Measured on 55,000 correctly transcribed characters of 250 drawn pages without rules, scaled to cells of 16 to 32 pixels
and stored as JPEG, main text and notes apart. Errors per 1,000 characters by pixels of detail:

| detail | probability spread over several characters | read as another character |
| --- | --- | --- |
| 8 to 10 | | 40 |
| 10 to 12 | | 10 |
| 12 to 14 | 16 | 10 |
| 14 to 16 | 5 | 4 |
| 16 to 18 | 2 | 2 |
| from 20 | below 1 | |
| from 24 | | 1 |

Each pixel less costs some 0.25 nats. The first column of errors counts only characters that the recogniser reads with
certainty when they are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from proof.model.flags import Flag
from proof.text.model import Column, Row
from proof.verify.scores import ramp

MIN_DETAIL_PX = 10
"""Minimum detail, in pixels, of a cell that can be read; a cell 13 pixels high has this detail
(`scripts/bench/coarse.py`)."""

SHARED_RAMP_PX = (16.0, 20.0)
"""Pixels of detail. Up to the first number, a probability that several characters share is no evidence; from the second
on, it counts in full."""

CLEAR_PX = 20.0
"""Pixels of detail from which on scores are not reduced."""

DEDUCTION_NATS_PER_PX = 0.25
"""Nats subtracted from a score for every pixel below `CLEAR_PX`. Without it two flags more are false on three
photographed pages."""


@dataclass(frozen=True, slots=True)
class Legibility:
    """The detail of the glyphs of a page (`proof.images.detail`), in pixels: of its `main` text, and of its notes,
    which are half as wide. `sizes` are the heights of such glyphs in pixels of the image."""

    main: float = inf
    note: float = inf
    sizes: tuple[float, float] = (inf, inf)

    def reads(self, row: Row) -> bool:
        """Whether the characters of a row are large enough to be read at all."""
        return self._detail(row) >= MIN_DETAIL_PX

    def _detail(self, row: Row) -> float:
        return self.main if row is Row.MAIN else self.note

    def size(self, row: Row) -> float:
        """The height of a glyph of a row, in pixels of the image."""
        return self.sizes[row is not Row.MAIN]

    def shared_weight(self, row: Row) -> float:
        """The weight, 0 to 1, of a probability that several characters share, in a row."""
        return ramp(self._detail(row), *SHARED_RAMP_PX)

    def deduction(self, row: Row) -> float:
        """Nats subtracted from the score of a glyph of this row."""
        return DEDUCTION_NATS_PER_PX * max(CLEAR_PX - self._detail(row), 0.0)


def is_in_note(flag: Flag, line: Column) -> bool:
    """Whether a flag is about a character of a note, or about one that is missing in a note."""
    notes = [[cell.offset for cell in run.cells] for run in line.runs if run.is_note and run.cells]
    return any(min(places) <= flag.offset <= max(places) + 1 for places in notes)


FULLY_LEGIBLE = Legibility()
"""The legibility of a page with full detail."""
