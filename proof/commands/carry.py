"""`proof carry`: what was decided for one edition of a text, decided for another."""

from __future__ import annotations

import getpass
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from proof.commands.options import config_option, existing_store, setting_options, settings_of
from proof.errors import UsageError
from proof.exports.carried import Carried, carry
from proof.store import Store
from proof.text.read import in_script, read_transcription


@click.command("carry")
@click.argument("source", type=click.Path(path_type=Path), metavar="FROM")
@click.argument("target", type=click.Path(path_type=Path), metavar="TO")
@config_option
@setting_options(("store.url", "variants.file"))
@click.option("--apply", "applied", is_flag=True, help="Decide so; without it, say what would be decided.")
@click.option(
    "--same-copy", is_flag=True, help="Both are texts of one copy: what it reads is carried too (原文如此, 底本不改)."
)
@click.option(
    "--from-project",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Project of FROM, its folder or its settings file.  [default: that of TO]",
)
@click.option("--person", metavar="NAME", help="Who decides.  [default: the user of this machine]")
def command(
    source: Path,
    target: Path,
    config: Path | None,
    given: dict[str, Any],
    applied: bool,
    same_copy: bool,
    from_project: Path | None,
    person: str,
) -> int:
    """Carry decisions from one edition or format of a text to another.

    Both were checked, in this project or FROM in another. The two texts are aligned; what was decided at a place of
    FROM is listed with the place of TO that answers it, and with --apply decided there: each an act of its own, which
    names where it comes from, and all taken back at one stroke. What is kept or corrected in TO already stays so.

    A decision whose place cannot be told for certain is named with the reason, and the exit status is 1.
    """
    if source.resolve() == target.resolve():
        raise UsageError(f"{source} is named twice: name the text that was decided, then the other one")
    settings = settings_of(config, (target,) if from_project else (source, target), given)
    old, new = (in_script(read_transcription(path), settings.page.script) for path in (source, target))
    with ExitStack() as stack:
        store = stack.enter_context(Store.open(existing_store(settings)))
        decided = store
        if from_project is not None:
            decided = stack.enter_context(Store.open(existing_store(settings_of(from_project))))
        carried = carry(
            decided,
            old,
            store,
            new,
            person or getpass.getuser(),
            same_copy=same_copy,
            pairs=settings.variants.file,
            dry_run=not applied,
        )
    for each in carried:
        click.echo(_told(each), err=each.refused)
    made = sum(not each.reason for each in carried)
    refused = sum(each.refused for each in carried)
    click.echo(f"{made} decisions {'carried' if applied else 'to carry'}, {refused} not, of {len(carried)}")
    if made and not applied:
        click.echo("nothing is decided yet: --apply decides so")
    return int(refused > 0)


def _told(each: Carried) -> str:
    """A decision in one line: what, where in the first text, where in the other, and why not."""
    decision = each.decision
    corrected = f" → {decision.reading or '∅'}" if decision.transcribed != decision.reading else ""
    change = f"{decision.state.value} {decision.transcribed or '∅'}{corrected}"
    there = f" ⇒ {each.address.page or 'line'} {each.address.line}: {each.context}" if each.address else ""
    reason = f" ({each.reason})" if each.reason else ""
    return f"{decision.page} {decision.line}: {decision.context} {change}{there}{reason}"
