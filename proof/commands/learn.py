"""`proof learn`: learns a language model from texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from proof.atomic import whole_binary_file
from proof.errors import TextError, UsageError
from proof.language.model import learn
from proof.language.stream import TokenStream, stream_of
from proof.locale.marking import _
from proof.locale.terminal import say
from proof.text.read import read_transcription


@click.command("learn")
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    default=Path("language.npz"),
    show_default=True,
    help="File to write.",
)
def command(texts: tuple[Path, ...], out: Path) -> int:
    """Learn the language from texts, in any of the formats.

    `proof check` uses the model if config.toml names it (language.model). A checked text may be among the learned ones:
    its own counts are then subtracted. Texts that cannot be read are listed on standard error and left out.
    """
    streams, names = read(texts)
    model = learn(streams, names)
    with whole_binary_file(out) as file:
        model.write(file)
    numbers = {"characters": f"{model.characters:,}", "n_grams": f"{len(model.counts.keys):,}"}
    click.echo(say(_("%(file)s: characters: %(characters)s, n-grams: %(n_grams)s"), file=out, **numbers))
    return 0


def read(texts: Sequence[Path]) -> tuple[list[TokenStream], list[str]]:
    """The character streams of the texts, and their names. Raises UsageError if none of them can be read."""
    streams, names = [], []
    for path in texts:
        try:
            text = read_transcription(path)
        except TextError as error:
            click.echo(say(_("left out: %(error)s"), error=error), err=True)
            continue
        streams.append(stream_of(text))
        names.append(text.work or text.title or path.stem)
    if not streams:
        raise UsageError(_("none of the texts can be read: nothing was learned"))
    return streams, sorted(set(names))
