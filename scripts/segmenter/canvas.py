"""What pages are drawn on: ink with labels, glyphs, lines, columns with notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from proof.layout.labels import Label
from scripts.segmenter.glyphs import EDGE_PX, EM_PX, GlyphPool

Pixels = NDArray[np.uint8]
Block = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels."""

CORE_SHARE = 0.22
"""Of a glyph's width: how wide the core of a column is."""

INSET_PX = 2
"""By how much the core begins below the top of its first glyph, and ends above the foot of its last one."""

NARROWEST_PITCH_PX = 8.0

BETWEEN_PX = 3
"""So much is left between the labels of neighbouring columns: a pixel of the label map, which is half as large."""

CLOSEST = 0.21
"""Of the pitch: no further from the middle of its column stands a half-row that no rule parts from the next column."""

VARIANTS = 40
"""So many glyphs are kept in each size."""


SHARP = 1.3
"""Glyphs that are enlarged by more have their edges sharpened."""


@dataclass(slots=True)
class Canvas:
    """A page while it is drawn: `ink` (255 full) and `labels`, height x width, and the glyphs of its print.

    `jitter` is by how much of its width a glyph stands beside its place, `wander` by how many pixels a column bows.
    """

    ink: Pixels
    labels: Pixels
    glyphs: Pixels
    pool: GlyphPool
    rng: np.random.Generator
    jitter: float = 0.02
    uneven: float = 0.04
    wander: float = 0.0
    sized: dict[tuple[int, int], Pixels] = field(default_factory=dict)

    @classmethod
    def blank(cls, pool: GlyphPool, rng: np.random.Generator, height: int, width: int) -> Canvas:
        return cls(
            np.zeros((height, width), np.uint8), np.zeros((height, width), np.uint8), pool.of_page(rng), pool, rng
        )

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

    def other_hand(self) -> Canvas:
        """The same page written on in another hand."""
        return Canvas(self.ink, self.labels, self.pool.of_page(self.rng), self.pool, self.rng, 0.05, 0.1)

    def glyph(self, x: float, y: float, wide: float, high: float, strength: float = 1.0) -> None:
        """A glyph at random whose em square has its middle at x, y."""
        grow = (1 + 2 * EDGE_PX / EM_PX) * (1 + self.uneven * (float(self.rng.random()) - 0.6))
        size = max(3, round(wide * grow)), max(3, round(high * grow))
        if size not in self.sized:
            own = self.glyphs[self.rng.integers(0, len(self.glyphs), VARIANTS)]
            how = cv2.INTER_AREA if size[0] < EM_PX else cv2.INTER_LINEAR
            own = np.stack([cv2.resize(layer, size, interpolation=how) for layer in own])
            if size[0] > SHARP * EM_PX:
                own = np.clip((own.astype(np.int16) - 127) * (size[0] // EM_PX + 1) + 127, 0, 255).astype(np.uint8)
            self.sized[size] = own
        shift = self.jitter * wide
        left = round(x - size[0] / 2 + shift * (2 * float(self.rng.random()) - 1))
        top = round(y - size[1] / 2 + shift * (2 * float(self.rng.random()) - 1))
        own = self.sized[size][int(self.rng.random() * VARIANTS)]
        if strength < 1:
            own = (own * strength).astype(np.uint8)
        self.paste(own, left, top)

    def paste(self, own: Pixels, left: int, top: int) -> None:
        """Ink of its own at a place, as far as it lies on the page."""
        high, wide = own.shape
        if left < 0 or top < 0 or left + wide > self.width or top + high > self.height:
            own = own[max(0, -top) : max(0, self.height - top), max(0, -left) : max(0, self.width - left)]
            left, top = max(0, left), max(0, top)
            high, wide = own.shape
            if not high or not wide:
                return
        place = self.ink[top : top + high, left : left + wide]
        np.maximum(place, own, out=place)

    def mark(self, label: Label, left: float, top: float, right: float, bottom: float) -> None:
        rows = slice(max(0, round(top)), max(0, round(bottom)))
        self.labels[rows, max(0, round(left)) : max(0, round(right))] |= np.uint8(label)

    def line(
        self, a: tuple[float, float], b: tuple[float, float], thick: float, strength: float, printed: float = 1.0
    ) -> None:
        """A nearly upright or level line of which a share is printed, in pieces that waver a little; labelled as far as
        it is printed."""
        length = float(np.hypot(b[0] - a[0], b[1] - a[1]))
        if length < 1:
            return
        at, waver = 0.0, self.between(0, 0.7)
        upright = abs(b[1] - a[1]) > abs(b[0] - a[0])
        while at < length:
            piece = length if printed >= 1 else self.between(6, 160)
            end = min(length, at + piece)
            p, q = ([u + (v - u) * t / length for u, v in zip(a, b, strict=True)] for t in (at, end))
            off = waver * (float(self.rng.random()) - 0.5)
            p[0 if upright else 1] += off
            q[0 if upright else 1] += off + (waver * (float(self.rng.random()) - 0.5))
            start, stop = (tuple(round(16 * v) for v in point) for point in (p, q))
            wide = max(1, int(thick + float(self.rng.random())))
            tone = min(1.0, thick) * strength
            cv2.line(self.ink, start, stop, (255 * tone * self.between(0.85, 1.0),), wide, cv2.LINE_AA, 4)
            half = max(0.5, thick / 2)
            self.mark(
                Label.LINE, min(p[0], q[0]) - half, min(p[1], q[1]) - half,
                max(p[0], q[0]) + half + 0.5, max(p[1], q[1]) + half + 0.5,
            )  # fmt: skip
            at = end + (0 if printed >= 1 else piece * (1 - printed) / max(printed, 0.1) * self.between(0.3, 1.7))


@dataclass(frozen=True, slots=True)
class Setting:
    """How the columns of a register are set: lengths in pixels, the rest as shares of columns or of characters.

    `note` is the width of a half-row's glyph and `apart` how far its middle stands from the column's, in glyph widths.
    """

    pitch: float
    cell: float
    wide: float
    high: float
    note: float
    apart: float
    note_step: float
    indent: int = 0
    notes: float = 0.0
    whole_notes: float = 0.0
    spaced: float = 0.0
    short: float = 0.1
    blank: float = 0.0
    points: float = 0.0
    side_marks: float = 0.0
    side_lines: float = 0.0
    black: float = 0.0
    boxed: float = 0.0
    raised: float = 0.0
    ragged: float = 0.0
    level: tuple[float, float] = (1.0, 1.0)
    """From where to where notes stand in all columns, as shares of the column's height."""


def setting(canvas: Canvas, pitch: float, ruled: bool, well_ruled: bool) -> Setting:
    """A setting at random for columns so far apart.

    Where they are not `well_ruled` the half-rows of a note stand nearer to each other than to the next column's, since
    nothing else tells them from columns.
    """
    rng = canvas.rng
    wide = pitch * canvas.between(0.58, 0.92 if ruled else 0.97)
    if canvas.chance(0.15):
        wide = pitch * canvas.between(0.36, 0.6)
    high = wide * canvas.between(0.75, 1.2)
    cell = high * float(rng.choice([0.98, 1.05, 1.15, 1.3, 1.6, 2.1], p=[0.25, 0.27, 0.23, 0.13, 0.08, 0.04]))
    noted = rng.random()
    note = canvas.between(0.4, 0.64)
    note = min(note, 0.5 * pitch / wide)
    widest = 0.5 * (pitch / wide - note) - 0.01
    if not well_ruled:
        note, widest = min(note, 1.9 * CLOSEST * pitch / wide), min(widest, CLOSEST * pitch / wide)
    apart = min(canvas.between(0.47, 0.62) * note * float(rng.choice([1.0, 1.0, 1.12])), max(widest, 0.45 * note))
    return Setting(
        pitch, cell, wide, high, note, apart,
        note_step=note * wide * canvas.between(0.85, 1.5) / cell,
        indent=int(rng.choice([0, 0, 0, 1, 2, 3])),
        notes=0.0 if noted < 0.5 else canvas.between(0.01, 0.25),
        whole_notes=float(rng.choice([0.1, 0.4, 0.8, 1.0])) * canvas.between(0.7, 1) if noted > 0.8 else 0.0,
        spaced=float(rng.choice([0.0, 0.0, 0.1, 0.5, 0.9])),
        short=float(rng.choice([0.03, 0.15, 0.4, 0.95])),
        blank=float(rng.choice([0.0, 0.03, 0.1, 0.3, 0.85], p=[0.3, 0.25, 0.22, 0.15, 0.08])),
        points=canvas.between(0.1, 0.9) if canvas.chance(0.15) else 0.0,
        side_marks=canvas.between(0.05, 0.6) if canvas.chance(0.1) else 0.0,
        side_lines=canvas.between(0.02, 0.3) if canvas.chance(0.06) else 0.0,
        black=canvas.between(0.01, 0.08) if canvas.chance(0.08) else 0.0,
        boxed=canvas.between(0.01, 0.05) if canvas.chance(0.06) else 0.0,
        raised=canvas.between(0.05, 0.4) if canvas.chance(0.2) else 0.0,
        ragged=canvas.between(0, 0.3) if canvas.chance(0.2) else 0.0,
    )  # fmt: skip


def paired(canvas: Canvas, how: Setting) -> Setting:
    """The setting of a page with two columns of small script, equally far apart, between each two rules: each pair is a
    note that is as high as the column."""
    pitch = how.pitch / how.wide
    note = canvas.between(0.3, 0.46) * pitch
    step = max(note * how.wide * canvas.between(0.95, 1.4), 0.9 * note * how.wide)
    return replace(how, note=note, apart=canvas.between(0.235, 0.255) * pitch, note_step=step / how.cell,
                   whole_notes=canvas.between(0.6, 1.0), raised=0.0)  # fmt: skip


class _Column:
    """A column while it is drawn: where its middle is at each height, and what of it is to be labelled."""

    def __init__(self, canvas: Canvas, x: float, top: float, bottom: float) -> None:
        self.x, self.top, self.length = x, top, max(bottom - top, 1.0)
        self.lean = canvas.wander * canvas.between(-1, 1)
        self.bow = canvas.wander * canvas.between(-1, 1)
        self.parts: list[tuple[float, float, float]] = []

    def middle(self, y: float) -> float:
        share = (y - self.top) / self.length
        return self.x + self.lean * (share - 0.5) + self.bow * (4 * share * (1 - share) - 0.5)

    def add(self, start: float, end: float, reach: float) -> None:
        self.parts.append((start, end, reach))


def column(canvas: Canvas, how: Setting, x: float, top: float, bottom: float, plain: bool = False) -> bool:
    """One column of text with its notes, its gaps and its indent; whether anything was drawn.

    `plain` is a column that is not left empty.
    """
    if not plain and canvas.chance(how.blank):
        return False
    share = float(canvas.rng.random())
    if share < 0.07:
        smaller = canvas.between(0.55, 0.85)
        how = replace(how, cell=smaller * how.cell, wide=smaller * how.wide, high=smaller * how.high)
    elif share < 0.12:
        how = replace(how, cell=canvas.between(1.2, 2.5) * how.cell)
    rows = int((bottom - top) / how.cell)
    if rows < 1:
        return False
    first = how.indent if canvas.chance(0.7) else int(canvas.rng.choice([0, 1, 2, 4, 8]))
    first = min(first, rows - 1) if rows > 3 else 0
    if canvas.chance(how.raised):
        first = -int(canvas.rng.integers(1, 3))
    last = rows if not canvas.chance(how.short) else int(canvas.rng.integers(max(first, 0) + 1, rows + 1))
    whole, gap = canvas.chance(how.whole_notes), rows // 2 if canvas.chance(how.spaced) else -1
    if gap >= 0 and canvas.chance(0.4):
        gap = int(canvas.rng.integers(first + 1, max(first + 2, last)))
    own = _Column(canvas, x, top, bottom)
    shift = canvas.between(-0.5, 0.5) * how.ragged * how.cell
    row = float(first)
    while row < last:
        y = top + row * how.cell + shift
        if gap >= 0 and row >= gap:
            gap = -1
            if row > first:
                row += int(canvas.rng.integers(1, 3 if canvas.chance(0.6) else 9))
                continue
        place = (y - top) / max(bottom - top, 1.0)
        if how.level[0] <= place < how.level[1]:
            cells = min(max((how.level[1] - place) * (bottom - top) / how.cell, 1.0), last - row)
        elif whole or (how.notes and canvas.chance(how.notes if row > first else how.notes / 3)):
            most = last - row
            cells = (
                most if whole else min(canvas.between(0.5, 3) if canvas.chance(0.5) else canvas.between(1, 12), most)
            )
        else:
            _character(canvas, how, own, y)
            row += 1
            continue
        length = _note(canvas, how, own, y, cells)
        own.add(y, y + length, max(how.wide, 2 * (how.apart + how.note / 2) * how.wide))
        row += max(length / how.cell, 0.5)
    return _labelled(canvas, how, own)


def _character(canvas: Canvas, how: Setting, own: _Column, top: float) -> None:
    """A character of main text, with what stands beside it."""
    middle = own.middle(top)
    canvas.glyph(middle, top + how.cell / 2, how.wide, how.high)
    own.add(top + (how.cell - how.high) / 2, top + (how.cell + how.high) / 2, how.wide)
    if how.points or how.side_marks or how.black or how.boxed or how.side_lines:
        _beside(canvas, how, middle, top + how.cell / 2)


def _labelled(canvas: Canvas, how: Setting, own: _Column) -> bool:
    """Mark the column's core and extent: one strip from its first to its last character."""
    if not own.parts or own.parts[-1][1] - own.parts[0][0] < 3:
        return False
    half = max(1.0, CORE_SHARE * how.wide / 2)
    start, end = own.parts[0][0], own.parts[-1][1]
    reach = min(max(part[2] for part in own.parts), max(how.pitch - BETWEEN_PX, 0.5 * how.pitch))
    inset = min(INSET_PX, 0.2 * (end - start))
    straight = canvas.wander < 0.3
    step = end - start if straight else 16.0
    y = start
    while y < end:
        stop = end if end - y - step < 4 else y + step
        x = own.middle((y + stop) / 2)
        canvas.mark(Label.TEXT, x - reach / 2, y, x + reach / 2, stop)
        canvas.mark(Label.CORE, x - half, max(y, start + inset), x + half, min(stop, end - inset))
        y = stop
    return True


def _note(canvas: Canvas, how: Setting, own: _Column, top: float, cells: float) -> float:
    """A note in two half-rows, so many cells high at most; how high it is (px)."""
    wide, step = how.note * how.wide, how.note_step * how.cell
    count = max(1, int(cells * how.cell / step))
    share = float(canvas.rng.random())
    fewer = 0 if share < 0.45 else 1 if share < 0.75 else min(count, int(canvas.rng.integers(0, count + 1)))
    if count == 1 and share > 0.9:
        fewer = 1
    for side, rows, label in ((1, count, Label.RIGHT), (-1, count - fewer, Label.LEFT)):
        if not rows:
            continue
        offset = side * how.apart * how.wide
        for k in range(rows):
            y = top + (k + 0.5) * step
            canvas.glyph(own.middle(y) + offset, y, wide, min(step, 1.15 * wide))
        x = own.middle(top + rows * step / 2) + offset
        canvas.mark(label, x - wide / 2, top, x + wide / 2, top + rows * step)
    return count * step


def _beside(canvas: Canvas, how: Setting, x: float, y: float) -> None:
    """Points, readings, side lines beside a character; a character in white on black, in a circle or a box."""
    side = x + min(0.5 * how.pitch - 1, 0.58 * how.wide)
    if canvas.chance(how.points):
        radius = max(1, round(canvas.between(0.06, 0.14) * how.wide))
        fill = -1 if canvas.chance(0.5) else 1
        cv2.circle(canvas.ink, (round(side), round(y + 0.35 * how.cell)), radius, (230,), fill, cv2.LINE_AA)
    if canvas.chance(how.side_marks):
        for k in range(int(canvas.rng.integers(1, 4))):
            canvas.glyph(side, y + 0.3 * k * how.wide, 0.3 * how.wide, 0.3 * how.wide)
        if canvas.chance(0.4):
            canvas.glyph(2 * x - side, y + 0.4 * how.cell, 0.26 * how.wide, 0.26 * how.wide)
    if canvas.chance(how.side_lines):
        place = round(side), round(y - how.cell / 2)
        cv2.line(canvas.ink, place, (place[0], round(y + canvas.between(0.5, 2.5) * how.cell)), (230,), 1)
    left, right = round(x - how.wide / 2), round(x + how.wide / 2)
    high, low = round(y - how.high / 2), round(y + how.high / 2)
    if canvas.chance(how.black):
        part = canvas.ink[max(0, high) : max(0, low), max(0, left) : max(0, right)]
        part[:] = 255 - part if canvas.chance(0.8) else 255
    if canvas.chance(how.boxed):
        if canvas.chance(0.5):
            cv2.rectangle(canvas.ink, (left, high), (right, low), (230,), 1)
        else:
            cv2.ellipse(
                canvas.ink, (round(x), round(y)), ((right - left) // 2, (low - high) // 2), 0, 0, 360, (230,), 1
            )


def script(
    canvas: Canvas, x: float, y: float, size: float, count: int, label: Label = Label.OTHER, level: bool = False
) -> None:
    """A row of glyphs that is no column of text, downwards or to the right from its first one's middle."""
    step = size * canvas.between(1.0, 1.4)
    for k in range(count):
        canvas.glyph(x + k * step * level, y + k * step * (not level), size, size)
    low = (count - 1) * step
    canvas.mark(label, x - size / 2, y - size / 2, x + size / 2 + low * level, y + size / 2 + low * (not level))


def filled(canvas: Canvas, points: Sequence[tuple[float, float]], tone: float = 240) -> None:
    cv2.fillPoly(canvas.ink, [np.array(points).round().astype(np.int32)], (tone,))
