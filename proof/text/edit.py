"""Corrections as edits of the source text: what is edited changes, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from proof.errors import UsageError
from proof.model.flags import REACH


@dataclass(frozen=True, slots=True)
class Edit:
    """`length` code points from `start` on give way to `replacement`; with length 0 it goes before `start`."""

    start: int
    length: int
    replacement: str

    @property
    def end(self) -> int:
        return self.start + self.length


TELLS = 2
"""Least characters beside a place by which it is told, where what stands farther away was corrected."""


def edited(text: str, edits: Iterable[Edit]) -> str:
    """`text` with the edits applied; their places are those of `text` as given, in any order.

    No edits give `text` itself. An insertion goes before what stands at its place, even where that is replaced
    too. Raises UsageError where edits overlap, two insertions claim one place (their order would be a guess), or
    one reaches outside the text; nothing is applied then.
    """
    pieces: list[str] = []
    reached = 0
    before: Edit | None = None
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.length)):
        if edit.start < 0 or edit.length < 0 or edit.end > len(text):
            raise UsageError(f"{_named(edit)} reaches outside the text, which has {len(text)} characters")
        if edit.start < reached or (before is not None and (before.start, before.length) == (edit.start, edit.length)):
            raise UsageError(f"{_named(edit)} and {_named(before or edit)} claim the same place: take back one of them")
        pieces += (text[reached : edit.start], edit.replacement)
        reached, before = edit.end, edit
    return "".join((*pieces, text[reached:])) if pieces else text


class Surroundings(NamedTuple):
    """What stands before and after a place; `begins` and `ends`: the line does there."""

    before: str
    after: str
    begins: bool
    ends: bool

    def have(self, line: str, offset: int, text: str) -> bool:
        """Whether `text` stands at a place of a line, and they around it."""
        end = offset + len(text)
        return (
            offset >= 0
            and line.startswith(text, offset)
            and line[:offset].endswith(self.before)
            and line.startswith(self.after, end)
            and (not self.begins or offset == len(self.before))
            and (not self.ends or end + len(self.after) == len(line))
        )

    def are_of(self, context: str, text: str) -> bool:
        """Whether `text` stands between them in a context: as far as that reaches."""
        before, bracketed, after = context.partition(f"[{text}]")
        own_before, own_after = self.before[-REACH:], self.after[:REACH]
        return (
            bool(bracketed and own_before + own_after)
            and (before == own_before if self.begins else before.endswith(own_before))
            and (after == own_after if self.ends else after.startswith(own_after))
        )


def contexts(context: str, original: str, offset: int, beside: Iterable[tuple[Edit, str]]) -> list[Surroundings]:
    """What may stand around a place of a line: what stood there, by its `context` (`東面于[北]耦大夫`), and the same
    with the edits `beside` it, each with what it takes the place of. Empty where the context does not tell."""
    at = context.find(f"[{original}]")
    if at < 0:
        return []
    before, after = context[:at], context[at + len(original) + 2 :]
    end = offset + len(original)
    others = {one for one in beside if (one[0].start, one[0].end) != (offset, end)}
    now = _with(others, before, offset - at, before=True), _with(others, after, end, before=False)
    begins, ends = len(before) < REACH, len(after) < REACH
    return [Surroundings(*one, begins, ends) for one in dict.fromkeys(((before, after), now))]


def is_written(line: str, edit: Edit, stood: str, context: str, beside: Iterable[tuple[Edit, str]]) -> bool:
    """Whether a line reads what was decided at the very place of which it was: `edit` of what `stood` there in its
    `context`, moved as far as what was corrected `beside` it made the line longer or shorter."""
    others = [one for one in beside if (one[0].start, one[0].end) != (edit.start, edit.end)]
    moved = edit.start + sum(len(one.replacement) - one.length for one, _ in others if one.end <= edit.start)
    around_it = contexts(context, stood, edit.start, others)
    return any(around.have(line, at, edit.replacement) for around in around_it for at in (edit.start, moved))


def _with(edits: Iterable[tuple[Edit, str]], part: str, start: int, *, before: bool) -> str:
    """What stands on one side of a place, `part` of a line from `start` on, with the edits that lie in it; as it is
    where two of them meet. One that reaches beyond the part, away from the place, ends it, where as much is left of
    the part as tells a place."""
    end = start + len(part)
    inside = []
    for edit, stood in edits:
        known = edit.start <= end and edit.end <= end if before else start <= edit.start and start <= edit.end
        cut = max(start - edit.start, 0), max(edit.end - end, 0)
        there = stood[cut[0] : len(stood) - cut[1]]
        if any(cut) and (not there or len(part) - len(there) < TELLS):
            continue
        if known and part[max(edit.start - start, 0) :].startswith(there):
            inside.append(Edit(max(edit.start - start, 0), len(there), edit.replacement))
    try:
        return edited(part, inside)
    except UsageError:
        return part


def _named(edit: Edit) -> str:
    if not edit.length:
        return f"the insertion of {edit.replacement!r} at {edit.start}"
    return f"the edit of {edit.start} to {edit.end}"
