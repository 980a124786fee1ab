"""How much computing something takes, as far as a busy machine lets anybody measure."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

TURNS = 3
AT_LEAST = 0.02
"""Seconds of computing below which nothing is compared: the clock, the caches."""


def computing(work: Callable[[], object], enough: float = 0.0) -> float:
    """Seconds of this thread's computing that `work` takes, at the best of three turns; the first that takes no more
    than `enough` is the last.

    What other threads of the process do does not count, nor what the collector would do to all that other tests left.
    """
    turns: list[float] = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(TURNS):
            start = time.thread_time()
            work()
            turns.append(time.thread_time() - start)
            if turns[-1] <= enough:
                break
    finally:
        gc.enable()
    return max(min(turns), AT_LEAST)
