"""Glyphs of free fonts as small pictures, for drawing whole pages fast at a low resolution."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Pixels = NDArray[np.uint8]

EM_PX = 40
"""How large a glyph is drawn before it is scaled to its place."""

EDGE_PX = 3
"""White around the em square, which strokes may leave."""

GLYPHS_PER_PAGE = 90

FREE_FONTS: tuple[tuple[str, int, int], ...] = (
    ("truetype/cns11643/TW-Kai-98_1.ttf", 0, 5),
    ("truetype/cns11643/TW-Sung-98_1.ttf", 0, 4),
    ("truetype/arphic/ukai.ttc", 0, 4),
    ("truetype/arphic/uming.ttc", 0, 4),
    ("truetype/arphic-bkai00mp/bkai00mp.ttf", 0, 4),
    ("truetype/arphic-bsmi00lp/bsmi00lp.ttf", 0, 3),
    ("truetype/cwtex/cwfs.ttf", 0, 4),
    ("truetype/cwtex/cwheib.ttf", 0, 1),
    ("truetype/cwtex/cwkai.ttf", 0, 4),
    ("truetype/cwtex/cwming.ttf", 0, 4),
    ("truetype/lxgw-wenkai/LXGWWenKai-Regular.ttf", 0, 2),
    ("truetype/lxgw-wenkai/LXGWWenKai-Bold.ttf", 0, 3),
    ("truetype/klee/KleeOne-SemiBold.ttf", 0, 2),
    ("truetype/kouzan-mouhitsu/kouzan-mouhitsu.ttf", 0, 4),
    ("truetype/kouzan-mouhitsu/kouzan-mouhitsu-gyosho.ttf", 0, 3),
    ("truetype/aoyagi-kouzan-t/AoyagiKouzanT.ttf", 0, 2),
    ("truetype/hanazono/HanaMinA.ttf", 0, 3),
    ("truetype/babelstone/BabelStoneHan.ttf", 0, 2),
    ("truetype/dejima-mincho/dejima-mincho-r227.ttf", 0, 3),
    ("opentype/ipaexfont-mincho/ipaexm.ttf", 0, 2),
    ("opentype/noto/NotoSerifCJK-Regular.ttc", 3, 3),
    ("opentype/noto/NotoSerifCJK-Bold.ttc", 3, 3),
    ("opentype/noto/NotoSansCJK-Regular.ttc", 3, 1),
)
"""Files below the folders of fonts, the number of the face, and how often it is taken: Debian's packages
fonts-cns11643-{kai,sung}, fonts-arphic-{ukai,uming,bkai00mp,bsmi00lp}, fonts-cwtex-{fs,heib,kai,ming},
fonts-lxgw-wenkai, fonts-klee, fonts-kouzan-mouhitsu, fonts-aoyagi-kouzan-t, fonts-hanazono, fonts-babelstone-han,
fonts-dejima-mincho, fonts-ipaexfont-mincho and fonts-noto-cjk."""

MOST_ALIKE = 5
"""A picture that more characters share is that of a character that the font lacks."""

FAINTEST = 100
"""Ink of the blackest pixel below which a picture is empty."""

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


def write_glyphs(path: Path, folder: Path, seed: int, count: int = 800) -> None:
    """Draw `count` characters at random and the most frequent ones in all free fonts below `folder` into an `.npz`.

    Raises FileNotFoundError where there is none of the fonts.
    """
    pool = common_characters()
    rng = np.random.default_rng(seed)
    letters = [pool[i] for i in rng.choice(len(pool), count, replace=False)] + list(FREQUENT * 4)
    fonts = {}
    for name, face, weight in FREE_FONTS:
        file = folder / name
        if file.exists():
            fonts[f"{weight} {name}"] = _pictures(ImageFont.truetype(str(file), EM_PX, index=face), letters)
    if not fonts:
        raise FileNotFoundError(f"{folder}: none of the free Chinese fonts; install fonts-cns11643-kai")
    np.savez_compressed(path, **fonts)  # type: ignore[arg-type]


class GlyphPool:
    """The pictures of glyphs of many fonts (each n x side x side, ink 255)."""

    def __init__(self, path: Path) -> None:
        """Read what `write_glyphs` wrote. Raises OSError."""
        with np.load(path) as stored:
            self.fonts = [stored[name] for name in stored.files]
            weights = np.array([int(name.split()[0]) for name in stored.files], np.float64)
        self.weights = weights / weights.sum()

    def of_page(self, rng: np.random.Generator) -> Pixels:
        """Glyphs for one print: of one font, or of two, thickened or thinned, slanted, squeezed."""
        font = self.fonts[int(rng.choice(len(self.fonts), p=self.weights))]
        own = font[rng.integers(0, len(font), GLYPHS_PER_PAGE)]
        if rng.random() < 0.5:
            own = _shaped(own, rng)
        return np.asarray(own, np.uint8)


def _shaped(glyphs: Pixels, rng: np.random.Generator) -> Pixels:
    """Glyphs with strokes of another weight and a slant, as in one hand."""
    weight = int(rng.choice([-1, 1, 1, 2]))
    kernel = np.ones((1 + abs(weight), 1 + abs(weight)), np.uint8)
    if rng.random() < 0.3:
        # level strokes thinner or thicker than upright ones
        kernel = (
            np.ones((1, 1 + abs(weight)), np.uint8) if rng.random() < 0.5 else np.ones((1 + abs(weight), 1), np.uint8)
        )
    change = cv2.dilate if weight > 0 else cv2.erode
    side = glyphs.shape[1]
    slant = rng.normal(0, 0.06)
    matrix = np.array([[1, slant, -slant * side / 2], [rng.normal(0, 0.06), 1, 0]])
    matrix[1, 2] = -matrix[1, 0] * side / 2
    return np.stack([cv2.warpAffine(change(glyph, kernel), matrix, (side, side)) for glyph in glyphs])


def _pictures(font: ImageFont.FreeTypeFont, letters: Sequence[str]) -> Pixels:
    side = EM_PX + 2 * EDGE_PX

    def picture_of(letter: str) -> Pixels:
        picture = Image.new("L", (side, side), 0)
        ImageDraw.Draw(picture).text((side / 2, side / 2), letter, font=font, fill=255, anchor="mm")
        return np.asarray(picture, np.uint8)

    pictures = [picture_of(letter) for letter in letters]
    drawn = [picture.tobytes() for picture in pictures]
    # what stands for a character that the font lacks is drawn for many
    usual = {
        picture_of("\ue0f1").tobytes(),
        *(picture for picture in set(drawn) if drawn.count(picture) > MOST_ALIKE),
    }
    return np.stack([picture for picture in pictures if picture.tobytes() not in usual and picture.max() > FAINTEST])
