"""Finds the project of a command.

A project is a folder with a `config.toml` and a store. It is the one that `--config` names, or else the project of the
texts of the command: the project whose settings name them, or else their folder. Without texts it is the working
folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from proof.errors import ConfigError, UsageError
from proof.locale.marking import AND, Sentence, _, joined
from proof.paths import real, sample_dir
from proof.settings.config import FILE_NAME, STORE_NAME, Settings
from proof.settings.toml_file import TomlFile
from proof.text.witness_source import resolved

MAX_FOLDER_DEPTH = 2
"""Maximum depth, below the working folder, at which projects are searched for, to name them in a message."""

MAX_NAMED_PROJECTS = 5
"""Maximum number of projects in a message."""

MAX_FILES_PER_LEVEL = 2000
"""Maximum number of settings files that are read at each depth."""


def project_settings(config: Path | None, texts: Sequence[Path] = ()) -> Settings:
    """The settings of the project of a command: the one that `config` names, or else that of the `texts`, or without
    texts that of the working folder; the defaults if the folder has no `config.toml` yet.

    Raises ConfigError for a wrong `config.toml`; UsageError if the texts belong to several projects.
    """
    if config is not None:
        return Settings.of_folder(config) if (config / STORE_NAME).is_file() else Settings.load(config)
    if not texts:
        return Settings.of_folder(Path.cwd())
    projects = [settings for settings in _projects_around(texts) if names_all(settings, texts)]
    if len(projects) > 1:
        files = joined((settings.file for settings in projects), AND)
        raise UsageError(
            _("%(text)s is named by two projects, %(files)s: say with --config which one is meant"),
            text=texts[0],
            files=files,
        )
    return projects[0] if projects else _project_of_folder(texts)


def names_all(settings: Settings, texts: Sequence[Path]) -> bool:
    """Whether the settings name all of these texts."""
    if not settings.project.texts:
        return False
    try:
        named = {real(path) for path in settings.text_files()}
    except ConfigError:  # a pattern that matches nothing is an error only in the project of the command
        return False
    return all(real(text) in named for text in texts)


def texts_of_project(settings: Settings) -> tuple[Path, ...]:
    """All texts in the `config.toml` of the project, of which `settings` may name only some; none without such a file,
    or if one of the texts is gone."""
    if settings.file is None or not settings.file.exists():
        return ()
    try:
        return Settings.load(settings.file).text_files()
    except ConfigError:
        return ()


def projects_near(folder: Path) -> str:
    """A message for a `folder` without a project: the projects above and below it, and how to name one; '' if there are
    none."""
    projects = list(islice(_projects_near(folder), MAX_NAMED_PROJECTS))
    if not projects:
        return ""
    existence = Sentence(_("there is a project")) if len(projects) == 1 else Sentence(_("there are projects"))
    return Sentence(
        _("%(existence)s in %(folders)s: name it with --config %(first)s"),
        existence=existence,
        folders=joined(projects, AND),
        first=projects[0],
    )


def hint_at_projects(settings: Settings) -> str:
    """The end of a message about missing files in a folder that is no project: the projects near it; empty if there are
    none."""
    folder = settings.folder
    near = projects_near(folder) if folder and not (folder / FILE_NAME).exists() else ""
    return Sentence(_("; %(near)s"), near=near) if near else ""


def _projects_around(texts: Sequence[Path]) -> Iterator[Settings]:
    """The projects that may name the texts: that of the working folder, and those of the folders above the first text.
    A `config.toml` above it that names no texts may be that of another program."""
    working_folder = Path.cwd()
    if (working_folder / FILE_NAME).exists():
        yield Settings.load(working_folder)
    for folder in resolved(texts[0], working_folder).parents:
        if folder != working_folder and (folder / FILE_NAME).exists() and _has_texts(folder / FILE_NAME):
            yield Settings.load(folder)


def _has_texts(file: Path) -> bool:
    """Whether a `config.toml` names texts, which makes it that of a project."""
    try:
        project = TomlFile.read(file).values.get("project")
    except ConfigError:
        return False
    return isinstance(project, dict) and "texts" in project


def _project_of_folder(texts: Sequence[Path]) -> Settings:
    """The project of the folder of the texts, for texts that no project names. Raises UsageError if they are in several
    folders."""
    folders = list(dict.fromkeys(resolved(text, Path.cwd()).parent for text in texts))
    if len(folders) > 1:
        raise UsageError(
            _(
                "%(text)s and %(texts)s lie in two folders and in no project: make one that names "
                "both, with `proof init FOLDER --texts %(text)s --texts %(texts)s`"
            ),
            text=texts[0],
            texts=texts[-1],
        )
    folder = folders[0]
    if (folder / FILE_NAME).exists() and folder.resolve() == sample_dir().resolve():
        raise UsageError(
            _(
                "%(text)s is in %(folder)s, the folder of the sample project, but is not one of its texts: "
                "move it with its images into a separate folder"
            ),
            text=texts[0],
            folder=folder,
        )
    return Settings.of_folder(folder)


def _projects_near(folder: Path) -> Iterator[Path]:
    """The nearest project or library above a folder as an absolute path, then the projects below it, relative to it."""
    above = folder.absolute().parents
    yield from islice((path for path in above if _has_texts(path / FILE_NAME) or (path / STORE_NAME).is_file()), 1)
    for depth in range(1, MAX_FOLDER_DEPTH + 1):
        pattern = "/".join(["*"] * depth + [FILE_NAME])
        for file in islice(folder.glob(pattern), MAX_FILES_PER_LEVEL):
            if _has_texts(file):
                yield file.parent.relative_to(folder)
