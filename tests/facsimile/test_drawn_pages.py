"""Trial pages: drawn from real texts, each with a style and a wear of its own, and the same ones again."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from scripts.bench.drawn_pages import choose, fits


@pytest.fixture(scope="module")
def texts(shared: Path) -> list[Transcription]:
    folder = shared / "kanripo"
    names = ("KR1d0030/KR1d0030_010.txt", "KR1d0087/KR1d0087_223.txt", "KR1d0085/KR1d0085_003.txt")
    return [read_transcription(folder / name) for name in names]


def test_pages_that_fit_are_chosen_from_several_texts_without_repetition(texts: list[Transcription]) -> None:
    chosen, again, other = (choose(texts, 40, seed) for seed in (1, 1, 2))
    ids = [drawn.page.id for drawn in chosen]
    assert len(set(ids)) == 40
    assert len({drawn.transcription.work for drawn in chosen}) > 1
    assert [drawn.page.id for drawn in again] == ids != [drawn.page.id for drawn in other]
    running = next(page for page in texts[2].pages if page.id.endswith("003-10b"))
    assert max(len(column.source) for column in running.columns) > 100
    assert not fits(running)
    every = choose(texts, 10_000)
    assert all(len(drawn.page.columns) <= 8 for drawn in every)
    assert 30 < len(every) <= sum(len(text.pages) for text in texts)
