"""What a person says of the layout of a half-folio where the machine got it wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any

from proof.errors import UsageError

Point = tuple[float, float]
Range = tuple[float, float]

MOST_COLUMNS = 40
STEEPEST = 0.25
"""Slope of a frame's side from which a page is not one that was photographed for reading."""
NARROWEST = 0.005


@dataclass(frozen=True, slots=True)
class LayoutOverrideShape:
    """Frame, columns and notes as a person set them.

    `corners` are the inner frame's in pixels of the image file: upper left, upper right, lower right, lower left.
    `rules` are where columns part, left to right, as shares of the frame's width (0 and 1, its sides, left out).
    `notes` has for every column, right to left, the ranges set in double rows, as shares of the frame's height
    from the top: () has no notes, ((0, 1),) nothing else, None is told from image and text as ever. `more` are further
    regions of the page, such as its lower registers, in the order of their text.

    Raises UsageError where no page can be so.
    """

    corners: tuple[Point, Point, Point, Point]
    rules: tuple[float, ...] = ()
    notes: tuple[tuple[Range, ...] | None, ...] = ()
    more: tuple[LayoutOverrideShape, ...] = ()

    def __post_init__(self) -> None:
        numbers = [*(n for corner in self.corners for n in corner), *self.rules]
        numbers += [n for ranges in self.notes for note in ranges or () for n in note]
        if len(self.corners) != 4 or not all(isfinite(n) and abs(n) < 1e6 for n in numbers):
            raise UsageError("a frame has four corners, each a place on the image")
        if min(self.sides) <= 10 or max(abs(self.lean), abs(self.tilt)) > STEEPEST:
            raise UsageError("these corners are no frame: they go upper left, upper right, lower right, lower left")
        edges = (0.0, *self.rules, 1.0)
        if len(self.rules) >= MOST_COLUMNS or any(b - a < NARROWEST for a, b in pairwise(edges)):
            raise UsageError(f"rules stand left to right inside the frame, for {MOST_COLUMNS} columns at most")
        if any(region.more for region in self.more):
            raise UsageError("regions stand beside one another, none within another")
        if sum(len(region.rules) + 1 for region in self.regions) > MOST_COLUMNS:
            raise UsageError(f"a page has {MOST_COLUMNS} columns at most, in all its regions")
        if self.notes and len(self.notes) != len(self.rules) + 1:
            raise UsageError(f"notes are told of {len(self.notes)} columns, there are {len(self.rules) + 1}")
        for ranges in self.notes:
            flat = [n for note in ranges or () for n in note]
            if any(not 0 <= n <= 1 for n in flat) or any(b <= a for a, b in pairwise(flat)):
                raise UsageError("ranges of notes go from top to bottom of a column, from 0 to 1, and do not meet")

    @property
    def regions(self) -> tuple[LayoutOverrideShape, ...]:
        """The regions of the page in the order of their text: this one, and those in `more`."""
        return (self, *self.more)

    @property
    def sides(self) -> tuple[float, float]:
        """The frame's width and height in pixels of the file; negative where its corners are in another order."""
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = self.corners
        return min(x1 - x0, x2 - x3), min(y3 - y0, y2 - y1)

    @property
    def lean(self) -> float:
        """How far the sides lean: dx per dy."""
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = self.corners
        return (x3 + x2 - x0 - x1) / (y3 + y2 - y0 - y1)

    @property
    def tilt(self) -> float:
        """How far top and bottom slope: dy per dx."""
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = self.corners
        return (y1 + y2 - y0 - y3) / (x1 + x2 - x0 - x3)

    def notes_of(self, number: int) -> tuple[Range, ...] | None:
        """What is said of the notes in column `number`, from 1, right to left."""
        return self.notes[number - 1] if self.notes else None

    def as_json(self) -> dict[str, Any]:
        """As it is kept."""
        notes = [None if ranges is None else [list(note) for note in ranges] for ranges in self.notes]
        more = {"more": [region.as_json() for region in self.more]} if self.more else {}
        return {"corners": [list(corner) for corner in self.corners], "rules": list(self.rules), "notes": notes, **more}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> LayoutOverrideShape:
        """What `as_json` gave. Raises UsageError."""
        try:
            a, b, c, d = ((float(x), float(y)) for x, y in kept["corners"])
            notes = tuple(
                None if ranges is None else tuple((float(low), float(high)) for low, high in ranges)
                for ranges in kept.get("notes", ())
            )
            more = tuple(map(cls.from_json, kept.get("more", ())))
            return cls((a, b, c, d), tuple(float(x) for x in kept.get("rules", ())), notes, more)
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"this is no layout: {error}") from error
