"""Glyphs of free fonts as small pictures, for drawing whole pages fast at a low resolution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from proof.images.opencv import cv2

Pixels = NDArray[np.uint8]

EM_PX = 44
"""How large a glyph is drawn before it is scaled to its place."""

EDGE_PX = 2
"""White around the em square, which strokes may leave."""

GLYPHS_PER_PAGE = 72

FREE_FONTS: tuple[tuple[str, int], ...] = (
    ("cns11643/TW-Kai-98_1.ttf", 0),
    ("arphic/ukai.ttc", 0),
    ("arphic/uming.ttc", 0),
    ("lxgw-wenkai/LXGWWenKai-Regular.ttf", 0),
    ("lxgw-wenkai/LXGWWenKai-Bold.ttf", 0),
    ("noto/NotoSerifCJK-Regular.ttc", 3),
    ("noto/NotoSerifCJK-Bold.ttc", 3),
    ("noto/NotoSansCJK-Regular.ttc", 3),
)
"""Files below the folders of fonts, with the number of the face: of Debian's packages fonts-cns11643-kai,
fonts-arphic-ukai, fonts-arphic-uming, fonts-lxgw-wenkai and fonts-noto-cjk."""

FONT_FOLDERS = (Path("/usr/share/fonts/truetype"), Path("/usr/share/fonts/opentype"))

FREQUENT = "一二三四五六七八九十之也不人卷大上下日月中有者以為而於其曰王子年所"


def common_characters() -> str:
    """The 5,401 characters of the first level of Big5, in the order of their codes."""
    rows = (
        bytes((high, low))
        for high in range(0xA4, 0xC7)
        for low in (*range(0x40, 0x7F), *range(0xA1, 0xFF))
        if (high, low) <= (0xC6, 0x7E)
    )
    return "".join(row.decode("big5", "ignore") for row in rows)


@dataclass(frozen=True, slots=True)
class GlyphPool:
    """For each font the pictures of its glyphs (n x EM_PX + 2 EDGE_PX square, ink 255)."""

    fonts: tuple[Pixels, ...]

    @classmethod
    def drawn(cls, rng: np.random.Generator, glyphs: int = 700) -> GlyphPool:
        """The pictures of `glyphs` characters at random and the most frequent ones, in all free fonts that are
        installed; raises FileNotFoundError where none is."""
        pool = common_characters()
        letters = [pool[i] for i in rng.choice(len(pool), glyphs, replace=False)] + list(FREQUENT * 3)
        fonts = []
        for name, face in FREE_FONTS:
            path = next((folder / name for folder in FONT_FOLDERS if (folder / name).exists()), None)
            if path is not None:
                fonts.append(_pictures(ImageFont.truetype(str(path), EM_PX, index=face), letters))
        if not fonts:
            raise FileNotFoundError("no free Chinese font is installed: install fonts-cns11643-kai or fonts-noto-cjk")
        return cls(tuple(fonts))

    def of_page(self, rng: np.random.Generator) -> Pixels:
        """Glyphs for one page: of one font, thickened or thinned as in one print."""
        font = self.fonts[int(rng.integers(len(self.fonts)))]
        own = font[rng.integers(0, len(font), GLYPHS_PER_PAGE)]
        weight = int(rng.choice([-1, 0, 0, 0, 1, 2]))
        if weight:
            change = cv2.dilate if weight > 0 else cv2.erode
            kernel = np.ones((1 + abs(weight), 1 + abs(weight)), np.uint8)
            own = np.stack([change(glyph, kernel) for glyph in own])
        return own


def _pictures(font: ImageFont.FreeTypeFont, letters: Sequence[str]) -> Pixels:
    side = EM_PX + 2 * EDGE_PX
    pictures = []
    for letter in letters:
        picture = Image.new("L", (side, side), 0)
        ImageDraw.Draw(picture).text((side / 2, side / 2), letter, font=font, fill=255, anchor="mm")
        pixels = np.asarray(picture, np.uint8)
        if pixels.max() > 100:
            pictures.append(pixels)
    return np.stack(pictures)
