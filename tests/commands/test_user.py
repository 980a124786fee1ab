"""Accounts from the command line: the first is an administrator's, passwords come from a terminal or a line."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from proof.store import Store
from proof.store.accounts import Role
from tests.conftest import PATIENCE, Run

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "四庫 full of 書"  # noqa: S105


@pytest.fixture(autouse=True)
def project(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[project]\ntitle = "大射儀"\n', encoding="utf-8")


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A password on standard input, for each command that asks."""

    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\n" * 9))


def accounts(folder: Path) -> dict[str, tuple[Role, bool]]:
    with Store.open(folder / "proof.sqlite") as store:
        return {one.name: (one.role, one.disabled) for one in store.accounts.everybody()}


@pytest.mark.usefixtures("said")
def test_the_first_is_an_administrator_the_next_a_proofreader(run: Run, tmp_path: Path) -> None:
    assert run("user", "add", "甲").stdout == "甲: administrator\n"
    assert run("user", "add", "乙").stdout == "乙: proofreader\n"
    assert run("user", "add", "丁", "--role", "reader").returncode == 0
    assert accounts(tmp_path) == {
        "甲": (Role.ADMINISTRATOR, False),
        "乙": (Role.PROOFREADER, False),
        "丁": (Role.READER, False),
    }
    with Store.open(tmp_path / "proof.sqlite") as store:
        assert store.accounts.log_in("乙", PASSWORD) is not None


@pytest.mark.usefixtures("said")
def test_an_account_is_changed_shut_opened_and_listed(run: Run, tmp_path: Path) -> None:
    run("user", "add", "甲")
    run("user", "add", "乙")
    assert run("user", "role", "乙", "reader").returncode == 0
    assert run("user", "disable", "乙").returncode == 0
    assert accounts(tmp_path)["乙"] == (Role.READER, True)
    assert [line.split("\t") for line in run("user", "list").stdout.splitlines()] == [
        ["乙", "reader", "disabled", "never"],
        ["甲", "administrator", "", "never"],
    ]
    assert run("user", "enable", "乙").returncode == 0
    assert run("user", "password", "乙").returncode == 0
    assert accounts(tmp_path)["乙"] == (Role.READER, False)


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("add", "乙", "--role", "king"), "king"),
        (("add", "甲"), "there is an account of this name"),
        (("role", "甲", "reader"), "甲 is the only administrator"),
    ],
)
def test_what_cannot_be_is_said_and_changes_nothing(
    run: Run, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    run("user", "add", "甲")
    refused = run("user", *words)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert accounts(tmp_path) == {"甲": (Role.ADMINISTRATOR, False)}


def test_without_a_password_there_is_no_account(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for given, message in (("", "give the password"), ("short\n", "a password has 10 to 256")):
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        refused = run("user", "add", "甲")
        assert refused.returncode == 2
        assert message in refused.stderr
    assert accounts(tmp_path) == {}


def test_on_a_terminal_the_password_is_asked_for_twice_and_not_shown(tmp_path: Path) -> None:
    terminal, other = pty.openpty()
    command = [sys.executable, "-m", "proof", "user", "add", "甲", "--config", str(tmp_path)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=other, stdout=other, stderr=other, start_new_session=True)  # noqa: S603
    os.close(other)
    shown = b""
    try:
        for _ in range(2):
            asked = b""
            while not asked.rstrip().endswith(b":"):
                asked += os.read(terminal, 1000)
            shown += asked
            os.write(terminal, f"{PASSWORD}\n".encode())
        assert process.wait(PATIENCE) == 0
        shown += os.read(terminal, 1000)
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    assert PASSWORD.encode() not in shown
    assert accounts(tmp_path) == {"甲": (Role.ADMINISTRATOR, False)}


@pytest.mark.usefixtures("said")
def test_the_log_says_who_did_what_at_the_command_line(run: Run) -> None:
    for words in (("add", "甲"), ("add", "乙"), ("role", "乙", "reader"), ("disable", "乙"), ("password", "甲")):
        assert run("user", *words).returncode == 0
    lines = [line.split("\t") for line in run("user", "log").stdout.splitlines()]
    assert [line[1:4] for line in lines] == [
        ["甲", "password", ""],
        ["乙", "disabled", ""],
        ["乙", "role", "proofreader → reader"],
        ["乙", "created", "proofreader"],
        ["甲", "created", "administrator"],
    ]
    assert {line[5] for line in lines} == {"command line"}
    assert all(line[4] for line in lines)
    assert len(run("user", "log", "--last", "2").stdout.splitlines()) == 2


@pytest.mark.usefixtures("said")
def test_a_token_is_printed_alone_and_noted(run: Run) -> None:
    run("user", "add", "甲")
    made = run("user", "token", "甲", "--days", "30")
    assert made.returncode == 0
    assert re.fullmatch(r"[\w.-]+\n", made.stdout)
    assert run("user", "token", "甲", "--revoke").stdout == ""
    assert [line.split("\t")[2] for line in run("user", "log").stdout.splitlines()] == [
        "tokens revoked",
        "token",
        "created",
    ]
    assert run("user", "token", "乙").returncode == 2
