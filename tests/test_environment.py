"""What the program imports is what its distribution asks for, and one OpenCV is there."""

from __future__ import annotations

import ast
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def imported() -> set[str]:
    """The top-level modules that the program imports, without its own and those of Python."""
    names = set()
    for path in (ROOT / "proof").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names - sys.stdlib_module_names - {"proof"}


def test_what_is_imported_is_declared() -> None:
    extras = (each for name, extra in PROJECT["optional-dependencies"].items() if name != "dev" for each in extra)
    declared = {canonicalize_name(Requirement(each).name) for each in (*PROJECT["dependencies"], *extras)}
    provided_by = metadata.packages_distributions()
    missing = {
        name
        for name in imported()
        if not declared & {canonicalize_name(each) for each in provided_by.get(name, (name,))}
    }
    assert not missing
