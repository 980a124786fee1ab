"""A library: every work below one folder is checked into one store. A work that fails does not stop the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from proof.checking.executor import engine_settings
from proof.checking.pipeline import CheckOutcome, Watch, check, engine_of
from proof.checking.recheck import CheckCancelled, Rechecker, RecheckOutcome
from proof.errors import ClusterError, OutputError, ProofError, UsageError
from proof.locale.marking import _
from proof.model.notices import Notice
from proof.ocr.engine import Engine
from proof.ocr.registry import EngineSettings
from proof.settings.config import FILE_NAME, Settings
from proof.settings.material import find_images
from proof.store import Store
from proof.store.library import FolderState
from proof.text.read import read_transcription

LOG = logging.getLogger(__name__)

TEXTS = "*.txt"
"""Pattern of the texts in a folder that has no config.toml."""

MAX_KEPT_RECHECKERS = 4
"""Maximum number of works whose engine and witnesses are kept in memory for rechecks."""

MAX_FOLDER_DEPTH = 3
"""Levels of folders below the library in which works are looked for."""


@dataclass(frozen=True, slots=True)
class LibraryFolder:
    """The folder of a work; `name` is its path inside the library."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class WorkOutcome:
    """The outcome of checking the work in `folder`, or why it could not be checked."""

    folder: str
    outcome: CheckOutcome | None
    trouble: Notice | None = None

    @property
    def sound(self) -> bool:
        return self.outcome is not None and self.outcome.sound


class SharedEngine:
    """The engine of a library's works: opened once for consecutive works with the same engine settings. `store` is the
    library's."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: tuple[EngineSettings, Engine] | None = None

    def __call__(self, settings: Settings, _: Store) -> Engine:
        """The engine by these settings. Raises ProofError."""
        needed = engine_settings(settings)
        if self._last is None or self._last[0] != needed:
            self._last = None  # free the old model before the new one is loaded
            self._last = needed, engine_of(settings, self._store)
        return self._last[1]


OnFolderStart = Callable[[str, int, int], None]
"""Called before a folder is checked, with its name, its number from 1, and the number of folders."""


def library_settings(folder: Path) -> Settings:
    """The settings of a library, from its config.toml or the defaults. Raises UsageError, ConfigError."""
    if not folder.is_dir():
        raise UsageError(_("%(folder)s: there is no such folder; name the one that contains the works"), folder=folder)
    return Settings.of_folder(folder)


def folders_of(settings: Settings) -> list[LibraryFolder]:
    """The folders of a library's works, sorted by name: every folder with a config.toml, without those below it, and
    every other folder directly in the library that has texts. Raises UsageError if there is none."""
    base = _base(settings)
    folders: list[LibraryFolder] = []

    def add_folders(folder: Path, depth: int) -> None:
        for path in sorted(folder.iterdir()):
            if not path.is_dir() or path.name.startswith("."):
                continue
            if (path / FILE_NAME).exists() or (depth == 1 and any(path.glob(TEXTS))):
                folders.append(LibraryFolder(path.relative_to(base).as_posix(), path))
            elif depth < MAX_FOLDER_DEPTH:
                add_folders(path, depth + 1)

    add_folders(base, 1)
    if not folders:
        raise UsageError(
            _("%(base)s: contains no work; a work is a folder with %(file)s, or with texts (%(texts)s)"),
            base=base,
            file=FILE_NAME,
            texts=TEXTS,
        )
    return folders


def work_settings(library: Settings, folder: LibraryFolder) -> Settings:
    """The settings for a work: its own if it has a config.toml, else the library's. The store is always the library's,
    the cluster too if the library has one; reports are written into `out/NAME` of the library. Raises ConfigError."""
    own = folder.path / FILE_NAME
    base = _base(library)
    if own.exists():
        settings = Settings.load(own)
    else:
        texts = tuple(sorted(folder.path.glob(TEXTS)))
        images = library.project.images or find_images(folder.path)
        settings = replace(library, project=replace(library.project, title="", texts=texts, images=images))
    texts = settings.text_files()  # patterns are resolved here, while the settings still have the work's folder
    project = replace(settings.project, texts=texts, out=base / "out" / folder.name)
    cluster = library.cluster if library.cluster.address else settings.cluster
    return replace(settings, project=project, store=library.store, cluster=cluster, file=base / FILE_NAME)


def check_library(
    settings: Settings, watch: Watch | None, on_folder_start: OnFolderStart, waiting: Callable[[str], None]
) -> list[WorkOutcome]:
    """Check every work of a library: those that `library.first` names, then those that have not been checked to the
    end, then the others. `waiting` is that of `check`.

    A work that cannot be checked is skipped, and its outcome says why. Raises OutputError if the store fails, and
    ClusterError if the cluster is lost: the works that follow could not be checked either."""

    with Store.open(settings.store_address, folder=settings.base) as store:
        stored_folders = store.library.folders()
        checked = {name for name, (_, state) in stored_folders.items() if state is FolderState.CHECKED}

        def rank(folder: LibraryFolder) -> tuple[int, bool, str]:
            return _pattern_rank(folder.name, settings.library.first), folder.name in checked, folder.name

        ordered = sorted(folders_of(settings), key=rank)
        store.library.set_folders([folder.name for folder in ordered])
        folder_of = {work: name for name, (work, _) in stored_folders.items() if work}
        outcomes, engine = [], SharedEngine(store)
        for number, folder in enumerate(ordered, 1):
            on_folder_start(folder.name, number, len(ordered))
            outcomes.append(_check_work(folder, settings, store, folder_of, watch, waiting, engine))
    return outcomes


def _check_work(
    folder: LibraryFolder,
    settings: Settings,
    store: Store,
    folder_of: dict[str, str],
    watch: Watch | None,
    waiting: Callable[[str], None],
    engine: SharedEngine,
) -> WorkOutcome:
    store.library.set_state(folder.name, FolderState.CHECKING)
    try:
        folder_settings = work_settings(settings, folder)
        _check_distinct_work(folder, folder_settings, folder_of)
        outcome = check(folder_settings, watch, waiting=waiting, opened=engine)
    except (OutputError, ClusterError):
        raise
    except Exception as error:
        shown_error = error
        if not isinstance(error, ProofError):
            # a bug that shows in one work must not stop the check of the others
            LOG.error("work %s failed", folder.name, exc_info=error)
            shown_error = UsageError("%(name)s: %(error)s", name=type(error).__name__, error=error)
        trouble = Notice.of_error(shown_error)
        store.library.set_state(folder.name, FolderState.FAILED, trouble=trouble)
        return WorkOutcome(folder.name, None, trouble)
    work = store.run(outcome.run_id).info.work
    folder_of[work] = folder.name
    store.library.set_state(folder.name, FolderState.CHECKED, work=work)
    return WorkOutcome(folder.name, outcome)


def _check_distinct_work(folder: LibraryFolder, settings: Settings, folder_of: Mapping[str, str]) -> None:
    """Raises UsageError if the folder has no text, or another folder has the same work: their pages would be mixed.
    `folder_of` gives the folder of each stored work."""
    if not settings.project.texts:
        raise UsageError(
            _("%(path)s: no transcription is named; set project.texts in its %(file)s"),
            path=folder.path,
            file=FILE_NAME,
        )
    text = settings.project.texts[0]
    work = read_transcription(text).work or text.stem
    if folder_of.get(work, folder.name) != folder.name:
        raise UsageError(
            _("%(path)s: %(other)s has the same work, %(work)s; give one of them another id"),
            path=folder.path,
            work=work,
            other=folder_of[work],
        )


class LibraryRechecker(Rechecker):
    """Checks pages of a library again, each by the settings of its work."""

    def __init__(self, settings: Settings, store: Store) -> None:
        super().__init__(settings, store)
        self._recheckers: dict[str, Rechecker] = {}

    def read(self, work: str, number: int, check_cancelled: CheckCancelled = lambda: None) -> RecheckOutcome:
        """As `Rechecker.read`, by the settings of the page's work. Raises ProofError."""
        name = self._store.library.folder_of(work)
        if name is None:
            return super().read(work, number, check_cancelled)
        if name not in self._recheckers:
            if len(self._recheckers) >= MAX_KEPT_RECHECKERS:
                del self._recheckers[next(iter(self._recheckers))]
            folder = LibraryFolder(name, _base(self._settings) / name)
            self._recheckers[name] = Rechecker(work_settings(self._settings, folder), self._store)
        return self._recheckers[name].read(work, number, check_cancelled)


def _pattern_rank(name: str, first: str) -> int:
    """The position in `first` of the pattern that matches the folder's name; after all of them if none does."""
    patterns = first.split()
    return next((rank for rank, pattern in enumerate(patterns) if fnmatchcase(name, pattern)), len(patterns))


def _base(settings: Settings) -> Path:
    assert settings.folder is not None, "the settings of a library have a folder"
    return settings.folder
