"""What witnesses say, in the store of a project: beside the flags of a check."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proof.collate.collation import Collation
from proof.collate.witness_evidence import Parallel, hear
from proof.errors import UsageError
from proof.model.flags import Kind
from proof.store import FlagFilter, Store
from proof.store.text_pages import pages_of
from proof.text.variants import VariantPolicy

THRESHOLD = 3.0
"""The score from which flags are shown, where the run does not say."""


def weigh_stored(store: Store, collations: Sequence[Collation], pairs: Path | None = None) -> int:
    """Give the flags of the last check the scores that they have in the light of the witnesses; gives how many
    changed. All collations have the checked text as their base; flags of other texts stay as they are.

    Raises UsageError where nothing was checked yet.
    """
    last = store.latest_run()
    if last is None:
        raise UsageError(f"{store.name}: nothing was checked yet; run proof check first")
    edition = collations[0].base.edition
    pages = pages_of(store, last.info.work, edition)
    flags = [
        found.flag
        for found in store.flags(FlagFilter(last.info.work, planted=True))
        if found.flag.page in pages and found.flag.kind is not Kind.AUDIT
    ]
    parallels = [Parallel.of(collation) for collation in collations]
    threshold = last.info.settings.get("threshold", THRESHOLD)
    weighed = hear(flags, edition, parallels, VariantPolicy(edition.script, pairs), threshold)
    changed = [after for before, after in zip(flags, weighed, strict=True) if after != before]
    store.rescore(last.info.work, changed)
    return sum(not flag.planted for flag in changed)
