"""Pages without rules, with some or with all, drawn with the true box of every column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from proof.facsimile.brush import Hand, write_glyph
from proof.facsimile.render import fonts_for
from proof.layout.half_folio import ColumnArea
from proof.layout.page import FoundColumn
from proof.layout.rules import Rectification
from proof.model.geometry import Box
from proof.text.model import Page

TEXT = (
    "大射之禮侯道九十弓參七十干五十設乏各去其侯西十北十司馬命量人量侯道與所設乏以狸步巾車張三侯大侯之崇見鵠"
    "宰夫戒宰及司馬射人宿視滌小臣師納諸公卿大夫諸公卿入門右主人受爵賓以虛爵降主人降賓洗南西面坐奠觚少進辭降"
)


@dataclass(frozen=True, slots=True)
class Layout:
    """A page to be drawn: `columns` of `cells` characters in each of `registers`, of `leaves` side by side.

    `pitch` is how far columns stand apart and `glyph` how wide a character is, in pixels. `rules`: which share of the
    columns has a rule beside it. `notes`: which share of a column's middle third is set in double rows.
    `lean` in degrees. `short`: every how manieth column holds `few` characters alone, `empty`: which share of the
    columns holds none. `gutter` is how far leaves stand apart, in pitches. `title` stands beside the frame in small
    script, `fold` between the leaves. `marks`: the frame leaves room at its left, with an ornament in its corner and
    marks in small script.
    """

    columns: int = 9
    cells: int = 17
    registers: int = 1
    leaves: int = 1
    gutter: float = 1.8
    pitch: float = 60
    glyph: float = 44
    frame: bool = True
    rules: float = 0.0
    notes: float = 0.0
    lean: float = 0.0
    short: int = 0
    few: int = 3
    empty: float = 0.0
    title: bool = False
    fold: bool = False
    marks: bool = False
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Drawn:
    """A page (grey, 0 black) and the boxes of its columns in reading order."""

    pixels: NDArray[np.uint8]
    columns: list[Box] = field(default_factory=list)


def draw(layout: Layout) -> Drawn:
    """Draw a page."""
    rng = np.random.default_rng(layout.seed)
    cell = layout.glyph * 1.12
    wide, high = layout.columns * layout.pitch, layout.cells * cell
    margin, gutter = 110, layout.gutter * layout.pitch
    width = round(2 * margin + layout.leaves * wide + (layout.leaves - 1) * gutter)
    height = round(2 * margin + layout.registers * (high + 24))
    canvas = np.zeros((height, width), np.uint8)
    boxes = []
    letters = iter(rng.permutation(list(TEXT * 60)).tolist())
    for leaf in range(layout.leaves):
        right = width - margin - leaf * (wide + gutter)
        if layout.frame:
            left = right - wide - (0.85 * layout.pitch if layout.marks else 0)
            _frame(canvas, left, margin - 8, right, height - margin, layout, high)
            if layout.marks:
                _ornament(canvas, left, margin - 8, 0.55 * layout.pitch)
                for row in (8, 9, 20):
                    y = margin + row * 0.4 * layout.glyph
                    _glyph(canvas, next(letters), left + 0.55 * layout.pitch, y, 0.36 * layout.glyph, rng)
        for register in range(layout.registers):
            top = margin + register * (high + 24) + 4
            for column in range(layout.columns):
                x = right - (column + 0.5) * layout.pitch
                if rng.random() < layout.rules:
                    cv2.line(canvas, (round(x - layout.pitch / 2), round(top - 8)),
                             (round(x - layout.pitch / 2), round(top + high)), (255,), 2)  # fmt: skip
                if layout.empty and rng.random() < layout.empty:
                    continue
                count = layout.few if layout.short and column % layout.short == layout.short - 1 else layout.cells
                for row in range(count):
                    y = top + (row + 0.5) * cell
                    noted = layout.notes and abs(row / layout.cells - 0.5) < layout.notes / 2
                    _cell(canvas, letters, x, y, layout, bool(noted), rng)
                # of a single character no more is sure to have ink than the middle of its cell
                boxes.append(Box(x - layout.pitch / 2, top + (0.25 * cell if count == 1 else 0.0), layout.pitch,
                                 0.5 * cell if count == 1 else count * cell))  # fmt: skip
        _titles(canvas, letters, layout, (leaf, right - wide, margin, gutter), rng)
    page = np.asarray(255 - canvas, dtype=np.uint8)
    if layout.lean:
        turn = cv2.getRotationMatrix2D((width / 2, height / 2), layout.lean, 1.0)
        page = np.asarray(cv2.warpAffine(page, turn, (width, height), borderValue=(255,)), dtype=np.uint8)
        boxes = [_turned(box, np.asarray(turn)) for box in boxes]
    return Drawn(page, boxes)


def written(
    page: Page, glyph: float = 36, pitch: float = 54, cells: tuple[float, float] = (40, 40)
) -> NDArray[np.uint8]:
    """The columns of a text without rules, their notes in small script; the height of a cell goes from one to the other
    of `cells` down the page, as where it is seen at an angle."""
    rng, small = np.random.default_rng(1), 0.56 * glyph
    rows = max(column.height for column in page.columns)
    canvas = np.zeros((round(160 + rows * max(cells)), round(160 + len(page.columns) * pitch)), np.uint8)
    for number, column in enumerate(page.columns):
        x, y = canvas.shape[1] - 80 - (number + 0.5) * pitch, 80.0
        for run in column.runs:
            cell = cells[0] + (cells[1] - cells[0]) * (y - 80) / (rows * max(cells))
            for half, side in ((run.right, 0.28), (run.left, -0.28)) if run.is_note else ((run.right, 0.0),):
                for row, text in enumerate(half):
                    step, size = (1.12 * small, small) if run.is_note else (cell, glyph)
                    if not text.blank:
                        _glyph(canvas, text.text, x + side * glyph, y + (row + 0.5) * step, size, rng)
            y += max(len(run.right), len(run.left)) * (1.12 * small if run.is_note else cell)
    return np.asarray(255 - canvas, dtype=np.uint8)


def _titles(
    canvas: NDArray[np.uint8],
    letters: Iterator[str],
    layout: Layout,
    place: tuple[int, float, float, float],
    rng: np.random.Generator,
) -> None:
    """What stands to the left of a leaf (its number, its left side, the margin, the gutter) and is no text."""
    leaf, left, margin, gutter = place
    if layout.fold and not leaf:
        for row in range(10):
            _glyph(canvas, next(letters), left - gutter / 2, margin + 150 + row * 38, 30, rng)
    if layout.title and leaf == layout.leaves - 1:
        for row in range(8):
            _glyph(canvas, next(letters), left - 0.5 * layout.pitch, margin + 200 + row * 22, 18, rng)


def _turned(box: Box, turn: NDArray[np.float64]) -> Box:
    corners = np.array([[box.x, box.y], [box.right, box.y], [box.right, box.bottom], [box.x, box.bottom]])
    places = corners @ turn[:, :2].T + turn[:, 2]
    (x0, y0), (x1, y1) = places.min(axis=0), places.max(axis=0)
    return Box(float(x0), float(y0), float(x1 - x0), float(y1 - y0))


def _frame(
    canvas: NDArray[np.uint8], left: float, top: float, right: float, bottom: float, layout: Layout, high: float
) -> None:
    cv2.rectangle(canvas, (round(left), round(top)), (round(right), round(bottom)), (255,), 4)
    for register in range(1, layout.registers):
        y = round(top + register * (high + 24) - 6)
        cv2.line(canvas, (round(left), y), (round(right), y), (255,), 2)


def _ornament(canvas: NDArray[np.uint8], left: float, top: float, size: float) -> None:
    """Leaves in the upper left corner of a frame."""
    x, y, half = round(left), round(top), round(size / 2)
    for at in ((x + half, y), (x, y + half), (x + half // 2, y + half // 2)):
        cv2.ellipse(canvas, at, (half, half // 2), 45, 0, 360, (255,), 3)


def _cell(
    canvas: NDArray[np.uint8],
    letters: Iterator[str],
    x: float,
    y: float,
    layout: Layout,
    note: bool,
    rng: np.random.Generator,
) -> None:
    if not note:
        _glyph(canvas, next(letters), x, y, layout.glyph, rng)
        return
    for side in (-0.24, 0.24):
        _glyph(canvas, next(letters), x + side * layout.pitch, y, 0.44 * layout.pitch, rng)


def _glyph(canvas: NDArray[np.uint8], letter: str, x: float, y: float, size: float, rng: np.random.Generator) -> None:
    shape = fonts_for(()).field(letter)
    assert shape is not None, "the fonts here hold common characters"
    write_glyph(canvas, shape, (x, y), (size, size), Hand(), rng)


class Columns(Protocol):
    """A layout that was found, of whatever kind."""

    @property
    def columns(self) -> Sequence[ColumnArea | FoundColumn]: ...

    @property
    def rectification(self) -> Rectification: ...


def boxes_of(found: Columns) -> list[Box]:
    """Where the columns that were found lie on the image."""
    to_file = found.rectification.file_box
    return [to_file(column.left, column.top, column.right, column.bottom) for column in found.columns]


def right(found: list[Box], true: Box) -> bool:
    """Whether exactly one found column holds the middle of a true one, most of its height and no more than it."""
    mine = [box for box in found if box.contains(*true.centre)]
    return (
        len(mine) == 1
        and mine[0].w < 1.6 * true.w
        and min(mine[0].bottom, true.bottom) - max(mine[0].y, true.y) > 0.88 * true.h
    )


def assert_found(found: Columns, true: list[Box]) -> None:
    """All these columns were found, in reading order, and no others."""
    boxes = boxes_of(found)
    assert [number for number, box_of_glyph in enumerate(true) if not right(boxes, box_of_glyph)] == []
    assert len(boxes) == len(true)
    assert all(box.contains(*glyph.centre) for box, glyph in zip(boxes, true, strict=True))
