"""`proof report`: writes the reports of an earlier check again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from proof.commands.options import config_option, existing_store, quiet_option, setting_options, settings_of
from proof.commands.outcome import print_caught, print_counts
from proof.locale.marking import _
from proof.locale.terminal import say
from proof.report.write import write_again


@click.command("report")
@config_option
@setting_options(("project.out", "report.lang", "store.url"))
@click.option("--work", help="Name of the work in summary.json whose last check is reported.  [default: the last one]")
@quiet_option
def command(config: Path | None, given: dict[str, Any], work: str | None, quiet: bool) -> int:
    """Write the reports again from the store, with the decisions made since the last check.

    Progress by juan and by person, an estimate of the errors left, and how many planted errors were caught; no page
    is read. Useful for another
    language or another folder, too.
    """
    settings = settings_of(config, given=given)
    existing_store(settings)
    report = write_again(settings, work)
    if report.run.finished is None:
        click.echo(say(_("the last check was interrupted: the reports have only the pages that it finished")), err=True)
    if not quiet:
        print_counts(report.written)
        print_caught(report.written)
    return 0
