"""Trial pages: drawn from real texts, each with a style and a wear of its own, and the same ones again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from proof.facsimile.render import page_seed
from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from scripts.bench import drawn_pages
from scripts.bench.drawn_pages import choose, fits, trial_style, trial_wear


@pytest.fixture(scope="module")
def texts(shared: Path) -> list[Transcription]:
    folder = shared / "kanripo"
    names = ("KR1d0030/KR1d0030_010.txt", "KR1d0087/KR1d0087_223.txt", "KR1d0085/KR1d0085_003.txt")
    return [read_transcription(folder / name) for name in names]


def test_pages_that_fit_are_chosen_from_several_texts_without_repetition(texts: list[Transcription]) -> None:
    chosen, again, other = (choose(texts, 40, seed) for seed in (1, 1, 2))
    ids = [one.page.id for one in chosen]
    assert len(set(ids)) == 40
    assert len({one.transcription.work for one in chosen}) > 1
    assert [one.page.id for one in again] == ids != [one.page.id for one in other]
    running = next(page for page in texts[2].pages if page.id.endswith("003-10b"))
    assert max(len(column.source) for column in running.columns) > 100
    assert not fits(running)
    every = choose(texts, 10_000)
    assert all(len(one.page.columns) <= 8 for one in every)
    assert 30 < len(every) <= sum(len(text.pages) for text in texts)


def test_styles_and_wear_are_mixed() -> None:
    seeds = [page_seed(1, f"page {number}") for number in range(200)]
    wears, styles = [trial_wear(seed) for seed in seeds], [trial_style(seed) for seed in seeds]
    assert 40 < sum(wear.grey for wear in wears) < 95
    assert 50 < sum(wear.jpeg is not None for wear in wears) < 110
    assert 12 < sum(wear.seal > 0 for wear in wears) < 50
    assert max(wear.skew for wear in wears) > 2.5
    assert {style.scale for style in styles} == {1.0, 1.35, 1.7}
    assert len({style.wide_margins for style in styles}) == 2


@pytest.mark.slow
@pytest.mark.usefixtures("kai")
def test_a_trial_looks_the_same_whatever_is_drawn_before_it(texts: list[Transcription]) -> None:
    chosen = choose(texts, 2, seed=3)
    together = dict(drawn_pages.rendered(chosen, seed=3))
    ((name, alone),) = drawn_pages.rendered(chosen[-1:], seed=3)
    assert np.array_equal(together[name].image, alone.image)
    assert alone.characters
