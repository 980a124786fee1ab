"""The view of a flag: the part of its column that is cut out of the image, and the places of the characters there.

All places are in pixels of the upright image. A view shows some nine characters of the column, with the flagged one in
the middle, except near the head or foot of the column, beyond which it does not reach.
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
"""Width of the strip of either neighbouring column that is shown, in widths of the column: strokes cross the rules."""
EM_PITCHES = 0.86
"""Size of a transcribed character, in pitches."""
WEDGED_SIZE_SHARE = 0.74
"""Size of a character without a glyph, as a share of the size of the others."""
DEFAULT_PITCH_WIDTHS = 0.55
"""Pitch on a page without characters to measure, in widths of the column."""
MIN_PITCH_WIDTHS, MAX_PITCH_WIDTHS = 0.25, 1.3
"""Limits of the pitch, in widths of the column."""
MAX_NOTE_EM_WIDTHS = 0.46
"""Maximum size of a character in a half-row, in widths of the column."""


@dataclass(frozen=True, slots=True)
class PlacedCharacter:
    """A transcribed character at the place of its glyph: its centre (`x`, `y`), its size (`em`), and whether it is
    flagged (`marked`). `wedged`: it has no glyph and is shown beside the place where the text has it. `offset` is its
    place in the source of the column, -1 if it is wedged or a placeholder."""

    text: str
    x: float
    y: float
    em: float
    marked: bool
    wedged: bool = False
    offset: int = -1


@dataclass(frozen=True, slots=True)
class View:
    """The `area` to cut out, the flagged glyph in it (`focus`), and the transcribed characters in the same area.
    `text_area` is the area without the neighbouring columns; `pitch` is the distance from one character to the next.
    `gap` is the empty place where the transcription lacks characters, as high as their glyphs."""

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
    column of `margin` widths of its own. None if its place on the image is not known."""
    result, flag = upright(result), upright_flag(flag, result)
    line = _line_of(result, flag)
    focus = focus_of(result, flag)
    if focus is None or result.image_size[0] < 1 or result.image_size[1] < 1:
        return None
    part = result.column_of(replace(flag, bbox=focus))
    column = part.box if part else focus
    # a line that stands in several columns of the image: only the characters of this one
    if part and sum(other.number == flag.line for other in result.columns) > 1:
        line = [c for c in line if column.x <= c.box.centre[0] <= column.right]
    pitch = pitch_of(result, focus, column)
    area = _area(result, column, focus, pitch, around, margin)
    if area.w < 1 or area.h < 1:
        return None
    near = [c for c in line if area.y - pitch < c.box.centre[1] < area.bottom + pitch]
    text_area = Box(column.x, area.y, column.w, area.h)
    other = other_half(flag, result.flags)
    halves = (flag, other) if other else (flag,)  # both flags of a character that moved
    characters = (
        *_placed(near, column, pitch, halves),
        *_wedged(result, line, column, pitch, halves),
        *_placeholders(flag, focus, column, pitch),
    )
    gaps = (_gap(line, column, pitch, half.bbox or focus, half) for half in halves if half.line == flag.line)
    gap = next((box for box in gaps if box), None)
    return View(area, text_area, focus, pitch, characters, gap)


def ordinal(result: PageResult, flag: Flag) -> int | None:
    """The number of the flagged character among the characters of its column, from 1; None if none of them is known."""
    offsets = [c.offset for c in result.characters if c.line == flag.line and not c.text.isspace()]
    return sum(offset < flag.offset for offset in offsets) + 1 if offsets else None


def focus_of(result: PageResult, flag: Flag) -> Box | None:
    """The box of the flagged characters, else that of the character before them; None if neither is known."""
    if flag.bbox:
        return flag.bbox
    line = _line_of(result, flag)
    inside = [c.box for c in line if flag.offset <= c.offset < flag.offset + max(flag.length, 1)]
    inside = inside or [c.box for c in line if c.offset < flag.offset][-1:]
    return Box.around(inside) if inside else None


def _line_of(result: PageResult, flag: Flag) -> list[CheckedCharacter]:
    """The characters of a flag's line, in their order."""
    return sorted((c for c in result.characters if c.line == flag.line), key=lambda c: c.offset)


def pitch_of(result: PageResult, focus: Box, column: Box) -> float:
    """The distance from one character to the next. It is the median over the page, since all columns of a page have
    cells of one height, kept within limits by the width of the column, since boxes may be wrong."""
    steps = [
        below.box.centre[1] - above.box.centre[1]
        for above, below in pairwise(sorted(result.characters, key=lambda c: (c.line, c.offset)))
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
    """The characters of a line at the places of their glyphs."""
    placed: list[PlacedCharacter] = []
    for row in Row:
        foot = float("-inf")  # a character is put below the one before it, never on it, however their boxes lie
        em = _em(row, pitch, column)
        for character in line:
            if character.row is not row or character.text.isspace():
                continue
            y = max(character.box.centre[1], foot)
            foot = y + 0.8 * em
            # an omission beside an equal character marks its gap, not that character
            marked = any(
                flag.line == character.line and flag.offset <= character.offset < flag.offset + flag.length
                for flag in halves
                if flag.kind is not Kind.OMISSION
            )
            placed.append(PlacedCharacter(character.text, _across(row, column), y, em, marked, offset=character.offset))
    return placed


def _wedged(
    result: PageResult, line: Sequence[CheckedCharacter], column: Box, pitch: float, halves: Sequence[Flag]
) -> Iterator[PlacedCharacter]:
    """The characters of the column without a glyph, each beside the place where the text has it; several at one place
    stand one below the other."""
    with_glyph = {character.offset for character in line}
    lacking = {  # by place, since `halves` may be among the flags of the page
        (flag.offset, flag.transcribed): flag
        for flag in (*result.flags, *halves)
        if flag.kind is Kind.INSERTION
        and flag.line == halves[0].line
        and flag.length
        and flag.offset not in with_glyph
        and (flag.bbox is None or column.x <= flag.bbox.centre[0] <= column.right)
    }
    places: dict[int, list[Flag]] = {}
    for flag in sorted(lacking.values(), key=lambda flag: flag.offset):
        places.setdefault(sum(character.offset < flag.offset for character in line), []).append(flag)
    for at, flags in places.items():
        neighbours = line[max(at - 1, 0) : at + 1]
        row = neighbours[0].row if neighbours else Row.MAIN
        if len(neighbours) == 2 and neighbours[0].row is neighbours[1].row:
            y = (neighbours[0].box.centre[1] + neighbours[1].box.centre[1]) / 2
        elif flags[0].bbox:
            y = flags[0].bbox.centre[1]
        else:
            continue
        em = WEDGED_SIZE_SHARE * _em(row, pitch, column)
        x = _across(row, column) + 0.62 * pitch * (1 if row is Row.MAIN else 0.6)
        texts = [(flag, text) for flag in flags for text in _characters(flag.transcribed)]
        for number, (flag, text) in enumerate(texts):
            down = (number - (len(texts) - 1) / 2) * 1.06 * em
            marked = any((flag.line, flag.offset) == (other.line, other.offset) for other in halves)
            yield PlacedCharacter(text, x, y + down, em, marked, wedged=True)


def _characters(text: str) -> list[str]:
    """The characters of a piece of source text, each in its notation."""
    return [cell.text for cell in parse_column(text).cells if not cell.blank]


def _placeholders(flag: Flag, focus: Box, column: Box, pitch: float) -> Iterator[PlacedCharacter]:
    """The placeholders (□) that the text has for the flagged characters, one below the other."""
    if flag.evidence.reason != PLACEHOLDER:
        return
    row = _row_of(focus, column)
    placeholders = _characters(flag.transcribed)
    for number, placeholder in enumerate(placeholders):
        y = focus.y + (number + 0.5) * focus.h / len(placeholders)
        yield PlacedCharacter(placeholder, _across(row, column), y, _em(row, pitch, column), marked=True)


def _row_of(box: Box, column: Box) -> Row:
    """The row in which a glyph with this box stands."""
    if box.w > MAX_HALF_ROW_WIDTHS * column.w:
        return Row.MAIN
    return Row.RIGHT if box.centre[0] > column.centre[0] else Row.LEFT


def _across(row: Row, column: Box) -> float:
    """The x of the middle of a row."""
    if row is Row.MAIN:
        return column.centre[0]
    return column.x + column.w * (0.75 if row is Row.RIGHT else 0.25)


def _gap(line: Sequence[CheckedCharacter], column: Box, pitch: float, focus: Box, flag: Flag) -> Box | None:
    """The empty place in the transcription beside the glyphs of the missing characters; None if the flag is no
    omission."""
    if flag.kind is not Kind.OMISSION:
        return None
    at = sum(c.offset < flag.offset for c in line)
    rows = {c.row for c in line[max(at - 1, 0) : at + 1]}  # of the characters before and after it
    row = rows.pop() if len(rows) == 1 else _row_of(focus, column)
    em = _em(row, pitch, column)
    x, y = _across(row, column), focus.centre[1]
    height = em + max(len(missing_characters(flag)) - 1, 0) * pitch
    return Box(x - em / 2, y - height / 2, em, height)


def _em(row: Row, pitch: float, column: Box) -> float:
    """The size of a character in a row."""
    return EM_PITCHES * pitch if row is Row.MAIN else min(EM_PITCHES * pitch, MAX_NOTE_EM_WIDTHS * column.w)
