"""Places in a work as people and sources name them, a juan and a half-folio, and those that are counted on from one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from proof.errors import UsageError
from proof.model.refs import Folio, PageId

Place = tuple[str, Folio]
"""Juan, as `juan_key` gives it, and half-folio."""

_NUMERAL = r"(?:[0-9]{1,4}|[〇零一二三四五六七八九十百]{1,6})"
_JUAN = rf"(?:卷\s*第?\s*(?P<after>{_NUMERAL})|第?\s*(?P<before>{_NUMERAL})\s*卷|(?P<bare>[0-9]{{1,4}}))"
# Something must part the two numbers: 卷十一葉上 could be leaf 1 of juan 10, or a leaf of juan 11.
_BETWEEN = r"(?:[\s_.,:;/、,:-]+(?:第|folio|fol|f)?|第|folio|fol|f)[\s.]*"
_LEAF = rf"(?P<leaf>{_NUMERAL})\s*(?:葉|叶|頁|页|張|张)?[\s_.-]*"
_RIGHT, _LEFT = "ar右上前表正", "bv左下後后背裏裡里"
_SIDE = rf"(?P<side>[{_RIGHT}{_LEFT}])(?:面|半葉|半叶)?"
_PLACE = re.compile(_JUAN + _BETWEEN + _LEAF + _SIDE, re.IGNORECASE)
_SPEC = re.compile(r"(?P<juan>\S+)-(?P<folio>[0-9]+[ab])", re.IGNORECASE)


def juan_key(juan: str) -> str:
    """The number of a juan in plain digits, so that `010`, `10` and `卷十` are one; other names as they are."""
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
    """The half-folio that a label names with its juan (`010-1a`, `卷十 第一葉上`, `KR1d0030_WYG_010-1a`), or None.

    A label with a half-folio alone (`1a`) names no place: of which juan, it does not say.
    """
    label = label.strip()
    page = PageId.match(label)
    if page:
        return juan_key(page.juan), page.folio
    found = _PLACE.fullmatch(label)
    leaf = juan_key(found["leaf"]) if found else ""
    if found is None or not leaf.isdigit():
        return None
    side = "b" if found["side"].lower() in _LEFT else "a"
    return juan_key(found["after"] or found["before"] or found["bare"]), Folio(int(leaf), side)


def place_given(text: str) -> Place:
    """The half-folio that a person names, `010-1a`. Raises UsageError."""
    found = _SPEC.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{text!r} is no half-folio of a juan: write the juan, the leaf and its side, such as 010-1a")
    return juan_key(found["juan"]), Folio.parse(found["folio"])


def spelled(place: Place) -> str:
    """A place as image lists write it: `010-1a`."""
    juan, folio = place
    return f"{juan:0>3}-{folio}" if juan.isdigit() else f"{juan}-{folio}"


def leaf_by_leaf(places: Iterable[Place]) -> Iterator[Place]:
    """The places with the blank half-folios between them that a text does not have: every leaf has a right half and a
    left one."""
    last: Place | None = None
    for place in places:
        if last and place[1].side == last[1].side:
            yield last[0], last[1].successor()
        yield place
        last = place


def counted_on(first: Place, pages: Iterable[Place]) -> Iterator[Place]:
    """The half-folios from `first` on: as `pages`, the text's own, have them, and beyond them leaf by leaf.

    So a juan ends where the text ends it; without a text that knows `first` it never does. `0b` stands before the
    first half-folio of a juan.
    """
    juan, folio = first
    if folio == Folio(0, "b"):
        yield first
        yield from counted_on((juan, folio.successor()), pages)
        return
    found = False
    for place in pages:
        found = found or place == first
        if found:
            yield place
            juan, folio = place
            folio = folio.successor()
    while True:
        yield juan, folio
        folio = folio.successor()
