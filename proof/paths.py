"""The folders of the program's own files, in a checkout or in an installed wheel, helpers for paths, and the user.

In a checkout these folders are beside the package, in a wheel inside it.
"""

from __future__ import annotations

import getpass
import os
import re
from pathlib import Path

from proof.errors import UsageError
from proof.locale.marking import _

PACKAGE = Path(__file__).resolve().parent


def templates_dir() -> Path:
    """The folder of the Jinja templates. Raises UsageError if the installation lacks it."""
    folders = [PACKAGE / "templates", PACKAGE.parent / "templates"]
    for folder in folders:
        if folder.is_dir():
            return folder
    raise UsageError(
        _("%(folder)s: the %(content)s are missing; install the package again"),
        folder=folders[0],
        content="templates",
    )


def sample_dir() -> Path:
    """The folder of the sample project, which contains `config.toml` and `pages/`. Raises UsageError."""
    sample = PACKAGE / "sample"
    if (sample / "config.toml").is_file():
        return sample
    if (PACKAGE.parent / "config.toml").is_file():
        return PACKAGE.parent
    raise UsageError(_("%(sample)s: the sample project is missing; install the package again"), sample=sample)


def expanded(path: str) -> Path:
    """The path with `~` or `~USER` replaced by the home folder; unchanged if the user or the home is unknown."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser() raises there


def real(path: Path) -> Path:
    """The path without links. Unlike Path.resolve() before Python 3.13 it does not raise RuntimeError for links in a
    circle."""
    return Path(os.path.realpath(path))


def user_name() -> str:
    """The name of the user who runs the program; the user's number if this machine knows no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key for names that orders numbers by value: 2a before 10a."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name.casefold())
    return tuple((0, int(part), "") if part[0].isdecimal() else (1, 0, part) for part in parts)
