"""Accepted corrections, and where in the source they belong, also after the source has changed.

A correction is held to its place by what stands there and around it. Where the file no longer reads so it is
refused, or set at the one place that does.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from proof.errors import UsageError
from proof.locale.marking import _
from proof.model.flags import Kind
from proof.text.addresses import Addresses
from proof.text.edit import Edit, Surroundings, contexts, is_written
from proof.text.transcription import Transcription


@dataclass(frozen=True, slots=True)
class Correction:
    """One decision on one place: `length` code points from `offset` on, which read `original`, become `replacement`.

    `page` and `line` as flags have them; where the format has no pages, an empty page and the line of the file.
    `context` is the characters around the place with the place in brackets, `東面于[北]耦大夫`, as flags carry it.
    `replacement` is in whatever script it was decided in. `start` is the code point of the file at which it begins,
    where that is known: then that is its place. `number` is that of its flag in the store, 0 for none.
    `witness` is what it rests on (影像, a siglum, 他校, 本校, 理校; empty where nothing was stated), `note` a remark,
    `person` who decided it, `moved` the flag of the other half where a character moved; `typed`: in the words of a
    person. `copy_reads` is what the copy has where the text is kept all the same; None for a correction. `readings` are
    the sigla of witnesses with what each reads there. `doubt` is what was suggested where the text is left in doubt.
    What is not `accepted`, and what answers a planted `audit` error, never gets out.
    """

    page: str
    line: int
    offset: int
    length: int
    replacement: str
    original: str
    context: str = ""
    note: str = ""
    kind: Kind = Kind.SUBSTITUTION
    ref: str = ""
    witness: str = ""
    flag: str = ""
    person: str = ""
    moved: str = ""
    typed: bool = False
    start: int | None = None
    number: int = 0
    copy_reads: str | None = None
    readings: tuple[tuple[str, str], ...] = ()
    doubt: str | None = None
    accepted: bool = True
    audit: bool = False

    @property
    def changes(self) -> bool:
        """Whether anything is changed: a note that the copy reads so (原文如此), or otherwise, changes nothing."""
        return self.replacement != self.original

    @property
    def place(self) -> str:
        """How messages name its place."""
        where = f"page {self.page}, column {self.line}" if self.page else f"line {self.line}"
        return f"{where}, offset {self.offset}: {self.original or '(nothing)'} → {self.replacement or '(nothing)'}"


@dataclass(frozen=True, slots=True)
class PlacedCorrection:
    """A correction with its edit of the file; `decided` is the correction as it was decided, where it was set at
    another place than that one names."""

    correction: Correction
    edit: Edit
    decided: Correction | None = None


class Refusal(StrEnum):
    """Why a correction cannot be written: messages of the catalogues, into which values go."""

    LINE_END = _("a correction stays within its line: no line endings, no pilcrow")
    OTHER_LENGTH = _("%(number)s characters were to be %(text)s")
    OTHER_BY_NOW = _("its place reads otherwise by now; export again")
    CHANGED = _("changed since it was checked, its context is nowhere; check it again")
    CHANGED_ONE = _(
        "changed since it was checked, its context is at one place; check it again, or ask for re-anchoring"
    )
    CHANGED_MANY = _("changed since it was checked, its context is at %(number)s places; check it again")
    SAME_PLACE = _("claims the same place as another correction; take back one of the two")
    NO_COLUMN = _("its line would be no column any more; take it back, or change the text itself")
    MARKUP = _("the file has no place of its own for it; correct the file itself")
    ENCODING = _("%(text)s cannot be written in %(encoding)s: convert the file to UTF-8 first")
    SEVERAL_FORMS = _("is %(character)s %(forms)s in this text?  (--choose %(answer)s)")


@dataclass(frozen=True, slots=True)
class RefusedCorrection:
    """A correction that cannot be written, and why, with the values of the message. It costs itself alone."""

    correction: Correction
    why: Refusal
    values: Mapping[str, object] = field(default_factory=dict, compare=False)

    @property
    def reason(self) -> str:
        """Why, in English."""
        return self.why.value % self.values if self.values else self.why.value

    def __str__(self) -> str:
        return f"{self.correction.place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Placements:
    """The corrections that have their place, those that the text has already, and those that have none."""

    placed: tuple[PlacedCorrection, ...]
    applied: tuple[Correction, ...]
    refused: tuple[RefusedCorrection, ...]


def place(
    edition: Transcription,
    corrections: Sequence[Correction],
    *,
    reanchor: bool = False,
    written: Sequence[Correction] = (),
) -> Placements:
    """The edits that the accepted corrections make, in the order given.

    One that says where it begins is there. Any other is known by what stands at its place and around it, which may have
    been corrected itself, by others of these or by those that were `written` into the text before; a line that reads
    already as it was decided is left alone. With `reanchor`, one whose place reads otherwise goes where its context is
    found exactly once.
    """
    addresses = Addresses(edition)
    placed: list[PlacedCorrection] = []
    applied: list[Correction] = []
    refused: list[RefusedCorrection] = []
    of_line: dict[tuple[str, int], list[Correction]] = defaultdict(list)
    for one in (*corrections, *written):
        if one.accepted and not one.audit and one.changes:
            of_line[one.page, one.line].append(one)
    for correction in corrections:
        if not correction.accepted or correction.audit:
            continue
        beside = of_line[correction.page, correction.line]
        found = _placed(edition, addresses, correction, beside, reanchor=reanchor)
        if isinstance(found, PlacedCorrection):
            placed.append(found)
        elif isinstance(found, RefusedCorrection):
            refused.append(found)
        else:
            applied.append(correction)
    return Placements(tuple(placed), tuple(applied), tuple(refused))


def _placed(
    edition: Transcription,
    addresses: Addresses,
    correction: Correction,
    beside: Sequence[Correction],
    *,
    reanchor: bool,
) -> PlacedCorrection | RefusedCorrection | None:
    """A correction with its edit, or why it has none; None where the text has it already."""
    wrong = _wrong(correction)
    if wrong is not None:
        return wrong
    if correction.start is not None:
        return _placed_at(edition, correction, correction.start)
    around = surroundings(correction, beside)
    start = _there(edition, addresses, correction, around)
    if start is not None:
        return PlacedCorrection(correction, Edit(start, correction.length, correction.replacement))
    if _applied(edition, addresses, correction, around, _edits(beside)):
        return None
    found = _elsewhere(edition, addresses, correction, around)
    address = addresses.of(found[0]) if reanchor and len(found) == 1 else None
    if address is not None:
        moved = replace(correction, page=address.page, line=address.line, offset=address.offset)
        return PlacedCorrection(moved, Edit(found[0], correction.length, correction.replacement), correction)
    return RefusedCorrection(correction, _CHANGED.get(len(found), Refusal.CHANGED_MANY), {"number": len(found)})


def _placed_at(edition: Transcription, correction: Correction, start: int) -> PlacedCorrection | RefusedCorrection:
    """A correction whose place is known, with its edit."""
    if not edition.text.startswith(correction.original, start):
        return RefusedCorrection(correction, Refusal.OTHER_BY_NOW)
    if correction.kind is Kind.LAYOUT:
        return PlacedCorrection(correction, line_edit(edition.text, correction, start))
    return PlacedCorrection(correction, Edit(start, correction.length, correction.replacement))


_LINE_END = re.compile(r"¶*(?:\r\n|\n|\r|$)|¶+")


def line_edit(text: str, correction: Correction, start: int) -> Edit:
    """The edit by which a whole line comes into a text, or goes out of it, with its ending; where both its readings are
    lines, its text alone changes."""
    was, becomes = correction.original, correction.replacement
    if was and becomes:
        return Edit(start, len(was.rstrip("¶\r\n")), becomes)
    if was:
        bare = not {was[0], was[-1]} & set("¶\n\r")  # else it was written with its ending
        end = _LINE_END.match(text, start + len(was)) if bare else None
        return Edit(start, len(was) + (len(end[0]) if end is not None else 0), "")
    if start == 0 or text[start - 1] in "\n\r¶":
        here = _LINE_END.search(text, start)
        return Edit(start, 0, becomes + ((here[0] if here is not None else "") or "\n"))
    end = _LINE_END.match(text, start)
    return Edit(start, 0, ((end[0] if end is not None else "") or "\n") + becomes)


_CHANGED = {0: Refusal.CHANGED, 1: Refusal.CHANGED_ONE}


def _wrong(correction: Correction) -> RefusedCorrection | None:
    """Why a correction can be written nowhere; None where it can."""
    if any(char in correction.replacement for char in "\n\r¶\v\f\x1c\x1d\x1e\x85\u2028\u2029"):
        return RefusedCorrection(correction, Refusal.LINE_END)
    if len(correction.original) != correction.length:
        values = {"number": correction.length, "text": repr(correction.original)}
        return RefusedCorrection(correction, Refusal.OTHER_LENGTH, values)
    return None


def surroundings(correction: Correction, beside: Iterable[Correction]) -> list[Surroundings]:
    """What may stand around a place: what stood there, by the context of its correction, and the same with what is
    corrected `beside` it. None where the context is not known."""
    return contexts(correction.context, correction.original, correction.offset, _edits(beside))


def _edits(corrections: Iterable[Correction]) -> list[tuple[Edit, str]]:
    """Corrections of a line as edits of it, each with what it takes the place of."""
    return [(Edit(one.offset, one.length, one.replacement), one.original) for one in corrections]


def _there(
    edition: Transcription, addresses: Addresses, correction: Correction, around: Sequence[Surroundings]
) -> int | None:
    """Where the correction belongs if its place reads as it did; None otherwise."""
    try:
        begin, end = addresses.line(correction.page, correction.line)
    except UsageError:
        return None
    line, offset = edition.text[begin:end], correction.offset
    return begin + offset if reads_as(line, offset, correction, around) else None


def reads_as(line: str, offset: int, correction: Correction, around: Sequence[Surroundings] | None = None) -> bool:
    """Whether a place of a line reads as the correction was made for, `around` it as it may have been corrected."""
    known = surroundings(correction, ()) if around is None else around
    return any(one.have(line, offset, correction.original) for one in known or [Surroundings("", "", False, False)])


def _applied(
    edition: Transcription,
    addresses: Addresses,
    correction: Correction,
    around: Sequence[Surroundings],
    beside: Sequence[tuple[Edit, str]],
) -> bool:
    """Whether the line reads at the place what was decided; or once anywhere, and nowhere what was transcribed, in the
    same surroundings."""
    if not correction.changes:
        return False
    try:
        begin, end = addresses.line(correction.page, correction.line)
    except UsageError:
        return False
    line = edition.text[begin:end]
    edit = Edit(correction.offset, correction.length, correction.replacement)
    if is_written(line, edit, correction.original, correction.context, beside):
        return True
    known = [(before, after) for before, after, _, _ in around if before + after]
    return any(line.count(before + correction.replacement + after) == 1 for before, after in known) and not any(
        before + correction.original + after in line for before, after in known
    )


def _elsewhere(
    edition: Transcription, addresses: Addresses, correction: Correction, around: Sequence[Surroundings]
) -> list[int]:
    """Every place of the file that has the correction's context."""
    found: dict[int, None] = {}
    for one in around:
        wanted = one.before + correction.original + one.after
        for begin, end in addresses.spans() if wanted else ():
            line = edition.text[begin:end]
            at = line.find(wanted)
            while at >= 0:
                if one.have(line, at + len(one.before), correction.original):
                    found[begin + at + len(one.before)] = None
                at = line.find(wanted, at + 1)
    return list(found)
