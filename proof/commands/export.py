"""`proof export`: accepted corrections into the source, and the corrected text in forms that others read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from proof.collate.collation import collate
from proof.collate.witnesses import places
from proof.commands.options import config_option, setting_options, settings_of
from proof.commands.remarks import print_remarks, verbose_option
from proof.config import Settings
from proof.errors import UsageError
from proof.export.decided import decided_corrections
from proof.export.files import ON_IMAGES, Form, Material, write_export
from proof.export.records import read_corrections
from proof.export.source import CorrectedSource, correct, write_corrected
from proof.result import PageResult
from proof.store import Store
from proof.store.laid import pages_of
from proof.text.edition import read_edition
from proof.text.gathered import read_witnesses
from proof.text.witness_source import WitnessSource


@click.command("export")
@click.argument("text", type=click.Path(path_type=Path))
@config_option
@setting_options(("project.out", "store.url"))
@click.option(
    "--corrections",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Accepted corrections, JSON lines.  [default: what was decided in the store]",
)
@click.option(
    "--form",
    "forms",
    multiple=True,
    type=click.Choice([form.value for form in Form]),
    help="What to write.  [default: text, diff, notes]",
)
@click.option("--in-place", is_flag=True, help="Correct the source itself, too.")
@click.option("--reanchor", is_flag=True, help="Set corrections of a changed source where their context stands once.")
@click.option(
    "--choose", "choices", multiple=True, metavar="乾=干", help="Simplified form of a character that has several."
)
@click.option("--name", default="", metavar="PATH", help="Path of the text in its repository, for the diff.")
@click.option("--base", default="", metavar="URL", help="Address under which a IIIF manifest will be served.")
@click.option(
    "--witness",
    "witnesses",
    multiple=True,
    metavar="[SIGLUM=]PATH",
    help="Witnesses, for the apparatus of TEI: files, folders, REPOSITORY@BRANCH.",
)
@verbose_option
def command(
    text: Path,
    config: Path | None,
    given: dict[str, Any],
    corrections: Path | None,
    forms: tuple[str, ...],
    in_place: bool,
    reanchor: bool,
    choices: tuple[str, ...],
    name: str,
    base: str,
    witnesses: tuple[str, ...],
    verbose: bool,
) -> int:
    """Write accepted corrections into a transcription, and nothing else.

    The corrected text keeps every other byte. Beside it: a diff for git apply, collation notes, TEI, PAGE XML,
    ALTO, a IIIF manifest and Web Annotations. A source that changed since the check is refused with the
    places that moved.
    """
    settings = settings_of(config, (text,), given)
    wanted = [Form(form) for form in forms] or [Form.TEXT, Form.DIFF, Form.NOTES]
    corrected = run(text, corrections, settings, reanchor=reanchor, choices=_choices(choices))
    others = read_witnesses([WitnessSource.parse(one, Path.cwd()) for one in witnesses])
    read = [corrected.edition, *others]
    print_remarks((remark for edition in read for remark in edition.remarks), verbose=verbose)
    material = Material(
        corrected,
        datetime.now(UTC),
        pages=_pages(settings, corrected) if _needs_pages(settings, wanted) else (),
        places=places([collate(corrected.edition, one) for one in others]) if others else (),
        name=name,
        base=base,
    )
    written = write_export(material, wanted, settings.project.out)
    if in_place:
        write_corrected(corrected, text)
        written.append(text)
    for placed in corrected.moved:
        click.echo(f"moved: {placed.correction.place}", err=True)
    already = f", {len(corrected.applied)} are in the text already" if corrected.applied else ""
    click.echo(f"{sum(placed.correction.changes for placed in corrected.placed)} corrections{already}")
    for path in written:
        click.echo(path)
    return 0


def run(
    text: Path,
    corrections: Path | None,
    settings: Settings,
    *,
    reanchor: bool = False,
    choices: dict[str, str] | None = None,
) -> CorrectedSource:
    """The transcription at `text` with the accepted corrections of a file, or, without one, with those that were
    decided in the project's store. Raises ProofError."""
    edition = read_edition(text)
    if corrections is not None:
        decided = read_corrections(corrections)
    elif _has_store(settings):
        with Store.open(settings.store_address) as store:
            decided = decided_corrections(store, edition)
    else:
        raise UsageError(f"nothing was decided yet: there is no store at {settings.store_address}; give --corrections")
    return correct(edition, decided, reanchor=reanchor, choices=choices)


def _has_store(settings: Settings) -> bool:
    address = settings.store_address
    return not isinstance(address, Path) or address.is_file()


def _choices(told: Sequence[str]) -> dict[str, str]:
    found = {}
    for one in told:
        character, sign, form = one.partition("=")
        if not sign or len(character) != 1 or len(form) != 1:
            raise UsageError(f"--choose {one!r}: write a character and its simplified form, such as 乾=干")
        found[character] = form
    return found


def _needs_pages(settings: Settings, forms: Sequence[Form]) -> bool:
    """Whether pages of a check are wanted; TEI takes them where there are any."""
    return _has_store(settings) and bool(ON_IMAGES.union({Form.TEI}) & set(forms))


def _pages(settings: Settings, corrected: CorrectedSource) -> list[PageResult]:
    """The pages of this text as they were last checked."""
    with Store.open(settings.store_address) as store:
        last = store.latest_run()
        if last is None:
            return []
        wanted = pages_of(store, last.info.work, corrected.edition)
        return [page for page in store.results(work=last.info.work) if page.page in wanted]
