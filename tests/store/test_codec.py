"""The characters of a page, packed and unpacked."""

from __future__ import annotations

import zlib

import msgpack
import numpy as np
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


def test_a_dense_page_takes_less_than_ten_thousand_bytes() -> None:
    chance = np.random.default_rng(7)
    han = [chr(code) for code in range(0x4E00, 0x5E00)]
    page = [
        CheckedCharacter(
            line=index // 42 + 1,
            offset=index % 42,
            length=1,
            row=Row.RIGHT if index % 42 < 21 else Row.LEFT,
            text=str(chance.choice(han)),
            box=Box(
                *(round(float(value + chance.normal(0, 3)), 1) for value in (900 - 105 * (index // 42), 700, 48, 55))
            ),
            read=str(chance.choice(han)),
            p_text=round(chance.random(), 5),
            alternatives=tuple((str(chance.choice(han)), round(chance.random() / 100, 5)) for _ in range(4)),
        )
        for index in range(336)
    ]
    assert len(pack(page)) < 10_000


def lacking_a_posterior() -> bytes:
    """A page of which one character was judged, without its posterior."""
    unjudged = CheckedCharacter(1, 0, 1, Row.MAIN, "射", Box(0, 0, 1, 1), "射", None)
    version, fields = msgpack.unpackb(zlib.decompress(pack([unjudged])))
    return zlib.compress(msgpack.packb([version, fields | {"judged": "y"}]))


@pytest.mark.parametrize("damage", [b"", b"no deflate", pack([])[:-3], lacking_a_posterior()])
def test_damaged_data_is_refused(damage: bytes) -> None:
    with pytest.raises(ValueError, match="damaged"):
        unpack(damage)
