"""Writes pages of columns in the notation of the Kanseki Repository, for PAGE, ALTO and TEI with lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proof.text.extraction import Draft
from proof.text.formats.xml_tree import Run, escaped
from proof.text.model import Row

UNSAFE = {"#": "＃", "*": "＊", "<": "＜", "¶": "", "\t": "\u3000", "\n": "", "\r": ""}
"""Characters that would be marks among columns, each with its substitute."""


@dataclass(frozen=True, slots=True)
class Line:
    """The runs of a line of a page. `half`: which half-row of a note it is, None for main text. `copies` are
    repetitions of the line elsewhere in the file, each with one run for each character, None for a character that is
    not repeated."""

    runs: tuple[Run, ...]
    half: Row | None = None
    copies: tuple[tuple[Run | None, ...], ...] = ()


def draft_of_columns(data: bytes) -> Draft:
    """An empty draft for columns from XML."""
    return Draft(data, escaped, UNSAFE)


def page_mark(draft: Draft, name: str) -> None:
    """Begin a page."""
    safe = "".join("_" if char in "<>¶\n" else char for char in name)
    draft.mark(("" if draft.at_line_start else "¶\n") + f"<pb:{safe}>¶\n")


def write_page(draft: Draft, name: str, regions: Iterable[Iterable[Line]]) -> None:
    """Write a page: each line is a column, but all lines of a region with half-rows are one column."""
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
    opened: Row | None = None
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
    at = 0
    for run in line.runs:
        if not line.copies:
            draft.read(run.text, run.site, verbatim=run.verbatim)
            continue
        for character in run.characters():
            copies = (copy[at] for copy in line.copies if len(character.text) == 1)
            same = [character, *(copy for copy in copies if copy is not None)]
            draft.read(character.text, *(copy.site for copy in same), verbatim=all(copy.verbatim for copy in same))
            at += len(character.text)
