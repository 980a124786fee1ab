"""The view of a flag: the part of its column that is cut out, and the places of its characters.

All places are pixels of the upright image. A view shows some nine characters of the column with the flagged one in the
middle; near the head or foot of the column the view stays inside it.
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
"""Width of a glyph, in widths of its column, up to which it stands in a half-row."""
CHARACTERS_AROUND = 4
"""Characters shown before and after the flagged one."""
MARGIN_WIDTHS = 0.12
"""Width of the neighbouring columns that is shown, in widths of the column: strokes cross the rules."""
EM_PITCHES = 0.86
"""Size of a character of the transcription in pitches of the column."""
WEDGED_SIZE_SHARE = 0.74
"""Size of a character without a glyph, in sizes of the others."""
DEFAULT_PITCH_WIDTHS = 0.55
"""Height of a character in widths of its column, if the column has no character to measure."""
MIN_PITCH = 0.25
MAX_PITCH = 1.3
"""Limits of the pitch, in widths of the column."""
MAX_NOTE_EM_WIDTHS = 0.46
"""Size of a character in a half-row at most, in widths of the column."""


@dataclass(frozen=True, slots=True)
class PlacedCharacter:
    """A transcribed character at the place of its glyph: its centre (`x`, `y`), its em, and whether it is flagged
    (`marked`). `wedged`: it has no glyph and is shown beside the place where it is inserted. `offset` is its place in
    the source of the column, -1 if it is wedged or a placeholder."""

    text: str
    x: float
    y: float
    em: float
    marked: bool
    wedged: bool = False
    offset: int = -1


@dataclass(frozen=True, slots=True)
class View:
    """The `area` to cut, the flagged glyph in it (`focus`), and the transcription over the same area. `text_area` is
    the area without the neighbouring columns; `pitch` is the distance from one character to the next. `gap` is the
    empty place in the transcription where characters are missing, as high as their glyphs."""

    area: Box
    text_area: Box
    focus: Box
    pitch: float
    characters: tuple[PlacedCharacter, ...]
    gap: Box | None


def view_of(
    result: PageResult, flag: Flag, around: int = CHARACTERS_AROUND, margin: float = MARGIN_WIDTHS
) -> View | None:
    """The view of a flag with `around` characters before and after it, and `margin` widths of the column on either
    side; None if its place on the image is not known."""
    result, flag = upright(result), upright_flag(flag, result)
    line = _line_of(result, flag)
    focus = focus_of(result, flag)
    if focus is None or result.image_size[0] < 1 or result.image_size[1] < 1:
        return None
    named = result.column_of(replace(flag, bbox=focus))
    column = named.box if named else focus
    if named and sum(part.number == flag.line for part in result.columns) > 1:
        line = [c for c in line if column.x <= c.box.centre[0] <= column.right]
    pitch = pitch_of(result, focus, column)
    area = _area(result, column, focus, pitch, around, margin)
    if area.w < 1 or area.h < 1:
        return None
    near = [c for c in line if area.y - pitch < c.box.centre[1] < area.bottom + pitch]
    text_area = Box(column.x, area.y, column.w, area.h)
    other = other_half(flag, result.flags)
    halves = (flag, other) if other else (flag,)
    characters = (
        *_placed(near, column, pitch, halves),
        *_wedged(result, line, column, pitch, halves),
        *_placeholders(flag, focus, column, pitch),
    )
    gaps = (_gap(line, column, pitch, part.bbox or focus, part) for part in halves if part.line == flag.line)
    gap = next((box for box in gaps if box), None)
    return View(area, text_area, focus, pitch, characters, gap)


def ordinal(result: PageResult, flag: Flag) -> int | None:
    """The number of the flagged character in its column, from 1, without spaces and markup; None if no character of the
    column is known."""
    offsets = [c.offset for c in result.characters if c.line == flag.line and not c.text.isspace()]
    return sum(offset < flag.offset for offset in offsets) + 1 if offsets else None


def focus_of(result: PageResult, flag: Flag) -> Box | None:
    """The box of the flagged characters, or of the character before them; None if neither is known."""
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
    """The distance from one character to the next: the median over the page, since the cells of the Siku are equally
    high in all columns; it is kept within limits by the width of the column, since boxes can be wrong."""
    steps = [
        below.box.centre[1] - above.box.centre[1]
        for above, below in pairwise(sorted(result.characters, key=lambda c: (c.line, c.offset)))
        if (above.line, above.row) == (below.line, below.row) and below.box.centre[1] > above.box.centre[1]
    ]
    pitch = median(steps) if steps else min(focus.h, DEFAULT_PITCH_WIDTHS * column.w)
    return max(min(max(pitch, MIN_PITCH * column.w), MAX_PITCH * column.w), 1.0)


def _area(result: PageResult, column: Box, focus: Box, pitch: float, around: int, margin: float) -> Box:
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
    """The characters of the column without a glyph, beside the places where they are inserted; several at one place one
    below the other."""
    with_glyph = {character.offset for character in line}
    wanted = {(flag.offset, flag.transcribed): flag for flag in (*result.flags, *halves) if flag.kind is Kind.INSERTION}
    lacking = [
        flag
        for flag in wanted.values()
        if flag.line == halves[0].line and flag.length and flag.offset not in with_glyph
    ]
    places: dict[int, list[Flag]] = {}
    for flag in sorted(lacking, key=lambda flag: flag.offset):
        places.setdefault(sum(character.offset < flag.offset for character in line), []).append(flag)
    for at, flags in places.items():
        sides = line[max(at - 1, 0) : at + 1]
        together = len(sides) == 2 and sides[0].row is sides[1].row
        row = sides[0].row if sides else Row.MAIN
        if together:
            y = (sides[0].box.centre[1] + sides[1].box.centre[1]) / 2
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
    """The placeholders that the text has for the flagged characters, one below the other."""
    if flag.evidence.reason != PLACEHOLDER:
        return
    row = _row_of(focus, column)
    signs = _characters(flag.transcribed)
    for number, sign in enumerate(signs):
        y = focus.y + (number + 0.5) * focus.h / len(signs)
        yield PlacedCharacter(sign, _across(row, column), y, _em(row, pitch, column), marked=True)


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
    """The empty place in the transcription beside the glyphs that it lacks; None if the flag is no omission."""
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
