"""Numbers in Chinese numerals."""

from __future__ import annotations


def numeral(number: int, zero: str = "零") -> str:
    """A number from 0 to 9,999 in Chinese numerals (十六, 二十, 一百零三). `zero` is the character for zero."""
    written, follows_zero = "", False
    for unit, unit_name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // unit % 10
        if digit:
            if written and follows_zero:
                written += zero
            written += "〇一二三四五六七八九"[digit] + unit_name
        follows_zero = not digit
    return written.removeprefix("一") if written.startswith("一十") else written or zero
