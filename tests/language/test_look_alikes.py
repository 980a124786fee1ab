"""Which characters can stand for which, and in what form their surroundings are compared."""

from __future__ import annotations

import numpy as np

from proof.language.look_alikes import MOST, Folding, LookAlikes
from proof.language.stream import BREAK, MARGIN, UNKNOWN
from proof.language.terms import closed_terms, terms_with


def codes(text: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.array([ord(one) for one in text], np.uint32)


def test_a_character_stands_first_among_its_look_alikes() -> None:
    rows = LookAlikes([("己", "已", 0), ("己", "巳", 0), ("日", "曰", 0)]).of(codes("己曰"))
    assert rows.tolist() == [[ord("己"), ord("已"), ord("巳"), 0, 0], [ord("曰"), ord("日"), 0, 0, 0]]


def test_a_character_has_the_nearest_of_its_look_alikes_alone() -> None:
    rows = LookAlikes([("一", other, 0) for other in "二三丁七十"]).of(codes("一"))
    assert len(rows[0]) == MOST
    assert chr(rows[0][-1]) == "七"


def test_what_was_only_measured_takes_more_to_be_spoken_for() -> None:
    shipped = LookAlikes.shipped()
    rows, margins = shipped.of(codes("己教")), shipped.margins_of(codes("己教"))
    assert margins[0].max() == 0
    assert margins[1][rows[1].tolist().index(ord("義"))] > 0
    assert (margins[:, 0] == 0).all()


def test_the_shipped_pairs_are_different_characters_that_stand_for_each_other() -> None:
    shipped = LookAlikes.shipped()
    for row in shipped.rivals:
        assert len({code for code in row if code}) == sum(row > 0) > 1
    assert set("已巳") <= {chr(code) for code in shipped.of(codes("己"))[0] if code}
    assert shipped.places(codes("天之一")).tolist() == [0, 1]


def test_forms_of_a_word_are_one_but_look_alikes_stay_apart() -> None:
    fold = Folding(LookAlikes.shipped())
    assert fold(codes("葢")).tolist() == fold(codes("蓋")).tolist()
    assert "".join(map(chr, fold(codes("己已巳日曰")))) == "己已巳日曰"
    assert fold(np.array([BREAK, UNKNOWN], np.uint32)).tolist() == [BREAK, UNKNOWN]


def test_the_sixty_days_join_stems_and_branches_of_equal_parity() -> None:
    assert {"甲子", "己丑", "辛巳", "戊戌"} <= closed_terms()
    assert not {"甲丑", "已丑", "辛已"} & closed_terms()


def test_a_term_of_the_calendar_tells_which_character_belongs_there() -> None:
    row = [0] * (MARGIN - 1) + [ord("月"), ord("已"), ord("丑")] + [0] * (MARGIN - 1)
    made = terms_with(np.array([row], np.uint32), codes("已己巳")[None])
    assert made.tolist() == [[0, 1, 0]]
