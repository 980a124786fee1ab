"""The notation of witnesses: `[SIGLUM[:NAME]=]PATH`. The path is a file, a folder of juan, or `REPOSITORY@BRANCH`. NAME
is the full name of the edition."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from proof.paths import expanded

_SIGLUM = re.compile(r"(?P<siglum>[^\s=@/\\:：]{1,24})(?:[:：](?P<name>[^=@/\\]{1,60}))?=(?P<rest>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class WitnessSource:
    """A file, a folder, or a branch of a git repository. `siglum` is the user's name for it, or empty; sources with the
    same siglum are one witness. `revision` is a branch, a tag or a commit. `name` is the full name of the edition for
    notes."""

    path: Path
    siglum: str = ""
    revision: str = ""
    name: str = ""

    @classmethod
    def parse(cls, text: str, base: Path) -> WitnessSource:
        """The source that `text` names; relative paths start from `base`. If the whole `text` is an existing path, it
        has no siglum. Since the name of a branch may contain `@`, the repository is the shortest existing path."""
        match = None if _exists(text, base) else _SIGLUM.fullmatch(text)
        siglum, rest, name = (match["siglum"], match["rest"], match["name"] or "") if match else ("", text, "")
        divisions = [(rest[:at], rest[at + 1 :]) for at, char in enumerate(rest) if char == "@" and at]
        if not divisions or _exists(rest, base):
            return cls(resolved(rest, base), siglum, name=name)
        path, revision = next((division for division in divisions if _exists(division[0], base)), divisions[-1])
        return cls(resolved(path, base), siglum, revision, name)

    def __str__(self) -> str:
        siglum = f"{self.siglum}:{self.name}" if self.name else self.siglum
        return (f"{siglum}=" if siglum else "") + str(self.path) + (f"@{self.revision}" if self.revision else "")


def _exists(path: str, base: Path) -> bool:
    return os.path.lexists(resolved(path, base))


def resolved(path: str | Path, base: Path) -> Path:
    """The absolute path of a path relative to `base`."""
    # normpath instead of resolve() keeps the names of links, which the user knows
    return Path(os.path.normpath(base / expanded(str(path))))
