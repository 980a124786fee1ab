"""Whatever people decide, edit, check, export and restore in whatever order: what was decided is in the text once, and
nothing else is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.history import History, base_project
from tests.acceptance.killed import KilledHistory
from tests.conftest import MadeOnce

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(3))
def test_what_was_decided_is_in_the_text_once_and_nothing_else_is_changed(
    tmp_path: Path, made_once: MadeOnce, seed: int
) -> None:
    base = made_once("acceptance", base_project)
    History(tmp_path, seed, base).run(steps=12)


def test_nothing_that_a_killed_server_answered_is_lost_or_there_twice(tmp_path: Path, made_once: MadeOnce) -> None:
    history = KilledHistory(tmp_path, 1, made_once("acceptance", base_project))
    history.run(steps=12)
    assert history.kills
