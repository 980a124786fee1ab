"""Fonts: found by name or by themselves, asked what they hold, and drawn as distance fields."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib.tables._g_l_y_f import Glyph

from proof.errors import FontError
from proof.facsimile import fonts
from proof.facsimile.fonts import EM, LEVELS, PAD, FontChain, distance_field, find_faces, installed_faces


def square(side: int) -> Glyph:
    pen = TTGlyphPen(None)
    pen.moveTo((500 - side // 2, 400 - side // 2))
    for x, y in (
        (500 - side // 2, 400 + side // 2),
        (500 + side // 2, 400 + side // 2),
        (500 + side // 2, 400 - side // 2),
    ):
        pen.lineTo((x, y))
    pen.closePath()
    return pen.glyph()


def make_font(path: Path, family: str, glyphs: dict[str, int]) -> Path:
    """A font in which each character is a square of the given side, in thousandths of the em."""
    names = [".notdef", *(f"u{ord(character):05X}" for character in glyphs)]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(character): f"u{ord(character):05X}" for character in glyphs})
    builder.setupGlyf({".notdef": square(10), **{f"u{ord(c):05X}": square(side) for c, side in glyphs.items()}})
    bearings = {".notdef": 495, **{f"u{ord(character):05X}": 500 - side // 2 for character, side in glyphs.items()}}
    builder.setupHorizontalMetrics({name: (1000, bearing) for name, bearing in bearings.items()})
    builder.setupHorizontalHeader(ascent=900, descent=-100)
    builder.setupNameTable({"familyName": family, "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)
    return path


@pytest.fixture
def two_fonts(tmp_path: Path) -> tuple[Path, Path]:
    first = make_font(tmp_path / "first.ttf", "First Kai", {"國": 800, "人": 400})
    return first, make_font(tmp_path / "second.ttf", "Second Kai", {"國": 800, "𫝊": 600})


def test_a_rare_character_comes_from_the_first_font_that_holds_it(two_fonts: tuple[Path, Path]) -> None:
    chain = FontChain([face for path in two_fonts for face in fonts._faces_of(path)])
    assert [face.path for face in map(chain.face_of, "人𫝊國") if face] == [two_fonts[0], two_fonts[1], two_fonts[0]]


def test_a_character_that_no_font_holds_has_no_field(two_fonts: tuple[Path, Path]) -> None:
    chain = FontChain([face for path in two_fonts for face in fonts._faces_of(path)])
    assert chain.field("龘") is None
    assert chain.field("") is None
    assert chain.field("&KR0058;") is None


def test_a_field_is_inside_where_the_glyph_is_and_measures_the_distance(two_fonts: tuple[Path, Path]) -> None:
    field = FontChain(fonts._faces_of(two_fonts[0])).field("國")
    assert field is not None
    middle, half = EM / 2 + PAD, 0.4 * EM
    inside = field >= 128
    assert inside.sum() == pytest.approx((2 * half) ** 2, rel=0.03)
    rows = np.flatnonzero(inside.any(axis=1))
    assert rows[0] == pytest.approx(middle - half, abs=1.5)
    depth = (float(field[round(middle), round(middle - half) + 6]) - 128) / LEVELS
    assert depth == pytest.approx(6, abs=1.2)


def test_thresholding_a_field_higher_or_lower_thins_or_thickens_strokes() -> None:
    mask = np.zeros((EM + 2 * PAD, EM + 2 * PAD), np.uint8)
    cv2.rectangle(mask, (60, 40), (80, 120), (255,), -1)
    field = distance_field(mask)
    thinner, thicker = field >= 128 + 2 * LEVELS, field >= 128 - 2 * LEVELS
    assert np.flatnonzero(thinner.any(axis=0)).size == pytest.approx(21 - 4, abs=1)
    assert np.flatnonzero(thicker.any(axis=0)).size == pytest.approx(21 + 4, abs=1)


def test_a_font_named_as_a_file_is_tried_first(two_fonts: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "installed_faces", lambda: tuple(fonts._faces_of(two_fonts[0])))
    monkeypatch.setattr(fonts, "REGULAR_SCRIPT", ("First Kai",))
    assert [face.path for face in find_faces([str(two_fonts[1])])] == [two_fonts[1], two_fonts[0]]


def test_a_family_is_found_however_its_name_is_spelt(
    two_fonts: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fonts, "installed_faces", lambda: tuple(fonts._faces_of(two_fonts[1])))
    assert find_faces(["second-kai"])[0].path == two_fonts[1]


def test_a_font_that_is_not_there_is_named_with_what_to_install() -> None:
    with pytest.raises(FontError, match=r"No Such Kai.*fonts-cns11643-kai"):
        find_faces(["No Such Kai"])


def test_a_machine_without_a_font_in_regular_script_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "installed_faces", lambda: ())
    with pytest.raises(FontError, match=r"fonts-cns11643-kai, fonts-arphic-ukai or fonts-lxgw-wenkai"):
        find_faces()


def test_a_file_that_is_no_font_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.ttf"
    broken.write_bytes(b"\0\1\0\0" + b"no font at all" * 9)
    with pytest.raises(FontError, match=r"broken\.ttf"):
        find_faces([str(broken)])


def test_without_fontconfig_the_usual_folders_are_searched(
    two_fonts: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(fonts, "FONT_FOLDERS", (str(two_fonts[0].parent),))
    installed_faces.cache_clear()
    try:
        assert {name for face in installed_faces() for name in face.families} == {"First Kai", "Second Kai"}
    finally:
        installed_faces.cache_clear()
