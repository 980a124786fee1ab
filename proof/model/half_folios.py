"""Half-folios of juans: parses their names as people and sources write them, and enumerates them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import dropwhile

from proof.errors import UsageError
from proof.locale.marking import _
from proof.model.refs import Folio, PageId

JuanFolio = tuple[str, Folio]
"""A juan, by its `juan_key`, and a half-folio."""

_NUMERAL = r"(?:[0-9]{1,4}|[〇零一二三四五六七八九十百]{1,6})"
_JUAN = rf"(?:卷\s*第?\s*(?P<after>{_NUMERAL})|第?\s*(?P<before>{_NUMERAL})\s*卷|(?P<bare>[0-9]{{1,4}}))"
# a separator is needed between the two numbers: 卷十一葉上 could be leaf 1 of juan 10, or a leaf of juan 11
_FULL_WIDTH = "\uff0c\uff0e\uff1a\uff1b\uff0f"  # the comma, full stop, colon, semicolon and slash of Chinese
_BETWEEN = rf"(?:[\s_.,:;/、・·{_FULL_WIDTH}-]+(?:第|folio|fol|f)?|第|folio|fol|f)[\s.]*"
_LEAF = rf"(?P<leaf>{_NUMERAL})\s*(?:葉|叶|頁|页|張|张)?[\s_.-]*"
_RIGHT_SIDE = "ar右上前表正"
_LEFT_SIDE = "bv左下後后背裏裡里"
_SIDE = rf"(?P<side>[{_RIGHT_SIDE}{_LEFT_SIDE}])(?:面|半葉|半叶)?"
_LABEL = re.compile(_JUAN + _BETWEEN + _LEAF + _SIDE, re.IGNORECASE)
_NAME = re.compile(r"(?P<juan>\S+)-(?P<folio>[0-9]+[ab])", re.IGNORECASE)


def juan_key(juan: str) -> str:
    """A key that is the same for all names of a juan: `10` for `010`, `10` and `卷十`; a name that is no number (`序`)
    in lower case."""
    name = juan.removeprefix("卷")
    if name.isascii() and name.isdigit():
        return str(int(name))
    numerals = [int(unicodedata.numeric(char, 0)) for char in name]
    is_number = all(numeral > 0 or char in "〇零" for numeral, char in zip(numerals, name, strict=True))
    if not numerals or not is_number:
        return juan.casefold()
    total = digits = 0
    for numeral in numerals:
        if numeral < 10:
            digits = 10 * digits + numeral
        else:  # 十 or 百
            total, digits = total + (digits or 1) * numeral, 0
    return str(total + digits)


def parse_label(label: str) -> JuanFolio | None:
    """The half-folio that a label names (`010-1a`, `卷十 第一葉上`, `KR1d0030_WYG_010-1a`); None for other labels, and
    for a half-folio without a juan (`1a`)."""
    label = label.strip()
    page = PageId.match(label)
    if page:
        return juan_key(page.juan), page.folio
    match = _LABEL.fullmatch(label)
    leaf = juan_key(match["leaf"]) if match else ""
    if match is None or not leaf.isdigit():
        return None
    side = "b" if match["side"].lower() in _LEFT_SIDE else "a"
    return juan_key(match["after"] or match["before"] or match["bare"]), Folio(int(leaf), side)


def parse_half_folio(text: str) -> JuanFolio:
    """The half-folio that a person named in the form `010-1a`. Raises UsageError for any other form."""
    match = _NAME.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            _("%(text)s is not a half-folio of a juan: write the juan, the leaf and its side, such as 010-1a"),
            text=repr(text),
        )
    return juan_key(match["juan"]), Folio.parse(match["folio"])


def half_folio_name(place: JuanFolio) -> str:
    """The name of a half-folio in image lists, `010-1a`."""
    juan, folio = place
    return f"{juan:0>3}-{folio}" if juan.isdigit() else f"{juan}-{folio}"


def with_blank_sides(places: Iterable[JuanFolio]) -> Iterator[JuanFolio]:
    """The half-folios of a text, with blank ones, which the text omits: if the same side of a leaf follows itself, the
    half-folio after the first of the two is inserted."""
    last: JuanFolio | None = None
    for juan, folio in places:
        if last is not None:
            last_juan, last_folio = last
            if folio.side == last_folio.side:
                yield last_juan, last_folio.successor()
        last = juan, folio
        yield last


def half_folios_from(first: JuanFolio, pages: Iterable[JuanFolio]) -> Iterator[JuanFolio]:
    """The half-folios from `first` on, without end: those of the text (`pages`) from there, if it has `first`, then
    every side of every leaf. `0b` is the half-folio before the first of a juan, which a text does not have."""
    juan, folio = first
    if folio == Folio(0, "b"):
        yield first
        yield from half_folios_from((juan, folio.successor()), pages)
        return
    for place in dropwhile(lambda place: place != first, pages):
        yield place
        juan, folio = place
        folio = folio.successor()
    while True:
        yield juan, folio
        folio = folio.successor()
