"""The store: a database with the results of checks and the acts of people, at any address that SQLAlchemy accepts.

When the text of a page changes, `text_files` and `texts` record its new version, `carried_places` carries the decided
places into it, and `flag_matching` gives the flags of the next check the decisions of the flags that they continue."""

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
