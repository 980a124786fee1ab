"""Reports written again from the store, without reading a page."""

from __future__ import annotations

from dataclasses import dataclass

from proof.errors import UsageError
from proof.report.progress import WorkProgress
from proof.report.source import StoredRun
from proof.report.write import WrittenReport, write_reports
from proof.settings.config import Settings
from proof.store import Store, StoredRunInfo


@dataclass(frozen=True, slots=True)
class Regenerated:
    """The run whose reports were written, the reports, and what people decided."""

    run: StoredRunInfo
    written: WrittenReport
    progress: WorkProgress


def write_again(settings: Settings, work: str | None = None) -> Regenerated:
    """Write the reports of a work in the store of `settings`, which is there: of `work`, or of the one checked last.

    Raises UsageError where nothing was checked yet, OutputError where a file cannot be written.
    """
    with Store.open(settings.store_address) as store:
        run = store.latest_run(work)
        if run is None:
            raise UsageError(f"{store.name}: no check of {work or 'anything'} is in this store; run proof check first")
        source = StoredRun(store, run.id).of_work()
        written = write_reports(source, settings.project.out, language=settings.report.lang)
        return Regenerated(run, written, source.progress)
