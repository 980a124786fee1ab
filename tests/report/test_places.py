"""The most suspicious places of a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proof.errors import UsageError
from proof.report.places import places
from tests.report.held import HeldRun


def test_they_are_the_raised_flags_of_the_highest_scores_in_page_order(held: HeldRun) -> None:
    order = [page.page for page in held.pages]
    suspicious = places(held, 1000)
    assert len(suspicious) == sum(flag.raised for page in held.pages for flag in page.flags) > 1
    at = [(order.index(place.flag.page), place.flag.line, place.flag.offset) for place in suspicious]
    assert at == sorted(at)
    scores = [sorted((place.flag.score for place in places(held, most)), reverse=True) for most in (1000, 2, 0)]
    assert scores[1:] == [scores[0][:2], []]


def test_it_is_explained_in_the_language_that_is_wanted(held: HeldRun) -> None:
    assert places(held, 1)[0].why != places(held, 1, "zh-Hant")[0].why
    with pytest.raises(UsageError):
        places(replace(held), 1, "la")
