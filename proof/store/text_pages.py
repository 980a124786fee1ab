"""Which pages of a work are those of a text."""

from __future__ import annotations

from pathlib import Path

from proof.store.store import Store
from proof.text.witness import Edition


def pages_of(store: Store, work: str, edition: Edition) -> set[str]:
    """The pages of an edition; of one without page marks those on which it was laid."""
    if edition.paged:
        return {page.id for page in edition.pages}
    return {page.page for page in store.queue.pages(work) if Path(page.text).resolve() == edition.path.resolve()}
