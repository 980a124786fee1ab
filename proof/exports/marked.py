"""A checked page with its corrections, for exports with coordinates: columns, vertical lines, glyphs.

A column has a line for each run of full-width characters and for each half-row of a note, read from top to bottom;
recognisers are trained on such lines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from proof.exports.corrections import Correction
from proof.images.pdf import file_name, file_names
from proof.model.flags import LINE_BREAK
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult
from proof.text.column import parse_column
from proof.text.model import Row


@dataclass(frozen=True, slots=True)
class MarkedGlyph:
    """A character on the image: `text` is the corrected one (empty if a correction deletes it), `confidence` its
    probability by the recogniser, if it is the transcribed one and the recogniser gives any."""

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
    of_line: dict[int, list[Correction]] = defaultdict(list)
    for correction in corrections:
        if is_on(page, correction, running=running) and correction.replacement != LINE_BREAK:
            of_line[correction.line].append(correction)
    characters: dict[int, list[CheckedCharacter]] = defaultdict(list)
    for character in sorted(
        [*page.characters, *_new_half_rows(page, of_line)], key=lambda character: (character.line, character.offset)
    ):
        characters[character.line].append(character)
    texts = {
        (line, offset): text
        for line, of_page in characters.items()
        for offset, text in _corrected(of_page, _on_page(of_line[line], of_page) if running else of_line[line]).items()
    }
    columns = []
    if running:
        for number, (box, in_column) in enumerate(columns_found(page.columns, page.characters), start=1):
            lines = tuple(_lines(in_column, texts, page.image_size))
            columns.append(MarkedColumn(number, _within(box, page.image_size), lines))
    else:
        for column in page.columns:
            lines = tuple(_lines(characters[column.number], texts, page.image_size))
            lines = lines or _restored(page, column, of_line[column.number])
            columns.append(MarkedColumn(column.number, _within(column.box, page.image_size), lines))
    return MarkedPage(page.page, page.ref, file_name(page.image), page.image_size, tuple(columns))


def image_names(pages: Iterable[PageResult]) -> dict[Path, str]:
    """The file names of the images of all pages of a text, the same in every form (`file_names`)."""
    return file_names(page.image for page in pages if page.image)


def is_on(page: PageResult, correction: Correction, *, running: bool = False) -> bool:
    """Whether an accepted correction is on a page; `running` as in `mark`."""
    names = ("", page.page, page.ref) if running else (page.page, page.ref)
    return correction.accepted and not correction.audit and correction.page in names


def _new_half_rows(page: PageResult, of_line: Mapping[int, Iterable[Correction]]) -> Iterable[CheckedCharacter]:
    """An empty character for each insertion into a half-row in which the transcription has nothing, so that the
    insertion is not joined with a character of another line. Its box is that of its flag, else it is beside the other
    half-row, else it is that of the column."""
    boxes = {flag.id: flag.bbox for flag in page.flags if flag.bbox is not None}
    for column in page.columns:
        for correction in of_line.get(column.number, ()):
            if correction.length or not correction.replacement:
                continue
            row, other_offsets = _row_at(column.source, correction)
            if other_offsets is None:
                continue
            other_row = [
                character.box
                for character in page.characters
                if character.line == column.number and character.offset in other_offsets
            ]
            box = boxes.get(correction.flag)
            if box is None and other_row:
                first, last = other_row[0], other_row[-1]
                left = first.x - first.w if row is Row.LEFT else first.right
                box = Box(left, first.y, first.w, last.bottom - first.y)
            yield CheckedCharacter(column.number, correction.offset, 0, row, "", box or column.box, "", None)


def _row_at(source: str, insertion: Correction) -> tuple[Row, frozenset[int] | None]:
    """The row of an insertion into a column. If that is an otherwise empty half-row, also the offsets, in `source`, of
    the characters in the other half-row of the note; else None."""
    start, length = insertion.offset, len(insertion.replacement)
    for run in parse_column(source[:start] + insertion.replacement + source[start:]).runs:
        for cells, others in ((run.right, run.left), (run.left, run.right)):
            inserted = [start <= cell.offset < start + length for cell in cells]
            if any(inserted):
                in_source = (cell.offset - (length if cell.offset > start else 0) for cell in others)
                alone = run.note and all(new or cell.blank for new, cell in zip(inserted, cells, strict=True))
                return cells[inserted.index(True)].row, frozenset(in_source) if alone else None
    return Row.MAIN, None


def columns_found(
    columns: Iterable[CheckedColumn], characters: Iterable[CheckedCharacter]
) -> list[tuple[Box, list[CheckedCharacter]]]:
    """The boxes of the columns of an image, from right to left, each with its characters in the order of the text. A
    column may have several lines of the file, and a line may continue in another column."""
    placed: list[tuple[Box, list[CheckedCharacter]]] = [
        (box, []) for box in dict.fromkeys(column.box for column in columns)
    ]
    for character in sorted(characters if placed else (), key=lambda character: (character.line, character.offset)):
        x, y = character.box.centre
        # the nearest, since leaning columns have boxes that overlap; a second register has columns of its own below
        nearest = min(placed, key=lambda place: (not place[0].y <= y <= place[0].bottom, abs(place[0].centre[0] - x)))
        nearest[1].append(character)
    return placed


def _on_page(corrections: Iterable[Correction], characters: Sequence[CheckedCharacter]) -> list[Correction]:
    """The corrections of a line in the part of it that is on a page: between its first and last `characters` there."""
    first, last = characters[0].offset, characters[-1].offset + characters[-1].length
    return [correction for correction in corrections if correction.page or first <= correction.offset < last]


@dataclass(slots=True)
class _CorrectedText:
    """The corrected text in the place of a character, and insertions before and after it."""

    text: str
    before: str = ""
    after: str = ""


def _corrected(characters: Iterable[CheckedCharacter], corrections: Iterable[Correction]) -> dict[int, _CorrectedText]:
    """The corrected text of each character of a line, by its offset."""
    ordered = sorted(characters, key=lambda character: character.offset)
    texts = {character.offset: _CorrectedText(character.text) for character in ordered}
    for correction in corrections:
        end = correction.offset + correction.length
        over = [character for character in ordered if correction.offset <= character.offset < end]
        if not over:
            following = next((character for character in ordered if character.offset >= correction.offset), None)
            if following is not None and following.offset == correction.offset and not following.length:
                texts[following.offset].text += correction.replacement
            elif following is not None:
                texts[following.offset].before += correction.replacement
            elif ordered:
                texts[ordered[-1].offset].after += correction.replacement
            continue
        for index, character in enumerate(over):
            last = index == len(over) - 1
            part = correction.replacement[index:] if last else correction.replacement[index : index + 1]
            texts[character.offset].text = part
    return texts


def _lines(
    characters: Iterable[CheckedCharacter], texts: Mapping[tuple[int, int], _CorrectedText], size: tuple[int, int]
) -> Iterable[MarkedLine]:
    """The lines of a column; `texts` are the corrected texts of its characters, by line and offset."""
    for row, group in groupby(characters, key=lambda character: character.row):
        glyphs, line_text = [], ""
        for character in group:
            corrected = texts[character.line, character.offset]
            line_text += corrected.before + corrected.text + corrected.after
            known = character.p_text if corrected.text == character.text else None
            confidence = known and min(max(known, 0.0), 1.0)
            glyphs.append(MarkedGlyph(corrected.text, _within(character.box, size), confidence))
        yield MarkedLine(row, Box.around(glyph.box for glyph in glyphs), line_text, tuple(glyphs))


def _restored(page: PageResult, column: CheckedColumn, corrections: Iterable[Correction]) -> tuple[MarkedLine, ...]:
    """The line of a column that the transcription lacks: the characters that corrections restore, with the boxes of
    their flags; characters without such a box are only in the text of the line."""
    insertions = [correction for correction in corrections if correction.replacement]
    if not insertions:
        return ()
    boxes = {flag.id: flag.bbox for flag in page.flags if flag.line == column.number and flag.bbox is not None}
    glyphs = tuple(
        MarkedGlyph(correction.replacement, _within(boxes[correction.flag], page.image_size), None)
        for correction in insertions
        if correction.flag in boxes
    )
    box = Box.around(glyph.box for glyph in glyphs) if glyphs else _within(column.box, page.image_size)
    return (MarkedLine(Row.MAIN, box, "".join(correction.replacement for correction in insertions), glyphs),)


def _within(box: Box, size: tuple[int, int]) -> Box:
    """The box in whole pixels, cut to the image."""
    left, top = max(0, min(round(box.x), size[0] - 1)), max(0, min(round(box.y), size[1] - 1))
    right, bottom = min(max(round(box.right), left + 1), size[0]), min(max(round(box.bottom), top + 1), size[1])
    return Box(left, top, right - left, bottom - top)
