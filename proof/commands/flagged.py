"""Prints flagged places on a terminal: the text beside the image, and the reason on the line below.

Widths are cells of the terminal; a Han character takes two. The characters in question are in brackets, so that they
are recognised without colours too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import click

from proof.commands.cells import cell_len, start_of, terminal_width, wrapped
from proof.locale.marking import _
from proof.locale.terminal import say
from proof.model.flags import WITHOUT_IMAGE, Kind
from proof.report.places import SuspiciousPlace

HEAD = (_("page"), _("col"), _("text"), _("image"), _("kind"), _("score"))
INSTEAD = _("instead")
"""The heading of the suggested readings if no place has an image."""
GAP_SPACES = 2
MIN_WIDTH_CELLS = 12
"""Minimum width of the text, and of the reading of the image."""
MAX_WIDTH_CELLS = 48
"""Maximum width of the text, and of the reading of the image: that of a column of the Siku quanshu."""
MIN_CONTEXT_CELLS = 6
"""Width reserved for the brackets and a character on either side of them; the characters in question are cut to it."""
TEXT_COLOUR = "red"
IMAGE_COLOUR = "green"


@dataclass(frozen=True, slots=True)
class Widths:
    """The width of each part of a line, in cells of the terminal; `reading` is that of the text and of the image."""

    page: int
    column: int
    reading: int
    kind: int
    score: int

    @classmethod
    def of(cls, places: Sequence[SuspiciousPlace], line: int) -> Widths:
        """The widths that the places need; text and image share the rest of the `line` cells."""
        head_page, head_column, _text, _image, head_kind, head_score = (cell_len(say(word)) for word in HEAD)
        page = max(head_page, *(cell_len(place.flag.page) for place in places))
        column = max(head_column, *(len(str(place.flag.line)) for place in places))
        kind = max(head_kind, *(cell_len(place.kind) for place in places))
        score = max(head_score, *(len(_score(place)) for place in places))
        remaining = line - page - column - kind - score - 5 * GAP_SPACES
        reading = max(MIN_WIDTH_CELLS, min(remaining // 2, MAX_WIDTH_CELLS))
        return cls(page, column, reading, kind, score)


def print_places(places: Sequence[SuspiciousPlace]) -> None:
    """Print each place on a line, with its reason below, as wide as the terminal."""
    for line in lines(places, terminal_width()):
        click.echo(line)


def lines(places: Sequence[SuspiciousPlace], width: int) -> Iterator[str]:
    """The coloured lines of the table, the headings first, in `width` cells if these are enough."""
    if not places:
        return
    widths = Widths.of(places, width)
    indent = " " * (widths.page + GAP_SPACES)
    are_without_image = all(place.flag.evidence.reason in WITHOUT_IMAGE for place in places)
    page, column, text, image, kind, score = HEAD
    head = (page, column, text, INSTEAD if are_without_image else image, kind, score)
    yield _line([_dim(say(word)) for word in head], widths)
    for place in places:
        flag = place.flag
        column_number = str(flag.line) if flag.line else ""
        readings = _readings(place, widths.reading)
        yield _line([_plain(flag.page), column_number, *readings, place.kind, _score(place)], widths)
        for line in wrapped(_plain(place.why), max(width - len(indent), MIN_WIDTH_CELLS)):
            yield indent + _dim(line)


def _dim(text: str) -> str:
    return click.style(text, dim=True)


def _readings(place: SuspiciousPlace, width: int) -> tuple[str, str]:
    """The readings of text and image, in brackets within their context; a whole column has no context."""
    flag = place.flag
    if flag.kind is Kind.LAYOUT:
        return _cut(flag.transcribed, width), _cut(flag.suggested, width)
    return (
        _in_context(place, flag.transcribed, TEXT_COLOUR, width),
        _in_context(place, flag.suggested, IMAGE_COLOUR, width),
    )


def _in_context(place: SuspiciousPlace, marked: str, colour: str, width: int) -> str:
    """The `marked` reading of a place with as much context as fits into `width` cells, half before and half after."""
    max_marked = width - MIN_CONTEXT_CELLS
    longer_reading = min(max(cell_len(place.flag.transcribed), cell_len(place.flag.suggested)), max_marked)
    marked = _cut(marked, max_marked)
    padding = "\u3000" * ((longer_reading - cell_len(marked)) // 2)  # aligns the context after both readings
    marked = f"[{marked}{padding}]"
    side_width = max(width - cell_len(marked), 0) // 2
    before = start_of(_plain(place.before)[::-1], side_width)[::-1]
    return before + click.style(marked, colour, bold=True) + start_of(_plain(place.after), side_width)


def _cut(text: str, width: int) -> str:
    text = _plain(text)
    return text if cell_len(text) <= width else start_of(text, width - 1) + "…"


def _line(parts: Sequence[str], widths: Widths) -> str:
    """A line of these parts, each padded to its width; numbers are aligned to the right."""
    page, column, text, image, kind, score = parts
    cells = (
        _padded(page, widths.page),
        _padded(column, widths.column, right=True),
        _padded(text, widths.reading),
        _padded(image, widths.reading),
        _padded(kind, widths.kind),
        _padded(score, widths.score, right=True),
    )
    return (" " * GAP_SPACES).join(cells)


def _padded(text: str, width: int, *, right: bool = False) -> str:
    space = " " * max(width - cell_len(click.unstyle(text)), 0)
    return space + text if right else text + space


def _score(place: SuspiciousPlace) -> str:
    return f"{place.flag.score:.1f}"


def _plain(text: str) -> str:
    """The text, with U+FFFD for every control character, which would move the cursor or break the line."""
    return "".join(letter if letter.isprintable() or letter == "\u3000" else "\ufffd" for letter in text)
