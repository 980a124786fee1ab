"""Keeps what a check found: a database in the project folder, at any address that SQLAlchemy knows."""

from proof.store.records import (
    FlagFilter,
    KeptPage,
    PagePlace,
    Pair,
    RunInfo,
    StoredFlag,
    StoredRunInfo,
    TextInfo,
    Totals,
)
from proof.store.saving import CheckedResult, KeptResult, PackedCharacters
from proof.store.store import Store

__all__ = [
    "CheckedResult",
    "FlagFilter",
    "KeptPage",
    "KeptResult",
    "PackedCharacters",
    "PagePlace",
    "Pair",
    "RunInfo",
    "Store",
    "StoredFlag",
    "StoredRunInfo",
    "TextInfo",
    "Totals",
]
