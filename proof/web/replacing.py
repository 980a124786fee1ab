"""Replacing a string in a work: a page with the places where it occurs, each with its image, to be decided one by
one."""

from __future__ import annotations

from flask import Blueprint, Response, request

from proof.model.geometry import Box
from proof.model.result import PageResult
from proof.report.upright import upright
from proof.store.search import FoundPlace
from proof.store.typed_text import LONGEST_READING
from proof.web.images import name_of
from proof.web.page_view import render_page
from proof.web.project import project

CHARACTERS_AROUND = 2.0
"""Height of the image shown above and below the string, in characters."""

replacing = Blueprint("replacing", __name__)


@replacing.get("/works/<work>/replace")
def replace(work: str) -> Response:
    """A page with the first places where the present text has the string `old` within a column. At each place it can be
    replaced by `new`."""
    store = project().store
    old, new = (request.args.get(name, "").strip()[:LONGEST_READING] for name in ("old", "new"))
    places, count = store.finder.standing(work, old) if old else ((), 0)
    pages = store.queue.listed(work, sorted({place.number for place in places}))
    results = store.queue.results(sorted(pages))
    items = []
    for place in places:
        if place.number not in pages:  # the page is no longer in the work
            continue
        sha = pages[place.number].image_sha
        box = _box(results[place.number], place)
        items.append(
            {
                "page": place.number,
                "name": place.page,
                "line": place.line,
                "offset": place.offset,
                "before": place.before,
                "after": place.after,
                "image": name_of(sha, results[place.number].skew) if sha and box else "",
                "box": [box.x, box.y, box.w, box.h] if box else None,
            }
        )
    data = {"old": old, "new": new, "places": items}
    return render_page("replace.html", store.queue.work(work), data=data, old=old, new=new, all=count)


def _box(result: PageResult, place: FoundPlace) -> Box | None:
    """The area of the string and its surroundings on the upright image; None if its place is unknown."""
    result = upright(result)
    offsets = range(place.offset, place.offset + len(place.words))
    boxes = [char.box for char in result.characters if char.line == place.line and char.offset in offsets]
    if not boxes:
        return None
    string = Box.around(boxes)
    margin = CHARACTERS_AROUND * string.h / len(boxes)
    around = Box(string.x - margin / 4, string.y - margin, string.w + margin / 2, string.h + 2 * margin)
    return around.in_whole_pixels(result.image_size)
