"""Measure whether the ink of glyphs reaches the recogniser, and whether that of lines does.

    python -m scripts.bench ink [--pages 40] [--seed 20] [--plain | --real-rules] [--details]

Half-folios are drawn as in `planted`, with difficulties: isolated strokes, glyphs that touch the rules, curved and
broken rules, thick frames (`--plain` leaves these out; with `--real-rules` rules are as wide as on real half-folios and
meet strokes as often). For every pixel it is known whether its ink is of a glyph or of a line. The figures are the
share of each glyph's ink that is in the strips of its own row, which are cut with the transcription, and the ink of
lines in all strips per cell of text. Ink where a glyph lies on a rule is of both: the first figure counts it as the
glyph's, the second leaves it out, since a stroke along a rule that is no broader cannot be seen.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from proof.facsimile.brush import LINES, Owners
from proof.facsimile.render import RenderedPage
from proof.layout.half_folio import Layout
from proof.layout.photograph import page_columns
from proof.layout.strips import DARK, cut_strips
from proof.text.model import Row
from scripts.bench.drawn_pages import Trial, choose, hard, hard_with_real_rules, rendered, worn
from scripts.bench.material import kanripo_texts, tell

LOST = 0.05
"""Share of a glyph's ink that may be lost."""

MIN_INK_PX = 12
"""Minimum ink of a measured glyph, in pixels; one with less is worn away, or a dot."""

ROWS = 21

GRID = 16
"""Pixels between the places of a page that are looked up in its image; those between are interpolated."""


@dataclass(frozen=True, slots=True)
class Conserved:
    """One glyph: the share of its ink that reached the strips of its row, and `free`, of its ink beside all lines."""

    page: str
    line: int
    offset: int
    text: str
    row: Row
    share: float
    free: float


@dataclass(frozen=True, slots=True)
class PageInk:
    """One page: its glyphs, and how many pixels of lines reached any strip."""

    glyphs: tuple[Conserved, ...]
    lines: int
    cell: float
    ruled: bool


def measured(trial: Trial, drawn: RenderedPage) -> PageInk:
    """Cut a drawn page as a check does, and count whose ink is in the strips."""
    layout = page_columns(drawn.image, 8, ROWS)
    assert drawn.owners is not None
    assert drawn.lined is not None
    owners = _on_page(drawn.owners, layout)
    free = _on_page(drawn.lined.astype(np.int16), layout) == 0
    dark = layout.grey < DARK
    strips = _reached(layout, trial, owners.shape)
    count = len(drawn.characters) + 1
    reached_own = np.zeros(owners.shape, np.bool_)
    number_of: dict[tuple[int, Row], list[int]] = {(c.line, c.row): [] for c in drawn.characters}
    for number, character in enumerate(drawn.characters, 1):
        number_of[character.line, character.row].append(number)
    for key, reached in strips.items():
        reached_own |= np.isin(owners, number_of.get(key, [])) & reached
    anywhere = np.logical_or.reduce(list(strips.values())) if strips else np.zeros(owners.shape, np.bool_)
    lines = int(np.count_nonzero(anywhere & dark & (owners == LINES)))
    inked = dark & (owners > 0)
    total, kept, total_free, kept_free = (
        np.bincount(owners[some], minlength=count)
        for some in (inked, inked & reached_own, inked & free, inked & free & reached_own)
    )
    shares, free_shares = (
        kept / np.maximum(total, 1),
        np.where(total_free > 0, kept_free / np.maximum(total_free, 1), 1),
    )
    glyphs = tuple(
        Conserved(c.page, c.line, c.offset, c.text, c.row, float(shares[number]), float(free_shares[number]))
        for number, c in enumerate(drawn.characters, 1)
        if total[number] >= MIN_INK_PX and not c.missing
    )
    pitch = float(np.median([area.cell(ROWS) for area in layout.columns])) if layout.columns else 1.0
    return PageInk(glyphs, lines, pitch * pitch, layout.ruled)


def _on_page(owners: Owners, layout: Layout) -> Owners:
    """Whose ink is where on the rectified page, which may have been laid flat."""
    height, width = layout.grey.shape
    xs, ys = np.arange(0, width + GRID, GRID), np.arange(0, height + GRID, GRID)
    points = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2).astype(np.float64)
    places = layout.rectification.to_file(points).reshape(len(ys), len(xs), 2).astype(np.float32)
    at_x, at_y = np.meshgrid(*(np.arange(size, dtype=np.float32) / GRID for size in (width, height)))
    map_x, map_y = (cv2.remap(np.ascontiguousarray(places[..., i]), at_x, at_y, cv2.INTER_LINEAR) for i in range(2))
    return np.asarray(cv2.remap(owners, map_x, map_y, cv2.INTER_NEAREST), dtype=np.int16)


def _reached(layout: Layout, trial: Trial, shape: tuple[int, ...]) -> dict[tuple[int, Row], NDArray[np.bool_]]:
    """For every column and row the pixels of the page whose ink is in its strips."""
    reached: dict[tuple[int, Row], NDArray[np.bool_]] = {}
    for area, line in zip(layout.columns, trial.page.columns, strict=False):
        for strip in cut_strips(layout, area, line, ROWS):
            place = reached.setdefault((line.number, strip.row), np.zeros(shape, np.bool_))
            top, left = round(strip.top), round(strip.left)
            first, last = max(0, -top), min(strip.clean.shape[0], shape[0] - top)
            part = place[top + first : top + last, left : left + strip.clean.shape[1]]
            part |= strip.clean[first:last, : part.shape[1]] < DARK
    return reached


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--seed", type=int, default=20, help="others are for tuning")
    drawn = parser.add_mutually_exclusive_group()
    drawn.add_argument("--plain", action="store_true", help="pages as `planted` draws them")
    drawn.add_argument("--real-rules", action="store_true", help="hard pages with rules as those of real half-folios")


def measure(options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    dressed = worn if options.plain else hard_with_real_rules if options.real_rules else hard
    trials = choose(kanripo_texts(options.shared), options.pages, options.seed)
    of_trials = [measured(*page) for page in rendered(trials, options.seed, dressed, with_owners=True)]
    glyphs = [glyph for page in of_trials for glyph in page.glyphs]
    lost = sorted((g for g in glyphs if g.share < 1 - LOST), key=lambda g: g.share)
    if options.details:
        for g in lost:
            tell(f"{g.page} {g.line}:{g.offset} {g.text} {g.row} {g.share:.2f} {g.free:.2f}")
    yield "pages; of them ruled; glyphs", f"{len(of_trials)}; {sum(page.ruled for page in of_trials)}; {len(glyphs)}"
    for name, number in (
        ("glyphs that lose over a twentieth, in 1,000", len(lost)),
        ("  of their ink beside all lines", sum(g.free < 1 - LOST for g in glyphs)),
    ):
        yield name, f"{1000 * number / max(len(glyphs), 1):.2f}", "1", str(number)
    for row in Row:
        yield f"  {row}", f"{sum(g.row is row for g in lost)} of {sum(g.row is row for g in glyphs)}"
    yield "ink of glyphs that reaches the recogniser", f"{np.mean([g.share for g in glyphs]):.4f}"
    cells = sum(page.lines / page.cell for page in of_trials) / max(len(glyphs), 1)
    yield "ink of lines that does, in cells for each glyph", f"{cells:.5f}"
