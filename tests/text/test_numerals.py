"""Numbers of leaves, columns and notes, in words."""

from __future__ import annotations

from proof.text.numerals import numeral


def test_numbers_are_written_in_chinese() -> None:
    written = {1: "一", 10: "十", 16: "十六", 20: "二十", 105: "一百〇五", 213: "二百一十三", 1004: "一千〇四", 0: "〇"}
    assert {number: numeral(number, zero="〇") for number in written} == written
    assert numeral(105) == "一百零五"
