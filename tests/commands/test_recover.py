"""`proof recover` ends with what it found: 0 where all is in the store, 1 where something of the journal is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from proof.cli import main
from proof.store import Store
from proof.store.decision_records import DecisionRequest, Verdict
from tests.web.drawn import WORK, fill


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The journal of a store in which three decisions were made."""
    folder = tmp_path_factory.mktemp("decided")
    with Store.open(folder / "proof.sqlite") as store:
        fill(store, folder)
        for flag in (1, 2, 3):
            store.decisions.decide(DecisionRequest(WORK, flag, Verdict.KEEP, 0, "甲", f"request-{flag:03}"))
        assert store.journal is not None
        return store.journal.path.read_bytes()


def damaged(journal: bytes, at: int) -> bytes:
    return b"".join(b"{\0}\n" if n == at else line for n, line in enumerate(journal.splitlines(keepends=True)))


@pytest.mark.parametrize(
    ("damage", "status", "expected"),
    [
        (lambda journal: journal, 0, ""),
        (lambda journal: journal[:-9], 0, "found.decisions.jsonl:4: the last line was cut off"),
        (lambda journal: damaged(journal, 1), 1, "found.decisions.jsonl:2: cannot"),
        (lambda journal: damaged(journal, 2), 1, "found.decisions.jsonl:3: cannot"),
    ],
    ids=["whole", "the last line cut off", "a line damaged", "the last line damaged"],
)
def test_a_line_that_cannot_be_read_is_told_by_the_exit_status_unless_a_crash_cut_it_off(
    tmp_path: Path,
    decided: bytes,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[bytes], bytes],
    status: int,
    expected: str,
) -> None:
    address = f"sqlite:///{tmp_path / 'proof.sqlite'}"
    with Store.open(tmp_path / "proof.sqlite") as store:
        fill(store, tmp_path)
    journal = tmp_path / "found.decisions.jsonl"
    journal.write_bytes(damage(decided))
    wanted = ["recover", "--store", address, "--journal", str(journal)]
    assert main(wanted) == status
    output = capsys.readouterr()
    assert expected in output.err
    assert bool(expected) == bool(output.err)
    assert f"rebuilt: {3 if not expected else 2} decisions" in output.out
