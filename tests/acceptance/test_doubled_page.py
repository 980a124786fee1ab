"""A page that stands twice in its text, and is moved: what is asked of it is asked where it stands."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.history import History, base_project
from tests.conftest import MadeOnce


def test_what_is_decided_after_another_page_came_between_two_parts_of_a_page_is_written(
    tmp_path: Path, made_once: MadeOnce
) -> None:
    history = History(tmp_path, 0, made_once("acceptance", base_project))
    doubled = history.pages()[1]
    history.text.double(doubled)
    history.path.write_text(history.text.content, encoding="utf-8")
    history.check()
    first, second = history.pages()[:2]
    history.text.move(second, first.start)
    history.path.write_text(history.text.content, encoding="utf-8")
    history.check()
    history.take_all()
    assert "its place was changed" not in history.proof("export", history.name, "--dry-run")[1]
