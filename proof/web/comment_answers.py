"""What the JSON API answers about comments and problems, as its description has it."""

from __future__ import annotations

from pydantic import BaseModel, RootModel

from proof.store.comments import Comment, Problem


class CommentOut(RootModel[Comment]):
    """A comment on a flag, by its id (`uid`) and its number (null where the flag is gone), or on the page `name` where
    that is empty. `state` and `assigned` are as they stand after it; the last of a place holds."""


class CommentsOut(BaseModel):
    items: list[CommentOut]


class OpenProblemOut(RootModel[Problem]):
    """An open problem of a flag or a page: who is to see to it (`assigned`), and all that was said of it; `note` is
    what was noted when the page was marked, empty where it has comments."""


class OpenProblemsOut(BaseModel):
    items: list[OpenProblemOut]


class AssigneesOut(BaseModel):
    """Who can be given a problem."""

    items: list[str]
