"""Removes the rules and the frame from the ink of a half-folio.

Only the lines' own ink is erased: a stroke beside a line stays whole, and where a stroke meets a line or crosses it,
the line's ink stays with the stroke.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.crossings import MIN_STROKE_AREA, Strokes, columns_of, restore
from proof.layout.lines import Line, erase, follow, splinters
from proof.layout.rules import Frame, Mask, PageInk, connected

MIN_RULE_PIECE_CELLS = 0.3
"""Minimum length of a piece of a rule, in cells."""

MIN_FRAME_PIECE_WIDTHS = 0.35
"""Minimum length of a piece of the frame, in widths of a column."""

MAX_DIRT_AREA = 0.02
"""Area below which isolated ink is dirt, as a share of a cell's area. 一 covers some 0.05."""

CORNER_CELLS = 0.12
"""Distance from the frame within which the frame's ink thickens a rule, in cells."""

OUTER_FRAME_CELLS = 0.45
"""Maximum distance of the outer frame and its pieces above the inner one, in cells."""

BESIDE_RULE_WIDTHS = 0.1
"""Distance from a raised column's rules within which the frame around it lies, as a share of the column's width."""

FRAME_MARGIN_CELLS = 0.33
"""Distance inside the frame within which ink is no glyph unless it continues farther inside, in cells."""


def without_lines(page: PageInk, frame: Frame, pitch: float) -> tuple[Mask, NDArray[np.int16]]:
    """The ink of a half-folio without its rules and its frame, and the number of each pixel's column (`columns_of`).
    `pitch` is the height of a cell."""
    clean = _without_outer_frame(page, frame, pitch)
    with_lines = clean.copy()
    frame_lines, upright_lines = _erase_lines(clean, frame, pitch)
    last = len(frame.rules) - 1
    sides, inner_rules = [upright_lines[0], *upright_lines[last:]], upright_lines[1:last]
    strokes = Strokes.of(clean, pitch)
    middle_x, middle_y = (frame.rules[0] + frame.rules[-1]) / 2, (frame.top + frame.bottom) / 2
    for line in frame_lines:
        restore(clean.T, with_lines.T, strokes.transposed, line, 1 if line.middle[0] < middle_y else -1, pitch)
    for line in sides:
        restore(clean, with_lines, strokes, line, 1 if line.middle[0] < middle_x else -1, pitch)
    for line in inner_rules:
        part = line.within(frame.top + CORNER_CELLS * pitch, frame.bottom - CORNER_CELLS * pitch)
        restore(clean, with_lines, strokes, part, 0, pitch)
    _restore_under_raised(clean, page.ink, frame, pitch)
    _erase_debris(clean, frame_lines, upright_lines, frame, pitch)
    _erase_specks(clean, frame, pitch)
    return clean, columns_of(clean, upright_lines[: last + 1], strokes.dotted, frame.column_width)


def _without_outer_frame(page: PageInk, frame: Frame, pitch: float) -> Mask:
    """The ink of a page without the long strokes of the outer frame: beyond the outermost rules, and above and below
    the frame, there with its upright parts around raised columns, which continue the rules."""
    ink = page.ink.copy()
    reach = max(3, round(0.06 * frame.column_width))
    left, right = max(0, round(frame.rules[0]) - reach), max(0, round(frame.rules[-1]) + reach + 1)
    top, bottom = max(0, round(frame.top - 0.05 * pitch)), min(len(ink), round(frame.bottom + 0.05 * pitch))
    brush = np.ones((3, max(3, reach // 2)), np.uint8)
    upright, level = np.asarray(cv2.dilate(page.upright, brush)) > 0, np.asarray(cv2.dilate(page.level, brush.T)) > 0
    for columns in (slice(0, left), slice(right, None)):
        ink[:, columns][(upright | level)[:, columns]] = 0
    for rows in (slice(0, top), slice(bottom, None)):
        ink[rows][level[rows]] = 0
        for x in frame.rules:
            columns = slice(max(0, round(x) - reach), round(x) + reach + 1)
            ink[rows, columns][upright[rows, columns]] = 0
    return ink


def _erase_lines(ink: Mask, frame: Frame, pitch: float) -> tuple[list[Line], list[Line]]:
    """Erase (in place) the level lines of the frame and the upright lines, and return both; the first of the upright
    lines are the rules, in their order."""
    left, right = frame.rules[0], frame.rules[-1]
    reach = max(3, round(0.06 * frame.column_width))
    level_reach, level_piece = max(4, round(0.16 * pitch)), MIN_FRAME_PIECE_WIDTHS * frame.column_width
    frame_lines: list[Line] = []
    upright_lines: list[Line] = []

    def erase_level() -> None:
        for line in follow(ink.T, (frame.top, frame.bottom), level_reach, level_piece, length_factor=1.0):
            frame_lines.append(line.within(left, right))
            erase(ink.T, frame_lines[-1])

    def erase_upright(places: Sequence[float], reach: int) -> None:
        for line in follow(ink, places, reach, MIN_RULE_PIECE_CELLS * pitch):
            upright_lines.append(line.within(frame.top, frame.bottom))
            erase(ink, upright_lines[-1])

    erase_level()
    erase_upright(frame.rules, reach)
    # frames are double: where one line was erased, the other is found
    erase_level()
    erase_upright((left, right), 2 * reach)
    return frame_lines, upright_lines


def _restore_under_raised(clean: Mask, ink: Mask, frame: Frame, pitch: float) -> None:
    """Restore (in place) the `ink` of the frame under strokes of raised characters, which are written over it where the
    frame was printed first. The frame's ink straight below such a stroke is taken for the stroke's."""
    labels, stats, _ = connected(clean)
    below = _raised_pieces(stats, frame, pitch)[labels]
    first, last = round(frame.top - OUTER_FRAME_CELLS * pitch), round(frame.top + FRAME_MARGIN_CELLS * pitch)
    for y in range(max(1, first), min(len(ink), last)):
        below[y] |= below[y - 1] & (ink[y] > 0)
        clean[y, below[y]] = ink[y, below[y]]


def _raised_pieces(stats: NDArray[np.int32], frame: Frame, pitch: float) -> NDArray[np.bool_]:
    """Which pieces of ink, with these extents and areas, can be strokes of raised characters: they begin above any
    piece of the outer frame, and lie between two rules."""
    x, y, width, height, area = (stats[:, i] for i in range(5))
    rules = np.asarray(frame.rules)
    column = np.searchsorted(rules, x + width / 2)
    margin = BESIDE_RULE_WIDTHS * frame.width / frame.column_count
    left, right = (rules[(column + step).clip(0, len(rules) - 1)] for step in (-1, 0))
    is_raised = (x > left + margin) & (x + width < right - margin) & (area >= MIN_STROKE_AREA * pitch * pitch)
    is_raised &= (y <= frame.top - OUTER_FRAME_CELLS * pitch) & (y + height > frame.top - 1.2 * pitch)
    is_raised[0] = False
    return np.asarray(is_raised, dtype=np.bool_)


def _erase_debris(
    ink: Mask,
    frame_lines: Sequence[Line],
    upright_lines: Sequence[Line],
    frame: Frame,
    pitch: float,
) -> None:
    """Erase (in place) the remains of broken lines: splinters, and ink at the frame's sides and below its lower
    edge."""
    width = frame.column_width
    labels, stats, _ = connected(ink)
    x, y, w, _, area = (stats[:, i] for i in range(5))
    drop = splinters(labels, area, frame_lines, upright_lines)
    # at the sides the frame is double, and no text is so near to it
    side = 0.06 * width
    drop |= (x + w <= frame.rules[0] + side) | (x >= frame.rules[-1] - side)
    drop |= y > frame.bottom - 0.12 * pitch
    drop[0] = False
    _erase_pieces(ink, np.flatnonzero(ink > 0), labels, drop)


def _erase_specks(ink: Mask, frame: Frame, pitch: float) -> None:
    """Erase (in place) isolated ink that is too little for a character, or lies at the frame where there is no cell.
    The dots of a glyph are near the rest of it and stay."""
    side = max(3, round(0.2 * pitch)) | 1
    groups, boxes, _ = connected(cv2.dilate(ink, np.ones((side, side), np.uint8)))
    inked = np.flatnonzero(ink > 0)
    area = np.bincount(groups.ravel()[inked], minlength=len(boxes))
    top = boxes[:, cv2.CC_STAT_TOP] + side // 2
    bottom = boxes[:, cv2.CC_STAT_TOP] + boxes[:, cv2.CC_STAT_HEIGHT] - side // 2
    drop = area < MAX_DIRT_AREA * pitch * pitch
    drop |= (bottom < frame.top + FRAME_MARGIN_CELLS * pitch) & (top > frame.top - OUTER_FRAME_CELLS * pitch)
    drop |= top > frame.bottom - FRAME_MARGIN_CELLS * pitch
    _erase_pieces(ink, inked, groups, drop)


def _erase_pieces(ink: Mask, inked: NDArray[np.intp], labels: NDArray[np.int32], drop: NDArray[np.bool_]) -> None:
    """Erase (in place) the pieces of ink whose labels `drop` selects. `inked` are the flat indices of all ink: most of
    a page is paper and need not be looked up."""
    ink.ravel()[inked[drop[labels.ravel()[inked]]]] = 0
