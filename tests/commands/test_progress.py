"""The progress of a check in words."""

from __future__ import annotations

from proof.checking.pipeline import Progress
from proof.commands.pace import Pace
from proof.commands.progress import in_words


def test_the_time_left_is_counted_from_the_pages_that_have_an_image() -> None:
    """900 of 1,000 pages have no image and go by in no time: half of the others took 50 seconds."""
    pace = Pace(0.0)
    pace.note(50.0, 50)
    done = Progress(done=500, total=1000, reused=0, page="", with_image_done=50, with_image=100)
    assert in_words(done, pace) == "500 of 1000 pages, 1.0 pages/s, 0:50 left"
