"""Places that move along with their pages."""

from __future__ import annotations

from dataclasses import replace

from proof.store import Store
from proof.store.decision_records import State, Verdict
from proof.text.positions import Span
from tests.build import PLACE, check, check_at, decide, page, queued
from tests.store.conftest import on_both
from tests.store.exported import FOUND, LINES, export


@on_both
def test_a_lost_place_after_the_end_of_its_page_stays_lost(decided: Store) -> None:
    first, only = replace(PLACE, lines={1: Span(0, len(LINES[0]))}), page(LINES[0], flags=FOUND[:1])
    for line_of_another_page in (LINES[1], "", "又"):
        check_at(decided, f"{LINES[0]}\n{line_of_another_page}\n", [(first, only)], key="unchanged ")
    assert [lost.transcribed for lost in decided.decisions.displaced("KR1")] == ["北"]


@on_both
def test_a_lost_place_returns_with_its_page_after_another_page_was_exported_and_moved(store: Store) -> None:
    last = len(LINES[1])
    first = replace(PLACE, lines={1: Span(0, 3), 2: Span(4, 3)})
    second = replace(PLACE, position=1, lines={1: Span(8, last)})
    pages = (
        page("上射坐", "上射坐", flags=((1, 1, "射", "躬"),)),
        page(LINES[1], flags=((1, 3, "北", "比"),), name="p2"),
    )
    text = f"上射坐\n上射坐\n{LINES[1]}\n"
    check_at(store, text, [(first, pages[0]), (second, pages[1])], key="unchanged ")
    one_of_two, written = queued(store)
    decide(store, written.number, Verdict.TAKE)
    line = export(store).split("\n")[2]
    first = replace(PLACE, position=1, lines={1: Span(8, 3), 2: Span(12, 3)})
    second = replace(PLACE, lines={1: Span(0, last)})
    check_at(store, f"{line}\n上射坐\n上射坐\n", [(second, pages[1]), (first, pages[0])], key="unchanged ")
    decide(store, one_of_two.number, Verdict.TAKE)
    assert store.decisions.displaced("KR1") == []
    assert export(store) == f"{line}\n上躬坐\n上射坐\n"


@on_both
def test_a_lost_place_does_not_return_where_it_was_asked_and_decided_again(store: Store) -> None:
    taken = (2, 1, "射", "躬")
    doubled = page("公卿大", "上射坐", "上射坐", flags=(taken,))
    for result in (page("公卿大", "上射坐", flags=(taken,)), doubled):
        check(store, result)
        [asked] = queued(store, states=(State.OPEN,))
        decide(store, asked.number, Verdict.TAKE)
    for _ in range(2):
        check(store, doubled, key="unchanged ")
        assert [lost.transcribed for lost in store.decisions.displaced("KR1")] == ["射"]
