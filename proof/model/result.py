"""The result of checking a page, as the store keeps it and reports show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from proof.model.flags import Flag
from proof.model.geometry import Box
from proof.model.notices import Notice
from proof.text.model import Row


class Status(StrEnum):
    """Status of a page in `summary.json`, where the reason follows `FAILED`."""

    CHECKED = "checked"
    NO_IMAGE = "no image"
    MISMATCH = "image mismatch"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CheckedColumn:
    """A column of the image, with its number in the transcription. `source` is the column in the transcription, with
    markup and spaces; offsets of characters and flags are code points in it."""

    number: int
    box: Box
    source: str = ""


@dataclass(frozen=True, slots=True)
class CheckedCharacter:
    """A transcribed character with its place in the source and on the image.

    `p_text` is its posterior. `read` is the reading of the engine, empty if it read nothing.
    """

    line: int
    offset: int
    length: int
    row: Row
    text: str
    box: Box
    read: str
    p_text: float | None
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class PageResult:
    """The result of checking a page.

    - `image`: None if no image was found; `image_box`: the part of the file that is the page, such as a quadrant;
    - `skew`: angle of the page in degrees, with the quarter turns by which the image is turned
      (`proof.report.upright`);
    - `message`: why the page was not checked, or which page its image shows instead;
    - `notices`: remarks about the page other than flags.
    """

    page: str
    ref: str
    status: Status
    message: Notice | None = None
    image: Path | None = None
    image_sha: str = ""
    image_size: tuple[int, int] = (0, 0)
    image_box: Box | None = None
    skew: float = 0.0
    characters_checked: int = 0
    columns: tuple[CheckedColumn, ...] = ()
    characters: tuple[CheckedCharacter, ...] = ()
    flags: tuple[Flag, ...] = ()
    notices: tuple[Notice, ...] = ()
    seconds: float = 0.0

    @property
    def shown(self) -> bool:
        """Whether the page has an image of known size, on which boxes can be shown."""
        return self.image is not None and min(self.image_size) > 0

    def column_of(self, flag: Flag) -> CheckedColumn | None:
        """The column of a flag: of several columns with its number (a line of a running edition), the one nearest to
        it."""
        columns = [column for column in self.columns if column.number == flag.line]
        if len(columns) > 1 and flag.bbox is not None:
            x = flag.bbox.centre[0]
            return min(columns, key=lambda column: abs(column.box.centre[0] - x))
        return columns[0] if columns else None


def box_at(characters: Iterable[CheckedCharacter], line: int, offset: int, length: int) -> Box | None:
    """The box around the characters at a place of a column; if there are none, the box of the character before the
    place, or else of the first one of the column. None if the column has no characters."""
    of_line = sorted((glyph for glyph in characters if glyph.line == line), key=lambda glyph: glyph.offset)
    if not of_line:
        return None
    at_place = [glyph.box for glyph in of_line if offset <= glyph.offset < offset + length]
    if at_place:
        return Box.around(at_place)
    before = [glyph.box for glyph in of_line if glyph.offset < offset]
    return before[-1] if before else of_line[0].box
