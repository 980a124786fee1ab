"""A few of the sequences of requests that `tests/soak/api.py` plays by the thousand against a model."""

from __future__ import annotations

import random
from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from tests.soak import api

pytestmark = pytest.mark.slow


def test_whatever_people_ask_for_in_whatever_order_decisions_add_up_and_undo_is_exact() -> None:
    asked, broken = api.played(40, seed=11)
    assert broken == []
    assert asked == 40 * api.STEPS


class Desks(RuleBasedStateMachine):
    """People ask for whatever they like; what breaks the model is shrunk to the fewest requests."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.player = self.stack.enter_context(api.player(1))

    @rule(chance=st.randoms(use_true_random=False))
    def ask(self, chance: random.Random) -> None:
        self.player.chance = chance
        self.player.step()

    def teardown(self) -> None:
        self.stack.close()


def test_whatever_hypothesis_asks_for_holds_to_the_model() -> None:
    few = settings(max_examples=6, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Desks, settings=few)
