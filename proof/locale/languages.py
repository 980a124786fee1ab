"""The languages of the interface: English as the code has it, Chinese from the catalogues in `locale/`.

Catalogues are kept as text (`.po`) alone and compiled when they are first asked for: a translator edits
one file, and no compiled copy of it can be out of date.
"""

from __future__ import annotations

import io
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

from proof.errors import UsageError

CATALOGUES = Path(__file__).parent
LANGUAGES = {"en": "English", "zh-Hant": "繁體中文", "zh-Hans": "简体中文"}
"""The tag of each language, as `lang` takes it, and its name in itself."""


def catalogue_path(language: str) -> Path:
    """Where the catalogue of a language lies."""
    return CATALOGUES / language.replace("-", "_") / "LC_MESSAGES" / "messages.po"


@cache
def translations(language: str) -> NullTranslations:
    """The messages of a language, as Jinja and gettext take them. Raises UsageError for an unknown one."""
    if language not in LANGUAGES:
        raise UsageError(f"language {language!r} is unknown; known are {', '.join(LANGUAGES)}")
    if language == "en":
        return NullTranslations()
    import polib  # noqa: PLC0415 - English needs no catalogue

    return GNUTranslations(io.BytesIO(polib.pofile(str(catalogue_path(language))).to_binary()))
