"""Messages in the language of the command line, which the environment names (`LANG`)."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping

from proof.locale import notices
from proof.locale.languages import known_language, translations
from proof.locale.marking import in_words
from proof.model.notices import Notice

LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""Environment variables for the locale; the first one that is set counts."""


def terminal_language(environment: Mapping[str, str] | None = None) -> str:
    """The tag of the language of the command line: `en`, `zh-Hant` or `zh-Hans`. As in gettext, `LANGUAGE` lists the
    preferred languages and is ignored if the locale is `C`."""
    environment = os.environ if environment is None else environment
    locale = next(filter(None, (environment.get(name, "") for name in LOCALE_VARIABLES)), "C")
    if locale.partition(".")[0] in ("C", "POSIX"):
        return "en"
    preferred = (environment.get("LANGUAGE") or locale).split(":")
    return next(filter(None, map(known_language, preferred)), "en")


def say(message: str, **values: object) -> str:
    """A message translated into the language of the command line, with its values."""
    text = translations(terminal_language()).gettext(message)
    return text % {name: in_words(value, say) for name, value in values.items()} if values else text


def counted(number: int, singular: str, plural: str, **values: object) -> str:
    """A message about `number` things, with the placeholder `%(number)s`."""
    text: str = translations(terminal_language()).ngettext(singular, plural, number)
    return text % {"number": f"{number:,}", **values}


def sentence(notice: Notice) -> str:
    """A notice in the language of the command line."""
    return notices.in_words(notice, say)


def error_text(error: Exception) -> str:
    """The message of an error, in the language of the command line if the catalogues have it."""
    return str(in_words(error, say))


def paragraphs(help_text: str) -> Iterator[str]:
    """The paragraphs of a help text, each on one line: these are the message ids in the catalogues."""
    for paragraph in inspect.cleandoc(help_text).split("\n\n"):
        yield " ".join(paragraph.split())
