"""Reports written again from the store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proof.errors import UsageError
from proof.report.regenerate import write_again
from proof.settings.config import Settings
from proof.store import Store
from tests.report.held import HeldRun, save_run


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings().replace({"project.out": tmp_path})


def keep(settings: Settings, held: HeldRun, *, finished: bool) -> None:
    with Store.open(settings.store_address) as store:
        save_run(store, held, finished=finished)


@pytest.mark.parametrize("finished", [True, False], ids=["finished", "interrupted"])
def test_they_hold_every_page_of_the_last_run(
    settings: Settings, held: HeldRun, tmp_path: Path, finished: bool
) -> None:
    keep(settings, held, finished=finished)
    again = write_again(settings)
    assert (again.run.finished is not None) is finished
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert set(summary["pages"]) == {page.page for page in held.pages}
    assert again.written.page.is_file()


def test_without_a_run_nothing_is_written(settings: Settings, held: HeldRun) -> None:
    keep(settings, held, finished=True)
    with pytest.raises(UsageError, match="no check of KR9x0001"):
        write_again(settings, "KR9x0001")
