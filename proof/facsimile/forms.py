"""What characters look like in the fonts at hand, to hold the glyphs of a page against them."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from proof.errors import FontError
from proof.layout.glyph_form import DrawnForm

if TYPE_CHECKING:
    from proof.facsimile.fonts import FontChain

MAX_KEPT_CHARACTERS = 256
"""Characters whose forms are kept, of some fifty kilobytes each: a view of glyphs asks for few."""

_lock = Lock()


def form_of(character: str) -> DrawnForm | None:
    """The form of a character; None where no font at hand has it."""
    with _lock:  # a chain of fonts is not safe to share between threads
        return _form_of(character)


@lru_cache(MAX_KEPT_CHARACTERS)
def _form_of(character: str) -> DrawnForm | None:
    from proof.facsimile.fonts import EM_PX, OUTLINE_LEVEL  # noqa: PLC0415 - what reads fonts takes a while to load

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
