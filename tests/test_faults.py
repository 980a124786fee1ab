"""A few of the pairs and faults that `tests/soak/pairs.py` and `tests/soak/faults.py` try by the hundred."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forked_commands import FORKED
from tests.soak import faults, pairs
from tests.soak.failing_calls import Way

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(FORKED.get_start_method() != "forkserver", reason="commands run in forked processes"),
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of three half-folios, checked and decided on, whose store is of an earlier version. The check of a pair
    takes the last one away, so that nobody decides that one."""
    folder: Path = pairs.made(tmp_path_factory.mktemp("pairs"), 3)
    return folder


def test_a_pair_leaves_what_one_after_the_other_leaves(base: Path) -> None:
    assert list(pairs.broken(("check", "decide"), base, 1)) == []


@pytest.mark.parametrize("job", ["acts", "restore", "recover"])
def test_a_call_that_fails_loses_nothing_and_leaves_nothing_by_halves(base: Path, job: str) -> None:
    """In each of the ways that a call can fail, at a few calls."""
    for way, calls, done, failures in faults.tried(job, base, list(Way), 397):
        assert (way, calls.calls > 10, done > 0, failures) == (way, True, True, [])
