"""`proof carry`: carries decisions from one edition of a text to another."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from proof.commands.options import config_option, existing_store, setting_options, settings_of
from proof.errors import UsageError
from proof.exports.carried_decisions import Carried, carry
from proof.locale.marking import Sentence, _
from proof.locale.terminal import say
from proof.paths import real, user_name
from proof.report.reasons import STATES
from proof.store import Store
from proof.text.read import in_script, read_transcription


@click.command("carry")
@click.argument("source", type=click.Path(path_type=Path), metavar="FROM")
@click.argument("target", type=click.Path(path_type=Path), metavar="TO")
@config_option
@setting_options(("store.url", "variants.file"))
@click.option("--apply", "applied", is_flag=True, help="Save the decisions; without it they are only listed.")
@click.option(
    "--same-copy", is_flag=True, help="Both are texts of one copy: what it reads is carried too (原文如此, 底本不改)."
)
@click.option(
    "--from-project",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Project of FROM, its folder or its settings file.  [default: that of TO]",
)
@click.option(
    "--person", metavar="NAME", help="Person to whom the decisions are attributed.  [default: the user of this machine]"
)
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

    Both texts must have been checked, FROM in this project or in another. The texts are aligned, and each decision in
    FROM is listed with the corresponding place in TO. With --apply the decisions are made there, as one act that is
    undone as a whole; each names its origin. Places that are kept or corrected in TO already stay as they are.

    Decisions whose place is uncertain are listed with the reason; the exit status is then 1.
    """
    if real(source) == real(target):
        raise UsageError(
            _("%(source)s is named twice: name the text that was decided, then the other one"), source=source
        )
    settings = settings_of(config, (target,) if from_project else (source, target), given)
    source_text, target_text = (in_script(read_transcription(path), settings.page.script) for path in (source, target))
    with ExitStack() as stack:
        target_store = stack.enter_context(Store.open(existing_store(settings)))
        source_store = target_store
        if from_project is not None:
            source_store = stack.enter_context(Store.open(existing_store(settings_of(from_project))))
        decisions = carry(
            source_store,
            source_text,
            target_store,
            target_text,
            person or user_name(),
            same_copy=same_copy,
            pairs=settings.variants.file,
            dry_run=not applied,
        )
    for carried in decisions:
        click.echo(_line(carried), err=carried.refused)
    count = sum(not carried.reason for carried in decisions)
    refused = sum(carried.refused for carried in decisions)
    message = _("%(number)s decisions carried, %(refused)s not, of %(all)s")
    if not applied:
        message = _("%(number)s decisions to carry, %(refused)s not, of %(all)s")
    click.echo(say(message, number=count, refused=refused, all=len(decisions)))
    if count and not applied:
        click.echo(say(_("nothing was saved: --apply saves these decisions")))
    return int(refused > 0)


def _line(carried: Carried) -> str:
    """A line about a decision: its place in FROM, what was decided, its place in TO, and why it is not carried."""
    decision = carried.decision
    corrected = f" → {decision.reading or '∅'}" if decision.transcribed != decision.reading else ""
    change = f"{say(STATES[decision.state])} {decision.transcribed or '∅'}{corrected}"
    address = carried.address
    line = say(_("line"))
    target = f" ⇒ {address.page or line} {address.line}: {carried.context}" if address else ""
    reason = f" ({Sentence(carried.reason).in_words(say)})" if carried.reason else ""
    return f"{decision.page} {decision.line}: {decision.context} {change}{target}{reason}"
