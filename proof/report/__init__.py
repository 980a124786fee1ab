"""Reports: files for proofreaders and for other programs, written from the store."""

from proof.report.source import StoredRun
from proof.report.write import WrittenReport, write_reports

__all__ = ["StoredRun", "WrittenReport", "write_reports"]
