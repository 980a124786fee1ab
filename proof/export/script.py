"""Readings in the script of the source: an image shows traditional characters, a transcription may be simplified, and
a reading that a person typed may be in either.

Most characters have one form in the other script. A few have two, by sense (乾 is 干 or 乾, 发 is 發 or 髮): those are
asked about, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from proof.errors import ProofError
from proof.export.corrections import Correction
from proof.text.variants import VariantPolicy


@dataclass(frozen=True, slots=True)
class Question:
    """A character of a correction that could be written in several ways."""

    correction: Correction
    character: str
    choices: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.correction.place}: is {self.character} {' or '.join(self.choices)}?"


class AmbiguousScriptError(ProofError):
    """Corrections whose characters have several forms in the script of the text; `questions` name them."""

    http_status = 409

    def __init__(self, questions: Sequence[Question]) -> None:
        listed = "\n".join(f"  {question}" for question in questions)
        super().__init__(
            f"these characters have more than one form in this text's script; say which is meant "
            f"(--choose {questions[0].character}={questions[0].choices[0]}):\n{listed}"
        )
        self.questions = tuple(questions)


def in_source_script(
    corrections: Iterable[Correction], policy: VariantPolicy, choices: Mapping[str, str] | None = None
) -> list[Correction]:
    """The corrections with their replacements in the script of the text, which `policy` knows: the one gate for every
    reading, whether a machine suggested it, a person typed or chose it, or a file brought it.

    A character that the place had before stays as it is; `choices` answers for others (`{"乾": "干"}`). Raises
    AmbiguousScriptError with every open question.
    """
    questions: list[Question] = []
    done = []
    for correction in corrections:
        if not correction.changes or not correction.accepted or correction.audit:
            done.append(correction)
            continue
        written = ""
        for char in correction.replacement:
            known = (choices or {}).get(char)
            forms = (known,) if known is not None else _forms(char, correction.original, policy)
            if len(forms) > 1:
                questions.append(Question(correction, char, forms))
            written += forms[0]
        done.append(replace(correction, replacement=written))
    if questions:
        raise AmbiguousScriptError(questions)
    return done


def _forms(char: str, original: str, policy: VariantPolicy) -> tuple[str, ...]:
    """The forms that `char` may take in the text."""
    return (char,) if char in original else policy.written_forms(char)
