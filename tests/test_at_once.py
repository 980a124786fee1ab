"""What happens when two programs work on one store at the same moment: each finds it as one of them alone, and then
the other, would have left it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from PIL import Image
from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.checking.pipeline import check
from proof.checking.recheck import Rechecker
from proof.layout.overrides import LayoutOverrideShape
from proof.settings.config import Settings
from proof.store import Store
from proof.store.models import PageRow
from tests.forked_commands import ForkedCommand
from tests.sample import lay_out

pytestmark = pytest.mark.slow

HINT = LayoutOverrideShape(((100, 100), (900, 100), (900, 750), (100, 750)), (0.5,), (None, ((0.0, 0.4),)))


def make(folder: Path, pages: int = 6, name: str = "text", config: str = "") -> Path:
    """A project of the first half-folios of the sample, their images blank, checked with the engine that reads
    nothing: what becomes of their results is looked at, not what they are."""
    lay_out(folder, pages, f"{name}.txt")
    for path in (folder / "images").iterdir():
        Image.new("L", (290, 390), 235).save(path)
    engine = '[engine]\nname = "null"\nworkers = 1\n'
    config_text = f'[project]\ntexts = ["*.txt"]\nimages = ["images"]\n{engine}{config}'
    (folder / "config.toml").write_text(config_text, encoding="utf-8")
    return folder


def ended(command: ForkedCommand) -> str:
    """What the command wrote, once it ended well."""
    status, output = command.ended()
    assert status in (0, 1), output
    assert "Traceback" not in output
    return output


def absent(store: Store) -> list[str]:
    with Session(store.engine) as session:
        return list(session.scalars(select(PageRow.page).where(PageRow.absent.is_(True))))


def runs(store: Store, work: str) -> tuple[int, int]:
    """How many pages the last run of a work has, and how many pages the work."""
    last = store.latest_run(work)
    assert last is not None
    assert last.finished is not None
    return len(list(store.results(run=last.id))), len(list(store.results(work=work)))


def test_a_second_check_waits_says_so_and_reads_the_text_as_it_is_then(tmp_path: Path) -> None:
    folder = make(tmp_path)
    with Store.open(folder / "proof.sqlite") as store:
        with store.checking("text") as waited:
            assert not waited
            second = ForkedCommand(folder, "check")
            assert "text is being checked by another proof check; waiting" in second.said.readline()
            make(folder, pages=4)
        ended(second)
        assert runs(store, "text") == (4, 4)


def test_a_check_that_was_killed_is_waited_for_by_nobody(tmp_path: Path) -> None:
    folder = make(tmp_path)
    with Store.open(folder / "proof.sqlite") as store:
        hold = f"import time; from proof.store import Store; s = Store.open('sqlite:///{folder}/proof.sqlite')\n"
        hold += "lock = s.checking('text'); lock.__enter__(); print('held', flush=True); time.sleep(600)"
        command = [sys.executable, "-c", hold]
        holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        waited = threading.Event()
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        holder.stdout.close()
        with store.checking("text", waited.set):
            assert not waited.is_set()


def test_a_page_read_again_while_a_check_goes_on_is_there_once_as_it_was_set_right(tmp_path: Path) -> None:
    """The check stands beyond that page, of a text to which a page was added in front."""
    folder = make(tmp_path, pages=4)
    settings = Settings.load(folder)
    check(settings)
    text = folder / "text.txt"
    lines = text.read_text(encoding="utf-8").splitlines(keepends=True)
    start = next(n for n, line in enumerate(lines) if line.startswith("卷十 第"))
    added = ["卷十 第 0b 页 WYG0103-0192b.png\n", "射人告具于公\n", "\n"]
    text.write_text("".join([*lines[:start], *added, *lines[start:]]), encoding="utf-8")
    with Store.open(settings.store_address) as store:
        reader = Rechecker(settings, store)
        page = store.queue.pages("text")[2]

        def meanwhile(done: int) -> None:
            if done == 3:
                store.layout_overrides.set("text", page.number, HINT, "", "", version=0, person="甲", key="layout-0001")
                reader.read("text", page.number)

        check(settings, lambda progress: meanwhile(progress.done))
        page_ids = [result.page for result in store.results(work="text")]
        assert len(page_ids) == len(set(page_ids)) == 5
        assert runs(store, "text") == (5, 5)
        assert absent(store) == []
        last = store.latest_run("text")
        here = next((result for result in store.results(work="text") if result.page == page.page), None)
        assert last is not None
        assert here is not None
        check(settings)  # that nothing is read again says that the page stands as it was set right
        again = store.latest_run("text")
        assert again is not None
        assert again.reused == sum(result.image is not None for result in store.results(work="text"))
