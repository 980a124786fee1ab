"""Pages of printed canons and of other books without rules, drawn in many styles, with the true box of every column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from proof.facsimile.brush import Hand
from proof.facsimile.wear import Wear, age, moved, seal_shape
from proof.text.column import parse_column
from proof.text.model import Column, Page
from scripts.bench.sheet import NUMBERS, Box, Pixels, Sheet

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PlainStyle:
    """How a page is laid out: lengths in pixels, or in widths of a glyph where they are shares.

    `pitch` and `cell` are the distances of columns and of characters. `notes` and `numbers` are shares of a column set
    in double rows and in numbers in small script, `note` their size; `indent`, `verse`, `short` and `blank` the shares
    of columns that begin lower, have a gap in the middle, end early, or are empty.
    """

    leaves: int
    registers: int
    columns: int
    cells: int
    glyph: float
    pitch: float
    cell: float
    frame: str
    rules: float
    notes: float
    numbers: float
    note: float
    indent: float
    verse: float
    short: float
    blank: float
    title: str
    marks: float
    points: float
    ornament: bool
    tail: bool
    seal: float
    weight: float
    hand: float


@dataclass(frozen=True, slots=True)
class Camera:
    """How a page is seen: `lean` in degrees, `perspective` in shares of its size, `bend` in widths of a glyph, `light`
    from 0 (even) to 1, `blur` in pixels, `noise` in levels, `scale`, a `ground` that shows beside it, and JPEG."""

    lean: float = 0.0
    perspective: float = 0.0
    bend: float = 0.0
    light: float = 0.0
    blur: float = 0.0
    noise: float = 0.0
    scale: float = 1.0
    ground: bool = False
    jpeg: int = 95


@dataclass(slots=True)
class PlainPage:
    """The page as an image, its text, and its columns (n x 4 x 2: corners from the upper left) in reading order."""

    image: Pixels
    page: Page
    corners: Floats

    @classmethod
    def of(cls, name: str, image: Pixels, lines: Sequence[str], boxes: Sequence[Box]) -> PlainPage:
        """A page with these columns of text, `boxes` of other kinds left out."""
        columns = (Column(number, line, 0, number, parse_column(line).runs) for number, line in enumerate(lines, 1))
        edges = [(x, y, x + w, y + h) for kind, x, y, w, h in boxes if kind == "text"]
        corners = np.array([((a, b), (c, b), (c, d), (a, d)) for a, b, c, d in edges], np.float64).reshape(-1, 4, 2)
        return cls(image, Page(name, None, None, "", 1, tuple(columns)), corners)


def plain_style(rng: np.random.Generator) -> PlainStyle:
    """A style at random."""
    leaves = int(rng.choice([1, 1, 1, 2]))
    registers = int(rng.choice([1, 1, 2, 2, 2, 3]))
    glyph = float(rng.uniform(30, 46) if registers > 1 or leaves > 1 else rng.uniform(34, 64))
    cells = int(
        rng.integers(12, 19) if registers == 2 else rng.integers(8, 13) if registers == 3 else rng.integers(14, 25)
    )
    cell = glyph * float(rng.uniform(1.02, 1.3))
    tall = registers * cells * cell
    pitch = glyph * float(rng.uniform(1.12, 1.9))
    columns = int(np.clip(rng.uniform(0.55, 0.85) * tall / pitch, 5, 16))
    noted = rng.random()
    return PlainStyle(
        leaves, registers, columns, cells, glyph, pitch, cell,
        frame=str(rng.choice(["none", "single", "double", "sides", "ends", "single"])),
        rules=float(rng.choice([0.0, 0.0, 0.0, 0.0, 0.3])),
        notes=float(rng.uniform(0.1, 0.5)) if noted < 0.35 else 0.0,
        numbers=float(rng.uniform(0.05, 0.25)) if noted > 0.65 else 0.0,
        note=float(rng.uniform(0.5, 0.64)),
        indent=float(rng.choice([0.0, 0.1, 0.4])),
        verse=float(rng.choice([0.0, 0.0, 0.3, 0.8])),
        short=float(rng.choice([0.0, 0.1, 0.3])),
        blank=float(rng.choice([0.0, 0.0, 0.1, 0.2])),
        title=str(rng.choice(["none", "left", "right", "fold"])),
        marks=float(rng.choice([0.0, 0.0, 0.05])),
        points=float(rng.choice([0.0, 0.0, 0.0, 0.0, 0.15])),
        ornament=bool(rng.random() < 0.3),
        tail=bool(rng.random() < 0.5),
        seal=float(rng.uniform(0.2, 0.5)) if rng.random() < 0.1 else 0.0,
        weight=float(rng.uniform(0, 10)),
        hand=float(rng.uniform(0.4, 1.1)),
    )  # fmt: skip


def camera(rng: np.random.Generator, photographed: bool) -> Camera:
    """A scan, or a photograph from the hand, at random."""
    if not photographed:
        return Camera(
            lean=float(rng.normal(0, 0.6)),
            blur=float(rng.uniform(0, 0.7)),
            noise=float(rng.uniform(0, 4)),
            scale=float(rng.uniform(0.75, 1.5)),
            jpeg=int(rng.integers(60, 96)),
        )
    return Camera(
        lean=float(rng.normal(0, 1.5)),
        perspective=float(rng.uniform(0, 0.04)),
        bend=float(rng.uniform(0, 0.7)) * float(rng.random() < 0.6),
        light=float(rng.uniform(0, 0.7)),
        blur=float(rng.uniform(0.3, 1.2)),
        noise=float(rng.uniform(1, 7)),
        scale=float(rng.uniform(0.65, 1.2)),
        ground=bool(rng.random() < 0.5),
        jpeg=int(rng.integers(40, 92)),
    )


@dataclass(slots=True, kw_only=True)
class _Sheet(Sheet):
    style: PlainStyle

    def line(self, a: tuple[float, float], b: tuple[float, float], thick: int) -> None:
        cv2.line(self.canvas, (round(a[0]), round(a[1])), (round(b[0]), round(b[1])), (255,), thick)


def draw_plain(
    letters: Iterator[str],
    seed: Sequence[int],
    photographed: bool,
    name: str,
) -> PlainPage:
    """Draw a page, with the characters that `letters` gives."""
    rng = np.random.default_rng([*seed, 7])
    style = plain_style(rng)
    wide, high = style.columns * style.pitch, style.cells * style.cell
    apart = 0.7 * style.cell
    tall = style.registers * high + (style.registers - 1) * apart
    margin = float(rng.uniform(1.6, 3.2)) * style.glyph
    gutter = float(rng.uniform(1.2, 3.0)) * style.pitch
    size = (
        round(2 * margin + tall + style.glyph),
        round(2 * margin + 2 * style.pitch + style.leaves * wide + (style.leaves - 1) * gutter),
    )
    free = style.hand
    hand = Hand(0.04 * free, 0.02 * free, 1.2 * free, 0.02 * free, -0.02 * free, style.weight, 2.5 * free)
    sheet = _Sheet(np.zeros(size, np.uint8), rng, letters, style.glyph, hand, style=style)
    room = 0.35 * style.cell
    for leaf in range(style.leaves):
        right = size[1] - margin - style.pitch - leaf * (wide + gutter)
        _furniture(sheet, (right - wide, margin, right, margin + tall), room, leaf)
        for register in range(style.registers):
            top = margin + register * (high + apart)
            if register:
                sheet.line((right - wide - room, top - apart / 2), (right + room, top - apart / 2), 3)
            for column in range(style.columns):
                _column(sheet, right - (column + 0.5) * style.pitch, top)
    if style.leaves == 2 and style.title == "fold":
        middle = size[1] - margin - style.pitch - wide - gutter / 2
        _strip(sheet, middle, margin, margin + tall)
    image, homography = _seen(sheet, camera(rng, photographed), photographed, [*seed, 8])
    drawn = PlainPage.of(name, image, sheet.lines, sheet.boxes)
    return replace(drawn, corners=moved(drawn.corners.reshape(-1, 2), homography).reshape(-1, 4, 2))


def _furniture(sheet: _Sheet, block: tuple[float, float, float, float], room: float, leaf: int) -> None:
    """Frame, marginal title, page number, ornaments: what is no text of the page."""
    style, rng = sheet.style, sheet.rng
    left, top, right, bottom = block[0] - room, block[1] - room, block[2] + room, block[3] + room
    thick = int(rng.integers(2, 6))
    if style.frame in ("single", "double", "sides"):
        sheet.line((left, top), (left, bottom), thick)
        sheet.line((right, top), (right, bottom), thick)
    if style.frame in ("single", "double", "ends"):
        sheet.line((left, top), (right, top), thick)
        sheet.line((left, bottom), (right, bottom), thick)
    if style.frame == "double":
        for x in (left - 9, right + 9):
            sheet.line((x, top - 9), (x, bottom + 9), thick + 3)
        for y in (top - 9, bottom + 9):
            sheet.line((left - 9, y), (right + 9, y), thick + 3)
    for number in range(1, style.columns):
        if rng.random() < style.rules:
            x = right - room - number * style.pitch
            sheet.line((x, top), (x, bottom), 2)
    if style.ornament and style.frame in ("single", "double"):
        for x, y in ((left, top), (left, bottom)):
            half = round(0.3 * style.pitch)
            cv2.ellipse(sheet.canvas, (round(x), round(y)), (half, half // 2), 45, 0, 360, (255,), 3)
    outer = {"left": left - 0.62 * style.pitch, "right": right + 0.62 * style.pitch}.get(style.title)
    if outer is not None and (style.leaves == 1 or (style.title == "left") == (leaf == 1)):
        _strip(sheet, outer, top, bottom)


def _strip(sheet: _Sheet, x: float, top: float, bottom: float) -> None:
    """A title, a page number below, a fish tail between."""
    size, tall = 0.62 * sheet.size, bottom - top
    sheet.row(sheet.next(6), x, top + 0.08 * tall, size, 1.1 * size)
    numbers = (str(sheet.rng.choice(list(NUMBERS))) for _ in range(2))
    sheet.row(numbers, x, top + 0.75 * tall, size, 1.1 * size)
    if sheet.style.tail:
        sheet.fish_tail(x, top + 0.55 * tall, 0.4 * size, size)


def _column(sheet: _Sheet, x: float, top: float) -> None:
    """One column of a register; what is empty has no line in the text."""
    style, rng = sheet.style, sheet.rng
    if rng.random() < style.blank:
        return
    cells = style.cells if rng.random() >= style.short else int(rng.integers(1, style.cells))
    at, source, row = top, "", 0
    if rng.random() < style.indent:
        row = int(rng.integers(1, 4))
        source, at = "　" * row, top + row * style.cell
    gap = rng.random() < style.verse
    first = at
    while row < cells:
        share = rng.random() if not source.endswith(")") else 1.0
        if share < style.numbers and row > 1:
            numbers = [str(numeral) for numeral in rng.choice(list(NUMBERS), int(rng.integers(1, 4)))]
            note, half, at = _note(sheet, numbers, x, at)
            source, row = source + note, row + half
        elif share < style.notes / 4:
            length = min(int(rng.integers(2, 9)), 2 * (cells - row))
            note, half, at = _note(sheet, list(sheet.next(length)), x, at)
            source, row = source + note, row + half
        elif gap and row == cells // 2:
            source, at, row = source + "　", at + style.cell, row + 1
        else:
            letter = next(sheet.letters)
            sheet.glyph(letter, x, at + style.cell / 2, style.glyph)
            _beside(sheet, x, at)
            source, at, row = source + letter, at + style.cell, row + 1
    if rng.random() < style.marks:
        for number in range(2):
            place = top + (0.4 * style.cells + 0.5 * number) * style.cell
            sheet.glyph(str(rng.choice(list(NUMBERS))), x - style.pitch / 2, place, 0.34 * style.glyph)
    if not source.strip("　"):
        return
    sheet.lines.append(source)
    sheet.boxes.append(("text", x - style.pitch / 2, first, style.pitch, at - first))


def _beside(sheet: _Sheet, x: float, at: float) -> None:
    """What stands beside the character of a cell."""
    style, rng = sheet.style, sheet.rng
    if rng.random() < style.points:
        place = round(x + 0.56 * style.glyph), round(at + 0.85 * style.cell)
        cv2.circle(sheet.canvas, place, max(2, round(0.07 * style.glyph)), (255,), 1)


def _note(sheet: _Sheet, letters: Sequence[str], x: float, at: float) -> tuple[str, int, float]:
    """A note in two half-rows; gives it as a transcription has it, the rows of the longer half, and where it ends."""
    size, rows = sheet.style.note * sheet.size, (len(letters) + 1) // 2
    step = 1.12 * size
    right = sheet.row(letters[:rows], x + 0.28 * sheet.size, at + 0.5 * step, size, step)
    left = sheet.row(letters[rows:], x - 0.28 * sheet.size, at + 0.5 * step, size, step)
    return f"({right}/{left})", rows, at + rows * step


def _seen(sheet: _Sheet, how: Camera, grey: bool, seed: list[int]) -> tuple[Pixels, Floats]:
    """The page as it is photographed, and the map onto it (without the bend)."""
    rng, canvas = sheet.rng, sheet.canvas
    height, width = canvas.shape
    if how.bend:
        shift = how.bend * sheet.style.glyph * np.sin(np.linspace(0, np.pi, height))[:, None]
        xs, ys = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
        canvas = np.asarray(cv2.remap(canvas, (xs + shift).astype(np.float32), ys, cv2.INTER_LINEAR), dtype=np.uint8)
    out = round(width * how.scale), round(height * how.scale)
    frame = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    turn = np.radians(how.lean)
    middle = np.array([width / 2, height / 2])
    seen = (frame - middle) @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]) + middle
    inward = rng.uniform(0, how.perspective, (4, 2)) * (width, height) * ((1, 1), (-1, 1), (-1, -1), (1, -1))
    homography = cv2.getPerspectiveTransform(frame, ((seen + inward) * how.scale).astype(np.float32))
    ink = np.asarray(cv2.warpPerspective(canvas, homography, out, flags=cv2.INTER_AREA), dtype=np.uint8)
    stamp = None
    if sheet.style.seal:
        side = round(0.3 * min(out))
        stamp = np.zeros_like(ink)
        y, x = (int(rng.integers(0, max(1, edge - side))) for edge in ink.shape)
        stamp[y : y + side, x : x + side] = seal_shape(side, rng)
    wear = Wear(
        specks=float(rng.uniform(0, 120)), seal=sheet.style.seal, fade=float(rng.uniform(0, 0.4)),
        grain=float(rng.uniform(0, 0.4)), blur=how.blur, grey=grey or bool(rng.random() < 0.5),
    )  # fmt: skip
    image = age(ink, None, stamp, wear, max(how.scale, 0.7), seed).astype(np.float32)
    if how.light:
        across, down = np.linspace(-1, 1, out[0])[None, :], np.linspace(-1, 1, out[1])[:, None]
        angle = rng.uniform(0, 2 * np.pi)
        image *= 1 - how.light * (0.5 + 0.5 * (across * np.cos(angle) + down * np.sin(angle)) / 1.42)
    if how.ground:
        paper = cv2.warpPerspective(np.full_like(canvas, 255), homography, out)
        image = np.where(paper > 127, image, 45.0)
    image += how.noise * rng.standard_normal(image.shape)
    pixels = np.clip(image, 0, 255).astype(np.uint8)
    _, packed = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, how.jpeg])
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_GRAYSCALE), dtype=np.uint8), np.asarray(homography, np.float64)
