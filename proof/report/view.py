"""The view of a flag: the part of its column that is cut out of the image, and the places of the characters there.

All places are in pixels of the upright image. The flagged character is in the middle of the view, except near the head
or foot of the column, beyond which the view does not reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from proof.model.flags import PLACEHOLDER, Flag, Kind, missing_characters, other_half
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, PageResult
from proof.report.upright import upright, upright_flag
from proof.text.column import parse_column
from proof.text.model import Row

MAX_HALF_ROW_WIDTHS = 0.72
"""Maximum width of a glyph in a half-row, in widths of the column."""
CHARACTERS_AROUND = 4
"""Characters shown before and after the flagged one."""
MARGIN_WIDTHS = 0.12
"""Width of the strip of either neighbouring column that is shown, in widths of the column, since strokes cross
rules."""
EM_PITCHES = 0.86
"""Size of a transcribed character, in pitches."""
NO_GLYPH_SIZE_SHARE = 0.74
"""Size of a character without a glyph, as a share of the size of the others."""
NO_GLYPH_DISTANCE_PITCHES = 0.62
"""Distance of a character without a glyph from the middle of the column, in pitches."""
DEFAULT_PITCH_WIDTHS = 0.55
"""Pitch on a page without characters to measure, in widths of the column."""
MIN_PITCH_WIDTHS, MAX_PITCH_WIDTHS = 0.25, 1.3
"""Limits of the pitch, in widths of the column."""
MAX_NOTE_EM_WIDTHS = 0.46
"""Maximum size of a character in a half-row, in widths of the column."""


@dataclass(frozen=True, slots=True)
class PlacedCharacter:
    """A transcribed character at the place of its glyph: its centre (`x`, `y`), its size (`em`), and whether it is
    flagged (`marked`). `without_glyph`: it has no glyph and is shown beside the place where the text has it. `offset`
    is its place in the source of the column, -1 without a glyph or for a placeholder."""

    text: str
    x: float
    y: float
    em: float
    marked: bool
    without_glyph: bool = False
    offset: int = -1


@dataclass(frozen=True, slots=True)
class View:
    """The `area` to cut out, the box of the flagged glyph (`focus`), and the transcribed characters in the area.
    `text_area` is the area without the neighbouring columns, `pitch` the distance from one character to the next. `gap`
    is the place in the transcription for missing characters, as high as their glyphs; None if none are missing."""

    area: Box
    text_area: Box
    focus: Box
    pitch: float
    characters: tuple[PlacedCharacter, ...]
    gap: Box | None


def view_of(
    result: PageResult, flag: Flag, around: int = CHARACTERS_AROUND, margin: float = MARGIN_WIDTHS
) -> View | None:
    """The view of a flag: `around` characters before and after it, and on either side a strip of the neighbouring
    column, `margin` widths of the flag's column wide. None if the place of the flag on the image is unknown."""
    result, flag = upright(result), upright_flag(flag, result)
    focus = focus_of(result, flag)
    if focus is None or result.image_size[0] < 1 or result.image_size[1] < 1:
        return None
    column = result.column_of(replace(flag, bbox=focus))
    box = column.box if column else focus
    line = _line_of(result, flag)
    if column and sum(other.number == flag.line for other in result.columns) > 1:
        # the line has several columns on the image: only the characters in this one
        line = [character for character in line if box.x <= character.box.centre[0] <= box.right]
    pitch = pitch_of(result, focus, box)
    area = _area(result, box, focus, pitch, around, margin)
    if area.w < 1 or area.h < 1:
        return None
    in_view = [character for character in line if area.y - pitch < character.box.centre[1] < area.bottom + pitch]
    other = other_half(flag, result.flags)
    halves = (flag, other) if other else (flag,)
    characters = (
        *_placed(in_view, box, pitch, halves),
        *_without_glyph(result, line, box, pitch, halves),
        *_placeholders(flag, focus, box, pitch),
    )
    gaps = (_gap(line, box, pitch, half.bbox or focus, half) for half in halves if half.line == flag.line)
    return View(
        area=area,
        text_area=Box(box.x, area.y, box.w, area.h),
        focus=focus,
        pitch=pitch,
        characters=characters,
        gap=next((gap for gap in gaps if gap), None),
    )


def ordinal(result: PageResult, flag: Flag) -> int | None:
    """The number of the flagged character in its column, from 1; None if the column has no characters with glyphs."""
    offsets = [character.offset for character in _line_of(result, flag) if not character.text.isspace()]
    return sum(offset < flag.offset for offset in offsets) + 1 if offsets else None


def focus_of(result: PageResult, flag: Flag) -> Box | None:
    """The box of the flagged characters, else that of the character before them; None if both are unknown."""
    if flag.bbox:
        return flag.bbox
    line = _line_of(result, flag)
    end = flag.offset + max(flag.length, 1)
    boxes = [character.box for character in line if flag.offset <= character.offset < end]
    boxes = boxes or [character.box for character in line if character.offset < flag.offset][-1:]
    return Box.around(boxes) if boxes else None


def _line_of(result: PageResult, flag: Flag) -> list[CheckedCharacter]:
    """The characters of a flag's line, in their order."""
    on_line = (character for character in result.characters if character.line == flag.line)
    return sorted(on_line, key=lambda character: character.offset)


def pitch_of(result: PageResult, focus: Box, column: Box) -> float:
    """The distance from one character to the next: the median over the page, whose columns have cells of one height. It
    is limited relative to the width of the column, since boxes may be wrong."""
    steps = [
        below.box.centre[1] - above.box.centre[1]
        for above, below in pairwise(
            sorted(result.characters, key=lambda character: (character.line, character.offset))
        )
        if (above.line, above.row) == (below.line, below.row) and below.box.centre[1] > above.box.centre[1]
    ]
    pitch = median(steps) if steps else min(focus.h, DEFAULT_PITCH_WIDTHS * column.w)
    return max(min(max(pitch, MIN_PITCH_WIDTHS * column.w), MAX_PITCH_WIDTHS * column.w), 1.0)


def _area(result: PageResult, column: Box, focus: Box, pitch: float, around: int, margin: float) -> Box:
    """The area to cut out, within the page and the image."""
    width, height = result.image_size
    page = result.image_box or Box(0, 0, width, height)
    left = max(min(column.x - margin * column.w, focus.x), page.x, 0)
    right = min(max(column.right + margin * column.w, focus.right), page.right, width)
    tall = max((2 * around + 1) * pitch, focus.h)
    highest = max(min(column.y, focus.y) - pitch / 3, page.y, 0)
    lowest = min(max(column.bottom, focus.bottom) + pitch / 3, page.bottom, height)
    top = max(min(focus.centre[1] - tall / 2, lowest - tall), highest)
    return Box(left, top, right - left, min(top + tall, lowest) - top)


def _placed(
    line: Sequence[CheckedCharacter], column: Box, pitch: float, halves: Sequence[Flag]
) -> list[PlacedCharacter]:
    """The characters of a line at the places of their glyphs; those of `halves` are marked."""
    placed: list[PlacedCharacter] = []
    for row in Row:
        foot = float("-inf")  # characters are never placed over each other, even if their boxes overlap
        em = _em(row, pitch, column)
        for character in line:
            if character.row is not row or character.text.isspace():
                continue
            y = max(character.box.centre[1], foot)
            foot = y + 0.8 * em
            # an omission may cover the equal character beside its gap, which is not marked
            marked = any(
                flag.line == character.line and flag.offset <= character.offset < flag.offset + flag.length
                for flag in halves
                if flag.kind is not Kind.OMISSION
            )
            placed.append(PlacedCharacter(character.text, _across(row, column), y, em, marked, offset=character.offset))
    return placed


def _without_glyph(
    result: PageResult, line: Sequence[CheckedCharacter], column: Box, pitch: float, halves: Sequence[Flag]
) -> Iterator[PlacedCharacter]:
    """The characters of a column that have no glyph, each beside its place in the text; several at one place are placed
    below each other. Those of `halves` are marked."""
    with_glyph = {character.offset for character in line}
    surplus = {  # by place, since `halves` may be among the flags of the page
        (flag.offset, flag.transcribed): flag
        for flag in (*result.flags, *halves)
        if flag.kind is Kind.INSERTION
        and flag.line == halves[0].line
        and flag.length
        and flag.offset not in with_glyph
        and (flag.bbox is None or column.x <= flag.bbox.centre[0] <= column.right)
    }
    by_index: dict[int, list[Flag]] = {}  # by index of the character that follows
    for flag in sorted(surplus.values(), key=lambda flag: flag.offset):
        by_index.setdefault(_index_of(flag, line), []).append(flag)
    for index, flags in by_index.items():
        neighbours = line[max(index - 1, 0) : index + 1]
        row = neighbours[0].row if neighbours else Row.MAIN
        if len(neighbours) == 2 and neighbours[0].row is neighbours[1].row:
            y = (neighbours[0].box.centre[1] + neighbours[1].box.centre[1]) / 2
        elif flags[0].bbox:
            y = flags[0].bbox.centre[1]
        else:
            continue
        em = NO_GLYPH_SIZE_SHARE * _em(row, pitch, column)
        x = _across(row, column) + NO_GLYPH_DISTANCE_PITCHES * pitch * (1 if row is Row.MAIN else 0.6)
        texts = [(flag, text) for flag in flags for text in _characters(flag.transcribed)]
        for number, (flag, text) in enumerate(texts):
            down = (number - (len(texts) - 1) / 2) * 1.06 * em
            marked = any((flag.line, flag.offset) == (half.line, half.offset) for half in halves)
            yield PlacedCharacter(text, x, y + down, em, marked, without_glyph=True)


def _index_of(flag: Flag, line: Sequence[CheckedCharacter]) -> int:
    """The number of characters of a line before a flag."""
    return sum(character.offset < flag.offset for character in line)


def _characters(text: str) -> list[str]:
    """The characters of a piece of source text, each in its notation."""
    return [cell.text for cell in parse_column(text).cells if not cell.blank]


def _placeholders(flag: Flag, focus: Box, column: Box, pitch: float) -> Iterator[PlacedCharacter]:
    """The placeholders (□) of the text for the flagged characters, one below the other."""
    if flag.evidence.reason != PLACEHOLDER:
        return
    row = _row_of(focus, column)
    placeholders = _characters(flag.transcribed)
    for number, placeholder in enumerate(placeholders):
        y = focus.y + (number + 0.5) * focus.h / len(placeholders)
        yield PlacedCharacter(placeholder, _across(row, column), y, _em(row, pitch, column), marked=True)


def _row_of(box: Box, column: Box) -> Row:
    """The row of a glyph with that box."""
    if box.w > MAX_HALF_ROW_WIDTHS * column.w:
        return Row.MAIN
    return Row.RIGHT if box.centre[0] > column.centre[0] else Row.LEFT


def _across(row: Row, column: Box) -> float:
    """The x of the middle of a row."""
    if row is Row.MAIN:
        return column.centre[0]
    return column.x + column.w * (0.75 if row is Row.RIGHT else 0.25)


def _gap(line: Sequence[CheckedCharacter], column: Box, pitch: float, focus: Box, flag: Flag) -> Box | None:
    """The place in the transcription for missing characters, at the height of their glyphs; None if the flag is not an
    omission."""
    if flag.kind is not Kind.OMISSION:
        return None
    index = _index_of(flag, line)
    rows = {character.row for character in line[max(index - 1, 0) : index + 1]}  # of the characters before and after
    row = rows.pop() if len(rows) == 1 else _row_of(focus, column)
    em = _em(row, pitch, column)
    x, y = _across(row, column), focus.centre[1]
    height = em + max(len(missing_characters(flag)) - 1, 0) * pitch
    return Box(x - em / 2, y - height / 2, em, height)


def _em(row: Row, pitch: float, column: Box) -> float:
    """The size of a character in a row."""
    return EM_PITCHES * pitch if row is Row.MAIN else min(EM_PITCHES * pitch, MAX_NOTE_EM_WIDTHS * column.w)
