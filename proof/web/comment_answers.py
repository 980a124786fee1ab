"""What the JSON API answers about comments and problems, as its description has it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, Field

from proof.store.comments import Comment, CommentState, Problem


class CommentOut(BaseModel):
    """A comment on a flag, by its id (`uid`), or on the page `name` where that is empty. `state` and `assigned` are as
    they stand after it; the last of a place holds."""

    id: int
    work: str
    page: int
    name: str
    flag: int | None = Field(description="Number of the flag; null where it is about the page, or the flag is gone")
    uid: str
    text: str
    state: CommentState
    assigned: str
    person: str
    at: datetime
    line: int
    transcribed: str
    suggested: str


class CommentsOut(BaseModel):
    items: list[CommentOut]


class OpenProblemOut(BaseModel):
    """An open problem of a flag or a page: who is to see to it (`assigned`), and all that was said of it."""

    work: str
    title: str
    page: int
    name: str
    flag: int | None
    line: int
    transcribed: str
    suggested: str
    assigned: str
    person: str
    since: datetime
    note: str = Field(description="What was noted when the page was marked; empty where it has comments")
    comments: list[CommentOut]


class OpenProblemsOut(BaseModel):
    items: list[OpenProblemOut]


class AssigneesOut(BaseModel):
    """Who can be given a problem."""

    items: list[str]


def comment_of(comment: Comment) -> CommentOut:
    """A comment as the API shows it."""
    return CommentOut(**{name: getattr(comment, name) for name in CommentOut.model_fields})


def problems_of(problems: Sequence[Problem]) -> OpenProblemsOut:
    """Open problems as the API shows them."""
    fields = [name for name in OpenProblemOut.model_fields if name != "comments"]
    return OpenProblemsOut(
        items=[
            OpenProblemOut(
                **{name: getattr(one, name) for name in fields}, comments=[comment_of(each) for each in one.comments]
            )
            for one in problems
        ]
    )
