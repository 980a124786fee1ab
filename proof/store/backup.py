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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any

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
_MADE_AT = r"\d{8}T\d{6}Z"
"""In the names of backups that a timer makes: one folder, a file for each time, the last few kept."""

MANIFEST = "proof-backup.json"
JOURNAL_NAME = journal_of(Path(STORE_NAME)).name
SCRATCH = ".proof-restoring"
FORMAT = 1
MAX_MANIFEST_BYTES = 1 << 26
CHUNK_BYTES = 1 << 20

_DAMAGED = (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error)
"""What a damaged archive, or a file that is none, makes zipfile and json raise."""


class BackupError(ProofError):
    """A file that is no backup, or a damaged one."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The result of a backup or a restore: the number of its files, and of the rows of its store. `left_out` are paths
    of the settings outside the project's folder, and repositories; `unused` is the address of a store that the settings
    in the backup name, and to which nothing was written."""

    path: Path
    files: int
    rows: int
    left_out: tuple[Path, ...] = ()
    unused: str = ""


def backup(settings: Settings, path: Path, *, images: bool = True, cache: bool = False) -> Saved:
    """Save the project of `settings`, as of this moment, into the file `path`; others may work on it meanwhile. `cache`
    includes the cache, such as readings of its images.

    Raises UsageError where there is no project folder or the file exists, OutputError where it cannot be written.
    """
    folder = settings.folder
    if folder is None:
        raise UsageError(_("a project is a folder with %(file)s: run in it, or name it with --config"), file=FILE_NAME)
    if path.exists():
        raise UsageError(_("%(path)s: is there already; name another file"), path=path)
    held: dict[str, Path] = {}
    try:
        inside, outside = _files(settings, folder, images)
        held |= {file.relative_to(folder).as_posix(): file for file in inside}
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".proof-") as scratch:
            copy, partial = Path(scratch) / STORE_NAME, Path(scratch) / "backup.zip"
            held[STORE_NAME] = copy
            with Store.open(settings.store_address, folder=folder) as source:
                rows = _copied(source, copy, cache=cache)
                if source.journal:
                    with source.journal.turn():  # so that nobody is still writing down what the copy holds
                        held |= {JOURNAL_NAME: source.journal.path} if source.journal.path.exists() else {}
            with _written(partial) as archive:
                sums = {name: _add(archive, file, name) for name, file in held.items()}
                manifest = {"format": FORMAT, "version": proof.__version__, "store": settings.store.url}
                more = {"rows": rows, "sha256": sums}
                archive.writestr(MANIFEST, json.dumps(manifest | more, ensure_ascii=False, indent=1))
            _publish(partial, path)
    except OSError as error:
        of_project = [file for file in held.values() if str(file) == error.filename]
        message = _("%(path)s: cannot be written (%(reason)s); name a file in a folder that is there")
        if of_project:
            message = _("%(path)s: cannot be read (%(reason)s); allow reading it, or move it away")
        raise OutputError(message, path=(*of_project, path)[0], reason=error.strerror or error) from error
    return Saved(path, len(sums), rows, tuple(outside))


def _copied(source: Store, copy: Path, *, cache: bool) -> int:
    """Copy the store, as of this moment, into a new file; gives the number of rows. A file is copied as such, a store
    on a server by rows."""
    file = file_of(source.engine.url)
    if file is not None:
        return copy_file(file, copy, cache=cache)
    with Store.open(copy) as target:
        return copy_store(source, target, cache=cache)


def _publish(partial: Path, path: Path) -> None:
    """Give a complete file its name, which must be free. Raises UsageError, OSError."""
    try:
        os.link(partial, path)
    except FileExistsError:
        raise UsageError(_("%(path)s: is there already; name another file"), path=path) from None
    except OSError:  # a file system without links
        partial.replace(path)
    sync_folder(path.parent)


def restore(path: Path, folder: Path, *, store: str = "") -> Saved:
    """Unpack a backup into `folder`, which must be empty or new.

    The store goes into that folder, or to the address `store`, which must be empty; the path of a file in that address
    is relative to the folder, as in the settings. A failed restore leaves nothing behind: where a file is missing,
    damaged, larger than recorded or than the free space, or would lie outside the folder. Raises BackupError,
    UsageError, OutputError.
    """
    made = not folder.exists()
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
            _must_fit(archive, path, sums, scratch)
            for name, wanted in sums.items():
                _unpack(archive, path, name, wanted, scratch)
        rows, unused = _into_place(path, scratch, store)
        _must_have(path, manifest, rows)
        _move_out(scratch, folder)
        return Saved(folder, len(sums), rows, unused=unused)
    except BaseException as error:
        _clear(folder, made)
        if isinstance(error, _DAMAGED):
            raise BackupError(
                _("%(path)s: is no backup of proof, or is damaged (%(error)s)"), path=path, error=error
            ) from error
        if isinstance(error, OSError):
            raise _unusable(error, path) from error
        raise


def _unusable(error: OSError, path: Path) -> OutputError:
    why = Sentence(_("cannot be read or written (%(reason)s)"), reason=error.strerror or error)
    return OutputError(
        _("%(filename)s: %(why)s; check its name and permissions"), filename=error.filename or path, why=why
    )


def verify(path: Path) -> Saved:
    """Restore a backup into a temporary folder beside it, and see that all is there: every file by its checksum, the
    store sound, with as many rows as were saved and all that people did in the journal too. Raises BackupError,
    UsageError, OutputError."""
    try:
        with tempfile.TemporaryDirectory(dir=path.resolve().parent, prefix=".proof-") as scratch:
            folder = Path(scratch) / "restored"
            saved = restore(path, folder)
            file = _file_inside(_named_store(folder / FILE_NAME), folder) or folder / STORE_NAME
            with Store.open(file, complete=False) as store:
                faults = store.faults()
    except OSError as error:
        raise _unusable(error, path.parent) from error
    if faults:
        raise BackupError(_("%(path)s: its store is damaged: %(faults)s"), path=path, faults="; ".join(faults))
    return replace(saved, path=path)


def _into_place(path: Path, scratch: Path, given: str) -> tuple[int, str]:
    """Move the unpacked store to its place; gives its rows, and an address in the settings of the backup that is not
    used."""
    saved, config = scratch / STORE_NAME, scratch / FILE_NAME
    named = _named_store(config)
    unused = named if given not in ("", named) else ""
    file = _file_inside(given or named, scratch)
    if given:
        _say_address(path, config, given)
    if given and file is None:
        address = replace(Settings(), store=StoreSection(url=given), file=scratch.parent / FILE_NAME).store_address
        with Store.open(saved) as source, Store.open(address) as target:
            rows = copy_store(source, target, cache=True)
        saved.unlink()
        return rows, unused
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
        _say_address(path, config, "")
        unused = named
    with Store.open(saved, complete=False) as source:
        return count_rows(source), unused


def _named_store(config: Path) -> str:
    """The address of the store in these settings, '' for none. Only this one is read: others may be invalid where they
    were unpacked."""
    section = TomlFile.read(config).values.get("store", {}) if config.exists() else {}
    url = section.get("url", "") if isinstance(section, dict) else ""
    return url if isinstance(url, str) else ""


def _file_inside(url: str, folder: Path) -> Path | None:
    """The file inside `folder` that a relative address of a store means; None for any other address."""
    sqlite = re.fullmatch(r"sqlite:///(?P<path>[^:?*]+)", url)
    if sqlite is None or PurePosixPath(sqlite["path"]).is_absolute() or ".." in PurePosixPath(sqlite["path"]).parts:
        return None
    return folder / sqlite["path"]


def _say_address(path: Path, config: Path, url: str) -> None:
    """Have the unpacked settings name the store at `url`, or none; the line that named another stays as a comment.
    Raises BackupError where that line cannot be found."""
    text = config.read_text(encoding="utf-8-sig") if config.exists() else ""
    values = tomllib.loads(text)
    section = values.setdefault("store", {})
    lines = text.split("\n")
    address = [f"url = {json.dumps(url)}"] if url else []
    if "url" in section:
        at = line_of(text, ("store", "url")) - 1
        lines[at : at + 1] = [f"# {lines[at]}", *address]
    elif address:
        lines += ["[store]", *address]
    section.pop("url", None)
    section |= {"url": url} if url else {}
    written = "\n".join(lines)
    try:
        understood = {"store": {}} | tomllib.loads(written) == values
    except tomllib.TOMLDecodeError:
        understood = False
    if not understood:
        raise BackupError(
            _("%(path)s: %(file)s in it names a store in a way that cannot be changed; unpack it by hand"),
            path=path,
            file=FILE_NAME,
        )
    config.write_text(written, encoding="utf-8")


def _must_fit(archive: zipfile.ZipFile, path: Path, sums: dict[str, str], folder: Path) -> None:
    """Raises BackupError where the disk has no room for the contents of the archive."""
    needed, free = sum(archive.getinfo(name).file_size for name in sums), shutil.disk_usage(folder).free
    if needed > free:
        raise BackupError(
            _("%(path)s: unpacks to %(needed)s bytes, and there is room for %(free)s; make room"),
            path=path,
            needed=f"{needed:,}",
            free=f"{free:,}",
        )


def _must_have(path: Path, manifest: dict[str, Any], rows: int) -> None:
    if manifest.get("rows", rows) > rows:
        raise BackupError(
            _("%(path)s: its store has %(rows)s rows, and %(saved)s were saved"),
            path=path,
            rows=f"{rows:,}",
            saved=f"{manifest['rows']:,}",
        )


def _move_out(scratch: Path, folder: Path) -> None:
    """Move the unpacked files into their folder, the settings last: they make it a project."""
    for file in scratch.glob(".*.lock"):
        file.unlink()
    for each in sorted(scratch.iterdir(), key=lambda path: path.name == FILE_NAME):
        each.rename(folder / each.name)
    sync_folder(folder)
    scratch.rmdir()


def _clear(folder: Path, made: bool) -> None:
    """Leave a folder that was empty, or was not there, as it was."""
    shutil.rmtree(folder, ignore_errors=True)
    if not made:
        folder.mkdir(parents=True, exist_ok=True)


def _files(settings: Settings, folder: Path, images: bool) -> tuple[list[Path], list[Path]]:
    """The files that the settings name: those inside the project's folder, and those left out."""
    files = dict.fromkeys(path for path in _named(settings, images) if path.exists())
    inside = [path for path in files if path.is_relative_to(folder) and path.is_file()]
    return inside, [path for path in files if path not in inside]


def _named(settings: Settings, images: bool) -> Iterator[Path]:
    """The files that the settings name, and those in the folders that they name; a repository as its folder. The output
    folder is not among them."""
    if settings.file:
        yield settings.file
    with suppress(ConfigError):  # a text that is gone is no reason to save nothing
        for text in settings.text_files():
            yield text
            yield from (text.parent / "imglist").glob("*.txt")
    with suppress(ConfigError):
        for source in settings.witness_sources():
            yield from [source.path] if source.revision else _under(source.path, "*.txt")
    for each in settings.project.images if images else ():
        yield from (file for file in _under(each, "**/*") if file.suffix.lower() in BOUND_OR_SINGLE)
    for setting in SETTINGS.values():
        value = settings[setting.name]
        of_path = setting.kind in (ValueKind.PATH, ValueKind.PATH_OR_NAME) and setting.name != "project.out"
        if of_path and value and Path(value).is_absolute():  # what is not is the name of something installed
            yield from _under(Path(value), "**/*")


def _under(path: Path, pattern: str) -> list[Path]:
    """The file itself, or the files of a folder, without the store, its journal and their temporary files."""
    if path.is_file():
        return [path]
    stem = f"{Path(STORE_NAME).stem}."
    files = (file for file in sorted(path.glob(pattern)) if file.is_file())
    return [file for file in files if not file.name.startswith((stem, f".{stem}"))]


@contextmanager
def _written(path: Path) -> Iterator[zipfile.ZipFile]:
    """A new zip archive, readable by its owner alone, synced to the disk when it is closed."""
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:  # noqa: PTH123 - a mode
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=5) as archive:
            yield archive
        sync_file(file)


def _add(archive: zipfile.ZipFile, file: Path, name: str) -> str:
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
    if not isinstance(sums, dict) or STORE_NAME not in sums or not isinstance(manifest.get("rows", 0), int):
        raise BackupError(_("%(path)s: is no backup of proof: it holds no store"), path=path)
    return dict(manifest)


def _unpack(archive: zipfile.ZipFile, path: Path, name: str, wanted: str, folder: Path) -> None:
    parts = PurePosixPath(name).parts
    if not parts or PurePosixPath(name).is_absolute() or ".." in parts or "\\" in name or ":" in parts[0]:
        raise BackupError(
            _("%(path)s: names %(name)s, a file outside the project's folder; do not trust it"),
            path=path,
            name=repr(name),
        )
    target = folder.joinpath(*parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, room = hashlib.sha256(), archive.getinfo(name).file_size
    with archive.open(name) as source, target.open("xb") as file:
        for part in _parts(source):
            room -= len(part)
            if room < 0:
                raise BackupError(
                    _("%(path)s: %(name)s unpacks to more than it says; do not trust it"), path=path, name=name
                )
            digest.update(part)
            file.write(part)
        sync_file(file)
    if name in (STORE_NAME, JOURNAL_NAME):
        target.chmod(0o600)
    if digest.hexdigest() != wanted:
        raise BackupError(
            _("%(path)s: %(name)s is damaged: its checksum is not the one it was saved with"), path=path, name=name
        )


def next_file(folder: Path, project: str) -> Path:
    """The path of a backup that is made now, in `folder`, which is made where it is missing. Raises OutputError."""
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
    """Remove all backups of the project in the folder but the last `keep`; gives those removed. Files that are not
    named as `next_file` names them stay. Raises OutputError."""
    called = re.compile(rf"{re.escape(project)}-{_MADE_AT}\.zip")
    series = sorted(path for path in folder.iterdir() if called.fullmatch(path.name))
    older = series[: max(len(series) - keep, 0)]
    for path in older:
        try:
            path.unlink()
        except OSError as error:
            raise OutputError(
                _("%(path)s: cannot be removed (%(reason)s)"), path=path, reason=error.strerror
            ) from error
    return older
