"""Accepted corrections, and their places in the source, also after the source has changed.

A correction fits its place if the text there and its context read as they did when it was made; otherwise it is
refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import unique

from proof.locale.marking import Sentence, _
from proof.locale.notices import in_english
from proof.model.flags import LINE_BREAK, Kind, insertion_order
from proof.model.notices import MessageCode, Notice
from proof.store.text_files import CheckedPlace
from proof.text.addresses import Addresses
from proof.text.contexts import context_of
from proof.text.edit import Edit
from proof.text.lines import LINE_ENDING, LINE_ENDING_CHARACTERS, LINE_ENDING_SIGNS, line_edit
from proof.text.transcription import Transcription


@dataclass(frozen=True, slots=True)
class Correction:
    """One decision on one place: `length` code points from `offset`, the text `original`, become `replacement`.

    page, line: as in flags; in a format without pages, an empty page and the line of the file.
    context: the characters around the place with the place in brackets, `東面于[北]耦大夫`, as in flags.
    replacement: in the script in which it was decided.
    start: the code point of the file at which the place begins; None if unknown.
    number: the number of its flag in the store, 0 for none. `flag` is the flag's id.
    also: the numbers of the flags of equal decisions.
    authority: what it rests on (影像, a siglum, 他校, 本校, 理校); empty if nothing was stated.
    moved: the id of the other half's flag, for a moved character or column.
    is_part: it corrected a part of what an earlier correction had written, whose note has it.
    first_reading: what stood at the place before earlier corrections that are in the text; None if there are none.
    column: the number on the image of a whole column, or of the column of missing characters; 0 if unknown.
    is_typed: a person typed the replacement.
    copy_reads: the reading of the copy, if the text is kept nevertheless; None for a correction.
    readings: the sigla of witnesses, each with its reading of the place.
    names: the sigla known to be those of witnesses, with their full names; empty if none was given.
    doubt: the suggestion at a place that was left in doubt.
    former: the number of deleted characters among those of one place (`FlagRow.former`); else 0.
    has_image: its page has an image, or is not known to lack one.
    checked: its place on its page as that was checked; None if unknown.
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
    authority: str = ""
    flag: str = ""
    person: str = ""
    moved: str = ""
    first_reading: str | None = None
    is_part: bool = False
    column: int = 0
    is_typed: bool = False
    start: int | None = None
    number: int = 0
    also: tuple[int, ...] = ()
    copy_reads: str | None = None
    readings: tuple[tuple[str, str], ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    doubt: str | None = None
    former: int = 0
    has_image: bool = True
    checked: CheckedPlace | None = None

    @property
    def changes(self) -> bool:
        """Whether it changes the text; a note that the copy reads so (原文如此), or otherwise, does not."""
        return self.replacement != self.original

    @property
    def replaced(self) -> str:
        """The characters that it replaces in the text as it was before all corrections."""
        return self.original if self.first_reading is None else self.first_reading

    @property
    def restores(self) -> bool:
        """Whether the text reads after it as it did before all corrections."""
        return self.changes and self.replaced == self.replacement

    @property
    def on_checked_page(self) -> Correction:
        """The correction at its place on its page as that was checked."""
        if self.checked is None:
            return self
        page, line, offset, length, _ = self.checked
        return replace(self, page=page, line=line, offset=offset, length=length)

    @property
    def adds_column(self) -> bool:
        """Whether it inserts a whole column."""
        return self.kind is Kind.LAYOUT and bool(self.replacement) and not (self.length or self.is_of_line_ending)

    def is_beside(self, other: Correction) -> bool:
        """Whether both can be inserted at one place: two columns of the image; a column, and characters at the
        beginning or end of the line beside it; a line ending, and characters whose column on the image is known; or two
        groups of characters that were deleted there."""
        if self.length or other.length:
            return False
        if self.former and other.former:
            return self.former != other.former
        if self.is_of_line_ending or other.is_of_line_ending:
            is_one_ending = self.is_of_line_ending != other.is_of_line_ending
            adds_column = self.adds_column or other.adds_column
            return is_one_ending and not adds_column and bool(self.column and other.column)
        if self.adds_column and other.adds_column:
            return self.column != other.column
        return self.adds_column or other.adds_column

    @property
    def is_of_column(self) -> bool:
        """Whether it adds or deletes a whole column, or has done so."""
        return self.kind is Kind.LAYOUT and not (self.is_of_line_ending or (self.original and self.replacement))

    @property
    def is_of_line_ending(self) -> bool:
        """Whether it splits a line, or joins two."""
        return self.kind is Kind.LAYOUT and LINE_BREAK in (self.original, self.replacement)

    @property
    def joins_lines(self) -> bool:
        """Whether it deletes a line ending."""
        return self.is_of_line_ending and not self.replacement

    @property
    def deletes_column(self) -> bool:
        """Whether it deletes a whole column."""
        return self.kind is Kind.LAYOUT and bool(self.length) and not (self.replacement or self.is_of_line_ending)

    @property
    def place(self) -> Sentence:
        """How messages name its place and its change."""
        return place_and_change(self.page, self.line, self.offset, self.original, self.replacement)


def place_and_change(page: str, line: int, offset: int, old: str, new: str) -> Sentence:
    """How messages name a place of a text and what becomes of it; `line` 0 is the whole page."""
    nothing = Sentence(_("(nothing)"))
    change = Sentence("%(old)s → %(new)s", old=old or nothing, new=new or nothing) if old != new else old or nothing
    if not page:
        return Sentence(_("line %(line)s, offset %(offset)s: %(change)s"), line=line, offset=offset, change=change)
    if not line:
        return Sentence(_("page %(page)s: %(change)s"), page=page, change=change)
    message = _("page %(page)s, column %(column)s, offset %(offset)s: %(change)s")
    return Sentence(message, page=page, column=line, offset=offset, change=change)


EditOrder = tuple[int, int, bool, bool, int, float]
"""A sort key of edits: the place, and `insertion_order`."""


@dataclass(frozen=True, slots=True)
class PlacedCorrection:
    """A correction with its edit of the file, which changes nothing if the file has the correction (`is_applied`)."""

    correction: Correction
    edit: Edit
    is_applied: bool = False

    @property
    def order(self) -> EditOrder:
        """A sort key: the place of the edit, and what comes first of insertions at one place."""
        correction = self.correction
        is_in_line = correction.start in (None, self.edit.start)  # else a column goes behind the line
        offset = correction.offset if is_in_line else 0
        inserted, is_column = correction.replacement, correction.adds_column
        order = insertion_order(offset, correction.column, inserted, correction.former, is_column=is_column)
        return *self.edit.place, *order

    @property
    def written(self) -> str:
        """The characters that it writes, without the line ending of a column."""
        return LINE_ENDING.sub("", self.edit.replacement)

    @property
    def removed(self) -> str:
        """The characters that it replaces, or has replaced, without line endings."""
        return LINE_ENDING.sub("", self.correction.replaced)


@unique
class Refusal(MessageCode):
    """Why a correction cannot be written."""

    LINE_END = _("a correction stays within its line: no line endings, no pilcrow")
    OTHER_LENGTH = _("its length is given as %(number)s, and its original is %(text)s")
    OTHER_BY_NOW = _("the text at its place has changed; export again")
    CHANGED = _("changed since it was checked; check it again")
    SAME_PLACE = _("claims the same place as another correction; take back one of the two")
    JOINED = _("its column was joined with another one in the text; take that back and export it first")
    NO_COLUMN = _("its line would no longer be a column; take it back, or change the text itself")
    MARKUP = _("the file has no place of its own for it; correct the file itself")
    OTHER_HALF = _("its other half cannot be written; text that moved is written at both places or at neither")
    ENCODING = _("%(text)s cannot be written in %(encoding)s: convert the file to UTF-8 first")
    SEVERAL_FORMS = _("is %(character)s %(forms)s in this text?  (--choose %(answer)s)")


@dataclass(frozen=True, slots=True)
class RefusedCorrection:
    """A correction that cannot be written, and why. All others are written."""

    correction: Correction
    reason: Notice

    def __str__(self) -> str:
        return f"{self.correction.place}: {in_english(self.reason)}"


@dataclass(frozen=True, slots=True)
class Placements:
    """The corrections that have a place, those that the text has already, and those that have no place."""

    placed: tuple[PlacedCorrection, ...]
    applied: tuple[Correction, ...]
    refused: tuple[RefusedCorrection, ...]


def place(edition: Transcription, corrections: Sequence[Correction]) -> Placements:
    """The edits that corrections make, in the order given.

    The place of a correction is at its `start`. Without one, its original and its context must stand at its offset.
    A correction that the text has already makes no edit.
    """
    addresses = Addresses(edition)
    placed: list[PlacedCorrection] = []
    applied: list[Correction] = []
    refused: list[RefusedCorrection] = []
    applied_together = _applied_together(edition, addresses, corrections)
    for correction in corrections:
        placement = None if correction in applied_together else _placed(edition, addresses, correction)
        if isinstance(placement, PlacedCorrection):
            placed.append(placement)
        elif isinstance(placement, RefusedCorrection):
            refused.append(placement)
        else:
            applied.append(correction)
    return Placements(tuple(_kept_on_pages(edition, addresses, placed)), tuple(applied), tuple(refused))


def _applied_together(
    edition: Transcription, addresses: Addresses, corrections: Sequence[Correction]
) -> set[Correction]:
    """The corrections of lines that have all their corrections already.

    Several corrections in one line change each other's offsets and contexts, so they are compared with the line as it
    was before all of them.
    """
    by_line: dict[tuple[str, int], list[Correction]] = defaultdict(list)
    for correction in corrections:
        if correction.start is None and correction.changes and _malformed(correction) is None:
            by_line[correction.page, correction.line].append(correction)
    applied: set[Correction] = set()
    for (page, number), group in by_line.items():
        span = addresses.find(page, number)
        if span is None:
            continue
        line = edition.text[slice(*span)]
        if _has_all_originals(line, group):
            continue
        before = _line_before(line, group)
        if before is not None and _has_all_originals(before, group):
            applied.update(group)
    return applied


def _has_all_originals(line: str, corrections: Sequence[Correction]) -> bool:
    return all(_has_at_place(line, correction, correction.original) for correction in corrections)


def _line_before(line: str, corrections: Sequence[Correction]) -> str | None:
    """The line before these corrections were written into it; None if it lacks one of them."""
    for correction in sorted(corrections, key=lambda correction: correction.offset):
        if not line.startswith(correction.replacement, correction.offset):
            return None
        line = line[: correction.offset] + correction.original + line[correction.offset + len(correction.replacement) :]
    return line


def _placed(
    edition: Transcription, addresses: Addresses, correction: Correction
) -> PlacedCorrection | RefusedCorrection | None:
    """A correction with its edit, or why it has none; None if the text has it already."""
    if (refused := _malformed(correction)) is not None:
        return refused
    if correction.start is not None:
        return _placed_at(edition, correction, correction.start)
    span = addresses.find(correction.page, correction.line)
    line = edition.text[slice(*span)] if span else ""
    if span and _has_at_place(line, correction, correction.original):
        edit = Edit(span[0] + correction.offset, correction.length, correction.replacement)
        return PlacedCorrection(correction, edit)
    if span and correction.changes and _has_at_place(line, correction, correction.replacement):
        return None  # the line has this correction, and none of its others
    return RefusedCorrection(correction, Notice.of(Refusal.CHANGED))


def _has_at_place(line: str, correction: Correction, text: str) -> bool:
    """Whether a line has `text` at the place of a correction, within the correction's context."""
    start, end = correction.offset, correction.offset + len(text)
    if start < 0 or end > len(line) or not line.startswith(text, start) or correction.is_of_line_ending:
        return False
    before, marked, after = correction.context.partition(f"[{correction.original}]")
    return not marked or context_of(line, start, len(text)) == f"{before}[{text}]{after}"


def _kept_on_pages(
    edition: Transcription, addresses: Addresses, placed: Sequence[PlacedCorrection]
) -> Iterator[PlacedCorrection]:
    """The corrections, with the last columns of a page deleted with the line ending before them, so that their places
    stay on this page; columns added before them go behind this line, too. But not if anything else is changed there."""
    at: defaultdict[int, list[Correction]] = defaultdict(list)
    for each in placed:
        at[each.edit.start].append(each.correction)
    deleted = {start for start, corrections in at.items() if any(each.deletes_column for each in corrections)}
    end_before: dict[int, int] = {}
    for start in sorted(deleted):
        before = addresses.before_last(start, deleted)
        if before is None or not all(each.adds_column or each.deletes_column for each in at[start]):
            continue
        if any(each.length or each.is_of_line_ending for each in at.get(before[1], ())):
            continue
        if before[0] not in deleted or before[0] in end_before:
            end_before[start] = before[1]
    for each in placed:
        start, edit, end = each.edit.start, each.edit, end_before.get(each.edit.start)
        if end is not None and each.correction.deletes_column:
            edit = Edit(end, start + each.correction.length - end, "")
        elif end is not None:
            edit = Edit(end, 0, edition.text[end:start] + each.written)
        yield replace(each, edit=edit)


def _placed_at(edition: Transcription, correction: Correction, start: int) -> PlacedCorrection | RefusedCorrection:
    """A correction whose place is known, with its edit."""
    joins = correction.kind is Kind.LAYOUT and correction.original == LINE_BREAK
    if not (LINE_ENDING.match(edition.text, start) if joins else edition.text.startswith(correction.original, start)):
        return RefusedCorrection(correction, Notice.of(Refusal.OTHER_BY_NOW))
    is_column = correction.adds_column or correction.deletes_column
    if is_column and not _is_between_lines(edition.text, start, correction.original):
        return RefusedCorrection(correction, Notice.of(Refusal.JOINED))
    edit = Edit(start, correction.length, correction.replacement)
    if correction.kind is Kind.LAYOUT:
        edit = line_edit(edition.text, start, correction.original, correction.replacement, correction.offset)
    return PlacedCorrection(correction, edit)


def _is_between_lines(text: str, start: int, line: str) -> bool:
    """Whether `line`, which begins at `start` of a text, is a whole line of it; if empty, whether a line begins or ends
    there."""
    end = start + len(line)
    begins = start == 0 or text[start - 1] in LINE_ENDING_SIGNS
    ends = end == len(text) or text[end] in LINE_ENDING_SIGNS
    return begins and ends if line else begins or ends


def _malformed(correction: Correction) -> RefusedCorrection | None:
    """Why a correction cannot be written into any text; None if it is well formed."""
    if correction.is_of_line_ending:
        return None
    if any(char in correction.replacement for char in ("¶", *LINE_ENDING_CHARACTERS)):
        return RefusedCorrection(correction, Notice.of(Refusal.LINE_END))
    if len(correction.original) != correction.length:
        original = repr(correction.original)
        reason = Notice.of(Refusal.OTHER_LENGTH, number=correction.length, text=original)
        return RefusedCorrection(correction, reason)
    return None
