"""The result of a check in words: the counts on stdout, the problems on stderr."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from proof.checking.pipeline import CheckOutcome
from proof.commands.flagged import print_places
from proof.commands.remarks import print_remarks
from proof.locale.marking import _
from proof.locale.terminal import counted, say, sentence
from proof.model.flags import Kind
from proof.model.result import Status
from proof.report.places import SuspiciousPlace
from proof.report.progress import WorkProgress
from proof.report.reasons import STATUSES, rule_in_words
from proof.report.tally import HiddenPair, Tally, by_rule
from proof.report.write import WrittenReport

MAX_PRINTED_REMARKS = 12
"""Remarks, and pages without an image, that are printed without -v."""

MAX_PRINTED_PAIRS = 4
"""Pairs of variants that are named in a line."""

UNSEEN = {
    Status.NO_IMAGE: _("%(number)s without an image"),
    Status.MISMATCH: _("%(number)s with the wrong image"),
    Status.FAILED: _("%(number)s failed"),
}
"""Labels of the pages that were not checked against their image."""


def print_flagged(places: Sequence[SuspiciousPlace], tally: Tally) -> None:
    """Print the flagged places, and how many more there are."""
    print_places(places)
    raised = sum(count for (_, is_raised), count in tally.flags.items() if is_raised)
    if raised > len(places) > 0:
        more = f"{raised - len(places):,}"
        click.echo(say(_("... and %(number)s more, less suspicious, in the report"), number=more))


def print_counts(written: WrittenReport) -> None:
    """Print what was counted, and where the report lies."""
    tally = written.tally
    flagged = [
        counted(tally.raised, "%(number)s place flagged", "%(number)s places flagged"),
        *_by_language_model(tally),
    ]
    if tally.per_10_000 is not None:
        flagged.append(say(_("%(rate)s in 10,000 characters"), rate=f"{tally.per_10_000:.1f}"))
    click.echo(say(_("%(seen)s: %(flagged)s"), seen=_listed(_seen(tally)), flagged=_listed(flagged)))
    if tally.layout:
        click.echo(
            counted(
                len(tally.layout),
                "%(number)s finding about columns and pages",
                "%(number)s findings about columns and pages",
            )
        )
    hidden = tally.flags[Kind.VARIANT.value, False]
    if hidden:
        variants = counted(hidden, "%(number)s variant", "%(number)s variants")
        click.echo(say(_("hidden: %(what)s"), what=variants + _pairs(tally.variants)))
    for rule, pairs in by_rule(tally.habits):
        hidden_pairs = f"{pairs.total():,}{_pairs(pairs)}"
        click.echo(say(_("hidden: %(what)s. %(rule)s"), what=hidden_pairs, rule=rule_in_words(rule, say)))
    click.echo(say(_("report: %(path)s"), path=from_here(written.page)))


def _listed(parts: Iterable[str]) -> str:
    return say(_(", ")).join(parts)


def _seen(tally: Tally) -> list[str]:
    """The number of pages, and of those seen and not seen on images: `20 pages, 702 characters` where all were seen."""
    pages = counted(len(tally.pages), "%(number)s page", "%(number)s pages")
    characters = counted(tally.characters, "%(number)s character", "%(number)s characters")
    counts = tally.by_status()
    unseen = [say(label, number=f"{counts[status]:,}") for status, label in UNSEEN.items() if counts[status]]
    if not unseen:
        return [pages, characters]
    checked = counts[Status.CHECKED]
    message = _("%(number)s seen on images (%(characters)s)") if checked else _("none seen on images")
    return [pages, say(message, number=f"{checked:,}", characters=characters), *unseen]


def _by_language_model(tally: Tally) -> list[str]:
    """How many of the raised flags are on pages that only the language model read; empty where none is."""
    by_language_model = tally.raised - tally.raised_where_checked
    if not by_language_model:
        return []
    all_of_them = by_language_model == tally.raised
    message = _("all by the language model alone") if all_of_them else _("%(number)s by the language model alone")
    return [say(message, number=f"{by_language_model:,}")]


def print_caught(progress: WorkProgress) -> None:
    """Print how many planted errors were caught, all together and by person."""
    for estimate in (progress.planted, *progress.planted_by):
        if estimate.answered:
            shares = {"share": estimate.share, "low": estimate.low, "high": estimate.high}
            percent = {name: f"{100 * share:.0f}" for name, share in shares.items()}
            share = say(_("%(share)s%%; in 95 of 100 cases %(low)s to %(high)s%%"), **percent)
            numbers = {"caught": f"{estimate.caught:,}", "answered": f"{estimate.answered:,}"}
            of_all = _("planted errors: caught %(caught)s of %(answered)s (%(share)s)")
            of_person = _("planted errors: caught %(caught)s of %(answered)s by %(person)s (%(share)s)")
            click.echo(say(of_person if estimate.name else of_all, person=estimate.name, share=share, **numbers))


def print_trouble(outcome: CheckOutcome, *, verbose: bool) -> None:
    """Name on stderr the texts and the material that could not be used, the pages that failed, have the wrong image or
    none, and the remarks."""
    tally = outcome.written.tally
    for trouble in outcome.unread:
        click.echo(say(_("not checked: %(why)s"), why=sentence(trouble)), err=True)
    for trouble in outcome.unusable:
        click.echo(sentence(trouble), err=True)
    for page in tally.pages:
        if page.status in (Status.FAILED, Status.MISMATCH):
            status = say(STATUSES[page.status])
            why = f"{status}: {sentence(page.message)}" if page.message else status
            click.echo(f"{page.page}: {why}", err=True)
    without = [page.page for page in tally.pages if page.status is Status.NO_IMAGE]
    if without:
        named = ", ".join(without if verbose else without[:MAX_PRINTED_REMARKS])
        more = "" if verbose or len(without) <= MAX_PRINTED_REMARKS else " ..."
        pages = counted(len(without), "%(number)s page", "%(number)s pages")
        click.echo(say(_("no image: %(pages)s (%(named)s)"), pages=pages, named=named + more), err=True)
    print_remarks(outcome.remarks, verbose=verbose)
    _print_remarks(map(sentence, (*outcome.findings, *outcome.notices)), verbose=verbose)
    if verbose:
        of_pages = (f"{page.page}: {sentence(notice)}" for page in tally.pages for notice in page.notices)
        _print_remarks(of_pages, verbose=True)


def from_here(path: Path) -> Path:
    """A path as seen from the working folder, where it lies inside."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _print_remarks(remarks: Iterable[str], *, verbose: bool) -> None:
    remarks = list(remarks)
    shown = remarks if verbose else remarks[:MAX_PRINTED_REMARKS]
    for remark in shown:
        click.echo(remark, err=True)
    if len(remarks) > len(shown):
        more = f"{len(remarks) - len(shown):,}"
        click.echo(say(_("... and %(number)s more remarks: see the report, or add -v"), number=more), err=True)


def _pairs(pairs: Counter[HiddenPair]) -> str:
    """` (乗 for 乘 2, 竝 for 并 1)`: what the image shows for what the text has; '' for no pairs."""
    counts: Counter[tuple[str, str]] = Counter()
    for (transcribed, suggested, _script), count in pairs.items():
        counts[transcribed, suggested] += count
    named = [
        say(_("%(suggested)s for %(transcribed)s %(count)s"), suggested=suggested, transcribed=transcribed, count=count)
        for (transcribed, suggested), count in counts.most_common()
    ]
    shown = [*named[:MAX_PRINTED_PAIRS], *["..."] * (len(named) > MAX_PRINTED_PAIRS)]
    return say(_(" (%(pairs)s)"), pairs=_listed(shown)) if named else ""
