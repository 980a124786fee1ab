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
from typing import NamedTuple

from proof.exports.corrections import Correction
from proof.images.pdf import file_name, file_names
from proof.model.flags import LINE_BREAK
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult
from proof.text.column import parse_column
from proof.text.model import Row


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
    corrections_of: dict[int, list[Correction]] = defaultdict(list)
    for correction in corrections:
        if is_on(page, correction, running=running) and correction.replacement != LINE_BREAK:
            corrections_of[correction.line].append(correction)
    characters_of: dict[int, list[CheckedCharacter]] = defaultdict(list)
    for character in sorted(
        [*page.characters, *_new_half_rows(page, corrections_of)],
        key=lambda character: (character.line, character.offset),
    ):
        characters_of[character.line].append(character)
    texts: dict[tuple[int, int], _CorrectedText] = {}
    for line, characters in characters_of.items():
        line_corrections = _on_page(corrections_of[line], characters) if running else corrections_of[line]
        texts |= {(line, offset): text for offset, text in _corrected(characters, line_corrections).items()}
    columns = []
    if running:
        for number, (box, characters) in enumerate(columns_found(page.columns, page.characters), start=1):
            lines = tuple(_lines(characters, texts, page.image_size))
            columns.append(MarkedColumn(number, _within(box, page.image_size), lines))
    else:
        for column in page.columns:
            lines = tuple(_lines(characters_of[column.number], texts, page.image_size))
            lines = lines or _restored(page, column, corrections_of[column.number])
            columns.append(MarkedColumn(column.number, _within(column.box, page.image_size), lines))
    return MarkedPage(page.page, page.ref, file_name(page.image), page.image_size, tuple(columns))


def image_names(pages: Iterable[PageResult]) -> dict[Path, str]:
    """The file names of the images of all pages of a text, the same in every form (`file_names`)."""
    return file_names(page.image for page in pages if page.image)


def is_on(page: PageResult, correction: Correction, *, running: bool = False) -> bool:
    """Whether an accepted correction is on a page; `running` as in `mark`."""
    names = ("", page.page, page.ref) if running else (page.page, page.ref)
    return correction.accepted and not correction.audit and correction.page in names


def _new_half_rows(page: PageResult, corrections_of: Mapping[int, Iterable[Correction]]) -> Iterable[CheckedCharacter]:
    """An empty character for each insertion into an empty half-row, so that the insertion is not joined with a
    character of another line. Its box is that of its flag, else a box beside the other half-row, else that of the
    column. `corrections_of` are the corrections of each line."""
    boxes = {flag.id: flag.bbox for flag in page.flags if flag.bbox is not None}
    for column in page.columns:
        for correction in corrections_of.get(column.number, ()):
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
    if _has_note(insertion.replacement):
        return Row.MAIN, None
    for run in parse_column(source[:start] + insertion.replacement + source[start:]).runs:
        for cells, other_cells in ((run.right, run.left), (run.left, run.right)):
            is_new = [start <= cell.offset < start + length for cell in cells]
            if not any(is_new):
                continue
            row = cells[is_new.index(True)].row
            is_alone = run.is_note and all(new or cell.blank for new, cell in zip(is_new, cells, strict=True))
            if not is_alone:
                return row, None
            return row, frozenset(cell.offset - (length if cell.offset > start else 0) for cell in other_cells)
    return Row.MAIN, None


class ImageColumn(NamedTuple):
    """The box of a column on the image, with its characters in the order of the text."""

    box: Box
    characters: list[CheckedCharacter]

    def distance(self, character: CheckedCharacter) -> tuple[bool, float]:
        """A sort key: columns at the height of the character come first, then the nearest. Boxes of leaning columns
        overlap, and columns of a second register are below those of the first."""
        x, y = character.box.centre
        return not self.box.y <= y <= self.box.bottom, abs(self.box.centre[0] - x)


def columns_found(columns: Iterable[CheckedColumn], characters: Iterable[CheckedCharacter]) -> list[ImageColumn]:
    """The columns detected on an image, from right to left. A column may have several lines of the file, and a line may
    continue in another column."""
    found = [ImageColumn(box, []) for box in dict.fromkeys(column.box for column in columns)]
    if found:
        for character in sorted(characters, key=lambda character: (character.line, character.offset)):
            min(found, key=lambda column: column.distance(character)).characters.append(character)
    return found


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
        replaced = [character.offset for character in ordered if correction.offset <= character.offset < end]
        if not replaced:
            _insert(correction, ordered, texts)
            continue
        # one character each, and the rest of the replacement for the last one
        for index, offset in enumerate(replaced[:-1]):
            texts[offset].text = correction.replacement[index : index + 1]
        texts[replaced[-1]].text = correction.replacement[len(replaced) - 1 :]
    return texts


def _insert(correction: Correction, ordered: Sequence[CheckedCharacter], texts: Mapping[int, _CorrectedText]) -> None:
    """Add an insertion to the text of the character after it, or of the last character of the line."""
    following = next((character for character in ordered if character.offset >= correction.offset), None)
    inserted = _without_note_marks(correction.replacement)
    if following is None:
        if ordered:
            texts[ordered[-1].offset].after += inserted
    elif following.offset == correction.offset and not following.length:  # see `_new_half_rows`
        texts[following.offset].text += inserted
    else:
        texts[following.offset].before += inserted


def _without_note_marks(text: str) -> str:
    """A text that is put in, a column or a missing note, without the marks of its notes."""
    return "".join(cell.text for run in parse_column(text).runs for cell in run.cells) if _has_note(text) else text


def _has_note(text: str) -> bool:
    return any(run.is_note for run in parse_column(text).runs)


def _lines(
    characters: Iterable[CheckedCharacter], texts: Mapping[tuple[int, int], _CorrectedText], size: tuple[int, int]
) -> Iterable[MarkedLine]:
    """The lines of a column; `texts` are the corrected texts of its characters, by line and offset."""
    for row, group in groupby(characters, key=lambda character: character.row):
        glyphs, line_text = [], ""
        for character in group:
            corrected = texts[character.line, character.offset]
            line_text += corrected.before + corrected.text + corrected.after
            confidence = character.p_text if corrected.text == character.text else None
            if confidence is not None:
                confidence = min(max(confidence, 0.0), 1.0)
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
        MarkedGlyph(_without_note_marks(correction.replacement), _within(boxes[correction.flag], page.image_size), None)
        for correction in insertions
        if correction.flag in boxes
    )
    box = Box.around(glyph.box for glyph in glyphs) if glyphs else _within(column.box, page.image_size)
    text = "".join(_without_note_marks(correction.replacement) for correction in insertions)
    return (MarkedLine(Row.MAIN, box, text, glyphs),)


def _within(box: Box, size: tuple[int, int]) -> Box:
    """The box in whole pixels, cut to the image."""
    left, top = max(0, min(round(box.x), size[0] - 1)), max(0, min(round(box.y), size[1] - 1))
    right, bottom = min(max(round(box.right), left + 1), size[0]), min(max(round(box.bottom), top + 1), size[1])
    return Box(left, top, right - left, bottom - top)
