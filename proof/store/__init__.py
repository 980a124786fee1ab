"""The store: a database with the results of checks and the acts of people, at any address that SQLAlchemy accepts."""

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
