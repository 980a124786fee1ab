"""Out of the store, into files that a proofreader reads and other programs take."""

from proof.report.source import RunSource, StoredRun
from proof.report.write import WrittenReport, write_reports

__all__ = ["RunSource", "StoredRun", "WrittenReport", "write_reports"]
