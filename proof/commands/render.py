"""`proof render`: draws a transcription as pages of the Siku quanshu."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from proof.commands.options import config_option, quiet_option, setting_options, settings_of
from proof.commands.progress import ProgressLine
from proof.errors import UsageError
from proof.facsimile import files
from proof.facsimile.leaf import Style
from proof.facsimile.wear import LEVELS
from proof.locale.marking import _
from proof.locale.terminal import say
from proof.text.read import read_transcription


@click.command("render")
@click.argument("text", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="PATH", help="Folder for the images.")
@config_option
@setting_options(("page.columns", "page.column_length", "render.font", "render.wear", "render.seed"))
@click.option("--plates", is_flag=True, help="Draw plates of four half-folios, as the printed pages have them.")
@click.option("--openings", is_flag=True, help="Draw leaves that were never folded, two half-folios on an image.")
@click.option("--grey", is_flag=True, help="Keep the tones of a photograph; else black and white as a facsimile.")
@click.option("--scale", type=click.FloatRange(0.2, 4.0), default=1.0, show_default=True, help="Size of the images.")
@quiet_option
def command(
    text: Path,
    out: Path,
    config: Path | None,
    given: dict[str, Any],
    plates: bool,
    openings: bool,
    grey: bool,
    scale: float,
    quiet: bool,
) -> int:
    """Draw a transcription as Siku half-folios, worn by a seed.

    Writes an image a half-folio, named by its reference, and boxes.jsonl with the true box of every character.
    """
    if plates and openings:
        raise UsageError(_("plates or openings? name one of --plates and --openings"))
    draw = files.half_folios
    if plates:
        draw = files.plates
    elif openings:
        draw = files.leaves
    settings = settings_of(config, (text,), given)
    siku, fonts = Style(), (settings.render.font,) if settings.render.font else ()
    columns, cells = settings.page.columns or siku.columns, settings.page.column_length or siku.cells
    style = replace(siku, columns=columns, cells=cells, scale=scale, fonts=fonts)
    wear = replace(LEVELS[settings.render.wear], grey=grey)
    line = ProgressLine(quiet=quiet)

    def tell(count: int) -> None:
        line.show(say(_("drawing: %(number)s images"), number=count))

    rendering = files.render(read_transcription(text), out, style, wear, settings.render.seed, tell, draw)
    line.clear()
    if rendering.missing:
        message = _("no font here holds %(characters)s: 〓 stands in their place")
        click.echo(say(message, characters=" ".join(rendering.missing)), err=True)
    if not quiet:
        message = _("%(number)s images in %(folder)s, the boxes of their characters in %(file)s")
        click.echo(say(message, number=len(rendering.images), folder=out, file=rendering.boxes))
    return 0
