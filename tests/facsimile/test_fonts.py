"""Fonts: found by name or by themselves, asked what they hold, and drawn as distance fields."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib.tables._g_l_y_f import Glyph

from proof.errors import FontError
from proof.facsimile import fonts
from proof.facsimile.fonts import FontChain, find_faces, installed_faces


def square(side: int) -> Glyph:
    near, left, right, far = 400 - side // 2, 500 - side // 2, 500 + side // 2, 400 + side // 2
    pen = TTGlyphPen(None)
    pen.moveTo((left, near))
    for corner in ((left, far), (right, far), (right, near)):
        pen.lineTo(corner)
    pen.closePath()
    return pen.glyph()


def make_font(path: Path, family: str, glyphs: dict[str, int]) -> Path:
    """A font in which each character is a square of the given side, in thousandths of the em."""
    sides = {".notdef": 10, **{f"u{ord(character):05X}": side for character, side in glyphs.items()}}
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(list(sides))
    builder.setupCharacterMap({ord(character): f"u{ord(character):05X}" for character in glyphs})
    builder.setupGlyf({name: square(side) for name, side in sides.items()})
    builder.setupHorizontalMetrics({name: (1000, 500 - side // 2) for name, side in sides.items()})
    builder.setupHorizontalHeader(ascent=900, descent=-100)
    builder.setupNameTable({"familyName": family, "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)
    return path


@pytest.fixture
def two_fonts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """All fonts of a machine without fontconfig, of which the first is one in regular script."""
    first = make_font(tmp_path / "first.ttf", "First Kai", {"國": 800, "人": 400})
    second = make_font(tmp_path / "second.ttf", "Second Kai", {"國": 800, "𫝊": 600})
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(fonts, "FONT_FOLDERS", (str(tmp_path),))
    monkeypatch.setattr(fonts, "REGULAR_SCRIPT", ("First Kai",))
    installed_faces.cache_clear()
    yield first, second
    installed_faces.cache_clear()


@pytest.mark.parametrize("named", ["second-kai", "second.ttf"])
def test_a_font_named_as_a_file_or_a_family_however_spelt_is_tried_first(
    two_fonts: tuple[Path, Path], named: str
) -> None:
    name = str(two_fonts[1]) if named == two_fonts[1].name else named
    assert [face.path for face in find_faces([name])] == [two_fonts[1], two_fonts[0]]


def test_a_rare_character_comes_from_the_first_font_that_holds_it(two_fonts: tuple[Path, Path]) -> None:
    chain = FontChain.of_installed(("second kai",))
    assert [face.path for face in map(chain.face_of, "人𫝊國") if face] == [two_fonts[0], two_fonts[1], two_fonts[1]]
    assert [chain.field(text) for text in ("龘", "", "&KR0058;")] == [None, None, None]


def test_a_font_that_cannot_be_had_is_named_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.ttf").write_bytes(b"\0\1\0\0" + b"no font at all" * 9)
    with pytest.raises(FontError, match=r"No Such Kai.*fonts-cns11643-kai"):
        find_faces(["No Such Kai"])
    with pytest.raises(FontError, match=r"broken\.ttf"):
        find_faces([str(tmp_path / "broken.ttf")])
    monkeypatch.setattr(fonts, "installed_faces", lambda: ())
    with pytest.raises(FontError, match=r"fonts-cns11643-kai, fonts-arphic-ukai or fonts-lxgw-wenkai"):
        find_faces()
