"""The tutorial, the how-tos and the notebook, run: each command that they show does its work on files that are called
as there."""

from __future__ import annotations

import ast
import glob
import importlib
import io
import json
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from dulwich import porcelain

from proof.cli import main
from proof.ocr import network
from proof.settings.config import Settings
from tests.sample import PAGES, TEXT, half_folios, lay_out
from tests.test_first_project import decide

pytestmark = [pytest.mark.engine, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
NOTEBOOK = DOCS / "how-to" / "python.ipynb"
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.M | re.S)

STAYS = ("serve", "cluster")
"""Commands that go on until they are stopped."""

ASKS_OTHERS = ("fetch", "--cluster")
"""Words of a command that asks another machine."""

OF_OTHERS = ("make serve", "git", "podman", "pip", "sudo", "until", "    --", "useradd", "python3", "systemctl", "/opt")
"""What lines begin with that run other programs."""

BEFORE = {
    "export": ("proof check KR1d0030_010.txt --images WYG0103 -q",),
    "backup": ("proof check KR1d0030_010.txt --images WYG0103 -q",),
    "own-material": (
        "proof check KR1d0030/KR1d0030_010.txt --images WYG0103 -q",
        "proof check other/TEXT --images other/DIR -q",
        "proof export other/TEXT --form page --out FOLDER",
    ),
    "server": ("proof check KR1d0030_010.txt --images WYG0103 -q",),
    "several-people": ("proof check KR1d0030_010.txt --images WYG0103 -q",),
}
"""What a reader has done before."""


EDITIONS = ("KR3j0080_001.txt", "ming.txt", "KR3j0080/1.txt")
"""Of one text, the last of them on a branch of a repository."""


def blocks(name: str, kind: str) -> list[str]:
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    return [re.sub(rf"(?m)^{indent}", "", body) for indent, of_kind, body in BLOCK.findall(text) if of_kind == kind]


def commands(name: str) -> Iterator[str]:
    """The command lines of a page, without their comments, that run here and end."""
    for block in blocks(name, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            command = re.sub(r"\s+# .*", "", line).strip()
            words = shlex.split(command)
            if command and not line.startswith(OF_OTHERS) and not {*STAYS, *ASKS_OTHERS}.intersection(words):
                yield command


def run(command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs a line of a shell; gives what it printed."""
    capsys.readouterr()
    command, _, source = command.partition(" < ")
    program, *words = shlex.split(command)
    words = [word for pattern in words for word in (glob.glob(pattern) if "*" in pattern else [pattern])]  # noqa: PTH207
    if program == "mv":
        Path(words[0]).rename(words[1])
        return ""
    assert program.rpartition("/")[2] == "proof", command
    typed = Path(source).read_text(encoding="utf-8") if source else "correct horse battery\n" * 2
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    status = main(words)
    printed = capsys.readouterr()
    assert status == 0, f"{command}: {printed.err}"
    return printed.out


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files called as in the documentation, on a machine that has no OpenVINO, as `make` makes one."""
    monkeypatch.setattr(network, "has_bfloat16", lambda: False)
    monkeypatch.chdir(tmp_path)
    for folder, text, images in (
        (".", "KR1d0030_010.txt", "WYG0103"),
        ("KR1d0030", "KR1d0030_010.txt", "images"),
        ("other", "TEXT", "DIR"),
        ("siku/KR1d0030", "KR1d0030_010.txt", "WYG0103"),
        ("books/KR1d0030", "KR1d0030_010.txt", "images"),
    ):
        lay_out(tmp_path / folder, 2, text, images)
    for path in ("TEXT", "002.txt", "000.txt", "KR1d0085_008.txt", "library/1.txt", "books/sbck/1.txt", *EDITIONS):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        head, pages = half_folios(TEXT.read_text(encoding="utf-8"))
        (tmp_path / path).write_text(
            head + "".join(pages[:2]).replace("告于上", f"告于{path[:-4][-3:].replace('/', '甲')}"), encoding="utf-8"
        )
    repository = porcelain.init(tmp_path / "KR3j0080")
    porcelain.add(repository, [tmp_path / "KR3j0080" / "1.txt"])
    porcelain.commit(repository, b"SBCK", author=b"A <a@example.org>", committer=b"A <a@example.org>")
    porcelain.branch_create(repository, "SBCK")
    shutil.copytree(tmp_path / "WYG0103", tmp_path / "books" / "WYG0103")
    shutil.copytree(tmp_path / "WYG0103", tmp_path / "DIR")
    (tmp_path / "scans").mkdir()
    shutil.copy(PAGES / "WYG0103-0193a.png", tmp_path / "scans" / "1.jpg")
    (tmp_path / "lists").mkdir()
    lines = "010-1a00\tWYG 010-1a\tWYG0103-0192c.png\n010-1b00\tWYG 010-1b\tWYG0103-0192d.png\n"
    (tmp_path / "lists" / "KR1d0030_010.txt").write_text(lines, encoding="utf-8")
    (tmp_path / "password.txt").write_text("correct horse battery\n", encoding="utf-8")
    return tmp_path


def of_a_telephone(world: Path) -> Path:
    """A project whose images are called as a telephone calls them; none is paired with a page."""
    folder = lay_out(world / "phone", 6)
    shutil.rmtree(folder / "imglist", ignore_errors=True)
    for number, image in enumerate(sorted((folder / "images").glob("WYG*"))):
        image.replace(image.with_name(f"IMG_{[7, 8, 9, 10, 11, 21][number]:04}.jpg"))
    settings = '[project]\ntexts = ["text.txt"]\nimages = ["images"]\n'
    (folder / "config.toml").write_text(settings, encoding="utf-8")
    return folder


PAGES_RUN = ("backup", "export", "library", "own-material", "server", "several-people", "witnesses")


@pytest.mark.parametrize("name", PAGES_RUN)
def test_the_commands_of_a_how_to_do_their_work(
    name: str, world: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in (*BEFORE.get(name, ()), *commands(f"how-to/{name}")):
        with monkeypatch.context() as inside:
            if command.startswith("proof pair"):
                inside.chdir(of_a_telephone(world))
            run(command, capsys, inside)
        if name == "backup" and command.startswith("proof check") and not (world / "proof.decisions.jsonl").exists():
            decide(world)


@pytest.mark.parametrize("name", ["how-to/library", "how-to/measure-misses", "how-to/own-material", "how-to/server"])
def test_settings_that_are_shown_are_settings(name: str, world: Path) -> None:
    (world / "pairs.tsv").write_text("乗\t乘\n", encoding="utf-8")
    (world / "language.npz").touch()
    for block in blocks(name, "toml"):
        assert tomllib.loads(block)
        (world / "config.toml").write_text(block, encoding="utf-8")
        Settings.load(world / "config.toml")


def test_what_a_service_manager_starts_is_a_command_of_the_program() -> None:
    lines = [line for block in blocks("how-to/operations", "ini") for line in block.splitlines()]
    started = [line.partition("/bin/proof ")[2] for line in lines if line.startswith("ExecStart=")]
    assert len(started) == 2
    for name, *words in map(shlex.split, started):
        command: click.Command = importlib.import_module(f"proof.commands.{name}").command
        assert command.make_context(name, words)


def test_the_code_of_the_page_about_python_runs(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in blocks("how-to/python", "python"):
        exec(compile(block, "python.md", "exec"), names)  # noqa: S102 - the project's own
    assert "SBCK" in capsys.readouterr().out


def test_the_tutorial_prints_what_it_shows(
    demo: tuple[Path, object], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the pages as the demo read them, where it read them as a machine without OpenVINO."""
    monkeypatch.setattr(network, "has_bfloat16", lambda: False)
    shutil.copytree(demo[0], tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    first, *others = commands("tutorial")
    assert first == "make demo"
    printed = run("proof check --show 1000", capsys, monkeypatch)
    shown = [" ".join(line.split()) for block in blocks("tutorial", "text") for line in block.splitlines()]
    printed = " ".join(printed.split())
    assert [line for line in shown if line not in printed] == [], printed
    for command in others:
        printed = run(command, capsys, monkeypatch)
    assert (tmp_path / "corrected" / "dasheyi.txt").is_file()


def cells() -> list[dict[str, Any]]:
    notebook: dict[str, Any] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def shown_by(source: str, names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> str:
    """What a cell prints, and what its last expression gives."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), str(NOTEBOOK), "exec"), names)  # noqa: S102 - the project's own notebook
    value = None
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)  # noqa: S307 - as above
    return capsys.readouterr().out + ("" if value is None else repr(value))


def test_the_notebook_gives_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It reads the pages of the tutorial, which are read once for both."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for cell in cells():
        outputs = [output.get("text", output.get("data", {}).get("text/plain", ())) for output in cell["outputs"]]
        assert shown_by("".join(cell["source"]), names, capsys) == "".join("".join(output) for output in outputs)
