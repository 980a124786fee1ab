"""The language of a request: the one that the user chose, else that of the browser, else English. Errors are told to
people in this language, to programs in English."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from flask import Flask, g, has_request_context, request
from werkzeug.datastructures import LanguageAccept

from proof.errors import ProofError, PublicError
from proof.locale.languages import LANGUAGES, known_language, translations
from proof.web.messages import PAGE_STATES, RIGHTS, ROLES

COOKIE = "lang"


def language() -> str:
    """The language tag of the answer to this request."""
    if not has_request_context():
        return "en"
    if "language" not in g:
        chosen = request.cookies.get(COOKIE, "")
        g.language = chosen if chosen in LANGUAGES else _preferred(request.accept_languages)
    return str(g.language)


def say(message: str) -> str:
    """A message in the language of the request."""
    return translations(language()).gettext(message)


def _say_plural(singular: str, plural: str, count: int) -> str:
    return translations(language()).ngettext(singular, plural, count)


def _preferred(accepted: LanguageAccept) -> str:
    """The first of the browser's languages that the interface has, else English."""
    for tag, quality in accepted:
        if quality > 0 and (supported := known_language(tag)):
            return supported
    return "en"


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


def install_translations(app: Flask) -> None:
    """Install the translations in the templates."""
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.install_gettext_callables(say, _say_plural, newstyle=True)  # type: ignore[attr-defined]
    app.jinja_env.globals.update(language=language, languages=LANGUAGES)
