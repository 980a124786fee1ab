"""Han characters are told from others by one rule."""

from __future__ import annotations

import re
import sys

from proof.text.model import HAN, is_han


def test_the_pattern_of_han_characters_is_their_rule() -> None:
    characters = [chr(code) for code in range(sys.maxunicode + 1)]
    assert [char for char in characters if re.fullmatch(HAN, char)] == [char for char in characters if is_han(char)]
