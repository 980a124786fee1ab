"""Makes the options of the command line from the declarations of the settings, and the settings from a command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click

from proof.errors import UsageError
from proof.locale.marking import Say, Sentence, _
from proof.locale.terminal import error_text
from proof.settings.config import FILE_NAME, SETTINGS, Settings
from proof.settings.project import hint_at_projects, project_settings
from proof.settings.setting import Setting, ValueKind, WrongSetting, shown

OPTION_NAMES = {
    "cluster.address": "cluster",
    "cluster.images": "cluster-images",
    "engine.name": "engine",
    "language.model": "language",
    "variants.file": "variants",
    "store.url": "store",
}
"""Option names of settings whose key alone would be unclear; other options are named after the key."""

CHECKING = tuple(
    name for name in SETTINGS if name != "project.texts" and not name.startswith(("library.", "render.", "serve."))
)
"""Settings that have an option of `proof check`; its texts are arguments."""

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
    return "--" + OPTION_NAMES.get(setting.name, setting.key).replace("_", "-")


def _reader(setting: Setting) -> Callable[[str], Any]:
    """A function that parses the value of an option, or one of its values if the setting is a list. The value is
    checked as in `config.toml`; paths are relative to the working folder."""

    def read(text: str) -> Any:
        try:
            if setting.kind in (ValueKind.PATHS, ValueKind.WITNESSES):
                return setting.value([text], Path.cwd())[0]
            return setting.value(setting.from_text(text), Path.cwd())
        except WrongSetting as error:
            raise click.BadParameter(error_text(error)) from None

    return read


def setting_options(names: Iterable[str]) -> Callable[[Command], Command]:
    """A decorator that gives a command an option for each of these settings. The command gets `given`: the values of
    the options that were given, by the names of their settings."""
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
    help=f"Folder or settings file of the project. [default: the project of TEXT; without TEXT, {FILE_NAME} in the "
    "working folder]",
)


library_option = click.option(
    "--library",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of works, each a folder with a config.toml or with texts (*.txt).",
)

quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print errors only.")


def settings_of(config: Path | None, texts: Iterable[Path] = (), given: Mapping[str, Any] | None = None) -> Settings:
    """The settings for a command line: those of its project (`project_settings`), overridden by its `texts` and by the
    options that were `given`.

    Raises ConfigError, UsageError.
    """
    texts = tuple(texts)
    settings = project_settings(config, texts)
    return settings.replace(({"project.texts": texts} if texts else {}) | dict(given or {}))


def config_words(folder: Path) -> str:
    """The option by which a printed command names the project in `folder`, ` --config FOLDER`; empty for the working
    folder."""
    return "" if folder.resolve() == Path.cwd() else f" --config {shlex.quote(str(folder))}"


def must_be_checkable(settings: Settings) -> None:
    """Raises UsageError if there is no text to check, or neither images nor a language model to check it with."""
    if not settings.project.texts:
        raise UsageError(
            _(
                "nothing to check: name a transcription (proof check TEXT --images DIR), or run in "
                "the folder of a project (proof init makes one)%(hint)s"
            ),
            hint=hint_at_projects(settings),
        )
    if not settings.flags.language_model:
        must_have_images(settings)


def must_have_images(settings: Settings) -> None:
    """Raises UsageError if no folder of page images is named."""
    if not settings.project.images:
        where = (
            Sentence(_("set project.images in %(file)s"), file=settings.file)
            if settings.file and settings.file.exists()
            else Sentence(_("give --images DIR"))
        )
        raise UsageError(_("no folder of page images was named: %(where)s"), where=where)


def existing_store(settings: Settings) -> Path | str:
    """The address of the project's store. Raises UsageError if there is no store yet."""
    from proof.store.database import is_missing, name_of, store_url  # noqa: PLC0415 - other commands need no database

    address = settings.store_address
    if is_missing(address):
        name = name_of(store_url(address))
        raise UsageError(
            _("%(shown)s: there is no store, so nothing was checked here yet: run proof check first%(hint)s"),
            shown=name,
            hint=hint_at_projects(settings),
        )
    return address


def is_library(settings: Settings) -> bool:
    """Whether the store of these settings is there and is that of a library."""
    from proof.store import Store  # noqa: PLC0415 - other commands need no database
    from proof.store.database import is_missing  # noqa: PLC0415

    if is_missing(settings.store_address):
        return False
    with Store.open(settings.store_address, folder=settings.base) as store:
        return bool(store.library.folders())


def _option(setting: Setting) -> Callable[[Command], Command]:
    """The decorator that adds the option of a setting to a command."""
    switch = setting.kind is ValueKind.SWITCH
    declared = f"{spelling(setting)}/--no{spelling(setting)[1:]}" if switch else spelling(setting)
    return click.option(
        declared,
        _parameter(setting),
        type=click.BOOL if switch else _reader(setting),
        metavar=None if switch else _metavar(setting),
        default=None,
        multiple=setting.kind in (ValueKind.PATHS, ValueKind.WITNESSES),
        help=option_help(setting, str),
    )


def option_help(setting: Setting, say: Say) -> str:
    """The help of the option of a setting, with its default."""
    text = say(setting.help).replace("`", "")
    if setting.default not in (None, "", ()):
        text += say(_(" [default: %(default)s]")) % {"default": shown(setting.default).strip('"')}
    return text[0].upper() + text[1:]


def _metavar(setting: Setting) -> str:
    return f"[{'|'.join(setting.choices)}]" if setting.choices else _METAVARS[setting.kind]


def _parameter(setting: Setting) -> str:
    return setting.name.replace(".", "__")
