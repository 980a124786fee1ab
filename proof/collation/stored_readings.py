"""Saves the readings of witnesses in the store of a project: as evidence on the flags of a check, or as findings."""

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
    the number of changed flags. The text, or the folder of texts, is the base of all collations.

    Raises UsageError if this text was not checked.
    """
    edition = collations[0].base.edition
    parallels = [Parallel.of(collation) for collation in collations]
    policy = policy_of(edition.script, pairs)
    return sum(
        _weigh(store, stored, part, start, parallels, policy)
        for start, _, part in parts_of(edition)
        for stored in store.texts.find(part).own
    )


def must_be_checked(store: Store, edition: Transcription, *, as_it_is: bool) -> None:
    """Raises UsageError if this text, or one of the texts of a folder, was not checked. With `as_it_is` it must not
    have changed since either."""
    for _, _, part in parts_of(edition):
        for stored in store.texts.find(part).own:
            if as_it_is:
                store.collated.must_be_as_checked(stored.work, stored.path, part)


def save_differences(store: Store, collations: Sequence[Collation]) -> SavedDifferences:
    """Save the raised differences of a text, the base of all collations, as findings in every work in which the text
    was checked, and return their numbers. The findings of the check are kept. Suggestions are spelled as the text
    spells them (云 for 雲 in a simplified one).

    Raises UsageError if this text was not checked, or was changed since.
    """
    edition = collations[0].base.edition
    raised = [placed for placed in findings(collations) if placed.flag.raised]
    policy = policy_of(edition.script)
    totals = []
    for start, end, part in parts_of(edition):
        part_flags = [
            (at - start, flag.spelled(policy.spellings(part.text, flag.suggested, flag.transcribed)))
            for at, flag in ((placed.start, placed.flag) for placed in raised)
            if start <= at < end
        ]
        saved = [
            store.collated.save(stored.work, stored.path, part, part_flags) for stored in store.texts.find(part).own
        ]
        totals.append(max(saved, key=lambda summary: summary.own + summary.at_flags))
    return SavedDifferences(*map(sum, zip(*totals, strict=True)))


def _weigh(
    store: Store,
    stored: StoredText,
    part: Transcription,
    start: int,
    parallels: Sequence[Parallel],
    policy: VariantPolicy,
) -> int:
    """Adjust the scores of the flags of one text in one work, and return the number of changed flags. The text is the
    part of the base that begins at code point `start`."""
    last = store.latest_run(stored.work)
    assert last is not None, "a work with a text has a run"
    threshold = last.info.settings["threshold"]

    def changed(origin: Origin, *, seeded: bool = False) -> list[Flag]:
        flags = list(store.flags(stored.work, (origin,), text=stored.path))
        weighed = weigh_witnesses(flags, part, parallels, policy, threshold, at=start, seeded=seeded)
        return [after for before, after in zip(flags, weighed, strict=True) if after != before]

    rescored = changed(Origin.FINDING)
    store.rescore(stored.work, [*rescored, *changed(Origin.SEEDED, seeded=True)])
    return len(rescored)
