"""`proof recover`: restores decisions from the journal beside the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from proof.commands.options import config_option, existing_store, setting_options, settings_of
from proof.locale.marking import _
from proof.locale.terminal import say
from proof.store import Store

EXIT_WHOLE = 0
EXIT_IN_PART = 1


@click.command("recover")
@config_option
@setting_options(("store.url",))
@click.option(
    "--journal",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Journal to read.  [default: the one beside the store]",
)
def command(config: Path | None, given: dict[str, Any], journal: Path | None) -> int:
    """Rebuild decisions, page states, layouts, rules and comments from the journal.

    If the store is damaged or lost: move it away, leave the journal where it is, run `proof check`, then this command.
    What the store has already stays as it is; running it twice changes nothing. Entries that cannot be read or whose
    place is not found are listed and stay in the journal; the exit status is then 1.
    """
    settings = settings_of(config, given=given)
    with Store.open(existing_store(settings), folder=settings.base) as store:
        recovered = store.recover(journal)
        path = journal or (store.journal.path if store.journal else None)
    rebuilt = ", ".join(
        f"{count:,} {act}{'' if count == 1 else 's'}" for act, count in sorted(recovered.rebuilt.items())
    )
    message = _("rebuilt: %(rebuilt)s; in the store already: %(present)s")
    click.echo(say(message, rebuilt=rebuilt or say(_("nothing")), present=f"{recovered.present:,}"))
    if recovered.superseded:
        click.echo(
            say(_("not rebuilt, since they were decided again later: %(number)s"), number=f"{recovered.superseded:,}")
        )
    for line in recovered.damaged:
        click.echo(say(_("%(journal)s:%(line)s: cannot be read"), journal=path, line=line), err=True)
    if recovered.cut_off:
        message = _("%(journal)s:%(line)s: the last line was cut off before it was acknowledged")
        click.echo(say(message, journal=path, line=recovered.cut_off), err=True)
    for act in recovered.unplaced:
        click.echo(say(_("no place: %(act)s"), act=act), err=True)
    return EXIT_IN_PART if recovered.unplaced or recovered.damaged else EXIT_WHOLE
