"""What characters look like in fonts tells two that a recogniser reads alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from proof.facsimile.drawn import drawn_shapes
from proof.facsimile.fonts import FontChain
from proof.layout.glyph_shapes import SIZE, Shapes, draw_scaled, shapes_of
from proof.ocr.drawn_shapes import SHIPPED_SHAPES, DrawnShapes, shipped_shapes


@pytest.fixture(scope="module")
def fonts() -> FontChain:
    return FontChain.of_installed()


@pytest.fixture(scope="module")
def drawn(fonts: FontChain) -> DrawnShapes:
    return drawn_shapes("one", fonts, "弣附福")


def written(fonts: FontChain, character: str) -> Shapes:
    """The shape of a character written with other strokes than those whose shape is kept."""
    field = fonts.field(character)
    assert field is not None
    square = np.zeros((1, SIZE, SIZE), np.uint8)
    draw_scaled(np.where(field > 122, 255, 0).astype(np.uint8), square[0])
    return shapes_of(square)


def test_a_glyph_is_liker_to_what_it_is(fonts: FontChain, drawn: DrawnShapes) -> None:
    first, second = written(fonts, "弣"), written(fonts, "附")
    assert (drawn.form_preference("附", "弣", lambda: second) or 0) > 0.1
    assert (drawn.form_preference("附", "弣", lambda: first) or 0) < -0.1


def test_a_character_that_was_not_drawn_tells_nothing_and_no_shape_is_asked_for(drawn: DrawnShapes) -> None:
    def asked() -> Shapes:
        raise AssertionError

    assert drawn.form_preference("附", "楅", asked) is None
    assert drawn.form_preference("附", "附", asked) is None
    assert DrawnShapes.made_of("one", {}).form_preference("附", "弣", asked) is None


def test_shapes_that_were_saved_are_loaded(drawn: DrawnShapes, tmp_path: Path) -> None:
    drawn.save(tmp_path / "shapes.npz")
    found = DrawnShapes.load(tmp_path / "shapes.npz")
    assert found.checksum == "one"
    assert found.codes.tolist() == drawn.codes.tolist()
    assert found.packed.tolist() == drawn.packed.tolist()


def test_those_that_come_with_the_program_are_for_its_recogniser_alone_and_small() -> None:
    known = DrawnShapes.load(SHIPPED_SHAPES)
    assert len(shipped_shapes(known.checksum)) > 15_000
    assert len(shipped_shapes("another")) == 0
    assert SHIPPED_SHAPES.stat().st_size < 1_100_000
