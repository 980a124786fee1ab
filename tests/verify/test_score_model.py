"""The score of a wrong character: more evidence never counts less, doubt never raises a flag."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.settings.config import Settings
from proof.verify.score_model import Response, SubstitutionFeatures, shipped_model

THRESHOLD = Settings().flags.threshold
MODEL = shipped_model()

shares = st.floats(0, 1)
log_probs = st.floats(-11.5, -1e-4)
features = st.builds(
    SubstitutionFeatures,
    transcribed=log_probs,
    other=log_probs,
    others=shares,
    doubt=shares,
    presence=shares,
    taught=shares,
    sure=st.none() | shares,
    detail=st.floats(4, 40),
    seen=st.booleans(),
)


def test_no_response_falls() -> None:
    for name, response in MODEL.responses.items():
        assert list(response.knots) == sorted(set(response.knots)), name
        assert all(above >= below for below, above in pairwise(response.nats)), name


@given(st.floats(-100, 100))
def test_a_response_is_linear_between_its_knots_and_level_beyond(value: float) -> None:
    response = Response((0.0, 10.0), (-1.0, 1.0))
    assert response(value) == pytest.approx(min(max(value / 5 - 1, -1), 1))


@given(features, log_probs, log_probs)
def test_the_less_the_image_shows_what_is_transcribed_the_more_it_counts(
    known: SubstitutionFeatures, one: float, other: float
) -> None:
    less, more = sorted((one, other))
    assert MODEL.score(replace(known, transcribed=less)) >= MODEL.score(replace(known, transcribed=more))


@given(features, shares, shares)
def test_the_less_is_known_of_the_image_or_the_character_the_less_it_counts(
    known: SubstitutionFeatures, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    assert MODEL.score(replace(known, presence=low)) <= MODEL.score(replace(known, presence=high))
    assert MODEL.score(replace(known, taught=low)) <= MODEL.score(replace(known, taught=high))
    assert MODEL.score(replace(known, sure=low)) <= MODEL.score(replace(known, sure=high))
    assert MODEL.score(replace(known, doubt=high)) <= MODEL.score(replace(known, doubt=low))
    assert MODEL.score(replace(known, seen=True)) <= MODEL.score(replace(known, seen=False))


@given(features)
def test_the_weights_of_a_score_are_its_parts(known: SubstitutionFeatures) -> None:
    weights = MODEL.weights(known)
    assert MODEL.base + sum(nats for _, nats in weights) == pytest.approx(MODEL.score(known), abs=0.05)
    assert [abs(nats) for _, nats in weights] == sorted((abs(nats) for _, nats in weights), reverse=True)


def test_what_is_surely_something_else_is_raised_and_what_is_surely_there_is_not() -> None:
    assert MODEL.score(SubstitutionFeatures(log(1e-5), log(0.99))) >= THRESHOLD
    assert MODEL.score(SubstitutionFeatures(log(0.9), log(0.1))) < 0


def test_under_a_seal_an_unsure_reading_of_something_else_is_not_raised() -> None:
    assert MODEL.score(SubstitutionFeatures(log(0.05), log(0.6), doubt=0.8)) < THRESHOLD
