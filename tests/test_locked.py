"""The locked environment: what the project asks for is in it, by hash; and under what terms it stands."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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
