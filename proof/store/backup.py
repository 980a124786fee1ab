"""A whole project as one file, and back: store, settings, texts and images, each with its checksum."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import proof
from proof.errors import ConfigError, OutputError, ProofError, UsageError
from proof.images.find import BOUND_OR_SINGLE
from proof.settings.config import FILE_NAME, STORE_NAME, Settings
from proof.store import Store
from proof.store.copying import copy_store, count_rows

MANIFEST = "proof-backup.json"
FORMAT = 1
CHUNK = 1 << 20


class BackupError(ProofError):
    """A file that is no backup, or a damaged one."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What was saved or restored: files and rows of the store; `left_out` lie outside the project's folder."""

    path: Path
    files: int
    rows: int
    left_out: tuple[Path, ...] = ()


def backup(settings: Settings, path: Path, *, images: bool = True) -> Saved:
    """Save the project of `settings` into the file `path`, as it is at this moment; it may be worked on meanwhile.

    Raises UsageError where there is no project folder or the file is there, OutputError where it cannot be written.
    """
    folder = settings.folder
    if folder is None:
        raise UsageError(f"a project is a folder with {FILE_NAME}: run in it, or name it with --config")
    if path.exists():
        raise UsageError(f"{path}: is there already; name another file")
    inside, outside = _files(settings, folder, images)
    partial = path.with_name(path.name + ".part")
    sums: dict[str, str] = {}
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".proof-") as scratch, _written(partial) as archive:
            with Store.open(settings.store_address) as source, Store.open(Path(scratch) / STORE_NAME) as target:
                rows = copy_store(source, target)
            sums[STORE_NAME] = _add(archive, Path(scratch) / STORE_NAME, STORE_NAME)
            for file in inside:
                name = file.relative_to(folder).as_posix()
                sums[name] = _add(archive, file, name)
            said = {"format": FORMAT, "version": proof.__version__, "store": settings.store.url, "sha256": sums}
            archive.writestr(MANIFEST, json.dumps(said, ensure_ascii=False, indent=1))
        partial.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        partial.unlink(missing_ok=True)
    return Saved(path, len(sums), rows, tuple(outside))


def restore(path: Path, folder: Path) -> Saved:
    """Unpack a backup into `folder`, which must be empty or new; a store on a server is filled again.

    Nothing is left behind where a file is missing, damaged or would lie outside the folder. Raises BackupError,
    UsageError, OutputError.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder}: is not empty; name a new folder")
    made = not folder.exists()
    try:
        with zipfile.ZipFile(path) as archive:
            sums = _manifest(archive, path)
            folder.mkdir(parents=True, exist_ok=True)
            for name, wanted in sums.items():
                _unpack(archive, path, name, wanted, folder)
        return Saved(folder, len(sums), _into_place(folder))
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if not made:
            folder.mkdir(parents=True, exist_ok=True)
        if isinstance(error, zipfile.BadZipFile | KeyError | NotImplementedError | RuntimeError):
            raise BackupError(f"{path}: is no backup of proof, or is damaged ({error})") from error
        if isinstance(error, OSError):
            raise OutputError(f"{error.filename or path}: {error.strerror or error}") from error
        raise


def _into_place(folder: Path) -> int:
    """The rows of the store, which goes where the settings have it."""
    saved = folder / STORE_NAME
    address = Settings.load(folder).store_address if (folder / FILE_NAME).exists() else saved
    with Store.open(saved) as source:
        if address == saved:
            return count_rows(source)
        with Store.open(address) as target:
            rows = copy_store(source, target)
    saved.unlink()
    return rows


def _files(settings: Settings, folder: Path, images: bool) -> tuple[list[Path], list[Path]]:
    """What the settings name, inside the project's folder and outside of it."""
    found: dict[Path, None] = {}
    if settings.file:
        found[settings.file] = None
    with suppress(ConfigError):  # a text that is gone is no reason to save nothing
        found.update(dict.fromkeys(settings.text_files()))
    lists = [settings.project.imglist] if settings.project.imglist else []
    for each in (*lists, *([settings.variants.file] if settings.variants.file else [])):
        found.update(dict.fromkeys(sorted(each.rglob("*.txt")) if each.is_dir() else [each]))
    if images:
        for each in settings.project.images:
            pictures = (file for file in each.rglob("*") if file.suffix.lower() in BOUND_OR_SINGLE)
            found.update(dict.fromkeys(sorted(pictures)))
    there = [file for file in found if file.is_file()]
    return [f for f in there if f.is_relative_to(folder)], [f for f in there if not f.is_relative_to(folder)]


class _written:  # noqa: N801 - used as a function is
    """A new zip archive that is on the disk when it is closed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> zipfile.ZipFile:
        self._archive = zipfile.ZipFile(self._path, "w", zipfile.ZIP_DEFLATED, compresslevel=5)
        return self._archive

    def __exit__(self, *_error: object) -> None:
        self._archive.close()
        with self._path.open("rb") as file:
            os.fsync(file.fileno())


def _add(archive: zipfile.ZipFile, file: Path, name: str) -> str:
    digest = hashlib.sha256()
    info = zipfile.ZipInfo.from_file(file, name, strict_timestamps=False)
    info.compress_type = zipfile.ZIP_STORED if file.suffix.lower() in BOUND_OR_SINGLE else zipfile.ZIP_DEFLATED
    with file.open("rb") as source, archive.open(info, "w", force_zip64=True) as target:
        for part in _parts(source):
            digest.update(part)
            target.write(part)
    return digest.hexdigest()


def _parts(file: object) -> Iterator[bytes]:
    return iter(lambda: file.read(CHUNK), b"")  # type: ignore[attr-defined]


def _manifest(archive: zipfile.ZipFile, path: Path) -> dict[str, str]:
    try:
        said = json.loads(archive.read(MANIFEST))
        form, sums = said["format"], said["sha256"]
    except (ValueError, TypeError, KeyError) as error:
        raise BackupError(f"{path}: is no backup of proof") from error
    if form != FORMAT:
        raise BackupError(f"{path}: was made by proof {said.get('version', '')}; update proof")
    if not isinstance(sums, dict) or STORE_NAME not in sums:
        raise BackupError(f"{path}: is no backup of proof: it holds no store")
    return sums


def _unpack(archive: zipfile.ZipFile, path: Path, name: str, wanted: str, folder: Path) -> None:
    parts = PurePosixPath(name).parts
    if not parts or PurePosixPath(name).is_absolute() or ".." in parts or "\\" in name or ":" in parts[0]:
        raise BackupError(f"{path}: names {name!r}, a file outside the project's folder; do not trust it")
    target = folder.joinpath(*parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with archive.open(name) as source, target.open("xb") as file:
        for part in _parts(source):
            digest.update(part)
            file.write(part)
    if digest.hexdigest() != wanted:
        raise BackupError(f"{path}: {name} is damaged: its checksum is not the one it was saved with")
