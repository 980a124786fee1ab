"""Which line of the transcription stands in which column of the image.

Nearly always the first is in the first, and reading them so proves it. Where it does not, the columns are read without
the text and compared with every line (rapidfuzz). A column that is missing, doubled or in another place is one finding,
not a flag for every character.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz import fuzz, process

from proof.text.model import Column

SAME_PERCENT = 45.0
"""Similarity, in percent (Indel), from which on a column and a line can be the same text."""

DOUBLED_PERCENT = 70.0
"""Similarity, in percent, from which on a line that is left over repeats that of another column."""

LEFT_BETWEEN_PERCENT = 20.0
"""Similarity, in percent, that suffices for the only column and the only line left between two that are assigned:
notes read as main text show little of their line. Unrelated lines have some 5 percent in common."""


class LineFault(StrEnum):
    """The faults of a whole line."""

    MISSING = "column missing"
    DOUBLED = "column doubled"
    MOVED = "column moved"
    NOT_ON_PAGE = "column not on the page"
    UNDIVIDED = "columns in one line"


@dataclass(frozen=True, slots=True)
class LineTrouble:
    """A finding about a line. `line` is its number (of a missing one, the number it would have), `column` the column of
    the image from 0, None where there is none; `read` is the text of that column. For a line that moved, `before` is
    the number of the line before which it belongs; for one that has several columns, `offset` is where it is to be
    divided."""

    fault: LineFault
    line: int
    column: int | None
    read: str
    before: int = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Assignment:
    """The line of every column of the image (None: no line), and the troubles of whole lines. `parts`: the lines are
    parts of the lines of the text, or go over the ends of these."""

    lines: tuple[Column | None, ...]
    troubles: tuple[LineTrouble, ...]
    parts: bool = False


def line_key(line: Column, fold: Callable[[str], str]) -> str:
    """The characters of a line in reading order, folded. `fold` maps forms of one word and both scripts to one key."""
    return "".join(fold(cell.text) for cell in line.cells if cell.glyph)


def in_order(lines: Sequence[Column], columns: int) -> Assignment:
    """Assign the first line to the first column and so on; lines beyond the last column are not on the page."""
    assigned = tuple(lines[i] if i < len(lines) else None for i in range(columns))
    beyond = tuple(LineTrouble(LineFault.NOT_ON_PAGE, line.number, None, "") for line in lines[columns:] if line.cells)
    return Assignment(assigned, beyond)


def assign(lines: Sequence[Column], reads: Sequence[str], fold: Callable[[str], str]) -> Assignment:
    """Assign lines to columns by the readings of the columns.

    `reads` are the columns' readings, empty where a column has no ink; `fold` is that of `line_key`. The order is kept
    where no other fits better.
    """
    texts = [line_key(line, fold) for line in lines]
    shown = ["".join(fold(character) for character in read) for read in reads]
    likeness: list[list[float]] = [[] for _ in shown]
    if shown and texts:
        likeness = [[float(value) for value in row] for row in process.cdist(shown, texts, scorer=fuzz.ratio)]
    path = _monotone(likeness, shown, texts)
    by_place = {c: n for c, n in path.items() if likeness[c][n] < SAME_PERCENT}
    assigned: list[int | None] = [None if c in by_place else path.get(c) for c in range(len(shown))]
    used = {n for n in assigned if n is not None}
    troubles: list[LineTrouble] = []
    moved: list[int] = []
    # lines left over in this order may stand elsewhere: moved or swapped columns
    for c in range(len(shown)):
        if assigned[c] is None and shown[c]:
            free = [n for n in range(len(texts)) if n not in used and texts[n]]
            best = max(free, key=lambda n: likeness[c][n], default=None)
            if best is not None and likeness[c][best] >= SAME_PERCENT:
                assigned[c] = best
                used.add(best)
                moved.append(c)
    unused = {c: n for c, n in by_place.items() if n not in used}
    assigned = [unused.get(c) if n is None else n for c, n in enumerate(assigned)]
    used |= {n for n in assigned if n is not None}
    for c, n in _left_between(assigned, [bool(text) and n not in used for n, text in enumerate(texts)]):
        if likeness[c][n] >= LEFT_BETWEEN_PERCENT:
            assigned[c] = n
            used.add(n)
    in_place = [n if c not in moved else None for c, n in enumerate(assigned)]

    def following(c: int) -> int:
        return next((lines[n].number for n in in_place[c + 1 :] if n is not None), len(lines) + 1)

    for c in moved:
        number = lines[assigned[c] or 0].number
        troubles.append(LineTrouble(LineFault.MOVED, number, c, reads[c], following(c)))
    for n in range(len(texts)):
        if n in used or not texts[n]:
            continue
        twin = max(range(len(shown)), key=lambda c: likeness[c][n], default=None)
        doubled = twin is not None and likeness[twin][n] >= DOUBLED_PERCENT
        fault = LineFault.DOUBLED if doubled else LineFault.NOT_ON_PAGE
        troubles.append(LineTrouble(fault, lines[n].number, twin if doubled else None, ""))
    for c in range(len(shown)):
        if assigned[c] is None and len(shown[c]) > 1:
            troubles.append(LineTrouble(LineFault.MISSING, following(c), c, reads[c]))
    return Assignment(tuple(None if n is None else lines[n] for n in assigned), tuple(troubles))


def _left_between(assigned: Sequence[int | None], free: Sequence[bool]) -> list[tuple[int, int]]:
    """Pairs of a column without a line and the only unused line (`free`) between the lines of the columns beside it."""
    pairs = []
    for c, line in enumerate(assigned):
        before = assigned[c - 1] if c else -1
        after = assigned[c + 1] if c + 1 < len(assigned) else len(free)
        if line is None and before is not None and after is not None:
            unused = [n for n in range(before + 1, after) if free[n]]
            if len(unused) == 1:
                pairs.append((c, unused[0]))
    return pairs


def _monotone(likeness: Sequence[Sequence[float]], shown: Sequence[str], texts: Sequence[str]) -> dict[int, int]:
    """The assignment of lines to columns that keeps both orders and has the greatest sum of `_worth`, by column."""
    n, m = len(shown), len(texts)
    total = [[0.0] * (m + 1) for _ in range(n + 1)]
    for c in range(n):
        for k in range(m):
            worth = _worth(likeness[c][k], shown[c], texts[k], c == k)
            total[c + 1][k + 1] = max(total[c][k] + worth, total[c + 1][k], total[c][k + 1])
    path: dict[int, int] = {}
    c, k = n, m
    while c and k:
        worth = _worth(likeness[c - 1][k - 1], shown[c - 1], texts[k - 1], c == k)
        if worth > 0 and total[c][k] == total[c - 1][k - 1] + worth:
            c, k = c - 1, k - 1
            path[c] = k
        elif total[c][k] == total[c - 1][k]:
            c -= 1
        else:
            k -= 1
    return path


def _worth(likeness: float, shown: str, text: str, same_place: bool) -> float:
    """The worth, in characters, of assigning a line to a column; the same place is worth a little by itself."""
    if not shown or not text:
        # an empty line on its own column, or a line whose column could not be read
        return 0.3 if same_place else (0.1 if not shown and not text else 0.0)
    if likeness < SAME_PERCENT:
        return 0.2 if same_place else 0.0
    return likeness / 100 * max(len(shown), len(text)) + (1.0 if same_place else 0.0)
