"""Agreement of two people: figures that can be checked by hand, and what must always hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.quality.agreement import MIN_PLACES, agreement, kappa

WORDS = st.sampled_from(["kept", "as suggested", "copy", "= 某"])


def table(both_yes: int, first_yes: int, second_yes: int, both_no: int) -> list[tuple[str, str]]:
    counts = {("yes", "yes"): both_yes, ("yes", "no"): first_yes, ("no", "yes"): second_yes, ("no", "no"): both_no}
    return [pair for pair, count in counts.items() for _ in range(count)]


def test_kappa_is_that_of_the_textbook() -> None:
    """20 and 15 of 50 the same, marginals 25:25 and 30:20: agreement 0.7, by chance 0.5, kappa 0.4; its standard error
    (Fleiss, Cohen and Everitt, formula 13) worked out by hand is 0.1270."""
    agreement = kappa(table(20, 5, 10, 15))
    assert agreement is not None
    assert agreement.value == pytest.approx(0.4)
    assert (agreement.high - agreement.value) / 1.959964 == pytest.approx(0.1270, abs=5e-4)
    assert agreement.value - agreement.low == pytest.approx(agreement.high - agreement.value)


def test_too_few_places_give_no_kappa_and_neither_does_one_word_for_all() -> None:
    few = agreement(("甲", "乙"), table(10, 0, 0, MIN_PLACES - 11))
    assert (few.too_few, few.kappa, few.places) == (True, None, MIN_PLACES - 1)
    same = agreement(("甲", "乙"), [("kept", "kept")] * 40)
    assert (same.too_few, same.kappa, same.share) == (False, None, 1.0)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=120))
def test_kappa_is_one_for_the_same_words_and_never_above_its_bounds(judged: list[tuple[str, str]]) -> None:
    agreement = kappa(judged)
    if agreement is not None:
        assert -1 <= agreement.low <= agreement.value <= agreement.high <= 1
        turned = kappa([(other, first) for first, other in judged])
        assert turned is not None
        assert turned.value == pytest.approx(agreement.value)
    alike = kappa([(first, first) for first, _ in judged])
    assert alike is None or alike.value == pytest.approx(1)
