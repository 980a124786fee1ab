"""The languages of the interface: English, whose messages are in the code, and Chinese, from catalogues in `locale/`.

The catalogue `zh_Hant` has all messages, in traditional characters. They are converted to simplified characters with
OpenCC's tables and the words of `zh_Hans/words.tsv`; the catalogue `zh_Hans` has only the messages for which the result
would be wrong.

Catalogues are text files (`.po`), compiled when they are first used, so that no compiled copy can be out of date.
"""

from __future__ import annotations

import io
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import TYPE_CHECKING

from proof.errors import UsageError
from proof.locale.marking import _
from proof.text.conversions import simplified_text

if TYPE_CHECKING:
    from polib import POFile

CATALOGUES = Path(__file__).parent
LANGUAGES = {"en": "English", "zh-Hant": "繁體中文", "zh-Hans": "简体中文"}
"""The tag of each language, as in the HTML attribute `lang`, and its name in that language."""

SIMPLIFIED = ("zh-hans", "zh-cn", "zh-sg", "zh-my")
"""Prefixes of the tags for Chinese in simplified characters."""


def known_language(name: str) -> str:
    """The tag in `LANGUAGES` for the name of a language in a browser or a locale (`zh-TW`, `zh_CN`); empty if the
    interface does not have that language."""
    tag = name.lower().replace("_", "-").partition(".")[0]
    if tag.startswith("zh"):
        return "zh-Hans" if tag == "zh" or tag.startswith(SIMPLIFIED) else "zh-Hant"
    return "en" if tag.startswith("en") else ""


def catalogue_path(language: str) -> Path:
    """The file of a language's catalogue."""
    return CATALOGUES / language.replace("-", "_") / "LC_MESSAGES" / "messages.po"


def catalogue_of(language: str) -> POFile:
    """The messages of a language other than English."""
    catalogue = _read("zh-Hant")
    if language == "zh-Hans":
        exceptions = {(entry.msgctxt, entry.msgid): entry for entry in _read(language)}
        for entry in catalogue:
            if exception := exceptions.get((entry.msgctxt, entry.msgid)):
                entry.msgstr, entry.msgstr_plural = exception.msgstr, exception.msgstr_plural
            else:
                entry.msgstr = simplified(entry.msgstr)
                entry.msgstr_plural = {number: simplified(form) for number, form in entry.msgstr_plural.items()}
    return catalogue


def simplified(text: str) -> str:
    """A text of the interface in simplified characters, with the vocabulary of mainland China."""
    text = simplified_text(text)
    for word, replacement in _word_replacements():
        text = text.replace(word, replacement)
    return text


@cache
def translations(language: str) -> NullTranslations:
    """The messages of a language for Jinja and gettext. Raises UsageError if the language is unknown."""
    if language not in LANGUAGES:
        raise UsageError(
            _("language %(language)s is unknown; known are %(languages)s"),
            language=repr(language),
            languages=", ".join(LANGUAGES),
        )
    if language == "en":
        return NullTranslations()
    return GNUTranslations(io.BytesIO(catalogue_of(language).to_binary()))


def _read(language: str) -> POFile:
    import polib  # noqa: PLC0415 - English needs no catalogue

    return polib.pofile(str(catalogue_path(language)))


@cache
def _word_replacements() -> tuple[tuple[str, str], ...]:
    """Words as OpenCC converts them, each with its replacement."""
    lines = (CATALOGUES / "zh_Hans" / "words.tsv").read_text(encoding="utf-8").splitlines()
    return tuple((word, replacement) for word, _, replacement in (line.partition("\t") for line in lines))
