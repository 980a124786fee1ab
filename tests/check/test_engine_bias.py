"""What a whole text teaches: a habit of the engine is no evidence, a recurring error stays one."""

from __future__ import annotations

from dataclasses import replace

from proof.check.engine_bias import EngineBias
from proof.check.rescoring import weighed
from proof.model.flags import Evidence, Flag, Kind
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


def test_an_unknown_character_that_is_always_read_so_is_hidden() -> None:
    same = flag("楅", "福", None, 5.0)
    assert not raised(gathered(*[same] * 5), same)


def test_an_unknown_character_read_otherwise_for_once_is_news() -> None:
    usual, other = flag("楅", "福", None, 1.0), flag("楅", "矢", None, 1.0)
    habits = gathered(*[usual] * 5, other)
    assert raised(habits, other)
    assert not raised(habits, usual)


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
