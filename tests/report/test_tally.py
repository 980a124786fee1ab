"""Counts over the pages of a run."""

from __future__ import annotations

from dataclasses import replace

from proof.model.flags import Evidence
from proof.model.result import PageResult, Status
from proof.report.tally import HiddenPair, Tally
from tests.remarks import error_notice


def tally_of(*pages: PageResult, most: int = 0) -> Tally:
    tally = Tally(most=most)
    for page in pages:
        tally.add(page)
    return tally


def test_flags_are_counted_by_kind_raised_or_hidden(checked: PageResult) -> None:
    tally = tally_of(checked)
    assert tally.flags["substitution", True] == 5
    assert tally.flags["variant", False] == 2
    assert tally.flags["layout", True] == 1
    assert tally.raised == 8
    assert tally.pairs["其", "某"] == 2
    assert tally.variants[HiddenPair("于", "於", "one to one")] == 1


def test_what_is_read_so_all_over_the_text_is_counted_apart_from_variants(checked: PageResult) -> None:
    hidden = replace(
        checked.flags[0], raised=False, evidence=Evidence("posterior", rule="run together in this hand", p_text=0.1)
    )
    faint = replace(checked.flags[1], raised=False)
    tally = tally_of(replace(checked, flags=(hidden, faint)))
    assert tally.habits == {("其", "某", "run together in this hand"): 1}
    assert not tally.variants
    assert not tally.pairs


def test_rates_are_weighted_and_have_no_value_over_nothing(checked: PageResult) -> None:
    assert Tally().per_10_000 is None
    clean = replace(checked, flags=(), characters_checked=480)
    assert tally_of(checked, clean).per_10_000 == 10_000 * 8 / (checked.characters_checked + 480)


def test_a_failed_page_says_why_and_the_graver_status_of_two_pages_stands() -> None:
    tally = tally_of(
        PageResult("a", "", Status.FAILED, error_notice("cut short")),
        PageResult("a", "", Status.CHECKED),
        PageResult("b", "", Status.NO_IMAGE),
        PageResult("c", "", Status.MISMATCH, error_notice("carries 3b")),
    )
    assert tally.statuses() == {"a": "failed: cut short", "b": "no image", "c": "image mismatch"}
