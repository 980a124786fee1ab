"""The forms of characters in the installed fonts, for comparison with the glyphs of a page."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from proof.errors import FontError
from proof.layout.glyph_form import DrawnForm

if TYPE_CHECKING:
    from proof.facsimile.fonts import FontChain

MAX_KEPT_CHARACTERS = 256
"""Number of cached forms, of some fifty kilobytes each: a view of glyphs asks for few."""

_lock = Lock()


def form_of(character: str) -> DrawnForm | None:
    """The form of a character; None if no installed font has it."""
    with _lock:  # a chain of fonts is not safe to share between threads
        return _form_of(character)


@lru_cache(MAX_KEPT_CHARACTERS)
def _form_of(character: str) -> DrawnForm | None:
    from proof.facsimile.fonts import EM_PX, OUTLINE_LEVEL  # noqa: PLC0415 - the font libraries load slowly

    fonts = _fonts()
    field = fonts.field(character) if fonts else None
    return None if field is None else DrawnForm.of(field >= OUTLINE_LEVEL, EM_PX)


@lru_cache(1)
def _fonts() -> FontChain | None:
    from proof.facsimile.fonts import FontChain  # noqa: PLC0415

    try:
        return FontChain.of_installed()
    except FontError:
        return None
