"""Backup of a whole project as one file: store, settings, texts and images, each with its checksum."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

import proof
from proof.atomic import sync_file, sync_folder
from proof.errors import ConfigError, OutputError, ProofError, UsageError
from proof.images.find import BOUND_OR_SINGLE
from proof.locale.marking import Sentence, _
from proof.settings.config import FILE_NAME, SETTINGS, STORE_NAME, Settings, StoreSection
from proof.settings.setting import ValueKind
from proof.settings.toml_file import TomlFile, line_of
from proof.store import Store
from proof.store.copying import copy_file, copy_store, count_rows
from proof.store.database import file_of
from proof.store.journal import journal_of

_TIME = "%Y%m%dT%H%M%SZ"
_TIME_PATTERN = r"\d{8}T\d{6}Z"
"""The time in the names of backups that a timer makes in one folder, as a format and as a regular expression."""

MANIFEST = "proof-backup.json"
JOURNAL_NAME = journal_of(Path(STORE_NAME)).name
SCRATCH = ".proof-restoring"
FORMAT = 1
MAX_MANIFEST_BYTES = 1 << 26
CHUNK_BYTES = 1 << 20

_DAMAGED = (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error)
"""Exceptions of zipfile and json for a damaged archive, or a file that is not an archive."""


class BackupError(ProofError):
    """A file that is damaged, or is not a backup."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The result of a backup or a restore: its path, the number of files, and the number of rows in the store.

    `left_out` are paths in the settings that were not saved: those outside the project folder, and repositories.
    `unused` is the store address in the settings of the backup, if the store was restored somewhere else.
    """

    path: Path
    files: int
    rows: int
    left_out: tuple[Path, ...] = ()
    unused: str = ""


def backup(
    settings: Settings, path: Path, *, works: Sequence[Settings] = (), images: bool = True, cache: bool = False
) -> Saved:
    """Save a snapshot of the project of `settings` into the new file `path`, while others may work on it. `works` are
    the settings of the works of a library. `cache` includes the cache, such as readings of images.

    Raises UsageError if there is no project folder or the file exists, OutputError if it cannot be written.
    """
    folder = settings.folder
    if folder is None:
        raise UsageError(_("a project is a folder with %(file)s: run in it, or name it with --config"), file=FILE_NAME)
    if path.exists():
        raise UsageError(_("%(path)s: is there already; name another file"), path=path)
    file_of_name: dict[str, Path] = {}
    try:
        inside, outside = _files([settings, *works], folder, images)
        file_of_name |= {file.relative_to(folder).as_posix(): file for file in inside}
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".proof-") as scratch:
            copy, partial = Path(scratch) / STORE_NAME, Path(scratch) / "backup.zip"
            file_of_name[STORE_NAME] = copy
            with Store.open(settings.store_address, folder=folder) as source:
                rows = _copy(source, copy, cache=cache)
                if source.journal:
                    with source.journal.turn():  # waits until the acts in the copy are in the journal
                        if source.journal.path.exists():
                            file_of_name[JOURNAL_NAME] = source.journal.path
            with _new_archive(partial) as archive:
                sums = {name: _add(archive, file, name) for name, file in file_of_name.items()}
                manifest = {
                    "format": FORMAT,
                    "version": proof.__version__,
                    "store": settings.store.url,
                    "rows": rows,
                    "sha256": sums,
                }
                archive.writestr(MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1))
            _publish(partial, path)
    except OSError as error:
        message = _("%(path)s: cannot be written (%(reason)s); name a file in a folder that is there")
        failed = path
        for file in file_of_name.values():
            if str(file) == error.filename:
                message = _("%(path)s: cannot be read (%(reason)s); allow reading it, or move it away")
                failed = file
        raise OutputError(message, path=failed, reason=error.strerror or error) from error
    return Saved(path, len(sums), rows, tuple(outside))


def _copy(source: Store, copy: Path, *, cache: bool) -> int:
    """Copy a snapshot of the store into a new SQLite file; returns the number of rows. A store on a server is copied
    row by row."""
    file = file_of(source.engine.url)
    if file is not None:
        return copy_file(file, copy, cache=cache)
    with Store.open(copy) as target:
        return copy_store(source, target, cache=cache)


def _publish(partial: Path, path: Path) -> None:
    """Rename a complete file to `path`, which must not exist. Raises UsageError, OSError."""
    try:
        os.link(partial, path)
    except FileExistsError:
        raise UsageError(_("%(path)s: is there already; name another file"), path=path) from None
    except OSError:  # a file system without links
        partial.replace(path)
    sync_folder(path.parent)


def restore(path: Path, folder: Path, *, store: str = "") -> Saved:
    """Unpack a backup into `folder`, which must be empty or new.

    The store is restored into that folder or, if given, to the address `store`, where there must be no store yet. A
    relative path in that address starts from the folder, as in the settings. A failed restore leaves nothing behind.

    Raises UsageError, OutputError, and BackupError if a file is missing, damaged, larger than recorded or than the
    free space, or would be outside the folder.
    """
    is_new = not folder.exists()
    scratch = folder / SCRATCH
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(_("%(folder)s: is not empty; name a new folder"), folder=folder)
        scratch.mkdir(mode=0o700)  # of two restores at once, the second fails here
    except FileExistsError:
        raise UsageError(
            _("%(folder)s: another backup is being restored there; name a new folder"), folder=folder
        ) from None
    except OSError as error:
        raise OutputError(
            _("%(folder)s: cannot be written to (%(reason)s); name another folder"),
            folder=folder,
            reason=error.strerror or error,
        ) from error
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _manifest(archive, path)
            sums: dict[str, str] = manifest["sha256"]
            _check_space(archive, path, sums, scratch)
            for name, checksum in sums.items():
                _unpack(archive, path, name, checksum, scratch)
        restored = _move_store(path, scratch, store)
        _check_rows(path, manifest, restored.rows)
        _move_out(scratch, folder)
        return Saved(folder, len(sums), restored.rows, unused=restored.unused)
    except BaseException as error:
        _clear(folder, is_new)
        if isinstance(error, _DAMAGED):
            raise BackupError(
                _("%(path)s: is no backup of proof, or is damaged (%(error)s)"), path=path, error=error
            ) from error
        if isinstance(error, OSError):
            raise _file_error(error, path) from error
        raise


def _file_error(error: OSError, path: Path) -> OutputError:
    """The error for a file that cannot be read or written; `path` is named if `error` names none."""
    why = Sentence(_("cannot be read or written (%(reason)s)"), reason=error.strerror or error)
    return OutputError(
        _("%(filename)s: %(why)s; check its name and permissions"), filename=error.filename or path, why=why
    )


def verify(path: Path) -> Saved:
    """Check a backup by restoring it into a temporary folder beside it: the checksums of its files, the integrity of
    its store, the number of rows, and that the journal has all acts. Raises BackupError, UsageError, OutputError."""
    try:
        with tempfile.TemporaryDirectory(dir=path.resolve().parent, prefix=".proof-") as scratch:
            folder = Path(scratch) / "restored"
            saved = restore(path, folder)
            file = _file_inside(_named_store(folder / FILE_NAME), folder) or folder / STORE_NAME
            with Store.open(file, complete=False) as store:
                faults = store.faults()
    except OSError as error:
        raise _file_error(error, path.parent) from error
    if faults:
        raise BackupError(_("%(path)s: its store is damaged: %(faults)s"), path=path, faults="; ".join(faults))
    return replace(saved, path=path)


class _RestoredStore(NamedTuple):
    """The number of rows of a restored store, and the store address in the settings of the backup if it is unused."""

    rows: int
    unused: str


def _move_store(path: Path, scratch: Path, given: str) -> _RestoredStore:
    """Move the store unpacked in `scratch` to the address `given` or, if '', to that in the settings of the backup if
    it is a file inside the project folder; else it stays. Changes the settings accordingly."""
    saved, config = scratch / STORE_NAME, scratch / FILE_NAME
    named = _named_store(config)
    unused = named if given not in ("", named) else ""
    file = _file_inside(given or named, scratch)
    if given:
        _set_address(path, config, given)
    if given and file is None:
        address = replace(Settings(), store=StoreSection(url=given), file=scratch.parent / FILE_NAME).store_address
        with Store.open(saved) as source, Store.open(address) as target:
            rows = copy_store(source, target, cache=True)
        saved.unlink()
        return _RestoredStore(rows, unused)
    if file is not None and file != saved:
        if file.exists():
            raise BackupError(
                _("%(path)s: %(file)s in it names another file as the store; unpack it by hand"),
                path=path,
                file=FILE_NAME,
            )
        file.parent.mkdir(parents=True, exist_ok=True)
        saved.rename(file)
        if (scratch / JOURNAL_NAME).exists():
            (scratch / JOURNAL_NAME).rename(journal_of(file))
        saved = file
    elif named and file is None:
        _set_address(path, config, "")
        unused = named
    with Store.open(saved, complete=False) as store:
        return _RestoredStore(count_rows(store), unused)


def _named_store(config: Path) -> str:
    """The address of the store in these settings, '' for none. The other settings are not read: they may be invalid
    where they were unpacked."""
    section = TomlFile.read(config).values.get("store", {}) if config.exists() else {}
    url = section.get("url", "") if isinstance(section, dict) else ""
    return url if isinstance(url, str) else ""


def _file_inside(url: str, folder: Path) -> Path | None:
    """The file inside `folder` that a relative store address names; None for any other address."""
    sqlite = re.fullmatch(r"sqlite:///(?P<path>[^:?*]+)", url)
    if sqlite is None:
        return None
    path = PurePosixPath(sqlite["path"])
    return None if path.is_absolute() or ".." in path.parts else folder / path


def _set_address(path: Path, config: Path, url: str) -> None:
    """Set the store address in the unpacked settings to `url`, or remove it if ''. The line with a former address
    becomes a comment. Raises BackupError if that line cannot be replaced."""
    text = config.read_text(encoding="utf-8-sig") if config.exists() else ""
    values = tomllib.loads(text)
    section = values.setdefault("store", {})
    lines = text.split("\n")
    url_line = [f"url = {json.dumps(url)}"] if url else []
    if "url" in section:
        index = line_of(text, ("store", "url")) - 1
        lines[index : index + 1] = [f"# {lines[index]}", *url_line]
    elif url_line:
        lines += ["[store]", *url_line]
    section.pop("url", None)
    if url:
        section["url"] = url
    new_text = "\n".join(lines)
    try:
        is_as_intended = {"store": {}} | tomllib.loads(new_text) == values
    except tomllib.TOMLDecodeError:
        is_as_intended = False
    if not is_as_intended:
        raise BackupError(
            _("%(path)s: %(file)s in it names a store in a way that cannot be changed; unpack it by hand"),
            path=path,
            file=FILE_NAME,
        )
    config.write_text(new_text, encoding="utf-8")


def _check_space(archive: zipfile.ZipFile, path: Path, sums: dict[str, str], folder: Path) -> None:
    """Raise BackupError if the disk has no room for the contents of the archive."""
    needed, free = sum(archive.getinfo(name).file_size for name in sums), shutil.disk_usage(folder).free
    if needed > free:
        raise BackupError(
            _("%(path)s: unpacks to %(needed)s bytes, and there is room for %(free)s; make room"),
            path=path,
            needed=f"{needed:,}",
            free=f"{free:,}",
        )


def _check_rows(path: Path, manifest: dict[str, Any], rows: int) -> None:
    """Raise BackupError if the restored store has fewer rows than were saved."""
    if manifest["rows"] > rows:
        raise BackupError(
            _("%(path)s: its store has %(rows)s rows, and %(saved)s were saved"),
            path=path,
            rows=f"{rows:,}",
            saved=f"{manifest['rows']:,}",
        )


def _move_out(scratch: Path, folder: Path) -> None:
    """Move the unpacked files into their folder; the settings last, since with them the folder is a project."""
    for lock in scratch.glob(".*.lock"):
        lock.unlink()
    for path in sorted(scratch.iterdir(), key=lambda path: path.name == FILE_NAME):
        path.rename(folder / path.name)
    sync_folder(folder)
    scratch.rmdir()


def _clear(folder: Path, is_new: bool) -> None:
    """Remove what a failed restore left in a folder, and the folder itself if it is new."""
    shutil.rmtree(folder, ignore_errors=True)
    if not is_new:
        folder.mkdir(parents=True, exist_ok=True)


def _files(named_by: Sequence[Settings], folder: Path, images: bool) -> tuple[list[Path], list[Path]]:
    """The files that the settings name: those inside the project folder, and the paths that are left out."""
    files = dict.fromkeys(path for settings in named_by for path in _named(settings, images) if path.exists())
    inside = [path for path in files if path.is_relative_to(folder) and path.is_file()]
    return inside, [path for path in files if path not in inside]


def _named(settings: Settings, images: bool) -> Iterator[Path]:
    """The files that the settings name, and the files in folders that they name, without the output folder. A
    repository is given as its folder."""
    if settings.file:
        yield settings.file
    with suppress(ConfigError):  # a missing text must not prevent the backup
        for text in settings.text_files():
            yield text
            yield from (text.parent / "imglist").glob("*.txt")
    with suppress(ConfigError):
        for source in settings.witness_sources():
            yield from [source.path] if source.revision else _under(source.path, "*.txt")
    for image_path in settings.project.images if images else ():
        yield from (file for file in _under(image_path, "**/*") if file.suffix.lower() in BOUND_OR_SINGLE)
    for setting in SETTINGS.values():
        value = settings[setting.name]
        names_path = setting.kind in (ValueKind.PATH, ValueKind.PATH_OR_NAME) and setting.name != "project.out"
        if names_path and value and Path(value).is_absolute():  # a relative one is the name of something installed
            yield from _under(Path(value), "**/*")


def _under(path: Path, pattern: str) -> list[Path]:
    """A file itself, or the files of a folder that match `pattern`, without the store, its journal and their temporary
    files."""
    if path.is_file():
        return [path]
    stem = f"{Path(STORE_NAME).stem}."
    files = (file for file in sorted(path.glob(pattern)) if file.is_file())
    return [file for file in files if not file.name.startswith((stem, f".{stem}"))]


@contextmanager
def _new_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """A new zip archive that only its owner may read; at the end it is closed and synced to the disk."""
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:  # noqa: PTH123 - Path.open takes no mode
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=5) as archive:
            yield archive
        sync_file(file)


def _add(archive: zipfile.ZipFile, file: Path, name: str) -> str:
    """Add a file to an archive under `name`; returns its SHA-256."""
    digest = hashlib.sha256()
    info = zipfile.ZipInfo.from_file(file, name, strict_timestamps=False)
    info.compress_type = zipfile.ZIP_STORED if file.suffix.lower() in BOUND_OR_SINGLE else zipfile.ZIP_DEFLATED
    with file.open("rb") as source, archive.open(info, "w", force_zip64=True) as target:
        for part in _parts(source):
            digest.update(part)
            target.write(part)
    return digest.hexdigest()


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: file.read(CHUNK_BYTES), b"")


def _manifest(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    """The manifest of a backup. Raises BackupError."""
    try:
        if archive.getinfo(MANIFEST).file_size > MAX_MANIFEST_BYTES:
            raise BackupError(_("%(path)s: is no backup of proof: its list of files is too long"), path=path)
        manifest = json.loads(archive.read(MANIFEST))
        form, sums = manifest["format"], manifest["sha256"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BackupError(
            _("%(path)s: is no backup of proof: name a file that `proof backup` made"), path=path
        ) from error
    if form != FORMAT:
        raise BackupError(
            _("%(path)s: was made by proof %(version)s; update proof"), path=path, version=manifest.get("version", "")
        )
    if not isinstance(sums, dict) or STORE_NAME not in sums or not isinstance(manifest.get("rows"), int):
        raise BackupError(_("%(path)s: is no backup of proof: it holds no store"), path=path)
    return dict(manifest)


def _unpack(archive: zipfile.ZipFile, path: Path, name: str, checksum: str, folder: Path) -> None:
    """Unpack a file of a backup into `folder`. Raises BackupError if it would be outside the folder or has another
    SHA-256 than `checksum`, BadZipFile if it is larger than recorded."""
    parts = PurePosixPath(name).parts
    leaves_folder = not parts or PurePosixPath(name).is_absolute() or ".." in parts
    if leaves_folder or "\\" in name or ":" in parts[0]:  # Windows paths would leave it too
        raise BackupError(
            _("%(path)s: names %(name)s, a file outside the project's folder; do not trust it"),
            path=path,
            name=repr(name),
        )
    target = folder.joinpath(*parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with archive.open(name) as source, target.open("xb") as file:
        for part in _parts(source):
            digest.update(part)
            file.write(part)
        sync_file(file)
    if name in (STORE_NAME, JOURNAL_NAME):
        target.chmod(0o600)
    if digest.hexdigest() != checksum:
        raise BackupError(
            _("%(path)s: %(name)s is damaged: its checksum is not the one it was saved with"), path=path, name=name
        )


def next_file(folder: Path, project: str) -> Path:
    """The path of a backup made now in `folder`, which is created if missing. Raises OutputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            _("%(folder)s: cannot be made (%(reason)s); name a folder for the backups"),
            folder=folder,
            reason=error.strerror,
        ) from error
    return folder / f"{project}-{datetime.now(UTC).strftime(_TIME)}.zip"


def remove_older(folder: Path, project: str, keep: int) -> list[Path]:
    """Remove all backups of the project in the folder except the last `keep`; returns those removed. Only files named
    as by `next_file` are removed. Raises OutputError."""
    name_pattern = re.compile(rf"{re.escape(project)}-{_TIME_PATTERN}\.zip")
    series = sorted(path for path in folder.iterdir() if name_pattern.fullmatch(path.name))
    older = series[: max(len(series) - keep, 0)]
    for path in older:
        try:
            path.unlink()
        except OSError as error:
            raise OutputError(
                _("%(path)s: cannot be removed (%(reason)s)"), path=path, reason=error.strerror
            ) from error
    return older
