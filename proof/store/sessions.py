"""How the parts of a store reach its database."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from sqlalchemy.orm import Session

Sessions = Callable[[], AbstractContextManager[Session]]
"""Each call gives a session, in a `with` block; what is written in one is committed at its end, all or nothing."""


class StorePart:
    """What a store knows of one thing: it reads in sessions of one kind and writes in those of the other."""

    def __init__(self, reading: Sessions, writing: Sessions) -> None:
        self._reading = reading
        self._writing = writing
