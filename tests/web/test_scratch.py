"""What a server makes to be taken home does not outlive it for longer than until the next one starts."""

from __future__ import annotations

import tempfile
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from proof.web.download_jobs import DownloadJobs, DownloadKind, StepCount
from proof.web.scratch import remove_abandoned
from tests.conftest import PATIENCE
from tests.forked import FORKED


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def something(folder: Path, count: StepCount) -> None:
    (folder / "file").write_text("some text")


def make_and_wait(temporary: str, made: Connection) -> None:
    """A process that makes a download and then lives on until it is killed, or told to end."""
    tempfile.tempdir = temporary
    jobs = DownloadJobs()
    file = jobs.begin("work", DownloadKind.REPORT, "en", 1, something).future.result(PATIENCE)
    made.send(str(file))
    made.recv()
    jobs.close()


def test_what_a_server_left_that_was_killed_goes_when_the_next_starts_and_nothing_else(temporary: Path) -> None:
    killed_at, killed_told = FORKED.Pipe()
    living_at, living_told = FORKED.Pipe()
    killed = FORKED.Process(target=make_and_wait, args=(str(temporary), killed_told), daemon=True)
    living = FORKED.Process(target=make_and_wait, args=(str(temporary), living_told), daemon=True)
    for process in (killed, living):
        process.start()
    left, used = Path(killed_at.recv()), Path(living_at.recv())
    other = temporary / "proof-downloads-of-somebody-who-locks-nothing"
    other.mkdir()
    assert left.is_file()
    killed.kill()
    killed.join(PATIENCE)
    DownloadJobs().close()
    kept = {used.relative_to(temporary).parts[0], other.name}
    assert {path.name for path in temporary.glob("proof-*") if path.is_dir()} == kept
    assert used.read_bytes(), "what a server that runs has made is there"
    living_at.send("end")
    living.join(PATIENCE)
    assert list(temporary.glob("proof-*")) == [other], "a server that ends leaves nothing, its lock neither"


def test_a_link_that_is_named_so_is_left_with_what_it_leads_to(temporary: Path) -> None:
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").touch()
    link = temporary / "proof-downloads-link"
    link.symlink_to(elsewhere)
    link.with_name(f"{link.name}.lock").touch()
    remove_abandoned()
    assert (elsewhere / "file").exists()
    assert link.is_symlink()
