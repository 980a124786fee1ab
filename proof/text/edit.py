"""Edits of the source text, which change nothing outside their places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from rapidfuzz.distance import Postfix, Prefix

from proof.errors import UsageError
from proof.locale.marking import Sentence, _


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces `length` code points from `start` by `replacement`; length 0 inserts it before `start`."""

    start: int
    length: int
    replacement: str

    @property
    def end(self) -> int:
        return self.start + self.length

    @property
    def place(self) -> tuple[int, int]:
        """Start and length; edits are sorted by this."""
        return self.start, self.length


def edited(text: str, edits: Iterable[Edit]) -> str:
    """`text` with the edits applied, which may be in any order. Their places are those of `text`.

    An insertion goes before the character at its place, even if that is replaced. Several insertions at one place keep
    their order. Without edits the result is `text` itself. Raises UsageError if edits overlap, or if one reaches beyond
    the text."""
    pieces: list[str] = []
    reached = 0
    last: Edit | None = None
    for edit in sorted(edits, key=attrgetter("place")):
        if edit.start < 0 or edit.length < 0 or edit.end > len(text):
            raise UsageError(
                _("%(edit)s is outside the text, which has %(number)s characters"),
                edit=_in_words(edit),
                number=len(text),
            )
        if edit.start < reached:
            raise UsageError(
                _("%(edit)s and %(other)s are at the same place: take back one of them"),
                edit=_in_words(edit),
                other=_in_words(last or edit),
            )
        pieces += (text[reached : edit.start], edit.replacement)
        reached, last = edit.end, edit
    return "".join((*pieces, text[reached:])) if pieces else text


def merged(edits: Iterable[Edit]) -> list[Edit]:
    """The edits in the order of their places: adjacent ones as one, and without those that overlap an earlier one."""
    result: list[Edit] = []
    for edit in sorted(edits, key=attrgetter("place")):
        last = result[-1] if result else None
        if last is None or edit.start > last.end:
            result.append(edit)
        elif edit.start == last.end:
            result[-1] = Edit(last.start, last.length + edit.length, last.replacement + edit.replacement)
    return result


def one_edit(old: str, new: str) -> Edit:
    """The shortest single edit that turns `old` into `new`."""
    start = Prefix.similarity(old, new)
    end = Postfix.similarity(old[start:], new[start:])
    return Edit(start, len(old) - start - end, new[start : len(new) - end])


def _in_words(edit: Edit) -> Sentence:
    if not edit.length:
        return Sentence(_("the insertion of %(text)s at %(start)s"), text=repr(edit.replacement), start=edit.start)
    return Sentence(_("the edit of %(start)s to %(end)s"), start=edit.start, end=edit.end)
