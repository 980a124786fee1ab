"""The flags of a checked page as decisions leave them: what was accepted, what is still open, nothing that was
rejected."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from proof.export.corrections import Correction
from proof.export.marked import is_on
from proof.model.flags import Evidence, Flag
from proof.model.geometry import Box
from proof.model.result import PageResult


def with_decisions(
    page: PageResult, corrections: Iterable[Correction], rejected: Collection[str], *, running: bool = False
) -> PageResult:
    """A page whose raised flags are the corrections on it, as they were decided, corrections by hand among them, and
    the proposals that nobody has decided. `rejected` are the ids of flags where the text is kept; `running` as in
    `mark`."""
    known = {flag.id: flag for flag in page.flags}
    made = [one for one in corrections if one.changes and is_on(page, one, running=running)]
    decided = {one.flag for one in made}
    still = (flag for flag in page.flags if flag.raised and flag.id not in decided and flag.id not in rejected)
    flags = [*still, *(_flag(page, one, known.get(one.flag)) for one in made)]
    return replace(page, flags=tuple(sorted(flags, key=lambda flag: (flag.line, flag.offset))))


def _flag(page: PageResult, correction: Correction, found: Flag | None) -> Flag:
    """A correction as a flag that suggests what was decided; `found` is the flag of the check that it decides."""
    if found is not None:
        return replace(found, suggested=correction.replacement, raised=True)
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
        bbox=_box(page, correction),
        evidence=Evidence("by hand"),
        context=correction.context,
        id=correction.flag,
        moved=correction.moved,
    )


def _box(page: PageResult, correction: Correction) -> Box | None:
    """Where the characters of a correction stand on the image, or the one before it; None where that is not known."""
    line = sorted((one for one in page.characters if one.line == correction.line), key=lambda one: one.offset)
    end = correction.offset + correction.length
    boxes = [one.box for one in line if correction.offset <= one.offset < end]
    boxes = boxes or [one.box for one in line if one.offset < correction.offset][-1:] or [one.box for one in line[:1]]
    box: Box | None = None
    for one in boxes:
        box = one if box is None else box.union(one)
    return box
