"""The list of works of a store, with their counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import request, url_for

from proof.locale.marking import _
from proof.locale.notices import in_words
from proof.model.result import Status
from proof.store.library import FolderState, LibraryWork
from proof.web.language import say

_STATES = {
    FolderState.WAITING: _("waiting"),
    FolderState.CHECKING: _("being checked"),
    FolderState.CHECKED: _("checked"),
    FolderState.FAILED: _("failed"),
}

LISTED = 100
"""Works on a page of the list."""


@dataclass(frozen=True, slots=True)
class LibraryLine:
    """A line of the list; `below` is the work's id and folder, if they differ from its title."""

    work: str
    title: str
    below: str
    script: str
    state: FolderState
    why: str
    turn: int
    pages: int
    checked: int
    missing: int
    failed: int
    flagged: int
    decided: int
    left: float | None
    speed: float | None

    @classmethod
    def of(cls, work: LibraryWork) -> LibraryLine:
        counts = work.counts
        title = work.title or work.work or work.folder
        return cls(
            work.work,
            title,
            " · ".join(dict.fromkeys(name for name in (work.work, work.folder) if name and name != title)),
            work.script,
            work.state,
            in_words(work.trouble, say) if work.trouble else "",
            work.turn + 1,
            counts.all_pages,
            counts.pages.get(Status.CHECKED.value, 0),
            counts.pages.get(Status.NO_IMAGE.value, 0),
            counts.pages.get(Status.FAILED.value, 0) + counts.pages.get(Status.MISMATCH.value, 0),
            counts.flagged,
            counts.decided,
            counts.left,
            work.speed,
        )


@dataclass(frozen=True, slots=True)
class LibraryTotal:
    """The sums over all works; `left` is that of the works for which it is known."""

    works: int
    pages: int
    checked: int
    flagged: int
    decided: int
    left: float | None

    @classmethod
    def of(cls, lines: Sequence[LibraryLine]) -> LibraryTotal:
        known = [line.left for line in lines if line.left is not None]
        return cls(
            works=len(lines),
            pages=sum(line.pages for line in lines),
            checked=sum(line.checked for line in lines),
            flagged=sum(line.flagged for line in lines),
            decided=sum(line.decided for line in lines),
            left=sum(known) if known else None,
        )


_ORDERS: Mapping[str, Callable[[LibraryLine], Any]] = {
    "turn": lambda line: line.turn,
    "title": lambda line: (line.title, line.below),
    "state": lambda line: (list(FolderState).index(line.state), line.turn),
    "pages": lambda line: line.pages,
    "checked": lambda line: line.checked,
    "missing": lambda line: line.missing,
    "failed": lambda line: (line.state is FolderState.FAILED, line.failed),
    "flagged": lambda line: line.flagged,
    "decided": lambda line: line.decided,
    "left": lambda line: -1.0 if line.left is None else line.left,
    "speed": lambda line: line.speed or 0.0,
}
"""The sort keys of the list. Titles, states and turns are sorted upwards, numbers downwards."""

_UPWARD = ("turn", "title", "state")


def listing(works: Sequence[LibraryWork]) -> dict[str, Any]:
    """The template variables of the list, filtered and sorted by the address."""
    every = [LibraryLine.of(work) for work in works]
    title, state = request.args.get("title", "").strip(), request.args.get("state", "")
    sort = request.args.get("sort", "turn")
    sort = sort if sort in _ORDERS else "turn"
    ascending = (sort in _UPWARD) != (request.args.get("up") == "1")
    chosen = [
        line
        for line in every
        if (not state or line.state == state) and (not title or title.lower() in f"{line.title} {line.below}".lower())
    ]
    chosen.sort(key=_ORDERS[sort], reverse=not ascending)
    start = min(max(request.args.get("start", 0, type=int), 0), max(len(chosen) - 1, 0))
    return {
        "total": LibraryTotal.of(every) if every else None,
        "lines": chosen[start : start + LISTED],
        "shown": len(chosen),
        "first": start + 1,
        "last": min(start + LISTED, len(chosen)),
        "earlier": max(start - LISTED, 0) if start else None,
        "later": start + LISTED if start + LISTED < len(chosen) else None,
        "title": title,
        "state": state,
        "states": {state: say(label) for state, label in _STATES.items()},
        "sort": sort,
        "ascending": ascending,
        "address": _address,
    }


def _address(**changes: object) -> str:
    """The address of this list with some parameters changed."""
    given: dict[str, object] = {**request.args.to_dict(), **changes}
    return url_for("pages.home", **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
