"""The requests of the JSON API, as its OpenAPI description shows them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from proof.model.flags import Kind
from proof.store.accounts import LONGEST_NAME, LONGEST_PASSWORD, SHORTEST_PASSWORD, Role
from proof.store.acts import ActKind
from proof.store.comments import CommentState
from proof.store.decision_records import State, Verdict
from proof.store.page_states import PageState
from proof.store.queue_records import Order
from proof.store.typed_text import LONGEST_AUTHORITY, LONGEST_COLUMN, LONGEST_NOTE, LONGEST_READING

Number = Annotated[int, Field(ge=1, le=2**53 - 1)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
Text = Annotated[str, StringConstraints(max_length=LONGEST_READING)]
ColumnText = Annotated[str, StringConstraints(max_length=LONGEST_COLUMN)]
Seen = Annotated[str, StringConstraints(max_length=100_000)]
"""Text as the client saw it, such as a whole column."""

Score = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
CONFIRMED: bool = Field(
    False,
    description="Confirms a reading with Latin letters, private-use characters or an incomplete IDS; else 428",
)
AUTHORITY: str = Field(
    "",
    max_length=LONGEST_AUTHORITY,
    description="What the decision rests on: 影像, a siglum, 他校, 本校, 理校; empty: what the flag came from",
)
KEY = r"^[A-Za-z0-9_.:-]{8,64}$"
"""Pattern of the keys that clients choose for requests, so that a repeated request has no further effect."""

Asked = Literal["keep", "take", "other", "typed", "delete", "copy", "retain", "unsure", "skip", "undo"]
"""The verdicts that a client may send."""

_schemas: dict[type[BaseModel], dict[str, Any]] = {}


class Closed(BaseModel):
    """A request in which unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The schema, cached, since flask-openapi3 calls this at every request with a query."""
        if args or kwargs:
            return super().model_json_schema(*args, **kwargs)
        if cls not in _schemas:
            _schemas[cls] = super().model_json_schema()
        return _schemas[cls]


class WorkPath(BaseModel):
    work: str = Field(min_length=1, max_length=255, description="Name of the project's work")


class PagePath(WorkPath):
    page: Number


class FlagPath(WorkPath):
    flag: Number


class Cursor(Closed):
    cursor: str | None = Field(None, max_length=64, description="`next` of the answer before")
    limit: int = Field(50, ge=1, le=200)


class Filter(Closed):
    """To give several values, repeat the name. `text` and `image` together select a pair."""

    kind: list[Kind] = Field(default_factory=list, max_length=10)
    state: list[State] = Field(default_factory=list, max_length=10)
    text: Text | None = Field(None, description="The transcribed text of a pair; `image` must be given too")
    image: Text | None = Field(None, description="The suggested text of a pair; `text` must be given too")
    juan: str | None = Field(None, max_length=255, description="The name of the juan in the text")
    first_page: Count | None = None
    last_page: Count | None = None
    least_score: Score | None = None
    most_score: Score | None = None
    raised: Literal["raised", "hidden", "all"] = "raised"


class FlagsQuery(Filter):
    order: Order = Order.SCORE
    cursor: str | None = Field(None, max_length=64, description="`next` of the answer before")
    limit: int = Field(50, ge=1, le=200)
    detail: bool = Field(False, description="With the place on the image and in the text; at most 20 at once")


class HistoryQuery(Cursor):
    """A filter of acts; fields that are left out do not filter."""

    person: str = Field("", max_length=255)
    juan: str | None = Field(None, max_length=255)
    verdict: Verdict | None = None
    what: ActKind | None = None


class DecisionBody(Closed):
    verdict: Asked
    version: Count = Field(description="The version of the flag that was seen")
    key: str = Field(pattern=KEY, description="Of this request: sent again with it, the request has no further effect")
    reading: ColumnText = Field(
        "", description="For `other` and `typed`; for `retain` what the copy reads, empty for nothing"
    )
    confirmed: bool = CONFIRMED
    authority: str = AUTHORITY
    suggested: Seen | None = Field(
        None, description="The suggestion that the client saw; 409 if `take` would take another"
    )
    note: str = Field("", max_length=LONGEST_NOTE, description="A remark for the collation notes")
    undoes: Number | None = None
    undoes_version: Count | None = Field(
        None, description="For `undo`: the version that the decision to undo made, if all later ones were taken back"
    )


class ReadingQuery(Closed):
    reading: ColumnText


class OneOfMany(DecisionBody):
    flag: Number


class ManyDecisions(Closed):
    decisions: list[OneOfMany] = Field(min_length=1, max_length=500)
    batch: str = Field(pattern=KEY)


class GlyphsQuery(Cursor):
    """Occurrences of `text`; with `against`, those that resemble that character most come first."""

    text: Text = Field(min_length=1)
    against: Text = ""
    order: Literal["unlike", "alike"] = Field(
        "unlike", description="The occurrences least like the character first, or the most like it"
    )
    part: int = Field(
        0, ge=0, le=1_000_000, description="Index of a part of the occurrences; only a frequent character has several"
    )
    tiles: bool = Field(False, description="Whether each glyph comes with its image")


class PartsQuery(Closed):
    parts: Text = Field(min_length=1, description="Parts in a row, or a description: 金本, ⿰金本, [金*本]")


class GlyphPlaceBody(Closed):
    """An occurrence to correct; `transcribed` is the text there as the client saw it."""

    page: Number
    line: Count
    offset: Count
    transcribed: Text = Field(min_length=1)
    key: str = Field(pattern=KEY)


class GlyphCorrectionsBody(Closed):
    """The same correction at several places; one act, which is undone as a whole."""

    places: list[GlyphPlaceBody] = Field(min_length=1, max_length=500)
    reading: Text = ""
    delete: bool = Field(False, description="Nothing is to stand there; `reading` is then empty")
    confirmed: bool = CONFIRMED
    authority: str = AUTHORITY
    note: str = Field("", max_length=LONGEST_NOTE)
    batch: str = Field(pattern=KEY)


class ManualCorrectionBody(Closed):
    """A correction by hand; length 0 inserts a missing character. To delete characters set `delete`: an empty `reading`
    alone is refused."""

    line: Count
    offset: Count
    length: int = Field(ge=0, le=LONGEST_READING)
    reading: Text = ""
    delete: bool = Field(False, description="Nothing is to stand there; `reading` is then empty")
    confirmed: bool = CONFIRMED
    authority: str = AUTHORITY
    doubt: bool = Field(False, description="The characters are doubtful; `reading` is then empty")
    source: Seen | None = Field(None, description="The column as the client saw it; 404 if it has changed")
    key: str = Field(pattern=KEY)
    note: str = Field("", max_length=LONGEST_NOTE)

    @model_validator(mode="after")
    def _is_one_of_both(self) -> ManualCorrectionBody:
        if self.doubt and self.delete:
            raise ValueError("what is doubtful is a character of the text, and is not deleted")
        return self


class PageStateBody(Closed):
    state: PageState
    version: Count = Field(description="The version of the page's state that was seen")
    key: str = Field(pattern=KEY)
    note: str = Field("", max_length=LONGEST_NOTE)


class CommentBody(Closed):
    """A comment. `state` marks a problem or resolves it; `assigned` gives it to a person, or to nobody (empty). Fields
    that are left out do not change."""

    text: str = Field("", max_length=LONGEST_NOTE)
    state: CommentState | None = Field(None, description="`problem` or `resolved`; a problem does not become a `note`")
    assigned: str | None = Field(None, max_length=LONGEST_NAME)
    seen: Count = Field(0, description="The last comment on that place that the client saw; 0 if there was none")
    key: str = Field(pattern=KEY, description="Of this request: sent again with it, the request has no further effect")


class RuleBody(Closed):
    """A rule for a pair: the text has `text`, the image `image`; `holds` false lifts the rule."""

    text: Text
    image: Text
    holds: bool


class UndoBody(Closed):
    """`leave`: what others have changed since is left as it is, and the rest of the act is undone or redone; if nothing
    is left of it, the act before it."""

    key: str = Field(pattern=KEY, description="Of this request: sent again with it, the request has no further effect")
    leave: bool = False


class LogInBody(Closed):
    name: str = Field(min_length=1, max_length=4 * LONGEST_NAME)
    password: str = Field(min_length=1, max_length=LONGEST_PASSWORD)


class PasswordBody(Closed):
    current: str = Field(min_length=1, max_length=LONGEST_PASSWORD)
    new: str = Field(min_length=SHORTEST_PASSWORD, max_length=LONGEST_PASSWORD)


class PersonPath(BaseModel):
    number: int = Field(ge=1, le=2**31 - 1)


class PersonBody(Closed):
    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    role: Role


class PersonChange(Closed):
    """Fields that are left out do not change."""

    role: Role | None = None
    disabled: bool | None = None
