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
    """A column of the image, with its number in the transcription.

    `source` is the column in the transcription, with markup and spaces. The offsets of characters and flags count its
    code points.
    """

    number: int
    box: Box
    source: str = ""


@dataclass(frozen=True, slots=True)
class CheckedCharacter:
    """A transcribed character with its place in the source and on the image.

    `p_text` is its posterior. `read` is what the engine read there, empty for nothing.
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
    - `message`: why the page was not checked, or what its image carries instead;
    - `notices`: remarks about the page that are no flags.
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
        """Whether the page has an image whose size is known, so that something can be placed on it."""
        return self.image is not None and min(self.image_size) > 0

    def column_of(self, flag: Flag) -> CheckedColumn | None:
        """The column that a flag is about. A line of a running edition takes several columns: the one nearest to
        the flag."""
        columns = [column for column in self.columns if column.number == flag.line]
        if len(columns) > 1 and flag.bbox is not None:
            x = flag.bbox.centre[0]
            return min(columns, key=lambda column: abs(column.box.centre[0] - x))
        return columns[0] if columns else None


def box_at(characters: Iterable[CheckedCharacter], line: int, offset: int, length: int) -> Box | None:
    """Where the characters at a place of a column stand on the image; where the place has none, the one before it, or
    else the first of the column. None where nothing of the column is known."""
    of_line = sorted((glyph for glyph in characters if glyph.line == line), key=lambda glyph: glyph.offset)
    boxes = [glyph.box for glyph in of_line if offset <= glyph.offset < offset + length]
    boxes = (
        boxes or [glyph.box for glyph in of_line if glyph.offset < offset][-1:] or [glyph.box for glyph in of_line[:1]]
    )
    return Box.around(boxes) if boxes else None
