"""The locked environment: what the project asks for is in it, by hash; and under what terms it stands."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import PATIENCE

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def locked(name: str) -> dict[str, set[str]]:
    """The versions of every package of a lock: several where they differ by system or Python."""
    found: dict[str, set[str]] = {}
    for line in (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines():
        if match := re.match(r"([A-Za-z0-9._-]+)==([^ ;]+)", line):
            found.setdefault(canonicalize_name(match[1]), set()).add(match[2])
    return found


def asked_for(*extras: str) -> list[Requirement]:
    every = [*PROJECT["dependencies"], *(one for extra in extras for one in PROJECT["optional-dependencies"][extra])]
    return [Requirement(one) for one in every]


@pytest.mark.parametrize(
    ("name", "extras"),
    [
        ("run.txt", ()),
        ("cluster.txt", ("cluster", "postgresql")),
        ("dev.txt", ("cluster", "dev", "openvino", "postgresql")),
    ],
)
def test_all_that_the_project_asks_for_is_locked(name: str, extras: tuple[str, ...]) -> None:
    versions = locked(name)
    missing = [
        str(one)
        for one in asked_for(*extras)
        if not any(one.specifier.contains(version) for version in versions.get(canonicalize_name(one.name), ()))
    ]
    assert not missing, "make lock"


@pytest.mark.parametrize("name", ["run.txt", "cluster.txt"])
def test_what_is_run_and_what_is_tested_is_the_same(name: str) -> None:
    tested = locked("dev.txt")
    assert {package: tested.get(package) for package in locked(name)} == locked(name)


@pytest.mark.parametrize("name", ["run.txt", "cluster.txt", "dev.txt"])
def test_every_package_has_its_hashes_and_no_place_is_named(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    assert not [entry for entry in entries if "--hash=sha256:" not in entry]
    assert "://" not in text
    assert not re.search(r"^--|index-url|find-links", text, re.MULTILINE)


def test_the_licences_of_all_that_is_installed_are_listed_and_allowed() -> None:
    line = [sys.executable, str(ROOT / "scripts" / "licences.py"), "--check"]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False)  # noqa: S603
    assert ran.returncode == 0, ran.stderr
