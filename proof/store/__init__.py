"""Keeps what a check found: a database in the project folder, at any address that SQLAlchemy knows."""

from proof.store.records import FlagFilter, PagePlace, Pair, Run, RunInfo, StoredFlag, TextInfo, Totals
from proof.store.store import Store

__all__ = ["FlagFilter", "PagePlace", "Pair", "Run", "RunInfo", "Store", "StoredFlag", "TextInfo", "Totals"]
