"""The answers of the JSON API. Their docstrings and the descriptions of their fields are part of its OpenAPI
description. Records of the store are parts of answers as they are."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, Field, RootModel

from proof.model.flags import Kind, WitnessReading
from proof.report.view import PlacedCharacter
from proof.store.accounts import Role
from proof.store.acts import ActKind, RuleChange
from proof.store.comments import Comment
from proof.store.decision_records import Decision, State
from proof.store.double_readings import BlindReading
from proof.store.page_states import PageEvent, PageState
from proof.store.queue_records import JuanFlags, PairCount, RemainingWork, WorkSummary
from proof.web.rights import Right
from proof.web.threshold_curve import Point

Rectangle = Annotated[list[float], Field(min_length=4, max_length=4, description="x, y, width, height in pixels")]
Next = Annotated[str | None, Field(description="The cursor of the next part of the list; null in the last part")]

Item = TypeVar("Item")


class ListOf(BaseModel, Generic[Item]):
    """A list. In the description of the API it has the name of what it lists: `DecisionList`."""

    items: list[Item]

    @classmethod
    def model_parametrized_name(cls, params: tuple[Any, ...]) -> str:
        return f"{params[0].__name__.removesuffix('Out')}List"


class PartOf(ListOf[Item]):
    """A part of a list."""

    next: Next


class SessionOut(BaseModel):
    """The session of the request."""

    person: str = Field(description="The name of the person; empty if nobody has logged in")
    role: Role | None = Field(description="Null if nobody has logged in, or if the server has no accounts")
    rights: list[Right]
    token: str = Field(description="The value of the header `X-CSRFToken` for requests that change something")


class PersonOut(BaseModel):
    """An account."""

    number: int
    name: str
    role: Role
    disabled: bool
    provisional: bool = Field(description="Whether the password was set by an administrator and must be changed")
    made: datetime = Field(description="When the account was created")
    seen: datetime | None = Field(description="When the person last logged in")


class NewPersonOut(BaseModel):
    """A new account, or an account with a new password."""

    person: PersonOut
    password: str = Field(description="The new password, which no other answer contains")


class PageEventOut(RootModel[PageEvent]):
    """A change of a page's state. `back` is true if it was made by an undo or a redo."""


class UndoneOut(BaseModel):
    """The result of an undo or a redo. Depending on the act (`what`), it contains the new decisions, the rule, the last
    event of the page, or the number of the page that is read again."""

    what: ActKind
    redone: bool = Field(description="True for a redo, false for an undo")
    message: str = Field(description="The act in words, in the language of the request")
    decisions: list[Decision] = Field(description="The new decisions, if decisions were undone or redone")
    rule: RuleChange | None = Field(description="The rule as it is now, if a rule was undone or redone")
    page: PageEvent | None = Field(description="The new event of the page, if its state was undone or redone")
    reread_page: int | None = Field(
        description="The number of the page that is read again, if its layout or image was undone or redone"
    )
    repeated: bool = Field(description="Whether the request was sent before; this is then its first result")


class ProblemOut(BaseModel):
    """Problem details (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str = Field(description="What is wrong and what to do about it, in English")
    instance: str
    message: str | None = Field(None, description="The problem for users, in the language of the request")


class UnconfirmedReadingOut(ProblemOut):
    """The reading looks like a typing error. If it is meant, send the request again with `confirmed`."""

    reason: Literal["latin letters", "private use", "incomplete description"]


class AcceptedReadingOut(BaseModel):
    """The reading can be entered as it was typed."""

    reading: str


class FieldErrorOut(BaseModel):
    """An error in one field of a request."""

    field: str
    message: str


class InvalidRequestOut(ProblemOut):
    """The request does not match its schema, or cannot be carried out as it is."""

    errors: list[FieldErrorOut] | None = None


class DecisionOut(RootModel[Decision]):
    """A decision on a flag. An undo and a redo are decisions as well."""


class UndoConflictOut(ProblemOut):
    """The act cannot be undone or redone, because other people have changed the same things since."""

    people: list[str] = Field(description="The names of these people")
    message: str


class DecisionConflictOut(ProblemOut):
    """The flag has been decided since the client saw it."""

    version: int = Field(description="The present version of the flag")
    decisions: list[Decision] = Field(description="The decisions on the flag since the version of the request")


class WorkOut(RootModel[WorkSummary]):
    """A work. `characters` counts the checked characters; `states` counts the raised flags by state."""


class RemainingWorkOut(RootModel[RemainingWork]):
    """What remains to be done in a work: the numbers of `open`, `unsure` and `skipped` flags, of pages to proofread
    (`to_mark`) and to validate (`to_validate`), and of open `problems`."""


class PageOut(BaseModel):
    """A page in a list."""

    number: int = Field(description="The permanent number of the page, by which the API refers to it")
    position: int = Field(description="The position of the page in the work, from 1")
    page: str = Field(description="The id of the page in the text")
    repeat: int = Field(description="The index of the page among pages with the same id, from 0")
    ref: str = Field(description="The image reference of the page in the text")
    juan: str
    folio: str
    status: str = Field(description="`checked`, `no image`, `image mismatch`, or `failed` with the reason")
    characters: int = Field(description="The number of checked characters")
    width: int = Field(description="The width of the image in pixels")
    height: int = Field(description="The height of the image in pixels")
    image: str = Field(description="The SHA-256 hash of the image file; empty without an image")
    flags: int = Field(description="The number of raised flags")
    open: int = Field(description="The number of raised flags that are open")
    state: PageState
    version: int = Field(description="The version of the page's state")
    changed: bool = Field(description="Whether the text of the page was changed since it was proofread")


class ViewOut(BaseModel):
    """The position of a flag on the image."""

    image: str = Field(description="The name of the image in addresses under `/iiif`")
    area: Rectangle = Field(description="The area to show, which includes parts of the neighbouring columns")
    column: Rectangle = Field(description="The column of the flag")
    focus: Rectangle = Field(description="The glyphs of the flag")
    pitch: float = Field(description="The distance from one character to the next, in pixels")
    skew: float = Field(description="The angle by which the columns lean, in degrees")
    characters: list[PlacedCharacter] = Field(description="The characters of the text in the area")
    gap: Rectangle | None = Field(description="Where the text lacks characters: the empty space beside the glyphs")
    page: Rectangle = Field(description="The half-folio on its image, which may show several half-folios")


class AlternativeOut(BaseModel):
    """A reading of the recogniser and its probability."""

    text: str
    p: float


class OtherPlaceOut(BaseModel):
    """The flag at the other place of a character that moved."""

    number: int
    kind: Kind
    line: int
    offset: int
    transcribed: str
    suggested: str
    bbox: Rectangle | None
    ordinal: int | None = Field(None, description="The number of the character in its column, from 1")


class FlagOut(BaseModel):
    """A flag in a list: a place where the text may be wrong."""

    number: int = Field(description="The number of the flag, by which the API refers to it")
    id: str = Field(description="The id of the flag in the files of a check")
    page: PageOut
    line: int = Field(description="The number of the column on the page, from 1; 0 for the whole page")
    offset: int = Field(description="The first code point of the place in the source of the column")
    length: int = Field(description="The length of the place in code points")
    kind: Kind
    transcribed: str = Field(description="What the text has")
    suggested: str = Field(description="What the image seems to have")
    score: float = Field(description="How suspicious the place is, in nats")
    raised: bool = Field(description="Whether the score reaches the threshold and no rule hides the flag")
    context: str = Field(description="The characters around the place")
    bbox: Rectangle | None = Field(description="The place on the image file")
    state: State
    reading: str = Field(description="The text at the place after the last decision")
    version: int = Field(description="The version of the flag, which every decision raises by 1")
    stale: bool = Field(description="Whether the last check no longer has the flag")
    moved: str = Field(
        "",
        description="The id of the flag that is decided together with this one: the other place of a character that "
        "moved, or the other part of a run",
    )
    other: OtherPlaceOut | None = Field(
        None, description="The flag at the other place of a character that moved, while both are decided together"
    )
    what: str = Field("", description="For a column or a page: the finding, in the language of the request")
    can_copy: bool = Field(description="Whether the verdict `copy` is possible without naming an `authority`")


class EditOut(BaseModel):
    """A correction in a column: `reading` replaces `length` code points from `offset` on."""

    offset: int
    length: int
    reading: str


class FlagDetailOut(FlagOut):
    """A flag with its evidence, its place on the image, and the text around it."""

    why: str = Field(description="Why the place is flagged, in the language of the request")
    reason: str = Field(description="The same as a stable code, such as `posterior`, `ink` or `collation`")
    rule: str = Field(description="The rule that hides the flag or lowers its score; empty if there is none")
    p_text: float | None = Field(description="The probability of the transcribed reading")
    p_best: float | None = Field(description="The probability of the suggested reading")
    can_take: bool = Field(description="Whether the verdict `take` is possible: the flag has a suggestion")
    image_text: str = Field(description="For a column or a page: the text read on the image")
    alternatives: list[AlternativeOut] = Field(description="Further readings of the recogniser")
    spellings: list[str] = Field(
        description="Other ways to write the suggestion, if the text uses several forms of a character or none of them"
    )
    witnesses: list[WitnessReading] = Field(description="The readings of the witnesses")
    ordinal: int | None = Field(description="The number of the character in its column, from 1")
    before: str = Field(description="The corrected text before the place")
    after: str = Field(description="The corrected text after the place")
    edits: list[EditOut] = Field(description="The corrections in the column")
    view: ViewOut | None = Field(description="Null without an image")
    tile: str | None = Field(description="The image of the glyph as a data URL")
    last: Decision | None = Field(description="The last decision on the flag; null while the flag is open")
    comments: list[Comment] = Field(description="The comments on the flag, oldest first")
    readings: list[BlindReading] = Field(
        description="The decisions of the blind readers, if the user decides between them"
    )


class CharacterOut(BaseModel):
    """A character of the text with its glyph on the image."""

    line: int = Field(description="The number of the column, from 1")
    offset: int = Field(description="The first code point of the character in the source of the column")
    length: int = Field(description="The length of the character in code points")
    row: str = Field(description="Main text, or the half-row of a note")
    text: str
    box: Rectangle
    read: str = Field(description="What the recogniser read")
    p_text: float | None = Field(description="The probability of `text`")


class ColumnOut(BaseModel):
    """A column of a page."""

    number: int = Field(description="The number of the column on the page, from 1")
    box: Rectangle = Field(description="The column on the image; without width for a column that the image lacks")
    source: str = Field(description="The source of the column, with markup, as it was checked")
    now: str = Field(description="The corrected source of the column")


class PageDetailOut(PageOut):
    """A page with its columns, characters, flags and comments."""

    box: Rectangle = Field(description="The half-folio on its image, which may show several half-folios")
    columns: list[ColumnOut]
    characters_found: list[CharacterOut] = Field(description="The characters that were found on the image")
    flags_found: list[FlagOut]
    notices: list[str] = Field(description="Remarks of the check on the page, in the language of the request")
    skew: float = Field(description="The angle by which the columns lean, in degrees")
    state_by: str = Field(description="Who set the state of the page")
    comments: list[Comment] = Field(description="The comments on the page and its flags, oldest first")


class FacetsOut(BaseModel):
    """For each value of each filter, the number of flags that it would select while the other filters stay."""

    total: int = Field(description="The number of flags that the filters select")
    kinds: dict[Kind, int]
    states: dict[State, int]
    pairs: list[PairCount] = Field(description="The most frequent pairs")
    juans: list[JuanFlags]
    scores: list[int] = Field(description="The histogram of the scores")
    edges: list[float] = Field(description="The edges of the bins of the histogram, one more than there are bins")
    dial: list[Point] = Field(description="What a lower bound of the score would take and leave")


class FlagsOut(BaseModel):
    items: list[FlagDetailOut | FlagOut]
    next: Next


class WithdrawalOut(BaseModel):
    """Decisions of one person that were taken back."""

    places: int = Field(description="The number of places whose decisions were taken back")
    left: int = Field(description="The number of places that were left, since others decided them afterwards")


class DecisionOutcomeOut(BaseModel):
    """The outcome for one of several flags: either `decision` or `conflict` is set."""

    flag: int
    decision: Decision | None = Field(description="The new decision")
    conflict: list[Decision] | None = Field(
        description="The decisions of others since the version of the request, which prevented this one"
    )
    version: int = Field(description="The present version of the flag")


class GlyphOut(BaseModel):
    """An occurrence of a character in a work."""

    page: int = Field(description="The number of the page")
    name: str = Field(description="The id of the page")
    line: int = Field(description="The number of the column, from 1")
    offset: int = Field(description="The first code point of the character in the source of the column")
    length: int
    image: str = Field(description="The SHA-256 hash of the image file; empty without an image")
    unlike: float = Field(description="The distance of the glyph from the usual shape of the character")
    flag: int | None = Field(description="The number of the flag at the place")
    state: State | None = Field(description="The state of that flag")
    reading: str = Field(description="The corrected text; empty without a correction")
    tile: str | None = Field(description="The image of the glyph as a data URL, if the request asked for `tiles`")


class ComposedCharactersOut(BaseModel):
    """The characters with the given components. Those with the fewest other components come first."""

    items: list[str]


class UnencodedCharacterOut(BaseModel):
    """A name, description or placeholder that stands for an unencoded character in the text."""

    text: str
    count: int = Field(description="How often it occurs")
    made_of: list[str] = Field(description="Encoded characters with the components that it names")


class GlyphsOut(BaseModel):
    """Occurrences of a character. A frequent character is compared in several parts."""

    items: list[GlyphOut]
    next: Next
    total: int = Field(description="The number of occurrences in the work")
    compared: int = Field(description="The number of occurrences in this part, which were compared with each other")
    part: int = Field(description="The index of this part, from 0")
    parts: int = Field(description="The number of parts")


class GlyphOutcomeOut(BaseModel):
    """The outcome at one of several places: either `decision` or `conflict` is set."""

    page: int
    line: int
    offset: int
    decision: Decision | None = Field(description="The new decision")
    conflict: list[Decision] | None = Field(description="The decisions of others, which prevented this one")


class CommentOut(RootModel[Comment]):
    """A comment on a flag, or on a page if `uid` is empty. `uid` is the id of the flag, `flag` its number (null if the
    flag no longer exists), `page` the number of the page and `name` its id. `state` and `assigned` are those of the
    problem after the comment."""


class AssigneesOut(BaseModel):
    """The people to whom a problem can be assigned."""

    items: list[str]
