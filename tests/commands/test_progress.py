"""How fast pages go by, and the progress of a check in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.checking.pipeline import Progress
from proof.commands.progress import WINDOW_SECONDS, Pace, clock, in_words


def test_pages_out_of_the_store_do_not_promise_that_the_rest_is_as_quick() -> None:
    pace = Pace(0.0)
    for page in range(1, 101):
        pace.note(page / 1000, page)
    for page in range(101, 201):
        pace.note(float(page - 100), page)
    assert pace.per_second == pytest.approx(1.0, rel=0.1)
    assert pace.left(300) == pytest.approx(100.0, rel=0.1)


@given(st.lists(st.floats(0.01, 60.0), min_size=1, max_size=50))
def test_the_pace_is_never_negative_and_no_page_is_left_at_the_end(waits: list[float]) -> None:
    pace, now = Pace(0.0), 0.0
    for done, wait in enumerate(waits, start=1):
        now += wait
        pace.note(now, done)
        rate = pace.per_second
        assert rate is not None
        assert 0 < rate <= 1 / min(waits) + 1e-6
        assert rate >= 1 / max(*waits, WINDOW_SECONDS) - 1e-9
    assert pace.left(len(waits)) == 0


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0:00"), (5.4, "0:05"), (65, "1:05"), (3599.6, "1:00:00"), (7325, "2:02:05")]
)
def test_times_are_written_as_on_a_clock(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown


def test_the_time_left_is_counted_from_the_pages_that_have_an_image() -> None:
    """900 of 1,000 pages have no image and go by in no time: half of the others took 50 seconds."""
    pace = Pace(0.0)
    pace.note(50.0, 50)
    done = Progress(done=500, total=1000, reused=0, page="", with_image_done=50, with_image=100)
    assert in_words(done, pace) == "500 of 1000 pages, 1.0 pages/s, 0:50 left"
