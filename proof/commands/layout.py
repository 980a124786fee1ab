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
from proof.layout.drawing import as_json, drawn
from proof.layout.page import find_columns
from proof.layout.photograph import in_even_light
from proof.locale.marking import _
from proof.locale.terminal import error_text, say


@click.command("layout")
@click.argument("images", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="IMAGE...")
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Folder for the results.")
@quiet_option
def command(images: tuple[Path, ...], out: Path, quiet: bool) -> int:
    """Find the columns of text on images of pages, ruled or not.

    Writes for each image NAME.json (columns from right to left, registers from top to bottom, in pixels of the image)
    and NAME.png, the page with the columns drawn in.
    """
    ensure_writable(out)
    failed = 0
    for path in images:
        try:
            image = load_image(path)
        except ImageError as error:
            click.echo(f"proof: {error_text(error)}", err=True)
            failed += 1
            continue
        evenly_lit = in_even_light(image.pixels)[0]
        columns = find_columns(evenly_lit.pixels)
        name = stem_of(path)
        with whole_file(out / f"{name}.json") as file:
            json.dump(as_json(columns), file, ensure_ascii=False, indent=1)
        picture = out / f"{name}.png"
        if not cv2.imwrite(str(picture), drawn(columns, image.pixels)):
            raise OutputError(_("%(picture)s: cannot be written; make room, or name another folder"), picture=picture)
        if not quiet:
            counts = {"columns": len(columns.columns), "registers": len(columns.regions)}
            click.echo(say(_("%(path)s: columns: %(columns)s, registers: %(registers)s"), path=path, **counts))
    return 1 if failed else 0
