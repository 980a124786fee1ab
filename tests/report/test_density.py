"""The plot of where flags stand."""

from __future__ import annotations

import pytest

from proof.model.result import Status
from proof.report.density import MOST_BARS, plot, short_name
from proof.report.tally import PageTally


def pages(count: int, raised: int = 2, status: Status = Status.CHECKED) -> list[PageTally]:
    return [PageTally(n, f"X_WYG_001-{n}a", "", status, None, 300, raised, 0, ()) for n in range(count)]


def test_without_pages_there_is_no_plot() -> None:
    assert plot([]) is None


def test_few_pages_have_a_bar_each() -> None:
    made = plot(pages(20))
    assert made is not None
    assert len(made.bars) == 20
    assert made.pages_a_bar == 1


def test_bars_are_as_high_as_the_pages_are_dense() -> None:
    some = pages(3)
    made = plot([some[0], *pages(2, raised=4)[1:], *pages(3, raised=0)[2:]])
    assert made is not None
    assert made.bars[1].h == pytest.approx(2 * made.bars[0].h)
    assert made.bars[2].h == 0
    assert all(bar.y + bar.h == pytest.approx(made.base) for bar in made.bars)
    assert all(bar.y >= 0 for bar in made.bars)


def test_a_whole_work_fits_on_the_plot_and_no_page_is_left_out() -> None:
    work = pages(27_000)
    made = plot(work)
    assert made is not None
    assert len(made.bars) <= MOST_BARS
    assert sum(bar.pages for bar in made.bars) == 27_000
    assert sum(bar.raised for bar in made.bars) == 54_000
    assert made.bars[-1].x + made.bars[-1].w <= made.width
    assert len(made.labels) < 60


def test_a_bar_of_many_pages_leads_to_the_first_that_has_flags() -> None:
    work = pages(MOST_BARS * 2, raised=0)
    work[5] = pages(6, raised=1)[5]
    made = plot(work)
    assert made is not None
    assert made.bars[2].target == 5


def test_pages_that_were_not_checked_are_told_apart_from_clean_ones() -> None:
    made = plot([*pages(1, raised=0), *pages(1, raised=0, status=Status.NO_IMAGE)])
    assert made is not None
    assert [bar.unread for bar in made.bars] == [0, 1]


def test_values_on_the_axis_are_round_and_below_the_top() -> None:
    for raised in (0, 1, 7, 50, 299):
        made = plot(pages(4, raised=raised))
        assert made is not None
        assert 1 <= len(made.rows) <= 4
        assert all(0 <= row.at <= made.base for row in made.rows)


def test_a_page_is_labelled_by_what_sets_it_apart() -> None:
    assert short_name("KR1d0087_WYG_223-17b") == "17b"
    assert short_name("page") == "page"
