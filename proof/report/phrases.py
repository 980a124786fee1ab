"""What a check remarks in English, told in another language: remarks are kept as they were made, and matched here.

A remark is one of `PHRASES` with its values, and a value may be a remark itself. What matches none (a path, an
error of the system) stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

Say = Callable[[str], str]


def _(message: str) -> str:
    """Marks a message for the catalogues."""
    return message


PHRASES = (
    _("room for %(number)s characters"),
    _("%(number)s of a cell"),
    _("ink that the engine did not read"),
    _("this image carries %(page)s, one page on"),
    _("this image carries %(page)s, one page back"),
    _("this image carries %(page)s, %(number)s pages on"),
    _("this image carries %(page)s, %(number)s pages back"),
    _("this image carries none of the pages around this one"),
    _("hardly anything can be read on this image"),
    _("this image is blank: name the image that carries this page"),
    _("this image is mirrored: turn it over and check the page again"),
    _("upside down"),
    _("on its right side"),
    _("on its left side"),
    _("light characters on a dark ground: the image was inverted"),
    _("several files would do: %(file)s is used, not %(others)s"),
    _("no ruled columns were found"),
    _("%(number)s level line across the columns (a table or registers)"),
    _("%(number)s level lines across the columns (a table or registers)"),
    _("%(why)s; read by the page pipeline of %(engine)s"),
    _("after %(one)s comes %(other)s: %(what)s"),
    _("a juan starts, but the images go back"),
    _("a juan starts on the image of the page before"),
    _("the images change volume, or from quadrants to plates, within a juan"),
    _("the same page twice"),
    _("one half-folio is missing between them"),
    _("%(number)s half-folios are missing between them"),
    _("the pages go back by %(number)s"),
    _("the folio stays while the images advance by %(number)s"),
    _("one image for two pages, the folios advance by %(number)s"),
    _("the folios advance by %(folios)s, the images by %(images)s"),
    _("a page without number"),
)
"""In this order: the first that matches is meant."""

PLACE = re.compile(r"%\((\w+)\)s")
DEEPEST = 3


def retold(remark: str, say: Say, depth: int = 0) -> str:
    """A remark in the language that `say` speaks."""
    for message, pattern in _patterns():
        match = pattern.fullmatch(remark)
        if match:
            values = {name: retold(value, say, depth + 1) for name, value in match.groupdict().items()}
            return say(message) % values if depth < DEEPEST else remark
    return remark


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((message, _pattern(message)) for message in PHRASES)


def _pattern(message: str) -> re.Pattern[str]:
    pieces = PLACE.split(message)  # text, name, text, name, ... text
    parts = [re.escape(piece) if n % 2 == 0 else _value(piece) for n, piece in enumerate(pieces)]
    return re.compile("".join(parts), re.DOTALL)


def _value(name: str) -> str:
    return rf"(?P<{name}>-?[\d.]+)" if name == "number" else rf"(?P<{name}>.+?)"
