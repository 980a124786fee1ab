"""The JSON API for comments, open problems, and their assignment to people."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Response

from proof.store.comments import CommentRequest, Problem
from proof.web import answers, schemas
from proof.web.api import answer, api_blueprint
from proof.web.comment_answers import AssigneesOut, CommentOut, CommentsOut, OpenProblemOut, OpenProblemsOut
from proof.web.people import assignees, must_be_assignee, person
from proof.web.project import project

comments = api_blueprint("comments", "comments")


@comments.get(
    "/works/<string:work>/pages/<int:page>/comments",
    responses={200: CommentsOut},
    summary="What was said of a page and of its flags, oldest first",
)
def of_page(path: schemas.PagePath) -> Response:
    comments = project().store.comments.of_page(path.work, path.page)
    return answer(CommentsOut(items=[CommentOut(comment) for comment in comments]))


@comments.post(
    "/works/<string:work>/pages/<int:page>/comments",
    responses={201: CommentOut, 409: answers.ProblemOut},
    summary="Say something of a page, mark it as a problem, assign that to somebody, or resolve it; 409 where somebody "
    "wrote something in the meantime",
)
def on_page(path: schemas.PagePath, body: schemas.CommentBody) -> Response:
    return _save(path.work, path.page, None, body)


@comments.get(
    "/works/<string:work>/flags/<int:flag>/comments",
    responses={200: CommentsOut},
    summary="What was said of a flag, oldest first",
)
def of_flag(path: schemas.FlagPath) -> Response:
    store = project().store
    [queued] = store.queue.flags(path.work, [path.flag], taken_back=True)
    key = (queued.page.number, queued.flag.id)
    comments = store.comments.of_flags([key]).get(key, [])
    return answer(CommentsOut(items=[CommentOut(comment) for comment in comments]))


@comments.post(
    "/works/<string:work>/flags/<int:flag>/comments",
    responses={201: CommentOut, 409: answers.ProblemOut},
    summary="Say something of a flag, mark it as a problem, assign that to somebody, or resolve it; 409 where somebody "
    "wrote something in the meantime",
)
def on_flag(path: schemas.FlagPath, body: schemas.CommentBody) -> Response:
    [queued] = project().store.queue.flags(path.work, [path.flag], taken_back=True)
    return _save(path.work, queued.page.number, path.flag, body)


@comments.get(
    "/works/<string:work>/problems",
    responses={200: OpenProblemsOut},
    summary="The open problems of a work, those spoken of last first",
)
def problems(path: schemas.WorkPath) -> Response:
    return _open_problems(project().store.comments.problems(work=path.work))


@comments.get(
    "/for-me",
    responses={200: OpenProblemsOut},
    summary="The open problems that were assigned to who asks, in all works",
)
def for_me() -> Response:
    return _open_problems(project().store.comments.problems(assigned=person()))


@comments.get("/assignees", responses={200: AssigneesOut}, summary="Who can be given a problem to see to")
def list_assignees() -> Response:
    return answer(AssigneesOut(items=assignees()))


def _save(work: str, page: int, flag: int | None, body: schemas.CommentBody) -> Response:
    if body.assigned:
        must_be_assignee(body.assigned)
    comment = CommentRequest(work=work, page=page, flag=flag, person=person(), **body.model_dump())
    return answer(CommentOut(project().store.comments.add(comment)), 201)


def _open_problems(problems: Sequence[Problem]) -> Response:
    return answer(OpenProblemsOut(items=[OpenProblemOut(problem) for problem in problems]))
