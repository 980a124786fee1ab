"""The page-reference mirror: `卷十 第 1a 页 WYG0103-0192c.png` begins a page, then a line a column.

Lines before the first page mark belong to no page. An empty line is a column whose text was lost when the mirror was
made. The page's id is its image reference without the extension; a page whose mark has no reference (`卷十 第 1b 页`)
is named by juan and half-folio.
"""

from __future__ import annotations

import re

from proof.model.refs import Folio, ImageRef
from proof.text.pages import PageMark
from proof.text.remarks import RemarkCode

_REFERENCE_LIKE = re.compile(r"[^\W\d_]+[0-9]+-[0-9]+[A-Za-z]")
"""What has the form of an image reference, whether or not there is such a quadrant."""

MARK = re.compile(
    r"(?P<juan>\S+) 第 (?:(?P<folio>\S+) [页頁] (?P<ref>\w+-\w+)\.\w+|(?P<alone>[0-9]+[A-Za-z]) [页頁])[ \u3000]*$"
)
"""A page mark: the juan, the half-folio, and the file of its image, which may be missing."""

LIKE_A_MARK = re.compile(r"(?!#).{0,20}第[ \u3000]*[0-9]+[A-Za-z]?[ \u3000]*[页頁].{0,40}$")
"""A line that is so similar to a page mark that it must be a damaged one."""


def page_mark(match: re.Match[str]) -> PageMark:
    """The page mark of a match of `MARK`."""
    leaf, name = match["folio"] or match["alone"], match["ref"]
    folio = Folio.match(leaf)
    if name is None:
        return PageMark(f"{match['juan']}-{leaf}", folio, None, match["juan"], "", RemarkCode.MARK_WITHOUT_IMAGE)
    ref = ImageRef.match(name)
    fault = None if folio else RemarkCode.MARK_WITHOUT_FOLIO
    if ref is None:
        fault = RemarkCode.QUADRANT_IMPOSSIBLE if _REFERENCE_LIKE.fullmatch(name) else fault or RemarkCode.IMAGE_UNKNOWN
    return PageMark(name, folio, ref, match["juan"], "", fault)
