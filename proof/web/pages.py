"""The HTML pages of the interface. Each page contains its first data, so that it needs no further request to be
shown."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from flask import Blueprint, redirect, request, url_for
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from proof.locale.marking import _
from proof.quality.sampling import interval
from proof.report.progress import COUNTED_VERDICTS, agreements_of, progress_of, time_left
from proof.report.reasons import VERDICTS
from proof.store.authorities import IMAGE, REASONED
from proof.store.decision_chains import REQUESTER
from proof.store.decision_records import State
from proof.store.lookup import NoPlaceError
from proof.store.page_states import PageState
from proof.store.queue_records import QueueFilter
from proof.store.search import addressed
from proof.web import api, layout_overrides, library, problems, schemas, serializers
from proof.web.glyphs import unencoded_of, unusual_glyphs
from proof.web.language import say
from proof.web.page_view import render_page
from proof.web.people import assignees, may, person
from proof.web.project import project
from proof.web.rights import Right

# Maximum numbers of entries on a page.
FLAGS_PER_DESK = 8
FLAGS_PER_QUEUE_PAGE = 50
LISTED_PAGES = 120
MAX_PAIRS = 2000
MAX_OFFERED_PAIRS = 24
MAX_AWAITING_PLACES = 24
UNENCODED_CHARACTERS = 40
MAX_CHANGED_DECISIONS = 50

MAX_CHARACTER_LENGTH = 64
"""Maximum length of a character whose glyphs are shown; an entity or a composition has several code points."""

MAX_SEARCH_LENGTH = 100
"""Maximum length of a search."""

MINE = "mine"
"""Filter, in place of a state, for the pages assigned to the person of the request."""

pages = Blueprint("pages", __name__)


@pages.get("/")
def home() -> AnyResponse:
    """The list of works, or the queue if there is only one work."""
    works = project().store.library.works()
    if len(works) == 1 and works[0].counts.all_pages:
        return redirect(url_for("pages.queue", work=works[0].work))
    return render_page("library.html", None, **library.listing(works))


@pages.get("/search")
def search() -> AnyResponse:
    """A search in all works."""
    text = request.args.get("q", "").strip()[:MAX_SEARCH_LENGTH]
    return render_page("search.html", None, wanted=text, matches=project().store.finder.find_in_all(text))


@pages.get("/for-me")
def for_me() -> AnyResponse:
    """The open problems and pages, in all works, that are assigned to the person of the request."""
    store = project().store
    assigned = []
    for assignment in store.assignments.of_person(person()):
        by_number = {page.number: page for page in store.queue.pages(assignment.work)}
        mine = [by_number[number] for number in assignment.pages if number in by_number]
        if mine:
            assigned.append((assignment, mine, sum(page.open for page in mine)))
    problems_of_person = store.comments.problems(assigned=person())
    return render_page("for_me.html", None, problems=problems_of_person, assigned=assigned, key=uuid4().hex)


@pages.get("/works/<work>/")
def queue(work: str) -> AnyResponse:
    """The queue: raised flags, with the number of flags by every filter."""
    return _listing("queue.html", work, FLAGS_PER_QUEUE_PAGE, detail=False)


@pages.get("/works/<work>/desk")
def desk(work: str) -> AnyResponse:
    """The desk: one flag at a time."""
    return _listing("desk.html", work, FLAGS_PER_DESK, detail=True)


@pages.get("/works/<work>/pages/")
def page_list(work: str) -> AnyResponse:
    """The list of half-folios with their states, filtered by a state or by assignment to the person of the request."""
    queue = project().store.queue
    summary = queue.work(work)
    first = min(max(request.args.get("from", 1, type=int), 1), max(summary.pages, 1))
    state = request.args.get("state", "")
    holders = project().store.assignments.of_work(work)
    if state == MINE:
        filtered = [page for page in queue.pages(work) if holders.get(page.number) == person()]
    elif state in set(PageState):
        filtered = queue.in_state(work, PageState(state))
    else:
        filtered, state = None, ""
    if filtered is None:
        places, count = queue.pages(work, first, LISTED_PAGES), summary.pages
    else:
        places, count = filtered[first - 1 :][:LISTED_PAGES], len(filtered)
    return render_page(
        "pages.html",
        summary,
        places=places,
        earlier=max(first - LISTED_PAGES, 1) if first > 1 else None,
        later=first + LISTED_PAGES if first + LISTED_PAGES <= count else None,
        state=state,
        count=count,
        own=state == PageState.PROOFREAD and "own" in request.args,
        holders=holders,
        juans=project().store.history.juans(work),
        people=assignees() if may(Right.OVERRULE) else [person()],
        mine=MINE,
        key=uuid4().hex,
    )


@pages.get("/works/<work>/changed")
def changed(work: str) -> AnyResponse:
    """Decisions of the person of the request that others have changed since, each with its glyph."""
    store = project().store
    summary = store.queue.work(work)
    changes = [change for change in store.judgements.changed_of(work, person()) if store.queue.has(work, change.flag)]
    shown = changes[:MAX_CHANGED_DECISIONS]
    flags = serializers.details(store, work, store.queue.flags(work, [change.flag for change in shown]))
    return render_page("changed.html", summary, changed=list(zip(shown, flags, strict=True)), count=len(changes))


@pages.get("/works/<work>/validate")
def validate(work: str) -> AnyResponse:
    """Redirect to a page that somebody else proofread: the first after the position `after`, else the first of all."""
    store = project().store
    numbers = store.history.to_validate(work, person())
    places = [place for place in store.queue.uncounted_pages(work) if place.number in numbers]
    if not places:
        return redirect(url_for("pages.page_list", work=work, state=PageState.PROOFREAD.value, own=""))
    after = request.args.get("after", 0, type=int)
    following = next((place for place in places if place.position > after), places[0])
    return redirect(url_for("pages.page", work=work, number=following.number))


@pages.get("/works/<work>/pages/<int:number>")
def page(work: str, number: int) -> AnyResponse:
    """A page: its image with the boxes of characters, beside the text in the layout of the page."""
    queue = project().store.queue
    place, detail = api.page_detail_of(work, number)
    around = {listed.position: listed.number for listed in queue.pages(work, max(place.position - 1, 1), 3)}
    data = detail.model_dump() | {"assignees": assignees()}
    data["differing"] = [
        difference._asdict() for difference in project().store.judgements.differing(work, number, person())
    ]
    job = project().rereading.under_way(work, number)
    data["under_way"] = layout_overrides.reading_of(job) if job else None
    return render_page(
        "page.html",
        queue.work(work),
        data=data,
        place=place,
        before=around.get(place.position - 1),
        after=around.get(place.position + 1),
    )


@pages.get("/works/<work>/pages/<address>")
def page_called(work: str, address: str) -> AnyResponse:
    """Redirect to the page with an address in the form that reference works use: `001-2a`, `WYG0140-0330b`."""
    matches = addressed(project().store.queue.uncounted_pages(work), address)
    if not matches:
        raise NoPlaceError(_("%(work)s: there is no page %(page)s"), work=work, page=address)
    if len(matches) > 1:
        return redirect(url_for("pages.find", work=work, q=address))
    return redirect(url_for("pages.page", work=work, number=matches[0].number))


@pages.get("/works/<work>/find")
def find(work: str) -> AnyResponse:
    """A search in a work, or a redirect to a page if the search names one."""
    store = project().store
    text = request.args.get("q", "").strip()[:MAX_SEARCH_LENGTH]
    matches = store.finder.find(work, text, request.args.get("near", type=int))
    if matches.page is not None:
        return redirect(url_for("pages.page", work=work, number=matches.page.number))
    return render_page("find.html", store.queue.work(work), wanted=text, matches=matches)


@pages.get("/works/<work>/pairs")
def pairs(work: str) -> AnyResponse:
    """Flags of a work grouped by the pair of characters that they are about."""
    store = project().store
    summary = store.queue.work(work)
    counted_pairs = store.queue.pairs(work, QueueFilter())
    data = {
        "pairs": counted_pairs[:MAX_PAIRS],
        "rules": store.rules.of_work(work),
        "text": request.args.get("text"),
        "image": request.args.get("image"),
    }
    return render_page("pairs.html", summary, data=data)


@pages.get("/works/<work>/glyphs")
def glyphs(work: str) -> AnyResponse:
    """Glyphs of all occurrences of a character, alone or against another one, and a choice of pairs."""
    queue = project().store.queue
    summary = queue.work(work)
    single_pairs = [pair for pair in queue.pairs(work, QueueFilter()) if len(pair.text) == len(pair.image) == 1]
    data = {
        "pairs": single_pairs[:MAX_OFFERED_PAIRS],
        "part": max(request.args.get("part", 0, type=int), 0),
    }
    characters = {name: request.args.get(name, "")[:MAX_CHARACTER_LENGTH] for name in ("text", "against")}
    return render_page("glyphs.html", summary, data=data, **characters)


@pages.get("/works/<work>/unencoded")
def unencoded(work: str) -> AnyResponse:
    """The unencoded characters of a work, each with some of its glyphs and possible encoded characters."""
    summary = project().store.queue.work(work)
    start = max(request.args.get("from", 0, type=int), 0)
    counted = unencoded_of(work)
    shown = [
        (character, unusual_glyphs(work, character.text)) for character in counted[start : start + UNENCODED_CHARACTERS]
    ]
    more = start + UNENCODED_CHARACTERS if start + UNENCODED_CHARACTERS < len(counted) else None
    return render_page(
        "unencoded.html", summary, shown=shown, count=len(counted), more=more, longest=MAX_CHARACTER_LENGTH
    )


@pages.get("/works/<work>/progress")
def progress(work: str) -> AnyResponse:
    """The progress of a work by day, juan and person, what is left to do, and the errors expected to be missed."""
    store = project().store
    verdicts = {verdict: say(VERDICTS[verdict]) for verdict in COUNTED_VERDICTS}
    awaiting, all_awaiting = store.history.awaiting(work, MAX_AWAITING_PLACES)
    records = store.judgements.witness_records(work)
    return render_page(
        "progress.html",
        store.queue.work(work),
        progress=progress_of(store, work),
        left=store.queue.remaining(work),
        time_left=time_left(store, work),
        agreements=agreements_of(store, work),
        witnesses=[(record, interval(record.agreeing, record.places)) for record in records],
        awaiting=awaiting,
        all_awaiting=all_awaiting,
        problems=store.comments.problems(work=work),
        days=store.judgements.by_day(work),
        verdicts=verdicts,
        arbitrates=REQUESTER.get().arbitrates,
        reports=store.reports.count(work),
    )


@pages.get("/works/<work>/history")
def history(work: str) -> AnyResponse:
    """The history of a work, newest first, with filters; and decisions whose place is no longer in the text."""
    store = project().store
    summary = store.queue.work(work)
    names = ("person", "juan", "verdict", "what")
    query = problems.form_of(schemas.HistoryQuery, {name: request.args.get(name) for name in names})
    values = query.model_dump(mode="json", include=set(names), exclude_none=True)
    filters = {name: value for name, value in values.items() if value}
    data = {
        **dict(api.acts_of(work, query)),
        "filters": filters,
        "displaced": store.decisions.displaced(work),
        "people": store.judgements.by_person(work, seeded=True),
    }
    choices = {"person": store.history.people(work), "juan": store.history.juans(work)}
    return render_page("history.html", summary, data=data, choices=choices, filters=filters)


def _listing(template: str, work: str, limit: int, *, detail: bool) -> AnyResponse:
    """The queue or, in `detail`, the desk, with the first `limit` flags of the filter in the address. An address with a
    `flag` begins at that flag."""
    store = project().store
    summary = store.queue.work(work)
    query = _query(request.args)
    queue_filter = api.queue_filter_of(work, query)
    first = request.args.get("flag", type=int)
    if first is not None and detail and not store.queue.has(work, first):
        without_flag = {name: values for name, values in request.args.to_dict(flat=False).items() if name != "flag"}
        return redirect(url_for(str(request.endpoint), work=work, **without_flag))  # type: ignore[arg-type]
    numbers, more = store.queue.find(work, queue_filter, query.order, after=first, limit=limit)
    if first is not None and detail:
        numbers = [first, *numbers]
    data: dict[str, Any] = {
        "work": summary,
        "query": query.model_dump(exclude={"cursor", "limit", "detail"}, exclude_none=True),
        "flags": serializers.listed(store, work, store.queue.flags(work, numbers), detail=detail),
        "next": str(numbers[-1]) if more else None,
    }
    if detail:
        data["authorities"] = [IMAGE, *REASONED]
        data["assignees"] = assignees()
        data["blind"] = REQUESTER.get().blind
        data["arbitrates"] = REQUESTER.get().arbitrates
    else:
        data["facets"] = api.facets_of(work, queue_filter)
        of_work = store.queue.uncounted_pages(work)
        data["pages"] = [page.folio or page.page for page in (*of_work[:1], *of_work[-1:])]
    return render_page(template, summary, data=data, arbitrates=REQUESTER.get().arbitrates)


def _query(args: MultiDict[str, str]) -> schemas.FlagsQuery:
    """The filter in an address. Without `state` only open flags match; an empty `state` matches all."""
    lists = {name: [value for value in args.getlist(name) if value] for name in ("kind", "state")}
    if "state" not in args:
        lists["state"] = [State.OPEN]
    return problems.form_of(schemas.FlagsQuery, {**args, **lists})
