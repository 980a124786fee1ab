"""Writing the pages of PAGE, ALTO and TEI with lines as columns in the notation of the Kanseki Repository."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proof.text.extraction import Draft
from proof.text.formats.xml_tree import Run, escaped
from proof.text.model import Row

UNSAFE = {"#": "＃", "*": "＊", "<": "＜", "¶": "", "\t": "\u3000", "\n": "", "\r": ""}
"""Characters that would be marks in that notation, each with its substitute."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page, as runs of text. `half`: which half-row of a note it is, None for main text. `copies` repeat
    the line elsewhere in the file: each has an entry for every character, the run that repeats it or None."""

    runs: tuple[Run, ...]
    half: Row | None = None
    copies: tuple[tuple[Run | None, ...], ...] = ()


def draft_of_columns(data: bytes) -> Draft:
    """An empty draft for columns from XML."""
    return Draft(data, escaped, UNSAFE)


def page_mark(draft: Draft, name: str) -> None:
    """Begin the page of this name."""
    safe = "".join("_" if char in "<>¶\n" else char for char in name)
    draft.mark(("" if draft.at_line_start else "¶\n") + f"<pb:{safe}>¶\n")


def write_page(draft: Draft, name: str, regions: Iterable[Iterable[Line]]) -> None:
    """Write a page: each line is a column, but the lines of a region that has half-rows are one column."""
    page_mark(draft, name)
    for region in regions:
        lines = list(region)
        if any(line.half for line in lines):
            _column_with_notes(draft, lines)
            continue
        for line in lines:
            _write(draft, line)
            draft.mark("¶\n")


def _column_with_notes(draft: Draft, lines: Sequence[Line]) -> None:
    """Write lines of main text and half-rows as one column; a note is `(right/left)`. A right half-row and a left one
    that follows it are one note; either may stand alone."""
    opened: Row | None = None  # the half-row written last, if its note is not closed
    for line in lines:
        if (opened and line.half is not Row.LEFT) or opened is Row.LEFT:
            draft.mark(")" if opened is Row.LEFT else "/)")
            opened = None
        if line.half is Row.LEFT:
            draft.mark("/" if opened else "(/")
        elif line.half is Row.RIGHT:
            draft.mark("(")
        opened = line.half
        _write(draft, line)
    draft.mark({Row.RIGHT: "/)", Row.LEFT: ")", None: ""}[opened] + "¶\n")


def _write(draft: Draft, line: Line) -> None:
    """Write the text of a line; each character has its places in the line and in its copies."""
    at = 0
    for run_of_line in line.runs:
        if not line.copies:
            draft.read(run_of_line.text, run_of_line.site, verbatim=run_of_line.verbatim)
            continue
        for character in run_of_line.characters():
            # a notation of several code points is corrected in the line alone
            copies = (copy[at] for copy in line.copies if len(character.text) == 1)
            runs = [character, *(copy for copy in copies if copy is not None)]
            draft.read(character.text, *(run.site for run in runs), verbatim=all(run.verbatim for run in runs))
            at += len(character.text)
