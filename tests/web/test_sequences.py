"""A few of the sequences of requests that `scripts/bench_api.py` plays by the thousand against a model."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

bench_api = import_module("bench_api")


def test_whatever_people_ask_for_in_whatever_order_decisions_add_up_and_undo_is_exact() -> None:
    asked, broken = bench_api.played(40, seed=11)
    assert broken == []
    assert asked == 40 * bench_api.STEPS
