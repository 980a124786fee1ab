"""The list of all works, with their counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
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

WORKS_PER_PAGE = 100
"""Number of works on a page of the list."""


@dataclass(frozen=True, slots=True)
class LibraryLine:
    """A work in the list. `below` has its id and its folder, if they differ from the title; `why` is the reason of a
    failure, `turn` the place of the work in the queue, from 1. `missing` counts pages without an image; `left` is the
    expected number of errors that are left, and `speed` pages per second, if known."""

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
            work=work.work,
            title=title,
            below=" · ".join(dict.fromkeys(name for name in (work.work, work.folder) if name and name != title)),
            script=work.script,
            state=work.state,
            why=in_words(work.trouble, say) if work.trouble else "",
            turn=work.turn + 1,
            pages=counts.all_pages,
            checked=counts.pages.get(Status.CHECKED.value, 0),
            missing=counts.pages.get(Status.NO_IMAGE.value, 0),
            failed=counts.pages.get(Status.FAILED.value, 0) + counts.pages.get(Status.MISMATCH.value, 0),
            flagged=counts.flagged,
            decided=counts.decided,
            left=counts.left,
            speed=work.speed,
        )


_ORDERS: Mapping[str, Callable[[LibraryLine], Any]] = {
    **{name: attrgetter(name) for name in ("turn", "pages", "checked", "missing", "flagged", "decided")},
    "title": attrgetter("title", "below"),
    "state": lambda line: (list(FolderState).index(line.state), line.turn),
    "failed": lambda line: (line.state is FolderState.FAILED, line.failed),
    "left": lambda line: -1.0 if line.left is None else line.left,
    "speed": lambda line: line.speed or 0.0,
}
"""The sort keys of the list."""

_ASCENDING = ("turn", "title", "state")
"""Sort keys with ascending order; the others are descending. `up=1` in the address reverses the order."""


def listing(works: Sequence[LibraryWork]) -> dict[str, Any]:
    """The template variables of the list, which is filtered and sorted as the parameters of the request say."""
    lines = [LibraryLine.of(work) for work in works]
    title, state = request.args.get("title", "").strip(), request.args.get("state", "")
    sort = request.args.get("sort", "")
    if sort not in _ORDERS:
        sort = "turn"
    is_reversed = request.args.get("up") == "1"
    ascending = (sort in _ASCENDING) != is_reversed
    chosen = [
        line
        for line in lines
        if (not state or line.state == state) and (not title or title.lower() in f"{line.title} {line.below}".lower())
    ]
    chosen.sort(key=_ORDERS[sort], reverse=not ascending)
    start = min(max(request.args.get("start", 0, type=int), 0), max(len(chosen) - 1, 0))
    return {
        "total": _totals(lines) if lines else None,
        "lines": chosen[start : start + WORKS_PER_PAGE],
        "shown": len(chosen),
        "first": start + 1,
        "last": min(start + WORKS_PER_PAGE, len(chosen)),
        "earlier": max(start - WORKS_PER_PAGE, 0) if start else None,
        "later": start + WORKS_PER_PAGE if start + WORKS_PER_PAGE < len(chosen) else None,
        "title": title,
        "state": state,
        "states": {state: say(label) for state, label in _STATES.items()},
        "sort": sort,
        "ascending": ascending,
        "address": _address,
    }


def _totals(lines: Sequence[LibraryLine]) -> dict[str, float | None]:
    """The sums over all works; `left` is the sum over those for which it is known."""
    sums = {name: sum(getattr(line, name) for line in lines) for name in ("pages", "checked", "flagged", "decided")}
    known = [line.left for line in lines if line.left is not None]
    return {"works": len(lines), **sums, "left": sum(known) if known else None}


def _address(**changes: object) -> str:
    """The address of the list with some parameters changed; None removes a parameter."""
    parameters: dict[str, object] = {**request.args.to_dict(), **changes}
    return url_for("pages.home", **{name: value for name, value in parameters.items() if value is not None})  # type: ignore[arg-type]
