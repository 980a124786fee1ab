"""The JSON API under `/api/v1`, which the desk uses too. It is described at `/api/v1/openapi.json`, to which the
docstrings of the operations belong: the first line of each is its summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from flask import Response, jsonify
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel

from proof.locale.marking import _
from proof.store.acts import DecisionsOfPerson, Undone
from proof.store.decision_records import ConflictError, Decision, DecisionRequest, RefusedDecisionError, Verdict
from proof.store.history import HistoryEntry, HistoryFilter
from proof.store.judgements import WitnessRecord
from proof.store.manual_corrections import ManualCorrection
from proof.store.page_states import PageEvent
from proof.store.queue_records import CursorError, ListedPage, PairCount, QueueFilter, WorkSummary
from proof.store.search import position_of
from proof.store.variant_rules import Rule
from proof.web import answers, schemas, serializers
from proof.web.answers import Item, ListOf, PartOf
from proof.web.people import may, person
from proof.web.project import project
from proof.web.rights import Right
from proof.web.threshold_curve import dial
from proof.web.undone import undone_of

MAX_DETAILED_FLAGS = 20
"""Flags in one answer with `detail`."""

WORKS = Tag(name="works", description="Works and what remains to be done in them")
PAGES = Tag(name="pages", description="Pages, their states, and corrections at any place")
FLAGS = Tag(name="flags", description="Places where the text may be wrong")
DECISIONS = Tag(name="decisions", description="Decisions on flags, undo and redo, and the history")
ERROR_ANSWERS: dict[str | int, Any] = {
    400: answers.ProblemOut,
    401: answers.ProblemOut,
    403: answers.ProblemOut,
    404: answers.ProblemOut,
    422: answers.InvalidRequestOut,
}
DECISION_ANSWERS: dict[str | int, Any] = {
    200: answers.DecisionOut,
    201: answers.DecisionOut,
    409: answers.DecisionConflictOut,
    428: answers.UnconfirmedReadingOut,
}
"""The answers to a decision: saved by an earlier request with the same key, saved, in conflict, to be confirmed."""


def operation_id(*, name: str, path: str, method: str) -> str:
    """The id of an operation, by which client generators name their methods: the name of its function."""
    return name


api = APIBlueprint(
    "api", __name__, url_prefix="/api/v1", abp_responses=ERROR_ANSWERS, operation_id_callback=operation_id
)


def api_blueprint(name: str, tag: Tag) -> APIBlueprint:
    """The blueprint of a part of the API, whose operations all have the tag `tag`."""
    return APIBlueprint(
        name,
        __name__,
        url_prefix="/api/v1",
        abp_tags=[tag],
        abp_responses=ERROR_ANSWERS,
        operation_id_callback=operation_id,
    )


def answer(model: BaseModel, status: int = 200) -> Response:
    """The answer with a model as JSON; browsers do not cache it."""
    response = jsonify(model.model_dump(mode="json"))
    response.status_code = status
    response.headers["Cache-Control"] = "no-store"
    return response


@api.get("/works", tags=[WORKS], responses={200: ListOf[WorkSummary]})
def works() -> Response:
    """List the works of the project."""
    return answer(ListOf[WorkSummary](items=project().store.queue.works()))


@api.get("/works/<string:work>", tags=[WORKS], responses={200: answers.WorkOut})
def work(path: schemas.WorkPath) -> Response:
    """Get a work with its counts."""
    return answer(answers.WorkOut(project().store.queue.work(path.work)))


@api.get("/works/<string:work>/remaining", tags=[WORKS], responses={200: answers.RemainingWorkOut})
def remaining_work(path: schemas.WorkPath) -> Response:
    """Get what remains to be done in a work."""
    return answer(answers.RemainingWorkOut(project().store.queue.remaining(path.work)))


@api.get("/works/<string:work>/pages", tags=[PAGES], responses={200: PartOf[answers.PageOut]})
def pages(path: schemas.WorkPath, query: schemas.Cursor) -> Response:
    """List the pages of a work."""
    start = query.cursor or 0
    listed = project().store.queue.pages(path.work, start + 1, query.limit + 1)
    items = [serializers.page_of(page) for page in listed[: query.limit]]
    more = len(listed) > query.limit
    return answer(PartOf[answers.PageOut](items=items, next=str(start + query.limit) if more else None))


@api.get("/works/<string:work>/pages/<int:page>", tags=[PAGES], responses={200: answers.PageDetailOut})
def page(path: schemas.PagePath) -> Response:
    """Get a page with its columns, characters and flags."""
    return answer(page_detail_of(path.work, path.page)[1])


@api.post("/works/<string:work>/pages/<int:page>/corrections", tags=[PAGES], responses=DECISION_ANSWERS)
def correct(path: schemas.PagePath, body: schemas.ManualCorrectionBody) -> Response:
    """Correct any place of a page, flagged or not.

    The answer is 200 if the request was sent before, and 409 if the place has been decided otherwise."""
    verdict = Verdict.UNSURE if body.doubt else Verdict.DELETE if body.delete else Verdict.TYPED
    values = body.model_dump(exclude={"doubt", "delete"})
    correction = ManualCorrection(work=path.work, page=path.page, person=person(), verdict=verdict, **values)
    decision = project().store.manual_corrections.correct(correction)
    return answer(answers.DecisionOut(decision), 200 if decision.repeated else 201)


@api.get("/works/<string:work>/pages/<int:page>/states", tags=[PAGES], responses={200: ListOf[PageEvent]})
def page_states(path: schemas.PagePath) -> Response:
    """List the changes of a page's state, oldest first."""
    return answer(ListOf[PageEvent](items=project().store.page_states.history(path.work, path.page)))


@api.post(
    "/works/<string:work>/pages/<int:page>/states",
    tags=[PAGES],
    responses={201: answers.PageEventOut, 409: answers.ProblemOut},
)
def set_page_state(path: schemas.PagePath, body: schemas.PageStateBody) -> Response:
    """Set the state of a page.

    The answer is 409 if somebody else has changed the state since the client saw it."""
    event = project().store.page_states.set(path.work, path.page, **by_whom(), **body.model_dump())
    return answer(answers.PageEventOut(event), 201)


@api.get("/works/<string:work>/rules", tags=[FLAGS], responses={200: ListOf[Rule]})
def rules(path: schemas.WorkPath) -> Response:
    """List the variant rules of a work."""
    return _rules(path.work)


@api.post("/works/<string:work>/rules", tags=[FLAGS], responses={200: ListOf[Rule]})
def set_rule(path: schemas.WorkPath, body: schemas.RuleBody) -> Response:
    """Make or remove a variant rule of a work."""
    project().store.rules.set(path.work, body.text, body.image, body.holds, person())
    return _rules(path.work)


@api.get("/works/<string:work>/flags", tags=[FLAGS], responses={200: answers.FlagsOut})
def flags(path: schemas.WorkPath, query: schemas.FlagsQuery) -> Response:
    """List the flags of a work."""
    store = project().store
    limit = min(query.limit, MAX_DETAILED_FLAGS) if query.detail else query.limit
    numbers, more = store.queue.find(
        path.work, queue_filter_of(path.work, query), query.order, after=query.cursor, limit=limit
    )
    items = serializers.listed(store, path.work, store.queue.flags(path.work, numbers), detail=query.detail)
    return answer(answers.FlagsOut(items=list(items), next=str(numbers[-1]) if more else None))


@api.get("/works/<string:work>/facets", tags=[FLAGS], responses={200: answers.FacetsOut})
def facets(path: schemas.WorkPath, query: schemas.Filter) -> Response:
    """Count the flags by the values of each filter, and by score."""
    return answer(facets_of(path.work, queue_filter_of(path.work, query)))


@api.get("/works/<string:work>/witnesses", tags=[FLAGS], responses={200: ListOf[WitnessRecord]})
def witness_records(path: schemas.WorkPath) -> Response:
    """List how often each witness agrees with the decisions."""
    return answer(ListOf[WitnessRecord](items=project().store.judgements.witness_records(path.work)))


@api.get("/works/<string:work>/flags/<int:flag>", tags=[FLAGS], responses={200: answers.FlagDetailOut})
def flag(path: schemas.FlagPath) -> Response:
    """Get a flag."""
    store = project().store
    return answer(serializers.details(store, path.work, store.queue.flags(path.work, [path.flag]))[0])


@api.get("/works/<string:work>/pairs", tags=[FLAGS], responses={200: PartOf[PairCount]})
def pairs(path: schemas.WorkPath, query: schemas.FlagsQuery) -> Response:
    """List the pairs of confused characters in a work, most frequent first."""
    matching = project().store.queue.pairs(path.work, queue_filter_of(path.work, query))
    items, following = part_of(matching, query.cursor, query.limit)
    return answer(PartOf[PairCount](items=items, next=following))


@api.get("/works/<string:work>/flags/<int:flag>/history", tags=[DECISIONS], responses={200: ListOf[Decision]})
def flag_history(path: schemas.FlagPath) -> Response:
    """List the decisions on a flag, oldest first."""
    store = project().store
    store.queue.flags(path.work, [path.flag], taken_back=True)
    return answer(ListOf[Decision](items=store.decisions.history(path.flag)))


@api.get("/works/<string:work>/acts", tags=[DECISIONS], responses={200: PartOf[HistoryEntry]})
def acts(path: schemas.WorkPath, query: schemas.HistoryQuery) -> Response:
    """List the acts in a work, newest first: decisions, page states, rules, layouts and comments."""
    project().store.queue.work(path.work)
    return answer(acts_of(path.work, query))


@api.get("/works/<string:work>/displaced", tags=[DECISIONS], responses={200: ListOf[Decision]})
def displaced(path: schemas.WorkPath) -> Response:
    """List the decisions whose place is no longer in the text."""
    store = project().store
    store.queue.work(path.work)
    return answer(ListOf[Decision](items=store.decisions.displaced(path.work)))


@api.post("/works/<string:work>/flags/<int:flag>/decisions", tags=[DECISIONS], responses=DECISION_ANSWERS)
def decide(path: schemas.FlagPath, body: schemas.DecisionBody) -> Response:
    """Decide on a flag.

    The answer is 200 if the request was sent before. It is 409 if somebody else has decided on the flag since the
    client saw it, and 428 if the reading looks like a typing error and is not `confirmed`."""
    decision = project().store.decisions.decide(_decision_request(path.work, path.flag, body))
    return answer(answers.DecisionOut(decision), 200 if decision.repeated else 201)


@api.get(
    "/works/<string:work>/flags/<int:flag>/reading",
    tags=[DECISIONS],
    responses={200: answers.AcceptedReadingOut, 428: answers.UnconfirmedReadingOut},
)
def check_reading(path: schemas.FlagPath, query: schemas.ReadingQuery) -> Response:
    """Check a reading before it is entered at a flag.

    The answer is 422 if the reading would break the markup of the text, and 428 if it looks like a typing error."""
    project().store.decisions.check(path.work, path.flag, query.reading)
    return answer(answers.AcceptedReadingOut(reading=query.reading))


@api.post("/works/<string:work>/decisions", tags=[DECISIONS], responses={200: ListOf[answers.DecisionOutcomeOut]})
def decide_all(path: schemas.WorkPath, body: schemas.DecisionsBody) -> Response:
    """Decide on several flags at once.

    Flags that somebody else has decided since the client saw them are left as they are; the others are decided."""
    if len({decision.flag for decision in body.decisions}) < len(body.decisions):
        raise RefusedDecisionError(_("a flag can be decided once in a stroke"))
    requests = [_decision_request(path.work, decision.flag, decision, body.batch) for decision in body.decisions]
    items = [
        answers.DecisionOutcomeOut(flag=outcome.flag, version=outcome.version, **decision_or_conflict(outcome))
        for outcome in project().store.decisions.decide_all(requests)
    ]
    return answer(ListOf[answers.DecisionOutcomeOut](items=items))


@api.post(
    "/works/<string:work>/undo", tags=[DECISIONS], responses={200: answers.UndoneOut, 409: answers.UndoConflictOut}
)
def undo(path: schemas.WorkPath, body: schemas.UndoBody) -> Response:
    """Undo your last act in a work.

    An act is a decision, several decisions that were made at once, a rule, or the state or layout of a page. The
    answer is 409 if other people have changed the same since."""
    return _undo_or_redo(project().store.acts.undo, path.work, body)


@api.post(
    "/works/<string:work>/redo", tags=[DECISIONS], responses={200: answers.UndoneOut, 409: answers.UndoConflictOut}
)
def redo(path: schemas.WorkPath, body: schemas.UndoBody) -> Response:
    """Redo the act that you undid last.

    This is possible until you do something else. The answer is 409 if other people have changed the same since."""
    return _undo_or_redo(project().store.acts.redo, path.work, body)


@api.post("/works/<string:work>/withdrawals", tags=[DECISIONS], responses={200: answers.WithdrawalOut})
def withdraw(path: schemas.WorkPath, body: schemas.WithdrawalBody) -> Response:
    """Take back all decisions that one person made in a time.

    This is one act of an administrator, which can be undone. Places that others decided afterwards are left."""
    made = DecisionsOfPerson(body.person, body.since, body.until)
    withdrawn = project().store.acts.withdraw(path.work, made, person(), body.key)
    return answer(answers.WithdrawalOut(places=withdrawn.places, left=withdrawn.left))


def page_detail_of(work: str, number: int) -> tuple[ListedPage, answers.PageDetailOut]:
    """A page as lists show it, and in detail."""
    store = project().store
    listed, result = store.queue.page(work, number)
    flags = store.queue.on_page(work, listed.position)
    comments = store.comments.of_page(work, number)
    state_by = store.page_states.set_by(work, number)
    columns = serializers.columns_of(store, work, number, result)
    return listed, serializers.page_detail(listed, result, columns, flags, comments, state_by)


def _undo_or_redo(act: Callable[..., Undone], work: str, body: schemas.UndoBody) -> Response:
    """Undo or redo an act. If that changes the layout or the image of a page, start reading the page again."""
    undone = act(work, person(), body.key, leave=body.leave, rules=may(Right.RULE))
    if undone.page_to_read is not None and not undone.repeated:
        project().rereading.begin(work, undone.page_to_read, person())
    return answer(undone_of(undone))


def acts_of(work: str, query: schemas.HistoryQuery) -> PartOf[HistoryEntry]:
    """The acts in a work that match a query."""
    history_filter = HistoryFilter(query.person, query.juan, query.verdict, query.what)
    entries, last = project().store.history.log(work, history_filter, before=query.cursor, limit=query.limit)
    return PartOf[HistoryEntry](items=entries, next=str(last) if last is not None else None)


def facets_of(work: str, queue_filter: QueueFilter) -> answers.FacetsOut:
    """The number of flags by every filter, and the points of the dial, which are for flags of every state and score."""
    queue = project().store.queue
    counted = queue.facets(work, queue_filter)
    unbounded = replace(queue_filter, states=(), least_score=None, most_score=None)
    points = dial(*queue.scores(work, unbounded), project().settings.flags.threshold)
    return answers.FacetsOut(**counted._asdict(), dial=points)


def positions_of(work: str, pages: schemas.PageRange) -> tuple[int | None, int | None]:
    """The positions of the first and the last page of a range, None where it names none. Raises NoPlaceError."""
    ends = pages.first_page, pages.last_page
    if ends == (None, None):
        return None, None
    of_juan = [page for page in project().store.queue.uncounted_pages(work) if pages.juan in (None, page.juan_name)]
    first, last = (None if end is None else position_of(of_juan, end) for end in ends)
    return first, last


def queue_filter_of(work: str, query: schemas.Filter) -> QueueFilter:
    """The queue filter of a query."""
    if (query.text is None) != (query.image is None):
        raise CursorError(_("a pair is given by `text` and `image` together"))
    first, last = positions_of(work, query)
    return QueueFilter(
        kinds=tuple(query.kind),
        states=tuple(query.state),
        pair=None if query.text is None or query.image is None else (query.text, query.image),
        first_page=first,
        last_page=last,
        least_score=query.least_score,
        most_score=query.most_score,
        raised={"raised": True, "hidden": False, "all": None}[query.raised],
        juan=query.juan,
    )


def by_whom() -> dict[str, Any]:
    """Arguments for the store: the person of the request, and whether they may change what others did."""
    return {"person": person(), "overrules": may(Right.OVERRULE)}


def _decision_request(work: str, flag: int, body: schemas.DecisionBody, batch: str = "") -> DecisionRequest:
    values = body.model_dump() | {"flag": flag, "verdict": Verdict(body.verdict)}
    return DecisionRequest(work=work, batch=batch, **by_whom(), **values)


def decision_or_conflict(outcome: Decision | ConflictError) -> dict[str, Any]:
    """The fields `decision` and `conflict` of the outcome of one of many decisions."""
    if isinstance(outcome, ConflictError):
        return {"decision": None, "conflict": outcome.decisions}
    return {"decision": outcome, "conflict": None}


def _rules(work: str) -> Response:
    return answer(ListOf[Rule](items=project().store.rules.of_work(work)))


def part_of(items: Sequence[Item], start: int | None, limit: int) -> tuple[list[Item], str | None]:
    """The part of a list that begins at the cursor `start`, and the cursor of the next part."""
    end = (start or 0) + limit
    return list(items[start:end]), str(end) if end < len(items) else None
