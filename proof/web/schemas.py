"""The requests of the JSON API, as its OpenAPI description shows them."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, WithJsonSchema, model_validator

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
SeenText = Annotated[str, StringConstraints(max_length=100_000)]
"""Text as the client saw it, such as a whole column."""

CursorNumber = Annotated[int, Field(ge=0, lt=10**15), WithJsonSchema({"type": "string", "maxLength": 64})]
"""A number, which clients only repeat: the API describes it as text."""

PageAddress = Annotated[str, Field(min_length=1, max_length=255, coerce_numbers_to_str=True)]
Score = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
CONFIRMED: bool = Field(
    False,
    description="Accept a reading with Latin letters, private-use characters or an incomplete ideographic description. "
    "Without it, such a reading is refused with status 428.",
)
AUTHORITY: str = Field(
    "",
    max_length=LONGEST_AUTHORITY,
    description="What the decision rests on: 影像 (the image), a siglum, 他校, 本校 or 理校. If empty, it is derived "
    "from the flag.",
)
DELETE: bool = Field(False, description="Delete the characters; `reading` must then be empty")
NOTE: str = Field("", max_length=LONGEST_NOTE, description="A remark for the collation notes")
KEY_DESCRIPTION = (
    "A key that the client chooses for this request. A request that is sent again with the same key is carried out "
    "once."
)
KEY = r"^[A-Za-z0-9_.:-]{8,64}$"
Key = Annotated[str, Field(pattern=KEY, description=KEY_DESCRIPTION)]
BatchKey = Annotated[str, Field(pattern=KEY, description="A key that the client chooses for the act")]

RequestVerdict = Literal["keep", "take", "other", "typed", "delete", "copy", "retain", "unsure", "skip", "undo"]
"""The verdicts that a client may send."""


class StrictModel(BaseModel):
    """A request in which unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    @cache
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]
        """The schema, cached, since flask-openapi3 calls this at every request with a query."""
        return super().model_json_schema(*args, **kwargs)


class WorkPath(BaseModel):
    work: str = Field(min_length=1, max_length=255, description="The `name` of the work")


class PagePath(WorkPath):
    page: Number = Field(description="The `number` of the page")


class FlagPath(WorkPath):
    flag: Number = Field(description="The `number` of the flag")


class Cursor(StrictModel):
    cursor: CursorNumber | None = Field(None, description="`next` of the previous part; without it, the first part")
    limit: int = Field(50, ge=1, le=200, description="The maximum number of items in the answer")


class PageRange(StrictModel):
    """Pages of a work. A page is given by its name, a part of the name that no other page has (`0193a`), its half-folio
    (`2a`), or its position in the work, from 1."""

    juan: str | None = Field(None, max_length=255, description="The name of a juan as in the text; by default all")
    first_page: PageAddress | None = Field(None, description="The first page, by its name or position")
    last_page: PageAddress | None = Field(None, description="The last page, by its name or position")


class Filter(PageRange):
    """To give several values, repeat the name. `text` and `image` together select a pair."""

    kind: list[Kind] = Field(default_factory=list, max_length=10, description="May be repeated; by default all kinds")
    state: list[State] = Field(
        default_factory=list, max_length=10, description="May be repeated; by default all states"
    )
    text: Text | None = Field(None, description="The transcribed text of a pair; requires `image`")
    image: Text | None = Field(None, description="The suggested text of a pair; requires `text`")
    least_score: Score | None = Field(None, description="The lowest score")
    most_score: Score | None = Field(None, description="The highest score")
    raised: Literal["raised", "hidden", "all"] = Field(
        "raised", description="Raised flags, or those that are hidden by a rule or a low score, or both"
    )


class FlagsQuery(Filter, Cursor):
    order: Order = Order.SCORE
    detail: bool = Field(
        False, description="Include the evidence, the place on the image and the text around it; at most 20 flags"
    )


class HistoryQuery(Cursor):
    """A filter of acts; fields that are left out do not filter."""

    person: str = Field("", max_length=255, description="Only acts of this person")
    juan: str | None = Field(None, max_length=255, description="Only acts in this juan, which excludes rules")
    verdict: Verdict | None = Field(None, description="Only decisions with this verdict")
    what: ActKind | None = Field(None, description="Only acts of this kind")


class DecisionBody(StrictModel):
    """A decision on a flag.

    `keep` keeps the text. `take` accepts the suggestion. `other` chooses another reading of the recogniser, `typed` a
    reading that the user typed; both are sent in `reading`. `delete` deletes the text. `copy` keeps the text because
    the copy really reads so. `retain` keeps the text although the copy has another reading. `unsure` and `skip` leave
    the flag undecided. `undo` takes back a decision.
    """

    verdict: RequestVerdict
    version: Count = Field(description="The `version` of the flag that the client saw")
    key: Key
    reading: ColumnText = Field(
        "", description="For `other` and `typed`: the new reading. For `retain`: what the copy has, empty for nothing"
    )
    confirmed: bool = CONFIRMED
    authority: str = AUTHORITY
    suggested: SeenText | None = Field(
        None, description="The suggestion that the client saw; `take` is refused with 409 if it has changed"
    )
    note: str = NOTE
    undoes: Number | None = Field(None, description="For `undo`: the id of the last decision, which is undone")
    undoes_version: Count | None = Field(
        None,
        description="For `undo`, instead of `undoes`: the version that the decision to undo made. All later decisions "
        "on the flag must have been undone.",
    )


class ReadingQuery(StrictModel):
    reading: ColumnText


class FlagDecisionBody(DecisionBody):
    """A decision on one of several flags."""

    flag: Number = Field(description="The `number` of the flag")


class DecisionsBody(StrictModel):
    """Decisions on several flags. They are one act, which is undone as a whole."""

    decisions: list[FlagDecisionBody] = Field(min_length=1, max_length=500)
    batch: BatchKey


class GlyphsQuery(Cursor):
    """Occurrences of `text`; with `against`, those that resemble that character most come first."""

    text: Text = Field(min_length=1, description="The character")
    against: Text = Field("", description="List occurrences that look like this other character first")
    order: Literal["unlike", "alike"] = Field(
        "unlike", description="List the occurrences first that look least like the character, or most like it"
    )
    part: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="The index of a part of the occurrences; only frequent characters have several",
    )
    tiles: bool = Field(False, description="Include the image of each glyph")


class PartsQuery(StrictModel):
    parts: Text = Field(min_length=1, description="Components, or an ideographic description: 金本, ⿰金本 or [金*本]")


class GlyphPlaceBody(StrictModel):
    """An occurrence of a character that is to be corrected."""

    page: Number = Field(description="The `number` of the page")
    line: Count = Field(description="The number of the column, from 1")
    offset: Count = Field(description="The first code point of the character in the source of the column")
    transcribed: Text = Field(min_length=1, description="The character there, as the client saw it")
    key: Key


class GlyphCorrectionsBody(StrictModel):
    """The same correction at several places. It is one act, which is undone as a whole."""

    places: list[GlyphPlaceBody] = Field(min_length=1, max_length=500)
    reading: Text = Field("", description="The new text at all places")
    delete: bool = DELETE
    confirmed: bool = CONFIRMED
    authority: str = AUTHORITY
    note: str = NOTE
    batch: BatchKey


class ManualCorrectionBody(StrictModel):
    """A correction of any place in a column. To delete characters, set `delete`; an empty `reading` alone is
    refused."""

    line: Count = Field(description="The number of the column, from 1")
    offset: Count = Field(description="The first code point of the place in the source of the column")
    length: int = Field(
        ge=0,
        le=LONGEST_READING,
        description="The number of code points to replace; 0 inserts `reading` before `offset`",
    )
    reading: Text = Field("", description="The new text")
    delete: bool = DELETE
    confirmed: bool = CONFIRMED
    authority: str = AUTHORITY
    doubt: bool = Field(False, description="Mark the characters as doubtful; `reading` must then be empty")
    source: SeenText | None = Field(
        None,
        description="The source of the column as the client saw it; the request is refused with 404 if it has changed",
    )
    key: Key
    note: str = NOTE

    @model_validator(mode="after")
    def _is_not_both(self) -> ManualCorrectionBody:
        if self.doubt and self.delete:
            raise ValueError("`doubt` and `delete` cannot both be set")
        return self


class PageStateBody(StrictModel):
    """A new state of a page."""

    state: PageState
    version: Count = Field(description="The `version` of the page that the client saw")
    key: Key
    note: str = Field("", max_length=LONGEST_NOTE, description="A remark on the page")


class CommentBody(StrictModel):
    """A comment on a flag or a page. Fields that are left out do not change."""

    text: str = Field("", max_length=LONGEST_NOTE)
    state: CommentState | None = Field(
        None, description="`problem` opens a problem, `resolved` closes it. A problem does not become a `note`."
    )
    assigned: str | None = Field(
        None, max_length=LONGEST_NAME, description="The person who is to solve the problem; empty for nobody"
    )
    seen: Count = Field(0, description="The id of the last comment that the client saw there; 0 if there was none")
    key: Key


class RuleBody(StrictModel):
    """A rule that one character of the text is a variant of one on the image in this work: it hides the open flags of
    this pair, and none of the pair the other way round."""

    text: Text = Field(description="The character in the text")
    image: Text = Field(description="The character on the image")
    holds: bool = Field(description="True makes the rule, false removes it")


class WithdrawalBody(StrictModel):
    """The decisions of one person in a time, to be taken back."""

    person: str = Field(min_length=1, max_length=255, description="Who made the decisions")
    since: AwareDatetime = Field(description="Their earliest time")
    until: AwareDatetime = Field(description="The time that they were made before")
    key: Key


class UndoBody(StrictModel):
    """An undo or a redo of the user's last act."""

    key: Key
    leave: bool = Field(
        False,
        description="If other people have changed parts of the act since: leave these parts as they are, and undo or "
        "redo the rest. If nothing is left of the act, the act before it is undone or redone.",
    )


class LogInBody(StrictModel):
    name: str = Field(min_length=1, max_length=4 * LONGEST_NAME)
    password: str = Field(min_length=1, max_length=LONGEST_PASSWORD)


class PasswordBody(StrictModel):
    current: str = Field(min_length=1, max_length=LONGEST_PASSWORD, description="The present password")
    new: str = Field(min_length=SHORTEST_PASSWORD, max_length=LONGEST_PASSWORD)


class PersonPath(BaseModel):
    number: int = Field(ge=1, le=2**31 - 1, description="The `number` of the account")


class PersonBody(StrictModel):
    """A new account."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    role: Role


class PersonChangeBody(StrictModel):
    """Changes of an account. Fields that are left out do not change."""

    role: Role | None = None
    disabled: bool | None = None
