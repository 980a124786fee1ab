"""The documentation in Chinese is whole: every page and section of the English one, and no other figures."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from markdown.extensions.toc import slugify  # type: ignore[import-untyped] # it has no annotations

from proof.cli import commands
from tests.test_docs import options

DOCS = Path(__file__).resolve().parents[1] / "docs"
CHINESE = DOCS / "zh"
ENGLISH_ALONE = {"asvs.md", "licences.md"}
"""Pages for who installs or audits the program."""

MADE = {"reference/commands.md", "reference/glossary.md"}
"""Pages that are made of the program or name its modules: the Chinese ones say what these are, and link to them."""

HEADING = re.compile(r"^#{2,} (.+?)\s*(?:\{#([\w-]+)\})?$", re.M)
FENCED = re.compile(r"^```.*?^```", re.M | re.S)
FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
OPTION = re.compile(r"(?<= |`)--?[a-z][a-z-]*")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def pages(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*.md")}


ENGLISH = sorted(name for name in pages(DOCS) if not name.startswith("zh/"))
BOTH = sorted(pages(CHINESE))
WITH_FIGURES = [name for name in BOTH if name == "measured.md" or name.startswith("explanation/")]


def text(root: Path, name: str) -> str:
    return (root / name).read_text(encoding="utf-8")


def anchors(page: str) -> list[str]:
    """The sections of a page, by what a link to each ends with."""
    headings = HEADING.findall(FENCED.sub("", page))
    return [given or slugify(heading.replace("`", ""), "-") for heading, given in headings]


def figures(page: str) -> set[str]:
    return {found.rstrip(",") for found in FIGURE.findall(page)}


def test_every_page_is_there_in_chinese() -> None:
    assert set(ENGLISH) - set(BOTH) == ENGLISH_ALONE
    assert set(BOTH) <= set(ENGLISH)


@pytest.mark.parametrize("name", [name for name in BOTH if name not in MADE])
def test_a_chinese_page_has_the_sections_of_the_english_one(name: str) -> None:
    assert anchors(text(CHINESE, name)) == anchors(text(DOCS, name))


@pytest.mark.parametrize("name", WITH_FIGURES)
def test_no_figure_of_a_chinese_page_is_another_than_on_the_english_one(name: str) -> None:
    assert figures(text(CHINESE, name)) - figures(text(DOCS, name)) == set()


def test_the_first_page_has_the_figures_of_the_english_one() -> None:
    root = DOCS.parent
    assert figures(text(root, "README.zh.md")) - figures(text(root, "README.md")) == set()


def test_a_chinese_page_leads_to_an_english_one_only_where_there_is_no_other() -> None:
    allowed = {DOCS / name for name in ENGLISH_ALONE | MADE | {"index.md"}}
    led = {
        (name, link)
        for name in BOTH
        for link in LINK.findall(text(CHINESE, name))
        if link.endswith(".md") and not (to := (CHINESE / name).parent.joinpath(link).resolve()).is_relative_to(CHINESE)
        if to not in allowed
    }
    assert led == set()


def named(path: str, command: click.Command) -> list[str]:
    inner = command.commands.items() if isinstance(command, click.Group) else ()
    return [path, *(one for name, each in inner for one in named(f"{path} {name}", each))]


@pytest.mark.parametrize("name", list(commands.list_commands(click.Context(commands))))
def test_the_page_of_commands_says_what_each_does_and_how_it_is_called(name: str) -> None:
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    page = text(CHINESE, "reference/commands.md")
    _, found, rest = page.partition(f"\n## proof {name} {{#{name}}}\n")
    section = rest.partition("\n## ")[0]
    assert found
    assert f"\n```sh\nproof {name}" in section
    assert [one for one in named(f"proof {name}", command) if f"proof {name}" != one and f"`{one}" not in section] == []
    explained = " ".join(re.findall(r"^\| ([^|]+) \|", section, re.M))
    assert set(OPTION.findall(explained)) <= set(options(command))


def test_every_exit_status_is_explained_in_chinese() -> None:
    row = re.compile(r"^\| (\d+) \|", re.M)
    name = "reference/exit-statuses.md"
    assert row.findall(text(CHINESE, name)) == row.findall(text(DOCS, name))
