"""What a check came to, in words: the counts on stdout, what went wrong on stderr."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from rich.console import Console

from proof.check.pipeline import CheckOutcome
from proof.commands.flagged import print_places
from proof.commands.remarks import print_remarks
from proof.locale.notices import in_english
from proof.model.flags import Kind
from proof.model.result import Status
from proof.report.places import SuspiciousPlace
from proof.report.progress import WorkProgress
from proof.report.reasons import rule_in_words
from proof.report.tally import PageTally, Tally, by_rule
from proof.report.write import WrittenReport

MOST_REMARKS = 12
MOST_PAIRS = 4

UNSEEN = {Status.NO_IMAGE: "without an image", Status.MISMATCH: "with the wrong image", Status.FAILED: "failed"}
"""What is said of pages of which no image was seen."""


def print_flagged(places: Sequence[SuspiciousPlace], tally: Tally) -> None:
    """Print the flagged places, and how many more there are."""
    console = Console(highlight=False, markup=False, emoji=False)
    print_places(console, places)
    raised = sum(count for (_, is_raised), count in tally.flags.items() if is_raised)
    if raised > len(places) > 0:
        click.echo(f"... and {raised - len(places):,} more, less suspicious, in the report")


def print_counts(written: WrittenReport) -> None:
    """Print what was counted, and where the report lies."""
    tally = written.tally
    rate = "" if tally.per_10_000 is None else f", {tally.per_10_000:.1f} in 10,000 characters"
    click.echo(f"{_seen(tally)}: {_count(tally.raised, 'place')} flagged{_by_sense(tally)}{rate}")
    if tally.layout:
        click.echo(f"{_count(len(tally.layout), 'finding')} about columns and pages")
    hidden = tally.flags[Kind.VARIANT.value, False]
    if hidden:
        click.echo(f"hidden: {_count(hidden, 'variant')}{_pairs(tally.variants)}")
    for rule, pairs in by_rule(tally.habits):
        click.echo(f"hidden: {pairs.total():,}{_pairs(pairs)}. {rule_in_words(rule, str)}")
    click.echo(f"report: {from_here(written.page)}")


def _seen(tally: Tally) -> str:
    """What was seen on images, and what was not: `20 pages, 702 characters` where all of them were."""
    pages, characters = _count(len(tally.pages), "page"), _count(tally.characters, "character")
    counts = tally.by_status()
    unseen = [f"{counts[status]:,} {label}" for status, label in UNSEEN.items() if counts[status]]
    if not unseen:
        return f"{pages}, {characters}"
    seen = (
        f"{counts[Status.CHECKED]:,} seen on images ({characters})" if counts[Status.CHECKED] else "none seen on images"
    )
    return f"{pages}, {seen}, {', '.join(unseen)}"


def _by_sense(tally: Tally) -> str:
    """How many of the raised flags are those of pages that were not seen."""
    by_sense = tally.raised - tally.raised_where_checked
    return f", {'all' if by_sense == tally.raised else f'{by_sense:,}'} by the sense alone" if by_sense else ""


def print_caught(progress: WorkProgress) -> None:
    """Print how many planted errors were caught, all together and by person."""
    for one in (progress.planted, *progress.planted_by):
        if one.answered:
            by = f" by {one.name}" if one.name else ""
            click.echo(
                f"planted errors: caught {one.caught:,} of {one.answered:,}{by} "
                f"({100 * one.share:.0f}%; in 95 of 100 cases {100 * one.low:.0f} to {100 * one.high:.0f}%)"
            )


def print_trouble(outcome: CheckOutcome, *, verbose: bool) -> None:
    """Name on stderr the texts and the material that could not be used, the pages that failed or carry the wrong image;
    then what was remarked."""
    tally = outcome.written.tally
    for trouble in outcome.unread:
        click.echo(f"not checked: {in_english(trouble)}", err=True)
    for trouble in outcome.unusable:
        click.echo(in_english(trouble), err=True)
    bad = [page for page in tally.pages if page.status in (Status.FAILED, Status.MISMATCH)]
    for page in bad:
        click.echo(f"{page.page}: {_why(page)}", err=True)
    without = [page.page for page in tally.pages if page.status is Status.NO_IMAGE]
    if without:
        named = ", ".join(without if verbose else without[:MOST_REMARKS])
        more = "" if verbose or len(without) <= MOST_REMARKS else " ..."
        click.echo(f"no image: {_count(len(without), 'page')} ({named}{more})", err=True)
    print_remarks(outcome.remarks, verbose=verbose)
    _print_remarks(map(in_english, (*outcome.findings, *outcome.notices)), verbose=verbose)
    if verbose:
        _print_remarks(
            [f"{page.page}: {in_english(notice)}" for page in tally.pages for notice in page.notices], verbose=True
        )


def from_here(path: Path) -> Path:
    """A path as seen from the working folder, where it lies inside."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _print_remarks(remarks: Iterable[str], *, verbose: bool) -> None:
    remarks = list(remarks)
    shown = remarks if verbose else remarks[:MOST_REMARKS]
    for remark in shown:
        click.echo(remark, err=True)
    if len(remarks) > len(shown):
        click.echo(f"... and {len(remarks) - len(shown):,} more remarks: see the report, or add -v", err=True)


def _why(page: PageTally) -> str:
    return f"{page.status.value}: {in_english(page.message)}" if page.message else page.status.value


def _pairs(pairs: Counter[tuple[str, str, str]]) -> str:
    """`: 乗 for 乘 2, 竝 for 并 1`: what the image shows for what the text has."""
    counted: Counter[tuple[str, str]] = Counter()
    for (transcribed, suggested, _), count in pairs.items():
        counted[transcribed, suggested] += count
    named = [f"{suggested} for {transcribed} {count}" for (transcribed, suggested), count in counted.most_common()]
    more = ", ..." if len(named) > MOST_PAIRS else ""
    return f" ({', '.join(named[:MOST_PAIRS])}{more})" if named else ""


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
