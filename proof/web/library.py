"""The list of works of a store, with their counts."""

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
"""Works that the list shows at once."""


@dataclass(frozen=True, slots=True)
class LibraryLine:
    """A work in the list. `below` is its id and its folder, as far as they differ from the title; `why`, the reason of
    a failure; `turn`, its place in the queue of works, from 1; `missing`, the pages without an image; `left`, the
    errors expected to be left, and `speed`, pages per second, if known."""

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
"""Keys of which the lowest value comes first, of the others the highest; `up=1` in the address reverses the order."""


def listing(works: Sequence[LibraryWork]) -> dict[str, Any]:
    """The template variables of the list, filtered and sorted by the address."""
    lines = [LibraryLine.of(work) for work in works]
    title, state = request.args.get("title", "").strip(), request.args.get("state", "")
    sort = request.args.get("sort", "")
    if sort not in _ORDERS:
        sort = "turn"
    ascending = (sort in _ASCENDING) != (request.args.get("up") == "1")
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
    """The sums over all works; `left` is that of the works for which it is known."""
    sums = {name: sum(getattr(line, name) for line in lines) for name in ("pages", "checked", "flagged", "decided")}
    known = [line.left for line in lines if line.left is not None]
    return {"works": len(lines), **sums, "left": sum(known) if known else None}


def _address(**changes: object) -> str:
    """The address of this list with these parameters changed, or left out if None."""
    given: dict[str, object] = {**request.args.to_dict(), **changes}
    return url_for("pages.home", **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
