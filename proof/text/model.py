"""The page as transcribed: page, column, run, cell.

The source text is kept unchanged. A cell has the place of its character in the source column, and so in the file:
every correction is an edit at that place. Nothing is Unicode-normalised, since normalisation replaces compatibility
ideographs; keys for comparison are made separately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from unicodedata import category

from proof.model.refs import Folio, ImageRef


class Row(StrEnum):
    """The row of a character in its column: main text, or a half-row of a note."""

    MAIN = "main"
    RIGHT = "right"
    LEFT = "left"


class Script(StrEnum):
    TRADITIONAL = "traditional"
    SIMPLIFIED = "simplified"

    @property
    def tag(self) -> str:
        """The language tag of the script, by which browsers choose the forms of characters."""
        return "zh-Hans" if self is Script.SIMPLIFIED else "zh-Hant"


def script_shown(scripts: Iterable[str]) -> str:
    """The language tag of texts in these scripts: `zh-Hans` if all are simplified."""
    return (Script.SIMPLIFIED if set(scripts) == {Script.SIMPLIFIED} else Script.TRADITIONAL).tag


HAN = "[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3007]"
"""A pattern of the Han ideographs, as in `is_han`."""


def is_han(text: str) -> bool:
    """Whether `text` is one Han ideograph. Compatibility ideographs and 〇 are included."""
    if len(text) != 1:
        return False
    code = ord(text)
    return 0x3400 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code <= 0x3FFFF or code == 0x3007


def han_in(text: str) -> str:
    """The Han ideographs of a text."""
    return "".join(filter(is_han, text))


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the page as transcribed: a character, an entity, a lacuna or an indentation space.

    `offset` and `length` are code points in the column's source text. An entity (`&KR0058;`) or a bracketed composition
    is one cell of several code points.
    """

    text: str
    offset: int
    length: int
    row: Row

    @property
    def blank(self) -> bool:
        return self.text.isspace()

    @property
    def han(self) -> bool:
        return is_han(self.text)

    @property
    def glyph(self) -> bool:
        """Whether the page has a glyph for this cell: a Han character, a radical in place of one (⼤, in texts from
        PDF), an entity, a composition or any other letter. Spaces, and punctuation, which old pages do not print, have
        none."""
        if self.length > 1 or self.han or self.text.isalnum():
            return True
        return category(self.text) == "Co" or "\u2e80" <= self.text <= "\u2fdf"


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of one column: main text, or a note of two half-rows. The right half-row is read first. All main text
    is in `right`."""

    is_note: bool
    right: tuple[Cell, ...]
    left: tuple[Cell, ...] = ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells in reading order."""
        return self.right + self.left

    @property
    def height(self) -> int:
        """Its height in cells: that of the longer half-row."""
        return max(len(self.right), len(self.left))


@dataclass(frozen=True, slots=True)
class Column:
    """One ruled column (one line of the transcription). `number` counts from 1, right to left.

    `source` is the line without its ending and trailing pilcrow; `start` is its first code point in the file;
    `file_line` counts lines of the file from 1. `parsed` is its runs, or a function that parses them from `source` on
    demand, since a work has a hundred times more cells than columns. `begin` is the offset in `source` at which the
    column begins, where the text of other columns is before it in the line.
    """

    number: int
    source: str
    start: int
    file_line: int
    parsed: tuple[Run, ...] | Callable[[str], tuple[Run, ...]]
    begin: int = 0

    @property
    def runs(self) -> tuple[Run, ...]:
        return self.parsed if isinstance(self.parsed, tuple) else self.parsed(self.source)

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(cell for run in self.runs for cell in run.cells)

    @property
    def height(self) -> int:
        """Its height in cells: the sum of its runs."""
        return sum(run.height for run in self.runs)


@dataclass(frozen=True, slots=True)
class Page:
    """One half-folio. `id` is the id of its page mark, or the image reference if the format has none.

    `cut` is its columns, or a function that makes them from the text of the file on demand, since the columns of a work
    take ten times the memory of its pages. `starts` are the places of the page's marks in the file, in code points:
    several if the page continues later in the file, none if an image defines the page. `image` is the path of the image
    file that the text names for the page, empty if it names none. `running`: the page is a slice
    of a text without columns; its columns are the lines of the file on this page, numbered as in the file.
    `marks_notes`: the text marks notes, on this page or others: `(right/left)`. `joined`: whether the first and the
    last character of a running page directly follow and precede the text of the neighbouring images, from the last
    column of the one before to the first of the one after."""

    id: str
    folio: Folio | None
    ref: ImageRef | None
    juan: str
    file_line: int
    cut: tuple[Column, ...] | Callable[[], tuple[Column, ...]]
    running: bool = False
    starts: tuple[int, ...] = ()
    image: str = ""
    marks_notes: bool = False
    joined: tuple[bool, bool] = (False, False)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.cut if isinstance(self.cut, tuple) else self.cut()

    def moved(self, by: int) -> Page:
        """The page moved by `by` code points in the file."""
        return replace(self, cut=partial(_moved, self, by), starts=tuple(start + by for start in self.starts))


def _moved(page: Page, by: int) -> tuple[Column, ...]:
    return tuple(replace(column, start=column.start + by) for column in page.columns)
