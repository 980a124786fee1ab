"""Keeps what a check found: a database in the project folder, at any address that SQLAlchemy knows."""

from proof.store.rows import KeptPage, PagePlace, RunInfo, StoredRunInfo, TextInfo
from proof.store.saving import CheckedResult, KeptResult, PackedCharacters
from proof.store.store import Store

__all__ = [
    "CheckedResult",
    "KeptPage",
    "KeptResult",
    "PackedCharacters",
    "PagePlace",
    "RunInfo",
    "Store",
    "StoredRunInfo",
    "TextInfo",
]
