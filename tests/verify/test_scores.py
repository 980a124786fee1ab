"""What evidence weighs: more of it never counts less, doubt never raises a flag."""

from __future__ import annotations

from math import log

from hypothesis import given
from hypothesis import strategies as st

from proof.settings.config import Settings
from proof.verify.scores import (
    ALIKE,
    MAX_CONTEXT_DEDUCTION_NATS,
    MAX_CONTEXT_GAIN_NATS,
    insertion_score,
    language_weight,
    omission_score,
    strange_score,
    substitution_score,
    swap_score,
)

THRESHOLD = Settings().flags.threshold

log_probs = st.floats(-11.5, -1e-4)
shares = st.floats(0, 1)


@given(log_probs, log_probs, log_probs, shares)
def test_the_less_the_image_shows_what_is_transcribed_the_more_it_counts(
    one: float, other: float, belief: float, doubt: float
) -> None:
    more, less = sorted((one, other))
    assert substitution_score(more, belief, doubt) >= substitution_score(less, belief, doubt)


@given(log_probs.filter(lambda own: own < log(0.5)), log_probs, log_probs, shares)
def test_the_surer_another_reading_is_the_more_it_counts(own: float, one: float, other: float, doubt: float) -> None:
    unsure, sure = sorted((one, other))
    assert substitution_score(own, sure, doubt) >= substitution_score(own, unsure, doubt) - 1e-9


@given(log_probs, log_probs, shares, shares)
def test_doubt_about_the_image_is_no_evidence_against_the_text(
    own: float, belief: float, one: float, other: float
) -> None:
    clear, doubtful = sorted((one, other))
    assert substitution_score(own, belief, doubtful) <= substitution_score(own, belief, clear) + 1e-9


@given(shares)
def test_what_is_surely_something_else_is_raised_and_what_is_surely_there_is_not(taught: float) -> None:
    assert substitution_score(log(1e-5), log(0.99), 0.0, max(taught, 0.4)) >= THRESHOLD
    assert substitution_score(log(0.9), log(0.1), 0.0, taught) < THRESHOLD


def test_under_a_seal_even_a_sure_reading_of_something_else_is_hardly_raised() -> None:
    assert substitution_score(log(0.05), log(0.6), 0.8) < 0


def test_under_a_seal_what_is_left_nothing_is_raised_and_what_is_left_little_is_not() -> None:
    """踵 is read as many things there, none of them surely; where it is transcribed it is left something."""
    assert substitution_score(log(1e-5), log(0.12), 0.35, sure=0.999, others=0.55) >= THRESHOLD
    assert substitution_score(log(1e-5), log(0.12), 0.35, sure=None, others=0.55) < THRESHOLD
    assert substitution_score(log(0.005), log(0.12), 0.35, sure=0.999, others=0.55) < THRESHOLD


@given(log_probs, shares, shares)
def test_what_an_engine_was_hardly_taught_it_speaks_against_the_less(own: float, one: float, other: float) -> None:
    little, much = sorted((one, other))
    score = substitution_score(own, log(0.9), 0.0, much)
    if score > 0:
        assert substitution_score(own, log(0.9), 0.0, little) <= score


@given(log_probs)
def test_a_character_without_code_point_is_never_raised_by_what_is_read_for_it(belief: float) -> None:
    assert strange_score("&KR0058;", belief) < THRESHOLD


def test_an_unknown_character_is_raised_only_where_the_other_reading_is_wholly_sure() -> None:
    assert strange_score("𫝊", log(0.9999)) >= THRESHOLD
    assert strange_score("𫝊", log(0.9)) < THRESHOLD


@given(shares, shares, log_probs, st.floats(0, 3), st.booleans())
def test_the_surer_a_glyph_is_there_the_more_its_omission_counts(
    one: float, other: float, belief: float, room: float, enclosed: bool
) -> None:
    faint, clear = sorted((one, other))
    score = omission_score(clear, "射", belief, room, enclosed)
    assert omission_score(faint, "射", belief, room, enclosed) <= score


@given(shares, log_probs, st.floats(0, 3))
def test_a_splinter_of_the_frame_is_no_character_left_out(presence: float, belief: float, room: float) -> None:
    character = omission_score(presence, "射", belief, room, enclosed=False)
    splinter = omission_score(presence, "丨", belief, room, enclosed=False)
    between = omission_score(presence, "一", belief, room, enclosed=True)
    assert splinter < between < character
    assert omission_score(presence, "。", belief, room) < splinter


def test_half_a_glyph_stands_too_near_its_neighbour_to_be_one_of_its_own() -> None:
    assert omission_score(1.0, "日", -0.1, 1.0) - omission_score(1.0, "日", -0.1, 0.4) > 1


@given(st.floats(0, 1.25))
def test_a_character_without_room_is_surely_too_many(room: float) -> None:
    assert insertion_score(room) >= THRESHOLD


@given(st.floats(1.25, 1.6, exclude_min=True, exclude_max=True))
def test_a_little_more_room_than_usual_leaves_doubt(room: float) -> None:
    assert insertion_score(room) < insertion_score(1.0)


@given(log_probs, log_probs, log_probs, log_probs)
def test_two_neighbours_changed_round_are_weighed_both_ways(a: float, b: float, c: float, d: float) -> None:
    assert swap_score((a, b), (c, d)) == -swap_score((c, d), (a, b))


def test_a_neighbour_that_the_engine_does_not_know_says_nothing_either_way() -> None:
    assert swap_score((None, -0.1), (None, -0.1)) == 0


odds = st.floats(-1e6, 1e6)


@given(odds)
def test_no_context_hides_what_the_image_shows_clearly(told: float) -> None:
    """Odds of the image beyond e to the power of the threshold and `MAX_CONTEXT_DEDUCTION_NATS` are raised whatever the
    language model says."""
    clear = THRESHOLD + MAX_CONTEXT_DEDUCTION_NATS
    assert clear + language_weight(told) >= THRESHOLD


def test_the_words_around_decide_where_the_image_leaves_two_readings_open() -> None:
    """傅註, of which the image leaves 傳 three times as likely: 傳註 is met 60 times, 傅註 never."""
    left_open = substitution_score(log(0.206), log(0.771), 0.0)
    assert 1.0 < left_open < 1.1
    assert left_open + language_weight(5.96) >= THRESHOLD
    assert left_open + language_weight(3.0) < THRESHOLD


def test_the_words_around_weigh_more_against_the_text_than_for_it() -> None:
    """易傅, of which the image leaves 傳 five times as likely, and the language 15 times."""
    likelier = substitution_score(log(0.16), log(0.84), 0.0)
    assert likelier < THRESHOLD - 1.4
    assert likelier + language_weight(log(15)) >= THRESHOLD
    assert -language_weight(-1.0) < language_weight(1.0)


def test_a_clear_image_is_not_silenced_between_characters_that_are_written_alike() -> None:
    """曰 for 日 where the image hardly leaves 曰 possible: it is raised unless the words around speak for it."""
    clear = ALIKE * substitution_score(log(0.00044), log(0.999), 0.0)
    assert clear + language_weight(1.5) >= THRESHOLD
    assert clear + language_weight(-1.5) < THRESHOLD


@given(odds)
def test_no_context_raises_what_the_image_hardly_doubts(told: float) -> None:
    assert THRESHOLD - MAX_CONTEXT_GAIN_NATS - 0.01 + language_weight(told) < THRESHOLD


@given(odds, odds)
def test_the_more_the_language_model_speaks_against_the_text_the_more_it_adds(one: float, other: float) -> None:
    less, more = sorted((one, other))
    assert language_weight(less) <= language_weight(more)
    assert language_weight(0.0) == 0
