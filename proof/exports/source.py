"""The corrected source: accepted corrections written into the file they came from, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proof.atomic import whole_binary_file
from proof.errors import OutputError, TextError
from proof.exports.corrections import Correction, PlacedCorrection, Refusal, RefusedCorrection, place
from proof.exports.diff import unified_diff
from proof.exports.script import FormChoice, in_source_script, open_forms
from proof.locale.marking import _
from proof.model.notices import Notice
from proof.text.edit import Edit, edited
from proof.text.encoding import encode
from proof.text.lines import lines
from proof.text.pages import LineKind
from proof.text.transcription import Transcription
from proof.text.variants import policy_of

ZIP_SIGNATURE = b"PK"
"""The first bytes of a ZIP archive, such as a DOCX or EPUB file."""


@dataclass(frozen=True, slots=True)
class CorrectedSource:
    """A corrected file.

    `data` is in the encoding of the source. `placed` are the corrections with their edits, in the source's script;
    `applied` those that the source has already; `refused` those that cannot be written. `rewritten` are the corrections
    that were converted to the source's script, each as it was decided and as it is written.
    """

    edition: Transcription
    text: str
    data: bytes
    placed: tuple[PlacedCorrection, ...]
    applied: tuple[Correction, ...] = ()
    rewritten: tuple[tuple[Correction, Correction], ...] = ()
    refused: tuple[RefusedCorrection, ...] = ()

    def diff(self, name: str) -> bytes:
        """What changed as a unified diff that `git apply` takes; `name` is the file's path in its repository. For an
        archive (DOCX, EPUB) it is the diff of the text in it, which can only be read."""
        before, after = self.edition.data(), self.data
        if self.edition.decoded.extraction is not None and before.startswith(ZIP_SIGNATURE):
            before, after = self.edition.text.encode(), self.text.encode()
        return unified_diff(before, after, name)


def correct(
    edition: Transcription,
    corrections: Iterable[Correction],
    *,
    choices: Sequence[FormChoice] = (),
    pairs: Path | None = None,
) -> CorrectedSource:
    """The source with the accepted corrections; without any, byte for byte as it is. `pairs` is the project's own file
    of variants.

    A correction is refused, and the others are written, where its place reads otherwise than when it was checked, a
    form has to be chosen (`choices`), another correction claims the same place, its line would be no column any more,
    or the file cannot hold it: its encoding lacks a character, or it has no place of its own in the markup.

    Raises UsageError for a wrong choice, as `in_source_script` does.
    """
    policy = policy_of(edition.script, pairs)
    written_before: dict[Correction, Correction] = {}
    unwritten = []
    for correction in corrections:
        form = _form_in_text(edition, open_forms(correction, policy, choices))
        if form is None:
            unwritten.append(correction)
        else:
            written_before[correction] = form
    converted, questions = in_source_script(unwritten, policy, choices)
    open_corrections = {question.correction for question in questions}
    decided = [correction for correction in unwritten if correction not in open_corrections]
    conversions = list(zip(decided, converted, strict=True))
    # in the script of the text the reading is what the text has
    same_as_text = [now for was, now in conversions if was.changes and not now.changes]
    placements = place(edition, [correction for correction in converted if correction not in same_as_text])
    placed, unwritable = _writable(edition, placements.placed)
    refused_halves = {refused.correction.flag for refused in (*questions, *placements.refused, *unwritable)} - {""}
    halves = [change for change in placed if change.correction.moved in refused_halves]
    unwritable += [_refused(edition, change.correction, Refusal.OTHER_HALF) for change in halves]
    placed = [change for change in placed if change not in halves]
    edits = [change.edit for change in placed if change.correction.changes]
    text, data = edited(edition.text, edits), edition.data(edits)
    rewritten = tuple((was, now) for was, now in conversions if was != now)
    refused = (*questions, *placements.refused, *unwritable)
    applied = (*placements.applied, *same_as_text, *written_before.values())
    return CorrectedSource(edition, text, data, tuple(placed), applied, rewritten, refused)


def _writable(
    edition: Transcription, placed: Sequence[PlacedCorrection]
) -> tuple[list[PlacedCorrection], list[RefusedCorrection]]:
    """The corrections that can be written together, and the others with the reason why they cannot."""
    refused: dict[int, Refusal] = {}
    ordered = sorted(range(len(placed)), key=lambda n: (placed[n].edit.place, placed[n].correction.order))
    changing = [n for n in ordered if placed[n].correction.changes]
    for position, number in enumerate(changing):
        edit = placed[number].edit
        for other in changing[position + 1 :]:
            later = placed[other].edit
            beside = placed[number].correction.is_beside(placed[other].correction)
            if later.start < edit.end or (later.place == edit.place and not beside):
                refused |= {number: Refusal.SAME_PLACE, other: Refusal.SAME_PLACE}
            elif later.start > edit.end:
                break
    extraction = edition.decoded.extraction
    for number in changing:
        try:
            encode(edition.path, placed[number].edit.replacement, edition.decoded.encoding, bom=False)
        except TextError:
            refused.setdefault(number, Refusal.ENCODING)
        if extraction is not None and not extraction.holds(placed[number].edit):
            refused.setdefault(number, Refusal.MARKUP)
    refused |= _breaking(edition, {n: placed[n].edit for n in changing if n not in refused})
    kept = [placed[n] for n in ordered if n not in refused]
    return kept, [_refused(edition, placed[n].correction, refused[n]) for n in sorted(refused)]


def _refused(edition: Transcription, correction: Correction, why: Refusal) -> RefusedCorrection:
    values = {"text": correction.replacement, "encoding": edition.decoded.encoding} if why is Refusal.ENCODING else {}
    return RefusedCorrection(correction, Notice.of(why, **values))


def _breaking(edition: Transcription, edits: Mapping[int, Edit]) -> dict[int, Refusal]:
    """The refusals, by number, of edits after which a column would read as a page mark, a comment or a heading: its
    page would end there, or lose the column."""
    before = _no_columns(edition.text)
    if not edition.paged or not edits or before == _no_columns(edited(edition.text, edits.values())):
        return {}
    sound: list[Edit] = []
    refused = {}
    for number, edit in edits.items():
        if _no_columns(edited(edition.text, [*sound, edit])) == before:
            sound.append(edit)
        else:
            refused[number] = Refusal.NO_COLUMN
    return refused


def _no_columns(text: str) -> list[tuple[LineKind, str]]:
    """The kinds of the lines of a text, from the first page mark on, that are neither columns nor empty, in order; a
    page mark with its id."""
    kinds = (LineKind.COLUMN, LineKind.EMPTY, LineKind.BEFORE)
    return [(line.kind, line.mark.id if line.mark else "") for line in lines(text) if line.kind not in kinds]


def _form_in_text(edition: Transcription, forms: Iterable[Correction]) -> Correction | None:
    """The one of the forms of a correction that the text has already, so that what was asked before it was written is
    not asked again. None where the text has none of them, or several might be meant."""
    present = [applied for form in forms for applied in place(edition, [form]).applied]
    return present[0] if len(present) == 1 else None


def write_corrected(corrected: CorrectedSource, target: Path) -> None:
    """Write the corrected file, whole or not at all. Raises OutputError, also where it would replace its source, and
    the source has changed since it was read."""
    edition = corrected.edition
    if target.exists() and target.samefile(edition.path) and not edition.is_current():
        raise OutputError(_("%(target)s was changed while it was being corrected: export again"), target=target)
    with whole_binary_file(target) as file:
        file.write(corrected.data)
