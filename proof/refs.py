"""Page references and folios: what they are, how they are written, and which comes next."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Folio:
    """A half-folio of a juan: `1a` is the right half of leaf 1, `1b` the left."""

    leaf: int
    side: str


@dataclass(frozen=True, slots=True, order=True)
class ImageRef:
    """An image reference, `WYG0103-0192c`: edition, volume, printed page and quadrant ('' for the plate)."""

    edition: str
    volume: int
    page: int
    quadrant: str
