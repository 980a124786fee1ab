"""Two works in one store: what is done in one leaves the other as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.web import create_app
from tests.acceptance.history import History, base_project
from tests.conftest import MadeOnce


@pytest.fixture(autouse=True)
def an_application_each(pages_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two projects are served at once."""
    monkeypatch.setattr("tests.acceptance.history.create_app", create_app)


def shared(folder: Path) -> str:
    return f"sqlite:///{folder / 'shared.sqlite'}"


@pytest.mark.slow
def test_of_two_works_in_one_store_each_is_as_its_people_decided(tmp_path: Path, made_once: MadeOnce) -> None:
    base = made_once("acceptance", base_project)
    first = History(tmp_path / "first", 0, base, name="first.txt", store=shared(tmp_path))
    two = History(tmp_path / "two", 100, base, name="two.txt", store=shared(tmp_path))
    for _ in range(2):
        first.run(steps=3)
        two.run(steps=3)


def test_another_work_of_the_same_name_is_refused_and_the_first_stays(tmp_path: Path, made_once: MadeOnce) -> None:
    base = made_once("acceptance", base_project)
    first = History(tmp_path / "first", 0, base, store=shared(tmp_path))
    for _ in range(3):
        first.decide()
    other = History(tmp_path / "two", 1, base, name="other.txt", store=shared(tmp_path))
    other.path.write_text("卷十 第 1a 页 WYG0103-0192c.png\n日月盈昃\n辰宿列張\n", encoding="utf-8")
    other.path.rename(other.folder / "text.txt")
    config = other.folder / "config.toml"
    config.write_text(config.read_text(encoding="utf-8").replace("other.txt", "text.txt"), encoding="utf-8")
    status, output = other.proof("check")
    assert status == 2
    assert f"the store has another work of this name, from {first.path}; rename the file" in output
    first.check()
    first.export()
