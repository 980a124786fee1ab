"""What a whole text teaches: a habit of the engine is no evidence, a recurring error stays one."""

from __future__ import annotations

from dataclasses import replace

from proof.checking.engine_bias import EngineBias
from proof.checking.rescoring import weighed
from proof.model.flags import Evidence, Flag, Kind
from proof.model.notices import Notice, NoticeCode
from proof.model.result import PageResult, Status
from proof.settings.config import FlagsSection

THRESHOLD = 3.0


def flag(transcribed: str, read: str, own: float | None, score: float, best: float = 0.99) -> Flag:
    evidence = Evidence("posterior", p_text=own, p_best=best)
    return Flag("p", "", 1, 0, 1, Kind.SUBSTITUTION, transcribed, read, score, score >= THRESHOLD, None, evidence)


def gathered(*flags: Flag) -> EngineBias:
    habits = EngineBias()
    habits.add(PageResult("p", "", Status.CHECKED, flags=flags))
    return habits


def raised(habits: EngineBias, one: Flag) -> bool:
    return weighed(one, habits, FlagsSection(threshold=THRESHOLD), None).raised


def test_a_pair_that_the_engine_half_believes_all_over_a_work_is_its_habit() -> None:
    sure = flag("羲", "義", 0.001, 6.0)
    habits = gathered(sure, flag("羲", "義", 0.3, 1.0), flag("羲", "義", 0.2, 1.5), flag("羲", "義", 0.4, 0.5))
    assert not raised(habits, sure)


def test_of_a_pair_that_is_usually_half_believed_none_is_raised_by_a_little_doubt() -> None:
    """喃 is read 南 all over a work: that it is so here, too, as surely as ever, is no evidence against it."""
    usual = flag("喃", "南", 0.06, 3.4)
    assert not raised(gathered(*[usual] * 3), usual)
    assert raised(gathered(usual), usual)
    recurring = flag("宮", "官", 0.003, 4.4)
    assert raised(gathered(*[recurring] * 6), recurring)


def test_a_pair_that_it_never_believes_is_a_recurring_error() -> None:
    wrong = flag("托", "託", 1e-6, 11.0)
    habits = gathered(*[wrong] * 6)
    assert raised(habits, wrong)


def test_one_reading_under_a_stain_does_not_excuse_the_others() -> None:
    wrong = flag("托", "託", 1e-6, 11.0)
    habits = gathered(*[wrong] * 5, flag("托", "託", 0.3, 1.0))
    assert raised(habits, wrong)


def test_a_pair_seen_twice_is_no_habit() -> None:
    pair = [flag("羲", "義", 0.001, 6.0), flag("羲", "義", 0.3, 1.0)]
    assert raised(gathered(*pair), pair[0])


def test_what_happens_to_few_of_a_characters_occurrences_is_no_habit() -> None:
    sure = flag("三", "二", 0.0002, 8.6)
    habits = gathered(sure, flag("三", "二", 0.3, 1.0), flag("三", "二", 0.4, 0.5), flag("三", "二", 0.2, 1.5))
    habits.occurrences = {"三": 160}
    assert raised(habits, sure)
    habits.occurrences = {"三": 40}
    assert not raised(habits, sure)


def test_a_pair_is_counted_beyond_the_readings_that_are_remembered() -> None:
    doubtful = [flag("囉", "羅", 0.3, 1.0)] * 300
    sure = flag("囉", "羅", 0.005, 5.2)
    habits = gathered(sure, *doubtful)
    habits.occurrences = {"囉": 2500}
    assert not raised(habits, sure)


def test_an_unknown_character_that_is_always_read_so_is_hidden() -> None:
    same = flag("楅", "福", None, 5.0)
    assert not raised(gathered(*[same] * 5), same)


def test_of_an_unknown_character_that_is_always_read_so_the_ink_tells_the_one_that_is_not_it() -> None:
    """弣 and 附 are read alike: ink that is liker 附 here and nowhere else is evidence; where it is so everywhere,
    the hand writes 弣 so."""
    right = flag("弣", "附", None, 0.01)
    wrong = replace(flag("弣", "附", None, 4.0), evidence=replace(right.evidence, ink=Notice(NoticeCode.INK_UNREAD)))
    assert raised(gathered(right, right, right, wrong), wrong)
    assert not raised(gathered(wrong, wrong, wrong, right), wrong)
    assert not raised(gathered(right, right, right, wrong), replace(wrong, evidence=right.evidence))


def test_an_unknown_character_read_otherwise_for_once_is_news() -> None:
    usual, other = flag("楅", "福", None, 1.0), flag("楅", "矢", None, 1.0)
    habits = gathered(*[usual] * 5, other)
    assert raised(habits, other)
    assert not raised(habits, usual)


def test_an_unknown_character_that_is_elsewhere_read_as_another_form_of_it_is_news_where_it_is_not() -> None:
    form = replace(flag("𫝊", "傳", 1e-5, 0.01), kind=Kind.VARIANT)
    other = flag("𫝊", "故", None, 1.8, best=0.97)
    assert raised(gathered(*[form] * 4, other), other)
    assert not raised(gathered(form, other), other)


def test_an_unknown_character_that_the_engine_wavers_over_is_hidden_as_either() -> None:
    one, other, third = (flag("唎", read, None, 5.0) for read in ("利", "喇", "科"))
    habits = gathered(*[one] * 6, *[other] * 5, third)
    assert not raised(habits, one)
    assert not raised(habits, other)
    assert raised(habits, third)


def test_settling_twice_changes_nothing() -> None:
    sure = flag("羲", "義", 0.001, 6.0)
    habits = gathered(sure, *[flag("羲", "義", 0.3, 1.0)] * 4)
    once = habits.settled(sure)
    assert habits.settled(once) == once


def test_an_insertion_is_not_settled() -> None:
    extra = replace(flag("告", "", None, 8.0), kind=Kind.INSERTION)
    assert gathered(extra).settled(extra) == extra
