"""A checked page with its corrections, as exports with coordinates need it: columns, vertical lines, glyphs.

A column holds one line for each run of full-width characters and one for each half-row of a note, read from top to
bottom; a recogniser is trained on such lines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from proof.exports.corrections import Correction
from proof.images.pdf import file_name
from proof.model.flags import LINE_BREAK
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult
from proof.text.column import parse_column
from proof.text.model import Row


@dataclass(frozen=True, slots=True)
class MarkedGlyph:
    """A character on the image: `text` as corrected (empty if it does not belong to the text), `sic` as transcribed."""

    text: str
    sic: str
    box: Box
    confidence: float | None


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """Characters below one another. `text` is their text, including characters that the transcription lacks."""

    row: Row
    box: Box
    text: str
    glyphs: tuple[MarkedGlyph, ...]

    def clusters(self) -> Iterator[tuple[str, Box, float | None]]:
        """The text in parts, each with the box and the probability of its glyph. Characters without a glyph, as those
        that the transcription lacks, belong to the glyph after them."""
        at, waiting = 0, ""
        for glyph in self.glyphs:
            start = self.text.find(glyph.text, at) if glyph.text else -1
            if start < 0:
                continue
            waiting, at = self.text[at:start], start + len(glyph.text)
            last = glyph is self.glyphs[-1]
            sure = glyph.confidence if glyph.text == glyph.sic else None
            yield waiting + glyph.text + (self.text[at:] if last else ""), glyph.box, sure
            at = len(self.text) if last else at
        if at < len(self.text):
            yield self.text[at:], self.box, None


@dataclass(frozen=True, slots=True)
class MarkedColumn:
    number: int
    box: Box
    lines: tuple[MarkedLine, ...]


@dataclass(frozen=True, slots=True)
class MarkedPage:
    """A page with an image: `name` is the image file's, `size` its width and height in pixels."""

    id: str
    ref: str
    name: str
    size: tuple[int, int]
    columns: tuple[MarkedColumn, ...]


def mark(page: PageResult, corrections: Iterable[Correction] = (), *, running: bool = False) -> MarkedPage | None:
    """The page with its accepted corrections; None if it has no image.

    `running`: the text has no page marks, so that its lines are not the columns of the image; the columns are those
    detected on the image, numbered in their order.
    """
    if page.image is None or min(page.image_size) <= 0:
        return None
    of_line: dict[int, list[Correction]] = defaultdict(list)
    for correction in corrections:
        if is_on(page, correction, running=running) and correction.replacement != LINE_BREAK:
            of_line[correction.line].append(correction)
    characters: dict[int, list[CheckedCharacter]] = defaultdict(list)
    for character in sorted(
        [*page.characters, *_beginning_rows(page, of_line)], key=lambda character: (character.line, character.offset)
    ):
        characters[character.line].append(character)
    texts = {
        (line, offset): text
        for line, here in characters.items()
        for offset, text in _corrected(here, _on_page(of_line[line], here) if running else of_line[line]).items()
    }
    columns = []
    if running:
        for number, (box, standing) in enumerate(columns_found(page.columns, page.characters), start=1):
            lines = tuple(_lines(standing, texts, page.image_size))
            columns.append(MarkedColumn(number, _within(box, page.image_size), lines))
    else:
        for column in page.columns:
            lines = tuple(_lines(characters[column.number], texts, page.image_size))
            lines = lines or _restored(page, column, of_line[column.number])
            columns.append(MarkedColumn(column.number, _within(column.box, page.image_size), lines))
    return MarkedPage(page.page, page.ref, file_name(page.image), page.image_size, tuple(columns))


def is_on(page: PageResult, correction: Correction, *, running: bool = False) -> bool:
    """Whether an accepted correction is on a page; `running` as in `mark`."""
    own = ("", page.page, page.ref) if running else (page.page, page.ref)
    return correction.accepted and not correction.audit and correction.page in own


def _beginning_rows(page: PageResult, of_line: Mapping[int, Iterable[Correction]]) -> Iterable[CheckedCharacter]:
    """An empty place for each insertion into a half-row for which the transcription has nothing, so that it is not
    joined with a character beside it. Its height is that of its note, or of its flag's box."""
    boxes = {flag.id: flag.bbox for flag in page.flags if flag.bbox is not None}
    for column in page.columns:
        for correction in of_line.get(column.number, ()):
            if correction.length or not correction.replacement:
                continue
            row, there = _row_at(column.source, correction)
            if there is None:
                continue
            beside = [
                character.box
                for character in page.characters
                if character.line == column.number and character.offset in there
            ]
            box = boxes.get(correction.flag)
            if box is None and beside:
                first, last = beside[0], beside[-1]
                left = first.x - first.w if row is Row.LEFT else first.right
                box = Box(left, first.y, first.w, last.bottom - first.y)
            yield CheckedCharacter(column.number, correction.offset, 0, row, "", box or column.box, "", None)


def _row_at(source: str, insertion: Correction) -> tuple[Row, frozenset[int] | None]:
    """The row of an insertion, and the offsets of the other half-row of its note if its own half-row is empty; else
    None."""
    edited = source[: insertion.offset] + insertion.replacement + source[insertion.offset :]
    end = insertion.offset + len(insertion.replacement)
    for run in parse_column(edited).runs:
        for cells, others in ((run.right, run.left), (run.left, run.right)):
            own = [insertion.offset <= cell.offset < end for cell in cells]
            if any(own):
                before = insertion.offset  # what stands behind the insertion in the column as it was parsed
                moved = (cell.offset - (len(insertion.replacement) if cell.offset > before else 0) for cell in others)
                alone = run.note and all(mine or cell.blank for mine, cell in zip(own, cells, strict=True))
                return cells[own.index(True)].row, frozenset(moved) if alone else None
    return Row.MAIN, None


def columns_found(
    columns: Iterable[CheckedColumn], characters: Iterable[CheckedCharacter]
) -> list[tuple[Box, list[CheckedCharacter]]]:
    """The columns of an image by their boxes, from right to left, each with its characters in the order of the text. A
    column may hold several lines of the file, and a line may continue in another column."""
    placed: list[tuple[Box, list[CheckedCharacter]]] = [
        (box, []) for box in dict.fromkeys(column.box for column in columns)
    ]
    for character in sorted(characters if placed else (), key=lambda character: (character.line, character.offset)):
        x, y = character.box.centre
        # of columns that lean into one another the nearest; a second register has columns of its own below
        nearest = min(placed, key=lambda place: (not place[0].y <= y <= place[0].bottom, abs(place[0].centre[0] - x)))
        nearest[1].append(character)
    return placed


def _on_page(corrections: Iterable[Correction], characters: Sequence[CheckedCharacter]) -> list[Correction]:
    """The corrections of a line in the part of it that is on a page."""
    first, last = characters[0].offset, characters[-1].offset + characters[-1].length
    return [correction for correction in corrections if correction.page or first <= correction.offset < last]


def _corrected(
    characters: Iterable[CheckedCharacter], corrections: Iterable[Correction]
) -> dict[int, tuple[str, str, str]]:
    """By offset: the text before a character, in its place, and after it."""
    ordered = sorted(characters, key=lambda character: character.offset)
    texts = {character.offset: ["", character.text, ""] for character in ordered}
    for correction in corrections:
        end = correction.offset + correction.length
        over = [character for character in ordered if correction.offset <= character.offset < end]
        if not over:
            following = next((character for character in ordered if character.offset >= correction.offset), None)
            if following is not None and following.offset == correction.offset and not following.length:
                texts[following.offset][1] += correction.replacement
            elif following is not None:
                texts[following.offset][0] += correction.replacement
            elif ordered:
                texts[ordered[-1].offset][2] += correction.replacement
            continue
        for index, character in enumerate(over):
            last = index == len(over) - 1
            part = correction.replacement[index:] if last else correction.replacement[index : index + 1]
            texts[character.offset][1] = part
    return {offset: (before, text, after) for offset, (before, text, after) in texts.items()}


def _lines(
    characters: Iterable[CheckedCharacter], texts: dict[tuple[int, int], tuple[str, str, str]], size: tuple[int, int]
) -> Iterable[MarkedLine]:
    for row, group in groupby(characters, key=lambda character: character.row):
        glyphs, line_text = [], ""
        box: Box | None = None
        for character in group:
            before, text, after = texts[character.line, character.offset]
            line_text += before + text + after
            here = _within(character.box, size)
            box = here if box is None else box.union(here)
            glyphs.append(MarkedGlyph(text, character.text, here, character.p_text))
        if box is not None:
            yield MarkedLine(row, box, line_text, tuple(glyphs))


def _restored(page: PageResult, column: CheckedColumn, corrections: Iterable[Correction]) -> tuple[MarkedLine, ...]:
    """The line of a column that the transcription lacks: the characters that corrections restored, with the boxes of
    their flags; characters without a flag are only in the text of the line."""
    given = [correction for correction in corrections if correction.replacement]
    if not given:
        return ()
    seen = {flag.id: flag.bbox for flag in page.flags if flag.line == column.number and flag.bbox is not None}
    placed = [
        (correction.replacement, _within(seen[correction.flag], page.image_size))
        for correction in given
        if correction.flag in seen
    ]
    box = placed[0][1] if placed else _within(column.box, page.image_size)
    for _, other in placed[1:]:
        box = box.union(other)
    glyphs = tuple(MarkedGlyph(text, "", place, None) for text, place in placed)
    return (MarkedLine(Row.MAIN, box, "".join(correction.replacement for correction in given), glyphs),)


def _within(box: Box, size: tuple[int, int]) -> Box:
    """The box in whole pixels, cut to the image."""
    left, top = max(0, min(round(box.x), size[0] - 1)), max(0, min(round(box.y), size[1] - 1))
    right, bottom = min(max(round(box.right), left + 1), size[0]), min(max(round(box.bottom), top + 1), size[1])
    return Box(left, top, right - left, bottom - top)
