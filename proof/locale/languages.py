"""The languages of the interface: English as the code has it, Chinese from the catalogue in `locale/`.

There is one catalogue, in traditional characters. OpenCC and the words of `zh_Hans/words.tsv` put its messages into
simplified characters; a message that this would spoil is in the catalogue `zh_Hans/LC_MESSAGES/messages.po`.

Catalogues are kept as text (`.po`) and compiled when they are first asked for, so that no compiled copy can be out of
date.
"""

from __future__ import annotations

import io
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import TYPE_CHECKING

from proof.errors import UsageError

if TYPE_CHECKING:
    from opencc import OpenCC
    from polib import POFile

CATALOGUES = Path(__file__).parent
LANGUAGES = {"en": "English", "zh-Hant": "繁體中文", "zh-Hans": "简体中文"}
"""The tag of each language, as `lang` takes it, and its name in itself."""

SIMPLIFIED = ("zh-hans", "zh-cn", "zh-sg", "zh-my")
"""How the tags of Chinese in simplified characters begin."""


def known_language(wanted: str) -> str:
    """The tag of the interface for a language as a browser or a locale names it (`zh-TW`, `zh_CN`); empty where the
    interface has none."""
    tag = wanted.lower().replace("_", "-").partition(".")[0]
    if tag.startswith("zh"):
        return "zh-Hans" if tag == "zh" or tag.startswith(SIMPLIFIED) else "zh-Hant"
    return "en" if tag.startswith("en") else ""


def catalogue_path(language: str) -> Path:
    """Where the catalogue of a language lies."""
    return CATALOGUES / language.replace("-", "_") / "LC_MESSAGES" / "messages.po"


def catalogue_of(language: str) -> POFile:
    """The messages of a language that is not English."""
    catalogue = _read("zh-Hant")
    if language == "zh-Hans":
        own = {(entry.msgctxt, entry.msgid): entry for entry in _read(language)}
        for entry in catalogue:
            if kept := own.get((entry.msgctxt, entry.msgid)):
                entry.msgstr, entry.msgstr_plural = kept.msgstr, kept.msgstr_plural
            else:
                entry.msgstr = simplified(entry.msgstr)
                entry.msgstr_plural = {number: simplified(form) for number, form in entry.msgstr_plural.items()}
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
    return GNUTranslations(io.BytesIO(catalogue_of(language).to_binary()))


def _read(language: str) -> POFile:
    import polib  # noqa: PLC0415 - English needs no catalogue

    return polib.pofile(str(catalogue_path(language)))


@cache
def _opencc() -> OpenCC:
    from opencc import OpenCC  # noqa: PLC0415 - as polib

    return OpenCC("t2s")


@cache
def _words() -> tuple[tuple[str, str], ...]:
    lines = (CATALOGUES / "zh_Hans" / "words.tsv").read_text(encoding="utf-8").splitlines()
    return tuple((word, instead) for word, _, instead in (line.partition("\t") for line in lines))
