"""What people decided in the store, as corrections of a text."""

from __future__ import annotations

from proof.export.corrections import Correction
from proof.model.flags import Kind
from proof.store import Store
from proof.store.decisions import Decision, State, Verdict
from proof.store.text_pages import pages_of
from proof.text.witness import Edition


def decided_corrections(store: Store, edition: Edition, work: str | None = None) -> list[Correction]:
    """The corrections that stand for the pages of `edition`, and the places where the copy was found to read so.

    `work` is the one that was checked last where it is not given. A decision that a later check carried over to the
    place as it now is counts once; what is undecided, unsure, skipped or taken back is not among them.
    """
    if work is None:
        last = store.latest_run()
        if last is None:
            return []
        work = last.info.work
    pages = pages_of(store, work, edition)
    standing = [decision for decision in store.decisions.standing(work) if decision.page in pages]
    carried = {decision.about for decision in standing if decision.verdict is Verdict.CARRIED}
    return [
        _correction(decision)
        for decision in standing
        if decision.id not in carried and (decision.state is State.CORRECTED or _noted(decision))
    ]


def _noted(decision: Decision) -> bool:
    return decision.state is State.COPY and bool(decision.transcribed)


def _correction(decision: Decision) -> Correction:
    """What was suggested was shown in the script of the text when it was taken; a reading that was typed or chosen
    is in whatever script it was."""
    return Correction(
        page=decision.page,
        line=decision.line,
        offset=decision.offset,
        length=decision.length,
        replacement=decision.reading if decision.state is State.CORRECTED else decision.transcribed,
        original=decision.transcribed,
        context=decision.context,
        note=decision.note,
        kind=Kind(decision.kind),
        ref=decision.ref,
        flag=decision.uid,
        settled=decision.reading == decision.suggested,
    )
