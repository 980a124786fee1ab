"""The counts of all works of a store, and the search in all works."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import delete, update

from proof.model.flags import Flag, Kind, flag_id
from proof.model.result import PageResult, Status
from proof.store import Store
from proof.store.decision_records import Verdict
from proof.store.library import FolderState, WorkCounts
from proof.store.models import ColumnRow, PageRow
from proof.store.search import FoundInAll
from tests.build import check, decide, queued, run_info
from tests.store.conftest import on_both
from tests.web.drawn import LINES, WORK, fill


def check_work(store: Store, work: str, results: list[PageResult]) -> None:
    """Save a complete check of a work with these results."""
    check(store, *results, info=run_info(work, f"題 {work}"), text=f"{work}.txt", key=f"{len(results)} ")


def of_page(result: PageResult, page: str, status: Status = Status.CHECKED) -> PageResult:
    flags: tuple[Flag, ...] = tuple(
        replace(flag, page=page, id=flag_id(page, flag.line, flag.kind, f"{flag.offset}", 0)) for flag in result.flags
    )
    return replace(result, page=page, status=status, flags=flags if status is Status.CHECKED else ())


def counts(store: Store) -> dict[str, WorkCounts]:
    return {line.work: line.counts for line in store.library.works()}


@on_both
def test_every_work_has_its_present_counts(store: Store, page_result: PageResult) -> None:
    check_work(store, "A", [of_page(page_result, "A-1"), of_page(page_result, "A-2", Status.NO_IMAGE)])
    check_work(store, "B", [of_page(page_result, "B-1", Status.FAILED)])
    found = counts(store)
    assert found["A"].pages == {"checked": 1, "no image": 1}
    assert (found["A"].flagged, found["A"].decided, found["A"].left) == (2, 0, None)
    assert found["B"].pages == {"failed": 1}
    assert all(work.speed is not None for work in store.library.works())


@on_both
def test_a_moved_character_is_counted_once(store: Store, page_result: PageResult) -> None:
    first, second = of_page(page_result, "A-1").flags[:2]
    old = replace(first, kind=Kind.INSERTION, suggested="", raised=True, moved=second.id)
    new = replace(second, kind=Kind.OMISSION, transcribed="", length=0, raised=True, moved=first.id)
    check_work(store, "A", [replace(of_page(page_result, "A-1"), flags=(old, new))])
    assert counts(store)["A"].flagged == 1
    [flag] = queued(store, "A")
    decide(store, flag.number, Verdict.TAKE, work="A")
    after = counts(store)["A"]
    assert (after.flagged, after.decided, after.settled, after.upheld, after.confirmed) == (1, 1, 1, 1, 1)


@on_both
def test_the_speed_counts_only_pages_that_the_last_run_read(store: Store, page_result: PageResult) -> None:
    pages = [of_page(page_result, "A-1"), of_page(page_result, "A-2"), of_page(page_result, "A-3")]

    def check_again(*results: PageResult) -> float | None:
        check(store, *results, info=run_info("A", "題"), text="A.txt", key="same ")
        return store.library.works()[0].speed

    assert check_again(*pages[:2]) is not None
    speed = check_again(*pages)
    run = store.latest_run("A")
    assert run is not None
    assert run.finished is not None
    assert speed == pytest.approx(1 / (run.finished - run.started).total_seconds())
    assert check_again(*pages) is None


@on_both
def test_a_decision_and_a_check_change_the_counts_of_their_work(store: Store, page_result: PageResult) -> None:
    check_work(store, "A", [of_page(page_result, "A-1"), of_page(page_result, "A-2")])
    check_work(store, "B", [of_page(page_result, "B-1")])
    before = counts(store)
    number = next(flag for flag in queued(store, "A") if flag.flag.line == 1).number
    decide(store, number, Verdict.TAKE, work="A")
    after = counts(store)
    assert (after["A"].decided, after["A"].confirmed) == (1, 1)
    assert after["A"].left == pytest.approx(3.0)  # three more are open, and the one that was decided was an error
    assert after["B"] == before["B"]
    check_work(store, "B", [of_page(page_result, "B-1"), of_page(page_result, "B-2")])
    assert counts(store)["B"].all_pages == 2


@on_both
def test_folders_have_states_and_are_removed_when_gone(store: Store, page_result: PageResult) -> None:
    check_work(store, "A", [of_page(page_result, "A-1")])
    store.library.set_folders(["one", "two"])
    store.library.set_state("one", FolderState.CHECKED, work="A")
    assert [(line.folder, line.work, line.state) for line in store.library.works()] == [
        ("one", "A", FolderState.CHECKED),
        ("two", "", FolderState.WAITING),
    ]
    assert store.library.folder_of("A") == "one"
    store.library.set_folders(["two"])
    assert [(line.folder, line.work) for line in store.library.works()] == [("two", ""), ("", "A")]


def test_a_search_finds_words_anywhere_in_all_works(tmp_path: Path) -> None:
    """Across the breaks of columns and pages, on pages without an image, and in works that are checked later."""
    across_columns, across_pages = "即位小臣師", LINES[-1][-1] + LINES[0][0]
    with Store.open(tmp_path / "proof.sqlite") as store:
        fill(store, tmp_path)
        assert {match.work for match in store.finder.find_in_all(across_columns).places} == {WORK}
        fill(store, tmp_path, work="other")
        second = [store.queue.uncounted_pages("other")[1].number]
        with store.engine.begin() as connection:
            connection.execute(delete(ColumnRow).where(ColumnRow.page_id.in_(second)))
            connection.execute(update(PageRow).where(PageRow.id.in_(second)).values(status="no image", image=None))
        found = store.finder.find_in_all(across_columns).places
        assert [match.work for match in found] == [WORK] * 3 + ["other"] * 3
        assert {(match.line, match.offset, match.words) for match in found} == {(1, 8, across_columns)}
        assert not any(match.last for match in found)
        between = store.finder.find_in_all(across_pages).places
        assert [match.work for match in between] == [WORK] * 2 + ["other"] * 2
        assert all(match.last and match.page != match.last for match in between)


@on_both
def test_a_search_finds_works_pages_pairs_and_words(store: Store, page_result: PageResult) -> None:
    check_work(store, "KR1d0030", [of_page(page_result, "KR1d0030_WYG_010-1a")])
    check_work(store, "KR1d0087", [of_page(page_result, "KR1d0087_WYG_223-17b")])
    find = store.finder.find_in_all
    assert [work.work for work in find("KR1d0087").works] == ["KR1d0087"]
    assert [page.page for page in find("KR1d0087_WYG_223").pages] == ["KR1d0087_WYG_223-17b"]
    assert len(find("WYG0103-0192c").pages) == 2
    assert [(pair.work, pair.count, pair.open) for pair in find("告吿").pairs] == [
        ("KR1d0030", 1, 1),
        ("KR1d0087", 1, 1),
    ]
    places = find("射人(").places
    assert [match.before + match.words + match.after for match in places] == ["射人(告具/于公)"] * 2
    nothing = find("%")
    assert nothing == FoundInAll()
