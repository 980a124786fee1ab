"""Pages drawn with labels: for every pixel what stands there, to teach and to test the segmentation of pages.

Drawn at the size at which a page is segmented and not at that of a scan, so that a page takes some hundredths of a
second. What varies is what varies between editions: leaves, registers, columns, rules, frames, notes, headings, fold
strips, figures, tables, seals. `proof.facsimile.photographed` then makes of a page the picture of one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from proof.facsimile.glyph_pool import EDGE_PX, EM_PX, GlyphPool
from proof.images.opencv import cv2
from proof.layout.labels import Label

Pixels = NDArray[np.uint8]


CORE_SHARE = 0.22
"""Of a glyph's width: how wide the core of a column is."""

INSET_PX = 2
"""By how much the core begins below the top of its first glyph, and ends above the foot of its last one."""

NARROWEST_PITCH_PX = 8.5


@dataclass(slots=True)
class Canvas:
    """A page while it is drawn: `ink` (255 full) and `labels`, height x width, and the glyphs of its print."""

    ink: Pixels
    labels: Pixels
    glyphs: Pixels
    rng: np.random.Generator
    sized: dict[tuple[int, int], Pixels] = field(default_factory=dict)

    @property
    def height(self) -> int:
        return int(self.ink.shape[0])

    @property
    def width(self) -> int:
        return int(self.ink.shape[1])

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def between(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def glyph(self, x: float, y: float, wide: float, high: float, strength: float = 1.0) -> None:
        """A glyph at random whose em square has its middle at x, y."""
        size = max(3, round(wide * (1 + 2 * EDGE_PX / EM_PX))), max(3, round(high * (1 + 2 * EDGE_PX / EM_PX)))
        if size not in self.sized:
            own = self.glyphs[self.rng.integers(0, len(self.glyphs), 40)]
            self.sized[size] = np.stack([cv2.resize(one, size, interpolation=cv2.INTER_AREA) for one in own])
        left, top = round(x - size[0] / 2), round(y - size[1] / 2)
        if left < 0 or top < 0 or left + size[0] > self.width or top + size[1] > self.height:
            return
        own = self.sized[size][int(self.rng.integers(40))]
        if strength < 1:
            own = (own * strength).astype(np.uint8)
        place = self.ink[top : top + size[1], left : left + size[0]]
        np.maximum(place, own, out=place)

    def mark(self, label: Label, left: float, top: float, right: float, bottom: float) -> None:
        rows = slice(max(0, round(top)), max(0, round(bottom)))
        self.labels[rows, max(0, round(left)) : max(0, round(right))] |= int(label)

    def line(
        self, a: tuple[float, float], b: tuple[float, float], thick: int, strength: float, printed: float = 1.0
    ) -> None:
        """A line of which a share is printed, in pieces; labelled as far as it is printed."""
        length = float(np.hypot(b[0] - a[0], b[1] - a[1]))
        if length < 1:
            return
        at = 0.0
        while at < length:
            piece = length if printed >= 1 else self.between(10, 150)
            end = min(length, at + piece)
            p, q = ([u + (v - u) * t / length for u, v in zip(a, b, strict=True)] for t in (at, end))
            start, stop = (tuple(round(16 * v) for v in point) for point in (p, q))
            cv2.line(self.ink, start, stop, (255 * strength,), thick, cv2.LINE_AA, 4)
            box = min(p[0], q[0]) - thick / 2, min(p[1], q[1]) - thick / 2
            if abs(b[0] - a[0]) < 2 or abs(b[1] - a[1]) < 2:
                self.mark(Label.LINE, *box, max(p[0], q[0]) + thick / 2 + 1, max(p[1], q[1]) + thick / 2 + 1)
            at = end + (0 if printed >= 1 else piece * (1 - printed) / max(printed, 0.1) * self.between(0.3, 1.7))


@dataclass(frozen=True, slots=True)
class Setting:
    """How the columns of a register are set: lengths in pixels, the rest as shares."""

    pitch: float
    cell: float
    wide: float
    high: float
    indent: int
    notes: float
    whole_notes: float
    spaced: float
    short: float
    blank: float
    points: float
    side_marks: float
    black: float
    raised: float


def setting(canvas: Canvas, pitch: float, ruled: bool) -> Setting:
    """A setting at random for columns so far apart."""
    rng = canvas.rng
    wide = pitch * canvas.between(0.55, 0.9 if ruled else 0.95)
    if canvas.chance(0.15):
        wide = pitch * canvas.between(0.38, 0.6)
    high = wide * canvas.between(0.8, 1.15)
    noted = canvas.chance(0.45)
    return Setting(
        pitch, high * float(rng.choice([1.0, 1.05, 1.15, 1.3, 1.6, 2.0], p=[0.3, 0.25, 0.2, 0.13, 0.08, 0.04])), wide,
        high,
        indent=int(rng.choice([0, 0, 0, 1, 2])),
        notes=canvas.between(0.02, 0.15) if noted else 0.0,
        whole_notes=canvas.between(0.1, 1.0) if canvas.chance(0.12) else 0.0,
        spaced=float(rng.choice([0.0, 0.0, 0.1, 0.5])),
        short=float(rng.choice([0.05, 0.15, 0.4, 0.9])),
        blank=float(rng.choice([0.0, 0.03, 0.1, 0.3, 0.85], p=[0.3, 0.25, 0.22, 0.17, 0.06])),
        points=canvas.between(0.1, 0.9) if canvas.chance(0.15) else 0.0,
        side_marks=canvas.between(0.05, 0.4) if canvas.chance(0.1) else 0.0,
        black=0.05 if canvas.chance(0.08) else 0.0,
        raised=0.2 if canvas.chance(0.2) else 0.0,
    )  # fmt: skip


def column(canvas: Canvas, how: Setting, x: float, top: float, bottom: float) -> None:
    """One column of text with its notes, its gaps and its indent."""
    if canvas.chance(0.05):
        how = replace(how, cell=0.75 * how.cell, wide=0.75 * how.wide, high=0.75 * how.high)
    rows = int((bottom - top) / how.cell)
    if rows < 1 or canvas.chance(how.blank):
        return
    first = how.indent if canvas.chance(0.7) else int(canvas.rng.choice([0, 1, 2, 4]))
    first = min(first, rows - 1) if rows > 3 else 0
    if canvas.chance(how.raised):
        first = -int(canvas.rng.integers(1, 3))
    last = rows if not canvas.chance(how.short) else int(canvas.rng.integers(max(first, 0) + 1, rows + 1))
    whole, gap = canvas.chance(how.whole_notes), rows // 2 if canvas.chance(how.spaced) else -1
    row, start, end, reach = first, -1.0, -1.0, how.wide
    while row < last:
        y = top + (row + 0.5) * how.cell
        if row == gap and row > first:
            row += int(canvas.rng.integers(1, 3))
            continue
        if whole or (row > first and canvas.chance(how.notes)):
            length = last - row if whole else min(int(canvas.rng.integers(1, 10)), last - row)
            _note(canvas, how, x, y - how.cell / 2, length)
            begin, stop, row = y - how.cell / 2, y - how.cell / 2 + length * how.cell, row + length
            reach = max(reach, 0.92 * how.pitch)
        else:
            canvas.glyph(x + canvas.between(-0.02, 0.02) * how.pitch, y, how.wide, how.high)
            begin, stop, row = y - how.high / 2, y + how.high / 2, row + 1
            _beside(canvas, how, x, y)
        start, end = (begin if start < 0 else start), stop
    if start < 0 or (end - start) < 3:
        return
    half = max(1.0, CORE_SHARE * how.wide / 2)
    inset = min(INSET_PX, 0.2 * (end - start))
    canvas.mark(Label.CORE, x - half, start + inset, x + half, end - inset)
    canvas.mark(Label.TEXT, x - reach / 2, start, x + reach / 2, end)


def _note(canvas: Canvas, how: Setting, x: float, top: float, cells: int) -> None:
    """A note of so many cells in two half-rows."""
    wide = min(0.5 * how.pitch, 0.62 * how.wide)
    step = how.cell * float(canvas.rng.choice([0.55, 0.62, 0.8, 1.0]))
    count = max(1, int(cells * how.cell / step))
    side = max(0.25 * how.pitch * canvas.between(0.85, 1.05), 0.52 * wide)
    fewer = int(canvas.rng.integers(0, 3)) if count > 2 else 0
    for offset, own in ((side, count), (-side, count - fewer)):
        for k in range(own):
            canvas.glyph(x + offset, top + (k + 0.5) * step, wide, min(step, 1.1 * wide))
    canvas.mark(Label.NOTE, x - side - wide / 2, top, x + side + wide / 2, top + cells * how.cell)


def _beside(canvas: Canvas, how: Setting, x: float, y: float) -> None:
    """Points, readings, side lines beside a character; a character in white on black."""
    side = x + min(0.5 * how.pitch - 1, 0.58 * how.wide)
    if canvas.chance(how.points):
        radius = max(1, round(0.08 * how.wide))
        cv2.circle(canvas.ink, (round(side), round(y + 0.35 * how.cell)), radius, (230,), -1, cv2.LINE_AA)
    if canvas.chance(how.side_marks):
        canvas.glyph(side, y, 0.3 * how.wide, 0.3 * how.wide)
    if canvas.chance(how.black):
        part = canvas.ink[
            round(y - how.high / 2) : round(y + how.high / 2), round(x - how.wide / 2) : round(x + how.wide / 2)
        ]
        part[:] = 255 - part


def script(
    canvas: Canvas, x: float, y: float, size: float, count: int, label: Label = Label.OTHER, level: bool = False
) -> None:
    """A row of glyphs that is no column of text, downwards or to the right from its first one's middle."""
    step = size * canvas.between(1.02, 1.4)
    for k in range(count):
        canvas.glyph(x + k * step * level, y + k * step * (not level), size, size)
    low = (count - 1) * step
    canvas.mark(label, x - size / 2, y - size / 2, x + size / 2 + low * level, y + size / 2 + low * (not level))


def blank_page(pool: GlyphPool, rng: np.random.Generator, height: int, width: int) -> Canvas:
    return Canvas(np.zeros((height, width), np.uint8), np.zeros((height, width), np.uint8), pool.of_page(rng), rng)
