"""What checking one page gives; what the store keeps and the reports show."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from proof.model.flags import Flag
from proof.model.geometry import Box
from proof.model.notices import Notice
from proof.text.model import Row


class Status(StrEnum):
    """A page's status in `summary.json`; `FAILED` is followed there by why."""

    CHECKED = "checked"
    NO_IMAGE = "no image"
    MISMATCH = "image mismatch"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CheckedColumn:
    """A column found on the image, with the transcription's number and its box.

    `source` is the column as the transcription has it, markup and spaces included: what the offsets of
    its characters and flags count in.
    """

    number: int
    box: Box
    source: str = ""


@dataclass(frozen=True, slots=True)
class CheckedCharacter:
    """One transcribed character with its place in the source and on the image.

    `p_text` is the posterior of what is transcribed, `read` what the engine read there (empty: nothing).
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
    """Everything that checking one page gave. `image` is None where no image was found.

    `image_box` is the part of the file that is the page (a quadrant of a plate), `skew` its angle in
    degrees, with the quarters by which the image lies turned (`proof.report.upright`), `message` why it was
    not checked or what its image carries instead, `notices` remarks about the page that are no flags (layout
    fallback, doubt).
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

    def column_of(self, flag: Flag) -> CheckedColumn | None:
        """The column that a flag is about; of several that carry its line, as those of a running edition do, the
        one in which its place lies."""
        named = [column for column in self.columns if column.number == flag.line]
        if len(named) > 1 and flag.bbox is not None:
            x = flag.bbox.centre[0]
            return min(named, key=lambda column: abs(column.box.centre[0] - x))
        return named[0] if named else None
