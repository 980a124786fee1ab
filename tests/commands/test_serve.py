"""Where `proof serve` listens, what it is called, and when it refuses."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from proof.commands.serve import is_loopback, names
from proof.errors import UsageError
from proof.settings.config import Settings
from proof.store import Store
from proof.store.accounts import Role
from proof.web.app import ANY, LOOPBACK
from tests.conftest import PATIENCE, Run
from tests.web.served import serving_process

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a store in which nobody has an account."""
    (tmp_path / "config.toml").write_text('[project]\ntitle = "大射儀"\n', encoding="utf-8")
    Store.open(tmp_path / "proof.sqlite").close()
    return tmp_path


@pytest.mark.parametrize("host", ["0.0.0.0", "proof.example.org"])  # noqa: S104
@pytest.mark.usefixtures("folder")
def test_others_are_not_served_without_accounts_unless_that_is_said(run: Run, host: str) -> None:
    refused = run("serve", "--host", host)
    assert refused.returncode == 2
    assert f"--host {host}: whoever reaches it could decide" in refused.stderr
    assert "--auth" in refused.stderr
    assert "--no-auth" in refused.stderr


@pytest.mark.usefixtures("folder")
def test_accounts_are_not_served_before_there_is_one(run: Run) -> None:
    refused = run("serve", "--auth")
    assert refused.returncode == 2
    assert "proof user add" in refused.stderr


@pytest.mark.parametrize(
    ("host", "near"),
    [("127.0.0.1", True), ("::1", True), ("0.0.0.0", False)],  # noqa: S104
)
def test_loopback_is_what_no_other_machine_reaches(host: str, near: bool) -> None:
    assert is_loopback(host) is near


def test_it_answers_to_the_names_that_it_was_given() -> None:
    open_, shut = Settings().replace({"serve.auth": True}), Settings()
    named = {"serve.names": "proof.example.org 192.0.2.1"}
    assert names(open_, "127.0.0.1") == LOOPBACK
    assert names(open_, "192.0.2.9") == [*LOOPBACK, "192.0.2.9"]
    assert names(open_, "2001:db8::1") == [*LOOPBACK, "[2001:db8::1]"]
    assert names(open_, "0.0.0.0") == ANY  # noqa: S104
    assert names(open_.replace(named), "0.0.0.0") == [*LOOPBACK, "proof.example.org", "192.0.2.1"]  # noqa: S104
    assert names(shut.replace(named), "::") == [*LOOPBACK, "proof.example.org", "192.0.2.1"]
    with pytest.raises(UsageError, match="--names"):
        names(shut, "0.0.0.0")  # noqa: S104


def test_served_beyond_this_machine_it_warns_of_plain_http_and_believes_its_proxy_alone(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with Store.open(folder / "proof.sqlite") as store:
        store.accounts.add("甲", Role.ADMINISTRATOR, "四庫 full of 書")
    options = ["--auth", "--host", "0.0.0.0", "--names", "proof.example.org", "--proxy", "127.0.0.1"]  # noqa: S104
    with serving_process(folder, *options) as (_, address):
        login = f"http://127.0.0.1:{urlsplit(address).port}/login"
        for name, status in (("proof.example.org", 200), ("evil.example", 400)):
            answer = httpx.get(login, headers={"X-Forwarded-Host": name}, timeout=PATIENCE)
            assert answer.status_code == status, name
    assert "passwords go over the network unencrypted" in capfd.readouterr().err


def test_it_ends_well_when_it_is_told_to_end(folder: Path) -> None:
    command = [sys.executable, "-m", "proof", "serve", "--port", "0", "--config", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:  # noqa: S603
        assert process.stdout is not None
        assert process.stdout.readline().startswith("proofread at http://127.0.0.1:")
        assert process.stdout.readline() == f"project: 大射儀 ({folder})\n"
        process.send_signal(signal.SIGTERM)
        _, output = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output) == (0, "")
