"""The answers of the JSON API about comments and problems."""

from __future__ import annotations

from pydantic import BaseModel, RootModel

from proof.store.comments import Comment, Problem


class CommentOut(RootModel[Comment]):
    """A comment on a flag, given by its id (`uid`) and its number (null if the flag is gone), or on the page `name` if
    `uid` is empty. `state` and `assigned` are the values after it; those of the last comment hold."""


class CommentsOut(BaseModel):
    items: list[CommentOut]


class OpenProblemOut(RootModel[Problem]):
    """An open problem of a flag or a page: the person to whom it is `assigned`, and all comments. `note` is the note
    with which the page was marked; it is empty if there are comments."""


class OpenProblemsOut(BaseModel):
    items: list[OpenProblemOut]


class AssigneesOut(BaseModel):
    """The people to whom a problem can be assigned."""

    items: list[str]
