"""The corrected source: accepted corrections written into the file they came from, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from proof.atomic import whole_binary_file
from proof.errors import OutputError, UsageError
from proof.export.corrections import ChangedSourceError, Correction, PlacedCorrection, place
from proof.export.diff import unified_diff
from proof.export.script import FormChoice, in_source_script, open_forms
from proof.text.edit import edited
from proof.text.encoding import encode
from proof.text.lines import lines
from proof.text.pages import LineKind
from proof.text.variants import policy_of
from proof.text.witness import Edition


@dataclass(frozen=True, slots=True)
class CorrectedSource:
    """A corrected file: `data` in the encoding of the source, `placed` the corrections with their edits, their
    replacements in the source's script, `applied` those that the source has already, `rewritten` those whose readings
    were put into the source's script, each as it was decided and as it is written."""

    edition: Edition
    text: str
    data: bytes
    placed: tuple[PlacedCorrection, ...]
    applied: tuple[Correction, ...] = ()
    rewritten: tuple[tuple[Correction, Correction], ...] = ()

    @property
    def moved(self) -> tuple[PlacedCorrection, ...]:
        """The corrections that were set at another place than they name."""
        return tuple(placed for placed in self.placed if placed.decided)

    def diff(self, name: str) -> bytes:
        """What changed as a unified diff that `git apply` takes; `name` is the file's path in its repository."""
        edition = self.edition
        before = encode(edition.path, edition.text, edition.encoding, edition.bom)
        return unified_diff(before, self.data, name)


def correct(
    edition: Edition,
    corrections: Iterable[Correction],
    *,
    reanchor: bool = False,
    choices: Sequence[FormChoice] = (),
    pairs: Path | None = None,
    before: Sequence[Correction] = (),
) -> CorrectedSource:
    """The source with the accepted corrections; without any, byte for byte as it is. `pairs` is the project's own file
    of variants, `before` what was corrected in the source earlier.

    Raises ChangedSourceError where the source reads otherwise than when it was checked (`reanchor` sets those whose
    context is there exactly once), AmbiguousScriptError where a form has to be chosen (`choices`),
    UsageError where two corrections claim one place or a choice is none, TextError where the file's encoding lacks a
    character.
    """
    policy = policy_of(edition.script, pairs)
    known = list(corrections)
    told = {one: _as_written(edition, one, known, list(open_forms(one, policy, choices))) for one in known}
    there = [now for now in told.values() if now is not None]
    given = [one for one in known if told[one] is None]
    written = in_source_script(given, policy, choices)
    in_text = tuple(now for was, now in zip(given, written, strict=True) if was.changes and not now.changes)
    anew = [one for one in written if one not in in_text]
    found = place(edition, anew, reanchor=reanchor, written=(*before, *there))
    text = edited(edition.text, [one.edit for one in found.placed if one.correction.changes])
    _must_keep_lines(edition, found.placed, text)
    data = encode(edition.path, text, edition.encoding, edition.bom)
    rewritten = tuple(pair for pair in zip(given, written, strict=True) if pair[0] != pair[1])
    return CorrectedSource(edition, text, data, found.placed, (*found.applied, *in_text, *there), rewritten)


def _must_keep_lines(edition: Edition, placed: Sequence[PlacedCorrection], text: str) -> None:
    """Raises UsageError where a correction would make a page mark, a comment or an outline of a line of text: its page
    would end there, or lose a column."""
    changed = [one for one in placed if one.correction.changes]
    if not edition.paged or not changed or (was := _no_columns(edition.text)) == _no_columns(text):
        return
    guilty = (one for one in changed if _no_columns(edited(edition.text, [one.edit])) != was)
    place_of = next(guilty, changed[0]).correction.place
    raise UsageError(f"{place_of}: its line would be no column any more; take it back, or change the text itself")


def _no_columns(text: str) -> list[tuple[LineKind, str]]:
    """What in a text with page marks is neither a column nor empty, in its order, page marks with their ids."""
    kinds = (LineKind.COLUMN, LineKind.EMPTY, LineKind.BEFORE)
    return [(one.kind, one.mark.id if one.mark else "") for one in lines(text) if one.kind not in kinds]


def _as_written(
    edition: Edition, correction: Correction, beside: Sequence[Correction], forms: Sequence[Correction]
) -> Correction | None:
    """The one of the forms that a correction could take in which the text has it already: what was asked when it was
    written is not asked again. None where it has none, or several might be meant."""
    found: list[Correction] = []
    for form in forms if correction.accepted and not correction.audit and correction.changes else ():
        try:
            found += place(edition, [form], written=[one for one in beside if one != correction]).applied
        except ChangedSourceError:
            continue
    return found[0] if len(found) == 1 else None


def write_corrected(corrected: CorrectedSource, target: Path) -> None:
    """Write the corrected file, whole or not at all. Raises OutputError, also where it would replace its own source
    and that is no longer what was read."""
    edition = corrected.edition
    if target.exists() and target.samefile(edition.path):
        current = edition.path.read_bytes()
        if current != encode(edition.path, edition.text, edition.encoding, edition.bom):
            raise OutputError(f"{target} was changed while it was being corrected: export again")
    with whole_binary_file(target) as file:
        file.write(corrected.data)
