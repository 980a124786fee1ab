"""A few of the sequences of requests that `tests/soak/api.py` plays by the thousand against a model."""

from __future__ import annotations

import pytest

from tests.soak import api

pytestmark = pytest.mark.slow


def test_whatever_people_ask_for_in_whatever_order_decisions_add_up_and_undo_is_exact() -> None:
    asked, broken = api.played(40, seed=11)
    assert broken == []
    assert asked == 40 * api.STEPS
