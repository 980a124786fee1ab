"""A work is checked by one at a time, whatever database the store lies in; other works go on beside it."""

from __future__ import annotations

import threading

from proof.store import Store
from tests.conftest import PATIENCE


def test_the_second_check_of_a_work_waits_until_the_first_is_done_and_says_so(store: Store) -> None:
    waiting, got, steps = threading.Event(), threading.Event(), list[object]()

    def second() -> None:
        with Store.open(store.engine.url) as other, other.checking("work", waiting.set) as waited:
            steps.append(("second", waited))
            got.set()

    thread = threading.Thread(target=second)
    with store.checking("work") as waited:
        assert not waited
        thread.start()
        assert waiting.wait(PATIENCE)
        assert not got.wait(0.3)
        with store.checking("another", waiting.clear) as beside:
            assert not beside
        steps.append("first is done")
    thread.join(PATIENCE)
    assert steps == ["first is done", ("second", True)]
    with store.checking("work") as waited:
        assert not waited


def test_a_check_that_is_done_is_waited_for_by_nobody(store: Store) -> None:
    """Not even for the moment that a database server takes to part with who held the lock."""
    waits = []
    for _ in range(100):
        with store.checking("work") as waited:
            waits.append(waited)
    assert not any(waits)
