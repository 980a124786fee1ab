"""What evidence weighs: more of it never counts less, doubt never raises a flag."""

from __future__ import annotations

from math import log

from hypothesis import given
from hypothesis import strategies as st

from proof.settings.config import Settings
from proof.verify.scores import (
    MAX_CONTEXT_DEDUCTION_NATS,
    MAX_CONTEXT_GAIN_NATS,
    language_weight,
    omission_score,
    substitution_score,
    swap_score,
    unknown_score,
)

THRESHOLD = Settings().flags.threshold

log_probs = st.floats(-11.5, -1e-4)
shares = st.floats(0, 1)


@given(log_probs, log_probs, log_probs, log_probs, shares, shares)
def test_the_clearer_the_image_shows_something_else_the_more_it_counts(
    own: float, other_own: float, belief: float, other_belief: float, doubt: float, other_doubt: float
) -> None:
    """The less it shows what is transcribed, the surer another reading is, and the less doubt there is of the image."""
    shown, hardly = max(own, other_own), min(own, other_own)
    unsure, sure = sorted((belief, other_belief))
    clear, doubtful = sorted((doubt, other_doubt))
    assert substitution_score(hardly, belief, doubt) >= substitution_score(shown, belief, doubt)
    assert substitution_score(own, belief, doubtful) <= substitution_score(own, belief, clear) + 1e-9
    if own < log(0.5):
        assert substitution_score(own, sure, doubt) >= substitution_score(own, unsure, doubt) - 1e-9


def test_what_is_surely_something_else_is_raised_and_what_is_surely_there_is_not() -> None:
    assert substitution_score(log(1e-5), log(0.99), 0.0) >= THRESHOLD
    assert substitution_score(log(0.9), log(0.1), 0.0) < THRESHOLD


@given(log_probs)
def test_a_strange_character_is_raised_only_where_the_other_reading_is_wholly_sure(belief: float) -> None:
    """One without code point never."""
    assert unknown_score("&KR0058;", belief) < THRESHOLD
    assert unknown_score("𫝊", log(0.9999)) >= THRESHOLD
    assert unknown_score("𫝊", log(0.9)) < THRESHOLD


@given(shares, shares, log_probs, st.booleans())
def test_the_surer_a_glyph_is_there_the_more_its_omission_counts(
    first: float, second: float, belief: float, enclosed: bool
) -> None:
    faint, clear = sorted((first, second))
    score = omission_score(clear, "射", belief, enclosed)
    assert omission_score(faint, "射", belief, enclosed) <= score


@given(log_probs, log_probs, log_probs, log_probs)
def test_two_neighbours_changed_round_are_weighed_both_ways(a: float, b: float, c: float, d: float) -> None:
    """One that the engine does not know says nothing either way."""
    assert swap_score((a, b), (c, d)) == -swap_score((c, d), (a, b))
    assert swap_score((None, a), (None, a)) == 0


odds = st.floats(-1e6, 1e6)


@given(odds, odds)
def test_context_neither_hides_what_is_clear_nor_raises_what_is_hardly_doubted(first: float, second: float) -> None:
    """Odds of the image beyond e to the power of the threshold and `MAX_CONTEXT_DEDUCTION_NATS` are raised whatever the
    language model says; the more it speaks against the text the more it adds."""
    assert THRESHOLD + MAX_CONTEXT_DEDUCTION_NATS + language_weight(first) >= THRESHOLD
    assert THRESHOLD - MAX_CONTEXT_GAIN_NATS - 0.01 + language_weight(first) < THRESHOLD
    assert language_weight(min(first, second)) <= language_weight(max(first, second))
    assert language_weight(0.0) == 0


def test_the_words_around_weigh_more_against_the_text_than_for_it() -> None:
    """易傅, of which the image leaves 傳 five times as likely, and the language 15 times."""
    likelier = substitution_score(log(0.16), log(0.84), 0.0)
    assert likelier < THRESHOLD - 1.4
    assert likelier + language_weight(log(15)) >= THRESHOLD
    assert -language_weight(-1.0) < language_weight(1.0)
