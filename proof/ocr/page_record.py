"""The record that is kept of one half-folio: its layout, strips, readings and ink, packed as bytes."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgpack

from proof.layout.half_folio import Outline
from proof.layout.strips import StripPlace
from proof.model.geometry import Box
from proof.model.notices import Notice
from proof.ocr.engine import ReadCharacter
from proof.ocr.page import PageLine, PageReading
from proof.ocr.spikes import StripSpikes
from proof.text.model import Row

FORMAT_VERSION = 9
"""Version of packed records: their format, and the way columns are found. Records of other versions are ignored."""

ROWS = (Row.MAIN, Row.RIGHT, Row.LEFT)
"""Rows in the order of their numbers in packed records."""


@dataclass(frozen=True, slots=True)
class CutStrip(StripPlace):
    """A strip without its pixels: where it was cut, and `key`, a hash of its pixels."""

    key: bytes


@dataclass(frozen=True, slots=True)
class PageSheet:
    """A half-folio on its image.

    - `size` (width, height) and `sha256` are those of the whole image
    - `box` is that of the half-folio, None if it is the whole image
    - `notices` come from opening the image
    - `outline` is that of its layout
    - `height` is that of the rectified page in pixels, `inked` the share of the page that ink covers
    - `detail` and `note_detail` are those of a character of main text and of a note, in pixels of height
      (`proof.images.detail`)
    """

    size: tuple[int, int]
    sha256: str
    box: Box | None
    notices: tuple[Notice, ...]
    outline: Outline
    height: int
    inked: float
    detail: float
    note_detail: float


@dataclass(slots=True)
class PageRecord:
    """The record of one half-folio and one engine. `layout` is the key of its layout, on which all but `spikes` and
    `distances` depend. `cuts` are the strips of columns and `windows` parts of strips, by the arguments of the methods
    of `HalfFolioReadings` that gave them; `ink` is what other methods found in the ink, by their names and arguments.

    The keys of `spikes` and `distances` are hashes of the pixels of strips. `distances` has, for every sought
    character, how far its log-probability is below `FLOOR` at each spike (`proof.ocr.spikes`). `lines` is the name of
    an engine that reads whole pages, and its reading. `other_layouts` are the records of the same image with other
    layouts, by the names of these (`with_layout`).
    """

    layout: str = ""
    sheet: PageSheet | None = None
    cuts: dict[Any, tuple[CutStrip, ...]] = field(default_factory=dict)
    windows: dict[Any, CutStrip] = field(default_factory=dict)
    ink: dict[Any, Any] = field(default_factory=dict)
    spikes: dict[bytes, StripSpikes] = field(default_factory=dict)
    distances: dict[bytes, dict[str, bytes]] = field(default_factory=dict)
    lines: tuple[str, PageReading] | None = None
    other_layouts: dict[str, PageRecord] = field(default_factory=dict)

    def packed(self) -> bytes:
        """The record as bytes."""
        sheet, distances = self.sheet, self.distances.items()
        parts = [
            FORMAT_VERSION,
            self.layout,
            None if sheet is None else _sheet_as_list(sheet),
            [[key, [_strip_as_list(strip) for strip in strips]] for key, strips in self.cuts.items()],
            [[key, _strip_as_list(strip)] for key, strip in self.windows.items()],
            list(self.ink.items()),
            [[key, spikes.packed()] for key, spikes in self.spikes.items()],
            [[key, "".join(by_character), b"".join(by_character.values())] for key, by_character in distances],
            None if self.lines is None else [self.lines[0], [_line_as_list(line) for line in self.lines[1].lines]],
            [[name, record.packed()] for name, record in self.other_layouts.items()],
        ]
        return zlib.compress(msgpack.packb(parts), 6)

    @classmethod
    def unpacked(cls, data: bytes | None) -> PageRecord:
        """A record from its bytes; an empty one if there are none, or they are damaged or of another format."""
        try:
            parts: tuple[Any, ...] = msgpack.unpackb(zlib.decompress(data), use_list=False) if data else (0,)
        except (ValueError, zlib.error):
            return cls()
        if parts[0] != FORMAT_VERSION:
            return cls()
        _, layout, sheet, cuts, windows, ink, spikes, distances, lines, other_layouts = parts
        return cls(
            layout,
            None if sheet is None else _sheet_of(sheet),
            {key: tuple(_strip_of(strip) for strip in strips) for key, strips in cuts},
            {key: _strip_of(strip) for key, strip in windows},
            dict(ink),
            {key: StripSpikes.unpacked(packed) for key, packed in spikes},
            {key: _distances_of(characters, packed) for key, characters, packed in distances},
            None if lines is None else (lines[0], PageReading(tuple(_line_of(line) for line in lines[1]))),
            {name: cls.unpacked(record) for name, record in other_layouts},
        )


def _distances_of(characters: str, packed: bytes) -> dict[str, bytes]:
    """The entry of `PageRecord.distances` for one strip. `packed` has one byte for each character and spike."""
    count = len(packed) // len(characters) if characters else 0
    return {character: packed[number * count : (number + 1) * count] for number, character in enumerate(characters)}


def _strip_as_list(strip: CutStrip) -> list[Any]:
    places = (strip.left, strip.top, strip.right, strip.bottom)
    return [strip.key, strip.column, strip.run, ROWS.index(strip.row), *map(int, places)]


def _strip_of(parts: Sequence[Any]) -> CutStrip:
    key, column, run, row, left, top, right, bottom = parts
    return CutStrip(column, run, ROWS[row], float(left), float(top), float(right), float(bottom), key)


def _sheet_as_list(sheet: PageSheet) -> list[Any]:
    box = sheet.box
    place = None if box is None else [box.x, box.y, box.w, box.h]
    notices = [notice.as_json() for notice in sheet.notices]
    about_image = [sheet.size, sheet.sha256, place, notices]
    return [*about_image, sheet.outline.as_list(), sheet.height, sheet.inked, sheet.detail, sheet.note_detail]


def _sheet_of(parts: Sequence[Any]) -> PageSheet:
    size, sha256, place, notices, outline, *numbers = parts
    box = None if place is None else Box(*place)
    return PageSheet(size, sha256, box, tuple(map(Notice.of_json, notices)), Outline.of_list(outline), *numbers)


def _line_as_list(line: PageLine) -> list[Any]:
    characters = [[c.text, c.start, c.end, c.probability, c.alternatives] for c in line.characters]
    return [characters, line.score, line.outline, line.vertical, line.register, line.column]


def _line_of(parts: Sequence[Any]) -> PageLine:
    characters, *rest = parts
    return PageLine(tuple(ReadCharacter(*character) for character in characters), *rest)
