"""The preview of an export: the corrections that it would write into a text, and those that it would leave out.

`proof export --dry-run`, the export itself and the web use the same preview."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from proof.exports.corrections import Correction, place_and_change
from proof.exports.decided_corrections import Decided, LeftOut, Unused, decided_in
from proof.exports.script import FormChoice
from proof.exports.source import CorrectedSource, correct
from proof.locale.marking import Say, _
from proof.locale.notices import in_words
from proof.model.notices import Notice
from proof.settings.config import Settings
from proof.store import Store
from proof.text.contexts import before, behind
from proof.text.edit import Edit
from proof.text.positions import line_end
from proof.text.read import in_script, read_transcription

MAX_CONTEXT_CHARACTERS = 10
"""Maximum number of characters of the text that are shown on either side of a place."""


@dataclass(frozen=True, slots=True)
class PlannedCorrection:
    """A correction that would be written, or, if there is a reason `why`, would not be written. `new` is what was
    decided, or, if nothing was, what was suggested. `before` and `after` are the text around the place. `flag` is the
    number of its flag in the store, 0 for none; `text` names the file if it is not the text of the preview."""

    page: str
    line: int
    offset: int
    old: str
    new: str
    person: str
    flag: int = 0
    why: Notice | None = None
    text: str = ""
    before: str = ""
    after: str = ""
    authority: str = ""
    note: str = ""

    @property
    def written(self) -> bool:
        return self.why is None

    def reason(self, say: Say = str) -> str:
        """The reason why it would not be written; empty if it would."""
        return in_words(self.why, say) if self.why is not None else ""

    def in_words(self, say: Say = str) -> str:
        """Its place, its change and its person, as a line."""
        place = place_and_change(self.page, self.line, self.offset, self.old, self.new).in_words(say)
        return f"{place} ({self.person})" if self.person else place


@dataclass(frozen=True)
class Preview:
    """The decisions about a text, and the text as they correct it."""

    decided: Decided
    corrected: CorrectedSource

    @cached_property
    def written(self) -> Sequence[PlannedCorrection]:
        """The corrections that would be written, in the order of the file."""
        changing = [change for change in self.corrected.placed if change.correction.changes]
        return [
            self._placed(change.correction, change.edit)
            for change in sorted(changing, key=lambda change: change.edit.start)
        ]

    @cached_property
    def not_written(self) -> Sequence[PlannedCorrection]:
        """The corrections that were decided and would not be written."""
        refused = [_not_written(refused.correction, refused.reason) for refused in self.corrected.refused]
        return [*refused, *(_left_out(decision) for decision in self.decided.left_out)]

    @property
    def in_text(self) -> int:
        """The number of corrections that the text already has."""
        return len(self.corrected.applied) + len(self.decided.applied)

    def reasons(self, say: Say = str) -> Iterator[str]:
        """Lines for the user about the corrections that would not be written: for each reason their number, then the
        corrections themselves; for other texts only the number."""
        by_reason: dict[tuple[str, str], list[PlannedCorrection]] = {}
        for correction in self.not_written:
            by_reason.setdefault((correction.reason(say), correction.text), []).append(correction)
        for (reason, text), corrections in by_reason.items():
            message = _("not written, %(reason)s: %(number)s")
            if text:
                message = _("not written, %(reason)s (%(text)s): %(number)s")
            yield say(message) % {"reason": reason, "text": text, "number": len(corrections)}
            if not text:
                yield from (f"  {correction.in_words(say)}" for correction in corrections)

    def _placed(self, correction: Correction, edit: Edit) -> PlannedCorrection:
        """A correction with the text around its place, within the line of the file; a column stands alone."""
        if correction.adds_column or correction.deletes_column:
            return _planned(correction, "", "")
        text = self.decided.edition.text
        line = text[text.rfind("\n", 0, edit.start) + 1 : line_end(text, edit.end)]
        at = edit.start - text.rfind("\n", 0, edit.start) - 1
        return _planned(
            correction,
            before(line, at, MAX_CONTEXT_CHARACTERS),
            behind(line, at + edit.length, MAX_CONTEXT_CHARACTERS),
        )


def preview_of(decided: Decided, pairs: Path | None = None, *, choices: Sequence[FormChoice] = ()) -> Preview:
    """The preview of these decisions; `pairs` and `choices` are arguments of `correct`. Raises UsageError for a wrong
    choice."""
    corrected = correct(decided.edition, decided.corrections, choices=choices, pairs=pairs)
    return Preview(decided, corrected)


def preview_now(store: Store, checked: Path, settings: Settings) -> Preview:
    """The preview of the text that was checked at the path `checked`, with the present decisions. Raises TextError,
    ConfigError and UsageError."""
    text = in_script(read_transcription(settings.text_at(checked)), settings.page.script)
    return preview_of(decided_in(store, text), settings.variants.file)


def _left_out(left_out: LeftOut) -> PlannedCorrection:
    """A decision that is left out. If it leaves its place open, the correction has what was suggested there."""
    decision = left_out.decision
    is_open = left_out.reason in (Unused.UNSURE, Unused.SKIPPED)
    correction = Correction(
        decision.page,
        decision.line,
        decision.offset,
        len(decision.transcribed),
        decision.suggested if is_open else decision.reading,
        decision.transcribed,
        context=decision.context,
        note=decision.note,
        authority=decision.authority,
        person=decision.person,
        number=decision.flag,
    )
    text = left_out.text if left_out.reason is Unused.OTHER_TEXT else ""
    return _not_written(correction, Notice.of(left_out.reason), text=text)


def _not_written(correction: Correction, why: Notice, **more: Any) -> PlannedCorrection:
    """A correction that would not be written, with the text around its place from its context."""
    head, marked, tail = correction.context.partition(f"[{correction.original}]")
    return _planned(correction, head if marked else "", tail, why=why, **more)


def _planned(correction: Correction, head: str, tail: str, **more: Any) -> PlannedCorrection:
    """The correction, with the text before and after its place."""
    return PlannedCorrection(
        correction.page,
        correction.line,
        correction.offset,
        correction.original,
        correction.replacement,
        correction.person,
        correction.number,
        before=head,
        after=tail,
        authority=correction.authority,
        note=correction.note,
        **more,
    )
