"""`proof fetch`: fetches page images from a IIIF manifest or a Kanripo image list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType
from typing import Self

import click

from proof.commands.options import config_option, quiet_option, settings_of
from proof.commands.progress import ProgressLine
from proof.errors import SourceError, UsageError
from proof.fetch.client import Client, RetryPolicy
from proof.fetch.fetch import MAX_FILE_BYTES, Fetcher, FetchOutcome, FetchRun, ImageResult
from proof.fetch.index import alone_in
from proof.fetch.kanripo import listed_images
from proof.fetch.model import ImageSource, WantedImage
from proof.fetch.published import ManifestReader
from proof.fetch.selection import in_ranges, of_parts, with_half_folios, write_list
from proof.images.find import ImageIndex
from proof.images.imglist import place_of
from proof.locale.marking import _
from proof.locale.terminal import say, sentence
from proof.model.half_folios import JuanFolio, half_folio_name
from proof.model.refs import ImageRef
from proof.settings.config import Settings
from proof.text.read import read_transcription

MAX_PRINTED_NOTICES = 12
"""Maximum number of a source's notices that are printed."""


@click.command("fetch")
@click.argument("source")
@click.option(
    "--to", type=click.Path(path_type=Path), metavar="DIR", help="Folder.  [default: first of project.images]"
)
@config_option
@click.option("--only", multiple=True, metavar="PART", help="Juan (010), half-folio (010-3a), reference, or from..to.")
@click.option("--numbers", multiple=True, metavar="RANGE", help="Images by their number in the source: 12, 12-40, 12-.")
@click.option(
    "--width", type=click.IntRange(200, 30_000), metavar="PIXELS", help="Width of IIIF images.  [default: full]"
)
@click.option("--first", metavar="PLACE", help="Half-folio on the first image: 010-1a.")
@click.option(
    "--openings", is_flag=True, help="With --first: each image shows two half-folios, the first on the right."
)
@click.option(
    "--list", "listed", type=click.Path(path_type=Path), metavar="FILE", help="Image list to write them into."
)
@click.option("--all", "members", is_flag=True, help="All manifests of a IIIF collection.")
@click.option("--dry-run", is_flag=True, help="List what would be fetched, with addresses; write nothing.")
@click.option("--refresh", is_flag=True, help="Also fetch images again that have changed at the source since.")
@click.option(
    "--pause", type=click.FloatRange(0, 3600), default=1.0, show_default=True, help="Seconds between requests."
)
@click.option(
    "--max-mb", type=click.FloatRange(0.1), default=MAX_FILE_BYTES / 1e6, show_default=True, help="Largest file taken."
)
@click.option(
    "--allow-private", is_flag=True, help="Also fetch from addresses in private networks and on this machine."
)
@quiet_option
def command(
    source: str,
    to: Path | None,
    config: Path | None,
    only: tuple[str, ...],
    numbers: tuple[str, ...],
    width: int | None,
    first: str | None,
    openings: bool,
    listed: Path | None,
    members: bool,
    dry_run: bool,
    refresh: bool,
    pause: float,
    max_mb: float,
    allow_private: bool,
    quiet: bool,
) -> int:
    """Fetch page images, one at a time, into the project's image folder.

    SOURCE is the address or the file of a IIIF manifest (Presentation 2 or 3), or a Kanripo imglist folder, or one list
    in it, with its imginfo.cfg. Images that are there already are not fetched again; an interrupted run continues where
    it stopped.

    --first and --list write a Kanripo image list for a manifest whose labels do not name half-folios.
    """
    settings = settings_of(config)
    folder = _folder(to, settings)
    _must_go_together(first, listed, openings)
    policy = RetryPolicy(pause=pause, allow_private=allow_private)
    with nullcontext() if dry_run else alone_in(folder), Client(policy) as client:
        reader = ManifestReader(folder, client, width, refresh, keep=not dry_run)
        source_of_images = _open(source, reader, members, listed)
        images = of_parts(source_of_images.images, only) if only else source_of_images.images
        images = in_ranges(images, numbers) if numbers else images
        if first:
            images = with_half_folios(images, first, _places(settings), openings=openings)
        fetcher = Fetcher(folder, client, refresh, int(max_mb * 1e6), _files_by_reference(settings, folder))
        _print_notices(source_of_images)
        if dry_run:
            _print_hint(images)
            _print_failures(source_of_images)
            return 0 if _print_list(images, fetcher) and not source_of_images.failures else 1
        if listed:
            _write_list(listed, images, quiet=quiet)
        with FetchProgress(len(images), quiet=quiet) as progress:
            run = fetcher.fetch(images, progress)
    _print_outcome(run, source_of_images, folder, quiet=quiet)
    if run.of(FetchOutcome.FETCHED) and not quiet:
        _print_hint(images)
    return 0 if run.complete and not source_of_images.failures else 1


def _folder(to: Path | None, settings: Settings) -> Path:
    """The folder for the images. Raises UsageError if neither --to nor the project names one."""
    folder = to or next(iter(settings.project.images), None)
    if folder is None:
        raise UsageError(_("no folder for the images: name one with --to, or set project.images in config.toml"))
    return folder


def _must_go_together(first: str | None, listed: Path | None, openings: bool) -> None:
    """Raises UsageError if an option is given without the one that it needs."""
    if first and not listed:
        raise UsageError(_("--first says which half-folio an image shows: name the image list for it with --list FILE"))
    if openings and not first:
        raise UsageError(
            _("--openings counts half-folios in pairs: name with --first the one on the right of the first image")
        )


def _write_list(listed: Path, images: Sequence[WantedImage], *, quiet: bool) -> None:
    count = write_list(listed, images)
    if not quiet:
        message = _("%(file)s: %(count)s half-folios; a check takes it as --imglist, a project as project.imglist")
        click.echo(say(message, file=listed, count=f"{count:,}"))


def _open(source: str, reader: ManifestReader, members: bool, listed: Path | None) -> ImageSource:
    """The images of SOURCE, an address, a manifest or an image list. Raises ProofError."""
    if source.lower().startswith(("http://", "https://")):
        return reader.images(source, members=members)
    path = Path(source)
    if path.is_dir() or path.suffix.lower() in (".txt", ".cfg"):
        for option, is_given in (("--list", listed), ("--width", reader.width), ("--all", members)):
            if is_given:
                raise UsageError(
                    _("%(option)s is for IIIF manifests; %(path)s is a Kanripo image list"), option=option, path=path
                )
        return listed_images(path)
    if "://" in source:
        raise SourceError(source, _("is not a web address: it must begin with http:// or https://"))
    return reader.images(path, members=members)


def _places(settings: Settings) -> Iterator[JuanFolio]:
    """The half-folios of the project's texts, in order. Each text is read only when its half-folios are needed."""
    for path in settings.text_files():
        text = read_transcription(path)
        if text.paged:
            yield from (place for page in text.pages if (place := place_of(page)) is not None)


def _files_by_reference(settings: Settings, folder: Path) -> dict[ImageRef, Path]:
    """The image files of `folder` and of the project that are named by an image reference, by that reference."""
    image_folders = dict.fromkeys((folder, *settings.project.images))
    files = ImageIndex([image_folder for image_folder in image_folders if image_folder.is_dir()]).files()
    return {ref: path for name, path in files if (ref := ImageRef.match(name)) is not None}


def _print_list(images: Sequence[WantedImage], fetcher: Fetcher) -> bool:
    """Print a line for each image, with tabs: number, half-folios, label, file, address, and whether the file exists or
    why it cannot be fetched. Returns whether all images can be fetched."""
    complete = True
    for result in fetcher.preview(images):
        wanted = result.wanted
        state = "" if result.outcome is FetchOutcome.NOT_ASKED else result.why or result.outcome.value
        place = " ".join(map(half_folio_name, wanted.places[: 2 if wanted.opening else 1]))
        row = (str(wanted.number), place, wanted.label, wanted.name, wanted.address, state)
        click.echo("\t".join(row).rstrip("\t"))
        complete = complete and result.outcome is not FetchOutcome.FAILED
    return complete


def _print_notices(source: ImageSource) -> None:
    for notice in source.notices[:MAX_PRINTED_NOTICES]:
        click.echo(sentence(notice), err=True)
    if len(source.notices) > MAX_PRINTED_NOTICES:
        number = f"{len(source.notices) - MAX_PRINTED_NOTICES:,}"
        click.echo(say(_("... and %(number)s more such remarks"), number=number), err=True)


def _print_hint(images: Sequence[WantedImage]) -> None:
    """Print what to do if no page can find its image by name."""
    if images and not any(wanted.places or ImageRef.match(wanted.name) for wanted in images):
        hint = _(
            "no label says which half-folio an image shows, so no page finds its image by name; once you know which is "
            "which: --numbers 5- --first 010-1a --list FILE"
        )
        click.echo(say(hint), err=True)


def _print_outcome(run: FetchRun, source: ImageSource, folder: Path, *, quiet: bool) -> None:
    fetched = run.of(FetchOutcome.FETCHED)
    already_there = len(run.of(FetchOutcome.EXISTS)) + len(run.of(FetchOutcome.UNCHANGED))
    if not quiet:
        size = f"{sum(result.size for result in fetched) / 1e6:,.1f} MB"
        message = _("%(folder)s: images fetched: %(number)s (%(size)s); already there: %(there)s")
        numbers = {"number": f"{len(fetched):,}", "there": f"{already_there:,}"}
        click.echo(say(message, folder=folder, size=size, **numbers))
        for right in source.rights:
            click.echo(say(_("terms: %(terms)s"), terms=right))
    failed = run.of(FetchOutcome.FAILED)
    for result in failed:
        click.echo(say(_("not fetched: %(name)s: %(why)s"), name=result.wanted.name, why=result.why), err=True)
    _print_failures(source)
    if run.stopped:
        left = f"{len(run.of(FetchOutcome.NOT_ASKED)):,}"
        click.echo(say(_("stopped, images not requested: %(left)s; %(why)s"), left=left, why=run.stopped), err=True)


def _print_failures(source: ImageSource) -> None:
    for failure in source.failures:
        click.echo(say(_("not read: %(failure)s"), failure=failure), err=True)


class FetchProgress:
    """Shows the progress of the run in its `with` block, and after an interrupt how many images are there."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        self._line = ProgressLine(quiet=quiet)
        self._total = total
        self._existing = self._done = 0

    def __enter__(self) -> Self:
        return self

    def __call__(self, result: ImageResult) -> None:
        self._done += 1
        self._existing += result.outcome is not FetchOutcome.FAILED
        self._line.show(say(_("%(done)s of %(total)s images"), done=f"{self._done:,}", total=f"{self._total:,}"))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._line.clear()
        if kind is KeyboardInterrupt:
            message = _("stopped, images that are there: %(there)s of %(total)s; the same command continues from there")
            click.echo(say(message, there=f"{self._existing:,}", total=f"{self._total:,}"), err=True)
