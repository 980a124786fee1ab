"""Pages of kinds that are met less often, drawn as in `plain_pages.py`: each kind by its name (`KINDS`).

A kind differs in its style, in how it is seen, or in what is done to the image afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from proof.facsimile.wear import seal_shape
from proof.text.model import Column, Page
from scripts.bench.plain_pages import Camera, PlainPage, PlainStyle, camera, draw_plain, plain_style

SCAN = Camera(lean=0.2, blur=0.4, noise=2.0)


def _shadowed(page: PlainPage, rng: np.random.Generator) -> PlainPage:
    """The shade of a fold at one side, with the edge of the other page in it."""
    width = page.image.shape[1]
    wide = round(rng.uniform(0.05, 0.14) * width)
    right = bool(rng.random() < 0.5)
    other = page.image[:, :wide] if right else page.image[:, -wide:]
    image = np.hstack([page.image, other] if right else [other, page.image]).astype(np.float32)
    corners = page.corners + np.array([0 if right else wide, 0])
    fold = width if right else wide
    across = np.abs(np.arange(image.shape[1]) - fold)
    depth = rng.uniform(0.4, 0.8)
    image *= 1 - depth * np.exp(-across / (0.035 * width))[None, :]
    return replace(page, image=np.clip(image, 0, 255).astype(np.uint8), corners=corners)


def _held(page: PlainPage, rng: np.random.Generator) -> PlainPage:
    """Fingers at the lower edge, over the margin."""
    image, (height, width) = page.image.copy(), page.image.shape
    low = max(float(page.corners[:, :, 1].max()), 0.6 * height)
    for x in rng.uniform(0.1, 0.9, 2) * width:
        room = max(height - low, 12.0)
        size = round(0.05 * width), round(0.8 * room)
        cv2.ellipse(image, (round(x), height), size, 0, 0, 360, (int(rng.integers(90, 170)),), -1)
    return replace(page, image=cv2.GaussianBlur(image, (0, 0), 0.6))


def _on_table(page: PlainPage, rng: np.random.Generator) -> PlainPage:
    """A table with a grain under the book, dark or light, and the edges of the leaves below."""
    height, width = page.image.shape
    pad = [round(rng.uniform(0.03, 0.15) * width) for _ in range(4)]
    tone = float(rng.choice([40.0, 90.0, 150.0, 200.0]))
    high, wide = height + pad[0] + pad[1], width + pad[2] + pad[3]
    grain = 14 * np.sin(np.arange(high)[:, None] / 7 + 2 * np.sin(np.arange(wide)[None, :] / 90))
    image = np.clip(tone + grain + rng.normal(0, 4, (high, wide)), 0, 255)
    image[pad[0] : pad[0] + height, pad[2] : pad[2] + width] = page.image
    for number in range(5):  # leaves beneath
        x = pad[2] - 3 * (number + 1)
        if x > 0:
            image[pad[0] + 2 * number : pad[0] + height + 2 * number, x] = 120
    return replace(page, image=image.astype(np.uint8), corners=page.corners + np.array([pad[2], pad[0]]))


def _with_figure(page: PlainPage, rng: np.random.Generator) -> PlainPage:
    """A drawing in the left third of the page, whose columns are no text."""
    left = float(page.corners[:, :, 0].min())
    right = float(page.corners[:, :, 0].max())
    edge = left + (right - left) / 3
    kept = [n for n, one in enumerate(page.corners) if one[:, 0].mean() > edge and one[:, 0].min() > edge - 4]
    gone = [n for n in range(len(page.corners)) if n not in kept]
    image = page.image.copy()
    paper = float(np.percentile(image, 80))
    for n in gone:
        cv2.fillPoly(image, [page.corners[n].round().astype(np.int32)], (paper,))
    x0, y0 = round(left), round(float(page.corners[:, :, 1].min()))
    x1 = round(min((float(page.corners[n][:, 0].min()) for n in kept), default=edge)) - 6
    y1 = round(float(page.corners[:, :, 1].max()))
    image[y0:y1, x0:x1] = paper
    cx, cy, rx, ry = (x0 + x1) // 2, (y0 + y1) // 2, (x1 - x0) // 2 - 4, (y1 - y0) // 3
    for share in (1.0, 0.75, 0.4):
        cv2.ellipse(image, (cx, cy), (max(2, round(rx * share)), round(ry * share)), 0, 0, 360, (30,), 3)
    for angle in np.linspace(0, np.pi, 7):
        a = round(rx * np.cos(angle)), round(ry * np.sin(angle))
        cv2.line(image, (cx - a[0], cy - a[1]), (cx + a[0], cy + a[1]), (30,), 2)
    columns = tuple(column for n, column in enumerate(page.page.columns) if n in kept)
    return replace(page, image=image, page=_renumbered(page, columns), corners=page.corners[kept])


def _renumbered(page: PlainPage, columns: Sequence[Column]) -> Page:
    return replace(page.page, cut=tuple(replace(one, number=n) for n, one in enumerate(columns, 1)))


def _sealed(page: PlainPage, rng: np.random.Generator) -> PlainPage:
    """Collectors' seals in the margins and over a column, black and white as copied."""
    image, (height, width) = page.image.copy(), page.image.shape
    for _ in range(3):
        side = round(rng.uniform(0.05, 0.09) * height)
        stamp = seal_shape(side, rng) > 127
        y, x = int(rng.integers(0, height - side)), int(rng.integers(0, width - side))
        part = image[y : y + side, x : x + side]
        part[stamp] = np.minimum(part[stamp], 120)
    return replace(page, image=image)


def _glossed(page: PlainPage, rng: np.random.Generator) -> PlainPage:
    """Glosses in small script in a wide upper margin."""
    height, width = page.image.shape
    room = round(0.22 * height)
    image = np.vstack([np.full((room, width), np.percentile(page.image, 80)), page.image]).astype(np.uint8)
    first = page.corners[: max(1, len(page.corners) // 2)]
    size = 0.45 * float(np.linalg.norm(page.corners[0][0] - page.corners[0][1]))
    for number in range(6):
        x = float(page.corners[:, :, 0].max()) - 40 - 1.3 * number * size
        for row in range(int(rng.integers(4, 8))):
            source = page.corners[int(rng.integers(len(first)))]
            a = source.mean(axis=0)
            half = round(1.1 * size)
            y, c = round(float(a[1])), round(float(a[0]))
            glyph = page.image[max(0, y - half) : y + half, max(0, c - half) : c + half]
            if min(glyph.shape) < 4:
                continue
            small = cv2.resize(glyph, (round(size), round(size)), interpolation=cv2.INTER_AREA)
            top, left = round(0.04 * height + 1.1 * row * size), round(x)
            if top + small.shape[0] < room and left >= 0 and left + small.shape[1] < width:
                image[top : top + small.shape[0], left : left + small.shape[1]] = small
    return replace(page, image=image, corners=page.corners + np.array([0, room]))


def _showing_through(page: PlainPage, rng: np.random.Generator) -> PlainPage:
    behind = cv2.GaussianBlur(page.image[:, ::-1], (0, 0), 1.6).astype(np.float32)
    paper = float(np.percentile(page.image, 80))
    image = page.image - rng.uniform(0.2, 0.45) * (paper - np.minimum(behind, paper))
    return replace(page, image=np.clip(image, 0, 255).astype(np.uint8))


def _in_jpeg(page: PlainPage, rng: np.random.Generator) -> PlainPage:
    _, packed = cv2.imencode(".jpg", page.image, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(12, 25))])
    return replace(page, image=np.asarray(cv2.imdecode(packed, cv2.IMREAD_GRAYSCALE)))


def _black_and_white(page: PlainPage, rng: np.random.Generator) -> PlainPage:
    threshold, _ = cv2.threshold(page.image, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    return replace(page, image=np.where(page.image > threshold + rng.integers(-15, 25), 255, 0).astype(np.uint8))


def _scaled(page: PlainPage, factor: float) -> PlainPage:
    how = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    image = cv2.resize(page.image, None, fx=factor, fy=factor, interpolation=how)
    return replace(page, image=np.asarray(image, np.uint8), corners=page.corners * factor)


def _coarse(page: PlainPage, rng: np.random.Generator) -> PlainPage:
    """As of 100 dots an inch: a page of 25 cm is 1,000 pixels high."""
    return _scaled(page, min(1.0, 1000 / page.image.shape[0]))


def _large(page: PlainPage, rng: np.random.Generator) -> PlainPage:
    """Thirty megapixels."""
    return _scaled(page, float(np.sqrt(30e6 / page.image.size)))


def _cut(page: PlainPage, rng: np.random.Generator) -> PlainPage:
    """The lower part of the page cut off, with two characters of each column."""
    high = float(np.median(np.linalg.norm(page.corners[:, 0] - page.corners[:, 3], axis=1)))
    low = round(float(page.corners[:, :, 1].max()) - 0.12 * high)
    return replace(page, image=np.ascontiguousarray(page.image[:low]))


def _cut_above(page: PlainPage, rng: np.random.Generator) -> PlainPage:
    """The upper part of the page cut off, with two characters of each column of the first register."""
    high = float(np.median(np.linalg.norm(page.corners[:, 0] - page.corners[:, 3], axis=1)))
    first = round(float(page.corners[:, :, 1].min()) + 0.12 * high)
    image = np.ascontiguousarray(page.image[first:])
    return replace(page, image=image, corners=page.corners - np.array([0, first]))


def _curved(page: PlainPage, rng: np.random.Generator) -> PlainPage:
    """Columns bent sideways, more at one side, by half a column."""
    height, width = page.image.shape
    wide = float(np.median(np.abs(page.corners[:, 1, 0] - page.corners[:, 0, 0])))
    xs, ys = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    depth = float(rng.uniform(0.3, 0.9)) * wide * (1 if rng.random() < 0.5 else -1)
    shift = depth * np.sin(np.pi * ys / height) * (0.3 + 0.7 * xs / width)
    image = cv2.remap(page.image, xs + shift, ys, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    corners = page.corners.copy()
    across = corners[..., 0] / width
    corners[..., 0] -= depth * np.sin(np.pi * corners[..., 1] / height) * (0.3 + 0.7 * across)
    return replace(page, image=np.asarray(image, np.uint8), corners=corners)


def _half_rubbed(page: PlainPage, rng: np.random.Generator) -> PlainPage:
    """The right half of the page, white on black, with paper around it."""
    image, (height, width) = page.image.copy(), page.image.shape
    xs = np.sort(page.corners[:, :, 0].min(axis=1))
    edge = round(float(xs[np.searchsorted(xs, (xs[0] + xs[-1]) / 2)])) - 1
    margin = round(0.02 * height)
    block = np.s_[margin : height - margin, edge : width - margin]
    image[block] = 255 - image[block]
    return replace(page, image=image)


Change = Callable[[PlainPage, np.random.Generator], PlainPage]
Restyle = Callable[[PlainStyle], PlainStyle]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of page: how its style differs, how it is seen (None: at random, as a scan), what is done afterwards."""

    style: Restyle = lambda style: style
    seen: Camera | None = None
    change: Change | None = None


def _of(**changes: object) -> Restyle:
    return lambda style: replace(style, **changes)


def _many(style: PlainStyle) -> PlainStyle:
    return replace(style, leaves=1, registers=1, columns=24, cells=22, glyph=32, pitch=42, cell=36)


def _sparse(style: PlainStyle) -> PlainStyle:
    one = replace(style, leaves=1, registers=1, columns=10, cells=18, glyph=45, pitch=63, cell=50)
    return replace(one, indent=0.85, short=0.85)


KINDS: dict[str, Kind] = {
    "many columns": Kind(_many),
    "many columns in registers": Kind(_of(leaves=1, registers=2, columns=26, cells=17, glyph=30, pitch=36, cell=34)),
    "few columns": Kind(_of(leaves=1, registers=1, columns=4, cells=11, glyph=64, pitch=90, cell=72)),
    "three registers": Kind(_of(leaves=1, registers=3, columns=14, cells=10, glyph=34, pitch=46, cell=38)),
    "points": Kind(_of(points=0.8)),
    "side lines": Kind(_of(lines=0.25)),
    "numbers between columns": Kind(_of(marks=0.5)),
    "contents": Kind(lambda style: replace(_sparse(style), notes=0.5, verse=0.0)),
    "colophon": Kind(lambda style: replace(_sparse(style), blank=0.4)),
    "double frame": Kind(_of(frame="double")),
    "openings": Kind(_of(leaves=2)),
    "titles": Kind(_of(leaves=1, registers=1, columns=3, cells=7, glyph=120, pitch=190, cell=140)),
    "skewed": Kind(seen=replace(SCAN, lean=2.4)),
    "shade of the fold": Kind(change=_shadowed),
    "fingers": Kind(change=_held),
    "on a table": Kind(change=_on_table),
    "figure": Kind(_of(leaves=1, registers=1, columns=12, cells=18, glyph=40, pitch=56, cell=46), change=_with_figure),
    "seals": Kind(change=_sealed),
    "glosses": Kind(_of(registers=1, leaves=1), change=_glossed),
    "show-through": Kind(change=_showing_through),
    "poor JPEG": Kind(change=_in_jpeg),
    "black and white": Kind(change=_black_and_white),
    "100 dpi": Kind(change=_coarse),
    "30 megapixels": Kind(change=_large),
    "cut off below": Kind(_of(registers=1, leaves=1), change=_cut),
    "cut off above": Kind(_of(registers=1, leaves=1), change=_cut_above),
    "registers cut off below": Kind(_of(registers=3, leaves=1, columns=14, cells=11), change=_cut),
    "registers cut off above": Kind(_of(registers=2, leaves=1, columns=14, cells=16), change=_cut_above),
    "curved": Kind(change=_curved),
    "white on black": Kind(_of(black=0.06)),
    "black blocks": Kind(_of(blocks=0.2)),
    "half a rubbing": Kind(_of(leaves=1, frame="single"), change=_half_rubbed),
}  # fmt: skip


def draw_kind(kind: str, letters: Iterator[str], seed: Sequence[int], name: str) -> PlainPage:
    """Draw a page of a kind, with the characters that `letters` gives."""
    how = KINDS[kind]
    style = how.style(plain_style(np.random.default_rng([*seed, 7])))
    seen = how.seen or camera(np.random.default_rng([*seed, 9]), False)
    page = draw_plain(letters, seed, False, name, style, seen)
    return how.change(page, np.random.default_rng([*seed, 11])) if how.change else page
