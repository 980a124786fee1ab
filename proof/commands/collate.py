"""`proof collate`: compares a base with other witnesses of its text, without images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unicodedata import category

import click

from proof.collation.apparatus import apparatus_of
from proof.collation.classes import Class
from proof.collation.collation import Collation, ParallelPlace, collate
from proof.collation.differences import Side
from proof.collation.report import in_file, write_collation
from proof.collation.stored_readings import must_be_checked, save_differences, weigh_stored
from proof.collation.table import class_names, evidence_names, write_table
from proof.commands.options import config_option, existing_store, setting_options, settings_of
from proof.commands.remarks import print_remarks, verbose_option
from proof.errors import UsageError
from proof.images.find import ImageIndex
from proof.images.imglist import find_image_lists
from proof.locale.marking import Sentence, _
from proof.locale.terminal import say
from proof.settings.config import Settings
from proof.store import Store
from proof.text.transcription import Transcription
from proof.text.witness_source import WitnessSource
from proof.text.witnesses import apart_from, parts_of, read_witnesses

MIN_PLACED_SHARE = 0.05
"""Minimum share of the base's paragraphs and columns that are placed in a witness of the same text."""

PRINTED = (Class.ERROR, Class.READING, Class.UNLIKE)
"""Classes whose differences are printed one by one."""

UNSEEN = frozenset({"Co", "Cn", "Cc", "Cf", "Cs", "Mn"})
"""Unicode categories of characters that a terminal does not show: private use (Co), unassigned (Cn), controls (Cc),
formats (Cf), surrogates (Cs), and nonspacing marks such as variation selectors (Mn)."""


_SIDES = {Side.BASE: _("base"), Side.WITNESS: _("witness")}


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
    "--findings",
    "as_findings",
    is_flag=True,
    help="Show the differences at the desk beside the flags of the check, to be decided.",
)
@click.option("--weigh", "weigh", is_flag=True, help="Adjust the scores of the last check's flags using the witnesses.")
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
    as_findings: bool,
    weigh: bool,
    show: int,
    verbose: bool,
) -> int:
    """Collate a transcription with other witnesses of its text.

    The witnesses may be in any format and script, with or without commentary, whole or in parts in another order.

    Each witness is a file, a folder of juan, or a branch of a git repository (KR3j0080@SBCK). SIGLUM= before it gives
    its siglum; witnesses with the same siglum count as one. A folder or a branch is collated as a whole.

    With --findings the differences become findings of the project in which the base was checked. They are decided at
    the desk like flags (take, keep, or note what the witnesses read), and proof export writes notes on them.

    With --weigh a witness that agrees with the suggestion of a flag raises its score, and one that agrees with the
    transcription lowers it. Each is named in the evidence of the flag, and proof report shows it. --findings does the
    same.
    """
    source = WitnessSource.parse(base, Path())  # keeps the path as the user typed it, for the remarks
    (edition,) = read_witnesses([source])
    files = [part.path for _, _, part in parts_of(edition)]
    settings = settings_of(config, [source.path] if source.revision else files, given)
    if weigh or as_findings:
        with Store.open(existing_store(settings)) as store:
            must_be_checked(store, edition, as_it_is=as_findings)
    collations = _collated(source, edition, witnesses, settings.variants.file)
    if out is not None:
        write_collation(collations, out)
        images = _images(collations[0].base.edition, settings)
        write_table(collations, out / "collation.html", language=settings.report.lang, images=images)
    for collation in collations:
        _print(collation, show)
    editions = [collations[0].base.edition, *(collation.witness.edition for collation in collations)]
    print_remarks((remark for edition in editions for remark in edition.remarks), verbose=verbose)
    if as_findings:
        with Store.open(existing_store(settings)) as store:
            saved = save_differences(store, collations)
        message = _("differences that are findings now: %(own)s; at flags of the check: %(at_flags)s")
        click.echo(say(message, own=saved.own, at_flags=saved.at_flags))
        if saved.on_no_page:
            message = _("differences in no column that was checked: %(number)s")
            click.echo(say(message, number=saved.on_no_page), err=True)
    if weigh or as_findings:
        with Store.open(existing_store(settings)) as store:
            number = weigh_stored(store, collations, settings.variants.file)
        click.echo(say(_("flags that were weighed: %(number)s"), number=number))
    return 0


def _images(base: Transcription, settings: Settings) -> dict[str, Path]:
    """The image files of the base's pages by page id; empty if the project has no images or the base no pages."""
    if not settings.project.images or not base.paged:
        return {}
    lists = find_image_lists(base.path, base.pages, settings.project.imglist)
    index = ImageIndex(settings.project.images, lists, base.pages)
    images = {page.id: index.image_of(base, number) for number, page in enumerate(base.pages)}
    return {page: image.path for page, image in images.items() if image is not None}


def run(base: WitnessSource | Path, witnesses: Sequence[str | Path], variants: Path | None = None) -> list[Collation]:
    """Collate the base with each witness; strings are parsed by `WitnessSource.parse`. Raises TextError, and UsageError
    if a file is named twice or a witness has only the base itself and copies of it."""
    source = base if isinstance(base, WitnessSource) else WitnessSource(base)
    (edition,) = read_witnesses([source])
    return _collated(source, edition, witnesses, variants)


def _collated(
    source: WitnessSource, edition: Transcription, witnesses: Sequence[str | Path], variants: Path | None
) -> list[Collation]:
    """Collate the base, which was read as `edition`, with each witness. Raises as `run`."""
    role_of = {_key(source): Sentence(_("the base itself"))}
    sources = [WitnessSource.parse(str(witness), Path.cwd()) for witness in witnesses]
    for witness_source in sources:
        key = _key(witness_source)
        if key in role_of:
            raise UsageError(
                _("%(witness)s is %(role)s: name each file once"), witness=witness_source, role=role_of[key]
            )
        role_of[key] = Sentence(_("named as a witness already"))
    return [collate(edition, _apart(witness, edition), variants) for witness in read_witnesses(sources)]


def _key(source: WitnessSource) -> str:
    """What identifies a source, whatever its siglum: its path and revision."""
    return str(source.path.resolve()) + (f"@{source.revision}" if source.revision else "")


def _apart(witness: Transcription, base: Transcription) -> Transcription:
    """The witness without those of its files that are the base or copies of it; prints their names. Raises UsageError
    if no file is left."""
    if not witness.parts:  # a single file: `_print` says if it is a copy
        return witness
    apart = apart_from(witness, base)
    if apart is None:
        raise UsageError(_("%(path)s: all its files are the base itself or copies of it"), path=witness.path)
    if len(apart.parts) < len(witness.parts):
        left_out = {part.path for part in witness.parts} - {part.path for part in apart.parts}
        names = ", ".join(map(str, sorted(left_out)))
        message = _("left out of %(witness)s, the base itself or a copy: %(names)s")
        click.echo(say(message, witness=witness.siglum or witness.path, names=names), err=True)
    return apart


def _visible(text: str) -> str:
    """A reading in which each character that a terminal does not show is replaced by its code point, `U+E000`."""
    return "".join(f"U+{ord(char):04X}" if category(char) in UNSEEN else char for char in text)


def _reason_not_placed(place: ParallelPlace, witness: Transcription) -> str:
    """Why a paragraph or column of the base has no place in the witness."""
    if place.is_repetition and place.witness_start is not None:
        message = _("says again what the witness has once, at %(place)s (%(share)s)")
        share = place.share + place.repeated_share
        return say(message, place=in_file(witness, place.witness_start), share=f"{share:.0%}")
    return say(_("is not in the witness (%(share)s found)"), share=f"{place.share:.0%}")


def _print_quality(collation: Collation) -> None:
    """Print the juan in which the witness has less weight, and the reason, the share of differing characters."""
    for quality in collation.quality:
        if quality.weight < 1:
            message = _("juan %(juan)s: %(share)s reads otherwise; the witness weighs %(weight)s there")
            share = quality.differing / max(quality.characters, 1)
            juan = quality.juan or "–"
            click.echo("  " + say(message, juan=juan, share=f"{share:.1%}", weight=f"{quality.weight:.0%}"))


def _print(collation: Collation, show: int) -> None:
    """Print a collation: its counts, and at most `show` of the places and differences of each kind."""
    base, witness = collation.base, collation.witness
    siglum, path = witness.edition.siglum, witness.edition.path
    shown_witness = f"{siglum} ({path})" if siglum else path
    click.echo(say(_("%(base)s against %(witness)s"), base=base.edition.path, witness=shown_witness))
    unplaced = [place for place in collation.placements if not place.is_placed]
    placed = len(collation.placements) - len(unplaced)
    if base.edition.text == witness.edition.text:
        click.echo("  " + say(_("the two files are the same, character for character: a copy is no witness")))
    elif placed < MIN_PLACED_SHARE * len(collation.placements):
        click.echo("  " + say(_("these are hardly the same text: next to nothing of the one is in the other")))
    names = class_names(say)
    classes = Counter(names[difference.category] for difference in collation.differences)
    counts = ", ".join(f"{name} {number}" for name, number in sorted(classes.items())) or "0"
    click.echo("  " + say(_("differences: %(counts)s"), counts=counts))
    for side, number in sorted(Counter(layout.note for layout in collation.note_layouts).items()):
        message = _("the same words, which are a note in the %(side)s alone: %(number)s")
        click.echo("  " + say(message, side=Sentence(_SIDES[side]), number=number))
    _print_quality(collation)
    message = _("paragraphs and columns: %(placed)s placed, %(unplaced)s not placed")
    click.echo("  " + say(message, placed=placed, unplaced=len(unplaced)))
    for place in unplaced[:show]:
        click.echo(f"    {in_file(base.edition, place.start)} {_reason_not_placed(place, witness.edition)}")
    if collation.uncompared_layers:
        layers = "、".join(collation.uncompared_layers)
        click.echo("  " + say(_("not compared, only one has them: %(layers)s"), layers=layers))
    for pair in collation.systematic:
        places = pair.places if pair.side is Side.BASE else pair.witness_places
        message = _("systematic: %(base)s for %(witness)s, places in the %(side)s: %(number)s")
        readings = {"base": _visible(pair.base), "witness": _visible(pair.witness)}
        click.echo("  " + say(message, **readings, side=Sentence(_SIDES[pair.side]), number=len(places)))
    _print_differences(collation, show)
    for side, edition in ((Side.BASE, base.edition), (Side.WITNESS, witness.edition)):
        _print_apparatus(side, edition)


def _print_differences(collation: Collation, show: int) -> None:
    """Print the first differences of the classes `PRINTED`, and the number of the others."""
    base, witness = collation.base, collation.witness
    printed, names, rules = collation.of(*PRINTED), class_names(say), evidence_names(say)
    for difference in printed[:show]:
        remarks = f"  ({'；'.join(note.text for note in difference.notes)})" if difference.notes else ""
        evidence = ", ".join(filter(None, (names[difference.category], rules.get(difference.rule, difference.rule))))
        readings = (base.shown(difference.a0, difference.a1), witness.shown(difference.b0, difference.b1))
        change = " → ".join(_visible(reading) or "∅" for reading in readings)
        click.echo(f"  {in_file(base.edition, difference.start)}: {change} ({evidence}){remarks}")
    if len(printed) > show:
        click.echo("  " + say(_("... and %(number)s more"), number=len(printed) - show))


def _print_apparatus(side: Side, edition: Transcription) -> None:
    """Print how many notes an edition's own apparatus has, by their verbs, and those that were not understood."""
    notes = apparatus_of(edition)
    if not notes:
        return
    verbs = Counter(note.verb for note in notes if note.understood).most_common()
    counts = ", ".join(f"{verb} {number}" for verb, number in verbs)
    message = _("apparatus of the %(side)s: %(number)s notes (%(counts)s)")
    click.echo("  " + say(message, side=Sentence(_SIDES[side]), number=len(notes), counts=counts or "–"))
    for note in notes:
        if not note.understood:
            message = _("not understood: %(place)s: %(text)s")
            click.echo("    " + say(message, place=in_file(edition, note.start), text=note.text))
