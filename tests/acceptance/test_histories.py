"""Whatever people decide, edit, check, export and restore in whatever order: what was decided is in the text once, and
nothing else is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.history import History, base_project
from tests.conftest import MadeOnce


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_what_was_decided_is_in_the_text_once_and_nothing_else_is_changed(
    tmp_path: Path, made_once: MadeOnce, seed: int
) -> None:
    base = made_once("acceptance", base_project)
    History(tmp_path, seed, base).run(steps=12)
