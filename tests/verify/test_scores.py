"""What evidence weighs: more of it never counts less, doubt never raises a flag."""

from __future__ import annotations

from math import log

from hypothesis import given
from hypothesis import strategies as st

from proof.settings.config import Settings
from proof.verify.scores import (
    LIFTED,
    LOWERED,
    insertion_score,
    omission_score,
    sense_weight,
    strange_score,
    swap_score,
)

THRESHOLD = Settings().flags.threshold

log_probs = st.floats(-11.5, -1e-4)
shares = st.floats(0, 1)


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
    """Odds of the image beyond e to the power of the threshold and `LOWERED` are raised whatever the sense says."""
    clear = THRESHOLD + LOWERED
    assert clear + sense_weight(told) >= THRESHOLD


@given(odds)
def test_no_context_raises_what_the_image_hardly_doubts(told: float) -> None:
    assert THRESHOLD - LIFTED - 0.01 + sense_weight(told) < THRESHOLD


@given(odds, odds)
def test_the_more_the_sense_speaks_against_the_text_the_more_it_adds(one: float, other: float) -> None:
    less, more = sorted((one, other))
    assert sense_weight(less) <= sense_weight(more)
    assert sense_weight(0.0) == 0
