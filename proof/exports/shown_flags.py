"""The flags of a checked page after decisions: accepted and open ones, without the rejected."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from proof.exports.corrections import Correction
from proof.exports.marked_pages import corrections_on
from proof.model.flags import CORRECTED_BY_HAND, Evidence, Flag
from proof.model.result import PageResult, box_at


def with_decisions(
    page: PageResult, corrections: Iterable[Correction], rejected: Collection[str], *, running: bool = False
) -> PageResult:
    """A page whose flags are its corrections, those by hand included, and the raised flags that nobody has decided.
    `rejected` are the ids of flags where the text is kept; `running` as in `mark`."""
    flag_of_id = {flag.id: flag for flag in page.flags}
    on_page = [each for each in corrections_on(page, corrections, running=running) if each.changes]
    decided = {correction.flag for correction in on_page}
    undecided = (flag for flag in page.flags if flag.raised and flag.id not in decided and flag.id not in rejected)
    flags = [*undecided, *(_flag(page, correction, flag_of_id.get(correction.flag)) for correction in on_page)]
    return replace(page, flags=tuple(sorted(flags, key=lambda flag: (flag.line, flag.offset))))


def _flag(page: PageResult, correction: Correction, checked: Flag | None) -> Flag:
    """A correction as a flag that suggests the decided reading; `checked` is the flag that was decided, if any."""
    if checked is not None:
        return replace(checked, suggested=correction.replacement, raised=True)
    return Flag(
        page=page.page,
        ref=page.ref,
        line=correction.line,
        offset=correction.offset,
        length=correction.length,
        kind=correction.kind,
        transcribed=correction.original,
        suggested=correction.replacement,
        score=0.0,
        raised=True,
        bbox=box_at(page.characters, correction.line, correction.offset, correction.length),
        evidence=Evidence(CORRECTED_BY_HAND),
        context=correction.context,
        id=correction.flag,
        moved=correction.moved,
    )
