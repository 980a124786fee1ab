"""A page whose image lies on its side or upside down is shown upright."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from proof.model.geometry import Box
from proof.model.result import PageResult
from proof.report.glyphs import character_place, cut_glyph
from proof.report.upright import turned_box, turned_picture, turned_size, upright
from tests.report.test_glyphs import checked, drawn

TURNS = st.sampled_from([0, 90, 180, 270])


def lying(result: PageResult, turn: int) -> PageResult:
    """A result as if its image had to be turned clockwise by `turn` degrees to be upright."""
    back, size = -turn % 360, result.image_size
    return replace(
        result,
        skew=float(turn if turn < 270 else turn - 360),
        image_size=turned_size(size, back),
        image_box=turned_box(Box(0, 0, *size), back, size),
        columns=tuple(replace(column, box=turned_box(column.box, back, size)) for column in result.columns),
        characters=tuple(
            replace(character, box=turned_box(character.box, back, size)) for character in result.characters
        ),
    )


@given(TURNS, st.integers(0, 20), st.integers(0, 12), st.integers(1, 9), st.integers(1, 7))
def test_a_box_of_a_turned_picture_holds_what_it_held(turn: int, x: int, y: int, w: int, h: int) -> None:
    picture = Image.fromarray(np.arange(30 * 20, dtype=np.uint8).reshape(20, 30) % 251)
    moved = turned_box(Box(x, y, w, h), turn, picture.size)
    whole = turned_picture(picture, turn)
    assert whole.size == turned_size(picture.size, turn)
    cut = whole.crop((int(moved.x), int(moved.y), int(moved.right), int(moved.bottom)))
    own = turned_picture(picture.crop((x, y, x + w, y + h)), turn)
    assert cut.tobytes() == own.tobytes()


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_glyph_of_a_turned_page_is_shown_as_it_is_read(turn: int) -> None:
    straight = checked()
    image = turned_picture(drawn(), -turn % 360)
    turned = lying(straight, turn)
    assert upright(turned) == replace(straight, image_box=Box(0, 0, 300, 700))
    expected = cut_glyph(drawn(), character_place(straight, straight.characters[4]))
    glyph = cut_glyph(turned_picture(image, turn), character_place(turned, turned.characters[4]))
    assert expected is not None
    assert glyph is not None
    assert glyph.picture.tobytes() == expected.picture.tobytes()
