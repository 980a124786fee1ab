"""The plot of where flags stand."""

from __future__ import annotations

import pytest

from proof.model.result import Status
from proof.report.density import MAX_BARS, plots
from proof.report.tally import PageTally


def pages(count: int, raised: int = 2, status: Status = Status.CHECKED) -> list[PageTally]:
    return [PageTally(n, f"X_WYG_001-{n}a", "", status, None, 300, raised, 0, ()) for n in range(count)]


def test_few_pages_have_a_bar_each_and_none_have_no_plot() -> None:
    assert plots([]) == ()
    [made] = plots(pages(20))
    assert (len(made.bars), made.pages_a_bar) == (20, 1)


def test_bars_are_as_high_as_the_pages_are_dense() -> None:
    some = pages(3)
    [made] = plots([some[0], *pages(2, raised=4)[1:], *pages(3, raised=0)[2:]])
    assert made.bars[1].h == pytest.approx(2 * made.bars[0].h)
    assert made.bars[2].h == 0
    assert all(bar.y + bar.h == pytest.approx(made.base) for bar in made.bars)
    assert all(bar.y >= 0 for bar in made.bars)


def test_a_bar_of_many_pages_leads_to_the_first_that_has_flags_and_tells_the_unread_from_the_clean() -> None:
    work = pages(MAX_BARS * 2, raised=0)
    work[5] = pages(6, raised=1)[5]
    assert plots(work)[0].bars[2].target == 5
    [made] = plots([*pages(1, raised=0), *pages(1, raised=0, status=Status.NO_IMAGE)])
    assert [bar.unread for bar in made.bars] == [0, 1]
