"""Writing the report of a run into a folder: flags.jsonl, flags.csv, summary.json and report.html; progress.json if
anything was decided; comments.jsonl if there are comments."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment

from proof.atomic import whole_file
from proof.errors import UsageError
from proof.locale.languages import translations
from proof.locale.marking import _
from proof.locale.templates import templates_in, write_page
from proof.report.density import short_name
from proof.report.page import report_of
from proof.report.progress import WorkProgress, per_10000
from proof.report.reasons import percent
from proof.report.source import StoredRun
from proof.report.summary import summary
from proof.report.tables import json_line, row, spreadsheet
from proof.report.tally import Tally, in_order
from proof.settings.config import Settings
from proof.store import Store, StoredRunInfo
from proof.store.comments import as_line

MAX_PICTURES = 2000
"""Maximum number of flags that the report shows with their image: each adds some ten kilobytes to the file."""


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """The written files, the counts of the run, and the progress of the work, if that is known."""

    flags: Path
    spreadsheet: Path
    summary: Path
    page: Path
    tally: Tally
    progress: WorkProgress | None = None


def write_reports(
    source: StoredRun, folder: Path, *, language: str = "en", pictures: int = MAX_PICTURES
) -> WrittenReport:
    """Write the files of a run into `folder`, each atomically.

    `language` is a tag of `proof.locale.languages`; the `pictures` most suspicious flags are shown with their image.
    One page and one image are in memory at a time. Raises OutputError if a file cannot be written, UsageError for an
    unknown language."""
    written = WrittenReport(
        flags=folder / "flags.jsonl",
        spreadsheet=folder / "flags.csv",
        summary=folder / "summary.json",
        page=folder / "report.html",
        tally=Tally(most=pictures),
        progress=source.progress,
    )
    environment = _environment(language)  # raises UsageError before a file is written
    with (
        whole_file(written.flags) as lines,
        whole_file(written.spreadsheet, encoding="utf-8-sig", newline="") as csv_file,
    ):
        table = spreadsheet(csv_file)
        for result in source.results(outline=True):
            written.tally.add(result)
            for flag in in_order(result.flags):
                lines.write(json_line(flag))
                table.writerow(row(flag))
    with whole_file(written.summary) as file:
        file.write(json.dumps(summary(source.run, written.tally), ensure_ascii=False, indent=1) + "\n")
    progress = written.progress
    if progress is not None and progress.has_decisions:
        with whole_file(folder / "progress.json") as file:
            file.write(json.dumps(progress.as_dict(), ensure_ascii=False, indent=1) + "\n")
    if source.comments:
        with whole_file(folder / "comments.jsonl") as file:
            file.writelines(json.dumps(as_line(comment), ensure_ascii=False) + "\n" for comment in source.comments)
    say = translations(language).gettext
    write_page(environment, "report", written.page, report=report_of(source, written.tally, language, say))
    return written


@dataclass(frozen=True, slots=True)
class Regenerated:
    """The run, and its written reports."""

    run: StoredRunInfo
    written: WrittenReport


def write_again(settings: Settings, work: str | None = None) -> Regenerated:
    """Write the reports of `work`, or of the work that was checked last, from the store, without checking pages. Those
    of a work in a library are written into its own folder, as a check does. Raises UsageError if nothing was checked
    yet, OutputError if a file cannot be written."""
    with Store.open(settings.store_address) as store:
        run = store.latest_run(work)
        if run is None:
            raise UsageError(
                _("%(name)s: this store has no check of %(work)s; run proof check first"),
                name=store.name,
                work=work or "anything",
            )
        source = StoredRun(store, run.id).of_work()
        in_library = (name for name, (checked, _) in store.library.folders().items() if checked == run.info.work)
        folder = settings.project.out / next(in_library, "")
        return Regenerated(run, write_reports(source, folder, language=settings.report.lang))


def _environment(language: str) -> Environment:
    """The templates in a language, with the filters and functions that the report uses."""
    environment = templates_in(language)
    environment.filters |= {"px": px, "percent": percent, "short": short_name, "thousands": thousands}
    environment.globals["per_10000"] = per_10000
    return environment


def px(length: float) -> str:
    """A length in pixels for SVG, rounded to a tenth."""
    return f"{length:.1f}".removesuffix(".0")


def thousands(count: int) -> str:
    """A number with a comma between thousands."""
    return f"{count:,}"
