"""Writes the accepted corrections into their source file and changes nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from proof.atomic import whole_binary_file
from proof.errors import OutputError, TextError
from proof.exports.corrections import Correction, PlacedCorrection, Refusal, RefusedCorrection, place
from proof.exports.diff import unified_diff
from proof.exports.script import FormChoice, in_source_script, spellings
from proof.locale.marking import _
from proof.model.notices import Notice
from proof.text.edit import Edit, edited
from proof.text.encoding import encode
from proof.text.lines import LINE_ENDING, lines
from proof.text.pages import LineKind
from proof.text.positions import Span
from proof.text.transcription import Footnote, Transcription, apparatus_notes
from proof.text.variants import policy_of

ZIP_SIGNATURE = b"PK"
"""The first bytes of a ZIP archive, such as a DOCX or EPUB file."""


@dataclass(frozen=True, slots=True)
class CorrectedSource:
    """A corrected file.

    `data` is in the encoding of the source. `placed` are the corrections with their edits, in the source's script;
    `applied` those that the source has already; `refused` those that cannot be written. `rewritten` are pairs of a
    correction as it was decided and as it is written, where it was converted to the source's script.
    """

    edition: Transcription
    text: str
    data: bytes
    placed: tuple[PlacedCorrection, ...]
    applied: tuple[Correction, ...] = ()
    rewritten: tuple[tuple[Correction, Correction], ...] = ()
    refused: tuple[RefusedCorrection, ...] = ()

    @property
    def edits(self) -> list[Edit]:
        """The edits that change the text."""
        return [placed.edit for placed in self.placed if placed.correction.changes]

    def apparatus(self) -> list[Footnote]:
        """The notes that the edition has outside its text, with their anchors in the corrected text."""
        notes = apparatus_notes(self.edition.decoded)
        return [replace(note, anchor=_moved(self.edits, note.anchor or 0)) for note in notes]

    def diff(self, name: str) -> bytes:
        """The changes as a unified diff for `git apply`; `name` is the file's path in its repository. For an archive
        (DOCX, EPUB) it is a diff of the text in it, to be read but not applied."""
        before, after = self.edition.data(), self.data
        if self.edition.decoded.extraction is not None and before.startswith(ZIP_SIGNATURE):
            before, after = self.edition.text.encode(), self.text.encode()
        return unified_diff(before, after, name)


def noted_places(corrected: CorrectedSource, noted: Sequence[Correction]) -> list[PlacedCorrection]:
    """The corrections that get a note: those of a source that are written, and the `noted` ones, which the text has or
    which change nothing. Those that overlap are one, with what stood there before all of them; a doubt about what is
    corrected is left out."""
    text = corrected.edition.text
    changing = [each for each in corrected.placed if each.correction.changes]
    places = [each for each in corrected.placed if not each.correction.changes]
    of_text = [
        PlacedCorrection(each, Edit(*span, text[span.start : span.end]), is_applied=True)
        for each, span in ((each, Span(each.start or 0, each.length)) for each in noted if not each.is_part)
    ]
    doubts = [each for each in of_text if each.correction.doubt is not None]
    applied = [
        max(group, key=_length) for group in _overlapping(each for each in of_text if each.correction.doubt is None)
    ]
    places += [_as_one(group, text) for group in _overlapping([*changing, *applied])]
    for group in _overlapping([*changing, *doubts]):
        places += group if all(each.is_applied for each in group) else []
    return places


def _length(placed: PlacedCorrection) -> int:
    return placed.edit.length


def _overlapping(places: Iterable[PlacedCorrection]) -> list[list[PlacedCorrection]]:
    """Groups of corrections that overlap, in the order of their places."""
    groups: list[list[PlacedCorrection]] = []
    for each in sorted(places, key=attrgetter("order")):
        if groups and any(Span(*each.edit.place).overlaps(Span(*other.edit.place)) for other in groups[-1]):
            groups[-1].append(each)
        else:
            groups.append([each])
    return groups


def _as_one(group: Sequence[PlacedCorrection], text: str) -> PlacedCorrection:
    """Overlapping corrections as one, at the place of all of them: that with the largest place, or the last one."""
    if len(group) == 1:
        return group[0]
    start, end = min(each.edit.start for each in group), max(each.edit.end for each in group)
    now = text[start:end]

    def changed(edits: Iterable[Edit]) -> str:
        return edited(now, [replace(edit, start=edit.start - start) for edit in edits])

    first = changed(replace(each.edit, replacement=each.correction.original) for each in group if each.is_applied)
    new = changed(each.edit for each in group if not each.is_applied)
    largest = max(group, key=lambda each: (each.edit.length, not each.is_applied)).correction
    now_read, new_read, first_read = (LINE_ENDING.sub("", reading) for reading in (now, new, first))
    one = replace(largest, original=now_read, replacement=new_read, first_reading=first_read, moved="")
    return PlacedCorrection(one, Edit(start, end - start, new))


def behind(edits: Iterable[Edit], at: int) -> int:
    """The place `at`, or the end of the edit that it is within."""
    return max((edit.end for edit in edits if edit.start < at < edit.end), default=at)


def _moved(edits: Sequence[Edit], at: int) -> int:
    """The place `at` in the edited text. What is inserted there comes behind it."""
    shift = sum(len(edit.replacement) - edit.length for edit in edits if edit.start < at)
    return behind(edits, at) + shift


def correct(
    edition: Transcription,
    corrections: Iterable[Correction],
    *,
    choices: Sequence[FormChoice] = (),
    pairs: Path | None = None,
) -> CorrectedSource:
    """The source with the accepted corrections; without any, byte for byte as it is. `pairs` is the project's own file
    of variants.

    A correction is refused, and the others are written, if its place reads otherwise than when it was checked, a form
    has to be chosen (`choices`), another correction claims the same place, its line would no longer be a column, or
    the file cannot hold it: its encoding lacks a character, or its markup has no place of its own for it.

    Raises UsageError for a wrong choice, as `in_source_script` does.
    """
    policy = policy_of(edition.script, pairs)
    conversions, questions = in_source_script(corrections, edition.text, policy, choices)
    forms_in_text = {
        questioned: form
        for questioned in dict.fromkeys(question.correction for question in questions)
        if (form := _form_in_text(edition, spellings(questioned, edition.text, policy))) is not None
    }
    # a reading may differ from the text only in its script
    same_as_text = [after for before, after in conversions if before.changes and not after.changes]
    placements = place(edition, [after for _, after in conversions if after not in same_as_text])
    placed, unwritable = _writable(edition, placements.placed)
    open_questions = [question for question in questions if question.correction not in forms_in_text]
    refused = [*open_questions, *placements.refused, *unwritable]
    refused_flags = {each.correction.flag for each in refused if each.correction.flag}
    halves = [each.correction for each in placed if each.correction.moved in refused_flags]
    refused += [_refused(edition, half, Refusal.OTHER_HALF) for half in halves]
    placed = [each for each in placed if each.correction not in halves]
    edits = [each.edit for each in placed if each.correction.changes]
    return CorrectedSource(
        edition,
        edited(edition.text, edits),
        edition.data(edits),
        tuple(placed),
        applied=(*placements.applied, *same_as_text, *forms_in_text.values()),
        rewritten=tuple((before, after) for before, after in conversions if before != after),
        refused=tuple(refused),
    )


def _writable(
    edition: Transcription, placed: Sequence[PlacedCorrection]
) -> tuple[list[PlacedCorrection], list[RefusedCorrection]]:
    """The corrections that can be written together, in the order of their places, and the others with the reason."""
    ordered = sorted(range(len(placed)), key=lambda number: placed[number].order)
    changing = [number for number in ordered if placed[number].correction.changes]
    refused = dict.fromkeys(_on_one_place(placed, changing), Refusal.SAME_PLACE)
    for number in changing:
        edit = placed[number].edit
        try:
            encode(edition.path, edit.replacement, edition.decoded.encoding, bom=False)
        except TextError:
            refused.setdefault(number, Refusal.ENCODING)
        if not edition.decoded.holds(edit):
            refused.setdefault(number, Refusal.MARKUP)
    refused |= _no_columns_after(edition, {number: placed[number].edit for number in changing if number not in refused})
    writable = [placed[number] for number in ordered if number not in refused]
    return writable, [_refused(edition, placed[number].correction, refused[number]) for number in sorted(refused)]


def _on_one_place(placed: Sequence[PlacedCorrection], ordered: Sequence[int]) -> set[int]:
    """The numbers of corrections whose place another one claims; `ordered` are all numbers in the order of places."""
    claimed: set[int] = set()
    for position, number in enumerate(ordered):
        first = placed[number]
        for other in ordered[position + 1 :]:
            second = placed[other]
            if second.edit.start > first.edit.end:
                break
            is_one_place = first.edit.place == second.edit.place and not first.correction.is_beside(second.correction)
            if second.edit.start < first.edit.end or is_one_place:
                claimed |= {number, other}
    return claimed


def _refused(edition: Transcription, correction: Correction, why: Refusal) -> RefusedCorrection:
    """A refused correction, with the values that the message `why` names."""
    values = {"text": correction.replacement, "encoding": edition.decoded.encoding} if why is Refusal.ENCODING else {}
    return RefusedCorrection(correction, Notice.of(why, **values))


def _no_columns_after(edition: Transcription, edits: Mapping[int, Edit]) -> dict[int, Refusal]:
    """The refusals, by number, of edits after which a column would read as a page mark, a comment or a heading: its
    page would end there, or lose the column."""
    before = _lines_that_are_no_columns(edition.text)
    if not edition.paged or not edits or before == _lines_that_are_no_columns(edited(edition.text, edits.values())):
        return {}
    harmless: list[Edit] = []
    refused = {}
    for number, edit in edits.items():
        if _lines_that_are_no_columns(edited(edition.text, [*harmless, edit])) == before:
            harmless.append(edit)
        else:
            refused[number] = Refusal.NO_COLUMN
    return refused


def _lines_that_are_no_columns(text: str) -> list[tuple[LineKind, str]]:
    """The kinds of the lines of a text, from the first page mark on, that are neither columns nor empty, in order; a
    page mark with its id."""
    kinds = (LineKind.COLUMN, LineKind.EMPTY, LineKind.BEFORE)
    return [(line.kind, line.mark.id if line.mark else "") for line in lines(text) if line.kind not in kinds]


def _form_in_text(edition: Transcription, forms: Iterable[Correction]) -> Correction | None:
    """The form of a correction that the text already has, so that its form need not be chosen again. None if the text
    has none of the `forms`, or several of them may be meant."""
    present = [applied for form in forms for applied in place(edition, [form]).applied]
    return present[0] if len(present) == 1 else None


def write_corrected(corrected: CorrectedSource, target: Path) -> None:
    """Write the corrected file atomically. Raises OutputError, also if it would replace a source that has changed since
    it was read."""
    edition = corrected.edition
    if target.exists() and target.samefile(edition.path) and not edition.is_current():
        raise OutputError(_("%(target)s was changed while it was being corrected: export again"), target=target)
    with whole_binary_file(target) as file:
        file.write(corrected.data)
