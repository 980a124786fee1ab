"""Which characters can stand for which, and in what form their surroundings are compared."""

from __future__ import annotations

import numpy as np

from proof.language.look_alikes import Folding, LookAlikes
from proof.language.stream import BREAK, MARGIN_TOKENS, UNKNOWN
from proof.language.terms import closed_terms, terms_with


def codes(text: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.array([ord(character) for character in text], np.uint32)


def test_forms_of_a_word_are_one_but_look_alikes_stay_apart() -> None:
    fold = Folding(LookAlikes.shipped())
    assert fold(codes("葢")).tolist() == fold(codes("蓋")).tolist()
    assert "".join(map(chr, fold(codes("己已巳日曰")))) == "己已巳日曰"
    assert fold(codes("徃敎隂")).tolist() == codes("往教陰").tolist(), "forms of such as have look-alikes, too"
    assert len(set(fold(codes("事年爭矣疑賢後后")).tolist())) == 8, "words that a third character alone would join"
    assert fold(np.array([BREAK, UNKNOWN], np.uint32)).tolist() == [BREAK, UNKNOWN]


def test_the_sixty_days_join_stems_and_branches_of_equal_parity() -> None:
    assert {"甲子", "己丑", "辛巳", "戊戌"} <= closed_terms()
    assert not {"甲丑", "已丑", "辛已"} & closed_terms()


def test_a_term_of_the_calendar_tells_which_character_belongs_there() -> None:
    row = [0] * (MARGIN_TOKENS - 1) + [ord("月"), ord("已"), ord("丑")] + [0] * (MARGIN_TOKENS - 1)
    made = terms_with(np.array([row], np.uint32), codes("已己巳")[None])
    assert made.tolist() == [[0, 1, 0]]
