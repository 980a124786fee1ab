"""Transcriptions that write notes without a slash between the half-rows: `(民周禮冡宰掌飲食司徒掌十二教)`.

On the page such a note has two half-rows. The right one, which is read first, is longer by one if the number is odd.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from proof.text.model import Column, Page, Row, Run

MAX_HALF_ROW_CELLS = 24
"""Maximum number of cells of a half-row (a Siku column has 21, a raised one a few more)."""


def notes_are_undivided(pages: Iterable[Page]) -> bool:
    """Whether no note is divided, although some are too long for one half-row."""
    longest = 0
    for page in pages:
        for column in page.columns:
            for run in column.runs:
                if run.is_note and _is_divided(column, run):
                    return False
                longest = max(longest, len(run.right) if run.is_note else 0)
    return longest > MAX_HALF_ROW_CELLS


def _is_divided(column: Column, run: Run) -> bool:
    """Whether the note has a slash, even beside an empty half-row (`(焉/)`)."""
    if run.left or not run.right:
        return True
    end = run.right[-1].offset + run.right[-1].length
    return column.source.startswith(("/", "／"), end)


def divide_notes(pages: Sequence[Page]) -> tuple[Page, ...]:
    """The pages with every note divided in the middle."""
    return tuple(replace(page, cut=tuple(map(_with_divided_notes, page.columns))) for page in pages)


def _with_divided_notes(column: Column) -> Column:
    return replace(column, parsed=tuple(_divided(run) if run.is_note else run for run in column.runs))


def _divided(note: Run) -> Run:
    middle = (len(note.right) + 1) // 2
    left = tuple(replace(cell, row=Row.LEFT) for cell in note.right[middle:])
    return Run(True, note.right[:middle], left)
