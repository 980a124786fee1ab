"""The page-reference mirror: `卷十 第 1a 页 WYG0103-0192c.png` begins a page, and each line is a column.

Lines before the first page mark belong to no page. An empty line is a column whose text was lost when the mirror was
made. The id of a page is its image reference without the extension, or juan and half-folio if its mark has no reference
(`卷十 第 1b 页`).
"""

from __future__ import annotations

import re

from proof.model.refs import Folio, ImageRef
from proof.text.pages import PageMark
from proof.text.remarks import RemarkCode

_REFERENCE_LIKE = re.compile(r"[^\W\d_]+[0-9]+-[0-9]+[A-Za-z]")
"""The form of an image reference, with any letter as its quadrant."""

MARK = re.compile(
    r"(?P<juan>\S+) 第 (?:(?P<folio>\S+) [页頁] (?P<ref>\w+-\w+)\.\w+|(?P<alone>[0-9]+[A-Za-z]) [页頁])[ \u3000]*$"
)
"""A page mark: the juan, the half-folio, and the file of its image, which may be missing."""

LIKE_A_MARK = re.compile(r"(?!#).{0,20}第[ \u3000]*[0-9]+[A-Za-z]?[ \u3000]*[页頁].{0,40}$")
"""A line that is so similar to a page mark that it is taken to be a damaged one."""


def page_mark(match: re.Match[str]) -> PageMark:
    """The page mark of a match of `MARK`."""
    juan, folio_name, name = match["juan"], match["folio"] or match["alone"], match["ref"]
    folio = Folio.match(folio_name)
    if name is None:
        return PageMark(f"{juan}-{folio_name}", folio, None, juan, "", RemarkCode.MARK_WITHOUT_IMAGE)
    ref = ImageRef.match(name)
    fault = None
    if ref is None and _REFERENCE_LIKE.fullmatch(name):
        fault = RemarkCode.QUADRANT_IMPOSSIBLE
    elif folio is None:
        fault = RemarkCode.MARK_WITHOUT_FOLIO
    elif ref is None:
        fault = RemarkCode.IMAGE_UNKNOWN
    return PageMark(name, folio, ref, juan, "", fault)
