"""The characters of a page, packed and unpacked."""

from __future__ import annotations

import zlib

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.model.geometry import Box
from proof.model.result import CheckedCharacter
from proof.store.codec import pack, unpack
from proof.text.model import Row

floats = st.floats(allow_nan=False)
edges = st.one_of(floats, st.floats(0, 6000).map(lambda value: round(value, 1)), st.integers(-9, 6000).map(float))
probabilities = st.one_of(st.floats(0, 1), st.floats(0, 1, width=32), st.floats(0, 1).map(lambda p: round(p, 5)))
glyphs = st.one_of(st.sampled_from("射人告具于公𫝊"), st.text(max_size=3), st.just("&KR0058;"))
characters = st.builds(
    CheckedCharacter,
    line=st.integers(0, 2**31),
    offset=st.integers(0, 2**31),
    length=st.integers(0, 300),
    row=st.sampled_from(Row),
    text=glyphs,
    box=st.builds(Box, edges, edges, edges, edges),
    read=glyphs,
    p_text=st.none() | probabilities,
    alternatives=st.lists(st.tuples(glyphs, probabilities), max_size=5).map(tuple),
)


@given(st.lists(characters, max_size=8))
def test_characters_come_back_exactly(page: list[CheckedCharacter]) -> None:
    back = unpack(pack(page))
    assert back == tuple(page)
    assert repr(back) == repr(tuple(page)), "the sign of a zero comes back too"


def lacking_a_posterior() -> bytes:
    """A page of which one character was judged, without its posterior."""
    unjudged = CheckedCharacter(1, 0, 1, Row.MAIN, "射", Box(0, 0, 1, 1), "射", None)
    version, fields = msgpack.unpackb(zlib.decompress(pack([unjudged])))
    return zlib.compress(msgpack.packb([version, fields | {"judged": "y"}]))


@pytest.mark.parametrize("damage", [b"", b"no deflate", pack([])[:-3], lacking_a_posterior()])
def test_damaged_data_is_refused(damage: bytes) -> None:
    with pytest.raises(ValueError, match="damaged"):
        unpack(damage)
