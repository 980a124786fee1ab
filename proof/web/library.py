"""The works of a store as a browser lists them, in numbers, and what a search over all of them found."""

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
    """A work as a line of the list; `below` is its id and folder, where they say more than its title."""

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
    def of(cls, one: LibraryWork) -> LibraryLine:
        counts = one.counts
        title = one.title or one.work or one.folder
        return cls(
            one.work,
            title,
            " · ".join(dict.fromkeys(name for name in (one.work, one.folder) if name and name != title)),
            one.script,
            one.state,
            in_words(one.trouble, say) if one.trouble else "",
            one.turn + 1,
            counts.all_pages,
            counts.pages.get(Status.CHECKED.value, 0),
            counts.pages.get(Status.NO_IMAGE.value, 0),
            counts.pages.get(Status.FAILED.value, 0) + counts.pages.get(Status.MISMATCH.value, 0),
            counts.flagged,
            counts.decided,
            counts.left,
            one.speed,
        )


@dataclass(frozen=True, slots=True)
class LibraryTotal:
    """All works together; `left` counts those of which it is known."""

    works: int
    pages: int
    checked: int
    flagged: int
    decided: int
    left: float | None

    @classmethod
    def of(cls, lines: Sequence[LibraryLine]) -> LibraryTotal:
        known = [one.left for one in lines if one.left is not None]
        return cls(
            works=len(lines),
            pages=sum(one.pages for one in lines),
            checked=sum(one.checked for one in lines),
            flagged=sum(one.flagged for one in lines),
            decided=sum(one.decided for one in lines),
            left=sum(known) if known else None,
        )


_ORDERS: Mapping[str, Callable[[LibraryLine], Any]] = {
    "turn": lambda one: one.turn,
    "title": lambda one: (one.title, one.below),
    "state": lambda one: (list(FolderState).index(one.state), one.turn),
    "pages": lambda one: one.pages,
    "checked": lambda one: one.checked,
    "missing": lambda one: one.missing,
    "failed": lambda one: (one.state is FolderState.FAILED, one.failed),
    "flagged": lambda one: one.flagged,
    "decided": lambda one: one.decided,
    "left": lambda one: -1.0 if one.left is None else one.left,
    "speed": lambda one: one.speed or 0.0,
}
"""What the list is put in order by; names and turns from the first, numbers from the largest."""

_UPWARD = ("turn", "title", "state")


def listing(works: Sequence[LibraryWork]) -> dict[str, Any]:
    """What the list shows of these works, as the address asks for it."""
    every = [LibraryLine.of(one) for one in works]
    title, state = request.args.get("title", "").strip(), request.args.get("state", "")
    sort = request.args.get("sort", "turn")
    sort = sort if sort in _ORDERS else "turn"
    ascending = (sort in _UPWARD) != (request.args.get("up") == "1")
    chosen = [
        one
        for one in every
        if (not state or one.state == state) and (not title or title.lower() in f"{one.title} {one.below}".lower())
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
    """This list with something of its address changed."""
    given: dict[str, object] = {**request.args.to_dict(), **changes}
    return url_for("pages.home", **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
