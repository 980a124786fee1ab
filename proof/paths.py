"""Where files lie: those of the program in a checkout beside the package, in a wheel inside it; those of a user. And
the order of their names."""

from __future__ import annotations

import os
import re
from pathlib import Path

from proof.errors import UsageError
from proof.locale.marking import _

PACKAGE = Path(__file__).resolve().parent


def templates_dir() -> Path:
    """The folder of the Jinja templates. Raises UsageError where the installation lacks it."""
    return _first([PACKAGE / "templates", PACKAGE.parent / "templates"], "templates")


def sample_dir() -> Path:
    """The folder of the sample project: `config.toml` and `pages/` lie in it. Raises UsageError."""
    sample = PACKAGE / "sample"
    if (sample / "config.toml").is_file():
        return sample
    if (PACKAGE.parent / "config.toml").is_file():
        return PACKAGE.parent
    raise UsageError(_("%(sample)s: the sample project is not there; install the package again"), sample=sample)


def expanded(path: str) -> Path:
    """A path with `~` for what it stands for; as it is where there is no such user, or a user without a home."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser() raises there


def real(path: Path) -> Path:
    """The path without links, as Path.resolve() gives it, which raises RuntimeError for links in a circle before Python
    3.13."""
    return Path(os.path.realpath(path))


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key for names that orders numbers by value: 2a before 10a."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name.casefold())
    return tuple((0, int(part), "") if part[0].isdecimal() else (1, 0, part) for part in parts)


def _first(folders: list[Path], content: str) -> Path:
    for folder in folders:
        if folder.is_dir():
            return folder
    raise UsageError(
        _("%(folder)s: the %(content)s are not there; install the package again"), folder=folders[0], content=content
    )
