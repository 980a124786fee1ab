"""Pages in uneven or poor light: the tone of their paper made even, as if no shade lay on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.images.size import shrunk

Grey = NDArray[np.uint8]

SHADE = 31
"""Pixels on a page of working size (1400 high): what is broader than this and dark is shade, not ink."""

HEIGHT = 700
"""Pixels: the light on a page is measured at half that size."""

DEEPEST = 0.25
"""Of the paper's tone: no shade is taken for deeper."""

EVEN = 0.85
"""Of the paper's tone: lighter shade does no harm."""

SHADED = 0.78
"""The same where a page is said to lie in the shade: stains are no shade."""

DIM_PAPER_TONE = 165.0
"""Darker paper is made as light as `WHITE_PAPER_TONE`."""

WHITE_PAPER_TONE = 240.0

DARK = 0.5
"""Of the paper's tone: what is darker and reaches the edge of the image may be what the page lies on."""

LITTLE = 2.0
"""Percent of a page: so much may be as dark as it will, a seal or a tail of solid ink."""

INK = 0.6
"""Of the tone around it: what is darker is ink."""

BARE = 0.004
"""Share of ink in the dark from which there is text on it: then it is paper in the shade."""


PALE_INK_TONE = 185.0
"""Lighter ink is no ink to what looks for it, and is strengthened."""

MIN_CONTRAST = 16.0
"""In tones: ink that stands out from the paper by less cannot be told from its grain."""

STRENGTHENED_CONTRAST = 200.0
"""In tones: by how much ink stands out when it is strengthened."""

DIRT_PERCENT = 0.2
"""Of a page: a few characters cover more."""

TEXT_PERCENT = 3.0
"""Of a page: text covers more, dirt less."""


@dataclass(frozen=True, slots=True)
class EvenPage:
    """A page (grey, height x width) in even light: `paper` is the tone of its paper, `shaded` says whether it lay in
    the shade before."""

    pixels: Grey
    paper: float
    shaded: bool


def evenly_lit(page: Grey, measured: Grey | None = None) -> EvenPage:
    """The page as if its paper were of one light tone, and what it lies on too; one in even light stays as it is.
    `measured` is the page at a smaller size, on which light is measured, if there is one."""
    small, _ = shrunk(page if measured is None else measured, HEIGHT)
    ground = _ground(small, SHADE // 2 | 1)
    paper = _paper(ground)
    beneath = _beneath(small, ground, paper)
    seen = ground[~beneath]
    uneven = bool(seen.size) and float(np.percentile(seen, LITTLE)) < SHADED * paper
    if not uneven and paper >= DIM_PAPER_TONE:
        return EvenPage(page, paper, shaded=False)
    white = max(paper, WHITE_PAPER_TONE) if paper < DIM_PAPER_TONE else paper
    light = np.asarray(white / _smooth(ground, paper, SHADE // 2 | 1), dtype=np.float32)
    light[beneath] = 255.0
    height, width = page.shape
    large = cv2.resize(light, (width, height), interpolation=cv2.INTER_LINEAR)
    return EvenPage(np.asarray(np.minimum(page * large, 255.0), dtype=np.uint8), white, shaded=True)


def strengthened(page: Grey, measured: Grey) -> Grey:
    """A page whose ink is too pale to be told from its paper, with ink that is dark; white where nothing stands out
    from the grain of its paper; any other is handed back itself. `measured` is the page at a smaller size."""
    darkest, ink, paper = (float(value) for value in np.percentile(measured, (DIRT_PERCENT, TEXT_PERCENT, 75)))
    if paper - darkest < MIN_CONTRAST:
        return np.full_like(page, 255)
    if ink < PALE_INK_TONE or paper - ink < MIN_CONTRAST:
        return page
    tones = paper - (paper - np.arange(256)) * (STRENGTHENED_CONTRAST / (paper - ink))
    return np.asarray(cv2.LUT(page, np.clip(tones, 0, 255).astype(np.uint8)), dtype=np.uint8)


def evened(page: Grey) -> Grey:
    """A page of working size as if its paper were of one tone, and what it lies on too, for photographs; one in even
    light stays as it is."""
    ground = _ground(page, SHADE)
    paper = _paper(ground)
    if float(np.percentile(ground, LITTLE)) > EVEN * paper:
        return page
    light = np.asarray(paper / _smooth(ground, paper, SHADE), dtype=np.float32)
    small, _ = shrunk(page, HEIGHT)
    beneath = _beneath(small, _ground(small, SHADE // 2 | 1), paper)
    if beneath.any():
        height, width = page.shape
        light[cv2.resize(beneath.astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST) > 0] = 255.0
    return np.asarray(np.minimum(page * light, 255.0), dtype=np.uint8)


def _ground(page: Grey, shade: int) -> Grey:
    """The tone of the paper at every place: the page without its ink, which is no broader than `shade`."""
    return np.asarray(cv2.morphologyEx(page, cv2.MORPH_CLOSE, np.ones((shade, shade), np.uint8)), dtype=np.uint8)


def _paper(ground: Grey) -> float:
    return max(float(np.percentile(ground, 75)), 1.0)


def _smooth(ground: Grey, paper: float, shade: int) -> NDArray[np.float32]:
    tones = np.maximum(ground.astype(np.float32), np.float32(DEEPEST * paper))
    return np.asarray(cv2.blur(tones, (shade, shade)), dtype=np.float32)


def _beneath(page: Grey, ground: Grey, paper: float) -> NDArray[np.bool_]:
    """Where the table is seen that a page lies on: dark up to the edge of the image, and nothing written on it."""
    dark = (ground < DARK * paper).astype(np.uint8)
    if not dark.any():
        return dark > 0
    side = SHADE // 2 | 1
    count, labels, stats, _ = cv2.connectedComponentsWithStats(dark, connectivity=4)
    height, width = page.shape
    mask = np.zeros(page.shape, dtype=bool)
    for label in range(1, count):
        x, y, w, h, area = (int(value) for value in stats[label])
        if area < side * side or not (x == 0 or y == 0 or x + w == width or y + h == height):
            continue
        here = labels == label
        # ink stands out from the dark around it
        inner = np.asarray(cv2.erode(here.astype(np.uint8), np.ones((side, side), np.uint8)), dtype=np.bool_)
        ink = np.count_nonzero(page[inner] < np.float32(INK) * ground[inner].astype(np.float32))
        if ink < BARE * max(int(inner.sum()), 1):
            mask |= np.asarray(cv2.dilate(here.astype(np.uint8), np.ones((5, 5), np.uint8)), dtype=np.bool_)
    return mask
