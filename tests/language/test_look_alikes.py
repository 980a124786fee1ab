"""Which characters can stand for which, and in what form their surroundings are compared."""

from __future__ import annotations

import numpy as np

from proof.language.look_alikes import MAX_RIVALS, Folding, LookAlikes, Nearness
from proof.language.stream import BREAK, MARGIN, UNKNOWN
from proof.language.terms import closed_terms, terms_with


def codes(text: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.array([ord(one) for one in text], np.uint32)


def test_a_character_stands_first_among_its_look_alikes() -> None:
    rows = LookAlikes([("己", "已", Nearness.HAND), ("己", "巳", Nearness.HAND), ("日", "曰", Nearness.HAND)]).of(
        codes("己曰")
    )
    assert rows.tolist() == [[ord("己"), ord("已"), ord("巳"), 0, 0], [ord("曰"), ord("日"), 0, 0, 0]]


def test_a_character_has_the_nearest_of_its_look_alikes_alone() -> None:
    rows = LookAlikes([("一", other, Nearness.EYE) for other in "二三丁七十"]).of(codes("一"))
    assert len(rows[0]) == MAX_RIVALS
    assert chr(rows[0][-1]) == "七"


def margin(one: str, other: str) -> float:
    shipped = LookAlikes.shipped()
    return float(shipped.margins_of(codes(one))[0][shipped.of(codes(one))[0].tolist().index(ord(other))])


def test_what_the_eye_confuses_takes_more_to_be_spoken_for_and_what_was_only_measured_most() -> None:
    assert margin("己", "已") == margin("己", "己") == 0
    assert 0 < margin("具", "其") < margin("教", "義")


def test_what_copyists_take_for_each_other_is_spoken_for_as_what_a_hand_runs_together() -> None:
    for one, other in ("徵微", "遣遺", "氏氐", "人入", "侯候", "師帥", "卷券"):
        assert margin(one, other) == margin(other, one) == 0


def test_a_character_is_as_near_to_others_as_to_the_nearest_of_them() -> None:
    """目 is confused by eye alone, 日 run together with 曰; 一 stands for nothing else."""
    assert LookAlikes.shipped().nearness_of(codes("目日一")).tolist() == [Nearness.EYE, Nearness.HAND, -1]


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
    row = [0] * (MARGIN - 1) + [ord("月"), ord("已"), ord("丑")] + [0] * (MARGIN - 1)
    made = terms_with(np.array([row], np.uint32), codes("已己巳")[None])
    assert made.tolist() == [[0, 1, 0]]
