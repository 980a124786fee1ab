"""Writes the `config.toml` of a new project, and adds texts to an existing one."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from proof.atomic import whole_file
from proof.errors import ConfigError, OutputError
from proof.locale.marking import _
from proof.settings.config import SETTINGS, Settings
from proof.settings.toml_file import TomlFile, statement_of
from proof.text.witness_source import WitnessSource

PROJECT_SETTINGS = tuple(
    name for name in SETTINGS if not name.startswith(("cluster.", "library.", "render.", "serve."))
)
"""Settings of a command line that are written to a new project: those of its material and of checking."""

_PASSWORD = re.compile(r"(?<=//)(?P<user>[^:@/]*):[^@/]*@")

_HEAD = """\
# A project. In this folder `proof check` checks it, `proof serve` opens it in the browser and `proof backup FILE`
# saves it. Paths count from here; `proof check --help` lists the settings.
"""


def write_project(settings: Settings, given: Iterable[str]) -> Path:
    """Write the `config.toml` of a new project, with its texts and the settings named in `given`, and return its path.
    A password in the address of the store is left out. Raises OutputError if the file cannot be written."""
    assert settings.file is not None, "settings of a project have a file"
    names = {"project.texts", *set(given).intersection(PROJECT_SETTINGS)}
    lines = [_HEAD]
    section = ""
    for name, setting in SETTINGS.items():
        if name not in names:
            continue
        if setting.section != section:
            section = setting.section
            lines.append(f"\n[{section}]\n")
        lines.append(f"{setting.key} = {_toml(_value_to_write(name, settings), settings.file.parent)}\n")
    try:
        with whole_file(settings.file) as file:
            file.write("".join(lines))
    except OutputError as error:
        raise OutputError(
            _(
                "%(error)s\nno project can be made beside the texts: make one where you may write, "
                "with `proof init FOLDER --texts TEXT --images DIR`"
            ),
            error=error,
        ) from error
    return settings.file


def add_to_project(file: Path, texts: Sequence[Path], images: Sequence[Path] = ()) -> None:
    """Add texts and image folders to the `config.toml` at `file`; nothing else in it changes. Raises ConfigError, with
    the line, if the file must be changed by hand."""
    text = TomlFile.read(file).text
    for key, paths in (("texts", texts), ("images", images)):
        listed = {Path(file.parent, path).resolve() for path in _list_of(text, key)}
        new_paths = [_relative(path, file.parent) for path in paths if path.resolve() not in listed]
        if new_paths:
            text = _with_paths(file, text, key, new_paths)
    with whole_file(file) as output:
        output.write(text)


def _with_paths(file: Path, text: str, key: str, new_paths: list[str]) -> str:
    """The text of a file with `new_paths` added to the list `key` of `[project]`: the first of several candidates whose
    values are exactly these. Raises ConfigError if there is none."""
    new_values = tomllib.loads(text)
    project = new_values.setdefault("project", {})
    added = ", ".join(json.dumps(path, ensure_ascii=False) for path in new_paths)
    lines = text.split("\n")
    if key in project:
        end = statement_of(text, ("project", key))[1]
        candidates = _with_longer_list(lines, end, added)
    else:
        candidates = _with_new_statement(lines, text, f"{key} = [{added}]")
    project[key] = [*project.get(key, ()), *new_paths]
    for candidate in candidates:
        try:
            if tomllib.loads(candidate) == new_values:
                return candidate
        except tomllib.TOMLDecodeError:
            continue
    line = statement_of(text, ("project", key))[0]
    raise ConfigError(
        _("%(file)s:%(line)s: cannot be changed by a program; add %(added)s to project.%(key)s"),
        file=file,
        line=line,
        added=added,
        key=key,
    )


def _with_longer_list(lines: list[str], end: int, added: str) -> Iterable[str]:
    """Candidates for the file with `added` before a closing bracket of line `end`, which is the last line of the list's
    statement; the last bracket comes first."""
    line = lines[end - 1]
    for position in reversed([bracket.start() for bracket in re.finditer(r"\]", line)]):
        for comma in (", ", " ", ""):
            yield "\n".join([*lines[: end - 1], f"{line[:position]}{comma}{added}{line[position:]}", *lines[end:]])


def _with_new_statement(lines: list[str], text: str, statement: str) -> Iterable[str]:
    """Candidates for the file with a new statement of `[project]`: at the start of that section, at the start of the
    file, or in a new section at its end."""
    for number, line in enumerate(lines):
        if line.split("#")[0].replace(" ", "").strip() == "[project]":
            yield "\n".join([*lines[: number + 1], statement, *lines[number + 1 :]])
    yield f"project.{statement}\n{text}"
    yield f"{text.rstrip()}\n\n[project]\n{statement}\n"


def _list_of(text: str, key: str) -> list[str]:
    """The values of the list `key` of `[project]`."""
    project: Mapping[str, Any] = tomllib.loads(text).get("project", {})
    return [str(value) for value in project.get(key, ())]


def _value_to_write(name: str, settings: Settings) -> Any:
    """The value of a setting, without the password in the address of a store."""
    value = settings[name]
    if name == "store.url":
        return _PASSWORD.sub(r"\g<user>@", value)
    return value


def _toml(value: Any, base: Path) -> str:
    """The value of a setting as TOML; paths inside the folder `base` are relative to it."""
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(item, base) for item in value)}]"
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, WitnessSource):
        siglum = f"{value.siglum}=" if value.siglum else ""
        revision = f"@{value.revision}" if value.revision else ""
        return json.dumps(f"{siglum}{_relative(value.path, base)}{revision}", ensure_ascii=False)
    return json.dumps(_relative(value, base) if isinstance(value, Path) else str(value), ensure_ascii=False)


def _relative(path: Path, base: Path) -> str:
    """A path relative to `base` if it lies inside, else absolute."""
    path = path.absolute()
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else str(path)
