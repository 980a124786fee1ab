"""`proof convert`: converts a transcription to another format."""

from __future__ import annotations

from pathlib import Path

import click

from proof.atomic import whole_file
from proof.commands.remarks import print_remarks, verbose_option
from proof.errors import OutputError
from proof.images.imglist import ImageList, ImageLists, find_image_lists
from proof.locale.marking import _
from proof.locale.terminal import say
from proof.text.convert import Converted, convert
from proof.text.read import read_transcription
from proof.text.transcription import Format, Transcription


@click.command("convert")
@click.argument("text", type=click.Path(path_type=Path))
@click.option(
    "--to", "target", type=click.Choice([form.value for form in Format]), required=True, help="Format wanted."
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="File to write.  [default: standard output]"
)
@click.option("--work", default="", metavar="ID", help="Id of the work, for Kanripo page marks (KR1d0030).")
@click.option(
    "--imglist", type=click.Path(path_type=Path), metavar="PATH", help="Image list, for the mirror's page marks."
)
@click.option("--encoding", metavar="NAME", help="Encoding of the text.  [default: UTF-8]")
@verbose_option
def command(
    text: Path,
    target: str,
    out: Path | None,
    work: str,
    imglist: Path | None,
    encoding: str | None,
    verbose: bool,
) -> int:
    """Convert a transcription into another format.

    What the format cannot hold is listed on standard error. The script is not converted.
    """
    if out is not None and out.exists() and text.exists() and out.samefile(text):
        raise OutputError(_("%(out)s is the source itself: name another file"), out=out)
    edition = read_transcription(text, encoding)
    converted = run(edition, Format(target), work=work, imglist=imglist)
    if out is None:
        click.echo(converted.text, nl=False)
    else:
        with whole_file(out, newline="") as file:
            file.write(converted.text)
    for loss in converted.losses:
        click.echo(say(_("lost: %(what)s"), what=loss), err=True)
    print_remarks(edition.remarks, verbose=verbose)
    return 0


def run(edition: Transcription, target: Format, *, work: str = "", imglist: Path | None = None) -> Converted:
    """`edition` in the format `target`. `work` and `imglist` are as on the command line. Raises TextError,
    ImageListError, UsageError."""
    references = _references(edition, imglist) if target is Format.MIRROR else {}
    return convert(edition, target, work=work, references=references)


def _references(edition: Transcription, imglist: Path | None) -> dict[str, str]:
    """The names of the image files of the edition's pages, by page id."""
    paths = find_image_lists(edition.path, edition.pages, imglist)
    lists = ImageLists(ImageList.read(path, edition.pages) for path in paths)
    entries = {page.id: lists.entry(page) for page in edition.pages}
    return {page_id: Path(entry.file).name for page_id, entry in entries.items() if entry is not None}
