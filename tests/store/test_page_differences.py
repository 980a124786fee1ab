"""Two versions of a page are equal if they differ only by decisions."""

from __future__ import annotations

import pytest

from proof.store.page_differences import Choice, differs
from proof.text.model import Script
from proof.text.variants import policy_of

BEFORE = {1: "上射揖坐", 2: "東面于北"}
CHOICES = (
    Choice(1, 0, frozenset({"", "甲", "乙"})),
    Choice(1, 0, frozenset({"", "命"}), layout=True),
    Choice(2, 4, frozenset({"", "曰"}), layout=True),
    Choice(2, 4, frozenset({"", "丙"})),
    Choice(2, 0, frozenset({"東面于北", ""}), layout=True),
    Choice(3, 0, frozenset({"", "與進"}), layout=True),
)


@pytest.mark.parametrize(
    ("now", "other"),
    [
        (("命", "甲上射揖坐", "東面于北丙", "曰", "與進"), False),
        (("上射揖坐", "與進"), False),
        (("乙上射揖坐", "東面于北"), False),
        (("甲乙上射揖坐", "東面于北"), True),
        (("甲命", "上射揖坐", "東面于北"), True),
        (("上射揖坐", "東面于北", "曰丙"), True),
        (("上射揖坐", "東面于北", "與"), True),
    ],
    ids=["all written", "a line for another", "one", "both of two", "in a line added", "after one", "not as decided"],
)
def test_a_page_differs_by_changes_that_are_no_decisions(now: tuple[str, ...], other: bool) -> None:
    policy = policy_of(Script.TRADITIONAL)
    assert differs(BEFORE, now, CHOICES, policy) is other
