"""What an export would write into a text, and what not, before it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from proof.export.corrections import Correction
from proof.export.decided import Decided, Unused
from proof.export.source import CorrectedSource


@dataclass(frozen=True, slots=True)
class PlannedCorrection:
    """A correction that would be written or, where there is a `reason`, would not. `flag` is the number of its flag in
    the store, 0 for none; `text` names the file where that is another."""

    page: str
    line: int
    offset: int
    old: str
    new: str
    person: str
    flag: int = 0
    reason: str = ""
    text: str = ""

    @property
    def written(self) -> bool:
        return not self.reason

    def __str__(self) -> str:
        column = f", column {self.line}" if self.line else ""
        where = f"page {self.page}{column}" if self.page else f"line {self.line}"
        change = f"{self.old or '(nothing)'} → {self.new or '(nothing)'}"
        return f"{where}, offset {self.offset}: {change}" + (f" ({self.person})" if self.person else "")


def planned(decided: Decided, corrected: CorrectedSource) -> list[PlannedCorrection]:
    """All corrections of a text in the order of the file: first those that are written, then those that are not."""
    changing = [one for one in corrected.placed if one.correction.changes]
    found = [_of(one.correction) for one in sorted(changing, key=lambda one: one.edit.start)]
    found += [_of(one.correction, one.reason) for one in corrected.refused]
    for left in decided.left_out:
        made = left.decision
        other = left.text if left.reason is Unused.OTHER_TEXT else ""
        place = (made.page, made.line, made.offset, made.transcribed, made.reading, made.person, made.flag)
        found.append(PlannedCorrection(*place, reason=left.reason.value, text=other))
    return found


def not_written(decided: Decided, corrected: CorrectedSource) -> Iterator[str]:
    """What does not reach the text, by reason, in lines for who takes it home; of other texts only how much."""
    of_reason: dict[tuple[str, str], list[PlannedCorrection]] = {}
    for one in planned(decided, corrected):
        if not one.written:
            of_reason.setdefault((one.reason, one.text), []).append(one)
    for (reason, text), some in of_reason.items():
        yield f"not written, {reason}{f' ({text})' if text else ''}: {len(some)}"
        if not text:
            yield from (f"  {one}" for one in some)


def _of(correction: Correction, reason: str = "") -> PlannedCorrection:
    place = (correction.page, correction.line, correction.offset)
    readings = (correction.original, correction.replacement)
    return PlannedCorrection(*place, *readings, correction.person, correction.number, reason)
