"""The list of all works, with their counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from flask import request, url_for

from proof.locale.marking import _
from proof.locale.notices import in_words
from proof.store.library import FolderState, LibraryWork, WorkCounts
from proof.web.language import say

_STATES = {
    FolderState.WAITING: _("waiting"),
    FolderState.CHECKING: _("being checked"),
    FolderState.CHECKED: _("checked"),
    FolderState.FAILED: _("failed"),
}

WORKS_PER_PAGE = 100
"""Number of works on a page of the list."""


_ORDERS: Mapping[str, Callable[[LibraryWork], Any]] = {
    **{name: attrgetter(f"counts.{name}") for name in ("checked", "missing", "flagged", "decided")},
    "pages": attrgetter("counts.all_pages"),
    "turn": attrgetter("turn"),
    "title": attrgetter("name", "work", "folder"),
    "state": lambda work: (list(FolderState).index(work.state), work.turn),
    "failed": lambda work: (work.state is FolderState.FAILED, work.counts.failed),
    "left": lambda work: -1.0 if work.counts.left is None else work.counts.left,
    "speed": lambda work: work.speed or 0.0,
}
"""The sort keys of the list."""

_ASCENDING = ("turn", "title", "state")
"""Sort keys with ascending order; the others are descending. `up=1` in the address reverses the order."""


def listing(works: Sequence[LibraryWork]) -> dict[str, Any]:
    """The template variables of the list, which is filtered and sorted as the parameters of the request say."""
    title, state = request.args.get("title", "").strip(), request.args.get("state", "")
    sort = request.args.get("sort", "")
    if sort not in _ORDERS:
        sort = "turn"
    is_reversed = request.args.get("up") == "1"
    ascending = (sort in _ASCENDING) != is_reversed
    chosen = [
        work
        for work in works
        if (not state or work.state == state) and title.lower() in f"{work.title} {work.work} {work.folder}".lower()
    ]
    chosen.sort(key=_ORDERS[sort], reverse=not ascending)
    start = min(max(request.args.get("start", 0, type=int), 0), max(len(chosen) - 1, 0))
    return {
        "total": _totals([work.counts for work in works]) if works else None,
        "works": chosen[start : start + WORKS_PER_PAGE],
        "shown": len(chosen),
        "first": start + 1,
        "last": min(start + WORKS_PER_PAGE, len(chosen)),
        "earlier": max(start - WORKS_PER_PAGE, 0) if start else None,
        "later": start + WORKS_PER_PAGE if start + WORKS_PER_PAGE < len(chosen) else None,
        "title": title,
        "state": state,
        "states": {state: say(label) for state, label in _STATES.items()},
        "in_words": lambda trouble: in_words(trouble, say),
        "sort": sort,
        "ascending": ascending,
        "address": _address,
    }


def _totals(counts: Sequence[WorkCounts]) -> dict[str, float | None]:
    """The sums over all works; `left` is the sum over those for which it is known."""
    names = ("all_pages", "checked", "flagged", "decided")
    known = [left for work in counts if (left := work.left) is not None]
    return {
        **{name: sum(getattr(work, name) for work in counts) for name in names},
        "works": len(counts),
        "left": sum(known) if known else None,
    }


def _address(**changes: object) -> str:
    """The address of the list with some parameters changed; None removes a parameter."""
    parameters: dict[str, object] = {**request.args.to_dict(), **changes}
    return url_for("pages.home", **{name: value for name, value in parameters.items() if value is not None})  # type: ignore[arg-type]
