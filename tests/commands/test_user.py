"""Accounts from the command line: the first is an administrator's, passwords come from a terminal or a line."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest

from proof.store import Store
from proof.store.accounts import Role
from tests.conftest import Run

pytestmark = pytest.mark.slow

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
        return {account.name: (account.role, account.disabled) for account in store.accounts.everybody()}


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
