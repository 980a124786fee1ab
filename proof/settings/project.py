"""Which project a command means.

A project is a folder with a `config.toml`; its store lies in that folder. `--config` names one. A text belongs to the
project that names it, else to the folder it lies in. Without a text the working folder is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from proof.errors import ConfigError, UsageError
from proof.locale.marking import AND, Sentence, _, joined
from proof.paths import real, sample_dir
from proof.settings.config import FILE_NAME, Settings
from proof.settings.toml_file import TomlFile
from proof.text.witness_source import resolved

MAX_FOLDER_DEPTH = 2
"""Levels of folders below the working folder in which projects are looked for, to name them in a message."""

MAX_NAMED_PROJECTS = 5
"""Projects that are named in a message, at most."""

MAX_FILES_PER_LEVEL = 2000
"""Files of settings that are looked at on each level, at most."""


def project_settings(config: Path | None, texts: Sequence[Path] = ()) -> Settings:
    """The settings of the project that a command means: the one that `config` names, else the one that `texts` belong
    to, else that of the working folder; the defaults where its folder has no `config.toml` yet.

    Raises ConfigError for a wrong `config.toml`, UsageError where the texts belong to several projects.
    """
    if config is not None:
        return Settings.load(config)
    if not texts:
        return Settings.of_folder(Path.cwd())
    naming = [settings for settings in _projects_around(texts) if names(settings, texts)]
    if len(naming) > 1:
        files = joined((settings.file for settings in naming), AND)
        raise UsageError(
            _("%(text)s is named by two projects, %(files)s: say with --config which one is meant"),
            text=texts[0],
            files=files,
        )
    return naming[0] if naming else _project_of_folder(texts)


def names(settings: Settings, texts: Sequence[Path]) -> bool:
    """Whether all of `texts` are among those that the settings name."""
    if not settings.project.texts:
        return False
    try:
        named = {real(path) for path in settings.text_files()}
    except ConfigError:  # a pattern that matches nothing: an error only where that project is meant
        return False
    return all(real(text) in named for text in texts)


def texts_of_project(settings: Settings) -> tuple[Path, ...]:
    """All texts that the project's `config.toml` names, also where `settings` are for some of them; none where there is
    no such file, or one of the texts is gone."""
    if settings.file is None or not settings.file.exists():
        return ()
    try:
        return Settings.load(settings.file).text_files()
    except ConfigError:
        return ()


def projects_near(folder: Path) -> str:
    """A message where `folder` is no project: the projects above and below it, and how to name one; '' without any."""
    projects = list(islice(_projects_near(folder), MAX_NAMED_PROJECTS))
    if not projects:
        return ""
    lie = Sentence(_("a project lies")) if len(projects) == 1 else Sentence(_("projects lie"))
    return Sentence(
        _("%(lie)s in %(folders)s: name it with --config %(first)s"),
        lie=lie,
        folders=joined(projects, AND),
        first=projects[0],
    )


def _projects_around(texts: Sequence[Path]) -> Iterator[Settings]:
    """The projects that may name the texts: the working folder, and every folder above the first text whose
    `config.toml` names texts; another program may have a file of that name."""
    here = Path.cwd()
    if (here / FILE_NAME).exists():
        yield Settings.load(here)
    for folder in resolved(texts[0], here).parents:
        if folder != here and (folder / FILE_NAME).exists() and _has_texts(folder / FILE_NAME):
            yield Settings.load(folder)


def _has_texts(file: Path) -> bool:
    """Whether a `config.toml` names texts, and so is that of a project."""
    try:
        project = TomlFile.read(file).values.get("project")
    except ConfigError:
        return False
    return isinstance(project, dict) and "texts" in project


def _project_of_folder(texts: Sequence[Path]) -> Settings:
    """The project of the folder in which the texts lie, for texts that no project names. Raises UsageError where they
    lie in several folders."""
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
                "%(text)s lies in %(folder)s, the folder of the sample project, and is none of its "
                "texts: move it with its images into a folder of its own"
            ),
            text=texts[0],
            folder=folder,
        )
    return Settings.of_folder(folder)


def _projects_near(folder: Path) -> Iterator[Path]:
    """The nearest project above a folder as an absolute path, then those below it, relative to it."""
    yield from islice((each for each in folder.absolute().parents if _has_texts(each / FILE_NAME)), 1)
    patterns = ("/".join(["*"] * depth + [FILE_NAME]) for depth in range(1, MAX_FOLDER_DEPTH + 1))
    for file in (file for pattern in patterns for file in islice(folder.glob(pattern), MAX_FILES_PER_LEVEL)):
        if _has_texts(file):
            yield file.parent.relative_to(folder)
