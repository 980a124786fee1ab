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
    """A transcription file of a run: its path, the hash of its bytes, its format and its script."""

    path: str
    sha: str
    format: str = ""
    script: str = ""


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
    texts of the run that have a page of the same id."""

    position: int
    text: str = ""
    juan: str = ""
    folio: str = ""
    copies: frozenset[str] = frozenset()


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
class DecidedPlace:
    """Where a decided flag stands now: the text that its page is taken from, and those of the run in which it was seen
    last. `elsewhere`: what was decided of it stands at another flag now, since a check carried it over. `line`: its
    line as it was checked, None where that was last read since the flag was seen. `at`: its page's number, its
    line, offset and context as far as checks could follow it; None where one found something else in its place in
    the text, as what was decided: `instead` is the context in which it did. `lost`: the last check did not find it,
    or finds none like it."""

    text: str
    texts: frozenset[str]
    elsewhere: bool
    line: str | None = None
    at: tuple[int, int, int, str] | None = None
    instead: str = ""
    lost: bool = False


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
