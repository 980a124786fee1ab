"""Pieces of page images as data URIs: cut, brought to the size they are shown in, and packed small."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from proof.geometry import Box

COLOURED = 12
"""How far the channels lie apart, on average over the most coloured hundredth, in a picture with colour."""
QUALITY = 55
SHADES = 8
"""Greys left of a scan in black and white, where they only soften edges: half the bytes, and no haze."""


@dataclass(frozen=True, slots=True)
class Crop:
    """A piece of an image: what it shows, in pixels of the file, and the picture itself."""

    area: Box
    uri: str


class Cutter:
    """Cuts pieces out of images. It holds the image asked for last: flags come page by page, and the
    quadrants of a plate one after the other."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._image: Image.Image | None = None

    def cut(self, path: Path | None, area: Box, width: int) -> Crop | None:
        """The piece `area` of the image at `path`, at most `width` pixels wide; None where the image is
        gone, cannot be read, or has nothing there. The area is widened to whole pixels."""
        image = self._open(path)
        if image is None:
            return None
        left, top = max(int(area.x), 0), max(int(area.y), 0)
        right, bottom = min(int(area.right + 0.999), image.width), min(int(area.bottom + 0.999), image.height)
        if right <= left or bottom <= top:
            return None
        piece = image.crop((left, top, right, bottom))
        if piece.width > width:
            height = max(round(piece.height * width / piece.width), 1)
            piece = piece.resize((width, height), Image.Resampling.LANCZOS)
        return Crop(Box(left, top, right - left, bottom - top), _uri(piece))

    def _open(self, path: Path | None) -> Image.Image | None:
        if path != self._path:
            self._path, self._image = path, None if path is None else _load(path)
        return self._image


def _load(path: Path) -> Image.Image | None:
    """The first frame, grey or RGB. The check has read the image before: what is wrong with it, if it can
    no longer be read, was said there or is plain from its absence."""
    try:
        with Image.open(path) as image:
            if image.mode in ("1", "L"):
                return image.convert("L")
            if image.mode.startswith(("I", "F")):
                return _eight_bits(image)
            return image.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def _eight_bits(image: Image.Image) -> Image.Image:
    """Grey of more than eight bits, brought down to eight."""
    values = np.asarray(image, dtype=np.float64)
    most = 65535.0 if values.max(initial=0) > 255 else 255.0
    return Image.fromarray((values.clip(0, most) * (255 / most)).astype(np.uint8))


def _uri(piece: Image.Image) -> str:
    if piece.mode == "RGB" and not _has_colour(piece):
        piece = piece.convert("L")
    packed = io.BytesIO()
    if piece.mode == "L" and _black_and_white(piece):
        piece.quantize(SHADES).convert("L").save(packed, "WEBP", lossless=True, method=4)
    else:
        piece.save(packed, "WEBP", quality=QUALITY, method=4)
    return "data:image/webp;base64," + base64.b64encode(packed.getvalue()).decode("ascii")


def _black_and_white(piece: Image.Image) -> bool:
    """Whether nearly all of a piece is either ink or paper, so that it packs best without loss."""
    pixels = np.asarray(piece)
    return bool(((pixels < 48) | (pixels > 240)).mean() > 0.75)


def _has_colour(piece: Image.Image) -> bool:
    """Whether a piece shows red ink or a coloured seal, rather than paper with a tint."""
    pixels = np.asarray(piece, dtype=np.int16)
    spread = pixels.max(axis=2) - pixels.min(axis=2)
    return bool(np.percentile(spread, 99) - np.median(spread) > COLOURED)
