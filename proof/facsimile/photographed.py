"""What a camera and time make of a drawn page with labels: lean, bend, wear, shade, dirt; the labels move with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proof.facsimile.labelled import Canvas
from proof.images.opencv import cv2
from proof.layout.labels import Label

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float32]


def photographed(canvas: Canvas) -> tuple[Pixels, Pixels]:
    """The picture of a page (grey, 0 black) and its labels, both height x width."""
    rng = canvas.rng
    ink, labels = _bent(canvas)
    image = _printed(canvas, ink)
    _dirt(canvas, image, labels)
    image *= _light(canvas, image.shape)
    image = _surround(canvas, image, labels)
    if canvas.chance(0.7):
        image += rng.standard_normal(image.shape, np.float32) * np.float32(rng.uniform(0, 0.06))
    image = np.clip(image, 0, 1)
    if canvas.chance(0.12):
        image = (image > rng.uniform(0.45, 0.65)).astype(np.float32)
    pixels = (image * 255).astype(np.uint8)
    if canvas.chance(0.2):
        packed = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(35, 90))])[1]
        pixels = np.asarray(cv2.imdecode(packed, cv2.IMREAD_GRAYSCALE), np.uint8)
    return pixels, labels


def _bent(canvas: Canvas) -> tuple[Floats, Pixels]:
    """Ink (0 to 1) and labels as the page lies: turned, seen at an angle, curved."""
    rng, (height, width) = canvas.rng, canvas.ink.shape
    ink, labels = canvas.ink, canvas.labels
    if not canvas.chance(0.75):
        return np.asarray(ink / np.float32(255), np.float32), labels
    degrees = rng.normal(0, 0.8) if canvas.chance(0.8) else rng.uniform(-4, 4)
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    turn = np.radians(degrees)
    matrix = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]], np.float32)
    seen = (corners - corners.mean(0)) @ matrix * np.float32(rng.uniform(0.93, 1.03)) + corners.mean(0)
    if canvas.chance(0.3):
        seen += rng.normal(0, 0.012, (4, 2)).astype(np.float32) * (width, height)
    back = np.asarray(cv2.getPerspectiveTransform(seen.astype(np.float32), corners), np.float32)
    ys, xs = np.mgrid[0:height, 0:width].astype(np.float32)
    depth = back[2, 0] * xs + back[2, 1] * ys + back[2, 2]
    from_x, from_y = (
        (back[0, 0] * xs + back[0, 1] * ys + back[0, 2]) / depth,
        (back[1, 0] * xs + back[1, 1] * ys + back[1, 2]) / depth,
    )
    if canvas.chance(0.3):
        phase, waves = rng.uniform(0, 6.3, 2), rng.uniform(1.5, 5, 2)
        from_x += np.float32(rng.uniform(0, 5)) * np.sin(ys / height * waves[0] + phase[0]).astype(np.float32)
        from_y += np.float32(rng.uniform(0, 7)) * np.sin(xs / width * waves[1] + phase[1]).astype(np.float32)
    moved = cv2.remap(ink, from_x, from_y, cv2.INTER_LINEAR)
    where = cv2.remap(labels, from_x, from_y, cv2.INTER_NEAREST)
    return np.asarray(moved / np.float32(255), np.float32), np.asarray(where, np.uint8)


def _printed(canvas: Canvas, ink: Floats) -> Floats:
    """Ink on paper: thick or thin, blurred, worn, faded in places, the other side showing through."""
    rng = canvas.rng
    if canvas.chance(0.45):
        ink = np.asarray(cv2.GaussianBlur(ink, (0, 0), rng.uniform(0.35, 1.1)), np.float32)
    ink = np.clip((ink - np.float32(rng.uniform(0, 0.15))) * np.float32(rng.uniform(0.8, 2.2)), 0, 1)
    if canvas.chance(0.25):
        worn = cv2.resize(rng.random((rng.integers(4, 60), rng.integers(4, 60)), np.float32), ink.shape[::-1])
        ink = ink * np.clip(1.3 - rng.uniform(0.2, 1.0) * worn, 0, 1)
    if canvas.chance(0.15):
        through = cv2.GaussianBlur(ink[:, ::-1], (0, 0), rng.uniform(0.7, 2.0))
        ink = np.maximum(ink, through * np.float32(rng.uniform(0.1, 0.35)))
    paper = np.float32(rng.uniform(0.6, 1.0))
    return np.asarray(paper * (1 - ink * np.float32(rng.uniform(0.7, 1.0))), np.float32)


def _dirt(canvas: Canvas, image: Floats, labels: Pixels) -> None:
    """Stains, wormholes, specks, punched holes, a thumb."""
    rng, (height, width) = canvas.rng, image.shape
    for _ in range(int(rng.choice([0, 0, 0, 1, 3]))):
        centre = int(rng.integers(width)), int(rng.integers(height))
        shade = np.ones_like(image)
        axes = int(rng.integers(8, 90)), int(rng.integers(8, 90))
        cv2.ellipse(shade, centre, axes, 0, 0, 360, (float(rng.uniform(0.55, 0.95)),), -1)
        image *= cv2.GaussianBlur(shade, (0, 0), 5) if canvas.chance(0.5) else shade
    if canvas.chance(0.08):
        for _ in range(int(rng.integers(3, 14))):
            path = np.cumsum(rng.normal(0, 5, (int(rng.integers(3, 20)), 2)), axis=0) + rng.uniform(0, 1, 2) * (
                width,
                height,
            )
            tone = float(rng.choice([0.05, 0.95]))
            cv2.polylines(image, [path.astype(np.int32)], False, (tone,), int(rng.integers(1, 4)), cv2.LINE_AA)
    if canvas.chance(0.1):
        count = int(rng.integers(30, 400))
        image[rng.integers(0, height, count), rng.integers(0, width, count)] = rng.random(count, np.float32)
    if canvas.chance(0.04):
        x = float(rng.choice([0.04, 0.96])) * width
        for y in rng.uniform(0.1, 0.9, int(rng.integers(2, 5))) * height:
            cv2.circle(image, (round(x), round(y)), int(rng.integers(5, 11)), (float(rng.choice([0.03, 0.9])),), -1)
    if canvas.chance(0.04):
        y = height if canvas.chance(0.6) else round(rng.uniform(0.3, 0.9) * height)
        x = round(rng.uniform(0.1, 0.9) * width) if y == height else int(rng.choice([0, width]))
        axes = (26, 50) if y == height else (50, 26)
        cv2.ellipse(image, (x, y), axes, 0, 0, 360, (float(rng.uniform(0.3, 0.7)),), -1, cv2.LINE_AA)
        cover = np.zeros_like(labels)
        cv2.ellipse(cover, (x, y), axes, 0, 0, 360, (1,), -1)
        labels[cover > 0] = 0


def _light(canvas: Canvas, shape: tuple[int, ...]) -> Floats:
    """Even light, or less to one side, or the shade of a gutter."""
    height, width = shape[:2]
    light = np.ones((height, width), np.float32)
    if canvas.chance(0.3):
        low = canvas.rng.random((4, 4), np.float32)
        light -= np.float32(canvas.between(0, 0.35)) * cv2.resize(low, (width, height), interpolation=cv2.INTER_CUBIC)
    if canvas.chance(0.12):
        at = width / 2 if width > height else float(canvas.rng.choice([0, width]))
        across = np.abs(np.arange(width) - at) / (canvas.between(0.02, 0.07) * width)
        light *= (1 - canvas.between(0.3, 0.9) * np.exp(-across)).astype(np.float32)[None, :]
    return np.asarray(light, np.float32)


def _surround(canvas: Canvas, image: Floats, labels: Pixels) -> Floats:
    """The black or grey ground on which the page lies, ragged edges of leaves beneath."""
    if not canvas.chance(0.25):
        return image
    height, width = image.shape
    tone = np.float32(canvas.rng.choice([0.02, 0.1, 0.3, 0.5]))
    for side in range(4):
        if not canvas.chance(0.5):
            continue
        length = height if side < 2 else width
        ragged = np.cumsum(canvas.rng.normal(0, 0.5, length)) * (0.3 if canvas.chance(0.4) else 0.0)
        edge = np.maximum(ragged - ragged.min() + canvas.between(1, 0.04 * width), 0)
        reach = np.arange(width if side < 2 else height)
        hidden = reach[None, :] < edge[:, None]
        hidden = hidden[:, ::-1] if side % 2 else hidden
        hidden = hidden if side < 2 else hidden.T
        image = np.where(hidden, tone, image)
        labels[hidden & (labels & int(Label.CORE | Label.TEXT) == 0)] = 0
    return np.asarray(image, np.float32)


def squared(image: Pixels, labels: Pixels, side: int, paper: int) -> tuple[Pixels, Pixels]:
    """Both at the upper left of a square of this side; beyond them paper of this tone and nothing."""
    page, where = np.full((side, side), paper, np.uint8), np.zeros((side, side), np.uint8)
    height, width = image.shape
    page[:height, :width], where[:height, :width] = image, labels
    return page, where
