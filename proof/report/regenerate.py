"""Writing reports again from the store, without checking pages."""

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
    """The run, its written reports, and the progress of the work."""

    run: StoredRunInfo
    written: WrittenReport
    progress: WorkProgress


def write_again(settings: Settings, work: str | None = None) -> Regenerated:
    """Write the reports of `work`, or of the work that was checked last, from the store of `settings`.

    Raises UsageError if nothing was checked yet, OutputError if a file cannot be written.
    """
    with Store.open(settings.store_address) as store:
        run = store.latest_run(work)
        if run is None:
            raise UsageError(f"{store.name}: no check of {work or 'anything'} is in this store; run proof check first")
        source = StoredRun(store, run.id).of_work()
        written = write_reports(source, settings.project.out, language=settings.report.lang)
        return Regenerated(run, written, source.progress)
