"""`config.toml` as typed settings: each one declared once, with its default, its limits and its help.

The checks of `config.toml`, the defaults and help of the command line (`SETTINGS`), the table in the documentation
(`settings_table`) and the messages to translate are made from these declarations.
"""
# ruff: noqa: RUF009 - `_setting` makes a dataclass field

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from proof.errors import AT, ConfigError, UsageError, reason_of
from proof.images.formats import DEFAULT_MAX_MEGAPIXELS, PILLOW_MEGAPIXELS
from proof.locale.marking import LINES, OR, Sentence, _, joined
from proof.settings.setting import Setting, ValueKind, WrongSetting, nearest, path_flaw, shown
from proof.settings.setting import setting_field as _setting
from proof.settings.toml_file import TomlFile
from proof.text.witness_source import WitnessSource

FILE_NAME = "config.toml"
STORE_NAME = "proof.sqlite"
"""Name of the SQLite file of a store; the journal of a store on a database server is named after it, too."""

_IN_MEMORY = re.compile(r"sqlite(?:\+\w+)?:(?:///?|.*(?::memory:|mode=memory).*)")
_SQLITE_FILE = re.compile(r"(?P<scheme>sqlite(?:\+\w+)?:///)(?P<path>(?!/|:memory:|file:|[A-Za-z]:)[^?]+)(?P<rest>.*)")


@dataclass(frozen=True, slots=True)
class ProjectSection:
    title: str = _setting(ValueKind.TEXT, "", "title of the project, as reports show it")
    texts: tuple[Path, ...] = _setting(
        ValueKind.PATHS, (), "transcriptions; `*` stands for any name, `**` for any folders, in the order given"
    )
    images: tuple[Path, ...] = _setting(
        ValueKind.PATHS, (), "folders with page images, subfolders included; the first that has an image wins"
    )
    imglist: Path | None = _setting(
        ValueKind.PATH, None, "image list, or a folder of them; empty: `imglist/` beside a text"
    )
    witnesses: tuple[WitnessSource, ...] = _setting(
        ValueKind.WITNESSES,
        (),
        "other witnesses of the texts, in any format; their readings adjust the score of each flag; a file, a folder "
        "of juan or `REPOSITORY@BRANCH`, each with a siglum (`SBCK=juan/*.txt`) or without",
    )
    out: Path = _setting(ValueKind.PATH, Path("out"), "folder that reports and flags are written to")


@dataclass(frozen=True, slots=True)
class PageSection:
    columns: int = _setting(
        ValueKind.WHOLE, 8, "ruled columns of a half-folio; 0: counted on each page", low=0, high=60, results=True
    )
    column_length: int = _setting(ValueKind.WHOLE, 21, "characters of a full column", low=1, high=100, results=True)
    script: str = _setting(
        ValueKind.TEXT,
        "auto",
        "script of the transcription; `auto` tells it from the text",
        choices=("auto", "traditional", "simplified"),
        results=True,
    )


@dataclass(frozen=True, slots=True)
class EngineSection:
    name: str = _setting(
        ValueKind.TEXT,
        "ppocr",
        "recogniser that reads the columns",
        choices=("ppocr", "paddleocr", "readings", "null"),
        installed="hanproof.engines",
        results=True,
    )
    model: str = _setting(ValueKind.PATH_OR_NAME, "", "model of the recogniser; empty: the packaged one")
    second: str = _setting(
        ValueKind.TEXT,
        "none",
        "second recogniser, which reads the pages with flags; what it reads is shown beside each flag and changes no "
        "score",
        choices=("none", "ppocr", "paddleocr", "readings"),
        installed="hanproof.engines",
    )
    second_model: str = _setting(ValueKind.PATH_OR_NAME, "", "model of the second recogniser; empty: the packaged one")
    detection_model: str = _setting(
        ValueKind.PATH_OR_NAME, "", "model that finds lines on pages without ruled columns; empty: the packaged one"
    )
    runtime: str = _setting(
        ValueKind.TEXT,
        "auto",
        "runtime of ppocr; `auto`: onnxruntime, or OpenVINO if `hanproof[openvino]` is installed and the "
        "processor has bfloat16",
        choices=("auto", "onnxruntime", "openvino"),
    )
    device: str = _setting(ValueKind.TEXT, "cpu", "where recognisers compute: `cpu`, `gpu` or `gpu:1`", results=True)
    threads: int = _setting(ValueKind.WHOLE, 1, "threads of one reading; 0: one a core", low=0, high=1024)
    workers: int = _setting(ValueKind.WHOLE, 2, "pages that are read at the same time; 0: one a core", low=0, high=1024)
    font: Path | None = _setting(
        ValueKind.PATH,
        None,
        "font file for drawing characters that the recogniser was not trained on, beside the fonts of the program",
        must_exist=True,
        results=True,
    )
    recording: Path | None = _setting(
        ValueKind.PATH,
        None,
        "readings for the engine `readings` (PAGE XML, ALTO or hOCR: a file, or a folder of them)",
        must_exist=True,
        or_folder=True,
    )


@dataclass(frozen=True, slots=True)
class FlagsSection:
    threshold: float = _setting(
        ValueKind.NUMBER, 3.0, "score from which a flag is shown to the proofreader", low=-1000, high=1000
    )
    show_variants: bool = _setting(
        ValueKind.SWITCH, False, "whether other forms of the same word (畧 for 略) are shown too"
    )
    language_model: bool = _setting(
        ValueKind.SWITCH,
        True,
        "whether the language model is used: together with the image, and alone where the image is missing or "
        "cannot decide (己已巳)",
        results=True,
    )


@dataclass(frozen=True, slots=True)
class LanguageSection:
    model: Path | None = _setting(
        ValueKind.PATH,
        None,
        "language model, made by `proof learn`; empty: the packaged one",
        must_exist=True,
        results=True,
    )


@dataclass(frozen=True, slots=True)
class VariantsSection:
    file: Path | None = _setting(
        ValueKind.PATH,
        None,
        "the project's own pairs of variants, which overrule all others",
        must_exist=True,
        results=True,
    )


@dataclass(frozen=True, slots=True)
class ImagesSection:
    max_megapixels: float = _setting(
        ValueKind.NUMBER,
        DEFAULT_MAX_MEGAPIXELS,
        "images larger than this are refused unopened",
        low=0.1,
        high=PILLOW_MEGAPIXELS,
    )


@dataclass(frozen=True, slots=True)
class StoreSection:
    url: str = _setting(
        ValueKind.TEXT,
        "",
        "database of the project, such as `sqlite:///other.sqlite`; empty: `proof.sqlite` beside this file",
    )
    cache: int = _setting(
        ValueKind.WHOLE,
        2000,
        "megabytes of readings that are cached in the store, so that little is read again after a change of text "
        "or settings; about 15 KB a half-folio",
        low=0,
        high=1_000_000,
    )


@dataclass(frozen=True, slots=True)
class ClusterSection:
    address: str = _setting(
        ValueKind.TEXT,
        "",
        "scheduler of a Dask cluster whose workers check the pages, such as `tcp://scheduler:8786`; empty: this "
        "machine checks them",
    )
    images: str = _setting(
        ValueKind.TEXT,
        "",
        "where the workers find the contents of `project.images`: a folder, or an address that they fetch it "
        "from (`s3://`, `https://`, `http://`, `file://`), one for each of those folders with spaces between;"
        " empty: at the same paths as here",
    )


@dataclass(frozen=True, slots=True)
class LibrarySection:
    first: str = _setting(
        ValueKind.TEXT,
        "",
        "folders of a library whose works are checked before the others, with spaces between, in this order; `*` "
        "stands for anything (`KR1d* KR3*`)",
    )


@dataclass(frozen=True, slots=True)
class ServeSection:
    font: Path | None = _setting(
        ValueKind.PATH,
        None,
        "font for rare characters, sent to browsers that have none (TTF, OTF, WOFF2)",
        must_exist=True,
    )
    auth: bool = _setting(ValueKind.SWITCH, False, "whether people log in with accounts (`proof user add`)")
    blind: bool = _setting(
        ValueKind.SWITCH,
        False,
        "whether people with accounts see no decisions of each other; an administrator settles where two differ",
    )
    reports: int = _setting(
        ValueKind.WHOLE,
        0,
        "errors that readers without an account may report in an hour from one address, on pages at `/read`; 0: off",
        low=0,
        high=1000,
    )
    names: str = _setting(
        ValueKind.TEXT,
        "",
        "host names under which browsers reach the server, beside loopback, separated by spaces; empty: the "
        "address where it listens",
    )
    https: bool = _setting(
        ValueKind.SWITCH,
        False,
        "whether browsers reach the server by https, through a proxy; cookies are then sent by https only",
    )
    proxy: str = _setting(
        ValueKind.TEXT, "", "address of the reverse proxy, whose forwarding headers are trusted; empty: there is none"
    )
    idle_minutes: int = _setting(
        ValueKind.WHOLE, 120, "minutes without a request after which a person logs in again", low=1, high=10_080
    )
    session_hours: int = _setting(
        ValueKind.WHOLE, 24, "hours after which a person logs in again in any case", low=1, high=8760
    )
    attempts: int = _setting(
        ValueKind.WHOLE,
        10,
        "wrong passwords in a quarter of an hour before an account must wait; five times as many from one address",
        low=1,
        high=1000,
    )


@dataclass(frozen=True, slots=True)
class AuditSection:
    rate: float = _setting(
        ValueKind.NUMBER,
        0.0,
        "number of samples in 10,000 characters that are not flagged; proofreaders are shown them among the "
        "flags, and from their decisions the report estimates the missed errors",
        low=0,
        high=10_000,
    )
    planted_rate: float = _setting(
        ValueKind.NUMBER,
        0.0,
        "number of planted errors in 10,000 characters that are not flagged; the desk shows a wrong character "
        "there, and the report says how many of them each person found; they have no other effect",
        low=0,
        high=1000,
    )


@dataclass(frozen=True, slots=True)
class ReportSection:
    lang: str = _setting(ValueKind.TEXT, "en", "language of the report", choices=("en", "zh-Hant", "zh-Hans"))


@dataclass(frozen=True, slots=True)
class RenderSection:
    font: str = _setting(ValueKind.PATH_OR_NAME, "", "regular-script font; empty: the best one on this machine")
    seed: int = _setting(
        ValueKind.WHOLE, 1, "seed of the wear: the same seed draws the same page", low=0, high=2**32 - 1
    )
    wear: str = _setting(
        ValueKind.TEXT, "light", "wear of the drawn page", choices=("none", "light", "moderate", "heavy")
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, one attribute for each section. `file` is the `config.toml` of their project, which may not exist
    yet; None for settings without a project. Paths in `config.toml` are resolved against its folder."""

    project: ProjectSection = ProjectSection()
    page: PageSection = PageSection()
    engine: EngineSection = EngineSection()
    flags: FlagsSection = FlagsSection()
    language: LanguageSection = LanguageSection()
    variants: VariantsSection = VariantsSection()
    images: ImagesSection = ImagesSection()
    store: StoreSection = StoreSection()
    cluster: ClusterSection = ClusterSection()
    library: LibrarySection = LibrarySection()
    serve: ServeSection = ServeSection()
    audit: AuditSection = AuditSection()
    report: ReportSection = ReportSection()
    render: RenderSection = RenderSection()
    file: Path | None = None

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read `config.toml` (or the one in the folder `path`).

        Raises ConfigError, with a line for each error: file, line, error, and the nearest valid name.
        """
        path = Path(path)
        toml = TomlFile.read(path / FILE_NAME if path.is_dir() else path)
        base = toml.path.absolute().parent
        values = _defaults(base)
        problems: list[Sentence] = []
        for keys, given in _statements(toml.values):
            try:
                setting = _known(keys, given)
                values[setting.name] = setting.value(given, base)
            except WrongSetting as error:
                problems.append(Sentence(AT, where=toml.where(keys), what=error))
        if problems:
            raise ConfigError(joined(problems, LINES))
        return cls(file=toml.path.absolute())._with(values)

    @classmethod
    def of_folder(cls, folder: Path | str) -> Self:
        """The settings of a project in `folder`: those of its `config.toml`, or the defaults if it has none yet. Raises
        ConfigError as `load` does."""
        file = Path(folder).absolute() / FILE_NAME
        if file.exists():
            return cls.load(file)
        return cls(file=file)._with(_defaults(file.parent))

    def replace(self, values: Mapping[str, Any]) -> Self:
        """The settings with these values, such as those of a command line: `{"page.columns": 9}`.

        None leaves a setting unchanged; text is parsed according to the kind of the setting; relative paths, including
        that of a store, are relative to the working folder. Raises UsageError.
        """
        changed: dict[str, Any] = {}
        for name, given in values.items():
            if given is None:
                continue
            try:
                setting = _known(tuple(name.split(".", 1)), given)
                value = setting.from_text(given) if isinstance(given, str) else given
                changed[name] = setting.value(value, Path.cwd())
                if name == "store.url":
                    changed[name] = _absolute_url(changed[name], Path.cwd())
            except WrongSetting as error:
                raise UsageError(error.sentence) from None
        return self._with(changed)

    @property
    def folder(self) -> Path | None:
        """The project folder, which has the `config.toml`; None without a project."""
        return self.file.parent if self.file else None

    @property
    def base(self) -> Path:
        """The folder of the files that the program keeps: the project folder, or `out` without a project."""
        return self.folder or self.project.out

    @property
    def store_address(self) -> str | Path:
        """The address of the store: the URL in the settings, or else the path of a file in `base`. Raises ConfigError
        for a store in memory, which would end with the command."""
        if _IN_MEMORY.fullmatch(self.store.url):
            where = self._where("store", "url")
            raise ConfigError(
                _("%(where)sstore.url: %(url)s is lost when the command ends: name a file, as sqlite:///proof.sqlite"),
                where=where,
                url=self.store.url,
            )
        return _absolute_url(self.store.url, self.base) or self.base / STORE_NAME

    @property
    def workers(self) -> int:
        """The number of pages to read at the same time, at least one."""
        return self.engine.workers or os.cpu_count() or 1

    def text_files(self) -> tuple[Path, ...]:
        """The transcriptions that `project.texts` names, each once. Raises ConfigError if one does not exist."""
        return self._files("texts", self.project.texts)

    def text_at(self, checked: Path) -> Path:
        """The present path of the text that was checked at `checked`.

        In a moved, restored or copied project this is the project's only text of the same file name, provided that
        the old file is gone or has the same content; otherwise `checked`. Raises ConfigError as `text_files` does.
        """
        if checked.is_file() and self.folder and checked.is_relative_to(self.folder):
            return checked
        same_name = [file for file in self.text_files() if file.name == checked.name and file != checked]
        if len(same_name) != 1 or (checked.is_file() and checked.read_bytes() != same_name[0].read_bytes()):
            return checked
        return same_name[0]

    def witness_sources(self) -> tuple[WitnessSource, ...]:
        """The witnesses that `project.witnesses` names, each once; a pattern is replaced by its files. Raises
        ConfigError if one does not exist."""
        sources: dict[WitnessSource, None] = {}
        for source in self.project.witnesses:
            if source.revision or source.path.is_dir():
                sources[source] = None
                continue
            files = self._files("witnesses", (source.path,))
            sources.update((replace(source, path=file), None) for file in files)
        return tuple(sources)

    def witness_names(self) -> dict[str, str]:
        """The full names of the witnesses, by siglum; empty for a witness without a name."""
        names: dict[str, str] = {}
        for source in self.project.witnesses:
            if source.siglum:
                names[source.siglum] = source.name or names.get(source.siglum, "")
        return names

    def _files(self, key: str, paths: tuple[Path, ...]) -> tuple[Path, ...]:
        """The files of the paths and patterns in the setting `project.{key}`. Raises ConfigError."""
        all_files: dict[Path, None] = {}
        for path in paths:
            files = [path] if path.is_file() else self._matching(path)
            if not files:
                raise ConfigError(
                    "%(where)s%(path)s: %(what)s", where=self._named_where(key, path), path=path, what=_no_file(path)
                )
            for file in files:
                if flaw := path_flaw(file):
                    raise ConfigError(
                        "%(where)s%(file)s %(flaw)s", where=self._named_where(key, path), file=shown(file), flaw=flaw
                    )
            all_files.update(dict.fromkeys(files))
        return tuple(all_files)

    def fingerprint(self) -> str:
        """A hash of the settings on which the results of a page depend.

        Paths, threads, the presentation of results and the threshold of flags are not part of it. The files of
        variants, language model and font count by their content. The model of the recogniser is part of the engine's
        identity instead. Raises ConfigError if a file cannot be read.
        """
        values = {name: self[name] for name, setting in SETTINGS.items() if setting.results}
        for name in ("variants.file", "language.model", "engine.font"):
            file: Path | None = self[name]
            try:
                values[name] = hashlib.sha256(file.read_bytes()).hexdigest() if file else ""
            except OSError as error:
                where = self._where(*name.split("."))
                raise ConfigError(
                    _("%(where)s%(name)s: %(file)s cannot be read (%(reason)s)"),
                    where=where,
                    name=name,
                    file=file,
                    reason=reason_of(error),
                ) from error
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()

    def __getitem__(self, name: str) -> Any:
        """The value of a setting, such as `page.columns`."""
        setting = SETTINGS[name]
        return getattr(getattr(self, setting.section), setting.key)

    def _with(self, values: Mapping[str, Any]) -> Self:
        sections: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            sections.setdefault(SETTINGS[name].section, {})[SETTINGS[name].key] = value
        return replace(self, **{name: replace(getattr(self, name), **keys) for name, keys in sections.items()})

    def _matching(self, pattern: Path) -> list[Path]:
        """The files that match a pattern; brackets in the name of the project folder are not part of the pattern."""
        base = self.folder if self.folder and pattern.is_relative_to(self.folder) else Path(pattern.anchor)
        matches = base.glob(str(pattern.relative_to(base)))
        return sorted(path for path in matches if path.is_file() and not path.name.startswith("."))

    def _named_where(self, key: str, path: Path) -> str:
        """The place at which the settings file names a text or a witness, such as `config.toml:3: project.texts: `; ''
        for one from the command line."""
        with suppress(ConfigError):
            if self.file and path in map(_path_of, Settings.load(self.file)[f"project.{key}"]):
                return f"{self._where('project', key)}project.{key}: "
        return ""

    def _where(self, *keys: str) -> str:
        """The place of a setting, such as `config.toml:3: `, to begin a message about a value that is found wrong only
        when it is used; '' without a file."""
        if self.file is None or not self.file.exists():
            return ""
        try:
            return f"{TomlFile.read(self.file).where(keys)}: "
        except ConfigError:  # changed since it was read
            return f"{self.file}: "


def _path_of(named: Path | WitnessSource) -> Path:
    return named if isinstance(named, Path) else named.path


def _no_file(path: Path) -> str:
    """Why a path or pattern names no file, and what to do."""
    if path.is_dir():
        return Sentence(_("a folder; name its files, such as %(path)s/*.txt"), path=path)
    if path.is_symlink():
        return Sentence(_("a link that leads to no file; mend or delete it"))
    if any(mark in path.name for mark in "*?["):
        return Sentence(_("matches no file"))
    return Sentence(_("there is no such file"))


def _absolute_url(url: str, base: Path) -> str:
    """The address of a store; the relative path of a SQLite file is resolved against `base`."""
    relative = _SQLITE_FILE.fullmatch(url)
    if relative is None:
        return url
    return f"{relative['scheme']}{(base / relative['path']).as_posix()}{relative['rest']}"


def _declared() -> Iterator[Setting]:
    for section in fields(Settings):
        if section.name != "file":
            for declared in fields(getattr(Settings(), section.name)):
                setting: Setting = declared.metadata["setting"]
                yield replace(setting, name=f"{section.name}.{declared.name}")


SETTINGS: Mapping[str, Setting] = {setting.name: setting for setting in _declared()}
"""Every setting by name, in the order of the declarations."""


def _defaults(base: Path) -> dict[str, Any]:
    """The default of every setting, by name; relative paths are resolved against `base`."""
    return {name: setting.value(setting.default, base) for name, setting in SETTINGS.items()}


_SECTIONS = tuple(dict.fromkeys(setting.section for setting in SETTINGS.values()))


def _statements(values: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The statements of a file: section and key with their value; for a name outside the known sections, this name
    alone with its value."""
    for name, value in values.items():
        if name in _SECTIONS and isinstance(value, dict):
            yield from (((name, key), given) for key, given in value.items())
        else:
            yield (name,), value


def _known(keys: tuple[str, ...], given: object) -> Setting:
    """The setting that `keys` (of `_statements`) name. Raises WrongSetting, with the nearest name, if there is none."""
    *section, key = keys
    if not section:
        raise WrongSetting(_no_section(key, given))
    if section[0] not in _SECTIONS:
        raise WrongSetting(_no_section(section[0], {}))
    setting = SETTINGS.get(".".join(keys))
    if setting is None:
        hint = _setting_hint(section[0], key)
        raise WrongSetting(_("[%(section)s] has no setting %(key)s%(hint)s"), section=section[0], key=key, hint=hint)
    return setting


def _setting_hint(section: str, key: str) -> str:
    """The end of a message about an unknown setting: the sections that have it, or the nearest name in this section."""
    homes = [f"[{setting.section}]" for setting in SETTINGS.values() if setting.key == key]
    if homes:
        return Sentence(_("; it belongs in %(homes)s"), homes=joined(homes, OR))
    near = nearest(key, [setting.key for setting in SETTINGS.values() if setting.section == section])
    return Sentence(_("; did you mean %(near)s?"), near=near) if near else ""


def _no_section(name: str, given: object) -> str:
    """The message for a name outside the known sections, whose value is `given`."""
    if name in _SECTIONS:
        return Sentence(_("%(name)s must be a section: write [%(name)s] and its settings below it"), name=name)
    if isinstance(given, dict | list):
        near = nearest(name, _SECTIONS)
        if near:
            hint = Sentence(_("did you mean [%(near)s]?"), near=near)
        else:
            hint = Sentence(_("there are %(sections)s"), sections=", ".join(f"[{known}]" for known in _SECTIONS))
        return Sentence(_("there is no section [%(name)s]; %(hint)s"), name=name, hint=hint)
    near = nearest(name, [setting.key for setting in SETTINGS.values()])
    homes = [f"{each.key} in [{each.section}]" for each in SETTINGS.values() if each.key == near]
    if not homes:
        return Sentence(_("%(name)s is in no section"), name=name)
    return Sentence(_("%(name)s is in no section; did you mean %(homes)s?"), name=name, homes=joined(homes, OR))
