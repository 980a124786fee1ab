"""The readings of one half-folio, its layout and its ink: computed from image and engine once, then kept.

Checking a page needs strips, their readings, and sometimes whether there is ink at a place. All these depend on the
image, the layout (detected or corrected by a person) and the engine, but not on the text. They are kept in a
`PageRecord`: a page whose text, variants, witnesses or threshold changed is checked from its record. The image is
opened only if the record lacks something.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from statistics import median
from typing import Any, TypeVar

import numpy as np

from proof.images.detail import detail_of
from proof.images.load import LoadedImage
from proof.layout import strips as cutting
from proof.layout.figures import figure_columns
from proof.layout.glyph_shapes import Shapes, ink_size_in_row, shape_in_row, spans_in_row
from proof.layout.half_folio import ColumnArea, Layout, Outline
from proof.layout.ink import has_ink
from proof.layout.runs import CutBy, run_shapes
from proof.layout.strips import Strip
from proof.ocr.engine import Engine, Reading
from proof.ocr.page import PageEngine, PageReading
from proof.ocr.page_record import ROWS, CutStrip, PageRecord, PageSheet
from proof.ocr.spikes import Spike, spikes_of
from proof.text.model import Column, Row

V = TypeVar("V")

CUT_METHODS = tuple(CutBy)
"""The methods of cutting, in the order of their numbers in the keys of a record."""


class HalfFolioReadings:
    """The readings of one half-folio, from the stored record, or, if the record lacks them, from the image and the
    engine.

    `open_image` loads the image of the half-folio, `find_layout` detects its layout; each is called once, when it is
    first needed. `layout` is a hash of everything that the layout depends on except the image. `rows` is the number of
    cells of a full column. `has_override`: a person corrected the layout. `used` is the record of everything that was
    asked for.
    """

    def __init__(
        self,
        engine: Engine,
        rows: int,
        open_image: Callable[[], LoadedImage],
        find_layout: Callable[[LoadedImage], Layout],
        stored: PageRecord | None = None,
        layout: str = "",
        has_override: bool = False,
    ) -> None:
        self.engine = engine
        self.has_override = has_override
        self.rows = rows
        self._open_image = open_image
        self._find_layout = find_layout
        self._image: LoadedImage | None = None
        self._layout: Layout | None = None
        self._strips: dict[CutStrip, Strip] = {}
        self._origins: dict[CutStrip, tuple[ColumnArea, Column | None, CutBy]] = {}  # the arguments of `cut`
        self._parts: dict[CutStrip, tuple[CutStrip, float, float, float, bool]] = {}  # the arguments of `window`
        stored = stored or PageRecord()
        if stored.layout != layout:
            stored = PageRecord(spikes=stored.spikes, distances=stored.distances)
        self._stored = stored
        self.used = PageRecord(layout, stored.sheet, lines=stored.lines)

    @property
    def sheet(self) -> PageSheet:
        """The half-folio on its image. Raises ImageError."""
        if self.used.sheet is None:
            image, layout = self.image, self.layout
            main_size, note_size = _glyph_sizes(layout.outline, self.rows, image.pixels.shape[0])
            self.used.sheet = PageSheet(
                image.size,
                image.sha256,
                image.box,
                (*image.notices, *layout.outline.remarks),
                layout.outline,
                height=layout.ink.shape[0],
                inked=float(np.count_nonzero(layout.ink) / max(layout.ink.size, 1)),
                detail=detail_of(image.pixels, main_size),
                note_detail=detail_of(image.pixels, note_size),
            )
        return self.used.sheet

    @property
    def outline(self) -> Outline:
        return self.sheet.outline

    @property
    def glyph_sizes(self) -> tuple[float, float]:
        """The heights of a character of main text and of a note, in pixels of the image."""
        return _glyph_sizes(self.outline, self.rows, self.sheet.height)

    @property
    def image(self) -> LoadedImage:
        """The image of the half-folio. Raises ImageError."""
        if self._image is None:
            self._image = self._open_image()
        return self._image

    @property
    def layout(self) -> Layout:
        if self._layout is None:
            self._layout = self._find_layout(self.image)
        return self._layout

    @property
    def are_all_stored(self) -> bool:
        """Whether everything came from the stored record, so that nothing new is to be stored."""
        return self._image is None

    def cut(self, area: ColumnArea, line: Column | None, cut_by: CutBy) -> tuple[CutStrip, ...]:
        """The strips of one column (`proof.layout.strips.cut_strips`)."""
        key = (area.number, area.notes, CUT_METHODS.index(cut_by), run_shapes(line, cut_by))
        cuts = _recall(self.used.cuts, self._stored.cuts, key, lambda: self._cut(area, line, cut_by))
        self._origins.update(dict.fromkeys(cuts, (area, line, cut_by)))
        return cuts

    def window(self, strip: CutStrip, top: float, bottom: float, zoom: float, as_on_page: bool) -> CutStrip:
        """The part of a strip between two y of the rectified page, stretched lengthwise by `zoom`. It is cleaned of
        specks and rules; with `as_on_page` it is left as on the page."""

        def compute() -> CutStrip:
            part = self._part(strip, top, bottom, zoom, as_on_page)
            self._strips.setdefault(cut := _without_pixels(part), part)
            return cut

        key = (strip.key, int(strip.top), int(strip.left), round(top), round(bottom), zoom, as_on_page)
        window = _recall(self.used.windows, self._stored.windows, key, compute)
        if window != strip:  # a window over a whole clean strip is the strip itself
            self._parts[window] = (strip, top, bottom, zoom, as_on_page)
        return window

    def read(self, strips: Sequence[CutStrip], sought: Sequence[tuple[str, ...]]) -> list[tuple[Spike, ...]]:
        """The spikes that the engine reads on each strip, with the probabilities of the characters that are `sought` on
        it, however small. If the record of a strip lacks the probability of a sought character, the engine computes it
        when it is first needed. Raises EngineError, also at that later time."""
        if self.engine.at_once > 1:
            self._read_together(strips, sought)
        return [self._spikes(strip, characters) for strip, characters in zip(strips, sought, strict=True)]

    def _spikes(self, strip: CutStrip, sought: tuple[str, ...]) -> tuple[Spike, ...]:
        """The spikes of one strip, with the probabilities of the characters that are `sought` on it. The record has
        those of characters that a spike does not list as `distances` (`StripSpikes.spikes`)."""
        distances = self.used.distances.setdefault(strip.key, {})
        if strip.key in self._stored.spikes:
            self.used.spikes[strip.key] = self._stored.spikes[strip.key]
            stored = self._stored.distances.get(strip.key, {})
            distances.update({character: stored[character] for character in sought if character in stored})
        elif strip.key not in self.used.spikes:
            self._read(strip, sought)
        spikes = self.used.spikes[strip.key]
        if not sought:
            return spikes.spikes()

        def distances_of(character: str) -> bytes:
            if character not in distances:
                self._read(strip, tuple(character for character in sought if character not in distances))
            return distances[character]

        return spikes.spikes(dict.fromkeys(sought), distances_of)

    def _read_together(self, strips: Sequence[CutStrip], sought: Sequence[tuple[str, ...]]) -> None:
        """Have the engine read all strips that were not read before in one call."""
        unread = {
            strip.key: (strip, characters)
            for strip, characters in zip(strips, sought, strict=True)
            if strip.key not in self.used.spikes and strip.key not in self._stored.spikes
        }
        all_sought = tuple(dict.fromkeys(character for _, characters in unread.values() for character in characters))
        readings = self.engine.read([self._with_pixels(strip).pixels for strip, _ in unread.values()], all_sought)
        for (strip, characters), reading in zip(unread.values(), readings, strict=True):
            self._record(strip, characters, reading)

    def _read(self, strip: CutStrip, sought: tuple[str, ...]) -> None:
        """Have the engine read a strip. Which characters are `sought` does not change the spikes."""
        (reading,) = self.engine.read([self._with_pixels(strip).pixels], sought)
        self._record(strip, sought, reading)

    def _record(self, strip: CutStrip, sought: tuple[str, ...], reading: Reading) -> None:
        """Record the reading of a strip, with the probabilities of the `sought` characters."""
        classes = [self.engine.class_of(character) for character in sought]
        spikes, distances = spikes_of(reading, self.engine.character_of, classes)
        self.used.spikes[strip.key] = spikes
        by_character = self.used.distances.setdefault(strip.key, {})
        by_character.update((character, distances[:, number].tobytes()) for number, character in enumerate(sought))

    def _with_pixels(self, strip: CutStrip) -> Strip:
        """The strip with its pixels, cut again if only its place is known."""
        if strip not in self._strips:
            if strip in self._parts:
                self._strips[strip] = self._part(*self._parts[strip])
            else:
                self._cut(*self._origins[strip])
        return self._strips[strip]

    def _cut(self, area: ColumnArea, line: Column | None, cut_by: CutBy) -> tuple[CutStrip, ...]:
        """Cut the strips of one column out of the page, and hold their pixels."""
        strips = cutting.cut_strips(self.layout, area, line, self.rows, cut_by)
        cuts = tuple(map(_without_pixels, strips))
        self._strips.update(zip(cuts, strips, strict=True))
        return cuts

    def _part(self, strip: CutStrip, top: float, bottom: float, zoom: float, as_on_page: bool) -> Strip:
        """A part of a strip, with its pixels."""
        page = self.layout.grey if as_on_page else None
        return cutting.window(self._with_pixels(strip), top, bottom, zoom, page)

    def has_ink(self, area: ColumnArea, min_share: float) -> bool:
        """Whether ink covers more than the share `min_share` of a column."""

        def compute() -> bool:
            return has_ink(self.layout.ink, area.left, area.top, area.right, area.bottom, min_share)

        return self._of_ink(("inked", area.number, min_share), compute)

    def figures(self, areas: Sequence[ColumnArea]) -> tuple[int, ...]:
        """The numbers of those columns that hold a figure, not text (`proof.layout.figures`)."""

        def compute() -> tuple[int, ...]:
            return tuple(sorted(figure_columns(self.layout, areas, self.rows))) if areas else ()

        return self._of_ink(("figures", *(area.number for area in areas)), compute)

    def shape(self, area: ColumnArea, row: Row, places: Sequence[float], number: int) -> Shapes:
        """The shape of a glyph of a row (`proof.layout.glyph_shapes.shape_in_row`)."""
        key = ("shape", area.number, ROWS.index(row), number, *map(round, places))
        packed = self._of_ink(key, lambda: shape_in_row(self.layout, area, row, places, number).tobytes())
        return np.frombuffer(packed, np.int8)[np.newaxis]

    def ink_size(self, area: ColumnArea, row: Row, places: Sequence[float], number: int) -> tuple[int, int]:
        """Width and height of a glyph's ink in a row, in pixels (`proof.layout.glyph_shapes.ink_size_in_row`)."""
        key = ("size", area.number, ROWS.index(row), number, *map(round, places))
        return self._of_ink(key, lambda: ink_size_in_row(self.layout, area, row, places, number))

    def spans(self, area: ColumnArea, row: Row, places: Sequence[float]) -> list[tuple[float, float]]:
        """Top and bottom of the ink of each glyph of a row (`proof.layout.glyph_shapes.spans_in_row`)."""

        def compute() -> tuple[int, ...]:
            spans = spans_in_row(self.layout, area, row, places) if places else []
            return tuple(round(edge) for span in spans for edge in span)

        return _extents(self._of_ink(("spans", area.number, ROWS.index(row), *map(round, places)), compute))

    def _of_ink(self, key: Any, compute: Callable[[], V]) -> V:
        """What the ink shows, by a key."""
        found: V = _recall(self.used.ink, self._stored.ink, key, compute)
        return found

    def with_layout(self, name: str, find_layout: Callable[[LoadedImage], Layout]) -> HalfFolioReadings:
        """The readings of the same image with another layout, such as that of the image turned or of one half of it.
        `name` names it in the record, `find_layout` detects it."""
        stored = self._stored.other_layouts.get(name)
        key = f"{self.used.layout} {name}"
        other = HalfFolioReadings(
            self.engine, self.rows, lambda: self.image, find_layout, stored, key, self.has_override
        )
        self.used.other_layouts[name] = other.used
        return other

    def lines(self, open_page_engine: Callable[[], PageEngine]) -> tuple[str, PageReading]:
        """The name of the engine that reads whole pages, and its reading of the half-folio. `open_page_engine` is
        called only if the record has no such reading."""
        if self.used.lines is None:
            engine = open_page_engine()
            self.used.lines = (engine.identity.name, engine.read_page(self.image.pixels))
        return self.used.lines


@cache
def cutting_fingerprint() -> str:
    """A hash of the code that detects layouts and cuts strips. Records made by other code are not used."""
    digest = hashlib.sha256()
    for package in ("proof.layout", "proof.images"):
        files = [file for file in resources.files(package).iterdir() if file.name.endswith(".py")]
        for file in sorted(files, key=lambda file: file.name):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _glyph_sizes(outline: Outline, rows: int, height: int) -> tuple[float, float]:
    """The sizes of a character of main text and of a note, in pixels of an image of that `height`: the height of a
    cell, and half the width of a column, but no more than the height of a cell."""
    if not outline.columns:
        return height / rows, height / rows / 2
    first = outline.columns[0]
    cell = first.cell(rows)
    upright = outline.file_box(first.left, first.top, first.left, first.top + cell)
    cell_height = max(upright.w, upright.h)  # on an image that lies on its side the cell's height is its width
    return cell_height, cell_height * min(1.0, median(area.width for area in outline.columns) / 2 / cell)


def _recall(used: dict[Any, V], stored: dict[Any, V], key: Any, compute: Callable[[], V]) -> V:
    """The value of a key: the one in `used`, else the `stored` one, else a computed one. It is put into `used`."""
    if key not in used:
        used[key] = stored[key] if key in stored else compute()
    return used[key]


def _extents(edges: Sequence[int]) -> list[tuple[float, float]]:
    """Pairs of top and bottom, from tops and bottoms in turn."""
    return [(float(top), float(bottom)) for top, bottom in zip(edges[::2], edges[1::2], strict=True)]


def _without_pixels(strip: Strip) -> CutStrip:
    """The place of a strip, and the hash of its pixels."""
    shape = f"{strip.pixels.shape[0]} {strip.pixels.shape[1]} ".encode()
    key = hashlib.blake2b(np.ascontiguousarray(strip.pixels).tobytes(), key=shape, digest_size=8).digest()
    place = (float(strip.left), float(strip.top), float(strip.right), float(strip.bottom))
    return CutStrip(strip.column, strip.run, strip.row, *place, key)
