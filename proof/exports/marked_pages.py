"""A checked page with its corrections, for exports with coordinates: columns, vertical lines, glyphs.

A column has a line for each run of full-width characters and for each half-row of a note, read from top to bottom;
recognisers are trained on such lines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

from proof.exports.corrections import Correction
from proof.images.pdf import file_name, file_names
from proof.model.flags import LINE_BREAK
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult
from proof.text.column import parse_column
from proof.text.model import Row, is_han
from proof.text.positions import Span


@dataclass(frozen=True, slots=True)
class MarkedGlyph:
    """A character on the image: `text` is the corrected one (empty if a correction deletes it), `confidence` the
    recogniser's probability of an uncorrected character, None if the recogniser gives none."""

    text: str
    box: Box
    confidence: float | None


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A vertical line. `text` is its corrected text; characters that the transcription lacks may have no glyph."""

    row: Row
    box: Box
    text: str
    glyphs: tuple[MarkedGlyph, ...]

    def clusters(self) -> Iterator[tuple[str, Box, float | None]]:
        """The text in parts, each with the box of its glyph and the probability of an uncorrected character. Characters
        without a glyph belong to the glyph after them, at the end to the last one."""
        at = 0
        for glyph in self.glyphs:
            start = self.text.find(glyph.text, at) if glyph.text else -1
            if start < 0:
                continue
            end = len(self.text) if glyph is self.glyphs[-1] else start + len(glyph.text)
            yield self.text[at:end], glyph.box, glyph.confidence
            at = end
        if at < len(self.text):
            yield self.text[at:], self.box, None


@dataclass(frozen=True, slots=True)
class MarkedColumn:
    """A column of the image; `number` counts from 1, right to left."""

    number: int
    box: Box
    lines: tuple[MarkedLine, ...]


@dataclass(frozen=True, slots=True)
class MarkedPage:
    """A page with an image: `id` and `ref` are as in `PageResult`, `name` is the name of the image file, `size` its
    width and height in pixels."""

    id: str
    ref: str
    name: str
    size: tuple[int, int]
    columns: tuple[MarkedColumn, ...]


def mark(page: PageResult, corrections: Iterable[Correction] = (), *, running: bool = False) -> MarkedPage | None:
    """The page with its accepted corrections; None if it has no image.

    `running` says that the text has no page marks, so that its lines are not the columns of the image: then the columns
    are those detected on the image.
    """
    if page.image is None or not page.shown:
        return None
    on_page = [each for each in corrections_on(page, corrections, running=running) if each.replacement != LINE_BREAK]
    boxes = {flag.id: flag.bbox for flag in page.flags if flag.bbox is not None}
    added = [each for each in on_page if each.adds_column and each.flag in boxes and not running]
    source_of = {column.number: column.source for column in page.columns}
    parts_of: defaultdict[int, list[_Part]] = defaultdict(list)
    for line in {each.line for each in page.characters} if running else source_of:
        characters = sorted((each for each in page.characters if each.line == line), key=attrgetter("offset"))
        of_line = [each for each in on_page if each.line == line and each not in added]
        source = _Source(source_of.get(line, ""), characters)
        if running:
            parts_of[line] = _corrected(source.parts_on_page(), of_line, boxes)
        else:
            parts_of[line] = _corrected(source.parts(), of_line, boxes, source)
    if running:
        parts = chain.from_iterable(parts_of[line] for line in sorted(parts_of))
        columns = [(0, column) for column in columns_found(page.columns, parts)]
    else:
        columns = list(_columns(page.columns, parts_of))
    for correction in added:
        box, following = boxes[correction.flag], correction.line + bool(correction.offset)
        index = next((index for index, (line, _) in enumerate(columns) if line >= following), len(columns))
        of_column = _corrected([], [replace(correction, offset=0)], {}, _Source("", ()))
        columns.insert(index, (correction.line, ImageColumn(box, of_column)))
    marked = [
        MarkedColumn(number, _within(box, page.image_size), tuple(_lines(parts, box, page.image_size)))
        for number, (_, (box, parts)) in enumerate(columns, start=1)
    ]
    return MarkedPage(page.page, page.ref, file_name(page.image), page.image_size, tuple(marked))


def image_names(pages: Iterable[PageResult]) -> dict[Path, str]:
    """The file names of the images of all pages of a text, the same in every form (`file_names`)."""
    return file_names(page.image for page in pages if page.image)


def corrections_on(page: PageResult, corrections: Iterable[Correction], *, running: bool = False) -> list[Correction]:
    """The corrections on a page; `running` as in `mark`. A line of a running text may be on several pages, and
    a correction in it is where its characters are; what is inserted between two pages is on that which the correction
    names."""
    named = (page.page, page.ref)
    if not running:
        return [correction for correction in corrections if correction.page in named]
    found = {flag.id for flag in page.flags}
    spans: dict[int, Span] = {}
    for character in page.characters:
        span, own = spans.get(character.line), Span(character.offset, character.length)
        spans[character.line] = span.union(own) if span is not None else own
    source_of = {column.number: column.source for column in page.columns}
    on_page = []
    for correction in corrections:
        span = spans.get(correction.line)
        is_named = correction.page in named
        if span is None:
            is_here = is_named
        else:
            source = source_of.get(correction.line, "")
            is_before = correction.offset < span.start or (correction.offset == span.start and not correction.length)
            outside = source[: span.start] if is_before else source[span.end :]
            is_within = not is_before and correction.offset < span.end
            is_found = correction.offset in (span.start, span.end) or correction.flag in found
            is_here = is_within or not any(map(is_han, outside)) or (is_named and is_found)
        if is_here:
            on_page.append(correction)
    return on_page


class _OnImage(Protocol):
    """A character with its box on the image, None if it has none."""

    @property
    def box(self) -> Box | None: ...


Placed = TypeVar("Placed", bound=_OnImage)


class ImageColumn(NamedTuple, Generic[Placed]):
    """The box of a column on the image, with its characters in the order of the text."""

    box: Box
    characters: list[Placed]

    def distance(self, box: Box) -> tuple[bool, float]:
        """A sort key for a character at `box`: columns at its height come first, then the nearest. Boxes of leaning
        columns overlap, and columns of a second register are below those of the first."""
        x, y = box.centre
        return not self.box.y <= y <= self.box.bottom, abs(self.box.centre[0] - x)


def columns_found(columns: Iterable[CheckedColumn], characters: Iterable[Placed]) -> list[ImageColumn[Placed]]:
    """The columns detected on an image, from right to left, with the `characters`, which are in the order of the text.
    A column may have several lines of the file, and a line may continue in another column. A character without a box
    is in the column of the one before it."""
    found: list[ImageColumn[Placed]] = [ImageColumn(box, []) for box in dict.fromkeys(each.box for each in columns)]
    nearest = next(iter(found), None)
    for character in characters if found else ():
        box = character.box
        if box is not None:
            nearest = min(found, key=lambda column: column.distance(box))
        if nearest is not None:
            nearest.characters.append(character)
    return found


def _columns(
    columns: Sequence[CheckedColumn], parts_of: Mapping[int, Iterable[_Part]]
) -> Iterator[tuple[int, ImageColumn[_Part]]]:
    """The columns of an image, each with its number in the text; several have one number if they are one column of the
    text. `parts_of` are the parts of each number."""
    found: dict[tuple[int, Box], ImageColumn[_Part]] = {}
    for number in {column.number for column in columns}:
        of_number = [column for column in columns if column.number == number]
        found |= {(number, column.box): column for column in columns_found(of_number, parts_of[number])}
    yield from ((column.number, found[column.number, column.box]) for column in columns)


@dataclass(slots=True)
class _Part:
    """A character of a column after corrections, or what is written for it or inserted at its `offset` in the source.
    `box` is its place on the image, None if that is unknown; `box_of_flag` that of the flag of an insertion."""

    offset: int
    row: Row
    text: str
    box: Box | None = None
    confidence: float | None = None
    is_inserted: bool = False
    box_of_flag: Box | None = None


def _located(characters: Iterable[CheckedCharacter]) -> list[_Part]:
    return [_Part(each.offset, each.row, each.text, each.box, each.p_text) for each in characters]


class _Source:
    """The `source` of a column, with its `characters` on the image, which show whether it begins within a note."""

    def __init__(self, source: str, characters: Sequence[CheckedCharacter]) -> None:
        self._source, self._characters = source, characters
        rows = {character.offset: character.row for character in characters}
        cells = parse_column(source).cells
        self._continues = any(rows.get(cell.offset, cell.row) is not cell.row for cell in cells)

    def parts(self) -> list[_Part]:
        """All characters of the column, also those that the image lacks, without its spaces and punctuation."""
        located = _located(self._characters)
        offsets = {part.offset for part in located}
        cells = (cell for cell in parse_column(self._source, self._continues).cells if cell.glyph)
        unlocated = [_Part(cell.offset, cell.row, cell.text) for cell in cells if cell.offset not in offsets]
        return sorted([*located, *unlocated], key=attrgetter("offset"))

    def parts_on_page(self) -> list[_Part]:
        """Of a line of a running text, the characters from the first to the last on the image. Those that the image
        lacks are in the row of the one before."""
        parts: list[_Part] = []
        for part in self.parts():
            if part.box is not None:
                parts.append(part)
            elif parts and is_han(part.text) and part.offset < self._characters[-1].offset:
                parts.append(replace(part, row=parts[-1].row))
        return parts

    def written(self, correction: Correction) -> Iterator[tuple[Row, str]]:
        """The characters that a correction writes, each with the row in which it then is."""
        start, end = correction.offset, correction.offset + len(correction.replacement)
        source = self._source[:start] + correction.replacement + self._source[start + correction.length :]
        for cell in parse_column(source, self._continues).cells:
            if start <= cell.offset < end and not cell.blank:
                yield cell.row, cell.text


def _corrected(
    parts: Iterable[_Part], corrections: Iterable[Correction], boxes: Mapping[str, Box], source: _Source | None = None
) -> list[_Part]:
    """The parts of a line after corrections; `boxes` are those of flags. The rows of what is written are those that it
    has in the `source`; without one, those of the characters beside it."""
    parts = list(parts)
    for correction in corrections:
        start, end = correction.offset, correction.offset + correction.length
        at = next((n for n, part in enumerate(parts) if part.offset >= start and not part.is_inserted), len(parts))
        replaced = [part for part in parts[at:] if part.offset < end and not part.is_inserted]
        if source is not None:
            written = list(source.written(correction))
        else:
            row = next((part.row for part in (*parts[at:], *reversed(parts[:at]))), Row.MAIN)
            written = [(row, cell.text) for cell in parse_column(correction.replacement).cells if not cell.blank]
        for number, part in enumerate(replaced):
            part.row, part.text = written[number] if number < len(written) else (part.row, "")
            part.confidence = None
        inserted = [
            _Part(start, row, "".join(text for _, text in of_row), None, None, True, boxes.get(correction.flag))
            for row, of_row in groupby(written[len(replaced) :], key=itemgetter(0))
        ]
        at = next((n + 1 for n, part in enumerate(parts) if replaced and part is replaced[-1]), at)
        parts[at:at] = inserted
    return parts


def _lines(parts: Iterable[_Part], column: Box, size: tuple[int, int]) -> Iterator[MarkedLine]:
    """The lines of a `column` of the image. What is inserted has no glyph, unless it is a line of its own and has the
    box of its flag. The box of a line without glyphs is beside the other half-row of its note, or that of the
    column."""
    rows = [(row, list(of_row)) for row, of_row in groupby(parts, key=attrgetter("row"))]
    boxes = [[part.box for part in of_row if part.box is not None] for _, of_row in rows]
    for number, (row, of_row) in enumerate(rows):
        glyphs = tuple(
            MarkedGlyph(part.text, _within(box, size), part.confidence and min(max(part.confidence, 0.0), 1.0))
            for part in of_row
            if (box := part.box if boxes[number] else part.box_of_flag) is not None
        )
        text = "".join(part.text for part in of_row)
        if not text:
            continue
        others = [
            boxes[other]
            for other in (number - 1, number + 1)
            if 0 <= other < len(rows) and {row, rows[other][0]} == {Row.RIGHT, Row.LEFT}
        ]
        if glyphs:
            box = Box.around(glyph.box for glyph in glyphs)
        elif others and others[0]:
            first, last = others[0][0], others[0][-1]
            left = first.x - first.w if row is Row.LEFT else first.right
            box = _within(Box(left, first.y, first.w, last.bottom - first.y), size)
        else:
            box = _within(column, size)
        yield MarkedLine(row, box, text, glyphs)


def _within(box: Box, size: tuple[int, int]) -> Box:
    """The box in whole pixels, cut to the image."""
    left, top = max(0, min(round(box.x), size[0] - 1)), max(0, min(round(box.y), size[1] - 1))
    right, bottom = min(max(round(box.right), left + 1), size[0]), min(max(round(box.bottom), top + 1), size[1])
    return Box(left, top, right - left, bottom - top)
