"""The JSON API for comments, open problems, and their assignment to people."""

from __future__ import annotations

from flask import Response
from flask_openapi3.models.tag import Tag

from proof.store.comments import Comment, CommentRequest, Problem
from proof.web import answers, schemas
from proof.web.answers import AssigneesOut, CommentOut, ListOf
from proof.web.api import answer, api_blueprint
from proof.web.people import assignees, must_be_assignee, person
from proof.web.project import project

COMMENTS = Tag(name="comments", description="Comments on pages and flags, and open problems")
comments = api_blueprint("comments", COMMENTS)


@comments.get("/works/<string:work>/pages/<int:page>/comments", responses={200: ListOf[Comment]})
def page_comments(path: schemas.PagePath) -> Response:
    """List the comments on a page and its flags, oldest first."""
    return answer(ListOf[Comment](items=project().store.comments.of_page(path.work, path.page)))


@comments.post("/works/<string:work>/pages/<int:page>/comments", responses={201: CommentOut, 409: answers.ProblemOut})
def comment_on_page(path: schemas.PagePath, body: schemas.CommentBody) -> Response:
    """Comment on a page; open, assign or resolve a problem.

    The answer is 409 if a problem is to be assigned or resolved and somebody else has commented on it since."""
    return _save(path.work, path.page, None, body)


@comments.get("/works/<string:work>/flags/<int:flag>/comments", responses={200: ListOf[Comment]})
def flag_comments(path: schemas.FlagPath) -> Response:
    """List the comments on a flag, oldest first."""
    store = project().store
    [queued] = store.queue.flags(path.work, [path.flag], taken_back=True)
    return answer(ListOf[Comment](items=store.comments.of_flags([queued.number])[queued.number]))


@comments.post("/works/<string:work>/flags/<int:flag>/comments", responses={201: CommentOut, 409: answers.ProblemOut})
def comment_on_flag(path: schemas.FlagPath, body: schemas.CommentBody) -> Response:
    """Comment on a flag; open, assign or resolve a problem.

    The answer is 409 if a problem is to be assigned or resolved and somebody else has commented on it since."""
    [queued] = project().store.queue.flags(path.work, [path.flag], taken_back=True)
    return _save(path.work, queued.page.number, path.flag, body)


@comments.get("/works/<string:work>/problems", responses={200: ListOf[Problem]})
def open_problems(path: schemas.WorkPath) -> Response:
    """List the open problems of a work; those with the latest comment first."""
    return answer(ListOf[Problem](items=project().store.comments.problems(work=path.work)))


@comments.get("/for-me", responses={200: ListOf[Problem]})
def my_problems() -> Response:
    """List your open problems: those assigned to you, in all works."""
    return answer(ListOf[Problem](items=project().store.comments.problems(assigned=person())))


@comments.get("/assignees", responses={200: AssigneesOut})
def list_assignees() -> Response:
    """List the people to whom a problem can be assigned."""
    return answer(AssigneesOut(items=assignees()))


def _save(work: str, page: int, flag: int | None, body: schemas.CommentBody) -> Response:
    if body.assigned:
        must_be_assignee(body.assigned)
    comment = CommentRequest(work=work, page=page, flag=flag, person=person(), **body.model_dump())
    return answer(CommentOut(project().store.comments.add(comment)), 201)
