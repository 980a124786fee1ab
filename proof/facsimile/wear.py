"""Simulated wear of a page: skew, broken rules, specks, bleed-through, seal, stains, blur, JPEG.

All effects use the page's own random generator, so that a seed determines the page.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proof.facsimile.brush import Canvas, Owners, Points
from proof.facsimile.fonts import MIN_INK_COVERAGE
from proof.images.opencv import cv2
from proof.ocr.engine import Pixels

MAX_TILE_PX = 640
"""Maximum side of a computed tile of noise; larger areas repeat the tile."""
SPECK_SUBPIXEL_BITS = 3
"""Number of fractional bits in the coordinates of specks."""

Plane = NDArray[np.float32]
Homography = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Wear:
    """How worn a page is. Shares and strengths lie between 0 (none) and 1.

    - `skew`: the largest angle in degrees
    - `keystone`: displacement of the corners by a camera that stood askew, as a share of the shorter side
    - `broken`: share of rules and frames that did not print
    - `specks`: their number in a million pixels
    - `bleed`: how strongly the other side shows through
    - `seal`: how densely a seal prints over the text
    - `stains`: share of the paper of all pages that is stained
    - `fade`: how unevenly the page was inked
    - `grain`: how ragged the edges are
    - `blur`: in pixels at scale 1
    - `grey`: keep the tones of a photograph, instead of black and white as in a facsimile
    - `jpeg`: quality from 1 to 100, None for no loss
    """

    skew: float = 0.0
    keystone: float = 0.0
    broken: float = 0.0
    specks: float = 0.0
    bleed: float = 0.0
    seal: float = 0.0
    stains: float = 0.0
    fade: float = 0.0
    grain: float = 0.0
    blur: float = 0.0
    grey: bool = False
    jpeg: int | None = None


LEVELS: dict[str, Wear] = {
    "none": Wear(),
    "light": Wear(skew=0.5, broken=0.08, specks=40, seal=0.35, fade=0.2, grain=0.3),
    "moderate": Wear(
        skew=1.2, keystone=0.002, broken=0.18, specks=90, bleed=0.07, seal=0.5, stains=0.01, fade=0.35, grain=0.45
    ),
    "heavy": Wear(
        skew=3.0,
        keystone=0.004,
        broken=0.4,
        specks=250,
        bleed=0.4,
        seal=0.7,
        stains=0.05,
        fade=0.6,
        grain=0.7,
        blur=0.7,
        jpeg=70,
    ),
}
"""The levels of wear by name, as on the command line."""


def without_seal(wear: Wear) -> Wear:
    """The same wear, of a page without a seal."""
    return replace(wear, seal=0.0)


def skewing(size: tuple[int, int], wear: Wear, angle: float, rng: np.random.Generator) -> Homography:
    """The map from the drawn page to the photographed page: a turn about the centre by `angle` degrees (clockwise on
    the image), with the keystone of the wear. `size` is width, height."""
    width, height = size
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float64)
    turn = np.radians(angle)
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    centre = np.array([width / 2, height / 2])
    turned = (corners - centre) @ rotation + centre
    turned += rng.standard_normal((4, 2)) * wear.keystone / 2 * min(width, height)
    matrix = cv2.getPerspectiveTransform(corners.astype(np.float32), turned.astype(np.float32))
    return np.asarray(matrix, dtype=np.float64)


def moved(points: Points, homography: Homography) -> Points:
    """Points of the drawn page, mapped to the photographed page; n x 2."""
    homogeneous = np.c_[points, np.ones(len(points))] @ homography.T
    return np.asarray(homogeneous[:, :2] / homogeneous[:, 2:], dtype=np.float64)


def mirroring(size: tuple[int, int], onto: tuple[int, int]) -> Homography:
    """The map that turns a canvas over, left to right, and stretches it onto another size (width, height)."""
    across, down = onto[0] / size[0], onto[1] / size[1]
    return np.array([[-across, 0, onto[0]], [0, down, 0], [0, 0, 1]], np.float64)


def photographed(canvas: Canvas, homography: Homography, size: tuple[int, int]) -> Canvas:
    """A canvas after the skew, of this size (width, height); bare outside of the page."""
    return np.asarray(cv2.warpPerspective(canvas, _centred(homography), size, flags=cv2.INTER_LINEAR), dtype=np.uint8)


def photographed_owners(owners: Owners, homography: Homography, size: tuple[int, int]) -> Owners:
    """The owners of ink after the skew."""
    return np.asarray(cv2.warpPerspective(owners, _centred(homography), size, flags=cv2.INTER_NEAREST), dtype=np.int16)


def _centred(homography: Homography) -> Homography:
    """The same map in the coordinates of OpenCV, which count from the centre of the first pixel, not its corner."""
    half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    return np.asarray(np.linalg.inv(half) @ homography @ half, dtype=np.float64)


def _clouds(shape: tuple[int, int], sigma: float, rng: np.random.Generator) -> Plane:
    """Smooth noise with features about `sigma` pixels wide, mean 0, standard deviation 1."""
    step = max(sigma / 1.5, 1.0)
    rows, columns = int(shape[0] / step) + 4, int(shape[1] / step) + 4
    # fine noise repeats one tile: at this grain neither eye nor engine notices
    tile = (min(rows, MAX_TILE_PX), min(columns, MAX_TILE_PX))
    coarse = rng.integers(-128, 128, tile, dtype=np.int8).astype(np.float32)
    coarse = np.asarray(cv2.GaussianBlur(coarse, (0, 0), sigma / step), dtype=np.float32)
    coarse /= max(float(coarse.std()), 1e-6)
    if tile != (rows, columns):
        coarse = np.tile(coarse, (-(-rows // tile[0]), -(-columns // tile[1])))[:rows, :columns]
    if step == 1.0:
        return np.ascontiguousarray(coarse[: shape[0], : shape[1]])
    return np.asarray(cv2.resize(coarse, (shape[1], shape[0]), interpolation=cv2.INTER_LINEAR), dtype=np.float32)


def seal_shape(side: int, rng: np.random.Generator) -> Canvas:
    """A square seal in relief characters (朱文) of `side` pixels: a frame, and four characters folded into bars."""
    shape = np.full((side, side), 255, np.uint8)
    border = side // 11
    shape[border:-border, border:-border] = 0
    stroke = max(side // 21, 1)
    quarter = (side - 2 * border) // 2
    for corner_y in (border, border + quarter):
        for corner_x in (border, border + quarter):
            x0, y0 = corner_x + stroke, corner_y + stroke
            x1, y1 = corner_x + quarter - stroke, corner_y + quarter - stroke
            bars = range(y0, y1 - stroke + 1, 2 * stroke)
            for y in bars:
                if rng.random() < 0.8:
                    shape[y : y + stroke, x0:x1] = 255
                if y + 3 * stroke <= y1:  # the fold that joins this bar to the next
                    x = x0 if rng.random() < 0.5 else x1 - stroke
                    shape[y : y + 3 * stroke, x : x + stroke] = 255
            if rng.random() < 0.7:
                x = int(rng.integers(x0, x1 - stroke))
                shape[y0:y1, x : x + stroke] = 255
    return shape


@dataclass(frozen=True, slots=True)
class _Layers:
    """The layers of a page: its ink and the ink `behind` it that shows through (both blurred), how `stained` its paper
    is (each 0 to 1), the shape of its `seal`, and the `threshold` above which ink prints."""

    ink: Plane
    threshold: Plane
    behind: Plane | None
    seal: Canvas | None
    stained: Plane | None


def age(ink: Canvas, behind: Canvas | None, seal: Canvas | None, wear: Wear, scale: float, seed: list[int]) -> Pixels:
    """The photograph of a page with this `ink`, the ink `behind` it (mirrored) and the shape of its `seal`, all of them
    after the skew.

    The seal has the size of the ink; `behind` may be smaller, since it is blurred. Wear grows with `scale`, that of the
    page.
    """
    rng = np.random.default_rng(seed)
    shape = (ink.shape[0], ink.shape[1])
    level = _blurred(ink, max(0.4, wear.blur) * scale)
    through = None
    if behind is not None and wear.bleed:
        blurred = _blurred(behind, 1.6 * scale * behind.shape[1] / shape[1])
        through = np.asarray(cv2.resize(blurred, shape[::-1], interpolation=cv2.INTER_LINEAR), dtype=np.float32)
    stained = _stain(shape, wear, scale, rng)
    # the threshold is set so that thin strokes survive; they are thinnest on a small scan
    threshold = 0.5 - 0.1 / scale + 0.12 * wear.fade * _clouds(shape, 90 * scale, rng)
    level += 0.16 * wear.grain * _clouds(shape, 1.1 * scale, rng)
    page = _Layers(level, threshold, through, seal, stained)
    image = _grey(page, wear, scale, rng) if wear.grey else _binary(page, wear, scale, rng)
    _speckle(image, wear, scale, rng)
    if wear.jpeg is not None:
        _, packed = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, wear.jpeg])
        image = np.asarray(cv2.imdecode(packed, cv2.IMREAD_GRAYSCALE), dtype=np.uint8)
    return image


def _blurred(canvas: Canvas, sigma: float) -> Plane:
    """Ink from 0 to 1, blurred."""
    return np.asarray(cv2.GaussianBlur(canvas.astype(np.float32) / 255, (0, 0), sigma), dtype=np.float32)


def _stain(shape: tuple[int, int], wear: Wear, scale: float, rng: np.random.Generator) -> Plane | None:
    """How stained each pixel is, 0 to 1: the peaks of slow noise. None for a page without stains, as many are."""
    share = min(wear.stains * (float(rng.exponential(2.0)) - 1.0), 1.0)
    if share <= 0:
        return None
    clouds = _clouds(shape, 70 * scale, rng) + 0.3 * _clouds(shape, 14 * scale, rng)
    edge = float(np.quantile(clouds[::16, ::16], 1 - share))
    return np.clip((clouds - edge) * 2, 0, 1)


def _binary(page: _Layers, wear: Wear, scale: float, rng: np.random.Generator) -> Pixels:
    """The page in black and white: ink is what lies above the threshold."""
    shape, level = (page.ink.shape[0], page.ink.shape[1]), page.ink
    if page.behind is not None:
        # only scraps of the other side are dark enough to print
        scraps = _clouds(shape, 4 * scale, rng)
        level = np.maximum(level, page.behind * np.clip(0.2 * scraps + 0.8 * wear.bleed, 0, 0.9))
    if page.seal is not None and wear.seal:
        dots = _clouds(shape, 1.15 * scale, rng) + 0.2 * _clouds(shape, 40 * scale, rng)
        level = np.maximum(level, np.where(dots > 2.1 - 1.8 * wear.seal, page.seal.astype(np.float32) / 255, 0))
    if page.stained is not None:
        dots = _clouds(shape, 0.7 * scale, rng)
        level = np.maximum(level, ((dots + 1.6 * page.stained > 2.3) & (page.stained > 0.05)).astype(np.float32))
    return np.asarray(np.where(level > page.threshold, 0, 255), dtype=np.uint8)


def _grey(page: _Layers, wear: Wear, scale: float, rng: np.random.Generator) -> Pixels:
    """The page in the tones of a photograph: paper, ink that is not quite black, a seal in a middle tone."""
    shape = (page.ink.shape[0], page.ink.shape[1])
    steep = 2.2 / max(0.4, wear.blur)
    coverage = np.clip((page.ink - page.threshold) * steep + 0.5, 0, 1)
    paper = 232 + 5 * _clouds(shape, 60 * scale, rng)
    if page.behind is not None:
        paper -= 70 * wear.bleed * page.behind
    if page.stained is not None:
        paper -= 60 * page.stained
    if page.seal is not None and wear.seal:
        tone = 1 - 0.45 * wear.seal * np.clip(0.8 + 0.25 * _clouds(shape, 2 * scale, rng), 0, 1)
        paper = np.where(page.seal >= MIN_INK_COVERAGE, paper * tone, paper)
    dark = 35 + 25 * wear.fade * np.clip(_clouds(shape, 5 * scale, rng), -1, 2)
    image = paper * (1 - coverage) + dark * coverage
    image += 4 * _clouds(shape, 0.6, rng)
    return np.asarray(np.clip(image, 0, 255), dtype=np.uint8)


def _speckle(image: Pixels, wear: Wear, scale: float, rng: np.random.Generator) -> None:
    """Add dirt on the paper and holes in the ink: blots, of which small ones are more frequent than large ones."""
    count = int(rng.poisson(wear.specks * image.size / 1e6 / max(scale, 0.5) ** 2))
    height, width = image.shape
    xs, ys = rng.integers(0, width, count), rng.integers(0, height, count)
    sizes = np.minimum(rng.exponential(0.55, (count, 2)) + 0.35, 3) * scale
    for x, y, (across, down), is_light in zip(xs, ys, sizes, rng.random(count) < 0.35, strict=True):
        axes = (int(across * (1 << SPECK_SUBPIXEL_BITS)), int(down * (1 << SPECK_SUBPIXEL_BITS)))
        centre = (int(x) << SPECK_SUBPIXEL_BITS, int(y) << SPECK_SUBPIXEL_BITS)
        tone = 255 if is_light else 0
        cv2.ellipse(image, centre, axes, 0, 0, 360, (tone,), -1, cv2.LINE_8, SPECK_SUBPIXEL_BITS)
