"""The flags of a work, looked through while others decide."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from proof.model.result import PageResult
from proof.store import PagePlace, RunInfo, Store
from proof.store.decision_records import State
from proof.store.flag_columns import STATES

WORK = "KR1d0030"


@pytest.fixture
def filled(store: Store, info: RunInfo, page_result: PageResult) -> Store:
    run = store.begin_run(info)
    store.save_page(run, PagePlace(0, "KR1d0030_010.txt", "010", "1a"), "", page_result)
    store.finish_run(run, whole=True)
    return store


def test_flags_are_found_by_their_state_while_others_change_it(filled: Store) -> None:
    columns = filled.queue._fresh(WORK)  # one for all who look
    columns.state = np.zeros(100_000, dtype=np.int8)  # as many as a large work has
    over = threading.Event()

    def decide() -> None:
        while not over.is_set():
            for state in range(len(STATES)):
                columns.state[:] = state

    others = threading.Thread(target=decide)
    others.start()
    try:
        for _ in range(1000):
            assert columns.is_in([State.OPEN]).size == columns.state.size
    finally:
        over.set()
        others.join()
