"""The Python interface: `from proof.api import check, collate, export, open_project`.

These are four commands of the command line, with the same settings and the same store. They return frozen dataclasses.
Rows (`Page`, `FlaggedPlace`, `PlannedCorrection`, `Variant`) have only plain values, so that a list of them is a table:
`pandas.DataFrame(check(project).flags)`. Errors that a user can cause or mend are `proof.errors.ProofError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from proof.checking.pipeline import Progress
from proof.checking.pipeline import check as check_settings
from proof.collation.collation import Collation
from proof.collation.differences import Difference
from proof.commands.collate import run as collate_witnesses
from proof.commands.init import given_with_images, project_settings
from proof.errors import UsageError
from proof.exports.files import form_names, target_folders
from proof.exports.preview import PlannedCorrection
from proof.exports.text_export import DEFAULT_FORMS, ExportOptions, export_text
from proof.locale.languages import translations
from proof.locale.marking import _
from proof.locale.notices import in_english
from proof.model.flags import Flag, Kind, other_half
from proof.model.result import PageResult
from proof.report.places import around
from proof.report.reasons import why
from proof.report.source import StoredRun
from proof.settings.config import Settings
from proof.settings.new_project import write_project
from proof.store import Store

__all__ = [
    "CheckedWork",
    "CollatedWitness",
    "ExportedText",
    "FlaggedPlace",
    "Page",
    "PlannedCorrection",
    "Progress",
    "Project",
    "Variant",
    "check",
    "collate",
    "export",
    "open_project",
]

PathLike = str | Path


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with a config.toml, and its settings."""

    folder: Path
    settings: Settings


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a check: its id (`page`) and the path of its `image`. `status` is `checked`, `no image`,
    `image mismatch` or `failed`, and `message` says why. `characters` counts those checked, `raised` the raised flags.
    """

    page: str
    status: str
    message: str
    image: str
    characters: int
    raised: int


@dataclass(frozen=True, slots=True)
class FlaggedPlace:
    """A place where text and image seem to differ.

    `line` is the number of the column on the page, from 1; 0 if the flag is on the whole page. `offset` and `length`
    count code points of the column's source, `before` and `after` are the text around the place. `x`, `y`, `width` and
    `height` are pixels of the image, None if the place is not on it. `raised`: the score reaches the threshold. `why`
    is the reason, as a sentence.
    """

    id: str
    page: str
    line: int
    offset: int
    length: int
    kind: str
    transcribed: str
    suggested: str
    score: float
    raised: bool
    why: str
    before: str
    after: str
    x: float | None = None
    y: float | None = None
    width: float | None = None
    height: float | None = None


@dataclass(frozen=True)
class CheckedWork:
    """The outcome of a check. `sound`: all named texts, images and lists could be used, no page failed or has the
    wrong image. `findings` are remarks about the material, as sentences. `report` is the page to open in a browser."""

    work: str
    sound: bool
    findings: tuple[str, ...]
    report: Path
    store: Path | str
    run: int

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        """The checked pages, in the order of the text."""
        return tuple(map(_page, self._results(outline=True)))

    @cached_property
    def flags(self) -> tuple[FlaggedPlace, ...]:
        """All flags of these pages, raised or not, in page order."""
        return tuple(place for result in self._results(outline=False) for place in _places(result))

    def _results(self, *, outline: bool) -> Iterator[PageResult]:
        with Store.open(self.store) as store:
            run = StoredRun(store, self.run)
            yield from run.results(outline=outline)


@dataclass(frozen=True, slots=True)
class ExportedText:
    """The outcome of the export of a text: the new `files`, and the corrections that were `written` and `not_written`.
    `complete`: no decision was refused."""

    text: Path
    complete: bool
    files: tuple[Path, ...]
    written: tuple[PlannedCorrection, ...]
    not_written: tuple[PlannedCorrection, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """A difference of the base from a witness; `start` and `length` count code points of the base's file. `category` is
    its class (an error, another reading, a form of the same word), `rule` the rule that gave it this class."""

    start: int
    length: int
    kind: str
    category: str
    rule: str
    base: str
    witness: str


@dataclass(frozen=True, slots=True)
class CollatedWitness:
    """A witness and its differences from the base. `collation` is the whole collation, which the writers of
    `proof.collation` take."""

    path: Path
    siglum: str
    variants: tuple[Variant, ...]
    collation: Collation


def open_project(
    folder: PathLike = ".",
    *,
    texts: Sequence[PathLike] = (),
    images: Sequence[PathLike] = (),
    settings: Mapping[str, Any] | None = None,
) -> Project:
    """The project in a folder. If the folder has no config.toml, one is written, as by `proof init`: with `texts` and
    `images`, or those in the folder. `settings` are by name (`{"page.column_length": 22}`): they are written into a new
    config.toml; an existing one is not changed, and they apply to the returned project only. Raises ProofError.
    """
    folder = Path(folder)
    named = {"project.texts": _paths(texts), "project.images": _paths(images)}
    given = {name: value for name, value in {**named, **(settings or {})}.items() if value != ()}
    file = Settings.of_folder(folder).file
    assert file is not None, "a folder gives its settings a file"
    if file.exists():
        return Project(folder, Settings.load(file).replace(given))
    new = project_settings(folder, given)
    write_project(new, given_with_images(given, new))
    return Project(folder, new)


def check(project: Project | PathLike = ".", *, progress: Callable[[Progress], None] | None = None) -> CheckedWork:
    """Check the texts of a project against their images. Writes store and reports as `proof check` does, and reads only
    pages that changed. `progress` is called after each page. Raises ProofError if the check cannot go on."""
    settings = _project(project).settings
    outcome = check_settings(settings, progress)
    with Store.open(settings.store_address) as store:
        work = store.run(outcome.run_id).info.work
    remarks = (*outcome.unread, *outcome.unusable, *outcome.findings, *outcome.notices)
    findings = tuple(map(in_english, remarks))
    return CheckedWork(work, outcome.sound, findings, outcome.written.page, settings.store_address, outcome.run_id)


def export(
    project: Project | PathLike = ".",
    *texts: PathLike,
    forms: Sequence[str] = DEFAULT_FORMS,
    out: PathLike | None = None,
    in_place: bool = False,
    dry_run: bool = False,
) -> tuple[ExportedText, ...]:
    """Write the decisions on the `texts` of a project (all of them if none is named) into the folder `out`, in each of
    the `forms` of `proof export --form`, and with `in_place` into the texts themselves. A `dry_run` writes nothing, and
    returns what would be written. Raises ProofError."""
    settings = _project(project).settings
    paths = [Path(text) for text in texts] or settings.text_files()
    if unknown := set(forms) - set(form_names()):
        raise UsageError(
            _("unknown form %(unknown)s: choose from %(forms)s"),
            unknown=repr(min(unknown)),
            forms=", ".join(form_names()),
        )
    options = ExportOptions(forms, in_place=in_place, dry_run=dry_run)
    folder = Path(out) if out is not None else settings.project.out
    exported = []
    for path, target in target_folders(paths, folder).items():
        result = export_text(path, settings, options, target)
        written, not_written = tuple(result.preview.written), tuple(result.preview.not_written)
        exported.append(ExportedText(path, result.complete, result.files, written, not_written))
    return tuple(exported)


def collate(base: PathLike, *witnesses: PathLike, variants: PathLike | None = None) -> tuple[CollatedWitness, ...]:
    """Collate a text with witnesses: each a file, a folder of files of juan, `SIGLUM=PATH` or `REPOSITORY@BRANCH`.
    `variants` is a file of pairs of characters that count as equal. Raises ProofError."""
    collations = collate_witnesses(Path(base), list(witnesses), Path(variants) if variants else None)
    collated = []
    for collation in collations:
        edition = collation.witness.edition
        differences = tuple(map(_variant, collation.differences))
        collated.append(CollatedWitness(edition.path, edition.siglum, differences, collation))
    return tuple(collated)


def _variant(difference: Difference) -> Variant:
    return Variant(
        difference.start,
        difference.length,
        difference.kind.value,
        difference.category.value,
        difference.rule,
        difference.base,
        difference.witness,
    )


def _paths(paths: Sequence[PathLike]) -> tuple[Path, ...]:
    return tuple(Path(path).absolute() for path in paths)


def _project(project: Project | PathLike) -> Project:
    return project if isinstance(project, Project) else open_project(project)


def _page(result: PageResult) -> Page:
    message = in_english(result.message) if result.message else ""
    raised = sum(flag.raised for flag in result.flags)
    image = str(result.image or "")
    return Page(result.page, result.status.value, message, image, result.characters_checked, raised)


def _places(result: PageResult) -> Iterator[FlaggedPlace]:
    for flag in result.flags:
        if flag.kind is not Kind.AUDIT:
            yield _place(flag, result)


def _place(flag: Flag, result: PageResult) -> FlaggedPlace:
    box = (flag.bbox.x, flag.bbox.y, flag.bbox.w, flag.bbox.h) if flag.bbox else ()
    return FlaggedPlace(
        flag.id,
        flag.page,
        flag.line,
        flag.offset,
        flag.length,
        flag.kind.value,
        flag.transcribed,
        flag.suggested,
        flag.score,
        flag.raised,
        why(flag, translations("en").gettext, other_half(flag, result.flags)),
        *around(result, flag),
        *box,
    )
