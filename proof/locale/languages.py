"""The languages of the interface: English as the code has it, Chinese from the catalogue in `locale/`.

There is one catalogue, in traditional characters. OpenCC and the words of `zh_Hans/words.tsv` put its messages into
simplified characters; a message that this would spoil is in the catalogue `zh_Hans/LC_MESSAGES/messages.po`.

Catalogues are kept as text (`.po`) and compiled when they are first asked for, so that no compiled copy can be out of
date.
"""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations
from opencc import OpenCC

from proof.errors import UsageError

CATALOGUES = Path(__file__).parent
LANGUAGES = {"en": "English", "zh-Hant": "繁體中文", "zh-Hans": "简体中文"}
"""The tag of each language, as `lang` takes it, and its name in itself."""


def catalogue_path(language: str) -> Path:
    """Where the catalogue of a language lies."""
    return CATALOGUES / language.replace("-", "_") / "LC_MESSAGES" / "messages.po"


def catalogue_of(language: str) -> Catalog:
    """The messages of a language that is not English."""
    catalogue = _read("zh-Hant")
    if language == "zh-Hans":
        own = _read(language)
        for message in catalogue:
            if message.id:
                kept = own.get(message.id, message.context)
                message.string = kept.string if kept is not None else _simplified_forms(message.string)
    return catalogue


def simplified(text: str) -> str:
    """`text` in simplified characters, with the words that are used with them."""
    text = _opencc().convert(text)
    for word, instead in _words():
        text = text.replace(word, instead)
    return text


@cache
def translations(language: str) -> NullTranslations:
    """The messages of a language, as Jinja and gettext take them. Raises UsageError for an unknown one."""
    if language not in LANGUAGES:
        raise UsageError(f"language {language!r} is unknown; known are {', '.join(LANGUAGES)}")
    if language == "en":
        return NullTranslations()
    compiled = io.BytesIO()
    write_mo(compiled, catalogue_of(language))
    compiled.seek(0)
    return Translations(compiled)


def _read(language: str) -> Catalog:
    with catalogue_path(language).open("rb") as file:
        return read_po(file, locale=language.replace("-", "_"))


def _simplified_forms(forms: str | tuple[str, ...] | list[str] | None) -> str | tuple[str, ...]:
    return simplified(forms) if isinstance(forms, str) else tuple(simplified(form) for form in forms or ())


@cache
def _opencc() -> OpenCC:
    return OpenCC("t2s")


@cache
def _words() -> tuple[tuple[str, str], ...]:
    lines = (CATALOGUES / "zh_Hans" / "words.tsv").read_text(encoding="utf-8").splitlines()
    return tuple((word, instead) for word, _, instead in (line.partition("\t") for line in lines))
