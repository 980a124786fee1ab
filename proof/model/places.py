"""Half-folios of a juan: reading their names as people and sources write them, and counting on from one of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from proof.errors import UsageError
from proof.locale.marking import _
from proof.model.refs import Folio, PageId

Place = tuple[str, Folio]
"""A juan, as `juan_key` gives it, and a half-folio."""

_NUMERAL = r"(?:[0-9]{1,4}|[〇零一二三四五六七八九十百]{1,6})"
_JUAN = rf"(?:卷\s*第?\s*(?P<after>{_NUMERAL})|第?\s*(?P<before>{_NUMERAL})\s*卷|(?P<bare>[0-9]{{1,4}}))"
# The two numbers need a separator: 卷十一葉上 could be leaf 1 of juan 10, or a leaf of juan 11.
_FULL_WIDTH = "\uff0c\uff0e\uff1a\uff1b\uff0f"  # the comma, full stop, colon, semicolon and slash of Chinese
_BETWEEN = rf"(?:[\s_.,:;/、・·{_FULL_WIDTH}-]+(?:第|folio|fol|f)?|第|folio|fol|f)[\s.]*"
_LEAF = rf"(?P<leaf>{_NUMERAL})\s*(?:葉|叶|頁|页|張|张)?[\s_.-]*"
_RIGHT = "ar右上前表正"
_LEFT = "bv左下後后背裏裡里"
_SIDE = rf"(?P<side>[{_RIGHT}{_LEFT}])(?:面|半葉|半叶)?"
_PLACE = re.compile(_JUAN + _BETWEEN + _LEAF + _SIDE, re.IGNORECASE)
_SPELLED = re.compile(r"(?P<juan>\S+)-(?P<folio>[0-9]+[ab])", re.IGNORECASE)


def juan_key(juan: str) -> str:
    """A key by which names of one juan are equal: its number in plain digits for `010`, `10` and `卷十`; a name without
    a number (`序`) in lower case."""
    name = juan.removeprefix("卷")
    if name.isascii() and name.isdigit():
        return str(int(name))
    values = [int(unicodedata.numeric(char, 0)) for char in name]
    if not values or any(value == 0 and char not in "〇零" for value, char in zip(values, name, strict=True)):
        return juan.casefold()
    total = digits = 0
    for value in values:
        if value < 10:
            digits = 10 * digits + value
        else:
            total, digits = total + (digits or 1) * value, 0
    return str(total + digits)


def place_named(label: str) -> Place | None:
    """The juan and half-folio that a label names (`010-1a`, `卷十 第一葉上`, `KR1d0030_WYG_010-1a`).

    None for other labels, and for a half-folio without a juan (`1a`).
    """
    label = label.strip()
    page = PageId.match(label)
    if page:
        return juan_key(page.juan), page.folio
    match = _PLACE.fullmatch(label)
    leaf = juan_key(match["leaf"]) if match else ""
    if match is None or not leaf.isdigit():
        return None
    side = "b" if match["side"].lower() in _LEFT else "a"
    return juan_key(match["after"] or match["before"] or match["bare"]), Folio(int(leaf), side)


def place_given(text: str) -> Place:
    """The juan and half-folio that somebody gave in the form `010-1a`. Raises UsageError if it has another form."""
    match = _SPELLED.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            _("%(text)s is no half-folio of a juan: write the juan, the leaf and its side, such as 010-1a"),
            text=repr(text),
        )
    return juan_key(match["juan"]), Folio.parse(match["folio"])


def spelled(place: Place) -> str:
    """A place in the form of image lists, `010-1a`."""
    juan, folio = place
    return f"{juan:0>3}-{folio}" if juan.isdigit() else f"{juan}-{folio}"


def leaf_by_leaf(places: Iterable[Place]) -> Iterator[Place]:
    """The places, with the half-folio between put in where two that follow each other are the same side of a leaf: the
    text omits it since it is blank."""
    last: Place | None = None
    for juan, folio in places:
        if last and folio.side == last[1].side:
            yield last[0], last[1].successor()
        last = juan, folio
        yield last


def counted_on(first: Place, pages: Iterable[Place]) -> Iterator[Place]:
    """The half-folios from `first` on, without end: those of the text (`pages`), if it has `first`, then every side of
    every leaf. `0b` is the half-folio before the first of a juan, which the text has not."""
    juan, folio = first
    if folio == Folio(0, "b"):
        yield first
        yield from counted_on((juan, folio.successor()), pages)
        return
    begun = False
    for place in pages:
        begun = begun or place == first
        if begun:
            yield place
            juan, folio = place
            folio = folio.successor()
    while True:
        yield juan, folio
        folio = folio.successor()
