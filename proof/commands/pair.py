"""`proof pair`: pages and images that a person matches."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import Any

import click

from proof.checking.page_images import ImageFile, PageImages, TextPage, in_order, name_of
from proof.commands.options import config_option, must_have_images, setting_options, settings_of
from proof.commands.outcome import from_here
from proof.errors import UsageError
from proof.locale.marking import _
from proof.locale.terminal import counted, say


@click.command("pair")
@click.argument("pairs", nargs=-1, metavar="[PAGE=IMAGE]...")
@config_option
@setting_options(("project.texts", "project.images", "project.imglist"))
@click.option(
    "--in-order",
    "ordered",
    is_flag=True,
    help="Pair pages and images without a partner one by one; after PAGE=IMAGE all from there on.",
)
def command(pairs: tuple[str, ...], config: Path | None, given: dict[str, Any], ordered: bool) -> int:
    """Match pages and images by hand: list those without a partner, or write an image list.

    Without PAGE=IMAGE it prints the pages that have no image beside the images that belong to no page, in order, with a
    tab between, and writes nothing. PAGE is a page's id or its half-folio (010-1a), IMAGE a file in the image folders,
    or a part of one as image lists have it: 0012a.jpg is the right half of the opening 0012.jpg.
    What is paired is written into the image list of the text, imglist/TEXT.txt beside it where it has none, which the
    next check reads.
    """
    settings = settings_of(config, given.get("project.texts", ()), given)
    if not settings.project.texts:
        raise UsageError(
            _(
                "pages of what text, images of which folder? run it in the folder of a project, name "
                "one with --config, or give --texts TEXT --images DIR"
            )
        )
    must_have_images(settings)
    known = PageImages(settings)
    chosen = [_pair(known, pair) for pair in pairs]
    if ordered:
        if len(chosen) > 1:
            raise UsageError(_("--in-order begins at one pair: name the first page and its image alone"))
        pages, files = (known.pages, known.files) if chosen else (known.lacking(), known.unused())
        chosen = in_order(pages, files, chosen[0] if chosen else None)
        if not chosen:
            raise UsageError(
                _("no page without an image is left, or no image without a page: there is nothing to pair")
            )
    if not chosen:
        _print_left(known)
        return 0
    for page, file in chosen:
        click.echo(f"{name_of(page)}\t{file.name}")
    for path, number in known.write(chosen):
        written = counted(number, "%(number)s half-folio", "%(number)s half-folios")
        click.echo(f"{from_here(path.absolute())}: {written}", err=True)
    return 0


def _pair(known: PageImages, pair: str) -> tuple[TextPage, ImageFile]:
    """The page and the image of an argument PAGE=IMAGE. Raises UsageError."""
    page, sign, image = pair.partition("=")
    if not sign or not page or not image:
        raise UsageError(_("%(pair)s is no pair: write PAGE=IMAGE, such as 010-1a=scan_0001.jpg"), pair=repr(pair))
    return known.page(page), known.file(image)


def _print_left(known: PageImages) -> None:
    """Print how many pages and images have no partner, and which: side by side, each in its own order."""
    pages, files = known.lacking(), known.unused()
    for page, file in zip_longest(pages, files):
        click.echo(f"{name_of(page) if page else ''}\t{file.name if file else ''}")
    of_pages = {"number": f"{len(pages):,}", "of": f"{len(known.pages):,}"}
    of_files = {"number": f"{len(files):,}", "of": f"{len(known.files):,}"}
    click.echo(say(_("%(number)s of %(of)s pages have no image"), **of_pages), err=True)
    click.echo(say(_("%(number)s of %(of)s images belong to no page"), **of_files), err=True)
    if pages and files:
        first = f"{name_of(pages[0])}={files[0].name}"
        message = _("where each line is a pair: proof pair --in-order; one by one: proof pair %(first)s")
        click.echo(say(message, first=first), err=True)
