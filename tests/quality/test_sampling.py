"""Samples of what was not flagged, and what they tell of the errors that were missed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.model.flags import Flag
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.quality.sampling import estimate, samples_of
from proof.text.model import Row
from tests.web.drawn import wrong

TEXT = "司射適西階西倚扑升自西階東面請射于公鄭注倚扑者將即君前不敢佩刑器也升堂者欲諸"


def page(number: int, flags: bool = False) -> PageResult:
    characters = tuple(
        CheckedCharacter(line, place, 1, Row.MAIN, text, Box(place, line, 1, 1), text, 0.99)
        for line in range(1, 9)
        for place, text in enumerate(TEXT)
    )
    columns = tuple(CheckedColumn(line, Box(0, line, 90, 1), TEXT) for line in range(1, 9))
    on_page = (replace(wrong("P", 1, 3, "面", 9.0), page=f"P{number}"),) if flags else ()
    return PageResult(
        f"P{number}", "", Status.CHECKED, characters_checked=len(characters), columns=columns, characters=characters,
        flags=on_page,
    )  # fmt: skip


def samples(rate: float, count: int = 60, flags: bool = False) -> list[tuple[Flag, ...]]:
    return [samples_of(page(number, flags), rate, 3.0) for number in range(count)]


def test_about_as_many_are_drawn_as_were_asked_for() -> None:
    drawn = sum(len(drawn) for drawn in samples(100))
    characters = 60 * 8 * len(TEXT)
    assert drawn == pytest.approx(characters / 100, rel=0.25)


def test_the_same_page_has_the_same_samples_and_another_has_others() -> None:
    assert samples_of(page(1), 0.0, 3.0) == ()
    assert samples_of(page(1), 200, 3.0) == samples_of(page(1), 200, 3.0)
    places = {tuple((f.line, f.offset) for f in samples_of(page(n), 200, 3.0)) for n in range(10)}
    assert len(places) > 5


@given(st.integers(0, 5000), st.data())
def test_the_interval_holds_what_was_counted_and_lies_within_bounds(count: int, data: st.DataObject) -> None:
    estimated = estimate(count, data.draw(st.integers(0, count)))
    assert 0 <= estimated.low <= estimated.rate <= estimated.high <= 10_000
    if not count:
        assert (estimated.low, estimated.high) == (0.0, 10_000.0)


@pytest.mark.parametrize("rate", [0.002, 0.02, 0.3])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(rate: float) -> None:
    chance = np.random.default_rng(7)
    held = 0
    for _ in range(2000):
        estimated = estimate(800, int(chance.binomial(800, rate)))
        held += estimated.low <= 10_000 * rate <= estimated.high
    assert 0.92 <= held / 2000 <= 0.99
