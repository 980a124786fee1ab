"""The places of missing characters in lines whose notes are marked in several ways."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proof.text.model import Row
from proof.verify.places import omission_place
from tests.verify.columns import AREA, glyph_at, unread
from tests.verify.pages import line


@pytest.mark.parametrize("source", ["公<small>鄭</small><small>注</small>于", "公【鄭】【注】于", "公(鄭)(注)于"])
@pytest.mark.parametrize("row", Row)
def test_what_is_missing_in_a_column_without_text_stands_where_the_column_does(source: str, row: Row) -> None:
    """Nothing but the place tells which of the notes before it the missing characters are beside."""
    for begin in (1, source.index("鄭") + 1, source.index("于")):
        column = replace(unread(AREA), line=replace(line(source), source=source[:begin], parsed=(), begin=begin))
        assert omission_place(column, 0, [glyph_at(0, {"其": -0.01}, row=row)], "其").offset == begin
