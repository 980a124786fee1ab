"""Out of the store, into files that a proofreader reads and other programs take."""

from proof.report.source import HeldRun, Source, StoredRun
from proof.report.write import Written, write_reports

__all__ = ["HeldRun", "Source", "StoredRun", "Written", "write_reports"]
