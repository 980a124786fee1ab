"""What a whole text teaches: a habit of the engine is no evidence, a recurring error stays one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.checking.engine_bias import MAX_REMEMBERED, EngineBias
from proof.checking.rescoring import rescored
from proof.model.flags import Evidence, Flag, Kind
from proof.model.notices import Notice, NoticeCode
from proof.model.result import PageResult, Status
from proof.settings.config import FlagsSection

THRESHOLD = 3.0


def flag(transcribed: str, read: str, own: float | None, score: float, best: float = 0.99) -> Flag:
    evidence = Evidence("posterior", p_text=own, p_best=best)
    return Flag("p", "", 1, 0, 1, Kind.SUBSTITUTION, transcribed, read, score, score >= THRESHOLD, None, evidence)


def gathered(*flags: Flag) -> EngineBias:
    bias = EngineBias()
    bias.add_page(PageResult("p", "", Status.CHECKED, flags=flags))
    return bias


def raised(bias: EngineBias, flag: Flag) -> bool:
    return rescored(flag, bias, FlagsSection(threshold=THRESHOLD), None).raised


def of(transcribed: str, read: str, *own_and_score: tuple[float | None, float]) -> list[Flag]:
    """Readings of one pair, each with the probability of what is transcribed and its score."""
    return [flag(transcribed, read, own, score) for own, score in own_and_score]


SURE, USUAL, RECURRING, WRONG = (0.001, 6.0), (0.06, 3.4), (0.003, 4.4), (1e-6, 11.0)
MIN_ALIKE_PROBABILITY = ((0.3, 1.0), (0.2, 1.5), (0.4, 0.5))


@pytest.mark.parametrize(
    ("flags", "is_raised"),
    [
        (of("羲", "義", SURE, *MIN_ALIKE_PROBABILITY), False),
        (of("羲", "義", SURE, (0.3, 1.0)), True),
        (of("喃", "南", *[USUAL] * 3), False),
        (of("喃", "南", USUAL), True),
        (of("宮", "官", *[RECURRING] * 6), True),
        (of("托", "託", *[WRONG] * 6), True),
        (of("托", "託", *[WRONG] * 5, (0.3, 1.0)), True),
    ],
    ids=[
        "half believed all over a work",
        "seen twice",
        "usually doubted a little",
        "doubted a little once",
        "a recurring error",
        "never believed",
        "one reading under a stain excuses none",
    ],
)
def test_the_first_of_a_pair_is_raised_unless_to_read_it_so_is_a_habit(flags: list[Flag], is_raised: bool) -> None:
    assert raised(gathered(*flags), flags[0]) is is_raised


def test_what_happens_to_few_of_a_characters_occurrences_is_no_habit() -> None:
    flags = of("三", "二", (0.0002, 8.6), *MIN_ALIKE_PROBABILITY)
    bias = gathered(*flags)
    for occurrences, is_raised in ((160, True), (40, False)):
        bias.occurrences = {"三": occurrences}
        assert raised(bias, flags[0]) is is_raised
    # a pair is counted beyond the readings that are remembered
    many = of("囉", "羅", (0.005, 5.2), *[(0.3, 1.0)] * 300)
    bias = gathered(*many)
    bias.occurrences = {"囉": 2500}
    assert not raised(bias, many[0])


def test_an_unknown_character_is_hidden_as_it_is_usually_read_and_raised_as_it_is_not() -> None:
    usual, other = flag("楅", "福", None, 5.0), flag("楅", "矢", None, 1.0)
    bias = gathered(*[usual] * 5, other)
    assert not raised(bias, usual)
    assert raised(bias, other)
    first, second, third = (flag("唎", read, None, 5.0) for read in ("利", "喇", "科"))
    bias = gathered(*[first] * 6, *[second] * 5, third)
    assert [raised(bias, read) for read in (first, second, third)] == [False, False, True]


def test_of_an_unknown_character_that_is_always_read_so_the_ink_tells_the_one_that_is_not_it() -> None:
    """弣 and 附 are read alike: ink that is liker 附 here and nowhere else is evidence; where it is so everywhere,
    the hand writes 弣 so."""
    right = flag("弣", "附", None, 0.01)
    wrong = replace(flag("弣", "附", None, 4.0), evidence=replace(right.evidence, ink=Notice(NoticeCode.INK_UNREAD)))
    assert raised(gathered(right, right, right, wrong), wrong)
    assert not raised(gathered(wrong, wrong, wrong, right), wrong)
    assert not raised(gathered(right, right, right, wrong), replace(wrong, evidence=right.evidence))


@given(data=st.data())
def test_a_habit_is_the_same_in_whatever_order_the_pages_came(data: st.DataObject) -> None:
    chances = data.draw(st.lists(st.floats(1e-6, 1.0), min_size=3, max_size=12))
    flags = tuple(of("羲", "義", *((chance, 5.0) for chance in chances)))
    results = [(position, PageResult(f"p{position}", "", Status.CHECKED, flags=flags)) for position in range(40)]
    straight, mixed = EngineBias(), EngineBias()
    for bias, order in ((straight, results), (mixed, data.draw(st.permutations(results)))):
        for position, result in order:
            bias.add_page(result, position)
    assert sorted(straight.text_probabilities["羲", "義"]) == sorted(mixed.text_probabilities["羲", "義"])
    assert len(straight.text_probabilities["羲", "義"]) == min(MAX_REMEMBERED, 40 * len(chances))
