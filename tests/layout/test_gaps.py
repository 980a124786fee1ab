"""How far columns stand apart, and where the rules between them are that are not printed."""

from __future__ import annotations

import numpy as np
import pytest

from proof.layout.gaps import columns_between, equal_rules, ruled_pitch

GLYPH = 70.0


def test_rules_tell_the_pitch_of_columns_though_some_are_not_printed() -> None:
    assert ruled_pitch([42, 256, 364, 470, 576, 790, 902], GLYPH) == pytest.approx(107, abs=1)


def test_two_sides_of_a_frame_alone_tell_no_pitch() -> None:
    assert ruled_pitch([42, 902], GLYPH) is None


def test_rules_at_no_equal_distances_tell_no_pitch() -> None:
    assert ruled_pitch([0, 80, 250, 345, 620, 730], GLYPH) is None


@pytest.mark.parametrize(("gap", "columns"), [(100, 1), (205, 2), (810, 8), (150, 0), (15, 0)])
def test_a_gap_between_rules_is_of_so_many_columns_or_of_none(gap: float, columns: int) -> None:
    assert columns_between(np.array([gap], np.float64), 100.0).tolist() == [columns]


def test_rules_that_are_not_printed_are_between_those_that_are() -> None:
    found = sorted(set(equal_rules([0, 300, 400, 500, 540, 640], 100.0)))
    assert found == pytest.approx([0, 100, 200, 300, 400, 500, 540, 640])
