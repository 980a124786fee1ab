"""Backups of a project that a timer makes: one folder, a file for each time, the last few kept."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from proof.errors import OutputError

_TIME = "%Y%m%dT%H%M%SZ"
_MADE_AT = r"\d{8}T\d{6}Z"


def next_file(folder: Path, project: str) -> Path:
    """The file of a backup that is made now, in a folder that is made where it is missing. Raises OutputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({error.strerror}); name a folder for the backups") from error
    return folder / f"{project}-{datetime.now(UTC).strftime(_TIME)}.zip"


def remove_older(folder: Path, project: str, keep: int) -> list[Path]:
    """Remove the backups of the project in the folder but for the last `keep`; gives those removed. Files that are not
    called as `next_file` calls them stay. Raises OutputError."""
    called = re.compile(rf"{re.escape(project)}-{_MADE_AT}\.zip")
    series = sorted(path for path in folder.iterdir() if called.fullmatch(path.name))
    older = series[: max(len(series) - keep, 0)]
    for path in older:
        try:
            path.unlink()
        except OSError as error:
            raise OutputError(f"{path}: cannot be removed ({error.strerror})") from error
    return older
