"""Leaves and openings of ruled books, drawn in many styles with the true box of every column and of every fold strip.

What East Asian prints have beside plain columns: fold strips with fish tails, ears, titles over two columns, notes in
double rows for whole columns, points and readings beside characters, headnotes above the frame, names in white on
black, tables; and what images have: black edges, the gutter, rulers, labels, dust of microfilm, wormholes. Each is a
kind (`KINDS`); a book at random has some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from proof.facsimile.brush import Hand, rule
from proof.facsimile.wear import seal_shape
from scripts.bench.sheet import NUMBERS, Box, Pixels, Sheet

KANA, TURNS = "アイウエオカキクケコサシスセソタチツテトナニヌネノ", "レ一二三上下"


@dataclass(frozen=True, slots=True)
class BookStyle:
    """How a book is set: lengths in pixels, the rest as shares.

    `fold`: `none`, `gutter` (an opened book, half a strip at either outer edge), `strip` (a leaf that was never folded,
    the strip in its middle). `rules` is how much of the rules is printed, `notes` the share of columns that are all
    in double rows, `mixed` that of those with some notes, `titles` that of a title over two columns in front,
    `points`, `readings` and `black` those of characters with a point beside, with readings beside, white on black.
    `headnotes` is how high the room for notes above the frame is, in cells.
    """

    columns: int
    cells: int
    glyph: float
    pitch: float
    cell: float
    leaves: int = 1
    registers: int = 1
    fold: str = "none"
    frame: str = "single"
    rules: float = 1.0
    notes: float = 0.0
    mixed: float = 0.0
    titles: float = 0.0
    indent: float = 0.1
    short: float = 0.15
    raised: float = 0.0
    blank: float = 0.05
    points: float = 0.0
    readings: float = 0.0
    black: float = 0.0
    headnotes: float = 0.0
    ears: float = 0.0
    weight: float = 4.0
    margin: float = 2.0


@dataclass(slots=True)
class Book:
    """A page (grey, 0 black), its boxes in pixels of it, and of those with text what stands in them, as a transcription
    has it."""

    image: Pixels
    boxes: tuple[Box, ...]
    lines: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Sheet(Sheet):
    style: BookStyle

    def line(self, a: tuple[float, float], b: tuple[float, float], thick: float, printed: float = 1.0) -> None:
        rule(self.canvas, a, b, thick, self.rng, 0.7, 0.25, 1 - printed, 40.0, float(self.rng.normal(0, 1.5)))


def book_style(rng: np.random.Generator) -> BookStyle:
    """A ruled book at random."""
    columns, cells = int(rng.integers(7, 13)), int(rng.integers(15, 25))
    glyph = 1150 / cells
    pitch = glyph * float(rng.uniform(1.15, 1.5))
    opened = bool(rng.random() < 0.6)
    some = rng.random(8) < 0.25
    return BookStyle(
        columns, cells, glyph * 0.92, pitch, glyph,
        leaves=2 if opened else 1,
        fold=str(rng.choice(["gutter", "strip"])) if opened else str(rng.choice(["none", "strip"])),
        frame=str(rng.choice(["single", "double", "thick"])),
        rules=float(rng.choice([1.0, 1.0, 0.85, 0.6, 0.0])),
        notes=0.3 * some[0], mixed=0.4 * some[1], titles=0.7 * some[2], raised=0.15 * some[3],
        points=0.6 * some[4], readings=0.3 * some[5], black=0.03 * some[6],
        headnotes=4.0 * some[7], ears=float(rng.random() < 0.3),
        indent=float(rng.choice([0.05, 0.4])), short=float(rng.choice([0.1, 0.5])), blank=float(rng.choice([0, 0.1])),
        weight=float(rng.uniform(-2, 12)), margin=float(rng.uniform(1.2, 3.5)),
    )  # fmt: skip


def draw_book(letters: Iterator[str], rng: np.random.Generator, style: BookStyle) -> Book:
    """Draw a page: ink on white paper."""
    wide, high = style.columns * style.pitch, style.cells * style.cell
    tall = style.registers * (high + 0.7 * style.cell)
    outer, top = style.margin * style.pitch, (style.margin + style.headnotes + 1) * style.cell
    gap = {"gutter": float(rng.uniform(1.0, 2.4)), "strip": float(rng.uniform(0.8, 1.3))}.get(style.fold, 1.5)
    gap *= style.pitch
    width = round(2 * outer + style.leaves * wide + (style.leaves - 1) * gap + 2 * style.pitch)
    canvas = np.zeros((round(top + tall + style.margin * style.cell), width), np.uint8)
    hand = Hand(0.03, 0.02, 1.0, 0.02, -0.02, style.weight, 2.5)
    sheet = _Sheet(canvas, rng, letters, style.glyph, hand, style=style)
    right, bottom = width - outer - style.pitch, top + tall
    if style.fold == "strip" and style.leaves == 2:
        _frame(sheet, right - 2 * wide - gap, top, right, bottom)
        for x in (right - wide, right - wide - gap):
            sheet.line((x, top), (x, bottom), 3)
        _strip(sheet, right - wide - gap, gap, top, bottom)
    for leaf in range(style.leaves):
        edge = right - leaf * (wide + gap)
        if style.fold != "strip" or style.leaves == 1:
            _frame(sheet, edge - wide, top, edge, bottom)
        if style.fold != "none" and (style.fold == "gutter" or style.leaves == 1):
            # half of the strip, at the edge where the leaf was folded
            outside = edge + 0.1 * gap if (style.leaves == 2 and not leaf) else edge - wide - 0.5 * gap
            _strip(sheet, outside, 0.45 * gap, top, bottom)
        _leaf(sheet, edge, top, high)
    return Book(np.asarray(255 - sheet.canvas, np.uint8), tuple(sheet.boxes), tuple(sheet.lines))


def _frame(sheet: _Sheet, left: float, top: float, right: float, bottom: float) -> None:
    thick = {"thick": 9.0, "double": 7.0}.get(sheet.style.frame, 4.0)
    for out, wide in ((0, thick),) if sheet.style.frame != "double" else ((0, 2.5), (11, thick)):
        for x in (left - out, right + out):
            sheet.line((x, top - out), (x, bottom + out), wide, 0.97)
        for y in (top - out, bottom + out):
            sheet.line((left - out, y), (right + out, y), wide, 0.97)
    if sheet.rng.random() < sheet.style.ears:
        wide, high = 0.7 * sheet.style.pitch, 3.2 * sheet.style.cell
        for start in (top, top + high):
            sheet.line((left - wide, start), (left, start), 2)
        sheet.line((left - wide, top), (left - wide, top + high), 2)
        step = 0.9 * sheet.style.cell
        sheet.row(sheet.next(3), left - wide / 2, top + 0.6 * step, 0.5 * sheet.size, step)


def _strip(sheet: _Sheet, left: float, wide: float, top: float, bottom: float) -> None:
    """A title, a fish tail, a page number: what is no text of the page."""
    size, tall, x, rng = 0.6 * sheet.size, bottom - top, left + wide / 2, sheet.rng
    first = top + 0.06 * tall if rng.random() < 0.5 else top + 0.3 * tall
    sheet.row(sheet.next(int(rng.integers(3, 8))), x, first, min(size, wide), 1.15 * size)
    numbers = (NUMBERS[int(rng.integers(10))] for _ in range(int(rng.integers(1, 4))))
    sheet.row(numbers, x, top + 0.72 * tall, min(size, wide), 1.1 * size)
    if rng.random() < 0.8:
        half = 0.45 * wide
        sheet.fish_tail(x, top + 0.22 * tall, half, 2 * half)
        sheet.fish_tail(x, top + 0.66 * tall, half, -2 * half)
    sheet.boxes.append(("midText", left, top, wide, bottom - top))


def _leaf(sheet: _Sheet, right: float, top: float, high: float) -> None:
    style, rng = sheet.style, sheet.rng
    wide = style.columns * style.pitch
    full = style.registers * (high + 0.7 * style.cell)
    first = 0
    if rng.random() < style.titles:
        first, size = 2, 1.7 * style.glyph
        count, x = int(rng.integers(3, max(4, round(style.cells / 2.2)))), right - style.pitch
        sheet.lines.append(sheet.row(sheet.next(count), x, top + 0.66 * size, size, 1.1 * size))
        sheet.boxes.append(("text", x - 0.5 * size, top + 0.1 * size, size, 1.1 * count * size))
    for number in range(max(1, first), style.columns):
        if style.rules:
            x = right - number * style.pitch
            sheet.line((x, top), (x, top + full), 2.2, style.rules)
    for register in range(style.registers):
        start = top + register * (high + 0.7 * style.cell) + 0.35 * style.cell
        if register:
            sheet.line((right - wide, start - 0.35 * style.cell), (right, start - 0.35 * style.cell), 3)
        for number in range(first if not register else 0, style.columns):
            _column(sheet, right - (number + 0.5) * style.pitch, start)
    if style.headnotes:
        _headnotes(sheet, right, top, wide)


def _headnotes(sheet: _Sheet, right: float, top: float, wide: float) -> None:
    """Small script above the frame, columns of its own."""
    style, rng = sheet.style, sheet.rng
    size = 0.5 * style.glyph
    x = right - float(rng.uniform(0.0, 0.4)) * wide
    for _ in range(int(rng.integers(2, 7))):
        count = int(rng.integers(3, max(4, int(style.headnotes / 0.56))))
        start = top - style.headnotes * style.cell
        sheet.boxes.append(("ear", x - 0.5 * size, start, size, 1.1 * count * size))
        sheet.row(sheet.next(count), x, start + 0.33 * size, size, 1.1 * size)
        x -= 1.25 * size


def _column(sheet: _Sheet, x: float, top: float) -> None:
    style, rng = sheet.style, sheet.rng
    if rng.random() < style.blank:
        return
    first = int(rng.integers(1, max(2, min(4, style.cells // 3)))) if rng.random() < style.indent else 0
    if rng.random() < style.raised:
        first = -1
    last = style.cells if rng.random() >= style.short else int(rng.integers(max(first, 0) + 1, style.cells + 1))
    whole, some = rng.random() < style.notes, rng.random() < style.mixed
    row = float(first)
    start, source = top + row * style.cell, ""
    while row < last:
        if whole or (some and not source.endswith(")") and rng.random() < 0.12):  # two notes in a row would be one
            count = min(int(rng.integers(3, 12)), int((last - row) / 0.56)) if not whole else int((last - row) / 0.56)
            if count < 1:
                break
            y, size, step = top + (row + 0.28) * style.cell, 0.53 * style.glyph, 0.56 * style.cell
            right = sheet.row(sheet.next(count), x + 0.26 * style.glyph, y, size, step)
            fewer = max(1, count - int(rng.integers(2)))
            left = sheet.row(sheet.next(fewer), x - 0.26 * style.glyph, y, size, step)
            source += f"({right}/{left})"
            row += count * 0.56
            continue
        y = top + (row + 0.5) * style.cell
        source += (letter := next(sheet.letters))
        sheet.glyph(letter, x, y, style.glyph)
        _beside(sheet, x, y)
        row += 1
    sheet.lines.append(source)
    sheet.boxes.append(("text", x - 0.42 * style.pitch, start + 0.1 * style.cell, 0.84 * style.pitch,
                        (row - first) * style.cell - 0.2 * style.cell))  # fmt: skip


def _beside(sheet: _Sheet, x: float, y: float) -> None:
    """Points and readings beside a character; a character in white on black."""
    style, rng = sheet.style, sheet.rng
    side = min(0.6 * style.glyph, 0.5 * style.pitch - 0.06 * style.glyph)
    if rng.random() < style.points:
        radius = max(2, round(0.08 * style.glyph))
        place = round(x + side), round(y + float(rng.uniform(0, 0.4)) * style.cell)
        cv2.circle(sheet.canvas, place, radius, (255,), int(rng.choice([1, -1])))
    if rng.random() < style.readings:
        for row in range(int(rng.integers(1, 4))):
            place_y = y + (0.1 + 0.27 * row) * style.cell
            sheet.glyph(KANA[int(rng.integers(len(KANA)))], x + side - 0.06 * style.glyph, place_y, 0.27 * style.glyph)
    if rng.random() < style.readings / 2:
        mark = TURNS[int(rng.integers(len(TURNS)))]
        sheet.glyph(mark, x - side + 0.06 * style.glyph, y + 0.5 * style.cell, 0.24 * style.glyph)
    if rng.random() < style.black:
        half = 0.5 * style.cell
        box = (slice(round(y - half), round(y + half)), slice(round(x - half), round(x + half)))
        sheet.canvas[box] = 255 - sheet.canvas[box]


Change = Callable[[Book, np.random.Generator], Book]
Restyle = Callable[[BookStyle], BookStyle]


def _padded(book: Book, margins: Iterable[float], tone: int) -> Book:
    """The page with margins of one tone: above, below, left and right, in pixels."""
    above, below, left, right = (round(margin) for margin in margins)
    image = cv2.copyMakeBorder(book.image, above, below, left, right, cv2.BORDER_CONSTANT, value=(tone,))
    boxes = tuple((kind, x + left, y + above, w, h) for kind, x, y, w, h in book.boxes)
    return Book(np.asarray(image, np.uint8), boxes, book.lines)


def _with_edges(book: Book, rng: np.random.Generator) -> Book:
    """The black edges of the leaves beneath at both sides and below, and a black gutter in the middle of an opening,
    on white: as libraries make their scans black and white."""
    image, (height, width) = book.image.copy(), book.image.shape
    for side in (0, 1):
        thick = np.cumsum(rng.normal(0, 0.6, height)) * 0.4
        thick = thick - thick.min() + rng.uniform(4, 0.012 * width)
        for y in range(height):
            end = int(thick[y]) + (int(rng.integers(0, 6)) if rng.random() < 0.5 else 0)
            image[y, : end if not side else width] = np.where(side, image[y], 0)[: end if not side else width]
            if side:
                image[y, width - end :] = 0
    image[-round(rng.uniform(0.005, 0.03) * height) :] = 0
    if width > height:
        middle, half = width // 2, round(rng.uniform(1, 5))
        image[:, middle - half : middle + half] = 0
    return _padded(replace(book, image=image), rng.uniform(0.02, 0.25, 4) * height, 255)


def _on_black(book: Book, rng: np.random.Generator) -> Book:
    """Microfilm: black around the leaf, dust, a label with white script beside."""
    padded = _padded(book, rng.uniform(0.01, 0.12, 4) * book.image.shape[0], 0)
    image = padded.image
    height, width = image.shape
    for _ in range(round(image.size * 1e-4)):
        x, y, size = int(rng.integers(width)), int(rng.integers(height)), int(rng.integers(1, 5))
        image[y : y + size, x : x + size] = 255 if rng.random() < 0.5 else 0
    return padded


def _with_ruler(book: Book, rng: np.random.Generator) -> Book:
    """A ruler and fields of colour beside the leaf, on grey."""
    height = book.image.shape[0]
    below = bool(rng.random() < 0.5)
    room = round(0.1 * height)
    padded = _padded(book, (20, room if below else 20, 20, 20 if below else room), 150)
    image = padded.image
    first, length = 40, (image.shape[1] if below else image.shape[0]) - 80
    start = (image.shape[0] if below else image.shape[1]) - room + 15
    across = image if below else image.T
    step = length // 12
    for number in range(12):
        across[start : start + room // 2, first + number * step : first + (number + 1) * step] = 20 + 18 * number
    for number in range(60):
        tall = room // 4 if number % 5 else room // 3
        at = first + number * length // 60
        across[start + room // 2 + 6 : start + room // 2 + 6 + tall, at : at + 2] = 0
    return padded


def _with_label(book: Book, rng: np.random.Generator) -> Book:
    """A bar code and a library's stamp in the margin, another stamp over the text."""
    image, (height, width) = book.image.copy(), book.image.shape
    high, wide = round(0.035 * height), round(0.14 * width)
    y, x = round(0.01 * height), int(rng.integers(0, width - wide))
    bars = np.repeat(rng.random(wide // 3 + 1) < 0.5, 3)[:wide]
    image[y : y + high, x : x + wide][:, bars] = 0
    side = round(rng.uniform(0.06, 0.1) * height)
    for over in (False, True):
        shape = seal_shape(side, rng) > 127
        top = int(rng.integers(height // 4, height - side)) if over else height - side - 4
        left = int(rng.integers(0, width - side))
        part = image[top : top + side, left : left + side]
        part[shape] = np.minimum(part[shape], 60)
    return replace(book, image=image)


def _wormholes(book: Book, rng: np.random.Generator) -> Book:
    """Winding paths eaten through the leaf, white where paper lies below, black where none does."""
    image, (height, width) = book.image.copy(), book.image.shape
    for _ in range(int(rng.integers(8, 20))):
        x, y, angle = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(0, 6.3)
        tone, thick = (0 if rng.random() < 0.6 else 255), int(rng.integers(4, 11))
        for _ in range(int(rng.integers(5, 40))):
            angle += rng.normal(0, 0.5)
            x, y = x + 6 * np.cos(angle), y + 6 * np.sin(angle)
            cv2.circle(image, (round(x), round(y)), thick // 2, (tone,), -1)
    return replace(book, image=image)


def _next_leaf(book: Book, rng: np.random.Generator) -> Book:
    """One leaf with some of the next in its gutter, which the boxes do not hold."""
    width = book.image.shape[1]
    wide = round(rng.uniform(0.04, 0.12) * width)
    inner = round(0.5 * width)
    other, high = book.image[:, inner : inner + wide], book.image.shape[0]
    if rng.random() < 0.5:
        return replace(book, image=np.hstack([book.image, other]), boxes=(*book.boxes, ("ear", width, 0, wide, high)))
    boxes = tuple((kind, x + wide, y, w, h) for kind, x, y, w, h in book.boxes)
    return replace(book, image=np.hstack([other, book.image]), boxes=(*boxes, ("ear", 0, 0, wide, high)))


def _curled(book: Book, rng: np.random.Generator) -> Book:
    """Rows that sag towards one side, and columns pressed together there, as at a gutter."""
    height, width = book.image.shape
    xs, ys = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    sag = float(rng.uniform(0.01, 0.03)) * height * np.exp(-xs / (0.12 * width))
    image = cv2.remap(book.image, xs, (ys - sag).astype(np.float32), cv2.INTER_LINEAR, borderValue=(255,))
    return replace(book, image=np.asarray(image, np.uint8))


@dataclass(frozen=True, slots=True)
class BookKind:
    """A kind of page: how its style differs from a book at random, what is done to the image."""

    style: Restyle = lambda style: style
    change: Change | None = None


def _of(**changes: object) -> BookKind:
    return BookKind(lambda style: replace(style, **changes))  # type: ignore[arg-type]


BARE = {
    "notes": 0.0, "mixed": 0.0, "titles": 0.0, "raised": 0.0, "points": 0.0, "readings": 0.0, "black": 0.0,
    "headnotes": 0.0, "ears": 0.0,
}  # fmt: skip

KINDS: dict[str, BookKind] = {
    "any book": BookKind(),
    "leaf with its strip": _of(**BARE, leaves=2, fold="strip"),
    "opened book": _of(**BARE, leaves=2, fold="gutter"),
    "half a strip": _of(**BARE, leaves=1, fold="strip"),
    "all in double rows": _of(**{**BARE, "notes": 1.0}),
    "columns in double rows": _of(**{**BARE, "notes": 0.4, "mixed": 0.5}),
    "large title": _of(**{**BARE, "titles": 1.0}),
    "points beside": _of(**{**BARE, "points": 0.8}),
    "readings beside": _of(**{**BARE, "readings": 0.5}),
    "readings, no rules": _of(**{**BARE, "readings": 0.5, "rules": 0.0}),
    "white on black": _of(**{**BARE, "black": 0.08}),
    "headnotes": _of(**{**BARE, "headnotes": 6.0}),
    "raised": _of(**{**BARE, "raised": 0.3}),
    "few and short": _of(**BARE, columns=7, short=0.9, blank=0.3, indent=0.5),
    "a single column": _of(**BARE, columns=7, short=0.5, blank=0.85),
    "broken rules": _of(**BARE, rules=0.35),
    "table": _of(**BARE, columns=10, registers=4, cells=5, glyph=46.0, cell=52.0, pitch=70.0, short=0.5, indent=0.0),
    "six registers": _of(**BARE, columns=11, registers=6, cells=4, glyph=38.0, cell=44.0, pitch=62.0, short=0.5),
    "black edges": BookKind(change=_with_edges),
    "opened, black edges": BookKind(lambda style: replace(style, leaves=2, fold="gutter"), _with_edges),
    "microfilm": BookKind(change=_on_black),
    "ruler": BookKind(change=_with_ruler),
    "label and stamps": BookKind(change=_with_label),
    "wormholes": BookKind(change=_wormholes),
    "next leaf": BookKind(lambda style: replace(style, leaves=1), _next_leaf),
    "curled": BookKind(change=_curled),
}  # fmt: skip


def draw_book_kind(kind: str, letters: Iterator[str], seed: Sequence[int]) -> Book:
    """Draw a page of a kind, with the characters that `letters` gives."""
    rng = np.random.default_rng([*seed, 21])
    how = KINDS[kind]
    book = draw_book(letters, rng, how.style(book_style(rng)))
    if how.change:
        book = how.change(book, rng)
    return _printed(book, rng)


def _printed(book: Book, rng: np.random.Generator) -> Book:
    """As scanned: a little soft; half of them black and white."""
    image = np.asarray(cv2.GaussianBlur(book.image, (0, 0), float(rng.uniform(0.4, 1.1))), np.float32)
    grain = cv2.GaussianBlur(rng.normal(0, 1, image.shape).astype(np.float32), (0, 0), 1.5)
    image = image + grain * float(rng.uniform(10, 60))
    if rng.random() < 0.5:
        scan = np.where(image > rng.uniform(100, 170), 255.0, 0.0)
    else:
        scan = 40 + 0.72 * np.clip(image, 0, 255) + rng.normal(0, 3, image.shape)
    return replace(book, image=np.clip(scan, 0, 255).astype(np.uint8))
