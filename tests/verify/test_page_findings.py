"""Findings about columns and pages as a whole; the ids by which findings are known from run to run."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from proof.model.flags import Evidence, Flag, Kind
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.model.result import PageResult, Status
from proof.verify.page_findings import LAYOUT_SCORE, layout_flag, mismatch, numbered
from proof.verify.pairing import Carried

BLANK = PageResult(page="010-1a", ref="WYG0103-0192c", status=Status.CHECKED)


def flag(line: int, context: str, score: float = 5.0) -> Flag:
    return Flag(
        "010-1a", "", line, 0, 1, Kind.SUBSTITUTION, "北", "比", score, True, None, Evidence("posterior"), context
    )


def test_a_finding_about_a_column_stands_above_any_character_and_is_always_raised() -> None:
    found = layout_flag(BLANK, 3, Box(0, 0, 90, 1000), Evidence("column missing"), "司射適西階西")
    assert (found.kind, found.line, found.offset, found.length) == (Kind.LAYOUT, 3, 0, 0)
    assert (found.transcribed, found.raised, found.score) == ("司射適西階西", True, LAYOUT_SCORE)
    assert found.context == "column missing"


def test_a_wrong_image_is_one_finding_that_says_what_it_carries() -> None:
    result = mismatch(BLANK, Carried(False, 0.1, None, 0, Notice.of(NoticeCode.CARRIES_OTHER)))
    assert result.status is Status.MISMATCH
    (found,) = result.flags
    assert (found.line, found.evidence.reason) == (0, "image mismatch")
    assert found.evidence.notice == result.message


@given(st.lists(st.tuples(st.integers(1, 8), st.sampled_from(["夫之西[北]耦", "司射[北]面"])), max_size=12))
def test_every_finding_of_a_page_has_an_id_of_its_own(places: list[tuple[int, str]]) -> None:
    found = numbered(flag(line, context) for line, context in places)
    assert len({one.id for one in found}) == len(places)
    assert all(one.id for one in found)


@given(st.floats(0, 20))
def test_an_id_does_not_hang_on_the_score(score: float) -> None:
    (one,), (other,) = numbered([flag(1, "[北]")]), numbered([replace(flag(1, "[北]"), score=score, raised=False)])
    assert one.id == other.id
