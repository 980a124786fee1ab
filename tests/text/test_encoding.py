"""Bytes to text and back: nothing changes on the way, and what cannot be read says what it looks like."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import TextError
from proof.text.encoding import Decoded, decode, encode

PATH = Path("juan.txt")
TRADITIONAL = "<pb:KR1d0030_WYG_010-1a>\n" + "司射適西階西倚扑升自西階東面請射于公\n鄭注倚扑者不敢也\n" * 5
SIMPLIFIED = "卷十 第 1a 页 WYG0103-0192c.png\n" + "司射适西阶西倚扑升自西阶东面请射于公\n郑注倚扑者不敢也\n" * 5


def encoded(decoded: Decoded) -> bytes:
    return encode(PATH, decoded.text, decoded.encoding, decoded.bom)


@given(st.text(min_size=1), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "gb18030"]))
def test_what_is_decoded_is_encoded_into_the_same_bytes(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    decoded = decode(PATH, data, encoding)
    assert encoded(decoded) == data
    assert not decoded.encoding.endswith("sig")


@pytest.mark.parametrize(
    ("text", "encoding", "looks_like"),
    [
        (TRADITIONAL, "big5", "Big5"),
        (TRADITIONAL, "gb18030", "GB18030"),
        (SIMPLIFIED, "gb18030", "GB18030"),
        (TRADITIONAL, "utf-16", "UTF-16 LE"),
        (TRADITIONAL, "utf-16-le", "UTF-16 LE"),
        (SIMPLIFIED, "utf-16-be", "UTF-16 BE"),
        (TRADITIONAL, "utf-32", "UTF-32-LE"),
    ],
)
def test_another_encoding_is_recognised_and_read_when_named(text: str, encoding: str, looks_like: str) -> None:
    data = text.encode(encoding)
    with pytest.raises(TextError, match=rf"juan\.txt.*looks like {looks_like}.*convert it to UTF-8"):
        decode(PATH, data)
    decoded = decode(PATH, data, encoding)
    assert decoded.text == text
    assert encoded(decoded) == data


DAMAGED = (TRADITIONAL + "\n").encode() + b"\xe5\x84 \n" + TRADITIONAL.encode()


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        (b"", None, r"juan\.txt: the file is empty"),
        (DAMAGED, None, r"juan\.txt:13: byte 0xE5 is damaged, the rest is UTF-8"),
        (b"\x8aPNG\r\n\x1a\n" + bytes(range(256)) * 8, None, "not UTF-8 text, nor in any other known encoding"),
        (b"abc", "utf-99", "is not a text encoding"),
        (b"abc", "rot13", "is not a text encoding"),
        (TRADITIONAL.encode(), "big5", r"juan\.txt:2: byte 0x.. is not big5"),
        (b"\xfa\x4a", "cp932", "would change bytes"),  # Shift_JIS writes it in two ways; only one comes back
    ],
)
def test_what_cannot_be_read_and_written_back_is_refused(data: bytes, encoding: str | None, message: str) -> None:
    with pytest.raises(TextError, match=message):
        decode(PATH, data, encoding) if encoding else decode(PATH, data)


def test_a_correction_that_the_encoding_lacks_is_refused_with_its_line() -> None:
    with pytest.raises(TextError, match=r"juan\.txt:2: '𫝊' \(U\+2B74A\) cannot be written in big5"):
        encode(PATH, "大射\n𫝊", "big5", False)


@given(st.binary(min_size=1, max_size=200))
def test_any_bytes_are_read_and_kept_or_refused(data: bytes) -> None:
    try:
        decoded = decode(PATH, data)
    except TextError:
        return
    assert encoded(decoded) == data
