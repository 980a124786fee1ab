"""The bytes of the characters of a text file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import TextError
from proof.text.formats.text_file import TextFile

TEXT = "大射a\r\n𪚥之儀\n"


@given(st.booleans(), st.lists(st.tuples(st.integers(0, len(TEXT)), st.integers(0, len(TEXT)))))
def test_a_run_has_the_bytes_of_its_characters(has_bom: bool, places: list[tuple[int, int]]) -> None:
    data = "\ufeff".encode() * has_bom + TEXT.encode()
    file = TextFile(data, Path("x.txt"))
    for start, end in places:
        run = file.run(start, end)
        assert run.text == TEXT[start:end]
        assert data[run.site.start : run.site.end] == run.text.encode()


def test_a_file_in_another_encoding_is_refused() -> None:
    with pytest.raises(TextError, match="it looks like GB18030"):
        TextFile("大射之儀，公入，驚，而不興也".encode("gb18030"), Path("x.txt"))
