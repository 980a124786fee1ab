"""The options of the command line, made from the declarations of the settings, and the settings that they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click

from proof.errors import UsageError
from proof.settings.config import FILE_NAME, SETTINGS, Settings
from proof.settings.setting import Setting, ValueKind, WrongSetting, shown

SPELLED = {
    "cluster.address": "cluster",
    "cluster.images": "cluster-images",
    "engine.name": "engine",
    "language.model": "language",
    "variants.file": "variants",
    "store.url": "store",
}
"""Options whose key alone would not say what they set; all others are spelled as their key."""

CHECKING = tuple(
    name for name in SETTINGS if name != "project.texts" and not name.startswith(("library.", "render.", "serve."))
)
"""What can be set of a check, beside its texts."""

Command = Callable[..., Any]


_METAVARS = {
    ValueKind.WHOLE: "NUMBER",
    ValueKind.NUMBER: "NUMBER",
    ValueKind.TEXT: "TEXT",
    ValueKind.PATH: "PATH",
    ValueKind.PATHS: "DIR",
    ValueKind.WITNESSES: "[SIGLUM=]PATH",
    ValueKind.PATH_OR_NAME: "PATH|NAME",
}


def spelling(setting: Setting) -> str:
    """The option that sets `setting`: `--max-megapixels`."""
    return "--" + SPELLED.get(setting.name, setting.key).replace("_", "-")


def _reader(setting: Setting) -> Callable[[str], Any]:
    """Reads the value of a setting, checked as in `config.toml`; paths count from the working folder."""

    def read(text: str) -> Any:
        try:
            if setting.kind in (ValueKind.PATHS, ValueKind.WITNESSES):
                return setting.value([text], Path.cwd())[0]
            return setting.value(setting.from_text(text), Path.cwd())
        except WrongSetting as error:
            raise click.BadParameter(str(error)) from None

    return read


def setting_options(names: Iterable[str]) -> Callable[[Command], Command]:
    """Gives a command an option for each of these settings; it takes those that were given as `given`, a
    mapping from names of settings to values."""
    settings = [SETTINGS[name] for name in names]

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_given(*args: Any, **params: Any) -> Any:
            values = {setting.name: params.pop(_parameter(setting)) for setting in settings}
            given = {name: value for name, value in values.items() if value not in (None, ())}
            return command(*args, given=given, **params)

        decorated: Command = with_given
        for setting in reversed(settings):
            decorated = _option(setting)(decorated)
        return decorated

    return decorate


config_option = click.option(
    "--config",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help=f"Settings file, or the folder it lies in. [default: {FILE_NAME} of the working folder]",
)


library_option = click.option(
    "--library",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of works, each a folder with a config.toml or with texts (*.txt).",
)


def settings_of(config: Path | None, texts: Iterable[Path] = (), given: Mapping[str, Any] | None = None) -> Settings:
    """The settings that a command line means.

    `config.toml` of the working folder holds for the texts that it names; other texts are no part of that
    project, unless `config` names it. Raises ConfigError, UsageError.
    """
    texts = tuple(texts)
    settings = Settings.load(config) if config else _settings_here()
    if config is None and texts and not _names(settings, texts):
        settings = Settings()
    return settings.replace({**({"project.texts": texts} if texts else {}), **(given or {})})


def _settings_here() -> Settings:
    here = Path(FILE_NAME)
    return Settings.load(here) if here.exists() else Settings()


def _names(settings: Settings, texts: Iterable[Path]) -> bool:
    """Whether all of `texts` are among those that the settings name."""
    if not settings.project.texts:
        return False
    own = {path.resolve() for path in settings.text_files()}
    return all(text.resolve() in own for text in texts)


def must_have_work(settings: Settings) -> None:
    """Raises UsageError where there is nothing to check, or nothing to check it by: no image, not the sense."""
    if not settings.project.texts:
        raise UsageError(
            "nothing to check: name a transcription (proof check TEXT --images DIR), "
            f"or run in a folder with {FILE_NAME}"
        )
    if not settings.project.images and not settings.flags.sense:
        where = f"set project.images in {settings.file}" if settings.file else "give --images DIR"
        raise UsageError(f"no folder of page images was named: {where}")


def _option(setting: Setting) -> Callable[[Command], Command]:
    switch = setting.kind is ValueKind.SWITCH
    declared = f"{spelling(setting)}/--no{spelling(setting)[1:]}" if switch else spelling(setting)
    help_text = setting.help.replace("`", "")
    if setting.default not in (None, "", ()):
        help_text += f" [default: {shown(setting.default).strip(chr(34))}]"
    return click.option(
        declared,
        _parameter(setting),
        type=click.BOOL if switch else _reader(setting),
        metavar=None if switch else _metavar(setting),
        default=None,
        multiple=setting.kind in (ValueKind.PATHS, ValueKind.WITNESSES),
        help=help_text[0].upper() + help_text[1:],
    )


def _metavar(setting: Setting) -> str:
    return f"[{'|'.join(setting.choices)}]" if setting.choices else _METAVARS[setting.kind]


def _parameter(setting: Setting) -> str:
    return setting.name.replace(".", "__")
