"""Samples and seeded errors that proofreaders are shown among the findings of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proof.model.flags import Flag, Origin


@dataclass(frozen=True, slots=True)
class QualityFlags:
    """Flags of a page that measure what a run and its readers miss. The findings of the page do not depend on them."""

    samples: tuple[Flag, ...] = ()
    seeded: tuple[Flag, ...] = ()

    @property
    def origins(self) -> dict[str, Origin]:
        """The origin of each flag, by its id."""
        samples = dict.fromkeys((flag.id for flag in self.samples), Origin.SAMPLE)
        return samples | dict.fromkeys((flag.id for flag in self.seeded), Origin.SEEDED)

    def among(self, findings: Sequence[Flag]) -> tuple[Flag, ...]:
        """All flags of the page: the findings with the seeded errors among them in reading order, so that the order
        does not reveal them; then the samples, which are shown as such."""
        merged = list(findings)
        for flag in self.seeded:
            places = [(other.line, other.offset) for other in merged]
            at = next((n for n, place in enumerate(places) if place > (flag.line, flag.offset)), len(merged))
            merged.insert(at, flag)
        return (*merged, *self.samples)


NO_QUALITY = QualityFlags()
"""No samples and no seeded errors."""
