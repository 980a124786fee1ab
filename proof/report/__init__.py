"""Reports: files for proofreaders and for other programs, written from the store."""

from proof.report.source import RunSource, StoredRun
from proof.report.write import WrittenReport, write_reports

__all__ = ["RunSource", "StoredRun", "WrittenReport", "write_reports"]
