"""What goes into the store and comes out of it beside page results: runs, places, flags with their history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import proof
from proof.model.flags import Flag, Kind
from proof.model.notices import Notice
from proof.ocr.engine import EngineIdentity


@dataclass(frozen=True, slots=True)
class TextInfo:
    """A transcription file of a run: its path, the hash of what it reads, its format and its script; `content` is what
    it reads, which is kept apart from the run."""

    path: str
    sha: str
    format: str = ""
    script: str = ""
    content: str | None = None


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What a run is about to check and with what. `settings` holds what JSON can."""

    work: str
    title: str
    texts: tuple[TextInfo, ...]
    engine: EngineIdentity
    settings: Mapping[str, Any] = field(default_factory=dict)
    version: str = proof.__version__


@dataclass(frozen=True, slots=True)
class StoredRunInfo:
    """A run as the store remembers it. `finished` is None while it goes on, or where it was interrupted.

    `findings` are remarks about the run as a whole (gaps and jumps in the sequence of pages); `reused` is
    how many of its pages came out of an earlier run unchanged.
    """

    id: int
    info: RunInfo
    started: datetime
    finished: datetime | None = None
    findings: tuple[Notice, ...] = ()
    reused: int = 0

    @property
    def seconds(self) -> float | None:
        """Wall-clock seconds from start to finish."""
        return (self.finished - self.started).total_seconds() if self.finished else None


@dataclass(frozen=True, slots=True)
class PagePlace:
    """Where a page stands in its work: `position` counts the pages of the run from 0, `text` is the path of
    the transcription file as in `RunInfo.texts`, `folio` is written as on the page (`12b`). `copies` are the other
    texts of the run that have a page of the same id. `lines` are the code points of the file at which its columns
    begin, by their numbers, `sha` the hash of what the file then reads."""

    position: int
    text: str = ""
    juan: str = ""
    folio: str = ""
    copies: frozenset[str] = frozenset()
    lines: Mapping[int, int] = field(default_factory=dict)
    sha: str = ""


@dataclass(frozen=True, slots=True)
class KeptPage:
    """What the result of a page can be told to hold by: its key, and the hash of the image that it was found on."""

    key: str
    image_sha: str


@dataclass(frozen=True, slots=True)
class StoredText:
    """A transcription file as a part of a work: its `path` and its `script` as when it was checked last, in the run of
    number `run`; `pages` are the ids of those that are now taken from it."""

    work: str
    path: str
    script: str
    run: int
    pages: frozenset[str]


@dataclass(frozen=True, slots=True)
class StoredFlag:
    """A flag with its history. `stale`: an earlier run found it and the last check of its page did not."""

    flag: Flag
    first_run: int
    last_run: int
    stale: bool


@dataclass(frozen=True, slots=True)
class FlagFilter:
    """Which flags of a work are wanted. None and what is empty mean all; with `by_hand` false none that a person
    made."""

    work: str
    page: str | None = None
    kinds: tuple[Kind, ...] = ()
    raised: bool | None = None
    stale: bool | None = False
    transcribed: tuple[str, ...] = ()
    by_hand: bool = True
