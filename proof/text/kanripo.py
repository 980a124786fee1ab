"""The Kanripo format, as the documentation of Mandoku defines it (`doc/mandoku-format-en.org` of github.com/mandoku).

`<pb:KR1d0030_WYG_010-1a>` begins a page, also within a line; `¶` ends a line of the edition. If the edition has other
pages than its base edition, the file has those of the base as `<md:…>`; then `¶` ends a line of the base, and the lines
of the file are the columns of the edition. An empty line has no meaning; a lost column is a line with nothing but a
pilcrow.

By the rules of Org and Mandoku these are not text: lines that begin with `#`, headings (`** 1 紀`), drawers (`:zhu:` to
`:END:`), and everything after a tab. A heading that ends with a pilcrow is a line of the edition, and its words are
text (`** 序品第一¶`). The head of the file has properties: `#+TITLE:`, `#+PROPERTY: ID`, `#+PROPERTY: JUAN`, and
`#+PROPERTY: LASTPB`, the page on which the juan before ends and this one begins."""

from __future__ import annotations

import re

from proof.model.refs import PageId
from proof.text.pages import PageMark
from proof.text.remarks import RemarkCode

_PROPERTY = re.compile(r"#\+(?:PROPERTY:[ \t]*)?(TITLE|ID|JUAN)\b:?[ \t]*(.*)", re.IGNORECASE)

MARK = re.compile(r"<pb:(?:(?P<id>[^<>¶]+)>|(?P<open>[^\s<>¶_]+_[^\s<>¶_]+_[^\s<>¶_-]+-[0-9]+[a-z]))")
"""A page mark. One that names a half-folio is recognised even if it is not closed."""

MARK_BEGINS = "<pb:"
PILCROWS = re.compile("¶+")
BASE_PAGE = re.compile(r"<md:[^<>]*>")
HEADING = re.compile(r"\*+ ")
MARKDOWN_HEADING = re.compile(r"#{2,} ")
PRINTED_HEADING = re.compile(r"\*+ +(?:[0-9]+[. ]+)?(?=.*¶[ \u3000]*$)")
"""The mark of a heading that is a line of the edition, since it ends with a pilcrow, with the number of the outline,
which is not printed."""

LAST_PAGE = re.compile(r"^#\+PROPERTY:[ \t]*LASTPB[ \t]+(<pb:[^<>¶\n]+>)", re.MULTILINE | re.IGNORECASE)
"""The property that names the page in the middle of which a juan begins."""

DRAWER = re.compile(r"[ \t]*:(?!END:)[A-Za-z][\w-]*:[ \t]*$", re.IGNORECASE)
DRAWER_ENDS = re.compile(r"[ \t]*:END:[ \t]*¶?$", re.IGNORECASE)
FORME_WORK = re.compile(r"@fw\b")
"""A line that is a running head or another part of the forme (`fw` of TEI)."""

ANNOTATION = re.compile(r"(?<=[^\s])\t")
"""A tab within a line, before a translation or a note of the editors."""


def page_mark(match: re.Match[str]) -> PageMark:
    """The page mark of a match of `MARK`."""
    name = match["id"] or match["open"]
    page = PageId.match(name)
    fault = None if match["id"] else RemarkCode.MARK_UNCLOSED
    if page is None:
        return PageMark(name, None, None, "", "", fault or RemarkCode.MARK_WITHOUT_FOLIO)
    return PageMark(name, page.folio, None, page.juan, page.work, fault)


def header_property(line: str) -> tuple[str, str] | None:
    """The name (`TITLE`, `ID` or `JUAN`) and value of a property in the head of the file; None for other lines."""
    match = _PROPERTY.match(line)
    return (match[1].upper(), match[2].strip()) if match else None


def last_page(text: str) -> PageMark | None:
    """The page on which the text begins according to the head of the file; None if it names none."""
    last = LAST_PAGE.search(text)
    match = MARK.fullmatch(last[1]) if last else None
    return page_mark(match) if match else None


def keeps_base_lines(text: str) -> bool:
    """Whether the pilcrows of a file end lines of another edition, its base."""
    return BASE_PAGE.search(text) is not None


def has_page_mark(line: str) -> bool:
    """Whether a line of a file has a page mark and is no comment."""
    return not line.startswith("#") and MARK.search(line) is not None
