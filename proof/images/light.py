"""Evens the tone of the paper of pages in uneven or poor light."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.images.size import shrunk

Grey = NDArray[np.uint8]

# Tones are 0 (black) to 255 (white); shares of tones are relative to the tone of the paper.
SHADE_PX = 31
"""Breadth above which a dark area is shade, not ink, on a page 1400 pixels high."""

LIGHT_HEIGHT_PX = 700
"""Height to which a page is scaled to measure its light."""

SMALL_SHADE_PX = SHADE_PX // 2 | 1
"""The same on a page `LIGHT_HEIGHT_PX` high, half of 1400; odd, as filters have a middle pixel."""

MIN_SHADE_TONE = 0.25
"""Tone of the deepest shade, as a share of the paper's tone; darker areas are treated as if they had this one."""

HARMLESS_SHADE_TONE = 0.85
"""Share of the paper's tone above which shade need not be corrected on a page of working size (`evened`)."""

REPORTED_SHADE_TONE = 0.78
"""Share of the paper's tone below which shade on a photograph is corrected and reported (`evenly_lit`); stains are
lighter."""

DIM_PAPER_TONE = 165.0
"""Tone of paper below which it is lightened to `WHITE_PAPER_TONE`."""

WHITE_PAPER_TONE = 240.0
"""Tone of lightened paper."""

TABLE_TONE = 0.5
"""Share of the paper's tone below which an area at the edge of the image may be the table under the page."""

IGNORED_DARK_PERCENT = 2.0
"""Percentage of a page that may be dark without being shade, such as a seal or a solid block of ink."""

INK_TONE = 0.6
"""Tone below which a pixel is ink, as a share of the tone around it."""

MIN_TEXT_SHARE = 0.004
"""Minimum share of ink in a dark area for it to be paper in the shade with text on it, not the table."""

PALE_INK_TONE = 185.0
"""Minimum tone of ink that is so pale that it is strengthened."""

MIN_CONTRAST = 16.0
"""Difference of the tones of ink and paper below which ink cannot be distinguished from the grain of the paper."""

STRENGTHENED_CONTRAST = 200.0
"""Difference of the tones of ink and paper after ink was strengthened."""

DIRT_PERCENT = 0.2
"""Maximum percentage of a page that dirt covers; a few characters cover more."""

TEXT_PERCENT = 3.0
"""Minimum percentage of a page that text covers; dirt covers less."""

WHITENING_FACTOR = 255.0
"""Factor of a tone that makes every tone white."""


@dataclass(frozen=True, slots=True)
class EvenPage:
    """A page (grey, height x width) in even light. `paper` is the tone of its paper. `shaded`: its light was uneven or
    its paper dim, and was corrected."""

    pixels: Grey
    paper: float
    shaded: bool


def evenly_lit(page: Grey, measured: Grey | None = None) -> EvenPage:
    """A photograph with its paper, and the table around it, in one light tone; unchanged if its light is even and its
    paper not dim. `measured` is the page at a smaller size, if available: light is then measured on it."""
    small, _ = shrunk(page if measured is None else measured, LIGHT_HEIGHT_PX)
    ground = _ground(small, SMALL_SHADE_PX)
    paper = _paper(ground)
    table = _table(small, ground, paper)
    on_page = ground[~table]
    uneven = bool(on_page.size) and float(np.percentile(on_page, IGNORED_DARK_PERCENT)) < REPORTED_SHADE_TONE * paper
    if not uneven and paper >= DIM_PAPER_TONE:
        return EvenPage(page, paper, shaded=False)
    white = WHITE_PAPER_TONE if paper < DIM_PAPER_TONE else paper
    factors = np.asarray(white / _smooth(ground, paper, SMALL_SHADE_PX), dtype=np.float32)
    factors[table] = WHITENING_FACTOR
    height, width = page.shape
    factors_of_page = cv2.resize(factors, (width, height), interpolation=cv2.INTER_LINEAR)
    return EvenPage(np.asarray(np.minimum(page * factors_of_page, 255.0), dtype=np.uint8), white, shaded=True)


def strengthened(page: Grey, measured: Grey) -> Grey:
    """A page whose ink is too pale, with dark ink; all white if nothing on it differs from the grain of its paper.
    Other pages are returned unchanged. `measured` is the page at a smaller size."""
    darkest, ink, paper = (float(value) for value in np.percentile(measured, (DIRT_PERCENT, TEXT_PERCENT, 75)))
    if paper - darkest < MIN_CONTRAST:
        return np.full_like(page, 255)
    if ink < PALE_INK_TONE or paper - ink < MIN_CONTRAST:
        return page
    tones = paper - (paper - np.arange(256)) * (STRENGTHENED_CONTRAST / (paper - ink))
    return np.asarray(cv2.LUT(page, np.clip(tones, 0, 255).astype(np.uint8)), dtype=np.uint8)


def evened(page: Grey) -> Grey:
    """A page of working size with its paper, and the table around it, in one tone; unchanged if its light is even."""
    ground = _ground(page, SHADE_PX)
    paper = _paper(ground)
    if float(np.percentile(ground, IGNORED_DARK_PERCENT)) > HARMLESS_SHADE_TONE * paper:
        return page
    factors = np.asarray(paper / _smooth(ground, paper, SHADE_PX), dtype=np.float32)
    small, _ = shrunk(page, LIGHT_HEIGHT_PX)
    table = _table(small, _ground(small, SMALL_SHADE_PX), paper)
    if table.any():
        height, width = page.shape
        table_on_page = cv2.resize(table.astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST) > 0
        factors[table_on_page] = WHITENING_FACTOR
    return np.asarray(np.minimum(page * factors, 255.0), dtype=np.uint8)


def _ground(page: Grey, shade: int) -> Grey:
    """The tone of the paper at every pixel: the page without ink, that is, without dark areas of at most the breadth
    `shade`."""
    return np.asarray(cv2.morphologyEx(page, cv2.MORPH_CLOSE, np.ones((shade, shade), np.uint8)), dtype=np.uint8)


def _paper(ground: Grey) -> float:
    """The tone of the paper where it is in the light."""
    return max(float(np.percentile(ground, 75)), 1.0)


def _smooth(ground: Grey, paper: float, shade: int) -> NDArray[np.float32]:
    """The tone of the paper at every pixel, without sudden changes and no darker than the deepest shade."""
    tones = np.maximum(ground.astype(np.float32), np.float32(MIN_SHADE_TONE * paper))
    return np.asarray(cv2.blur(tones, (shade, shade)), dtype=np.float32)


def _table(page: Grey, ground: Grey, paper: float) -> NDArray[np.bool_]:
    """The area of the table under a page: dark up to an edge of the image, and without text."""
    dark = (ground < TABLE_TONE * paper).astype(np.uint8)
    if not dark.any():
        return dark > 0
    _, labels, stats, _ = cv2.connectedComponentsWithStats(dark, connectivity=4)
    height, width = page.shape
    square = np.ones((SMALL_SHADE_PX, SMALL_SHADE_PX), np.uint8)
    table = np.zeros(page.shape, dtype=bool)
    for label, (x, y, w, h, area) in enumerate(stats.tolist()[1:], 1):
        at_edge = x == 0 or y == 0 or x + w == width or y + h == height
        if area < SMALL_SHADE_PX**2 or not at_edge:
            continue
        dark_area = (labels == label).astype(np.uint8)
        inner = np.asarray(cv2.erode(dark_area, square), dtype=np.bool_)
        # ink is darker than the dark area around it
        ink = np.count_nonzero(page[inner] < np.float32(INK_TONE) * ground[inner].astype(np.float32))
        if ink < MIN_TEXT_SHARE * max(int(inner.sum()), 1):
            table |= np.asarray(cv2.dilate(dark_area, np.ones((5, 5), np.uint8)), dtype=np.bool_)
    return table
