"""The fonts on the machine that can draw a transcription, and the shapes of characters in them.

A page is drawn in a regular-script (kai) font; a rare character comes from the first font of the chain that has it.
Glyphs are stored as signed distance fields (Green, "Improved Alpha-Tested Magnification", 2007), from which every size
and stroke weight can be drawn.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import freetype
import numpy as np
from numpy.typing import NDArray
from PIL import ImageFont

from proof.errors import FontError
from proof.images.opencv import cv2
from proof.locale.marking import Sentence, _
from proof.paths import expanded

EM_PX = 112
"""Pixels of an em square in a field."""
PADDING_PX = 24
"""Pixels of a field around its em square, for overlong strokes and added weight."""
SIDE = EM_PX + 2 * PADDING_PX
"""Width and height of a field in pixels."""
LEVELS_PER_PIXEL = 8
"""Levels of a field for each pixel of distance from the outline."""
OUTLINE_LEVEL = 128
"""The level of a field at the outline of its glyph; higher levels are inside."""
MIN_INK_COVERAGE = 128
"""Coverage (0 to 255) from which a pixel counts as ink."""

REGULAR_SCRIPT = (
    "TW-Kai",
    "TW-Kai-Ext-B",
    "TW-Kai-Plus",
    "LXGW WenKai TC",
    "LXGW WenKai",
    "LXGW WenKai GB",
    "AR PL UKai TW",
    "AR PL UKai CN",
    "AR PL KaitiM Big5",
    "BiauKai",
    "DFKai-SB",
    "Kaiti TC",
    "STKaiti",
    "KaiTi",
)
"""Families in regular script; those with traditional forms and many characters come first."""

ANY_SCRIPT = ("HanaMinA", "HanaMinB", "Jigmo", "Jigmo2", "Jigmo3", "Noto Serif CJK TC", "Source Han Serif TC")
"""Families in other scripts, for characters that no regular-script font holds."""

HOW_TO_GET_ONE = Sentence(
    _("install one (Debian: fonts-cns11643-kai, fonts-arphic-ukai or fonts-lxgw-wenkai), or name a font file or family")
)

FONT_FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.local/share/fonts",
    "~/.fonts",
    "/Library/Fonts",
    "/System/Library/Fonts",
    "~/Library/Fonts",
    "C:/Windows/Fonts",
)
FONT_SUFFIXES = frozenset({".ttf", ".ttc", ".otf", ".otc"})

MAX_FACES = 64
"""Maximum number of faces read from one font file."""

USUAL_MIDDLE_PX = -0.36 * EM_PX
"""Middle of the em square in pixels from the baseline (down is positive), if the font has no character to measure."""

Field = NDArray[np.uint8]
"""A glyph's signed distance field, `SIDE` pixels square."""


@dataclass(frozen=True, slots=True)
class FontFace:
    """One face of a font file; `index` counts the faces of a collection from 0."""

    path: Path
    index: int
    families: tuple[str, ...]


class _OpenFace(NamedTuple):
    """A face in FreeType, its font in Pillow at `EM_PX` pixels, and the middle of its em square in pixels from the
    baseline (down is positive)."""

    face: freetype.Face
    font: ImageFont.FreeTypeFont
    middle: float


def _plain(name: str) -> str:
    """A family name normalised for comparison."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _faces_from_fontconfig(program: str) -> list[FontFace]:
    """All faces that fontconfig lists, sorted by file name: its own order differs between machines."""
    command = [program, "--format", "%{file}\t%{index}\t%{family}\t%{style}\n"]
    try:
        listing = subprocess.run(command, capture_output=True, check=True, timeout=60)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return []
    faces: dict[tuple[Path, int], FontFace] = {}
    for row in listing.stdout.decode("utf-8", "replace").splitlines():
        file, index, families, style = (row + "\t\t\t").split("\t")[:4]  # a row may lack its last fields
        if Path(file).suffix.lower() not in FONT_SUFFIXES or not index.isdigit() or "Bold" in style:
            continue
        face_index = int(index) & 0xFFFF  # the upper half is the instance of a variable font
        names = tuple(name.replace("\\", "") for name in families.split(","))
        faces.setdefault((Path(file), face_index), FontFace(Path(file), face_index, names))
    return [faces[key] for key in sorted(faces)]


def _faces_of(path: Path) -> list[FontFace]:
    """The faces of a font file, as far as it can be read; none if it is no font."""
    faces: list[FontFace] = []
    with suppress(freetype.FT_Exception):  # a damaged font file: the search goes on
        for index in range(min(freetype.Face(str(path)).num_faces, MAX_FACES)):
            faces.append(FontFace(path, index, _families(freetype.Face(str(path), index))))
    return faces


def _families(face: freetype.Face) -> tuple[str, ...]:
    """The family names in a face, in all languages."""
    records = (face.get_sfnt_name(number) for number in range(face.sfnt_name_count))
    names = [
        record.string.decode(
            "mac-roman" if record.platform_id == freetype.TT_PLATFORM_MACINTOSH else "utf-16-be", "replace"
        )
        for record in records
        if record.name_id in (freetype.TT_NAME_ID_FONT_FAMILY, freetype.TT_NAME_ID_PREFERRED_FAMILY)
    ]
    return tuple(dict.fromkeys(names))


@cache
def installed_faces() -> tuple[FontFace, ...]:
    """Every installed face: from fontconfig if that is installed, else from the usual folders."""
    program = shutil.which("fc-list")
    if program and (faces := _faces_from_fontconfig(program)):
        return tuple(faces)
    installed: list[FontFace] = []
    for folder in FONT_FOLDERS:
        for root, _folders, names in os.walk(expanded(folder)):
            for name in sorted(names):
                if Path(name).suffix.lower() in FONT_SUFFIXES:
                    installed += _faces_of(Path(root) / name)
    return tuple(installed)


def find_faces(names: Sequence[str] = ()) -> tuple[FontFace, ...]:
    """The faces to try, in order: those named (files or families), then regular script, then any script.

    Raises FontError if a named font does not exist, or if none is named and no font in regular script is installed.
    """
    chosen: list[FontFace] = []
    by_family: dict[str, FontFace] = {}
    for face in installed_faces():
        for family in face.families:
            by_family.setdefault(_plain(family), face)
    for name in names:
        path = expanded(name)
        if path.is_file():
            faces = _faces_of(path)
            if not faces:
                raise FontError(
                    _("%(path)s: not a font that can be read; %(remedy)s"), path=path, remedy=HOW_TO_GET_ONE
                )
            chosen.append(faces[0])
        elif _plain(name) in by_family:
            chosen.append(by_family[_plain(name)])
        else:
            raise FontError(
                _("font %(name)s: no such file or family on this machine; %(remedy)s"),
                name=repr(name),
                remedy=HOW_TO_GET_ONE,
            )
    chosen += [by_family[_plain(name)] for name in REGULAR_SCRIPT if _plain(name) in by_family]
    if not chosen:
        raise FontError(_("no font in regular script (kai) on this machine; %(remedy)s"), remedy=HOW_TO_GET_ONE)
    chosen += [by_family[_plain(name)] for name in ANY_SCRIPT if _plain(name) in by_family]
    return tuple(dict.fromkeys(chosen))


def distance_field(mask: NDArray[np.uint8]) -> Field:
    """The signed distance field of a glyph given as ink coverage (0 to 255)."""
    inside = cv2.distanceTransform((mask >= MIN_INK_COVERAGE).astype(np.uint8), cv2.DIST_L2, 3)
    outside = cv2.distanceTransform((mask < MIN_INK_COVERAGE).astype(np.uint8), cv2.DIST_L2, 3)
    # the transform measures to the centre of the next pixel, half a pixel beyond the outline; in a partly covered pixel
    # at the outline the coverage gives the exact distance
    distance = np.where(mask >= MIN_INK_COVERAGE, inside - 0.5, 0.5 - outside)
    at_outline = np.abs(distance) <= 1
    distance = np.where(at_outline & (mask > 0) & (mask < 255), mask / 255 - 0.5, distance)
    return np.asarray(np.clip(OUTLINE_LEVEL + distance * LEVELS_PER_PIXEL, 0, 255), dtype=np.uint8)


def _rasterised(font: ImageFont.FreeTypeFont, character: str) -> tuple[NDArray[np.uint8], int, int]:
    """A character's coverage (0 to 255), and the position of its upper left corner in pixels: right of the pen, and
    below the baseline."""
    drawn, (left, top) = font.getmask2(character, mode="L", anchor="ls")
    width, height = drawn.size
    return np.frombuffer(bytes(drawn), np.uint8).reshape(height, width), int(left), int(top)


def _ink_middle(font: ImageFont.FreeTypeFont, character: str) -> float:
    """The middle between the highest and the lowest ink of a character, in pixels below the baseline."""
    glyph, _, top = _rasterised(font, character)
    rows = np.flatnonzero((glyph >= MIN_INK_COVERAGE).any(axis=1))
    return float(top + (rows[0] + rows[-1] + 1) / 2) if rows.size else USUAL_MIDDLE_PX


class FontChain:
    """Faces that are tried in order; each is opened when it is first needed. Not thread-safe."""

    def __init__(self, faces: Sequence[FontFace]) -> None:
        if not faces:
            raise FontError(_("no font to draw with; %(remedy)s"), remedy=HOW_TO_GET_ONE)
        self.faces = tuple(faces)
        self._open: dict[FontFace, _OpenFace] = {}
        self._fields: dict[str, Field | None] = {}

    @classmethod
    def of_installed(cls, names: Sequence[str] = ()) -> FontChain:
        """The chain of `find_faces`. Raises FontError."""
        return cls(find_faces(names))

    def face_of(self, character: str) -> FontFace | None:
        """The face that draws `character`; None if no face has it."""
        return next((face for face in self.faces if self._opened(face).face.get_char_index(character)), None)

    def field(self, character: str) -> Field | None:
        """The distance field of one character; None if no face has it or it has no ink."""
        if len(character) != 1:
            return None
        if character not in self._fields:
            face = self.face_of(character)
            self._fields[character] = _drawn(self._opened(face), character) if face else None
        return self._fields[character]

    def _opened(self, face: FontFace) -> _OpenFace:
        if face not in self._open:
            try:
                opened = freetype.Face(str(face.path), face.index)
                font = ImageFont.truetype(str(face.path), EM_PX, index=face.index)
            except (OSError, freetype.FT_Exception) as problem:
                raise FontError(
                    _("%(path)s: cannot be read as a font (%(error)s); %(remedy)s"),
                    path=face.path,
                    error=problem,
                    remedy=HOW_TO_GET_ONE,
                ) from problem
            # the height of the em square's middle differs from font to font; it is the middle of the ink of 國, which
            # fills its square evenly in every design
            sample = next((character for character in "國圖口" if opened.get_char_index(character)), None)
            self._open[face] = _OpenFace(opened, font, _ink_middle(font, sample) if sample else USUAL_MIDDLE_PX)
        return self._open[face]


def _drawn(face: _OpenFace, character: str) -> Field | None:
    """The field of a character, with the middle of its em square in the middle of the field; None without ink."""
    glyph, left, top = _rasterised(face.font, character)
    if not glyph.any():
        return None
    height, width = glyph.shape
    mask = np.zeros((SIDE, SIDE), np.uint8)
    x, y = PADDING_PX + left, round(SIDE / 2 - face.middle + top)
    x0, y0, x1, y1 = max(x, 0), max(y, 0), min(x + width, SIDE), min(y + height, SIDE)
    mask[y0:y1, x0:x1] = glyph[y0 - y : y1 - y, x0 - x : x1 - x]
    return distance_field(mask)


def lacuna_field() -> Field:
    """The field of 〓, two thick bars, which is drawn for a character that no font has."""
    mask = np.zeros((SIDE, SIDE), np.uint8)
    left, right, bar = PADDING_PX + EM_PX // 8, SIDE - PADDING_PX - EM_PX // 8, EM_PX // 5
    for middle in (SIDE // 2 - EM_PX // 4, SIDE // 2 + EM_PX // 4):
        mask[middle - bar // 2 : middle + bar // 2, left:right] = 255
    return distance_field(mask)
