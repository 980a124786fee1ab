"""N-grams around a place, counted and packed."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from proof.language.model import all_keys
from proof.language.ngrams import (
    COUNT_BASE,
    MAX_EXACT_COUNT,
    PATTERNS,
    Counts,
    contexts_at,
    hashed,
    keys,
    packed,
    unpacked,
)
from proof.language.stream import BREAK, MARGIN_TOKENS


def keys_from(numbers: list[int]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return hashed(np.array(numbers, np.uint64))


@given(st.lists(st.integers(0, 60), max_size=200), st.sampled_from([31, 32, 40]))
def test_packed_counts_come_back(numbers: list[int], bits: int) -> None:
    counts = Counts.of(keys_from(numbers), bits)
    back = unpacked(packed(counts))
    assert back.keys.tolist() == counts.keys.tolist()
    assert back.bits == bits
    small = counts.counts <= MAX_EXACT_COUNT
    assert back.counts[small].tolist() == counts.counts[small].tolist()
    assert np.allclose(back.counts[~small], counts.counts[~small], rtol=COUNT_BASE - 1)


@given(st.lists(st.integers(0, 30), max_size=100), st.lists(st.integers(0, 30), max_size=100))
def test_counts_of_two_texts_are_those_of_both_together(first: list[int], second: list[int]) -> None:
    merged = Counts.merged([Counts.of(keys_from(first), 40), Counts.of(keys_from(second), 40)], 40)
    both = Counts.of(keys_from(first + second), 40)
    assert merged.keys.tolist() == both.keys.tolist()
    assert merged.counts.tolist() == both.counts.tolist()


def test_a_key_is_the_same_whether_asked_for_a_place_or_counted_over_a_text() -> None:
    text = [BREAK] * MARGIN_TOKENS + [ord(c) for c in "天地玄黃宇宙洪荒日月盈昃"] + [BREAK] * MARGIN_TOKENS
    tokens = np.array(text, np.uint32)
    places = np.arange(MARGIN_TOKENS, len(tokens) - MARGIN_TOKENS)
    for number in range(len(PATTERNS)):
        asked = keys(contexts_at(tokens, places, number), tokens[places])
        assert asked.tolist() == all_keys(tokens, tokens, number).tolist()
