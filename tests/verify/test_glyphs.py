"""The glyphs of a column that was read more than once."""

from __future__ import annotations

import pytest

from proof.verify.glyphs import Glyph, Window, merged, spacing
from tests.verify.columns import PITCH, glyph

WINDOW = Window(0, 0.0, 10 * PITCH)


def summary(glyphs: tuple[Glyph, ...]) -> list[tuple[str, float]]:
    return [(shown.best, round(shown.presence, 2)) for shown in glyphs]


def test_what_one_of_two_readings_lacks_is_half_as_probable_and_what_was_not_read_again_stays() -> None:
    first = [glyph(1, 司=0.9), glyph(3, 射=0.9), glyph(12, 適=0.9)]
    second = [glyph(1.1, 司=0.5), glyph(5, 西=0.9)]
    both = merged(first, second, [WINDOW], 1)
    assert summary(both) == [("司", 1.0), ("射", 0.5), ("西", 0.5), ("適", 1.0)]
    assert both[0].seen == ("司", "司")


def test_two_readings_of_a_glyph_have_the_mean_of_their_probabilities() -> None:
    (both,) = merged([glyph(2, 末=0.9, 未=0.1)], [glyph(2, 末=0.2, 未=0.8)], [WINDOW], 1)
    assert both.best == "末"
    assert both.log_prob("未") == pytest.approx(-0.8, abs=0.01)
    assert both.seen == ("末", "未")


def test_a_glyph_is_as_far_from_its_neighbours_as_from_the_nearer_one() -> None:
    own = glyph(4, 其=0.9)
    assert spacing(own, own.y - 2 * PITCH, own.y + 1.5 * PITCH) == 1.5
    assert spacing(own, None, None) == 1
