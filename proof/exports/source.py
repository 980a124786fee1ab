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
from proof.text.edit import Edit, edited
from proof.text.encoding import encode
from proof.text.lines import lines
from proof.text.pages import LineKind
from proof.text.transcription import Transcription
from proof.text.variants import policy_of

ARCHIVE = b"PK"
"""How the archives begin that texts are extracted from."""


@dataclass(frozen=True, slots=True)
class CorrectedSource:
    """A corrected file: `data` in the encoding of the source, `placed` the corrections with their edits, their
    replacements in the source's script, `applied` those that the source has already, `rewritten` those whose readings
    were put into the source's script, each as it was decided and as it is written, `refused` those that cannot be
    written."""

    edition: Transcription
    text: str
    data: bytes
    placed: tuple[PlacedCorrection, ...]
    applied: tuple[Correction, ...] = ()
    rewritten: tuple[tuple[Correction, Correction], ...] = ()
    refused: tuple[RefusedCorrection, ...] = ()

    def diff(self, name: str) -> bytes:
        """What changed as a unified diff that `git apply` takes; `name` is the file's path in its repository. Of an
        archive (DOCX, EPUB) what changed in its text, to be read."""
        before, after = self.edition.data(), self.data
        if self.edition.decoded.extraction is not None and before.startswith(ARCHIVE):
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
    of variants. What cannot be written is refused by itself: where its place reads otherwise than when it was checked,
    a form has to be chosen (`choices`), two claim one place, a page mark would come of it, or the file's encoding lacks
    a character.

    Raises UsageError where a choice is none.
    """
    policy = policy_of(edition.script, pairs)
    known = list(corrections)
    in_text_as = {
        correction: _as_written(edition, correction, list(open_forms(correction, policy, choices)))
        for correction in known
    }
    there = [form for form in in_text_as.values() if form is not None]
    given = [correction for correction in known if in_text_as[correction] is None]
    written, questions = in_source_script(given, policy, choices)
    open_corrections = {question.correction for question in questions}
    given = [correction for correction in given if correction not in open_corrections]
    in_text = tuple(now for was, now in zip(given, written, strict=True) if was.changes and not now.changes)
    anew = [correction for correction in written if correction not in in_text]
    placements = place(edition, anew)
    placed, unwritable = _writable(edition, placements.placed)
    edits = [change.edit for change in placed if change.correction.changes]
    text, data = edited(edition.text, edits), edition.data(edits)
    rewritten = tuple(pair for pair in zip(given, written, strict=True) if pair[0] != pair[1])
    unanswered = (
        RefusedCorrection(question.correction, Refusal.SEVERAL_FORMS, question.values) for question in questions
    )
    refused = (*unanswered, *placements.refused, *unwritable)
    applied = (*placements.applied, *in_text, *there)
    return CorrectedSource(edition, text, data, tuple(placed), applied, rewritten, refused)


def _writable(
    edition: Transcription, placed: Sequence[PlacedCorrection]
) -> tuple[list[PlacedCorrection], list[RefusedCorrection]]:
    """The corrections that can be written together, and why others cannot."""
    refused: dict[int, Refusal] = {}
    ordered = sorted(range(len(placed)), key=lambda n: (placed[n].edit.start, placed[n].edit.length))
    changing = [n for n in ordered if placed[n].correction.changes]
    for at, number in enumerate(changing):
        edit = placed[number].edit
        for other in changing[at + 1 :]:
            second = placed[other].edit
            if second.start < edit.end or (second.start, second.length) == (edit.start, edit.length):
                refused |= {number: Refusal.SAME_PLACE, other: Refusal.SAME_PLACE}
            elif second.start > edit.end:
                break
    for number in changing:
        try:
            encode(edition.path, placed[number].edit.replacement, edition.decoded.encoding, False)
        except TextError:
            refused.setdefault(number, Refusal.ENCODING)
        extraction = edition.decoded.extraction
        if extraction is not None and not extraction.holds(placed[number].edit):
            refused.setdefault(number, Refusal.MARKUP)
    refused |= _breaking(edition, {n: placed[n].edit for n in changing if n not in refused})
    kept = [change for n, change in enumerate(placed) if n not in refused]
    return kept, [_refused(edition, placed[n].correction, refused[n]) for n in sorted(refused)]


def _refused(edition: Transcription, correction: Correction, why: Refusal) -> RefusedCorrection:
    values = {"text": correction.replacement, "encoding": edition.decoded.encoding} if why is Refusal.ENCODING else {}
    return RefusedCorrection(correction, why, values)


def _breaking(edition: Transcription, edits: Mapping[int, Edit]) -> dict[int, Refusal]:
    """The edits, by number, that would make a page mark, a comment or an outline of a line of text: its page would end
    there, or lose a column."""
    was = _no_columns(edition.text)
    if not edition.paged or not edits or was == _no_columns(edited(edition.text, edits.values())):
        return {}
    sound: list[Edit] = []
    refused = {}
    for number, edit in edits.items():
        if _no_columns(edited(edition.text, [*sound, edit])) == was:
            sound.append(edit)
        else:
            refused[number] = Refusal.NO_COLUMN
    return refused


def _no_columns(text: str) -> list[tuple[LineKind, str]]:
    """What in a text with page marks is neither a column nor empty, in its order, page marks with their ids."""
    kinds = (LineKind.COLUMN, LineKind.EMPTY, LineKind.BEFORE)
    return [(line.kind, line.mark.id if line.mark else "") for line in lines(text) if line.kind not in kinds]


def _as_written(edition: Transcription, correction: Correction, forms: Sequence[Correction]) -> Correction | None:
    """The one of the forms that a correction could take in which the text has it already: what was asked when it was
    written is not asked again. None where it has none, or several might be meant."""
    present: list[Correction] = []
    for form in forms if correction.accepted and not correction.audit and correction.changes else ():
        present += place(edition, [form]).applied
    return present[0] if len(present) == 1 else None


def write_corrected(corrected: CorrectedSource, target: Path) -> None:
    """Write the corrected file, whole or not at all. Raises OutputError, also where it would replace its own source
    and that is no longer what was read."""
    edition = corrected.edition
    if target.exists() and target.samefile(edition.path) and not edition.is_in_file():
        raise OutputError(f"{target} was changed while it was being corrected: export again")
    with whole_binary_file(target) as file:
        file.write(corrected.data)
