"""Where main text gives way to a note, and where it goes on: the image decides, counting helps where it says little."""

from __future__ import annotations

import numpy as np
import pytest

from proof.layout.runs import ColumnStretch, CutBy, InkPieces, find_runs, runs_of_ink
from tests.verify.pages import line

PITCH, ROW = 34.0, 22
"""Pixels: a cell of main text, and a row of a note in small script."""


def drawn(parts: list[tuple[int, int, float]], below: int) -> tuple[np.ndarray, np.ndarray]:
    """What rows of pixels say of main text and notes, and the ink: of so many rows of characters, each so many pixels
    high with a gap below it, the same of each, and blank paper `below`."""
    gain, ink = [], []
    for count, height, says in parts:
        gap = height // 5
        for _ in range(count):
            gain += [says] * height
            ink += [[255, 0] * 20] * (height - gap) + [[0, 0] * 20] * gap
    gain += [0.0] * below
    ink += [[0, 0] * 20] * below
    return np.array(gain), np.array(ink, np.uint8)


@pytest.mark.parametrize("cut_by", [CutBy.BEST, CutBy.COUNTED])
@pytest.mark.parametrize("below", [0, 140])
def test_a_row_of_a_note_whose_middle_is_not_clear_is_counted(below: int, cut_by: CutBy) -> None:
    """魏 and 用 in small bold script touch: so 衰於辰(故魏/臘用)辰晉金行金衰於丑故晉臘用丑 was drawn, with what its
    rows of pixels say. What main text leaves of the column says how high a row of the note is."""
    gain, ink = drawn([(3, 34, 1.0), (1, ROW, -0.35), (1, ROW, 0.15), (13, 34, 1.0)], below)
    runs = find_runs(gain, ink, line("衰於辰(故魏/臘用)辰晉金行金衰於丑故晉臘用丑"), PITCH, cut_by, low_notes=True)
    assert [run.is_note for run in runs] == [False, True, False]
    assert [runs[1].top, runs[1].bottom] == pytest.approx([3 * 34, 3 * 34 + 2 * ROW], abs=6)


def test_an_indent_that_is_not_transcribed_is_no_part_of_the_first_run() -> None:
    """The last glyph of main text is clear in its middle, as 如 is."""
    blank = round(2.6 * PITCH)
    gain, ink = drawn([(6, 34, 1.0), (1, 34, -0.4), (4, ROW, -1.0), (3, 34, 1.0)], 0)
    indent = np.zeros((blank, ink.shape[1]), np.uint8)
    column = line("冕其侍祠服亦如(祀天禮酒/齊正配位)太尊實")
    runs = find_runs(
        np.concatenate([np.zeros(blank), gain]), np.vstack([indent, ink]), column, PITCH, CutBy.BEST, low_notes=True
    )
    assert runs[1].top == pytest.approx(blank + 7 * 34, abs=8)


@pytest.mark.parametrize("indent", [0, 2])
def test_a_line_that_begins_with_spaces_begins_with_the_ink_of_its_note(indent: int) -> None:
    """Also where the column on the image begins there, below the indent."""
    gain, ink = drawn([(1, ROW, -1.0), (4, 34, 1.0), (2, ROW, -1.0), (3, 34, 1.0)], 0)
    blank = 6 + round(indent * PITCH)
    gain, ink = np.pad(gain, (blank, 0)), np.pad(ink, ((blank, 0), (0, 0)))
    runs = find_runs(gain, ink, line("　　(六/八)今元正冬(九三/三)至及朝"), PITCH, CutBy.BEST, low_notes=True)
    first, second = (run for run in runs if run.is_note)
    assert first.top <= blank
    edges = (blank + ROW, blank + ROW + 4 * 34, blank + ROW + 4 * 34 + 2 * ROW)
    assert (first.bottom, second.top, second.bottom) == pytest.approx(edges, abs=8)


def framed(ink: np.ndarray, left: int, top: int, width: int, height: int) -> None:
    """Draw 日 on the ink of a column."""
    ink[top : top + height, left : left + width] = 255
    for half in (4, height // 2 + 2):
        ink[top + half : top + half + height // 2 - 6, left + 4 : left + width - 4] = 0


def note(ink: np.ndarray, top: int, right: int, left: int) -> None:
    """Draw a note of so many glyphs in its right half-row and its left one."""
    for half, count in ((56, right), (8, left)):
        for number in range(count):
            framed(ink, half, top + 55 * number, 36, 36)


def test_what_a_stain_joins_is_cut_where_a_note_begins() -> None:
    """Two rows of a note and the glyph above them, joined into one piece of ink."""
    ink = np.zeros((300, 100), np.uint8)
    framed(ink, 15, 10, 70, 45)
    note(ink, 65, 4, 4)
    ink[30:250, 40:60] = 255
    runs = runs_of_ink([ColumnStretch(False, 0, 60), ColumnStretch(True, 60, 300)], InkPieces.of(ink), 55.0)
    assert set(runs[:60][ink[:60] > 0].tolist()) == {0}
    assert set(runs[60:][ink[60:] > 0].tolist()) == {1}
