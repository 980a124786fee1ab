"""Pages for tests, built from the lines of their columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from proof.errors import FontError
from proof.facsimile.fonts import find_faces
from proof.model.refs import Folio, ImageRef
from proof.text.column import parse_column
from proof.text.model import Column, Page

MakePage = Callable[..., Page]


@pytest.fixture(scope="session")
def kai() -> str:
    """The name of a regular-script font file on this machine."""
    try:
        return str(find_faces()[0].path)
    except FontError as error:
        pytest.skip(f"{error}: this test draws pages")


@pytest.fixture(scope="session")
def make_page(kai: str) -> MakePage:
    """Builds a half-folio from its columns in Kanripo's notation; drawn, it needs the font."""
    assert Path(kai).is_file()

    def make(*lines: str, folio: str = "1a", ref: str = "", name: str = "TEST_WYG_001-1a", juan: str = "卷一") -> Page:
        columns = tuple(
            Column(number, line, 0, number, parse_column(line).runs) for number, line in enumerate(lines, start=1)
        )
        return Page(name, Folio.parse(folio), ImageRef.match(ref) if ref else None, juan, 1, columns)

    return make
