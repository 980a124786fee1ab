"""What witnesses say, in the store of a project: at the flags of a check, and as findings of their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proof.collation.collation import Collation
from proof.collation.findings import PlacedFlag, findings
from proof.collation.witness_evidence import Parallel, weigh_witnesses
from proof.model.flags import Flag, Origin
from proof.store import Store
from proof.store.collated import SavedDifferences
from proof.store.text_pages import TextInStore, find_text
from proof.text.transcription import Transcription
from proof.text.variants import VariantPolicy, policy_of

THRESHOLD = 3.0
"""The score from which flags are shown, where the run does not say."""


def weigh_stored(store: Store, collations: Sequence[Collation], pairs: Path | None = None) -> int:
    """Give the flags of a text the scores that they have in the light of the witnesses, in every work that it was
    checked in; gives how many changed. The text is the base of all collations; flags of other texts stay as they are.

    Raises UsageError where nothing was checked yet, or not this text.
    """
    edition = collations[0].base.edition
    text = find_text(store, edition)
    parallels = [Parallel.of(collation) for collation in collations]
    policy = policy_of(edition.script, pairs)
    return sum(_weigh(store, work, text, edition, parallels, policy) for work in sorted({own.work for own in text.own}))


def save_differences(store: Store, collations: Sequence[Collation]) -> SavedDifferences:
    """Have the raised differences of a text, the base of all collations, be findings in every work that it was checked
    in, beside those of the check; gives how many are where.

    Raises UsageError where nothing was checked yet, not this text, or where it was changed since.
    """
    edition = collations[0].base.edition
    raised = [placed for placed in findings(collations) if placed.flag.raised]
    at, total = 0, SavedDifferences(0, 0, 0)
    for part in edition.parts or (edition,):
        end = at + len(part.text)
        part_flags = [PlacedFlag(placed.start - at, placed.flag) for placed in raised if at <= placed.start <= end]
        saved = [store.collated.save(own.work, own.path, part, part_flags) for own in find_text(store, part).own]
        total += max(saved, key=lambda summary: summary.own + summary.at_flags)
        at = end + (not part.text.endswith("\n"))  # as `joined` puts them one after the other
    return total


def _weigh(
    store: Store,
    work: str,
    text: TextInStore,
    edition: Transcription,
    parallels: Sequence[Parallel],
    policy: VariantPolicy,
) -> int:
    """The same for the text as a part of one work."""
    last = store.latest_run(work)
    assert last is not None, "a text of a work came out of a run"
    pages = text.pages(work)
    threshold = last.info.settings.get("threshold", THRESHOLD)

    def changed(origin: Origin, *, seeded: bool = False) -> list[Flag]:
        flags = [flag for flag in store.flags(work, (origin,)) if flag.page in pages]
        weighed = weigh_witnesses(flags, edition, parallels, policy, threshold, seeded=seeded)
        return [after for before, after in zip(flags, weighed, strict=True) if after != before]

    rescored = changed(Origin.FINDING)
    store.rescore(work, [*rescored, *changed(Origin.SEEDED, seeded=True)])
    return len(rescored)
