"""The page as transcribed: page, column, run, cell.

The source text is kept as it came. A cell knows the place of its character in the source column (and so
in the file): every correction is an edit at that place. Keys for comparison are made beside it, never
instead of it; nothing here is Unicode-normalised, since normalisation rewrites compatibility ideographs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from unicodedata import category

from proof.model.refs import Folio, ImageRef


class Row(StrEnum):
    """Where in a column a character stands: full width, or in one half-row of a double-row note."""

    MAIN = "main"
    RIGHT = "right"
    LEFT = "left"


class Script(StrEnum):
    TRADITIONAL = "traditional"
    SIMPLIFIED = "simplified"

    @property
    def tag(self) -> str:
        """The language tag of such a text: which forms of the characters a browser is to draw."""
        return "zh-Hans" if self is Script.SIMPLIFIED else "zh-Hant"


def script_shown(scripts: Iterable[str]) -> str:
    """The language tag of texts in these scripts: simplified where all are."""
    return (Script.SIMPLIFIED if set(scripts) == {Script.SIMPLIFIED} else Script.TRADITIONAL).tag


def is_han(text: str) -> bool:
    """Whether `text` is one Han ideograph, compatibility ideographs and 〇 included."""
    if len(text) != 1:
        return False
    code = ord(text)
    return 0x3400 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code <= 0x3FFFF or code == 0x3007


def _radical(text: str) -> bool:
    return len(text) == 1 and "\u2e80" <= text <= "\u2fdf"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the page as transcribed: a character, an entity, a lacuna or an indentation space.

    `offset` and `length` are code points in the column's source text; an entity (`&KR0058;`) or a
    bracketed composition is one cell of several code points.
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
        """Whether the page shows ink for this cell that a reader could name: a Han character, a radical that
        stands for one (⼤, as texts out of PDF have it), an entity, a composition or any other letter; not a
        space, not punctuation that the page does not print."""
        return self.han or self.length > 1 or self.text.isalnum() or category(self.text) == "Co" or _radical(self.text)


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of one column: `main` cells in full width, or a note of two half-rows.

    For a main run `left` is empty. For a note, `right` is read first, then `left`.
    """

    note: bool
    right: tuple[Cell, ...]
    left: tuple[Cell, ...] = ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells in reading order."""
        return self.right + self.left


@dataclass(frozen=True, slots=True)
class Column:
    """One ruled column (one line of the transcription). `number` counts from 1, right to left.

    `source` is the line without its ending and without a trailing pilcrow; `start` is the code point in
    the whole file where it begins; `file_line` counts lines of the file from 1. `parsed` are its runs, or what
    parses them out of `source` when they are asked for: a work has a hundred times more cells than columns.
    """

    number: int
    source: str
    start: int
    file_line: int
    parsed: tuple[Run, ...] | Callable[[str], tuple[Run, ...]]

    @property
    def runs(self) -> tuple[Run, ...]:
        return self.parsed if isinstance(self.parsed, tuple) else self.parsed(self.source)

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(cell for run in self.runs for cell in run.cells)


@dataclass(frozen=True, slots=True)
class Page:
    """One half-folio. `id` is the id of its page mark, or the image reference where the format has none.

    `cut` are its columns, or what cuts them out of the text of the file when they are asked for: of a work the columns
    take ten times the memory that its pages do. `starts` are the code points of the file at which a mark of the page
    stands: several where the page is continued later in the file, none where the page was laid on an image. `running`:
    the text is a slice of one without columns, which was laid on this page; its columns are then the lines of the file
    that stand here, numbered as in the file.
    """

    id: str
    folio: Folio | None
    ref: ImageRef | None
    juan: str
    file_line: int
    cut: tuple[Column, ...] | Callable[[], tuple[Column, ...]]
    running: bool = False
    starts: tuple[int, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.cut if isinstance(self.cut, tuple) else self.cut()

    def moved(self, by: int) -> Page:
        """The page where `by` code points more precede it in the file."""
        return replace(self, cut=partial(_moved, self, by), starts=tuple(start + by for start in self.starts))


def _moved(page: Page, by: int) -> tuple[Column, ...]:
    return tuple(replace(column, start=column.start + by) for column in page.columns)
