"""The documentation says what is so: it is built without a warning, and agrees with the program."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

import click
import pytest

from proof.cli import commands

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
BESIDE = ("README.md", "README.zh.md", "CONTRIBUTING.md", "CHANGELOG.md")
FETCHED = re.compile(r'<(?:script|img|link rel="(?:stylesheet|icon|preload)")[^>]*(?:src|href)="(?:https?:)?//')

SHOWN = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)


def ran(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The site, and what its build said."""
    if find_spec("mkdocs") is None:
        pytest.skip("mkdocs-material is not installed: pip install '.[dev]'")
    site = tmp_path_factory.mktemp("docs") / "site"
    return site, ran("-m", "mkdocs", "build", "--strict", "--site-dir", str(site))


@pytest.mark.slow
def test_it_is_built_strictly_and_every_link_in_it_leads_somewhere(
    built: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    site, done = built
    assert done.returncode == 0, done.stdout + done.stderr
    assert '<html lang="zh-Hant"' in (site / "zh" / "tutorial.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_it_is_there_in_simplified_characters_but_for_those_that_are_spoken_of(
    built: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    simplified = {path.relative_to(built[0] / "zh-hans") for path in (built[0] / "zh-hans").rglob("*.html")}
    assert simplified == {path.relative_to(built[0] / "zh") for path in (built[0] / "zh").rglob("*.html")}
    flags = (built[0] / "zh-hans" / "explanation" / "flags.html").read_text(encoding="utf-8")
    assert "「畧」与「略」同字，「製」与「制」异字" in flags
    desk = (built[0] / "zh-hans" / "how-to" / "desk.html").read_text(encoding="utf-8")
    assert "「还原机器所辨」" in desk
    assert '<html lang="zh-Hans"' in desk


@pytest.mark.slow
def test_who_reads_it_asks_no_other_host_for_anything(built: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    pages = list(built[0].rglob("*.html"))
    assert pages
    assert [page.name for page in pages if FETCHED.search(page.read_text(encoding="utf-8"))] == []


@pytest.mark.slow
def test_settings_commands_exit_statuses_and_api_are_those_of_the_program() -> None:
    done = ran("scripts/make_reference.py", "--check")
    assert done.returncode == 0, done.stderr


def calls(page: Path) -> Iterator[list[str]]:
    """The arguments of each call of `proof` that a page shows."""
    shown = "\n".join(SHOWN.findall(page.read_text(encoding="utf-8"))).replace("\\\n", " ")
    for line in shown.splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars="<>|&;")
        words.whitespace_split = True
        for of_shell, call in groupby(words, lambda word: set(word) <= set("<>|&;")):
            program, *arguments = call
            if not of_shell and program in ("proof", ".venv/bin/proof"):
                yield arguments


@pytest.mark.parametrize("page", [*DOCS.rglob("*.md"), *(ROOT / name for name in BESIDE)], ids=lambda page: page.name)
def test_a_command_that_is_shown_is_one_that_the_program_takes(page: Path) -> None:
    for arguments in calls(page):
        command: click.Command | None = commands
        while isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
            command = command.get_command(click.Context(command), arguments.pop(0))
        assert command is not None
        context = click.Context(command)
        values, left, _ = command.make_parser(context).parse_args(arguments)
        assert left == []
        for parameter in command.params:
            given = values.get(str(parameter.name))
            if isinstance(given, str | list | tuple) and isinstance(parameter.type, click.Choice):
                parameter.type_cast_value(context, given)
            assert given or not parameter.required
