"""Notes whose two half-rows the transcription runs together, without a slash between them.

Some editions write every note so: `(民周禮冡宰掌飲食司徒掌十二教)`. The page still has it in double rows, the right
one read first and, where the number is odd, longer by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from proof.text.model import Cell, Column, Page, Row, Run

LONGEST_HALF_ROW = 24
"""Cells that no half-row exceeds (a Siku column has 21, raised ones a few more)."""


def notes_are_undivided(pages: Iterable[Page]) -> bool:
    """Whether the transcription never divides a note, some being too long for one half-row."""
    longest = 0
    for page in pages:
        for column in page.columns:
            for run in column.runs:
                if run.note and _is_divided(column, run):
                    return False
                longest = max(longest, len(run.right) if run.note else 0)
    return longest > LONGEST_HALF_ROW


def _is_divided(column: Column, run: Run) -> bool:
    """Whether the note has a slash, be it with an empty half-row on one side (`(焉/)`)."""
    if run.left or not run.right:
        return True
    end = run.right[-1].offset + run.right[-1].length
    return column.source.startswith(("/", "／"), end)


def divide_notes(pages: Sequence[Page]) -> tuple[Page, ...]:
    """The pages with every note cut in the middle."""
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
