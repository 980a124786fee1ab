"""The answers of the JSON API about comments and problems."""

from __future__ import annotations

from pydantic import BaseModel, RootModel

from proof.store.comments import Comment, Problem


class CommentOut(RootModel[Comment]):
    """A comment on a flag, or on a page if `uid` is empty. `uid` is the id of the flag, `flag` its number (null if the
    flag no longer exists), `page` the number of the page and `name` its id. `state` and `assigned` are those of the
    problem after the comment."""


class CommentsOut(BaseModel):
    items: list[CommentOut]


class OpenProblemOut(RootModel[Problem]):
    """An open problem on a flag or a page. `assigned` is the person who is to solve it, `comments` are all comments on
    it. `note` is the remark with which the page was marked as a problem, if there are no comments."""


class OpenProblemsOut(BaseModel):
    items: list[OpenProblemOut]


class AssigneesOut(BaseModel):
    """The people to whom a problem can be assigned."""

    items: list[str]
