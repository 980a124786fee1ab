"""Measures processor time so that a busy machine hardly affects it."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

RUNS = 3
MIN_SECONDS = 0.02
"""Shorter times are not told apart, because of the clock and of caches."""


def seconds_of(work: Callable[[], object], enough: float = 0.0) -> float:
    """Processor time of this thread for `work`: the least of `RUNS` runs, or of fewer if one takes at most `enough`.

    Other threads of the process and the garbage collector do not count.
    """
    runs: list[float] = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(RUNS):
            start = time.thread_time()
            work()
            runs.append(time.thread_time() - start)
            if runs[-1] <= enough:
                break
    finally:
        gc.enable()
    return max(min(runs), MIN_SECONDS)
