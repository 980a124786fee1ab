"""`proof layout`: writes the layout of page images as JSON, and draws it on the images."""

from __future__ import annotations

import json
from pathlib import Path

import click

from proof.atomic import ensure_writable, whole_file
from proof.commands.options import quiet_option
from proof.errors import ImageError, OutputError
from proof.images.load import load_image
from proof.images.opencv import cv2
from proof.images.pdf import stem_of
from proof.layout.drawing import as_json, columns_of, drawn
from proof.layout.photograph import page_columns
from proof.locale.marking import _
from proof.locale.terminal import error_text, say
from proof.settings.config import PageSection


@click.command("layout")
@click.argument("images", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="IMAGE...")
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Folder for the results.")
@quiet_option
def command(images: tuple[Path, ...], out: Path, quiet: bool) -> int:
    """Show the columns that a check reads on images of pages, ruled or not.

    Writes for each image NAME.json (columns from right to left, registers from top to bottom, in pixels of the image)
    and NAME.png, the page with the columns drawn in.
    """
    page = PageSection()
    ensure_writable(out)
    failed = 0
    for path in images:
        try:
            image = load_image(path)
        except ImageError as error:
            click.echo(f"proof: {error_text(error)}", err=True)
            failed += 1
            continue
        layout = page_columns(image.pixels, page.columns, page.column_length)
        name = stem_of(path)
        with whole_file(out / f"{name}.json") as file:
            json.dump(as_json(layout, page.column_length), file, ensure_ascii=False, indent=1)
        picture = out / f"{name}.png"
        if not cv2.imwrite(str(picture), drawn(layout, image.pixels, page.column_length)):
            raise OutputError(_("%(picture)s: cannot be written; make room, or name another folder"), picture=picture)
        if not quiet:
            click.echo(say(_("%(path)s: columns: %(columns)s"), path=path, columns=len(columns_of(layout.outline))))
    return 1 if failed else 0
