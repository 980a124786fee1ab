"""Messages that are marked for translation before the language is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Self

Say = Callable[[str], str]
"""Translates a message into the language of the reader."""


def _(message: str) -> str:
    """Mark a message for translation; it is returned unchanged."""
    return message


OR = _("%(left)s or %(right)s")
AND = _("%(left)s and %(right)s")
LINES = "%(left)s\n%(right)s"

SYSTEM_REASONS = frozenset(
    {
        _("File exists"),
        _("File name too long"),
        _("Input/output error"),
        _("Is a directory"),
        _("No space left on device"),
        _("No such file or directory"),
        _("Not a directory"),
        _("Permission denied"),
        _("Read-only file system"),
        _("Too many levels of symbolic links"),
    }
)
"""Reasons of errors from the operating system (`OSError.strerror`), which occur among the values of messages."""


class Sentence(str):
    """A message with its values. As a string it is in English; `in_words` translates it. Values may be sentences or
    errors themselves."""

    message: str
    values: dict[str, object]

    def __new__(cls, message: str, /, **values: object) -> Self:
        if isinstance(message, cls) and not values:
            return message
        sentence = super().__new__(cls, message % values if values else message)
        sentence.message, sentence.values = message, values
        return sentence

    @classmethod
    def of(cls, error: BaseException) -> Self:
        """The sentence of an error, else its text as a sentence."""
        sentence = getattr(error, "sentence", None)
        return sentence if isinstance(sentence, cls) else cls(str(error))

    def in_words(self, say: Say) -> str:
        """The sentence in the language of `say`."""
        text = say(self.message) if self.message else ""  # gettext returns the catalogue's header for an empty message
        if not self.values:
            return text
        return text % {name: in_words(value, say) for name, value in self.values.items()}


def in_words(value: object, say: Say) -> object:
    """A value of a message, translated by `say` if it is a sentence, an error or a reason of the operating system;
    other values are returned unchanged."""
    sentence = Sentence.of(value) if isinstance(value, BaseException) else value
    if isinstance(sentence, Sentence):
        return sentence.in_words(say)
    return say(sentence) if isinstance(sentence, str) and sentence in SYSTEM_REASONS else value


def joined(parts: Iterable[object], joint: str) -> Sentence:
    """One or more parts, joined by a message (`OR`, `AND`, `LINES`)."""
    first, *rest = parts
    return reduce(lambda left, right: Sentence(joint, left=left, right=right), rest, Sentence("%(part)s", part=first))
