"""The page-reference mirror: `卷十 第 1a 页 WYG0103-0192c.png` begins a page, then a line a column.

What stands before the first page mark is no page. An empty line is a column too: its text was lost when the
mirror was made. The page's id is its image reference, without the extension.
"""

from __future__ import annotations

import re

from proof.model.refs import Folio, ImageRef
from proof.text.pages import PageFormat, PageMark


def _meaning(found: re.Match[str]) -> PageMark:
    return PageMark(found["ref"], Folio.match(found["folio"]), ImageRef.match(found["ref"]), found["juan"], "")


MIRROR = PageFormat(
    name="mirror",
    mark=re.compile(r"(?P<juan>\S+) 第 (?P<folio>\S+) [页頁] (?P<ref>\w+-\w+)\.\w+$"),
    meaning=_meaning,
    empty_line_is_column=True,
)
