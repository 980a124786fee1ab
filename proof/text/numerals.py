"""Numbers in Chinese numerals."""

from __future__ import annotations


def numeral(number: int, zero: str = "零") -> str:
    """A number from 0 to 9,999 in Chinese numerals: 十六, 二十, 一百零三; `zero` is how zero is written."""
    written, empty = "", False
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // unit % 10
        if digit:
            written += zero * (empty and bool(written)) + "〇一二三四五六七八九"[digit] + name
        empty = not digit
    return written.removeprefix("一") if written.startswith("一十") else written or zero
