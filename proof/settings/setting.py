"""Declarations of settings: name, kind of value, default and limits; and the checks of their values."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz, process

from proof.errors import ProofError
from proof.locale.marking import OR, Sentence, _, joined
from proof.text.witness_source import WitnessSource, resolved


def pgettext(context: str, message: str) -> str:
    """Mark a message for the catalogues, with a context: the same word has another meaning elsewhere."""
    return message


class ValueKind(StrEnum):
    """The kind of the value of a setting, as named in the table of settings."""

    WHOLE = pgettext("setting", "whole number")
    NUMBER = pgettext("setting", "number")
    SWITCH = pgettext("setting", "true or false")
    TEXT = pgettext("setting", "text")
    PATH = pgettext("setting", "path")
    PATHS = pgettext("setting", "list of paths")
    WITNESSES = pgettext("setting", "list of witnesses")
    PATH_OR_NAME = pgettext("setting", "path or name")


A_VALUE = {
    ValueKind.WHOLE: _("a whole number"),
    ValueKind.NUMBER: _("a number"),
    ValueKind.SWITCH: _("true or false"),
    ValueKind.TEXT: _("text"),
    ValueKind.PATH: _("a path"),
    ValueKind.PATHS: _("a list of paths"),
    ValueKind.WITNESSES: _("a list of witnesses"),
    ValueKind.PATH_OR_NAME: _("a path or name"),
}
"""A value of each kind, as named in messages."""

_TYPES: dict[ValueKind, tuple[type, ...]] = {
    ValueKind.WHOLE: (int,),
    ValueKind.NUMBER: (int, float),
    ValueKind.SWITCH: (bool,),
    ValueKind.TEXT: (str,),
    ValueKind.PATH: (str, Path, type(None)),
    ValueKind.PATHS: (list, tuple),
    ValueKind.WITNESSES: (list, tuple),
    ValueKind.PATH_OR_NAME: (str, Path),
}


_ADDRESS = re.compile(r"(?:https?|ftp|s3|file):/", re.I)
"""The beginning of an address; parsed as a path, an address has lost one of its two slashes."""


MAX_NAME_BYTES = 255
"""Maximum length in bytes of the name of a file on the usual file systems."""


class WrongSetting(ProofError):  # noqa: N818 - used only in this package, which adds the place of the value
    """The name or the value of a setting is wrong."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting; `name` is its section and key (`page.columns`).

    `low` and `high` are the limits of a number (inclusive); `choices` are the allowed texts, besides the names of the
    entry points in the group `installed`. `must_exist`: a path must be that of a file, or with `or_folder` also of a
    folder. `results`: the results of a check depend on the setting, which is part of the fingerprint.
    """

    name: str
    kind: ValueKind
    default: Any
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    installed: str = ""
    must_exist: bool = False
    or_folder: bool = False
    results: bool = False

    @property
    def section(self) -> str:
        return self.name.partition(".")[0]

    @property
    def key(self) -> str:
        return self.name.partition(".")[2]

    def value(self, given: Any, base: Path) -> Any:  # noqa: PLR0911 - one for each kind
        """The value for the program: `given`, checked, with relative paths resolved against `base`. Raises
        WrongSetting."""
        self._check_type(given)
        match self.kind:
            case ValueKind.WHOLE:
                return self._within(given)
            case ValueKind.NUMBER:
                return float(self._within(given))
            case ValueKind.TEXT:
                return self._chosen(given)
            case ValueKind.PATH:
                return self._path(given, base)
            case ValueKind.PATHS:
                return tuple(resolved(path, base) for path in given)
            case ValueKind.WITNESSES:
                return tuple(_witness(source, base) for source in given)
            case ValueKind.PATH_OR_NAME:
                return _path_or_name(str(given), base)
        return given

    def from_text(self, text: str) -> Any:
        """The value that `text` on a command line stands for; `text` itself if it is no value of this kind."""
        try:
            match self.kind:
                case ValueKind.WHOLE:
                    return int(text)
                case ValueKind.NUMBER:
                    return float(text)
                case ValueKind.SWITCH:
                    return {"true": True, "false": False}.get(text.lower(), text)
                case ValueKind.PATHS | ValueKind.WITNESSES:
                    return [text]
        except ValueError:
            pass
        return text

    def _check_type(self, given: Any) -> None:
        """Raise WrongSetting for a value of another type, and for paths that no file can have."""
        types = _TYPES[self.kind]
        has_type = isinstance(given, types) and (bool in types or not isinstance(given, bool))
        if not has_type:
            raise WrongSetting(
                _("%(name)s must be %(kind)s, not %(given)s"),
                name=self.name,
                kind=Sentence(A_VALUE[self.kind]),
                given=shown(given),
            )
        if self.kind is ValueKind.PATH:
            self._check_path(given)
        if self.kind in (ValueKind.PATHS, ValueKind.WITNESSES):
            for path in given:
                if not path or not isinstance(path, str | Path | WitnessSource):
                    raise WrongSetting(
                        _("%(name)s must be %(kind)s, and %(path)s is not one"),
                        name=self.name,
                        kind=Sentence(A_VALUE[self.kind]),
                        path=shown(path),
                    )
                self._check_path(path)

    def _check_path(self, path: object) -> None:
        if flaw := path_flaw(path):
            raise WrongSetting("%(name)s: %(path)s %(flaw)s", name=self.name, path=shown(path), flaw=flaw)

    def _within(self, number: float) -> float:
        if self.low is not None and self.high is not None and not self.low <= number <= self.high:
            raise WrongSetting(
                _("%(name)s must be from %(low)s to %(high)s, not %(number)s"),
                name=self.name,
                low=_plain(self.low),
                high=_plain(self.high),
                number=shown(number),
            )
        return number

    def _chosen(self, text: str) -> str:
        if not self.choices or text in self.choices:
            return text
        choices = self.choices + (tuple(sorted(entry_points(group=self.installed).names)) if self.installed else ())
        if text not in choices:
            near = nearest(text, choices)
            hint = Sentence(_("; did you mean %(near)s?"), near=near) if near else ""
            raise WrongSetting(
                _("%(name)s must be %(choices)s, not %(text)s%(hint)s"),
                name=self.name,
                choices=joined(choices, OR),
                text=shown(text),
                hint=hint,
            )
        return text

    def _path(self, given: str | Path | None, base: Path) -> Path | None:
        if given is None or given == "":
            if self.default is not None:
                raise WrongSetting(_("%(name)s must name a path, not be empty"), name=self.name)
            return None
        path = resolved(given, base)
        exists = os.path.exists if self.or_folder else os.path.isfile  # these take any text
        if self.must_exist and not exists(path):
            message = _("%(name)s: there is no file %(path)s")
            if self.or_folder:
                message = _("%(name)s: there is no file or folder %(path)s")
            raise WrongSetting(message, name=self.name, path=path)
        return path


def setting_field(kind: ValueKind, default: Any, help: str, **rest: Any) -> Any:
    """A field of a section of the settings. Its name is the key of the setting, its help a message in the
    catalogues."""
    return field(default=default, metadata={"setting": Setting("", kind, default, help, **rest)})


def path_flaw(path: object) -> str:
    """Why no file that the program reads can have this path, and what to do; '' for a possible path."""
    text = str(path)
    if _ADDRESS.match(text):
        return Sentence(_("is an address: save the file here and name it; `proof fetch` brings images"))
    if "\0" in text:
        return Sentence(_("has a NUL character: delete it"))
    try:
        too_long = any(len(name.encode()) > MAX_NAME_BYTES for name in text.split("/"))
    except UnicodeEncodeError:
        return Sentence(_("is not UTF-8: rename the file or folder"))
    return Sentence(_("has a name of more than %(most)s bytes"), most=MAX_NAME_BYTES) if too_long else ""


def nearest(name: str, names: Sequence[str]) -> str:
    """The name for which `name` is most likely a slip; '' if none is similar."""
    match = process.extractOne(name.lower(), names, scorer=fuzz.ratio, score_cutoff=60)
    return match[0] if match else ""


def shown(value: object) -> str:
    """A value as TOML, for a message; a list or section is only named."""
    if isinstance(value, dict):
        return Sentence(_("a section"))
    if isinstance(value, list | tuple):
        return Sentence(_("a list")) if value else "[]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return _plain(value)
    return json.dumps("" if value is None else str(value), ensure_ascii=False)


def _plain(number: float) -> str:
    return str(int(number)) if number == number // 1 and abs(number) < 1e15 else str(number)


def _witness(given: str | Path | WitnessSource, base: Path) -> WitnessSource:
    return given if isinstance(given, WitnessSource) else WitnessSource.parse(str(given), base)


def _path_or_name(text: str, base: Path) -> str:
    has_separator = "/" in text or os.sep in text
    is_path = has_separator or text.startswith("~") or os.path.exists(base / text)  # noqa: PTH110 - takes any text
    return str(resolved(text, base)) if text and is_path else text
