"""Messages of errors: for people in the language of the request, for programs in English."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from proof.errors import ProofError, PublicError
from proof.web.language import say
from proof.web.messages import PAGE_STATES, RIGHTS, ROLES


def translated_message(error: PublicError) -> str:
    """The message of an error in the language of the request; roles, rights and page states are translated as well."""
    return _message(error, say)


def english_message(error: BaseException | None) -> str:
    """The message of an error for programs, in English; an unexpected error gets a general one without details."""
    if isinstance(error, PublicError):
        return _message(error, str)
    return str(error) if isinstance(error, ProofError) else "the server made a mistake; its log says which"


def _message(error: PublicError, say: Callable[[str], str]) -> str:
    sentence = error.sentence
    words = {**ROLES, **RIGHTS, **PAGE_STATES}
    values = {
        name: say(words.get(value.value, value.value)) if isinstance(value, StrEnum) else value
        for name, value in sentence.values.items()
    }
    return say(sentence.message) % values if values else say(sentence.message)
