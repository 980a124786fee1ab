"""Converting readings to the script of the source: images show traditional characters, a transcription may be
simplified, and typed readings may be in either script.

Most characters have one form in the other script. A few have two, depending on the sense (乾 becomes 干 or 乾, 发 is 發
or 髮): where the text uses both, or neither, these become questions to the user, and are never guessed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from proof.errors import UsageError
from proof.exports.corrections import Correction, Refusal, RefusedCorrection
from proof.locale.marking import OR, _, joined
from proof.model.notices import Notice
from proof.text.variants import VariantPolicy


@dataclass(frozen=True, slots=True)
class FormChoice:
    """The form chosen for `character`: everywhere if `place` is empty, else only at `PAGE`, `PAGE:COLUMN` or
    `PAGE:COLUMN:OFFSET` (in a text without page marks `LINE` or `LINE:OFFSET`)."""

    character: str
    form: str
    place: str = ""

    @classmethod
    def parse(cls, choice: str) -> FormChoice:
        """Parse `乾=干`, `乾@KR1d0030_WYG_010-1a=干` or `乾@KR1d0030_WYG_010-1a:3:5=干`. Raises UsageError."""
        about, sign, form = choice.rpartition("=")
        character, at, place = about.partition("@")
        if not sign or len(character) != 1 or len(form) != 1 or bool(at) is not bool(place):
            raise UsageError(
                _(
                    "--choose %(choice)s: write a character and its form in the text, such as 乾=干, with the "
                    "place if it is for that place only: 乾@PAGE:COLUMN:OFFSET=干"
                ),
                choice=repr(choice),
            )
        return cls(character, form, place)

    def is_for(self, correction: Correction, character: str) -> bool:
        """Whether the choice applies to this character of a correction."""
        within = not self.place or f"{_reference(correction)}:".startswith(f"{self.place}:")
        return within and character == self.character

    def __str__(self) -> str:
        return f"{self.character}{'@' if self.place else ''}{self.place}={self.form}"


def _reference(correction: Correction) -> str:
    """The place of a correction as `FormChoice.place` has it, down to the offset."""
    return ":".join(filter(None, (correction.page, str(correction.line), str(correction.offset))))


def spellings(correction: Correction, text: str, policy: VariantPolicy) -> list[Correction]:
    """The spellings of a correction in the script of the `text`."""
    forms_of_each = (_forms(char, correction, text, policy) for char in correction.replacement)
    return [replace(correction, replacement="".join(characters)) for characters in product(*forms_of_each)]


def in_source_script(
    corrections: Iterable[Correction], text: str, policy: VariantPolicy, choices: Sequence[FormChoice] = ()
) -> tuple[list[tuple[Correction, Correction]], list[RefusedCorrection]]:
    """Convert the replacements of corrections to the script of the `text`; gives pairs of a correction as it was
    decided and as it is written. All readings pass through this function, whether suggested by the program, typed,
    chosen, or from a file.

    Also gives the corrections whose form has to be chosen first: for each character with several forms a refusal that
    says how to choose. A character that the text has at that place is not converted, nor is a typed one that has no
    form of its own in the other script. Of the `choices` for a character the most specific one counts: offset, column,
    page, whole text. Raises UsageError if a choice is none of the possible forms, if two contradict each other, or if
    one is for a place where no correction has its character.
    """
    questions: list[RefusedCorrection] = []
    used: set[FormChoice] = set()
    converted = []
    for correction in corrections:
        if not correction.changes:
            converted.append((correction, correction))
            continue
        replacement, open_questions = "", []
        for char in correction.replacement:
            forms = _forms(char, correction, text, policy)
            answers = [
                choice
                for choice in choices
                # a choice for the whole text answers open questions only
                if choice.is_for(correction, char) and (choice.place or len(forms) > 1)
            ]
            used.update(answers)
            if answers:
                forms = (_answered(answers, forms, correction),)
            if len(forms) > 1:
                open_questions.append(_question(correction, char, forms))
            replacement += forms[0]
        if open_questions:
            questions += open_questions
        else:
            converted.append((correction, replace(correction, replacement=replacement)))
    unused = [choice for choice in choices if choice.place and choice not in used]
    if unused:
        raise UsageError(
            _("--choose %(choice)s: no correction there has %(character)s"),
            choice=unused[0],
            character=unused[0].character,
        )
    return converted, questions


def _question(correction: Correction, character: str, forms: Sequence[str]) -> RefusedCorrection:
    answer = f"{character}@{_reference(correction)}={forms[0]}"
    reason = Notice.of(Refusal.SEVERAL_FORMS, character=character, forms=" or ".join(forms), answer=answer)
    return RefusedCorrection(correction, reason)


def _forms(char: str, correction: Correction, text: str, policy: VariantPolicy) -> tuple[str, ...]:
    """The forms that a character of a correction may have in the text, most likely first. A character that the text has
    at its place, or that moved, stays as it is, and so does one of the forms that a person chose."""
    if char in correction.original or correction.moved:
        return (char,)
    forms = policy.forms_in(text, char, kin=not correction.is_typed)
    return (char,) if correction.number and char in forms else forms


def _answered(answers: Sequence[FormChoice], forms: Sequence[str], correction: Correction) -> str:
    """The form of the most specific choice. Raises UsageError as `in_source_script`."""
    chosen = max(answers, key=lambda choice: len(choice.place))
    contrary = [choice for choice in answers if choice.place == chosen.place and choice.form != chosen.form]
    if contrary:
        raise UsageError(
            _("--choose %(chosen)s and --choose %(other)s contradict each other: give one of the two"),
            chosen=chosen,
            other=contrary[0],
        )
    if chosen.form not in (*forms, chosen.character):
        raise UsageError(
            _("--choose %(chosen)s: at %(place)s %(character)s is %(forms)s"),
            chosen=chosen,
            place=correction.place,
            character=chosen.character,
            forms=joined(forms, OR),
        )
    return chosen.form
