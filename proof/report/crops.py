"""Pieces of page images as data URIs: cut, scaled to their display size, and compressed."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from PIL import Image

from proof.images.load import load_picture
from proof.model.geometry import Box
from proof.report.glyphs import GLYPH_METHOD_VERSION, GlyphPlace, cut_glyph
from proof.report.upright import turned_picture

METHOD_VERSION = 2
"""Version of cutting and compressing. Raise it with every change of them: cached pieces of other versions are not
used."""
PIECES_PER_WRITE = 64
"""Number of new pieces that are written to the cache together."""
MIN_COLOUR_SPREAD_TONES = 12
"""A picture is kept in colour if the spread of its channels at the 99th percentile exceeds the median spread by more
than this, in tones of 256."""
WEBP_QUALITY = 55
"""Quality of lossy WebP, of 100."""
WEBP_EFFORT = 2
"""Effort of WebP compression, of 6."""
SHADES = [round(round(value / 255 * 7) * 255 / 7) for value in range(256)]
"""Each tone rounded to one of eight greys. That is enough for scans in black and white, where greys only smooth edges;
it halves the bytes and removes haze."""


@dataclass(frozen=True, slots=True)
class PageImageFile:
    """A checked image file: its path (None where the page has no image), the hash of its bytes, the degrees by which it
    is turned clockwise before cutting (`turn`), and its size in pixels after turning."""

    path: Path | None
    sha: str
    size: tuple[int, int]
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Crop:
    """A piece of an image: its area, in pixels of the turned image, and the picture as a data URI."""

    area: Box
    uri: str


class PieceCache(Protocol):
    """A cache of cut pieces: bytes by key."""

    def get(self, key: str) -> bytes | None: ...

    def put_many(self, entries: Mapping[str, bytes]) -> None: ...


class Cutter:
    """Cuts pieces out of images. The last image stays open, since flags come page by page and the quadrants of a plate
    one after the other. Pieces are cached in `cache`, if there is one; call `close` to write the last new ones."""

    def __init__(self, cache: PieceCache | None = None) -> None:
        self._cache = cache
        self._fresh: dict[str, bytes] = {}
        self._opened: tuple[Path, int] | None = None
        self._image: Image.Image | None = None

    def cut(self, picture: PageImageFile, area: Box, width: int) -> Crop | None:
        """The piece `area` of an image, extended to whole pixels and scaled to at most `width` pixels; None if the
        image is missing, unreadable or changed, or if the area is outside."""
        left, top = max(int(area.x), 0), max(int(area.y), 0)
        right, bottom = min(int(area.right + 0.999), picture.size[0]), min(int(area.bottom + 0.999), picture.size[1])
        if picture.path is None or right <= left or bottom <= top:
            return None
        edges = (left, top, right, bottom)
        packed = self._cached(
            picture, (METHOD_VERSION, *edges, width), lambda: self._fresh_piece(picture, edges, width)
        )
        return Crop(Box(left, top, right - left, bottom - top), data_uri(packed)) if packed else None

    def glyph(self, picture: PageImageFile, place: GlyphPlace, side: int) -> str | None:
        """The tile of a glyph (`proof.report.glyphs`), at most `side` pixels wide and high, as a data URI; None if the
        image is missing or the place is outside."""
        if picture.path is None:
            return None
        packed = self._cached(
            picture, (GLYPH_METHOD_VERSION, place, side), lambda: self._fresh_glyph(picture, place, side)
        )
        return data_uri(packed) if packed else None

    def close(self) -> None:
        """Write new pieces to the cache, and close the image."""
        if self._cache and self._fresh:
            self._cache.put_many(self._fresh)
        self._fresh, self._opened, self._image = {}, None, None

    def _cached(
        self, picture: PageImageFile, parameters: tuple[object, ...], cut: Callable[[], bytes | None]
    ) -> bytes | None:
        """A piece from the cache, else the result of `cut`, which is cached. `parameters` are all that the piece
        depends on besides the image, the version of the method first."""
        if not self._cache or not picture.sha:
            return cut()
        # without the turn if it is 0: keys of older caches have none
        turn = (picture.turn,) if picture.turn else ()
        key = _key_of(parameters[0], picture.sha, *turn, *parameters[1:])
        packed = self._cache.get(key)
        if packed is None and (packed := cut()) is not None:
            self._fresh[key] = packed
            if len(self._fresh) >= PIECES_PER_WRITE:
                self._cache.put_many(self._fresh)
                self._fresh = {}
        return packed

    def _fresh_glyph(self, picture: PageImageFile, place: GlyphPlace, side: int) -> bytes | None:
        self._open(picture)
        tile = cut_glyph(self._image, place) if self._image else None
        if tile is None:
            return None
        tile.picture.thumbnail((side, side), Image.Resampling.LANCZOS)
        return pack_piece(tile.picture)

    def _open(self, picture: PageImageFile) -> None:
        if picture.path is not None and (picture.path, picture.turn) != self._opened:
            self._opened, image = (picture.path, picture.turn), load_picture(picture.path)
            self._image = turned_picture(image, picture.turn) if image else None

    def _fresh_piece(self, picture: PageImageFile, edges: tuple[int, int, int, int], width: int) -> bytes | None:
        self._open(picture)
        if self._image is None or edges[2] > self._image.width or edges[3] > self._image.height:
            return None  # missing, or no longer the checked image
        piece = self._image.crop(edges)
        if piece.width > width:
            height = max(round(piece.height * width / piece.width), 1)
            piece = piece.resize((width, height), Image.Resampling.LANCZOS)
        return pack_piece(piece)


def _key_of(*parts: object) -> str:
    joined = "\x1f".join(map(str, parts))
    return "crop:" + hashlib.blake2b(joined.encode(), digest_size=20).hexdigest()


def pack_piece(piece: Image.Image) -> bytes:
    """A grey or RGB picture as WebP: lossless if it is black and white, in colour only if it shows colour."""
    if piece.mode == "RGB" and not _has_colour(piece):
        piece = piece.convert("L")
    packed = io.BytesIO()
    if piece.mode == "L" and _black_and_white(piece):
        piece.point(SHADES).save(packed, "WEBP", lossless=True, method=WEBP_EFFORT)
    else:
        piece.save(packed, "WEBP", quality=WEBP_QUALITY, method=WEBP_EFFORT)
    return packed.getvalue()


def data_uri(packed: bytes) -> str:
    """WebP bytes as a data URI."""
    return "data:image/webp;base64," + base64.b64encode(packed).decode("ascii")


def _black_and_white(piece: Image.Image) -> bool:
    """Whether more than three quarters of a piece are clearly ink or paper, so that lossless compression is best."""
    pixels = np.asarray(piece)
    return bool(((pixels < 48) | (pixels > 240)).mean() > 0.75)


def _has_colour(piece: Image.Image) -> bool:
    """Whether a piece shows red ink or a coloured seal, not just tinted paper."""
    pixels = np.asarray(piece, dtype=np.int16)
    spread = pixels.max(axis=2) - pixels.min(axis=2)
    return bool(np.percentile(spread, 99) - np.median(spread) > MIN_COLOUR_SPREAD_TONES)
