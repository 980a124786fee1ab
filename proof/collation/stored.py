"""Readings of witnesses in the store of a project: as evidence at the flags of a check, and as findings of their
own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proof.collation.collation import Collation
from proof.collation.findings import findings
from proof.collation.witness_evidence import Parallel, weigh_witnesses
from proof.model.flags import Flag, Origin
from proof.store import Store
from proof.store.editions import SavedDifferences
from proof.store.text_files import StoredText
from proof.text.transcription import Transcription
from proof.text.variants import VariantPolicy, policy_of
from proof.text.witnesses import parts_of


def weigh_stored(store: Store, collations: Sequence[Collation], pairs: Path | None = None) -> int:
    """Adjust the scores of a text's flags using the witnesses, in every work in which the text was checked, and return
    the number of changed flags. The text, or the texts of a folder, is the base of all collations.

    Raises UsageError where nothing was checked yet, or not this text.
    """
    edition = collations[0].base.edition
    parallels = [Parallel.of(collation) for collation in collations]
    policy = policy_of(edition.script, pairs)
    return sum(
        _weigh(store, own, part, begin, parallels, policy)
        for begin, _, part in parts_of(edition)
        for own in store.texts.find(part).own
    )


def must_be_checked(store: Store, edition: Transcription, *, as_it_is: bool) -> None:
    """Raises UsageError where nothing was checked yet, or not this text, or not every text of a folder; `as_it_is`:
    also where one was changed since."""
    for _, _, part in parts_of(edition):
        for own in store.texts.find(part).own:
            if as_it_is:
                store.collated.must_be_as_checked(own.work, own.path, part)


def save_differences(store: Store, collations: Sequence[Collation]) -> SavedDifferences:
    """Save the raised differences of a text, the base of all collations, as findings in every work in which the text
    was checked, beside the findings of the check; gives their numbers.

    Raises UsageError where nothing was checked yet, not this text, or where it was changed since.
    """
    edition = collations[0].base.edition
    raised = [placed for placed in findings(collations) if placed.flag.raised]
    totals = []
    for begin, end, part in parts_of(edition):
        part_flags = [(placed.start - begin, placed.flag) for placed in raised if begin <= placed.start < end]
        saved = [store.collated.save(own.work, own.path, part, part_flags) for own in store.texts.find(part).own]
        totals.append(max(saved, key=lambda summary: summary.own + summary.at_flags))
    return SavedDifferences(*map(sum, zip(*totals, strict=True)))


def _weigh(
    store: Store,
    own: StoredText,
    edition: Transcription,
    at: int,
    parallels: Sequence[Parallel],
    policy: VariantPolicy,
) -> int:
    """Adjust the scores of the flags of one text in one work, and return the number of changed flags; the text begins
    at code point `at` of the base."""
    last = store.latest_run(own.work)
    assert last is not None, "a text of a work came out of a run"
    threshold = last.info.settings["threshold"]

    def changed(origin: Origin, *, seeded: bool = False) -> list[Flag]:
        flags = list(store.flags(own.work, (origin,), text=own.path))
        weighed = weigh_witnesses(flags, edition, parallels, policy, threshold, at=at, seeded=seeded)
        return [after for before, after in zip(flags, weighed, strict=True) if after != before]

    rescored = changed(Origin.FINDING)
    store.rescore(own.work, [*rescored, *changed(Origin.SEEDED, seeded=True)])
    return len(rescored)
