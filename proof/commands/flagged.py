"""Flagged places as lines of a terminal: the text and the image side by side, why on a line below.

A Han character takes two cells of a terminal. What is in question stands in brackets, so that it is seen
without colours too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from proof.locale.marking import _
from proof.locale.terminal import say
from proof.model.flags import Kind
from proof.report.places import SuspiciousPlace

HEAD = (_("page"), _("col"), _("text"), _("image"), _("kind"), _("score"))
GAP = 2
MIN_WIDTH_CELLS = 12
"""Of the terminal, for the text and for what the image shows."""
MAX_WIDTH_CELLS = 48
"""Holds a column of the Siku."""
TEXT_STYLE = "bold red"
IMAGE_STYLE = "bold green"
QUIET_STYLE = "dim"


@dataclass(frozen=True, slots=True)
class Widths:
    """Cells of each part of a line."""

    page: int
    column: int
    reading: int
    kind: int
    score: int

    @classmethod
    def of(cls, places: Sequence[SuspiciousPlace], line: int) -> Widths:
        """What the parts need, and for text and image what is left of `line` cells."""
        head_page, head_column, _text, _image, head_kind, head_score = (cell_len(say(word)) for word in HEAD)
        page = max(head_page, *(cell_len(place.flag.page) for place in places))
        column = max(head_column, *(len(str(place.flag.line)) for place in places))
        kind = max(head_kind, *(cell_len(place.kind) for place in places))
        score = max(head_score, *(len(_score(place)) for place in places))
        left = line - page - column - kind - score - 5 * GAP
        return cls(page, column, max(MIN_WIDTH_CELLS, min(left // 2, MAX_WIDTH_CELLS)), kind, score)


def print_places(console: Console, places: Sequence[SuspiciousPlace]) -> None:
    """Print the places, a line and a line of explanation each."""
    if not places:
        return
    for line in lines(places, console):
        console.print(line, soft_wrap=True)


def lines(places: Sequence[SuspiciousPlace], console: Console) -> Iterator[Text]:
    """The lines of the table, its head first, as wide as the console where they can do with so much."""
    widths = Widths.of(places, console.width)
    indent = " " * (widths.page + GAP)
    head = [Text(say(word), QUIET_STYLE) for word in HEAD]
    yield _line(head, widths)
    for place in places:
        flag = place.flag
        where = [Text(_plain(flag.page)), Text(str(flag.line) if flag.line else "")]
        yield _line([*where, *_readings(place, widths.reading), Text(place.kind), Text(_score(place))], widths)
        why = Text(_plain(place.why), QUIET_STYLE)
        for line in why.wrap(console, max(console.width - len(indent), MIN_WIDTH_CELLS)):
            yield Text.assemble(indent, line)


def _readings(place: SuspiciousPlace, width: int) -> tuple[Text, Text]:
    """What stands in the text and on the image; of a column as a whole there is nothing to set in brackets."""
    flag = place.flag
    if flag.kind is Kind.LAYOUT:
        return _cut(flag.transcribed, width), _cut(flag.suggested, width)
    return (
        _in_context(place, flag.transcribed, TEXT_STYLE, width),
        _in_context(place, flag.suggested, IMAGE_STYLE, width),
    )


def _in_context(place: SuspiciousPlace, marked: str, style: str, width: int) -> Text:
    """The place with as much around it as `width` cells hold, the same before and after."""
    most = max(cell_len(place.flag.transcribed), cell_len(place.flag.suggested))
    space = "\u3000" * ((most - cell_len(marked)) // 2)  # so that what follows stands side by side
    marked = f"[{_plain(marked)}{space}]"
    side = max(width - cell_len(marked), 0) // 2
    before, after = _plain(place.before), _plain(place.after)
    return Text.assemble(_end(before, side), (marked, style), _start(after, side))


def _start(text: str, cells: int) -> str:
    """The beginning of a text that fits into so many cells."""
    used = 0
    for count, character in enumerate(text):
        used += cell_len(character)
        if used > cells:
            return text[:count]
    return text


def _end(text: str, cells: int) -> str:
    return _start(text[::-1], cells)[::-1]


def _cut(text: str, width: int) -> Text:
    text = _plain(text)
    return Text(text if cell_len(text) <= width else _start(text, width - 1) + "…")


def _line(parts: Sequence[Text], widths: Widths) -> Text:
    """The parts of a line, each as wide as its column; numbers stand to the right."""
    page, column, text, image, kind, score = parts
    gap = " " * GAP
    cells = (
        _padded(page, widths.page),
        _padded(column, widths.column, right=True),
        _padded(text, widths.reading),
        _padded(image, widths.reading),
        _padded(kind, widths.kind),
        _padded(score, widths.score, right=True),
    )
    return Text(gap).join(cells)


def _padded(text: Text, width: int, *, right: bool = False) -> Text:
    space = " " * max(width - text.cell_len, 0)
    return Text.assemble(space, text) if right else Text.assemble(text, space)


def _score(place: SuspiciousPlace) -> str:
    return f"{place.flag.score:.1f}"


def _plain(text: str) -> str:
    """Text without what would move a terminal's cursor or break the line."""
    return "".join(letter if letter.isprintable() or letter == "\u3000" else "\ufffd" for letter in text)
