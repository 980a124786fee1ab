"""Layouts of half-folios as people set them where detection was wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from math import isfinite
from typing import Any

from proof.errors import UsageError
from proof.locale.marking import _

Point = tuple[float, float]
"""The x and y of a place on the image, in pixels."""
Range = tuple[float, float]
"""The upper and lower end of a range, as shares of the frame's height."""

MOST_COLUMNS = 40
"""Maximum number of columns on a page, in all its regions."""
MAX_SLOPE = 0.25
"""Maximum slope of a frame's sides; pages that were photographed for reading lean less."""
MIN_COLUMN_SHARE = 0.005
"""Minimum width of a column, as a share of the frame's width."""
MIN_SIDE_PX = 10
"""A frame's sides are longer than this, in pixels."""
MAX_COORDINATE = 1e6
"""Coordinates are smaller than this, in pixels."""


@dataclass(frozen=True, slots=True)
class LayoutOverrideShape:
    """Frame, columns and notes as a person set them.

    `corners` are those of the inner frame, in pixels of the image file: upper left, upper right, lower right, lower
    left. `rules` are the lines between columns, left to right, as shares of the frame's width, without its sides (0 and
    1). `notes` has for every column, right to left, the ranges set in double rows, as shares of the frame's height from
    the top; without a list they are detected from image and text. `more` are further regions of the page, such as its
    lower registers, in the order of their text.
    """

    corners: tuple[Point, Point, Point, Point]
    rules: tuple[float, ...] = ()
    notes: tuple[tuple[Range, ...] | None, ...] = ()
    more: tuple[LayoutOverrideShape, ...] = ()

    def __post_init__(self) -> None:
        """Raise UsageError if no page can have this layout."""
        ends_of_notes = [[end for note in ranges or () for end in note] for ranges in self.notes]
        numbers = [*chain.from_iterable(self.corners), *self.rules, *chain.from_iterable(ends_of_notes)]
        if len(self.corners) != 4 or not all(isfinite(number) and abs(number) < MAX_COORDINATE for number in numbers):
            raise UsageError(_("a frame has four corners, each a place on the image"))
        if min(self.sides) <= MIN_SIDE_PX or max(abs(self.lean), abs(self.tilt)) > MAX_SLOPE:
            raise UsageError(_("these corners are no frame: they go upper left, upper right, lower right, lower left"))
        edges = (0.0, *self.rules, 1.0)
        if len(self.rules) >= MOST_COLUMNS or any(right - left < MIN_COLUMN_SHARE for left, right in pairwise(edges)):
            raise UsageError(
                _("rules stand left to right inside the frame, for %(most)s columns at most"), most=MOST_COLUMNS
            )
        if any(region.more for region in self.more):
            raise UsageError(_("regions stand beside one another, none within another"))
        if sum(len(region.rules) + 1 for region in self.regions) > MOST_COLUMNS:
            raise UsageError(_("a page has %(most)s columns at most, in all its regions"), most=MOST_COLUMNS)
        if self.notes and len(self.notes) != len(self.rules) + 1:
            raise UsageError(
                _("notes are given for %(number)s columns, there are %(columns)s"),
                number=len(self.notes),
                columns=len(self.rules) + 1,
            )
        for ends in ends_of_notes:
            if any(not 0 <= end <= 1 for end in ends) or any(lower <= upper for upper, lower in pairwise(ends)):
                raise UsageError(_("ranges of notes go from top to bottom of a column, from 0 to 1, and do not meet"))

    @property
    def regions(self) -> tuple[LayoutOverrideShape, ...]:
        """The regions of the page in the order of their text: this one, and those in `more`."""
        return (self, *self.more)

    @property
    def sides(self) -> tuple[float, float]:
        """The frame's width and height in pixels of the image file, negative if the corners are in another order."""
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = self.corners
        return min(x1 - x0, x2 - x3), min(y3 - y0, y2 - y1)

    @property
    def lean(self) -> float:
        """The lean of the frame's left and right side: dx per dy."""
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = self.corners
        return (x3 + x2 - x0 - x1) / (y3 + y2 - y0 - y1)

    @property
    def tilt(self) -> float:
        """The slope of the frame's top and bottom: dy per dx."""
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = self.corners
        return (y1 + y2 - y0 - y3) / (x1 + x2 - x0 - x3)

    def notes_of(self, number: int) -> tuple[Range, ...] | None:
        """The ranges of notes in column `number`, counted from 1, right to left; None to detect them."""
        return self.notes[number - 1] if self.notes else None

    def as_json(self) -> dict[str, Any]:
        """The layout in its stored form."""
        notes = [None if ranges is None else [list(note) for note in ranges] for ranges in self.notes]
        further_registers = {"more": [region.as_json() for region in self.more]} if self.more else {}
        return {
            "corners": [list(corner) for corner in self.corners],
            "rules": list(self.rules),
            "notes": notes,
            **further_registers,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> LayoutOverrideShape:
        """The layout that `as_json` gave as `stored`. Raises UsageError for anything else."""
        try:
            a, b, c, d = ((float(x), float(y)) for x, y in stored["corners"])
            notes = tuple(
                None if ranges is None else tuple((float(low), float(high)) for low, high in ranges)
                for ranges in stored.get("notes", ())
            )
            more = tuple(map(cls.from_json, stored.get("more", ())))
            return cls((a, b, c, d), tuple(float(x) for x in stored.get("rules", ())), notes, more)
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(_("this is no layout: %(error)s"), error=error) from error
