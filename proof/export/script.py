"""Readings in the script of the source: an image shows traditional characters, a transcription may be simplified.

Most characters have one simplified form. A few have two, by sense (乾 is 干 or 乾, 著 is 着 or 著): those are asked
about, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from proof.errors import ProofError
from proof.export.corrections import Correction
from proof.text.conversions import conversions
from proof.text.model import Script


@dataclass(frozen=True, slots=True)
class Question:
    """A character of a correction that could be written in several ways."""

    correction: Correction
    character: str
    choices: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.correction.place}: is {self.character} {' or '.join(self.choices)}?"


class AmbiguousScriptError(ProofError):
    """Corrections whose characters have several simplified forms; `questions` name them."""

    http_status = 409

    def __init__(self, questions: Sequence[Question]) -> None:
        listed = "\n".join(f"  {question}" for question in questions)
        super().__init__(f"these characters have more than one simplified form; say which is meant:\n{listed}")
        self.questions = tuple(questions)


def in_source_script(
    corrections: Iterable[Correction], script: Script, choices: Mapping[str, str] | None = None
) -> list[Correction]:
    """The corrections with their replacements in `script`. Traditional is what the image shows: nothing changes.

    `choices` answers for characters (`{"乾": "干"}`); a correction that is `settled` stays as it is, and so does a
    character that the place had before. Raises AmbiguousScriptError with every open question.
    """
    corrections = list(corrections)
    if script is Script.TRADITIONAL:
        return corrections
    questions: list[Question] = []
    done = []
    for correction in corrections:
        if correction.settled or not correction.changes or not correction.accepted or correction.audit:
            done.append(correction)
            continue
        written = ""
        for char in correction.replacement:
            known = (choices or {}).get(char)
            forms = (known,) if known is not None else _forms(char, correction.original)
            if len(forms) > 1:
                questions.append(Question(correction, char, forms))
            written += forms[0]
        done.append(replace(correction, replacement=written))
    if questions:
        raise AmbiguousScriptError(questions)
    return done


def _forms(char: str, original: str) -> tuple[str, ...]:
    """The forms that `char` may take in a simplified text."""
    if char in original:
        return (char,)
    return conversions().simplified.get(char) or (char,)
