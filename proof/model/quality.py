"""What proofreaders meet beside what was found on a page: an overlay, of which no finding knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from proof.model.flags import Flag


class QualitySort(StrEnum):
    """A sample of what was not flagged, or a seeded error: the text is right, the flag alone says otherwise."""

    SAMPLE = "sample"
    SEEDED = "seeded"


@dataclass(frozen=True, slots=True)
class QualityFlags:
    """The overlay of a page: places that are put to proofreaders as flags are, to learn what a run and its readers
    miss. The page's own flags know nothing of it."""

    samples: tuple[Flag, ...] = ()
    seeded: tuple[Flag, ...] = ()

    @property
    def sorts(self) -> dict[str, QualitySort]:
        """What each of them is, by its id."""
        return {one.id: QualitySort.SAMPLE for one in self.samples} | {
            one.id: QualitySort.SEEDED for one in self.seeded
        }

    def among(self, found: Sequence[Flag]) -> tuple[Flag, ...]:
        """All flags of the page: seeded errors in their places among those that were `found`, so that not even their
        order tells them apart; samples, which are met as such, behind."""
        merged = list(found)
        for flag in self.seeded:
            places = [(other.line, other.offset) for other in merged]
            at = next((n for n, place in enumerate(places) if place > (flag.line, flag.offset)), len(merged))
            merged.insert(at, flag)
        return (*merged, *self.samples)


NO_QUALITY = QualityFlags()
"""Nothing beside what was found."""
