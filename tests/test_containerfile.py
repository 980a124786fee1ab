"""The Containerfile: what it runs is what the program has, for a user without rights."""

from __future__ import annotations

import importlib
import json
import re
import shlex
from pathlib import Path

import click
import pytest
import yaml

from proof.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")
STEPS = [
    (word, rest.strip())
    for word, _, rest in (line.partition(" ") for line in TEXT.replace("\\\n", "").splitlines() if line[:1].isupper())
]


def last(word: str) -> str:
    return [rest for name, rest in STEPS if name == word][-1]


def served() -> click.Context:
    """What the container runs when nothing else is said."""
    assert json.loads(last("ENTRYPOINT")) == ["proof"]
    name, *arguments = json.loads(last("CMD"))
    command: click.Command = importlib.import_module(f"proof.commands.{name}").command
    return command.make_context(name, arguments)


def test_it_serves_with_accounts_to_all_that_the_container_is_reached_by() -> None:
    given = served()
    assert given.params["host"] == "0.0.0.0"  # noqa: S104
    assert given.params["serve__auth"] is True
    assert str(given.params["port"]) == last("EXPOSE")
    assert f":{last('EXPOSE')}/healthz" in last("HEALTHCHECK")


@pytest.mark.parametrize("line", re.findall(r"^#   podman run (.*)$", TEXT, re.MULTILINE))
def test_the_commands_that_it_tells_are_those_of_the_program(line: str) -> None:
    _, _, told = line.partition(":/project proof")
    name, *arguments = shlex.split(told) or json.loads(last("CMD"))
    assert name in COMMANDS
    command: click.Command = importlib.import_module(f"proof.commands.{name}").command
    if isinstance(command, click.Group):
        inner = command.get_command(click.Context(command), arguments[0])
        assert inner is not None
        command, arguments = inner, arguments[1:]
    assert command.make_context(name, arguments)


def test_the_parts_of_the_compose_file_run_what_the_program_has() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    ours = {name: one["command"] for name, one in services.items() if one.get("image") == "proof-cluster"}
    assert ours.keys() == {"scheduler", "worker", "check", "web"}
    for name, *arguments in ours.values():
        command: click.Command = importlib.import_module(f"proof.commands.{name}").command
        assert command.make_context(name, arguments)
    build = services["worker"]["build"]
    assert (ROOT / "requirements" / f"{build['args']['LOCK']}.txt").is_file()
    ports = [port for one in services.values() for port in one.get("ports", ())]
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []
