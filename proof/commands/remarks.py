"""Prints remarks about text files on stderr."""

from __future__ import annotations

from collections.abc import Iterable

import click

from proof.locale.marking import _
from proof.locale.terminal import say
from proof.report.remarks import sentences
from proof.text.remarks import Remark

verbose_option = click.option("-v", "--verbose", is_flag=True, help="Print every remark about texts and pages.")


def print_remarks(remarks: Iterable[Remark], *, verbose: bool) -> None:
    """Print each kind of remark once, with its first place and their number; if `verbose`, each remark."""
    remarks = tuple(dict.fromkeys(remarks))
    lines = sentences(remarks, say, each=verbose)
    for line in lines:
        click.echo(line, err=True)
    if len(remarks) > len(lines):
        click.echo(say(_("remarks: %(number)s in total; -v prints them"), number=f"{len(remarks):,}"), err=True)
