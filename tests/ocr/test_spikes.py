"""Spikes: what was read on a strip, as it is kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from proof.ocr.engine import Posterior, ReadCharacter, Reading
from proof.ocr.spikes import StripSpikes, spikes_of

LETTERS = "_天地玄黃宇宙洪荒"


@st.composite
def posteriors(draw: st.DrawFn) -> Posterior:
    """What a recogniser of eight characters may believe along a strip, one of them sought beyond what is listed."""
    steps = draw(st.integers(0, 12))
    rows = [draw(st.lists(st.floats(1e-6, 1.0), min_size=9, max_size=9)) for _ in range(steps)]
    probabilities = np.array(rows, np.float32).reshape(steps, 9)
    probabilities /= np.maximum(probabilities.sum(axis=1, keepdims=True), 1e-9)
    order = np.argsort(-probabilities, axis=1)[:, :6].astype(np.int32)
    logs = np.log(np.maximum(np.take_along_axis(probabilities, order, axis=1), 1e-5)).astype(np.float32)
    far = np.log(np.maximum(probabilities[:, [3]], 1e-18)).astype(np.float32)
    centres = ((np.arange(steps) + 0.5) / max(steps, 1)).astype(np.float32)
    return Posterior(order, logs, centres, float(np.log(1e-5)), np.array([3], np.int32), far)


def asked(far: NDArray[np.uint8]) -> tuple[dict[str, None], Callable[[str], bytes]]:
    return {"玄": None}, lambda _: far[:, 0].tobytes()


@given(posteriors())
def test_what_was_kept_is_what_is_judged(posterior: Posterior) -> None:
    kept, far = spikes_of(Reading((), posterior), LETTERS.__getitem__, [3])
    again = StripSpikes.unpacked(kept.packed())
    assert again.spikes(*asked(far)) == kept.spikes(*asked(far))
    for spike in again.spikes(*asked(far)):
        assert 0 <= spike.place <= 1
        assert 0 <= spike.presence <= 1
        assert "玄" in spike.believed
        assert all(value <= 0 for value in spike.believed.values())


@given(posteriors())
def test_what_is_sought_changes_nothing_of_what_is_listed(posterior: Posterior) -> None:
    kept, far = spikes_of(Reading((), posterior), LETTERS.__getitem__, [3])
    for plain, full in zip(kept.spikes(), kept.spikes(*asked(far)), strict=True):
        assert (plain.place, plain.presence) == (full.place, full.presence)
        assert plain.believed.items() <= full.believed.items()


def test_text_and_a_score_become_spikes_too() -> None:
    read = ReadCharacter("天", 0.0, 0.5, 0.9, (("天", 0.9), ("夫", 0.1)))
    kept, _ = spikes_of(Reading((read,)), str, [None])
    (spike,) = kept.spikes()
    assert abs(spike.place - 0.25) < 1e-4
    assert spike.presence == 1.0
    assert set(spike.believed) == {"天", "夫"}
    assert abs(spike.believed["天"] - np.log(0.9)) < 1e-3
