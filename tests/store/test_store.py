"""Results are read as saved; runs, reuse, flags found again and flags not found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proof.errors import OutputError, UsageError
from proof.model.flags import FINDING_KINDS, Evidence, Flag
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.store import CheckedResult, PagePlace, RunInfo, Store
from proof.store.queue_records import Order, QueueFilter
from proof.text.model import Row
from tests.remarks import error_notice
from tests.store.conftest import on_both, whole

WORK, TEXT = "KR1d0030", "KR1d0030_010.txt"
PLACE = PagePlace(0, TEXT, "010", "1a")

number = st.floats(allow_nan=False, allow_infinity=False)
size = st.integers(0, 2**31 - 1)
words = st.text(max_size=6)
edge = st.floats(-1e12, 1e12)
boxes = st.builds(Box, edge, edge, edge, edge)
alternatives = st.lists(st.tuples(words, number), max_size=3).map(tuple)
characters = st.builds(
    CheckedCharacter, size, size, size, st.sampled_from(Row), words, boxes, words, st.none() | number, alternatives
)
unsure = st.none() | number
values = st.dictionaries(st.sampled_from(["file", "number", "why"]), words | size, max_size=2)
simple = st.builds(lambda code, named: Notice.of(code, **named), st.sampled_from(NoticeCode), values)
notices = st.builds(lambda outer, inner: Notice(outer.code, (*outer.values, ("what", inner))), simple, simple) | simple
evidence = st.builds(
    Evidence,
    words,
    words,
    unsure,
    unsure,
    alternatives,
    st.lists(words, max_size=2).map(tuple),
    st.none() | notices,
    words,
    unsure,
    notice=st.none() | notices,
)
flags = st.builds(
    Flag,
    page=st.just("page"),
    ref=words,
    line=size,
    offset=size,
    length=size,
    kind=st.sampled_from(FINDING_KINDS),
    transcribed=words,
    suggested=words,
    score=number,
    raised=st.booleans(),
    bbox=st.none() | boxes,
    evidence=evidence,
    context=words,
    id=st.text(min_size=1, max_size=20),
)
results = st.builds(
    PageResult,
    page=st.just("page"),
    ref=words,
    status=st.sampled_from(Status),
    message=st.none() | notices,
    image=st.none() | st.sampled_from([Path("images/a.png"), Path("/圖/甲 1.png")]),
    image_sha=words,
    image_size=st.tuples(size, size),
    image_box=st.none() | boxes,
    skew=number,
    characters_checked=size,
    columns=st.lists(st.builds(CheckedColumn, size, boxes, words), max_size=3).map(tuple),
    characters=st.lists(characters, max_size=4).map(tuple),
    flags=st.lists(flags, max_size=4, unique_by=lambda flag: flag.id).map(tuple),
    notices=st.lists(notices, max_size=2).map(tuple),
    seconds=number,
)


@pytest.fixture(scope="module")
def lasting_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("store") / "proof.sqlite") as opened:
        yield opened


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=results, then=results)
def test_a_page_is_read_as_saved_and_so_is_its_replacement(
    lasting_store: Store, info: RunInfo, first: PageResult, then: PageResult
) -> None:
    run = lasting_store.begin_run(info)
    for key, result in (("first", first), ("then", then)):
        lasting_store.save_pages(run, [CheckedResult(PLACE, f"{run} {key}", result)])
        assert whole(lasting_store, f"{run} {key}") == result
        assert list(lasting_store.results(run=run)) == [result]
    assert lasting_store.cached_page(f"{run} first") is None


@pytest.fixture
def save(store: Store, info: RunInfo) -> Callable[..., int]:
    """A function that saves a run over these pages, each with a key and optionally a place, and returns its number."""

    def run_over(*pages: tuple[str, PageResult] | tuple[str, PageResult, PagePlace], texts: Sequence[str] = ()) -> int:
        paths = texts or [info.texts[0].path]
        run = store.begin_run(replace(info, texts=tuple(replace(info.texts[0], path=path) for path in paths)))
        for key, result, *place in pages:
            store.save_pages(run, [CheckedResult(place[0] if place else PLACE, key, result)])
        store.finish_run(run, whole=True)
        return run

    return run_over


def at(position: int, text: str = TEXT) -> PagePlace:
    return replace(PLACE, position=position, text=text)


@on_both
def test_pages_are_read_in_page_order_whatever_the_order_of_saving(
    store: Store, info: RunInfo, page_result: PageResult
) -> None:
    """Also for pages saved together of which some are stored already, as after an interrupted check."""

    def page(position: int, name: str) -> CheckedResult:
        return CheckedResult(at(position), f"{name} {position}", replace(page_result, page=name, flags=()))

    first = store.begin_run(info)
    store.save_pages(first, [page(1, "b")])
    second = store.begin_run(info)
    store.save_pages(second, [page(3, "c")])
    store.save_pages(second, [page(0, "a"), page(1, "b"), page(2, "a"), page(4, "a")])
    assert [result.page for result in store.results(run=second)] == ["a", "b", "a", "c", "a"]
    assert [result.page for result in store.results(work=WORK)] == ["a", "b", "a", "c", "a"]
    assert sorted(store.kept_pages(WORK)) == [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("c", 0)]
    assert store.kept_pages(WORK)["a", 1].key == "a 2"


def test_an_outline_is_a_result_without_columns_and_characters(
    store: Store, save: Callable[..., int], page_result: PageResult
) -> None:
    run = save(("key", page_result))
    assert list(store.results(run=run, outline=True)) == [replace(page_result, columns=(), characters=())]


@on_both
def test_a_result_is_reused_by_its_key_and_never_without_one(
    store: Store, save: Callable[..., int], page_result: PageResult
) -> None:
    moved = replace(page_result, image=Path("elsewhere.png"))
    first, second = save(("key", page_result)), save(("key", moved, at(4)))
    assert list(store.results(run=second)) == [moved]
    assert (store.run(first).reused, store.run(second).reused) == (0, 1)
    for word in ("once", "again"):
        third = save(("", replace(page_result, message=error_notice(word))))
        assert store.cached_page("") is None
        assert [result.message for result in store.results(run=third)] == [error_notice(word)]


@on_both
def test_a_flag_found_again_is_updated_and_one_not_found_returns_with_a_later_check(
    store: Store, save: Callable[..., int], page_result: PageResult
) -> None:
    wrong, _, lost = page_result.flags
    surer = replace(wrong, score=9.5)
    save(("one engine", page_result))
    save(("another engine", replace(page_result, flags=(surer, lost))))
    assert list(store.flags(WORK)) == [surer, lost]
    assert list(store.results(run=save(("one engine again", page_result)))) == [page_result]


@on_both
def test_flags_rescored_by_the_whole_run_keep_their_first_score(
    store: Store, save: Callable[..., int], page_result: PageResult
) -> None:
    save(("key", page_result))
    wrong = page_result.flags[0]
    evidence = replace(wrong.evidence, rule="run together in this hand", base=wrong.score)
    lowered = replace(wrong, score=-1.5, raised=False, evidence=evidence)
    store.rescore(WORK, [lowered])
    store.rescore("another work", [replace(wrong, score=99.0)])
    assert whole(store, "key") == replace(page_result, flags=(lowered, *page_result.flags[1:]))


@on_both
def test_a_page_is_absent_after_a_whole_run_without_it_and_returns_with_its_flags(
    store: Store, info: RunInfo, save: Callable[..., int], page_result: PageResult
) -> None:
    save(("key", page_result))
    store.finish_run(store.begin_run(info), whole=False)  # over some pages: the others stay
    assert list(store.results(work=WORK)) == [page_result]
    save()
    assert (list(store.results(work=WORK)), list(store.flags(WORK)), store.queue.pages(WORK)) == ([], [], [])
    assert whole(store, "key") is None, "it is judged anew: other pages may have its flags"
    save(("key", page_result))
    assert list(store.results(work=WORK)) == [page_result]
    assert len(list(store.flags(WORK))) == 3


def test_a_run_over_one_of_two_texts_with_the_same_page_saves_the_page_of_that_text(
    store: Store, save: Callable[..., int], page_result: PageResult
) -> None:
    twin = ("key 2", replace(page_result, message=error_notice("of the second text")), at(0, "second.txt"))
    save(("key 1", page_result, at(0, "first.txt")), twin, texts=["first.txt", "second.txt"])
    alone = save(twin, texts=["second.txt"])
    assert list(store.results(run=alone)) == [twin[1]]
    assert list(store.results(work=WORK)) == [page_result, twin[1]]


@on_both
def test_the_queue_is_updated_by_a_replaced_page_and_by_rescored_flags(
    store: Store, save: Callable[..., int], page_result: PageResult
) -> None:
    """Also if no flag is new: one becomes stale, and the score of another falls."""
    first, second = (replace(page_result.flags[0], id=f"flag {n}", offset=n, score=9.0 - n) for n in range(2))
    save(("key", replace(page_result, flags=(first, second))))

    def queued() -> list[tuple[str, float]]:
        numbers, _ = store.queue.find(WORK, QueueFilter(), Order.SCORE)
        return [(shown.flag.id, shown.flag.score) for shown in store.queue.flags(WORK, numbers)]

    assert queued() == [("flag 0", 9.0), ("flag 1", 8.0)]
    store.rescore(WORK, [replace(first, score=1.0)])
    assert queued() == [("flag 1", 8.0), ("flag 0", 1.0)]
    [page] = store.queue.pages(WORK)
    read_again = CheckedResult(PLACE, "other key", replace(page_result, flags=(first,)))
    assert store.replace_page(page.number, store.stamp(page.number), read_again)
    assert queued() == [("flag 0", 9.0)]
    store.texts.move(WORK, PLACE.text, "elsewhere.txt")
    assert [place.text for place in store.queue.pages(WORK)] == ["elsewhere.txt"]
    assert queued() == [("flag 0", 9.0)]


@on_both
def test_a_run_is_stored_with_its_engine_settings_and_texts(store: Store, info: RunInfo) -> None:
    number = store.begin_run(info)
    begun = store.run(number)
    assert (begun.info, begun.finished, begun.seconds) == (info, None, None)
    store.finish_run(number, findings=[error_notice("after 3b comes 5a")])
    done = store.latest_run(WORK)
    assert done is not None
    assert done.findings == (error_notice("after 3b comes 5a"),)
    assert done.seconds is not None
    assert 0 <= done.seconds < 60
    assert done.started.tzinfo is not None
    assert store.latest_run("another work") is None


def test_flags_with_a_shared_id_or_of_another_page_and_pages_of_an_unknown_run_are_refused(
    store: Store, info: RunInfo, page_result: PageResult
) -> None:
    run = store.begin_run(info)
    wrong, variant, _ = page_result.flags
    refused = {
        "id of their own": (wrong, replace(variant, id=wrong.id)),
        "another page": (replace(wrong, page="another page"),),
    }
    for message, flags in refused.items():
        with pytest.raises(ValueError, match=message):
            store.save_pages(run, [CheckedResult(PLACE, "key", replace(page_result, flags=flags))])
    with pytest.raises(UsageError, match="run 99"):
        store.save_pages(99, [CheckedResult(PLACE, "key", page_result)])
    assert list(store.results(run=run)) == []


@on_both
def test_cached_readings_are_replaced_and_pruned_longest_unused_first(store: Store) -> None:
    for key in ("old", "middle", "new"):
        store.cache.put(key, key.encode() * 100)
    store.cache.put_many({"new": b"x" * 300, "middle": b"middle" * 100})
    assert store.cache.get("new") == b"x" * 300
    assert store.cache.get("never") is None
    assert store.cache.get("old") == b"old" * 100
    assert store.cache.size() == 300 + 600 + 300
    assert store.cache.prune(keep=600) == 1
    assert store.cache.get("middle") is None
    assert store.cache.get("old") == b"old" * 100
    assert store.cache.prune(keep=0) == 2
    assert store.cache.size() == 0


def test_a_check_does_not_overwrite_a_page_of_a_later_check(
    filled: Store, info: RunInfo, page_result: PageResult
) -> None:
    """Of two checks that overlap, the results of the later one are kept."""
    older, later = filled.begin_run(info), filled.begin_run(info)
    filled.save_pages(later, [CheckedResult(PLACE, "later", page_result)])
    with pytest.raises(OutputError, match="another check of this work began"):
        filled.save_pages(older, [CheckedResult(PLACE, "older", page_result)])
    assert filled.cached_page("later") is not None
