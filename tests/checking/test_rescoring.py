"""The flags of a work are weighed again a few at a time, whoever else writes meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from proof.checking import rescoring
from proof.checking.engine_bias import EngineBias
from proof.checking.rescoring import rescore_work
from proof.model.flags import Evidence, Flag
from proof.model.result import PageResult
from proof.settings.config import FlagsSection
from proof.store import Store, rows
from tests import build

WORK = "KR1d0030"
CHANCES = 0.001, 0.3, 0.2, 0.4, 0.002
"""What the engine gives 羲 on each page, where it reads 義."""


def page_of(number: int, chance: float) -> PageResult:
    name = f"KR1d0030_WYG_010-{number}a"
    evidence = Evidence("posterior", p_text=chance, p_best=0.99)
    return build.page("羲", name=name, flags=[build.flag(1, 0, "羲", "義", name=name, score=6.0, evidence=evidence)])


def filled(folder: Path, pages: Sequence[PageResult]) -> Store:
    store = Store.open(folder / f"{len(pages)}.sqlite")
    build.check(store, *pages, info=build.run_info(WORK))
    return store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store of five pages with a flag each, of which two are weighed at once."""
    monkeypatch.setattr(rescoring, "FLAGS_PER_BATCH", 2)
    with filled(tmp_path, [page_of(number, chance) for number, chance in enumerate(CHANCES, 1)]) as opened:
        yield opened


def habits() -> EngineBias:
    learned = EngineBias()
    for number, chance in enumerate(CHANCES, 1):
        learned.add_page(page_of(number, chance), number)
    return learned


def raised(store: Store) -> list[bool]:
    return [flag.raised for flag in store.flags(WORK)]


@pytest.mark.parametrize("after", [1, 3])
def test_a_page_that_is_judged_anew_while_a_work_is_weighed_is_weighed_too(
    store: Store, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    first = next(store.flags(WORK))
    rescore, times = store.rescore, 0

    def beside(work: str, flags: Sequence[Flag], **seen: Any) -> Any:
        nonlocal times
        times += 1
        revision = rescore(work, flags, **seen)
        if times == after:  # somebody has the first page read again: as the page alone weighs it
            rescore(work, [replace(first, score=7.0)])
        return revision

    monkeypatch.setattr(store, "rescore", beside)
    rescore_work(store, WORK, habits(), FlagsSection(threshold=6.5))
    assert raised(store) == [False] * 5
    assert next(store.flags(WORK)).evidence.base == 7.0
    assert times > 3


def steps_of(store: Store, work: Callable[[], object]) -> int:
    """How many times ten steps SQLite takes for it."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    def watched(there: Any, *_: object) -> None:
        there.set_progress_handler(count, 10)

    event.listen(store.engine, "checkout", watched)
    work()
    event.remove(store.engine, "checkout", watched)
    return steps


def test_flags_are_read_and_weighed_in_steps_by_their_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "FLAGS_AT_ONCE", 10)
    read, sought, written = [], [], []
    for pages in (100, 400):
        with filled(tmp_path, [page_of(number, 0.5) for number in range(1, pages + 1)]) as store:
            read.append(steps_of(store, lambda at=store: list(at.flags(WORK))))  # type: ignore[misc]
            sought.append(steps_of(store, lambda at=store: list(at.flags(WORK, transcribed=("羲",)))))  # type: ignore[misc]
            some = [replace(flag, score=1.0) for flag in store.flags(WORK)][:50]
            written.append(steps_of(store, lambda at=store, of=some: at.rescore(WORK, of)))  # type: ignore[misc]
            assert [flag.score for flag in store.flags(WORK)] == [1.0] * 50 + [6.0] * (pages - 50)
    assert read[1] < 5 * read[0]
    assert sought[1] < 5 * sought[0], "those of one character are sorted once"
    assert written[1] < 1.5 * written[0]
