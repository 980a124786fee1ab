"""TOML files with the line number of each key."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proof.errors import ConfigError, reason_of
from proof.locale.marking import _

_PLACE = re.compile(r" \(at (?:line (?P<line>[0-9]+), column [0-9]+|end of document)\)$")


@dataclass(frozen=True, slots=True)
class TomlFile:
    """A parsed file: its `values` from tomllib, and its `text`, in which line numbers are looked up."""

    path: Path
    text: str
    values: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> TomlFile:
        """Read a file. Raises ConfigError, with the line, if it cannot be read, is not UTF-8 or is not TOML."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise ConfigError(_("%(path)s: there is no such file"), path=path) from None
        except OSError as error:
            raise ConfigError(_("%(path)s: cannot be read (%(reason)s)"), path=path, reason=reason_of(error)) from error
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise ConfigError(
                _("%(path)s:%(line)s: is not UTF-8; save the file in that encoding"), path=path, line=line
            ) from error
        try:
            return cls(path, text, tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            message = str(error)
            match = _PLACE.search(message)
            line = int(match["line"]) if match and match["line"] else line_of(text, ())
            wrong = _("%(path)s:%(line)s: is not valid TOML: %(what)s")
            if path.suffix.lower() != ".toml":
                wrong = _("%(path)s:%(line)s: is not valid TOML: %(what)s; name a config.toml, or its folder")
            raise ConfigError(wrong, path=path, line=line, what=_PLACE.sub("", message)) from error

    def where(self, keys: tuple[str, ...]) -> str:
        """The place of a key, such as `config.toml:3`; `keys` are its tables, outermost first, and then the key."""
        return f"{self.path}:{line_of(self.text, keys)}"


def line_of(text: str, keys: tuple[str, ...]) -> int:
    """The line, from 1, of the statement that sets `keys`, or of the first broken statement if none does."""
    return statement_of(text, keys)[0]


def statement_of(text: str, keys: tuple[str, ...]) -> tuple[int, int]:
    """The first and the last line, from 1, of the statement that sets `keys`, or of the first broken statement.

    tomllib gives no positions. But the text up to the end of a statement is valid TOML, and up to anywhere inside it is
    not: the shortest valid beginning that has the key ends with the statement that sets it. This works for multi-line
    strings, arrays, quoted and dotted keys and inline tables.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    start = 1
    for end in range(1, len(lines) + 1):
        try:
            values = tomllib.loads("\n".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
        if keys and _holds(values, keys):
            return start, end
        start = end + 1
    return min(start, len(lines)), len(lines)


def _holds(values: object, keys: tuple[str, ...]) -> bool:
    """Whether nested tables have a value under `keys`."""
    for key in keys:
        if not isinstance(values, dict) or key not in values:
            return False
        values = values[key]
    return True
