"""Transcriptions that write notes without a slash between the half-rows: `(民周禮冡宰掌飲食司徒掌十二教)`.

On the page such a note has two half-rows; the right one is read first and is longer by one if the number is odd.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from proof.text.model import Cell, Column, Page, Row, Run

MAX_HALF_ROW_CELLS = 24
"""Cells of a half-row, at most (a Siku column has 21, a raised one a few more)."""


def notes_are_undivided(pages: Iterable[Page]) -> bool:
    """Whether no note is divided although some are too long for one half-row."""
    longest = 0
    for page in pages:
        for column in page.columns:
            for run in column.runs:
                if run.note and _is_divided(column, run):
                    return False
                longest = max(longest, len(run.right) if run.note else 0)
    return longest > MAX_HALF_ROW_CELLS


def _is_divided(column: Column, run: Run) -> bool:
    """Whether the note has a slash, even beside an empty half-row (`(焉/)`)."""
    if run.left or not run.right:
        return True
    end = run.right[-1].offset + run.right[-1].length
    return column.source.startswith(("/", "／"), end)


def divide_notes(pages: Sequence[Page]) -> tuple[Page, ...]:
    """The pages with every note divided in the middle."""
    return tuple(
        replace(page, cut=tuple(replace(c, parsed=tuple(map(_divided, c.runs))) for c in page.columns))
        for page in pages
    )


def _divided(run: Run) -> Run:
    if not run.note:
        return run
    middle = (len(run.right) + 1) // 2
    left: tuple[Cell, ...] = tuple(replace(cell, row=Row.LEFT) for cell in run.right[middle:])
    return Run(True, run.right[:middle], left)
