"""Whole pages with labels, of any kind: one leaf or an opening, registers, tables, figures, empty halves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proof.facsimile.glyph_pool import GlyphPool
from proof.facsimile.labelled import (
    NARROWEST_PITCH_PX,
    Canvas,
    blank_page,
    column,
    script,
    setting,
)
from proof.facsimile.pictures import black_edges, figure, fish_tail, marginalia, outside_things, seals
from proof.layout.labels import LONG_SIDE_PX, Label

Block = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels."""


@dataclass(frozen=True, slots=True)
class Make:
    """How a page is made: `pitch` of its columns in pixels; which lines are printed, how thick (px), how black and how
    much of them."""

    pitch: float
    registers: int
    ruled: bool
    frame: str
    parted: str
    rule_px: int
    frame_px: int
    strength: float
    printed: float
    aligned: bool
    fold: str
    table: bool


def _make(canvas: Canvas, leaf_width: float) -> Make:
    rng = canvas.rng
    few = canvas.chance(0.12)
    count = canvas.between(3, 7) if few else float(np.exp(canvas.between(np.log(6), np.log(26))))
    ruled = canvas.chance(0.5)
    return Make(
        max(NARROWEST_PITCH_PX, leaf_width / count),
        int(rng.choice([1, 2, 3, 4, 5, 6], p=[0.6, 0.19, 0.09, 0.05, 0.03, 0.04])),
        ruled,
        str(rng.choice(["single", "double", "thick"] if ruled else ["none", "none", "single", "double", "ends"])),
        str(rng.choice(["line", "gap", "both"])),
        int(rng.choice([1, 1, 1, 2, 2])),
        int(rng.choice([1, 2, 3, 4, 6])),
        canvas.between(0.25, 1.0),
        float(rng.choice([1.0, 1.0, 0.95, 0.85, 0.6, 0.35])),
        canvas.chance(0.6),
        str(rng.choice(["none", "strip", "outer"])),
        canvas.chance(0.04),
    )


def labelled_page(pool: GlyphPool, rng: np.random.Generator) -> Canvas:
    """A page at random, its long side as long as a page is segmented; ink and labels without paper or camera."""
    opening = rng.random() < 0.28
    ratio = float(rng.uniform(1.05, 1.75) if opening else rng.uniform(0.48, 0.98))
    size = (round(LONG_SIDE_PX / ratio), LONG_SIDE_PX) if ratio > 1 else (LONG_SIDE_PX, round(LONG_SIDE_PX * ratio))
    canvas = blank_page(pool, rng, *size)
    sides = rng.uniform(0.01, 0.16, 4) if rng.random() < 0.8 else rng.uniform(0.05, 0.34, 4)
    height, width = canvas.height, canvas.width
    block = (sides[0] * width, sides[1] * height, (1 - sides[2]) * width, (1 - sides[3]) * height)
    if rng.random() < 0.02:
        seals(canvas, block)
        outside_things(canvas, block)
        return canvas
    gap = 0.0
    leaves = [block]
    if opening:
        make = _make(canvas, (block[2] - block[0]) / 2.1)
        gap = make.pitch * canvas.between(0.15, 2.6)
        middle = (block[0] + block[2]) / 2 + canvas.between(-0.02, 0.02) * width
        leaves = [(middle + gap / 2, *block[1:]), (block[0], block[1], middle - gap / 2, block[3])]
        if make.fold == "strip" and gap > 0.5 * make.pitch:
            _joined_by_strip(canvas, make, block, middle, gap)
        elif gap > 0.7 * make.pitch and canvas.chance(0.35):
            wide = min(gap, make.pitch) * canvas.between(0.4, 0.75)
            y = block[1] + canvas.between(0.05, 0.6) * (block[3] - block[1])
            script(canvas, middle, y, wide, int(canvas.rng.integers(2, 12)))
    else:
        make = _make(canvas, block[2] - block[0])
    for number, leaf in enumerate(leaves):
        blank = opening and canvas.chance(0.08)
        shift = canvas.between(-0.015, 0.015) * height if opening and gap > 2 * make.pitch else 0.0
        own = (leaf[0], max(3.0, leaf[1] + shift), leaf[2], min(height - 3.0, leaf[3] + shift))
        _leaf(canvas, make, own, single=not opening, blank=blank, outer=bool(number))
    marginalia(canvas, block, make.pitch)
    outside_things(canvas, block)
    if canvas.chance(0.08):
        black_edges(canvas)
    if canvas.chance(0.3):
        seals(canvas, block)
    return canvas


def _joined_by_strip(canvas: Canvas, make: Make, block: Block, middle: float, gap: float) -> None:
    """The fold strip in the middle of a leaf that was never folded."""
    if make.frame != "none":
        for y in (block[1], block[3]):
            canvas.line((middle - gap / 2, y), (middle + gap / 2, y), make.frame_px, make.strength)
    _strip(canvas, make, (middle - gap / 2, block[1], middle + gap / 2, block[3]))


def _strip(canvas: Canvas, make: Make, place: Block) -> None:
    """A fold strip: a title in pieces, fish tails, a page number."""
    left, top, right, bottom = place
    wide, x = right - left, (left + right) / 2
    size = min(0.85 * wide, make.pitch) * canvas.between(0.45, 0.8)
    y = top + canvas.between(0.01, 0.12) * (bottom - top)
    for _ in range(int(canvas.rng.integers(1, 4))):
        count = int(canvas.rng.integers(1, 8))
        if size < 3 or y + count * 1.4 * size > bottom:
            break
        script(canvas, x, y + size, size, count)
        y += (count + 1) * 1.3 * size
        if canvas.chance(0.6) and y + wide < bottom:
            fish_tail(canvas, (left + 1, y, right - 1, y + 0.7 * wide))
            y += wide
        y += canvas.between(0.01, 0.2) * (bottom - top)
    if canvas.chance(0.3):
        canvas.line((left, y), (right, y), make.rule_px, make.strength)
    canvas.mark(Label.OTHER, left + 0.1 * wide, top, right - 0.1 * wide, bottom)


def _leaf(canvas: Canvas, make: Make, place: Block, single: bool, blank: bool, outer: bool) -> None:
    """One leaf: its frame, its registers, and half a fold strip at one of its sides."""
    left, top, right, bottom = place
    if make.fold == "strip" and single and right - left > 5 * make.pitch:
        wide = make.pitch * canvas.between(0.35, 1.1)
        at_left = canvas.chance(0.5)
        strip = (left, top, left + wide, bottom) if at_left else (right - wide, top, right, bottom)
        _strip(canvas, make, strip)
        if canvas.chance(0.7):
            edge = strip[2] if at_left else strip[0]
            canvas.line((edge, top), (edge, bottom), make.rule_px, make.strength, make.printed)
        left, right = (strip[2], right) if at_left else (left, strip[0])
    _frame(canvas, make, (left, top, right, bottom))
    if make.fold == "outer":
        # half of the strip, at the edge where the leaf was folded
        wide = make.pitch * canvas.between(0.3, 0.6)
        gap = canvas.between(0.05, 0.5) * make.pitch
        x = left - gap - wide if outer or (single and canvas.chance(0.5)) else right + gap
        if x > 0 and x + wide < canvas.width:
            _strip(canvas, make, (x, top, x + wide, bottom))
    if blank and not make.ruled:
        return
    text = left, right
    if canvas.chance(0.1) and not blank:
        wide = canvas.between(0.25, 1.0) * (right - left)
        at_left = canvas.chance(0.5)
        drawing = (left, top, left + wide, bottom) if at_left else (right - wide, top, right, bottom)
        figure(canvas, drawing)
        text = (drawing[2], right) if at_left else (left, drawing[0])
    if make.ruled and not blank and canvas.chance(0.07):
        # ruled, and the text ends somewhere
        text = (left + canvas.between(0.2, 0.8) * (right - left), right)
    if text[1] - text[0] < 1.5 * make.pitch:
        return
    _registers(canvas, make, (left, top, right, bottom), text, blank)


def _frame(canvas: Canvas, make: Make, place: Block) -> None:
    left, top, right, bottom = place
    if make.frame == "none":
        return
    outs = [(0.0, make.frame_px)] if make.frame != "double" else [(0.0, 1), (canvas.between(2, 7), make.frame_px)]
    for out, thick in outs:
        if make.frame != "ends":
            for x in (left - out, right + out):
                canvas.line((x, top - out), (x, bottom + out), thick, make.strength, max(0.9, make.printed))
        for y in (top - out, bottom + out):
            canvas.line((left - out, y), (right + out, y), thick, make.strength, max(0.9, make.printed))


def _registers(canvas: Canvas, make: Make, place: Block, text: tuple[float, float], blank: bool) -> None:
    left, top, right, bottom = place
    shares = (
        canvas.rng.uniform(0.85, 1.15, make.registers)
        if canvas.chance(0.7)
        else canvas.rng.uniform(0.3, 1.3, make.registers)
    )
    edges = top + np.concatenate([[0.0], np.cumsum(shares) / shares.sum()]) * (bottom - top)
    fewest = 3 if make.table else 2
    room = canvas.between(0.05, 0.5) * make.pitch if make.parted != "gap" else canvas.between(0.5, 1.5) * make.pitch
    count = max(fewest, round((right - left) / make.pitch))
    heading = canvas.rng.random() < 0.15
    for number in range(make.registers):
        own = count if make.aligned else max(2, count + int(canvas.rng.integers(-3, 4)))
        pitch = max(NARROWEST_PITCH_PX, (right - left) / own)
        high, low = float(edges[number]), float(edges[number + 1])
        if number and (make.parted != "gap" or make.ruled):
            canvas.line((left, high), (right, high), make.rule_px, make.strength, max(0.7, make.printed))
        inner = (high + (room / 2 if number else canvas.between(1, 5)), low - room / 2)
        titled = heading and not number and text[1] - text[0] > 4 * pitch and not blank
        _columns(canvas, make, pitch, (left, right), text, (high, low), inner, (titled, blank))


def _columns(
    canvas: Canvas,
    make: Make,
    pitch: float,
    across: tuple[float, float],
    text: tuple[float, float],
    rows: tuple[float, float],
    inner: tuple[float, float],
    special: tuple[bool, bool],
) -> None:
    """The columns of one register, right to left; `special`: whether a heading over two columns begins it, and whether
    nothing is written in it."""
    titled, blank = special
    count = int((across[1] - across[0]) / pitch + 0.01)
    how = setting(canvas, pitch, make.ruled)
    if inner[1] - inner[0] < how.cell:
        return
    first = 2 if titled else 0
    if titled:
        big = setting(canvas, 1.7 * pitch, make.ruled)
        end = inner[0] + canvas.between(0.3, 0.95) * (inner[1] - inner[0])
        column(canvas, big, across[1] - pitch, inner[0], end)
    glossed = 0.3 if pitch > 12 and canvas.chance(0.06) else 0.0
    shift = 0.0 if make.ruled else canvas.between(-0.1, 0.1) * pitch
    for k in range(count):
        x = across[1] - (k + 0.5) * pitch
        if make.ruled and k > max(0, first - 1) - (not titled):
            edge = x + pitch / 2
            if edge < across[1] - 1:
                lean = canvas.between(-0.6, 0.6)
                canvas.line((edge, rows[0]), (edge + lean, rows[1]), make.rule_px, make.strength, make.printed)
        if k < first or blank or not text[0] - 1 <= x - pitch / 2 <= x + pitch / 2 <= text[1] + 1:
            continue
        column(canvas, how, x + shift, *inner)
        if canvas.chance(glossed):
            y = canvas.between(inner[0], inner[1])
            count = min(int(canvas.rng.integers(2, 12)), int((inner[1] - y) / (0.4 * pitch)))
            script(canvas, x + shift + pitch / 2, y, 0.27 * pitch, max(1, count))
