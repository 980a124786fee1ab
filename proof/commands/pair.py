"""`proof pair`: matches pages and images by hand."""

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
    help="Pair the remaining pages and images in their order; after PAGE=IMAGE, those that follow it.",
)
def command(pairs: tuple[str, ...], config: Path | None, given: dict[str, Any], ordered: bool) -> int:
    """Match pages and images by hand: list those without a partner, or write an image list.

    Without PAGE=IMAGE the pages without an image are printed beside the images without a page, in order, separated by a
    tab, and nothing is written. PAGE is the id of a page or its half-folio (010-1a); IMAGE is a file in the image
    folders, or a part of one as in image lists: 0012a.jpg is the right half of the opening 0012.jpg. The pairs are
    written into the image list of the text, by default imglist/TEXT.txt beside it, which the next check reads.
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
    page_images = PageImages(settings)
    chosen = [_pair(page_images, pair) for pair in pairs]
    if ordered:
        if len(chosen) > 1:
            raise UsageError(_("--in-order begins at one pair: name only the first page and its image"))
        if chosen:
            chosen = in_order(page_images.pages, page_images.files, chosen[0])
        else:
            chosen = in_order(page_images.lacking(), page_images.unused(), None)
        if not chosen:
            raise UsageError(
                _("no page without an image is left, or no image without a page: there is nothing to pair")
            )
    if not chosen:
        _print_unpaired(page_images)
        return 0
    for page, file in chosen:
        click.echo(f"{name_of(page)}\t{file.name}")
    for path, number in page_images.write(chosen):
        written = counted(number, "%(number)s page", "%(number)s pages")
        click.echo(f"{from_here(path.absolute())}: {written}", err=True)
    return 0


def _pair(page_images: PageImages, pair: str) -> tuple[TextPage, ImageFile]:
    """The page and the image of an argument PAGE=IMAGE. Raises UsageError."""
    page, sign, image = pair.partition("=")
    if not sign or not page or not image:
        raise UsageError(_("%(pair)s is not a pair: write PAGE=IMAGE, such as 010-1a=scan_0001.jpg"), pair=repr(pair))
    return page_images.page(page), page_images.file(image)


def _print_unpaired(page_images: PageImages) -> None:
    """Print the pages and the images without a partner, side by side and each in its order, and their numbers."""
    pages, files = page_images.lacking(), page_images.unused()
    for page, file in zip_longest(pages, files):
        click.echo(f"{name_of(page) if page else ''}\t{file.name if file else ''}")
    page_counts = {"number": f"{len(pages):,}", "of": f"{len(page_images.pages):,}"}
    file_counts = {"number": f"{len(files):,}", "of": f"{len(page_images.files):,}"}
    click.echo(say(_("%(number)s of %(of)s pages have no image"), **page_counts), err=True)
    click.echo(say(_("%(number)s of %(of)s images belong to no page"), **file_counts), err=True)
    if pages and files:
        first = f"{name_of(pages[0])}={files[0].name}"
        message = _("if each line is a pair: proof pair --in-order; to pair one by one: proof pair %(first)s")
        click.echo(say(message, first=first), err=True)
