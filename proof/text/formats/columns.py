"""Writing pages with lines (PAGE, ALTO, TEI) as columns in the notation of the Kanseki Repository."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from proof.text.extraction import COLUMN_END, Draft, SourceRun
from proof.text.model import Row

UNSAFE = {"#": "＃", "*": "＊", "<": "＜", "¶": "", "\t": "\u3000", "\n": "", "\r": ""}
"""Characters that would be marks in that notation, with their substitutes."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page. `half` is its half-row of a note, None for main text. Each of the `copies` has, for every
    code point of the line, the run that repeats it elsewhere in the file, or None."""

    runs: tuple[SourceRun, ...]
    half: Row | None = None
    copies: tuple[tuple[SourceRun | None, ...], ...] = ()


def page_name(image: str, path: Path) -> str:
    """The name of a page: that of its image file without the suffix, or that of the file at `path`."""
    return Path(image.replace("\\", "/")).stem or path.stem


def page_mark(draft: Draft, name: str, image: str = "") -> None:
    """Begin the page `name`; `image` is the image file that the text names for it, empty if none."""
    safe = "".join("_" if char in "<>¶\n" else char for char in name)
    draft.mark("" if draft.at_line_start else COLUMN_END)
    if image:
        draft.image(image)
    draft.mark(f"<pb:{safe}>¶\n")


def write_page(draft: Draft, name: str, regions: Iterable[Iterable[Line]]) -> None:
    """Write a page. Each line is a column, but all lines of a region with half-rows are one column."""
    page_mark(draft, name)
    for region in regions:
        lines = list(region)
        if any(line.half for line in lines):
            _column_with_notes(draft, lines)
            continue
        for line in lines:
            _write(draft, line)
            draft.mark(COLUMN_END)


_NOTE_ENDS = {Row.RIGHT: "/)", Row.LEFT: ")", None: ""}
"""The end of a note after its last half-row."""


def _column_with_notes(draft: Draft, lines: Sequence[Line]) -> None:
    """Write lines of main text and half-rows as one column. A right half-row and the left one after it are one note,
    `(right/left)`; a note may have only one of them."""
    last: Row | None = None
    for line in lines:
        continues_note = last is Row.RIGHT and line.half is Row.LEFT
        if not continues_note:
            draft.mark(_NOTE_ENDS[last])
        if line.half is Row.LEFT:
            draft.mark("/" if continues_note else "(/")
        elif line.half is Row.RIGHT:
            draft.mark("(")
        _write(draft, line)
        last = line.half
    draft.mark(_NOTE_ENDS[last] + COLUMN_END)


def _write(draft: Draft, line: Line) -> None:
    """Write the text of a line. The sites of each character are those in the line and in its copies."""
    at = 0
    for line_run in line.runs:
        if not line.copies:
            draft.add(line_run)
            continue
        for character in line_run.characters():
            # an entity, which has several code points, is corrected only in the line
            copies = [copy[at] for copy in line.copies] if len(character.text) == 1 else []
            draft.add(character, *(copy for copy in copies if copy is not None))
            at += len(character.text)
