"""Prints remarks about text files (`proof.text.remarks`) on stderr."""

from __future__ import annotations

from collections.abc import Iterable

import click

from proof.locale.marking import Say, _
from proof.locale.notices import in_words
from proof.locale.terminal import say
from proof.model.notices import MessageCode
from proof.text.remarks import Remark

verbose_option = click.option("-v", "--verbose", is_flag=True, help="Print every remark about texts and pages.")

_ALIKE = _("(%(number)s such remarks)")
_ALIKE_IN_FILES = _("(%(number)s such remarks in %(files)s files)")


def print_remarks(remarks: Iterable[Remark], *, verbose: bool) -> None:
    """Print each kind of remark once, with its first place and their number; if `verbose`, each remark."""
    remarks = tuple(dict.fromkeys(remarks))
    lines = sentences(remarks, say, each=verbose)
    for line in lines:
        click.echo(line, err=True)
    if len(remarks) > len(lines):
        click.echo(say(_("remarks: %(number)s in total; -v prints them"), number=f"{len(remarks):,}"), err=True)


def sentence(remark: Remark, say: Say) -> str:
    """A remark in the language of `say`: the place, what is odd, and how it was read."""
    where = f"{remark.path}:{remark.line}" if remark.line else str(remark.path)
    return say(_("%(where)s: %(what)s")) % {"where": where, "what": in_words(remark.notice, say)}


def sentences(remarks: Iterable[Remark], say: Say, *, each: bool = False) -> list[str]:
    """The remarks as sentences, grouped by kind in the order of first occurrence. Without `each`, a kind gives one
    sentence: its first remark, with the number of remarks and files."""
    by_code: dict[MessageCode, list[Remark]] = {}
    for remark in dict.fromkeys(remarks):
        by_code.setdefault(remark.notice.code, []).append(remark)
    if each:
        return [sentence(remark, say) for alike in by_code.values() for remark in alike]
    return [_summarised(alike, say) for alike in by_code.values()]


def _summarised(alike: list[Remark], say: Say) -> str:
    text = sentence(alike[0], say)
    if len(alike) == 1:
        return text
    files = len({remark.path for remark in alike})
    values = {"number": f"{len(alike):,}", "files": f"{files:,}"}
    return f"{text} {say(_ALIKE if files == 1 else _ALIKE_IN_FILES) % values}"
