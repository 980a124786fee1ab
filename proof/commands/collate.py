"""`proof collate`: witnesses against each other, without images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unicodedata import category

import click

from proof.collation.classes import Class
from proof.collation.collation import Collation, ParallelPlace, collate
from proof.collation.differences import Side
from proof.collation.report import summary, write_collation
from proof.collation.stored import save_differences, weigh_stored
from proof.collation.table import write_table
from proof.commands.options import config_option, existing_store, setting_options, settings_of
from proof.commands.remarks import print_remarks, verbose_option
from proof.errors import UsageError
from proof.images.find import ImageIndex
from proof.images.imglist import find_image_lists
from proof.settings.config import Settings
from proof.store import Store
from proof.text.transcription import Transcription
from proof.text.witness_source import WitnessSource
from proof.text.witnesses import apart_from, read_witnesses

FEW = 0.05
"""Share of paragraphs and columns found in the witness below which it is hardly the same text."""

PRINTED = (Class.ERROR, Class.READING, Class.UNLIKE)
"""Classes whose differences are printed one by one."""

UNSEEN = frozenset({"Co", "Cn", "Cc", "Cf", "Cs", "Mn"})
"""Kinds of characters that a terminal does not show: private ones and selectors among them."""


@click.command("collate")
@click.argument("base")
@click.argument("witnesses", nargs=-1, required=True, metavar="[SIGLUM=]WITNESS...")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for collation.html, places.csv, collation.json and flags.jsonl.",
)
@config_option
@setting_options(("variants.file", "store.url", "report.lang"))
@click.option(
    "--findings", "kept", is_flag=True, help="Have the differences decided at the desk, beside the flags of the check."
)
@click.option(
    "--weigh", "weighed", is_flag=True, help="Let the witnesses speak for or against the flags of the last check."
)
@click.option(
    "--show",
    type=click.IntRange(0),
    metavar="NUMBER",
    default=20,
    show_default=True,
    help="Differences in the words to print.",
)
@verbose_option
def command(
    base: str,
    witnesses: tuple[str, ...],
    out: Path | None,
    config: Path | None,
    given: dict[str, Any],
    kept: bool,
    weighed: bool,
    show: int,
    verbose: bool,
) -> int:
    """Collate a transcription with other witnesses of its text.

    Any format, either script, with commentary or without, whole or in parts that stand in another order.

    Each of them is a file, a folder of juan, or a branch of a git repository (KR3j0080@SBCK); SIGLUM= before it says
    what it is called, and witnesses of one siglum are one. A folder or a branch is collated as a whole.

    With --findings the differences become findings of the project that the base was checked in: they are decided at
    the desk like flags (taken, kept, noted with what the witnesses read), and proof export writes notes on them.

    With --weigh a witness that reads what a flag suggests raises its score, one that agrees with the
    transcription lowers it; each is named in the flag's evidence. proof report then shows it. --findings weighs too.
    """
    source = WitnessSource.parse(base, Path())  # a path stays as it was typed, and remarks name it so
    settings = settings_of(config, (source.path,), given)
    collations = run(source, witnesses, settings.variants.file)
    if out is not None:
        write_collation(collations, out)
        images = _images(collations[0].base.edition, settings)
        write_table(collations, out / "collation.html", language=settings.report.lang, images=images)
    for collation in collations:
        _print(collation, show)
    read = [collations[0].base.edition, *(collation.witness.edition for collation in collations)]
    print_remarks((remark for edition in read for remark in edition.remarks), verbose=verbose)
    if kept:
        with Store.open(existing_store(settings)) as store:
            saved = save_differences(store, collations)
        click.echo(f"{saved.own} differences are findings now, {saved.at_flags} more are at flags of the check")
        if saved.on_no_page:
            click.echo(f"{saved.on_no_page} are in no column that was checked", err=True)
    if weighed or kept:
        with Store.open(existing_store(settings)) as store:
            number = weigh_stored(store, collations, settings.variants.file)
        click.echo(f"{number} flags were weighed")
    return 0


def _images(base: Transcription, settings: Settings) -> dict[str, Path]:
    """The images of the base's pages, of those that a project has."""
    if not settings.project.images or not base.paged:
        return {}
    lists = find_image_lists(base.path, base.pages, settings.project.imglist)
    index = ImageIndex(settings.project.images, lists)
    images = {page.id: index.find(page) for page in base.pages}
    return {page: image.path for page, image in images.items() if image is not None}


def run(base: WitnessSource | Path, witnesses: Sequence[str | Path], variants: Path | None = None) -> list[Collation]:
    """The base collated with each witness, named as in `WitnessSource`. Raises TextError, UsageError where a file is
    named twice or a witness is nothing but the base."""
    source = base if isinstance(base, WitnessSource) else WitnessSource(base)
    (edition,) = read_witnesses([source])
    named = {_key(source): "the base itself"}
    sources = [WitnessSource.parse(str(witness), Path.cwd()) for witness in witnesses]
    for source in sources:
        key = _key(source)
        if key in named:
            raise UsageError(f"{source} is {named[key]}: name each file once")
        named[key] = "named as a witness already"
    return [collate(edition, _apart(witness, edition), variants) for witness in read_witnesses(sources)]


def _key(source: WitnessSource) -> str:
    return str(source.path.resolve()) + (f"@{source.revision}" if source.revision else "")


def _apart(witness: Transcription, base: Transcription) -> Transcription:
    """The witness without the parts that are the base itself, which is said. Raises UsageError where none is left."""
    if not witness.parts:
        return witness
    apart = apart_from(witness, base)
    if apart is None:
        raise UsageError(f"{witness.path}: all its files are the base itself or copies of it")
    if len(apart.parts) < len(witness.parts):
        left_out = {part.path for part in witness.parts} - {part.path for part in apart.parts}
        names = ", ".join(map(str, sorted(left_out)))
        click.echo(f"left out of {witness.siglum or witness.path}, the base itself or a copy: {names}", err=True)
    return apart


def _seen(text: str) -> str:
    """A reading as it can be seen: what no font has, or has no shape, by its number."""
    return "".join(f"U+{ord(char):04X}" if category(char) in UNSEEN else char for char in text)


def _whereabouts(place: ParallelPlace) -> str:
    """What there is to say of a paragraph or column that is not placed."""
    if place.said_again:
        return f"says again what the witness has once, at line {place.witness_line} ({place.share + place.again:.0%})"
    return f"is not in the witness ({place.share:.0%} found)"


def _print_quality(collation: Collation) -> None:
    """Where the witness weighs less, and why."""
    for quality in collation.quality:
        if quality.weight < 1:
            where = f"juan {quality.juan}" if quality.juan else "the text"
            share = quality.differing / max(quality.characters, 1)
            click.echo(f"  in {where} {share:.1%} reads otherwise: the witness weighs {quality.weight:.0%} there")


def _print(collation: Collation, show: int) -> None:
    figures = summary(collation)
    named = f"{figures['siglum']} ({figures['witness']})" if figures["siglum"] else figures["witness"]
    click.echo(f"{figures['base']} against {named}")
    if collation.base.edition.text == collation.witness.edition.text:
        click.echo("  the two files are the same, character for character: a copy is no witness")
    elif figures["paragraphs"]["placed"] < FEW * len(collation.placements):
        click.echo("  these are hardly the same text: next to nothing of the one is in the other")
    noted = Counter(difference.note.value for difference in collation.notes)
    counts = ", ".join(f"{number} {name}" for name, number in sorted(figures["differences"].items())) or "none"
    click.echo(f"  differences: {counts}")
    if noted:
        sides = ", ".join(f"{number} a note in the {side}" for side, number in sorted(noted.items()))
        click.echo(f"  same words, other layout: {sides} and text in the other")
    _print_quality(collation)
    placed = figures["paragraphs"]
    click.echo(f"  paragraphs and columns: {placed['placed']} placed, {placed['not placed']} not placed")
    for place in [place for place in collation.placements if not place.placed][:show]:
        click.echo(f"    line {place.file_line} {_whereabouts(place)}")
    if figures["not compared"]:
        click.echo(f"  not compared, only one has them: {'、'.join(figures['not compared'])}")
    for pair in figures["systematic"]:
        pairing = f"{_seen(pair['base'])} for {_seen(pair['witness'])}"
        places = pair["places"] if pair["side"] == Side.BASE else pair["witness places"]
        click.echo(f"  systematic: {pairing}, {len(places)} places in the {pair['side']}")
    text = collation.base.edition.text
    words = collation.of(*PRINTED)
    for difference in words[:show]:
        line = text.count("\n", 0, difference.start) + 1
        notes = f"  ({'；'.join(note.text for note in difference.notes)})" if difference.notes else ""
        evidence = f"{difference.category.value}, {difference.rule}" if difference.rule else difference.category.value
        click.echo(
            f"  line {line}: {_seen(difference.base) or '∅'} → {_seen(difference.witness) or '∅'} ({evidence}){notes}"
        )
    if len(words) > show:
        click.echo(f"  ... and {len(words) - show} more")
    for side in ("base", "witness"):
        notes = figures["apparatus"][side]
        if notes["notes"]:
            verbs = ", ".join(f"{verb} {number}" for verb, number in notes["verbs"].items())
            click.echo(f"  apparatus of the {side}: {notes['notes']} notes ({verbs})")
            for line in notes["not understood"]:
                click.echo(f"    not understood: {line}")
