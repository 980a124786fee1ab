"""A form is found on the ink: where it stands, how large it is, and whether it is there at all."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from proof.facsimile.brush import Hand, write_glyph
from proof.facsimile.fonts import FontChain
from proof.facsimile.forms import form_of
from proof.layout.glyph_form import FormFit, fit_form

SIZE = 40.0
PLACE = (60.0, 64.0)
"""Where the glyph is said to stand: a little below its middle."""


def written(character: str, x: float = 60, y: float = 60, em: tuple[float, float] = (44, 38)) -> NDArray[np.bool_]:
    """A character, written on an empty page."""
    canvas = np.zeros((120, 120), np.uint8)
    field = FontChain.of_installed().field(character)
    assert field is not None
    write_glyph(canvas, field, (x, y), em, Hand(), np.random.default_rng(1))
    return np.asarray(canvas > 100)


def fitted(ink: NDArray[np.bool_], *characters: str) -> FormFit | None:
    forms = [form for character in characters if (form := form_of(character)) is not None]
    return fit_form(ink, forms, PLACE, SIZE)


@pytest.mark.parametrize(("x", "y", "em"), [(68, 50, (44, 38)), (54, 72, (34, 34))])
@pytest.mark.parametrize("character", ["其", "三"])
def test_a_form_lies_where_its_glyph_stands(character: str, x: float, y: float, em: tuple[float, float]) -> None:
    ink = written(character, x, y, em)
    fit = fitted(ink, character)
    assert fit is not None
    ys, xs = np.nonzero(ink)
    edges = (xs.min(), ys.min(), xs.max() + 1, ys.max() + 1)
    assert (fit.left, fit.top, fit.right, fit.bottom) == pytest.approx(edges, abs=0.1 * SIZE)
    assert np.median(fit.distance[ink]) < 0.05 * SIZE


def test_of_several_forms_the_most_like_is_taken() -> None:
    both, own = fitted(written("其"), "言", "其"), fitted(written("其"), "其")
    assert both is not None
    assert own is not None
    assert both.correlation == own.correlation


def test_another_character_and_an_empty_place_have_no_form() -> None:
    assert fitted(written("國"), "一") is None
    assert fitted(np.zeros((120, 120), bool), "其") is None
    for text in ("", "其其", "\U0010fffd"):
        assert form_of(text) is None, "no font draws it"
        assert fitted(written("國"), text) is None
