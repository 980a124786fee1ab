"""The distribution is called `hanproof`; on the package index `proof` is somebody else's library."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

ANOTHERS = re.compile(
    r"(?<![\w/.])proof\[[a-z]+\]"
    r"|\bpip install\b[^\n`]*?(?<=[ '\"])proof(?=[\s'\"`=<>]|$)",  # with any options between
    re.MULTILINE,
)


def texts() -> list[Path]:
    """Every file of the project that people read or that installs something."""
    endings = {".py", ".md", ".po", ".toml", ".yaml", ".html", ".in", ""}
    rooms = ("proof", "templates", "docs", "scripts", "tests", "requirements")
    found = [*ROOT.glob("*"), *(path for room in rooms for path in (ROOT / room).rglob("*"))]
    return [path for path in found if path.is_file() and path.suffix in endings and path != Path(__file__)]


def test_command_and_package_keep_their_name() -> None:
    assert PROJECT["name"] == "hanproof"
    assert PROJECT["scripts"] == {"proof": "proof.cli:run"}


def test_nothing_names_the_library_of_somebody_else() -> None:
    wrong = [f"{path}: {found[0]}" for path in texts() for found in ANOTHERS.finditer(path.read_text("utf-8"))]
    assert wrong == []


def test_every_extra_that_is_named_exists() -> None:
    extras = {name for path in texts() for name in re.findall(r"hanproof\[(\w+)\]", path.read_text("utf-8"))}
    assert extras
    assert extras <= PROJECT["optional-dependencies"].keys()
