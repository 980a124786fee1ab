"""Prints the result of a check: the counts on stdout, the problems on stderr."""

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
from proof.report.reasons import STATUSES, rule_in_words
from proof.report.tally import HiddenPair, Tally, by_rule
from proof.report.write import WrittenReport

MAX_PRINTED_REMARKS = 12
"""Maximum number of remarks, and of pages without an image, printed without -v."""

MAX_PRINTED_PAIRS = 4
"""Maximum number of pairs of variants named in a line."""

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
    """Print the counts, and the path of the report."""
    tally = written.tally
    click.echo(counts_in_words(tally))
    if tally.layout:
        click.echo(
            counted(
                len(tally.layout),
                "%(number)s finding about columns and pages",
                "%(number)s findings about columns and pages",
            )
        )
    if written.progress is not None and written.progress.has_decisions:
        total = written.progress.total
        decided = _("decided in the whole work: %(settled)s of %(flagged)s flags")
        click.echo(say(decided, settled=f"{total.settled:,}", flagged=f"{total.flagged:,}"))
    hidden = tally.flags[Kind.VARIANT.value, False]
    if hidden:
        variants = counted(hidden, "%(number)s variant", "%(number)s variants")
        click.echo(say(_("hidden: %(what)s"), what=variants + _pairs(tally.variants)))
    for rule, pairs in by_rule(tally.habits):
        hidden_pairs = f"{pairs.total():,}{_pairs(pairs)}"
        click.echo(say(_("hidden: %(what)s. %(rule)s"), what=hidden_pairs, rule=rule_in_words(rule, say)))
    click.echo(say(_("report: %(path)s"), path=from_here(written.page)))


def counts_in_words(tally: Tally) -> str:
    """The number of pages, how many of them were seen on images, and how many places are flagged."""
    flagged = [
        counted(tally.raised, "%(number)s place flagged", "%(number)s places flagged"),
        *_by_language_model(tally),
    ]
    if tally.per_10_000 is not None:
        flagged.append(say(_("%(rate)s in 10,000 characters"), rate=f"{tally.per_10_000:.1f}"))
    return say(_("%(seen)s: %(flagged)s"), seen=_listed(_seen(tally)), flagged=_listed(flagged))


def _listed(parts: Iterable[str]) -> str:
    return say(_(", ")).join(parts)


def _seen(tally: Tally) -> list[str]:
    """The numbers of pages, and of pages seen and not seen on images; if all were seen: `20 pages, 702 characters`."""
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
    """The number of raised flags on pages that only the language model read; empty if there are none."""
    number = tally.raised - tally.raised_where_checked
    if not number:
        return []
    is_all = number == tally.raised
    message = _("all by the language model alone") if is_all else _("%(number)s by the language model alone")
    return [say(message, number=f"{number:,}")]


def print_caught(written: WrittenReport) -> None:
    """Print how many planted errors were caught, in total and by person."""
    progress = written.progress
    if progress is None:
        return
    total = _("planted errors: caught %(caught)s of %(answered)s (%(share)s)")
    of_person = _("planted errors: caught %(caught)s of %(answered)s by %(person)s (%(share)s)")
    for estimate in (progress.planted, *progress.planted_by):
        if not estimate.answered:
            continue
        shares = {"share": estimate.share, "low": estimate.low, "high": estimate.high}
        percentages = {name: f"{100 * share:.0f}" for name, share in shares.items()}
        share = say(_("%(share)s%%; in 95 of 100 cases %(low)s to %(high)s%%"), **percentages)
        counts = {"caught": f"{estimate.caught:,}", "answered": f"{estimate.answered:,}"}
        click.echo(say(of_person if estimate.name else total, person=estimate.name, share=share, **counts))


def print_trouble(outcome: CheckOutcome, *, verbose: bool) -> None:
    """Print on stderr the texts and the material that could not be used, the pages that failed or have the wrong image
    or none, and the remarks."""
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
    imageless = [page.page for page in tally.pages if page.status is Status.NO_IMAGE]
    if imageless:
        printed = imageless if verbose else imageless[:MAX_PRINTED_REMARKS]
        named = ", ".join(printed) + (" ..." if len(printed) < len(imageless) else "")
        pages = counted(len(imageless), "%(number)s page", "%(number)s pages")
        click.echo(say(_("no image: %(pages)s (%(named)s)"), pages=pages, named=named), err=True)
    print_remarks(outcome.remarks, verbose=verbose)
    _print_remarks(map(sentence, (*outcome.findings, *outcome.notices)), verbose=verbose)
    if verbose:
        of_pages = (f"{page.page}: {sentence(notice)}" for page in tally.pages for notice in page.notices)
        _print_remarks(of_pages, verbose=True)


def from_here(path: Path) -> Path:
    """A path relative to the working folder if it is inside of it, else unchanged."""
    working_folder = Path.cwd()
    return path.relative_to(working_folder) if path.is_relative_to(working_folder) else path


def _print_remarks(remarks: Iterable[str], *, verbose: bool) -> None:
    remarks = list(remarks)
    shown = remarks if verbose else remarks[:MAX_PRINTED_REMARKS]
    for remark in shown:
        click.echo(remark, err=True)
    if len(remarks) > len(shown):
        more = f"{len(remarks) - len(shown):,}"
        click.echo(say(_("... and %(number)s more remarks: see the report, or add -v"), number=more), err=True)


def _pairs(pairs: Counter[HiddenPair]) -> str:
    """` (乗 for 乘 2, 竝 for 并 1)`: the reading of the image for that of the text, counted; empty without pairs."""
    counts: Counter[tuple[str, str]] = Counter()
    for (transcribed, suggested, _script), count in pairs.items():
        counts[transcribed, suggested] += count
    named = [
        say(_("%(suggested)s for %(transcribed)s %(count)s"), suggested=suggested, transcribed=transcribed, count=count)
        for (transcribed, suggested), count in counts.most_common()
    ]
    if not named:
        return ""
    more = ["..."] if len(named) > MAX_PRINTED_PAIRS else []
    return say(_(" (%(pairs)s)"), pairs=_listed([*named[:MAX_PRINTED_PAIRS], *more]))
