"""The Kanripo format: `<pb:KR1d0030_WYG_010-1a>¶` begins a page, then a line a column ending in `¶`.

The head of the file has Org properties: `#+TITLE:`, `#+PROPERTY: ID`, `#+PROPERTY: JUAN`. An empty line is
nothing; a lost column is a line with a pilcrow alone.
"""

from __future__ import annotations

import re

from proof.model.refs import PageId
from proof.text.pages import PageFormat, PageMark

_PROPERTY = re.compile(r"#\+(?:PROPERTY:[ \t]*)?(TITLE|ID|JUAN)\b:?[ \t]*(.*)", re.IGNORECASE)


def _meaning(found: re.Match[str]) -> PageMark:
    page = PageId.match(found[1])
    if page is None:
        return PageMark(found[1], None, None, "", "")
    return PageMark(found[1], page.folio, None, page.juan, page.work)


def header_property(line: str) -> tuple[str, str] | None:
    """Name (`TITLE`, `ID` or `JUAN`) and value of a property in the head of the file; None for other lines."""
    found = _PROPERTY.match(line)
    return (found[1].upper(), found[2].strip()) if found else None


KANRIPO = PageFormat(name="kanripo", mark=re.compile(r"<pb:([^>]+)>"), meaning=_meaning, empty_line_is_column=False)
