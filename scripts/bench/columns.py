"""Measure the columns found on the real pages of `shared/facsimile/columns`, unchanged and with changes that do not
affect which columns there are; or on books drawn in many styles.

    python -m scripts.bench columns [--changes plain,larger,...] [--names 002,...] [--seed 1]
    python -m scripts.bench columns --drawn all|KIND,... [--pages 10] [--first 0] [--checked]

A page is scaled, turned a little, cropped tightly or given a wide or black surround, stored as a poor JPEG, in grey,
darkened, worn, put beside another leaf as an opening, or cut into its leaves. The found columns are mapped back to the
unchanged page and scored by `shared/bench/columns.py` against boxes that people drew. For each change: F1, and the
pages with errors, which are drawn with the found columns into `--keep`. `book_pages.py` draws the books of a kind. With
`--checked` columns are found as in a check, which finds those of ruled pages in another way.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from proof.layout.ink import has_ink
from proof.layout.page import FoundColumn, PageLayout, find_columns
from proof.layout.photograph import page_columns
from proof.verify.page import MIN_COLUMN_INK
from scripts.bench.book_pages import KINDS, draw_book_kind
from scripts.bench.material import TableRow, letters
from scripts.bench.pool import shared_module
from scripts.bench.sheet import Box, Pixels

TEXT = ("text", "subText", "subText2")
ROOM = 0.02
CELL_MARGIN_GLYPHS = 0.3
"""Margin of a cell above and below its character, in widths of the glyphs."""

IDENTITY = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


@dataclass(frozen=True, slots=True)
class Real:
    """A page with the boxes that people drew (kind, x, y, w, h in its pixels), and `matrix` (2 x 3), which takes these
    pixels to those of `image`."""

    image: Pixels
    boxes: tuple[Box, ...]
    matrix: NDArray[np.float64]

    def moved(self, image: Pixels, matrix: NDArray[np.float64]) -> Real:
        """The same on another image, whose pixels are so many of this one's."""
        return Real(image, self.boxes, (np.vstack([matrix, [0, 0, 1]]) @ np.vstack([self.matrix, [0, 0, 1]]))[:2])

    @property
    def text(self) -> tuple[float, float, float, float]:
        """What holds all the boxes of text: left, top, right, bottom."""
        own = np.array([box[1:] for box in self.boxes if box[0] in TEXT])
        return (
            float(own[:, 0].min()),
            float(own[:, 1].min()),
            float((own[:, 0] + own[:, 2]).max()),
            float((own[:, 1] + own[:, 3]).max()),
        )


Change = Callable[[Real, np.random.Generator], Real]


def scaled(factor: float) -> Change:
    def change(page: Real, rng: np.random.Generator) -> Real:
        how = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
        image = cv2.resize(page.image, None, fx=factor, fy=factor, interpolation=how)
        return page.moved(np.asarray(image, np.uint8), np.array([[factor, 0.0, 0.0], [0.0, factor, 0.0]]))

    return change


def turned(degrees: float) -> Change:
    def change(page: Real, rng: np.random.Generator) -> Real:
        height, width = page.image.shape
        matrix = np.asarray(cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0), np.float64)
        image = cv2.warpAffine(page.image, matrix, (width, height), flags=cv2.INTER_CUBIC, borderValue=(255,))
        return page.moved(np.asarray(image, np.uint8), matrix)

    return change


def cropped(page: Real, rng: np.random.Generator) -> Real:
    """Close to the text on all four sides."""
    height = page.image.shape[0]
    left, top, right, bottom = page.text
    room = rng.uniform(0.3, 1.5, 4) * ROOM * height
    return _window(page, left - room[0], top - room[1], right + room[2], bottom + room[3])


def _window(page: Real, left: float, top: float, right: float, bottom: float) -> Real:
    height, width = page.image.shape
    x0, y0, x1, y1 = max(0, round(left)), max(0, round(top)), min(width, round(right)), min(height, round(bottom))
    cut = np.ascontiguousarray(page.image[y0:y1, x0:x1])
    return page.moved(cut, np.array([[1.0, 0.0, -x0], [0.0, 1.0, -y0]]))


def surrounded(tone: int) -> Change:
    def change(page: Real, rng: np.random.Generator) -> Real:
        height = page.image.shape[0]
        above, below, left, right = (rng.uniform(0.03, 0.15, 4) * height).round().astype(int).tolist()
        image = cv2.copyMakeBorder(page.image, above, below, left, right, cv2.BORDER_CONSTANT, value=(tone,))
        return page.moved(np.asarray(image, np.uint8), np.array([[1.0, 0.0, left], [0.0, 1.0, above]]))

    return change


def jpeg(page: Real, rng: np.random.Generator) -> Real:
    _, packed = cv2.imencode(".jpg", page.image, [cv2.IMWRITE_JPEG_QUALITY, 40])
    return Real(np.asarray(cv2.imdecode(packed, cv2.IMREAD_GRAYSCALE)), page.boxes, page.matrix)


def grey(page: Real, rng: np.random.Generator) -> Real:
    """As it was before it was made black and white: soft, on paper that is no white."""
    soft = cv2.GaussianBlur(page.image, (0, 0), 1.5).astype(np.float32)
    grain = cv2.GaussianBlur(rng.normal(0, 30, page.image.shape).astype(np.float32), (0, 0), 2.0)
    image = 60 + soft * (0.62 + 0.002 * grain) + rng.normal(0, 4, soft.shape)
    return Real(np.clip(image, 0, 255).astype(np.uint8), page.boxes, page.matrix)


def darkened(page: Real, rng: np.random.Generator) -> Real:
    """A third of its light, and less to one side."""
    across = np.linspace(0.45, 0.25, page.image.shape[1])[None, :]
    return Real((page.image * across + 8).astype(np.uint8), page.boxes, page.matrix)


def mirrored_margins(page: Real, rng: np.random.Generator) -> Real:
    """The margins left and right exchanged."""
    height, width = page.image.shape
    left, _, right, _ = page.text
    a, b = max(0, round(left - ROOM * height)), min(width, round(right + ROOM * height))
    image = np.hstack([page.image[:, b:][:, ::-1], page.image[:, a:b], page.image[:, :a][:, ::-1]])
    return page.moved(np.ascontiguousarray(image), np.array([[1.0, 0.0, width - b - a], [0.0, 1.0, 0.0]]))


def thinner(page: Real, rng: np.random.Generator) -> Real:
    """A pale print, scanned too light."""
    pale = cv2.dilate(page.image, np.ones((2, 2), np.uint8))
    return Real(np.asarray(pale, np.uint8), page.boxes, page.matrix)


def thicker(page: Real, rng: np.random.Generator) -> Real:
    """A heavy print, scanned too dark."""
    heavy = cv2.erode(page.image, np.ones((3, 3), np.uint8))
    return Real(np.asarray(heavy, np.uint8), page.boxes, page.matrix)


def speckled(page: Real, rng: np.random.Generator) -> Real:
    """A microfilm: black and white dust of one to five pixels."""
    image = page.image.copy()
    height, width = image.shape
    for tone in (0, 255):
        for _ in range(round(image.size * 2e-4)):
            x, y, size = int(rng.integers(width)), int(rng.integers(height)), int(rng.integers(1, 6))
            image[y : y + size, x : x + size] = tone
    return Real(image, page.boxes, page.matrix)


def bent(page: Real, rng: np.random.Generator) -> Real:
    """Columns that bow by a third of one."""
    height, width = page.image.shape
    wide = float(np.median([w for kind, _, _, w, _ in page.boxes if kind == "text"]))
    xs, ys = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    shift = 0.17 * wide * np.cos(2 * np.pi * ys / height)
    image = cv2.remap(page.image, xs + shift.astype(np.float32), ys, cv2.INTER_CUBIC, borderValue=(255,))
    return Real(np.asarray(image, np.uint8), page.boxes, page.matrix)


def leaf_of(right: bool) -> Change:
    """One leaf of an opening with a strip of the other; a single leaf as it is."""

    def change(page: Real, rng: np.random.Generator) -> Real:
        height, width = page.image.shape
        if width < 0.9 * height:
            return page
        left, _, end, _ = page.text
        middle = _gap(page) or (left + end) / 2
        over = float(rng.uniform(0.0, 0.015)) * height
        window = (middle - over, 0, width, height) if right else (0, 0, middle + over, height)
        kept = tuple(box for box in page.boxes if (box[1] + box[3] / 2 > middle) == right)
        return _window(Real(page.image, kept, page.matrix), *window)

    return change


def beside_itself(page: Real, rng: np.random.Generator) -> Real:
    """A single leaf as the right and the left leaf of an opening; an opening as it is."""
    height, width = page.image.shape
    if width >= 0.9 * height:
        return page
    again = tuple((kind, x + width, y, w, h) for kind, x, y, w, h in page.boxes)
    return Real(np.hstack([page.image, page.image]), page.boxes + again, page.matrix)


def _gap(page: Real) -> float | None:
    """The middle of the widest gap between columns near the middle of an opening."""
    left, _, right, _ = page.text
    spans = sorted((box[1], box[1] + box[3]) for box in page.boxes if box[0] in TEXT)
    gaps, end = [], spans[0][1]
    for a, b in spans[1:]:
        if a > end and abs((a + end) / 2 - (left + right) / 2) < 0.12 * (right - left):
            gaps.append((a - end, (a + end) / 2))
        end = max(end, b)
    return max(gaps, default=(0.0, None))[1]


CHANGES: dict[str, Change] = {
    "plain": lambda page, rng: page,
    "half size": scaled(0.5),
    "larger": scaled(1.5),
    "turned right": turned(-3.0),
    "turned left": turned(3.0),
    "turned a little": turned(1.3),
    "cropped": cropped,
    "wide margins": surrounded(255),
    "black surround": surrounded(0),
    "poor JPEG": jpeg,
    "grey": grey,
    "darkened": darkened,
    "mirrored margins": mirrored_margins,
    "thinner": thinner,
    "thicker": thicker,
    "speckled": speckled,
    "bent": bent,
    "right leaf": leaf_of(True),
    "left leaf": leaf_of(False),
    "opening": beside_itself,
}


def read(path: Path) -> Real:
    image = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
    assert image is not None, path
    rows = path.with_suffix(".tsv").read_text(encoding="utf-8").splitlines()[1:]
    boxes = []
    for row in rows:
        kind, x, y, w, h = row.split("\t")
        boxes.append((kind, float(x), float(y), float(w), float(h)))
    return Real(np.asarray(image, np.uint8), tuple(boxes), IDENTITY)


def found_on(page: Real) -> list[dict[str, float]]:
    """The columns in the pixels in which the boxes were drawn, as upright boxes."""
    columns_found = find_columns(page.image)
    back = np.asarray(cv2.invertAffineTransform(page.matrix), np.float64)
    columns = []
    for column in columns_found.columns:
        left, top, right, bottom = with_room(columns_found, column)
        ends = [(left, top), (right, top), (right, bottom), (left, bottom)]
        corners = columns_found.sheet.rectification.to_file(np.array(ends, np.float64)) @ back[:, :2].T + back[:, 2]
        (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
        columns.append({"x": float(x0), "y": float(y0), "w": float(x1 - x0), "h": float(y1 - y0)})
    return columns


def with_room(layout: PageLayout, column: FoundColumn) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a column with the whole cells of its first and its last character, within its
    register."""
    region, room = layout.regions[column.register - 1], CELL_MARGIN_GLYPHS * column.glyph
    top, bottom = min(column.top, region.top), max(column.bottom, region.bottom)
    return column.left, max(top, column.top - room), column.right, min(bottom, column.bottom + room)


def picture_of(page: Real, found: Sequence[dict[str, float]]) -> Pixels:
    """The page with the columns found drawn in."""
    picture = cv2.cvtColor(page.image, cv2.COLOR_GRAY2BGR)
    for x, y, w, h in (column.values() for column in found):
        corners = np.array([[x, y, 1], [x + w, y, 1], [x + w, y + h, 1], [x, y + h, 1]])
        cv2.polylines(picture, [np.round(corners @ page.matrix.T).astype(np.int32)], True, (40, 40, 220), 2)
    return np.asarray(picture, np.uint8)


def f1(counts: Counter[str]) -> float:
    right, wrong = counts["right"], counts["boxes"] - counts["right"] + counts["false"]
    return 2 * right / max(1, 2 * right + wrong)


def checked_on(page: Real) -> list[dict[str, float]]:
    """The columns as a check of the page finds them, those that it reads: nothing is read between rules without ink."""
    layout = page_columns(page.image, 8, 21)
    outline = layout.outline
    inked = [a for a in outline.columns if has_ink(layout.ink, a.left, a.top, a.right, a.bottom, MIN_COLUMN_INK)]
    areas = inked if outline.ruled else []
    boxes = [outline.file_box(a.left, a.top - a.raised, a.right, a.bottom) for a in areas]
    return [{"x": box.x, "y": box.y, "w": box.w, "h": box.h} for box in boxes]


def drawn_books(shared: Path, kinds: Sequence[str], seeds: Sequence[int]) -> Iterator[tuple[str, str, Real]]:
    for kind in kinds:
        for seed in seeds:
            book = draw_book_kind(kind, letters(shared, np.random.default_rng([seed, 22])), [seed])
            yield kind, f"{seed}", Real(book.image, book.boxes, IDENTITY)


def real_books(
    shared: Path, changes: Sequence[str], names: Sequence[str], seed: int
) -> Iterator[tuple[str, str, Real]]:
    for change in changes:
        for path in sorted((shared / "facsimile/columns").glob("*.jpg")):
            if not names or path.stem in names:
                yield change, path.stem, CHANGES[change](read(path), np.random.default_rng([seed, int(path.stem)]))


HEADINGS = ("change or kind", "F1", "boxes", "false", "pages with something wrong")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--changes", default=",".join(CHANGES))
    parser.add_argument("--names", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--drawn", default="")
    parser.add_argument("--pages", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--checked", action="store_true")


def _books(options: argparse.Namespace) -> Iterator[tuple[str, str, Real]]:
    if not options.drawn:
        names = [name for name in options.names.split(",") if name]
        return real_books(options.shared, options.changes.split(","), names, options.seed)
    kinds = list(KINDS) if options.drawn == "all" else options.drawn.split(",")
    return drawn_books(options.shared, kinds, range(options.first, options.first + options.pages))


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    score = shared_module(options.shared, "columns").score
    total: Counter[str] = Counter()
    pages: dict[str, Counter[str]] = {}
    for sort, books in groupby(_books(options), key=lambda book: book[0]):
        counts: Counter[str] = Counter()
        wrong = []
        for _, name, page in books:
            found = (checked_on if options.checked else found_on)(page)
            own = Counter(score(page.boxes, found))
            counts += own
            pages.setdefault(name, Counter()).update(own)
            if own["right"] < own["boxes"] or own["false"]:
                wrong.append(f"{name}: {own['right']} of {own['boxes']}, {own['false']} false")
                cv2.imwrite(str(options.folder / f"{sort}-{name}.png"), picture_of(page, found))
        total += counts
        yield _row(sort, counts, "; ".join(wrong))
    if not options.drawn:
        yield from (_row(f"page {name}", own) for name, own in pages.items())
    yield _row("all", total)


def _row(name: str, counts: Counter[str], wrong: str = "") -> TableRow:
    return name, f"{f1(counts):.4f}", f"{counts['right']} of {counts['boxes']}", str(counts["false"]), wrong
