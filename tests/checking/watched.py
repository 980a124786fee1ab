"""What a worker of a cluster asks of whoever looks after it, before it dies in a test."""

from __future__ import annotations

from typing import Any


def is_watched(dask_worker: Any) -> bool:
    """Whether a nanny has heard that its worker started: it starts another one only where that dies later."""
    return bool(dask_worker.status.name == dask_worker.process.status.name == "running")
